"""Safe partial parsing for LangChain: ``chain = prompt | llm | SafePartialParser(M)``.

Example:
    >>> from langchain_core.runnables import RunnableGenerator
    >>> from langchain_partial import SafePartialParser
    >>> def model(prompt):
    ...     yield from ['{"city": "Os', 'lo"}']
    >>> list((RunnableGenerator(model) | SafePartialParser()).stream("Where?"))
    [{'city': 'Os'}, {'city': 'Oslo'}, {'city': 'Oslo'}]
"""

try:
    import langchain_core as _langchain_core  # noqa: F401 - the import guard
# The tests hide the framework in a process of their own.
except ModuleNotFoundError as err:  # pragma: no cover
    if err.name != "langchain_core":
        raise
    raise ModuleNotFoundError(
        "langchain_partial needs langchain-core: "
        "pip install 'partial-json-core[langchain]'",
        name=err.name,
    ) from err

from .errors import (
    LangChainAmbiguousOutputError,
    LangChainContentFilteredError,
    LangChainDuplicateKeyError,
    LangChainMalformedOutputError,
    LangChainNoJSONFoundError,
    LangChainRefusedOutputError,
    LangChainSchemaMismatchError,
    translate,
)
from .parser import SafePartialParser
from .retry import RetryWithFeedback
from .streams import ElementStream, Rejected, SettledField, SettledFields
from .structured import safe_structured_output
from .tools import (
    PartialToolCall,
    PartialToolCalls,
    SafePartialToolsParser,
    SafeToolCall,
)

__all__ = [
    "ElementStream",
    "LangChainAmbiguousOutputError",
    "LangChainContentFilteredError",
    "LangChainDuplicateKeyError",
    "LangChainMalformedOutputError",
    "LangChainNoJSONFoundError",
    "LangChainRefusedOutputError",
    "LangChainSchemaMismatchError",
    "PartialToolCall",
    "PartialToolCalls",
    "Rejected",
    "RetryWithFeedback",
    "SafePartialParser",
    "SafePartialToolsParser",
    "SafeToolCall",
    "SettledField",
    "SettledFields",
    "safe_structured_output",
    "translate",
]
