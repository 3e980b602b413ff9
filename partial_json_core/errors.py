"""Every error that this package raises about an output.

    PartialOutputError(Exception)
      ParseError
        TruncatedOutputError
        MalformedOutputError
          DuplicateKeyError
        AmbiguousOutputError
        NoJSONFoundError
        LimitExceededError
      SchemaMismatchError
      SemanticCheckError
      RefusedOutputError
        ContentFilteredError
      RetriesExhaustedError
      InvariantError
    ParserStateError(RuntimeError)
    NotSettledError(LookupError)

None is a ValueError: LlamaIndex swallows those. The data are plain attributes, the
sentence is computed from them, and pickle and copy keep everything, also in a subclass
that has a framework's error as a second base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeVar

from .finish import FinishReason
from .fixes import FixKind
from .paths import Path, format_path
from .report import FailureLayer, ParseReport

EXCERPT_CHARS: Final = 40
_VALUE_CHARS: Final = 80
_NO_REPORT: Final = ParseReport()

_Error = TypeVar("_Error", bound="PartialOutputError")


class PartialOutputError(Exception):
    """An output that is not, or cannot become, a valid value.

    Attributes:
        path: Where in the document.
        offset: Characters of the stream before the place.
        finish_reason: The finish reason as the provider gave it.
        report: What was read up to here.
        excerpt: At most 40 characters of the output around the place.
        events: The events that the failing chunk caused before the failure.
    """

    layer: ClassVar[FailureLayer] = FailureLayer.PARSE

    path: Path
    offset: int
    finish_reason: Any
    report: ParseReport
    excerpt: str
    events: Sequence[Any]

    def __init__(
        self,
        *,
        path: Path = (),
        offset: int = 0,
        finish_reason: Any = None,
        report: ParseReport = _NO_REPORT,
        excerpt: str = "",
    ) -> None:
        # Not cooperative: a framework's error as second base must not see these.
        Exception.__init__(self)
        self.path = path
        self.offset = offset
        self.finish_reason = finish_reason
        self.report = report
        self.excerpt = excerpt
        self.events = ()

    def __str__(self) -> str:
        """Return the sentence."""
        return self._sentence()

    def __repr__(self) -> str:
        """Return the class with the sentence."""
        return f"{type(self).__name__}({self._sentence()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the attributes, without calling any constructor."""
        return _rebuild, (type(self), self.__dict__.copy())

    def _sentence(self) -> str:
        return f"the output failed {self._where()}"

    def _where(self) -> str:
        return f"in `{format_path(self.path)}` at offset {self.offset}"

    def _near(self) -> str:
        return f", near {self.excerpt!r}" if self.excerpt else ""


def _rebuild(cls: type[_Error], state: dict[str, Any]) -> _Error:
    err = cls.__new__(cls)
    err.__dict__.update(state)
    return err


class ParseError(PartialOutputError):
    """The text is not one complete JSON document."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What had settled in a cut output: not the answer, and not its type.

    Attributes:
        value: The document cut at its last settled element: list elements and nested
            objects that were still open are left out whole.
        open_path: Where the output ended.
        offset: Characters that were read.
    """

    value: Any
    open_path: Path
    offset: int

    complete: ClassVar[bool] = False


class TruncatedOutputError(ParseError):
    """The output ended before the document did.

    Attributes:
        cause: The normalised finish reason.
        expected: What would have come next.
        settled: What had settled, as a read-only tree; None when no root had begun.
        settled_count: How many values had settled.
        salvaged: What `salvage` wraps.
    """

    cause: FinishReason
    expected: str
    settled: Any

    def __init__(
        self,
        *,
        cause: FinishReason = FinishReason.NONE,
        expected: str = "",
        settled: Any = None,
        settled_count: int = 0,
        salvaged: Any = None,
        **common: Any,
    ) -> None:
        PartialOutputError.__init__(self, **common)
        self.cause = cause
        self.expected = expected
        self.settled = settled
        self.settled_count = settled_count
        self.salvaged = salvaged

    @property
    def open_path(self) -> Path:
        """The innermost path that was still open."""
        return self.path

    def salvage(self) -> Salvaged:
        """Return what had settled, cut at the last settled element.

        It is a `Salvaged`, not the schema's type: whoever uses it says so.
        """
        return Salvaged(self.salvaged, self.path, self.offset)

    def _sentence(self) -> str:
        reason = f"finish_reason={self.finish_reason!r}"
        if self.settled is None:
            where = f"before a JSON document began, at offset {self.offset}"
        else:
            where = f"inside `{format_path(self.path)}` at offset {self.offset}"
        return (
            f"output ended {where} ({reason}), expected {self.expected}: "
            f"{self._settled_words()}; {self._hint()}"
        )

    def _settled_words(self) -> str:
        if self.settled_count == 1:
            return "1 value had settled"
        return f"{self.settled_count or 'no'} values had settled"

    def _hint(self) -> str:
        if self.cause is FinishReason.LENGTH:
            return "raise max_tokens or ask for less, then retry"
        if self.cause is FinishReason.NONE:
            return "the connection may have been lost; retry"
        return "retry, and raise max_tokens if it ends there again"


class MalformedOutputError(ParseError):
    """The text breaks the JSON grammar (RFC 8259) in a way that the policy keeps.

    Attributes:
        expected: What the grammar allows here.
        found: What came.
        available_fix: The fix that reads it, when the policy does not permit it.
    """

    expected: str
    found: str
    available_fix: FixKind | None

    def __init__(
        self,
        *,
        expected: str = "",
        found: str = "",
        available_fix: FixKind | None = None,
        **common: Any,
    ) -> None:
        PartialOutputError.__init__(self, **common)
        self.expected = expected
        self.found = found
        self.available_fix = available_fix

    def _sentence(self) -> str:
        sentence = (
            f"expected {self.expected} but found {self.found} {self._where()}"
            f"{self._near()}"
        )
        if self.available_fix is None:
            return sentence
        return f"{sentence}; permit it with `FixKind.{self.available_fix.name}`"


class DuplicateKeyError(MalformedOutputError):
    """An object has the same key twice.

    Attributes:
        key: The key.
    """

    key: str

    def __init__(self, *, key: str = "", **common: Any) -> None:
        MalformedOutputError.__init__(
            self, expected="a new key", found="a key that the object has", **common
        )
        self.key = key

    def _sentence(self) -> str:
        return (
            f"duplicate key {shorten(self.key)} {self._where()}: which of the two "
            f"values is meant cannot be known"
        )


class AmbiguousOutputError(ParseError):
    """The output holds two different documents.

    Attributes:
        spans: Start and end offset of each of the two; the end of the second is where
            it was found to differ, or where the output ended.
    """

    spans: tuple[tuple[int, int], ...]

    def __init__(
        self, *, spans: tuple[tuple[int, int], ...] = (), **common: Any
    ) -> None:
        PartialOutputError.__init__(self, **common)
        self.spans = spans

    def _sentence(self) -> str:
        spans = " and ".join(f"{start} to {end}" for start, end in self.spans)
        return (
            f"the output holds two different documents, at offsets {spans}: ask for "
            f"one JSON document only"
        )


class NoJSONFoundError(ParseError):
    """The output holds no JSON document of the expected kind.

    Attributes:
        expected: The kinds that the root may have.
    """

    expected: str

    def __init__(self, *, expected: str = "a JSON document", **common: Any) -> None:
        PartialOutputError.__init__(self, **common)
        self.expected = expected

    def _sentence(self) -> str:
        if self.offset == 0:
            return (
                f"the output is empty (finish_reason={self.finish_reason!r}), expected "
                f"{self.expected}"
            )
        return (
            f"no JSON document in {self.offset} characters of output "
            f"(finish_reason={self.finish_reason!r}), expected {self.expected}"
            f"{self._near()}"
        )


class LimitExceededError(ParseError):
    """The output went beyond one of the `Limits`.

    The offset counts the characters read, the one that went beyond included.

    Attributes:
        limit: The name of the limit.
        maximum: Its value.
    """

    limit: str
    maximum: int

    _MEANINGS: ClassVar[Mapping[str, str]] = {
        "max_chars": "the output is longer than {} characters",
        "max_depth": "more than {} containers are open at one time",
        "max_number_chars": "a number is longer than {} characters",
        "max_whitespace_run": "more than {} characters of white space in a row",
        "max_idle_chunks": "no JSON document began in {} chunks",
        "max_string_chars": "a string is longer than {} characters",
        "max_repeat": "a string has repeated one short pattern for {} characters",
    }

    def __init__(self, *, limit: str = "", maximum: int = 0, **common: Any) -> None:
        PartialOutputError.__init__(self, **common)
        self.limit = limit
        self.maximum = maximum

    def _sentence(self) -> str:
        meaning = self._MEANINGS.get(self.limit, "a limit of {} was exceeded")
        return (
            f"{meaning.format(self.maximum)} {self._where()}; raise "
            f"`Limits.{self.limit}` if that is intended"
        )


class SchemaMismatchError(PartialOutputError):
    """The document is JSON, and not what the schema asks for.

    Attributes:
        errors: pydantic's error list, or one entry of the same form.
        early: Raised while the output was still being written.
        hint: A likely reason, or an empty string.
    """

    layer: ClassVar[FailureLayer] = FailureLayer.SCHEMA

    errors: Sequence[Mapping[str, Any]]
    early: bool
    hint: str

    def __init__(
        self,
        *,
        errors: Sequence[Mapping[str, Any]] = (),
        early: bool = False,
        hint: str = "",
        **common: Any,
    ) -> None:
        PartialOutputError.__init__(self, **common)
        self.errors = tuple(errors)
        self.early = early
        self.hint = hint

    def _sentence(self) -> str:
        first = self.errors[0] if self.errors else {}
        message = str(first.get("msg", "the value does not match"))
        kind = str(first.get("type", "unknown"))
        more = len(self.errors) - 1
        others = f" (and {more} more)" if more > 0 else ""
        hint = f"; {self.hint}" if self.hint else ""
        return (
            f"schema mismatch in `{format_path(self.path)}` at offset {self.offset}: "
            f"{_cut(message)} [{kind}]{others}{hint}"
        )


class SemanticCheckError(PartialOutputError):
    """A check refused a value that the schema accepts.

    Attributes:
        check: The name of the check.
        value: The value.
        reason: What the check said.
    """

    layer: ClassVar[FailureLayer] = FailureLayer.SEMANTIC

    check: str
    value: Any
    reason: str

    def __init__(
        self, *, check: str = "", value: Any = None, reason: str = "", **common: Any
    ) -> None:
        PartialOutputError.__init__(self, **common)
        self.check = check
        self.value = value
        self.reason = reason

    def _sentence(self) -> str:
        return f"check `{self.check}` failed {self._where()}: {_cut(self.reason)}"


class RefusedOutputError(PartialOutputError):
    """The model refused to answer.

    Attributes:
        refusal: What the model said, as far as the provider tells; may be empty.
    """

    layer: ClassVar[FailureLayer] = FailureLayer.REFUSED

    refusal: str

    def __init__(self, *, refusal: str = "", **common: Any) -> None:
        PartialOutputError.__init__(self, **common)
        self.refusal = refusal

    def _sentence(self) -> str:
        said = f": {shorten(self.refusal)}" if self.refusal else ""
        return f"the model refused (finish_reason={self.finish_reason!r}){said}"


class ContentFilteredError(RefusedOutputError):
    """The provider's content filter ended or replaced the output."""

    layer: ClassVar[FailureLayer] = FailureLayer.FILTERED

    def _sentence(self) -> str:
        return (
            f"a content filter ended the output {self._where()} "
            f"(finish_reason={self.finish_reason!r})"
        )


class RetriesExhaustedError(PartialOutputError):
    """Every attempt failed.

    Attributes:
        attempts: The error of each attempt, in order.
    """

    attempts: Sequence[PartialOutputError]

    def __init__(
        self, *, attempts: Sequence[PartialOutputError] = (), **common: Any
    ) -> None:
        PartialOutputError.__init__(self, **common)
        self.attempts = tuple(attempts)

    def _sentence(self) -> str:
        last = f"; the last: {self.attempts[-1]}" if self.attempts else ""
        return f"all {len(self.attempts)} attempts failed{last}"


class InvariantError(PartialOutputError):
    """This package contradicts itself; please report it.

    Attributes:
        detail: What does not hold.
    """

    detail: str

    def __init__(self, *, detail: str = "", **common: Any) -> None:
        PartialOutputError.__init__(self, **common)
        self.detail = detail

    def _sentence(self) -> str:
        return f"{self.detail} {self._where()}: this is a bug of partial-json-core"


class ParserStateError(RuntimeError):
    """A parser was used after an error or after `close`."""


class NotSettledError(LookupError):
    """A value was asked for that has not settled."""


def shorten(value: object) -> str:
    """Return the repr of a value, cut to 80 characters."""
    return _cut(repr(value))


def _cut(text: str) -> str:
    if len(text) <= _VALUE_CHARS:
        return text
    return text[: _VALUE_CHARS - 1] + "\N{HORIZONTAL ELLIPSIS}"
