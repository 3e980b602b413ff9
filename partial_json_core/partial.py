"""What a stream shows while it is being read: provisional values and their state.

A container of a snapshot is a real `dict` or `list`, so that it prints, compares and
dumps to JSON as usual, and it is read-only: settled parts are shared with the parser.
Copy it (``dict(snapshot)``) to change it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NoReturn, SupportsIndex

from typing_extensions import Self

from .paths import Path, Segment


class FieldState(str, Enum):
    """How much of a value has come."""

    ABSENT = "absent"
    OPEN = "open"
    SETTLED = "settled"


class _Unset(Enum):
    UNSET = "UNSET"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"

    __str__ = __repr__


UNSET: Final = _Unset.UNSET
"""Nothing has come yet. It is falsy, and it is not None: the model may say ``null``."""


def _read_only(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(
        f"a snapshot is read-only: copy it with `{kind}(snapshot)` to change it"
    )


class PartialDict(dict[str, Any]):
    """An object that may still grow."""

    # `open_segment` is the key of a string that is still being written, `converted`
    # holds what a schema made of values that have settled, by key.
    __slots__ = ("converted", "is_open", "open_segment")

    is_open: bool
    open_segment: Segment | None
    converted: dict[Segment, Any] | None

    def state(self, *path: Segment | Path) -> FieldState:
        """Return the state of the value at `path`.

        Args:
            path: Keys and indexes, as arguments or as one tuple; none is the value
                itself.
        """
        return state_of(self, path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild with the marks."""
        return _rebuild, (PartialDict, dict(self), *_marks(self))

    def copy(self) -> dict[str, Any]:
        """Return a plain dict with the same items."""
        return dict(self)

    # Each refuses every signature.
    __setitem__ = __delitem__ = pop = popitem = clear = _read_only
    update = setdefault = __ior__ = _read_only


class PartialList(list[Any]):
    """An array that may still grow."""

    __slots__ = ("converted", "is_open", "open_segment")

    is_open: bool
    open_segment: Segment | None
    converted: dict[Segment, Any] | None

    def state(self, *path: Segment | Path) -> FieldState:
        """Return the state of the value at `path`; see `PartialDict.state`."""
        return state_of(self, path)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Rebuild with the marks."""
        return _rebuild, (PartialList, list(self), *_marks(self))

    def copy(self) -> list[Any]:
        """Return a plain list with the same elements."""
        return list(self)

    def __add__(self, other: object) -> NoReturn:
        """Refuse: frameworks add what a stream yields, at the cost of its square."""
        raise TypeError("snapshots replace each other and cannot be added")

    # Each refuses every signature.
    __setitem__ = __delitem__ = append = extend = insert = _read_only
    pop = remove = clear = sort = reverse = _read_only
    __iadd__ = __imul__ = _read_only


class PartialStr(str):
    """A root string that may still grow, or has just settled."""

    __slots__ = ("is_open",)

    is_open: bool

    def __new__(cls, text: str = "", *, is_open: bool = True) -> Self:
        """Mark a text as provisional."""
        made = str.__new__(cls, text)
        made.is_open = is_open
        return made

    def state(self, *path: Segment | Path) -> FieldState:
        """Return the state of the string itself: a path into it is absent."""
        if flatten(path):
            return FieldState.ABSENT
        return FieldState.OPEN if self.is_open else FieldState.SETTLED

    def __add__(self, other: object) -> NoReturn:
        """Refuse, as `PartialList.__add__` does."""
        raise TypeError("snapshots replace each other and cannot be added")

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild with the mark."""
        return _rebuild_str, (str(self), self.is_open)


def state_of(value: Any, path: tuple[Segment | Path, ...]) -> FieldState:
    """Return the state of the value at `path` below a snapshot."""
    is_open = bool(getattr(value, "is_open", False))
    for segment in flatten(path):
        try:
            child = value[segment]
        except (LookupError, TypeError):
            return FieldState.ABSENT
        if isinstance(value, str) or isinstance(segment, bool):
            return FieldState.ABSENT
        if is_open:
            is_open = _is_open_child(value, segment, child)
        value = child
    return FieldState.OPEN if is_open else FieldState.SETTLED


def _is_open_child(parent: Any, segment: Segment, child: Any) -> bool:
    if isinstance(child, PartialDict | PartialList):
        return _marks(child)[0]
    if isinstance(segment, int) and segment < 0:
        segment += len(parent)
    open_segment = _marks(parent)[1]
    return open_segment is not None and open_segment == segment


def _marks(container: Any) -> tuple[bool, Segment | None]:
    # A container that a user made has no marks: setting them costs the parser a call.
    return (
        getattr(container, "is_open", False),
        getattr(container, "open_segment", None),
    )


def flatten(path: tuple[Segment | Path, ...]) -> tuple[Segment, ...]:
    """The segments of a path that was given as arguments or as one tuple."""
    if len(path) == 1 and isinstance(path[0], tuple | list):
        return tuple(path[0])
    return path  # type: ignore[return-value]  # segments, or the KeyError says so


def _rebuild(
    cls: type[PartialDict | PartialList],
    items: Any,
    is_open: bool,  # noqa: FBT001 - called by pickle, positionally
    open_segment: Segment | None,
) -> PartialDict | PartialList:
    made = cls(items)
    made.is_open = is_open
    made.open_segment = open_segment
    made.converted = None
    return made


def _rebuild_str(text: str, is_open: bool) -> PartialStr:  # noqa: FBT001 - as above
    return PartialStr(text, is_open=is_open)
