"""The open containers of a document, and the snapshots that share them.

A snapshot is the root container itself, not a copy. Before the scanner goes on it looks
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

from ._guard import Node, Place
from .partial import PartialDict, PartialList
from .paths import EVERYTHING, Path, PatternNode


def _counts_are_exact() -> bool:
    gil = getattr(sys, "_is_gil_enabled", None)
    return sys.implementation.name == "cpython" and (gil is None or gil())


def _always_kept(_value: object) -> int:
    return sys.maxsize


_EXACT: Final = _counts_are_exact()
getrefcount: Final[Callable[[object], int]] = (
    sys.getrefcount if _EXACT else _always_kept
)
dict_set: Final[Any] = dict.__setitem__
list_append: Final[Any] = list.append
list_set: Final[Any] = list.__setitem__


class Frame:
    """One open container.

    Attributes:
        container: The container, a `PartialDict` or `PartialList`; what has settled
            below it, and what is open.
        is_object: Whether it is an object.
        path: Its path, or () when no event below it is wanted.
        segment: The key or index of the value that is being read.
        settled_at: Where to note at which offset a field settled, or None.
        watch: What the watched patterns select below it, or None for nothing.
        node: What the schema says about its entries, or None.
        child: What it says about the value that is being read, or None.
        spare: An older version of the container, to go on in.
        close: Its closing bracket.
    """

    __slots__ = (
        "child",
        "close",
        "container",
        "is_object",
        "node",
        "path",
        "segment",
        "settled_at",
        "spare",
        "watch",
    )

    def __init__(
        self,
        container: Any,
        path: Path,
        watch: PatternNode | None,
        node: Node | None,
        settled_at: dict[str, int] | None,
    ) -> None:
        container.is_open = True
        container.open_segment = None
        container.converted = None
        self.container = container
        self.is_object = isinstance(container, PartialDict)
        self.close = "}" if self.is_object else "]"
        self.path = path
        self.segment: Any = ""
        self.settled_at = settled_at
        self.watch = watch
        self.node: Node | None = node
        self.child: Place | None = None
        self.spare: PartialDict | PartialList | None = None


def renew(frames: list[Frame], first: int) -> None:
    """Go on in other containers from depth `first` down: what is there was kept."""
    for depth in range(first, len(frames)):
        frame = frames[depth]
        kept = frame.container
        # A spare that a parent's spare still refers to counts as kept: safe, slower.
        if frame.spare is not None and getrefcount(frame.spare) <= ROOT_REFERENCES:
            fresh = frame.spare
            _catch_up(fresh, kept, is_object=frame.is_object)
        else:
            fresh = type(kept)(kept)
            fresh.is_open = True
        fresh.open_segment = kept.open_segment
        fresh.converted = kept.converted
        frame.container = fresh
        frame.spare = kept
        if depth:
            _replace_last(frames[depth - 1], fresh)


def _catch_up(older: Any, newer: Any, *, is_object: bool) -> None:
    """Bring an older version up to date: its last entry may have been open."""
    known = len(older)
    if not is_object:
        start = known - 1 if known else 0
        list_set(older, slice(start, None), newer[start:])
        return
    missing = len(newer) - known + (1 if known else 0)
    if missing == 1:
        key = next(reversed(newer))
        dict_set(older, key, newer[key])
        return
    entries = list(islice(reversed(newer.items()), missing))
    for key, value in reversed(entries):
        dict_set(older, key, value)


def _replace_last(parent: Frame, child: PartialDict | PartialList) -> None:
    if parent.is_object:
        dict_set(parent.container, parent.segment, child)
    else:
        list_set(parent.container, -1, child)


def attach(frame: Frame, text: str) -> None:
    """Show the certain part of an open string in its container."""
    container = frame.container
    if frame.is_object:
        dict_set(container, frame.segment, text)
    else:
        list_append(container, text)
    container.open_segment = frame.segment


def detach(frame: Frame) -> None:
    """Drop the open string, so that it grows in place and not by copying."""
    container = frame.container
    container.open_segment = None
    if frame.is_object:
        # Cheaper than to delete the key; the string's end or `attach` sets it again.
        dict_set(container, frame.segment, "")
    else:
        list.pop(container)


def remove_open(frame: Frame) -> None:
    """Take what stands for an open string out for good."""
    if frame.is_object:
        dict.pop(frame.container, frame.segment, None)
    elif frame.container.open_segment is not None:
        list.pop(frame.container)
    frame.container.open_segment = None


def _calibrate() -> int:
    """Count the references to a container that only a frame holds."""
    frame = Frame(PartialDict(), (), EVERYTHING, None, None)
    return getrefcount(frame.container)


ROOT_REFERENCES: Final = _calibrate() if _EXACT else 0
CHILD_REFERENCES: Final = ROOT_REFERENCES + 1 if _EXACT else 0


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


def count_settled(frames: list[Frame]) -> int:
    """How many values of an open tree have settled, containers included."""
    count = 0
    pending: list[Any] = [frames[0].container]
    while pending:
        container = pending.pop()
        count += 0 if container.is_open else 1
        items = container.values() if isinstance(container, dict) else container
        for item in items:
            if isinstance(item, PartialDict | PartialList):
                pending.append(item)
            else:
                count += 1
    return count
