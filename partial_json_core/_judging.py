"""Where the schema speaks while a document is read: the scanner's side of the guard.

Each method asks the node or the place that the scanner carries, puts what it says into
the stack of containers, and turns a `Mismatch` into the error of that place.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ._grammar import FULL, NEXT_ELEMENT
from ._guard import UNJUDGED, Mismatch, Node, Place, Rule, document_path
from ._tree import Frame
from .errors import SchemaMismatchError
from .events import Event, TextDelta
from .paths import Path


class Judging:
    """The part of a scanner that asks the schema.

    A wrong scalar or container is reported at its end, an unknown key at its first
    character, everything else at the character that proves it.
    """

    __slots__ = ("_frames", "_rule", "_text")

    _frames: list[Frame]
    _rule: Rule | None
    _text: str

    # --------------------------------------------------------------- entries

    def _judge_key(self, frame: Frame, node: Node, offset: int) -> None:
        try:
            frame.child = node.child(frame.segment, frame.container)
        except Mismatch as err:
            self._reject(err, len(self._frames) - 1, offset)

    def _element(self, frame: Frame, node: Node, index: int) -> Place | None:
        try:
            return node.child(index, frame.container)
        except Mismatch:
            # An element cannot be wrong before it has come: its own end decides.
            return None

    def _next_element(self, frame: Frame) -> int:
        """Get ready for the element after a comma; returns the state."""
        node = frame.node
        assert node is not None
        container = frame.container
        frame.child = self._element(frame, node, len(container))
        return FULL if node.is_full(container) else NEXT_ELEMENT

    def _overflow(self, frame: Frame, offset: int) -> None:
        assert frame.node is not None
        frame.segment = len(frame.container)
        try:
            frame.node.overflow(frame.container)
        except Mismatch as err:
            self._reject(err, len(self._frames) - 1, offset)

    # ---------------------------------------------------------------- values

    def _open_node(self, place: Place | None, bracket: str, offset: int) -> Node | None:
        """The node of a container that opens; its frame is not on the stack yet."""
        if place is None:
            return None
        try:
            return place.open(bracket)
        except Mismatch as err:
            self._reject(err, len(self._frames), offset)

    def _judge(self, frame: Frame, value: Any, offset: int, events: list[Event]) -> Any:
        """Return the converted value of a scalar that has settled."""
        place = frame.child
        assert place is not None
        container = frame.container
        if not frame.is_object:
            frame.segment = len(container)
        segment = frame.segment
        try:
            if place.rule is not None and isinstance(value, str):
                broken = place.rule.broken_at(value)
                if broken >= 0:
                    self._break_whole(place, value, broken, offset, events)
            shown = place.scalar(value, container)
        except Mismatch as err:
            self._reject(err, len(self._frames), offset)
        if shown is UNJUDGED:
            return value
        if container.converted is None:
            container.converted = {}
        container.converted[segment] = shown
        return shown

    def _judge_container(self, frame: Frame, offset: int) -> Any:
        """Return the converted value of a container that has been taken off."""
        assert frame.node is not None
        container = frame.container
        try:
            shown = frame.node.close(container)
        except Mismatch as err:
            self._reject(err, len(self._frames), offset, container)
        if shown is UNJUDGED:
            return container
        parent = self._frames[-1].container
        if parent.converted is None:
            parent.converted = {}
        parent.converted[self._frames[-1].segment] = shown
        return shown

    # --------------------------------------------------------------- strings

    def _break_whole(
        self, place: Place, value: str, broken: int, offset: int, events: list[Event]
    ) -> None:
        """Fail for a string that was whole in its chunk, as if it had come slowly.

        Such a string has no escapes: with one it is read slowly.

        Args:
            place: Its place.
            value: The string.
            broken: The index of the character that breaks the rule.
            offset: The offset behind its closing quote.
            events: The events of the chunk.
        """
        try:
            place.break_rule(value[: broken + 1])
        except Mismatch as err:
            frame = self._frames[-1]
            if events and events[-1] == ((*frame.path, frame.segment), value):
                delta = events.pop()
                if broken:
                    events.append(TextDelta(delta.path, value[:broken]))  # type: ignore[union-attr]  # as compared
            at = offset - 1 - len(value) + broken
            self._reject(err, len(self._frames), at)

    def _break_rule(self, text: str, offset: int) -> None:
        """Fail at the character that breaks the rule of an open string."""
        place = self._frames[-1].child
        assert place is not None
        try:
            place.break_rule(text)
        except Mismatch as err:
            # What came before it is certain, and an event.
            self._text = text[:-1]
            self._reject(err, len(self._frames), offset)
        self._rule = None

    # ---------------------------------------------------------------- errors

    def _reject(
        self, err: Mismatch, depth: int, offset: int, container: Any = None
    ) -> NoReturn:
        """Raise the error of a place.

        Args:
            err: What the schema says.
            depth: How many containers lead to the value that it is about.
            offset: The offset of the place.
            container: The container that it is about.
        """
        frames = self._frames
        path: Path = tuple(frame.segment for frame in frames)
        depth -= err.up
        loc: list[str | int] = []
        for frame in frames[:depth]:
            if frame.node is not None:
                loc += frame.node.label
            loc.append(frame.segment)
        if depth < len(frames) and frames[depth].node is not None:
            loc += frames[depth].node.label  # type: ignore[union-attr]  # as above
        errors = [{**entry, "loc": (*loc, *entry["loc"])} for entry in err.errors]
        if container is not None and not err.up:
            path = (*path, *document_path(container, err.errors[0]["loc"]))
        raise SchemaMismatchError(
            errors=errors, path=path, offset=offset, early=True
        ) from err.__cause__
