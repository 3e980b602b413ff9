"""The fixes that a policy permits, and the record of those that were applied.

A fix deletes or re-encodes characters that carry no data. It has exactly one reading,
and every string, number and literal of the text keeps its value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final


class FixKind(str, Enum):
    """One kind of syntax-safe fix."""

    BYTE_ORDER_MARK = "byte_order_mark"
    UNUSUAL_WHITESPACE = "unusual_whitespace"
    REASONING = "reasoning"
    PROSE = "prose"
    CODE_FENCE = "code_fence"
    TRAILING_COMMA = "trailing_comma"
    RAW_CONTROL_CHARACTER = "raw_control_character"
    REPEATED_DOCUMENT = "repeated_document"
    COMMENT = "comment"
    SINGLE_QUOTED_STRING = "single_quoted_string"
    UNQUOTED_KEY = "unquoted_key"
    PYTHON_LITERAL = "python_literal"


_OPT_IN: Final = frozenset(
    {
        # A comment may stand for left out data: `// ... 8 more rows`.
        FixKind.COMMENT,
        FixKind.SINGLE_QUOTED_STRING,
        FixKind.UNQUOTED_KEY,
        FixKind.PYTHON_LITERAL,
    }
)
_EXCERPT: Final = 40


@dataclass(frozen=True, slots=True, repr=False)
class Fix:
    """One application of a fix.

    Attributes:
        kind: The kind of fix.
        offset: Characters of the stream before the fix.
        removed: The characters that were taken out.
        inserted: The characters that were put in their place.
    """

    kind: FixKind
    offset: int
    removed: str
    inserted: str = ""

    def __repr__(self) -> str:
        """Show the fix with at most 40 characters of what it removed."""
        removed = self.removed
        if len(removed) > _EXCERPT:
            removed = removed[:_EXCERPT] + "\N{HORIZONTAL ELLIPSIS}"
        return (
            f"Fix({self.kind.value}, offset={self.offset}, removed={removed!r}, "
            f"inserted={self.inserted!r})"
        )


@dataclass(frozen=True, slots=True)
class FixPolicy:
    """The set of fixes that a parser may apply.

    Use `FixPolicy.SYNTAX_SAFE` (the default) or `FixPolicy.STRICT`, and `with_` or
    `without` to change one of them.

    Example:
        >>> policy = FixPolicy.SYNTAX_SAFE.with_(FixKind.COMMENT)
        >>> policy.permits(FixKind.COMMENT)
        True
    """

    kinds: frozenset[FixKind]

    SYNTAX_SAFE: ClassVar[FixPolicy]
    STRICT: ClassVar[FixPolicy]

    def permits(self, kind: FixKind) -> bool:
        """Whether the policy permits `kind`."""
        return kind in self.kinds

    def with_(self, *kinds: FixKind | str) -> FixPolicy:
        """Return the policy that permits `kinds` as well.

        Raises:
            ValueError: One of `kinds` is not a fix.
        """
        return FixPolicy(self.kinds | _as_kinds(kinds))

    def without(self, *kinds: FixKind | str) -> FixPolicy:
        """Return the policy that does not permit `kinds`.

        Raises:
            ValueError: One of `kinds` is not a fix.
        """
        return FixPolicy(self.kinds - _as_kinds(kinds))

    def __repr__(self) -> str:
        """Show the policy by its name, or by its kinds."""
        for name in ("SYNTAX_SAFE", "STRICT"):
            if self.kinds == getattr(FixPolicy, name).kinds:
                return f"FixPolicy.{name}"
        return f"FixPolicy({', '.join(sorted(kind.value for kind in self.kinds))})"


def _as_kinds(kinds: Iterable[FixKind | str]) -> frozenset[FixKind]:
    return frozenset(FixKind(kind) for kind in kinds)


FixPolicy.SYNTAX_SAFE = FixPolicy(frozenset(FixKind) - _OPT_IN)
FixPolicy.STRICT = FixPolicy(frozenset())
