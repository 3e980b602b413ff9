"""Early verdicts for some paths only: the option `early` with patterns."""

from __future__ import annotations

from typing import Any

from ._guard import UNJUDGED, Mismatch, Node, Place
from .paths import EVERYTHING, Path, PatternNode, Segment


class FilteredPlace(Place):
    """A place of which only the patterns of `early` are judged.

    Args:
        place: The place.
        patterns: What of it, and of what is below it, is judged.
    """

    __slots__ = ("_patterns", "_place")

    def __init__(self, place: Place, patterns: PatternNode) -> None:
        judged = patterns.selected
        super().__init__(exact=place.exact, rule=place.rule if judged else None)
        self._place = place
        self._patterns = patterns

    def scalar(self, value: Any, container: Any) -> Any:
        """Judge a scalar, if it is selected."""
        if not self._patterns.selected:
            return UNJUDGED
        return self._place.scalar(value, container)

    def convert(self, value: Any) -> Any:
        """Judge a value, if it is selected."""
        return self._place.convert(value) if self._patterns.selected else UNJUDGED

    def break_rule(self, text: str) -> None:
        """Judge an open string; the rule is there if it is selected."""
        self._place.break_rule(text)

    def open(self, bracket: str) -> Node | None:
        """Judge an opening bracket, if it is selected, and look below it."""
        try:
            node = self._place.open(bracket)
        except Mismatch:
            if self._patterns.selected:
                raise
            return None
        if node is None or self._patterns is EVERYTHING:
            return node
        return _FilteredNode(node, self._place, self._patterns)


class _FilteredNode:
    __slots__ = ("_node", "_patterns", "_place")

    def __init__(self, node: Node, place: Place, patterns: PatternNode) -> None:
        self._node = node
        self._place = place
        self._patterns = patterns

    @property
    def label(self) -> Path:
        return self._node.label

    def child(self, segment: Segment, container: Any) -> Place | None:
        below = self._patterns.child(segment)
        try:
            place = self._node.child(segment, container)
        except Mismatch:
            if self._patterns.selected or (below is not None and below.selected):
                raise
            return None
        if place is None or below is None:
            return None
        return FilteredPlace(place, below)

    def is_full(self, container: Any) -> bool:
        return self._patterns.selected and self._node.is_full(container)

    def overflow(self, container: Any) -> None:
        self._node.overflow(container)

    def close(self, container: Any) -> Any:
        # The whole: what is in it may not have been judged.
        return self._place.convert(container) if self._patterns.selected else UNJUDGED
