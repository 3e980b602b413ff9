"""The core's errors as LangChain knows them.

An error that a fixer may reasonably answer (malformed, ambiguous, no JSON, schema) is
an `OutputParserException` as well. A cut, refused or filtered output and one that went
beyond a limit is not: no fixer may invent the rest of it. Neither is one that a check
refused: a fixer sees the text only, and would make up a value that passes.
"""

from __future__ import annotations

from typing import Any, Final

from langchain_core import exceptions as _exceptions
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import BaseMessage

from partial_json_core import (
    AmbiguousOutputError,
    ContentFilteredError,
    DuplicateKeyError,
    MalformedOutputError,
    NoJSONFoundError,
    PartialOutputError,
    RefusedOutputError,
    SchemaMismatchError,
)


class _FixableError(OutputParserException):
    """What `OutputParserException` asks of an instance, without its constructor.

    Its constructor appends an address to the message; these errors compute theirs.
    """

    observation: str | None = None
    llm_output: str | None = None
    send_to_llm: bool = False


class LangChainMalformedOutputError(MalformedOutputError, _FixableError):
    """The text breaks the JSON grammar."""


class LangChainDuplicateKeyError(DuplicateKeyError, LangChainMalformedOutputError):
    """An object has the same key twice."""


class LangChainAmbiguousOutputError(AmbiguousOutputError, _FixableError):
    """The output holds two different documents.

    Attributes:
        calls: How many tool calls there are, where only one is read, or 0.
    """

    calls: int = 0

    def __init__(self, *, calls: int = 0, **common: Any) -> None:
        AmbiguousOutputError.__init__(self, **common)
        self.calls = calls

    def _sentence(self) -> str:
        if self.calls == 1:
            return (
                "ambiguous output: a document in the text and a tool call beside it; "
                "read the calls with SafePartialToolsParser"
            )
        if self.calls:
            return (
                f"ambiguous output: {self.calls} tool calls, and this parser reads "
                f"one; use SafePartialToolsParser"
            )
        return super()._sentence()


class LangChainNoJSONFoundError(NoJSONFoundError, _FixableError):
    """The output holds no JSON document of the expected kind."""


class LangChainSchemaMismatchError(SchemaMismatchError, _FixableError):
    """The document is JSON, and not what the schema asks for."""


# langchain-core knows refusals from 1.7.5 on.
_REFUSAL_BASE: Final[type[Exception]] = getattr(
    _exceptions, "ModelRefusalError", _exceptions.LangChainException
)


class LangChainRefusedOutputError(RefusedOutputError, _REFUSAL_BASE):  # type: ignore[misc,valid-type]  # the base depends on the installed version
    """The model refused to answer.

    Attributes:
        raw_message: The message that holds the refusal; None for a stream.
    """

    raw_message: BaseMessage | None = None


class LangChainContentFilteredError(ContentFilteredError, LangChainRefusedOutputError):
    """The provider's content filter ended or replaced the output."""


_TRANSLATIONS: Final[dict[type[PartialOutputError], type[PartialOutputError]]] = {
    MalformedOutputError: LangChainMalformedOutputError,
    DuplicateKeyError: LangChainDuplicateKeyError,
    AmbiguousOutputError: LangChainAmbiguousOutputError,
    NoJSONFoundError: LangChainNoJSONFoundError,
    SchemaMismatchError: LangChainSchemaMismatchError,
    RefusedOutputError: LangChainRefusedOutputError,
    ContentFilteredError: LangChainContentFilteredError,
}


def translate(err: PartialOutputError) -> PartialOutputError:
    """Return the error as its LangChain class, with all its data.

    An error that LangChain has no word for is returned as it is.
    """
    target = _TRANSLATIONS.get(type(err))
    if target is None:
        return err
    made = target.__new__(target)
    made.__dict__.update(err.__dict__)
    made.__cause__ = err.__cause__
    return made
