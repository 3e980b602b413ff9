"""The open containers of a document, and the snapshots that share them.

A snapshot is the root container itself, not a copy. Before the parser goes on it looks
whether anybody kept what was handed out. If nobody did, it goes on in place. If
somebody did, the kept containers stay as they are and the parser goes on in others: in
the spare, which is the version before the kept one brought up to date, or else in a
copy. So a loop that holds one snapshot at a time pays for what is new in a chunk, and
who keeps each snapshot pays the width of the open containers.

Who kept what is read off the reference count. Where there is none to rely on (PyPy, a
build without the GIL), every snapshot counts as kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from .partial import PartialDict, PartialList
from .paths import EVERYTHING, Path, PatternNode, Segment


def _counts_are_exact() -> bool:
    gil = getattr(sys, "_is_gil_enabled", None)
    return sys.implementation.name == "cpython" and (gil is None or gil())


def _always_kept(_value: object) -> int:
    return sys.maxsize


_EXACT: Final = _counts_are_exact()
_getrefcount: Final[Callable[[object], int]] = (
    sys.getrefcount if _EXACT else _always_kept
)
dict_set: Final[Any] = dict.__setitem__
list_append: Final[Any] = list.append
dict_delete: Final[Any] = dict.__delitem__


class Frame:
    """One open container.

    Attributes:
        container: The container, a `PartialDict` or `PartialList`; what has settled
            below it, and what is open.
        is_object: Whether it is an object.
        path: Its path, or () when no event below it is wanted.
        segment: The key or index of the value that is being read.
        watch: What the watched patterns select below it, or None for nothing.
        node: What the schema says about this place, or None.
        spare: An older version of the container, to go on in.
        close: Its closing bracket.
    """

    __slots__ = (
        "close",
        "container",
        "is_object",
        "node",
        "path",
        "segment",
        "spare",
        "watch",
    )

    def __init__(
        self,
        container: Any,
        path: Path,
        watch: PatternNode | None,
        node: Any,
    ) -> None:
        container.is_open = True
        self.container = container
        self.is_object = isinstance(container, PartialDict)
        self.close = "}" if self.is_object else "]"
        self.path = path
        self.segment: Segment = ""
        self.watch = watch
        self.node = node
        self.spare: PartialDict | PartialList | None = None


def unshare(frames: list[Frame]) -> None:
    """Let the frames go on without changing what somebody kept of the last snapshot."""
    # A frame refers to the root, a parent to each of the others as well.
    expected = _ROOT_REFERENCES
    for frame in frames:
        if _getrefcount(frame.container) > expected:
            _renew(frames, frames.index(frame))
            return
        expected = _CHILD_REFERENCES


def _renew(frames: list[Frame], first: int) -> None:
    """Replace the containers from depth `first` down, the parents first."""
    for depth in range(first, len(frames)):
        frame = frames[depth]
        kept = frame.container
        # A spare that a parent's spare still refers to counts as kept: safe, slower.
        if frame.spare is not None and _getrefcount(frame.spare) <= _ROOT_REFERENCES:
            fresh = frame.spare
            _catch_up(fresh, kept)
        else:
            fresh = type(kept)(kept)
        fresh.is_open = True
        fresh.open_segment = kept.open_segment
        frame.container = fresh
        frame.spare = kept
        if depth:
            _replace_last(frames[depth - 1], fresh)


def _catch_up(older: Any, newer: Any) -> None:
    """Bring an older version up to date: its last entry may have been open."""
    if isinstance(older, PartialDict):
        missing = len(newer) - len(older) + (1 if older else 0)
        entries = list(islice(reversed(newer.items()), missing))
        for key, value in reversed(entries):
            dict_set(older, key, value)
        return
    start = max(len(older) - 1, 0)
    list.__setitem__(older, slice(start, None), newer[start:])


def _replace_last(parent: Frame, child: PartialDict | PartialList) -> None:
    if isinstance(parent.container, PartialDict):
        dict_set(parent.container, parent.segment, child)
    else:
        list.__setitem__(parent.container, -1, child)


def attach(frame: Frame, text: str) -> None:
    """Show the certain part of an open string in its container."""
    container = frame.container
    if isinstance(container, PartialDict):
        dict_set(container, frame.segment, text)
    else:
        list_append(container, text)
    container.open_segment = frame.segment


def detach(frame: Frame) -> None:
    """Take the open string out again, so that it grows in place and not by copying."""
    container = frame.container
    if container.open_segment is None:
        return
    container.open_segment = None
    if isinstance(container, PartialDict):
        dict_delete(container, frame.segment)
    else:
        list.pop(container)


def _calibrate() -> int:
    """Count the references to a container that only a frame holds."""
    frame = Frame(PartialDict(), (), EVERYTHING, None)
    return _getrefcount(frame.container)


_ROOT_REFERENCES: Final = _calibrate() if _EXACT else 0
_CHILD_REFERENCES: Final = _ROOT_REFERENCES + 1 if _EXACT else 0


def salvage(frames: list[Frame]) -> Any:
    """Cut an open tree at its last settled element, as plain values.

    An open object in a list is an element that has not settled, so it goes whole; an
    open value of an object goes too, unless it is a container that has something.
    """
    depth = 0
    while depth + 1 < len(frames) and frames[depth].is_object:
        depth += 1
    kept = _plain(frames[depth].container)
    if depth + 1 < len(frames):
        kept.pop()
    for frame in reversed(frames[:depth]):
        outer = _plain(frame.container)
        outer[frame.segment] = kept
        kept = outer
    return kept


def _plain(value: Any) -> Any:
    # The depth is bounded by Limits.max_depth (at most 200).
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
