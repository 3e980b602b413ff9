"""How an output ended: finish reasons, refusals, and calls that may have been cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from partial_json_core import (
    FinishReason,
    PartialParser,
    TruncatedOutputError,
)

from ._calls import Call, Fragment
from ._messages import Piece


class Ends:
    """What the chunks of one output said about its end.

    Attributes:
        refusal: What the provider sent as a refusal, or None.
    """

    __slots__ = ("_reasons", "refusal")

    def __init__(self) -> None:
        self._reasons: list[Any] = []
        self.refusal: str | None = None

    def note(self, piece: Piece) -> None:
        """Take what a piece says."""
        if piece.finish_reasons:
            self._reasons += piece.finish_reasons
        if piece.refusal is not None:
            self.refusal = (self.refusal or "") + piece.refusal

    @property
    def is_refused(self) -> bool:
        """Whether the provider says that the model refused."""
        return (
            self.refusal is not None
            or FinishReason.parse(self._reasons) is FinishReason.REFUSAL
        )

    @property
    def reason(self) -> Any:
        """The most telling reason of all chunks, as it was given."""
        known = [FinishReason.parse(reason) for reason in self._reasons]
        worst = FinishReason.parse(self._reasons) if self._reasons else None
        return self._reasons[known.index(worst)] if worst in known else None


def complete_call(
    parser: PartialParser[Any],
    call: Call,
    ends: Ends,
    make: Callable[[], PartialParser[Any]],
) -> PartialParser[Any]:
    """Read what the end of an output says about a tool call.

    A call without arguments is one with none: providers send an empty text, nothing, or
    ``null``.

    Args:
        parser: The parser of its arguments.
        call: The call.
        ends: How the output ended.
        make: Makes another parser.

    Returns:
        The parser to close.
    """
    if call.head.strip() in ("", "null") and FinishReason.parse(ends.reason).is_normal:
        parser = make()
        parser.feed("{}")
    return parser


def refuse_doubtful(part: Fragment, ends: Ends) -> None:
    """Refuse arguments that came parsed in an output that was cut.

    They may have been cut as well and look whole: nobody knows their text.

    Raises:
        TruncatedOutputError: It is so.
    """
    reason = FinishReason.parse(ends.reason)
    if part.is_whole and reason is FinishReason.LENGTH:
        raise TruncatedOutputError(
            cause=reason,
            expected="arguments that are known to be whole",
            offset=len(part.args),
            finish_reason=ends.reason,
        )
