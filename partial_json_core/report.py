"""What a stream reports about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from .finish import FinishReason
from .fixes import Fix
from .paths import Path, format_path


class FailureLayer(str, Enum):
    """The layer in which an output failed; the layers are counted apart."""

    NONE = "none"
    PARSE = "parse"
    SCHEMA = "schema"
    SEMANTIC = "semantic"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRANSPORT = "transport"


class Outcome(str, Enum):
    """How far a stream has come."""

    OPEN = "open"
    VALUE = "value"
    FAILED = "failed"


class WarningKind(str, Enum):
    """What a report warns of: legal JSON that may not mean what it says."""

    CONTROL_ESCAPE = "control_escape"
    r"""`\f` or `\b` before a letter, as in an unescaped `\frac` or `D:\fonts`."""
    FINISH_REASON = "finish_reason"
    """The document is complete, and the finish reason is not a normal stop."""
    NO_FIELD_SET = "no_field_set"
    """An object without any field of the schema became a model of defaults."""


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """One warning of a report.

    Attributes:
        kind: What it is about.
        path: Where in the document; the root when it is about the whole.
        offset: Characters of the stream before it.
        detail: A sentence for people; holds no model output.
    """

    kind: WarningKind
    path: Path
    offset: int
    detail: str

    def __str__(self) -> str:
        """Return the sentence with its place."""
        return f"{self.detail} in `{format_path(self.path)}` at offset {self.offset}"


_NO_OFFSETS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseReport:
    """What was read, and what was made of it.

    Attributes:
        outcome: Open, a value, or failed.
        layer: The layer of the failure.
        finish_reason: The normalised reason.
        raw_finish_reason: The reason as the provider gave it.
        fixes: The fixes, in document order. What follows the root is known, and
            reported, at `close`.
        warnings: Legal JSON that may not mean what it says.
        chars: Characters read.
        chunks: Chunks read.
        settled_at: For an object at the root, the offset at which each field settled.
        stopped_early: The stream was stopped before its end.
        unread: Characters that had come when the reading stopped, and were not read.
        attempts: Model calls that led to this output.
    """

    outcome: Outcome = Outcome.OPEN
    layer: FailureLayer = FailureLayer.NONE
    finish_reason: FinishReason = FinishReason.NONE
    raw_finish_reason: Any = None
    fixes: tuple[Fix, ...] = ()
    warnings: tuple[ReportWarning, ...] = ()
    chars: int = 0
    chunks: int = 0
    settled_at: Mapping[str, int] = field(default_factory=lambda: _NO_OFFSETS)
    stopped_early: bool = False
    unread: int = 0
    attempts: int = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the offsets as a plain dict: mapping proxies cannot be pickled."""
        state = {name: getattr(self, name) for name in self.__slots__}
        state["settled_at"] = dict(self.settled_at)
        return _rebuild_report, (state,)

    def __deepcopy__(self, memo: dict[int, Any]) -> ParseReport:
        """Return itself: a report is frozen."""
        return self


def _rebuild_report(state: dict[str, Any]) -> ParseReport:
    return ParseReport(**state)
