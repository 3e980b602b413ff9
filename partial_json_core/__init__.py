"""Typed partial values from a model's JSON while it is written, and no cut answers.

Example:
    >>> from partial_json_core import PartialParser
    >>> parser = PartialParser()
    >>> for chunk in ['{"rows": [{"id": 1}, {"id', '": 2']:
    ...     events = parser.feed(chunk)
    >>> parser.snapshot()
    {'rows': [{'id': 1}, {}]}
    >>> parser.close("length")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    partial_json_core.errors.TruncatedOutputError: output ended inside ...
"""

from ._schema import compile_schema
from ._views import Partial, field_state
from .drivers import aiter_partial, iter_partial, loads
from .errors import (
    AmbiguousOutputError,
    ContentFilteredError,
    DuplicateKeyError,
    InvariantError,
    LimitExceededError,
    MalformedOutputError,
    NoJSONFoundError,
    NotSettledError,
    ParseError,
    ParserStateError,
    PartialOutputError,
    RefusedOutputError,
    RetriesExhaustedError,
    Salvaged,
    SchemaMismatchError,
    SemanticCheckError,
    TruncatedOutputError,
)
from .events import Completed, Event, FieldSettled, FixApplied, TextDelta
from .finish import FinishReason
from .fixes import Fix, FixKind, FixPolicy
from .limits import Limits
from .parser import PartialParser
from .partial import UNSET, FieldState, PartialDict, PartialList, PartialStr
from .paths import Path, format_path
from .report import FailureLayer, Outcome, ParseReport, ReportWarning, WarningKind
from .schema_text import compact_schema

__all__ = [
    "UNSET",
    "AmbiguousOutputError",
    "Completed",
    "ContentFilteredError",
    "DuplicateKeyError",
    "Event",
    "FailureLayer",
    "FieldSettled",
    "FieldState",
    "FinishReason",
    "Fix",
    "FixApplied",
    "FixKind",
    "FixPolicy",
    "InvariantError",
    "LimitExceededError",
    "Limits",
    "MalformedOutputError",
    "NoJSONFoundError",
    "NotSettledError",
    "Outcome",
    "ParseError",
    "ParseReport",
    "ParserStateError",
    "Partial",
    "PartialDict",
    "PartialList",
    "PartialOutputError",
    "PartialParser",
    "PartialStr",
    "Path",
    "RefusedOutputError",
    "ReportWarning",
    "RetriesExhaustedError",
    "Salvaged",
    "SchemaMismatchError",
    "SemanticCheckError",
    "TextDelta",
    "TruncatedOutputError",
    "WarningKind",
    "aiter_partial",
    "compact_schema",
    "compile_schema",
    "field_state",
    "format_path",
    "iter_partial",
    "loads",
]
