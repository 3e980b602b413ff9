"""Paths to values inside a document, and the patterns that select them.

A path is a tuple of object keys and array indexes, as in pydantic's ``loc``.
It prints as JSONPath (RFC 9535, normalized where a key is not a plain name).
A pattern is a JSON Pointer (RFC 6901) in which a segment ``*`` stands for any one
key or index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

Segment: TypeAlias = str | int
Path: TypeAlias = tuple[Segment, ...]

_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*").fullmatch
_WILDCARD: Final = "*"
# The deepest default limit is 100 levels; a sentence needs the two ends only.
_PRINTED_SEGMENTS: Final = 8
_PRINTED_KEY_CHARS: Final = 40


def format_path(path: Path) -> str:
    """Print a path as ``$.rows[2].amount``.

    A path of more than 16 segments is printed with its middle left out, and a key
    of more than 40 characters is cut: a key is model output and may be private.
    """
    if len(path) > 2 * _PRINTED_SEGMENTS:
        head, tail = path[:_PRINTED_SEGMENTS], path[-_PRINTED_SEGMENTS:]
        return (
            "$"
            + "".join(map(_step, head))
            + "\N{HORIZONTAL ELLIPSIS}"
            + ("".join(map(_step, tail)))
        )
    return "$" + "".join(map(_step, path))


def _step(segment: Segment) -> str:
    if isinstance(segment, int):
        return f"[{segment}]"
    if len(segment) > _PRINTED_KEY_CHARS:
        segment = segment[:_PRINTED_KEY_CHARS] + "\N{HORIZONTAL ELLIPSIS}"
    return f".{segment}" if _PLAIN_NAME(segment) else f"[{segment!r}]"


class PatternNode:
    """One segment of a set of patterns, as a tree that is walked beside the document.

    Attributes:
        selected: A pattern ends here.
        children: The nodes of named segments.
        wildcard: The node of any other segment.
    """

    __slots__ = ("children", "selected", "wildcard")

    def __init__(self) -> None:
        self.selected = False
        self.children: dict[str, PatternNode] = {}
        self.wildcard: PatternNode | None = None

    def child(self, segment: Segment) -> PatternNode | None:
        """Return the node below `segment`, or None when nothing there is selected."""
        named = self.children.get(str(segment)) if self.children else None
        return named or self.wildcard

    def add(self, segments: list[str]) -> None:
        """Select the path that `segments` spell."""
        node = self
        for segment in segments:
            if segment == _WILDCARD:
                node.wildcard = node.wildcard or PatternNode()
                node = node.wildcard
            else:
                node = node.children.setdefault(segment, PatternNode())
        node.selected = True

    def merge_wildcards(self) -> None:
        """Copy what a wildcard selects into its named siblings.

        With this a lookup follows one child only, whichever patterns overlap.
        """
        pending = [self]
        while pending:
            node = pending.pop()
            if node.wildcard is not None:
                for named in node.children.values():
                    _absorb(named, node.wildcard)
                pending.append(node.wildcard)
            pending.extend(node.children.values())


def _absorb(target: PatternNode, source: PatternNode) -> None:
    pairs = [(target, source)]
    while pairs:
        into, other = pairs.pop()
        into.selected = into.selected or other.selected
        for key, below in other.children.items():
            pairs.append((into.children.setdefault(key, PatternNode()), below))
        if other.wildcard is not None:
            into.wildcard = into.wildcard or PatternNode()
            pairs.append((into.wildcard, other.wildcard))


class _Everything(PatternNode):
    """The node that selects every path."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.selected = True

    def child(self, segment: Segment) -> PatternNode | None:  # noqa: ARG002 - selects all
        return self


EVERYTHING: Final[PatternNode] = _Everything()


def compile_patterns(patterns: Iterable[str] | None) -> PatternNode | None:
    """Build the tree of a set of JSON Pointer patterns.

    Args:
        patterns: Pointers such as ``/rows/*/amount``; the empty string is the root.
            None selects every path.

    Returns:
        The tree, or None when `patterns` is empty.

    Raises:
        ValueError: A pattern is neither empty nor starts with ``/``.
    """
    if patterns is None:
        return EVERYTHING
    if isinstance(patterns, str):
        raise ValueError(  # noqa: TRY004 - every bad pattern is a ValueError
            f"patterns must be a collection of strings, got {patterns!r}"
        )
    root = PatternNode()
    empty = True
    for pattern in patterns:
        root.add(parse_pointer(pattern))
        empty = False
    if empty:
        return None
    root.merge_wildcards()
    return root


def parse_pointer(pointer: str) -> list[str]:
    """Split a JSON Pointer into its segments (RFC 6901 section 4).

    Raises:
        ValueError: `pointer` is neither empty nor starts with ``/``.
    """
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(
            f"a path pattern is a JSON Pointer such as '/rows/*/amount', got "
            f"{pointer!r}: start it with '/'"
        )
    return [
        segment.replace("~1", "/").replace("~0", "~")
        for segment in pointer[1:].split("/")
    ]
