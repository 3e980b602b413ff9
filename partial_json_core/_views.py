"""What a stream with a schema shows: typed objects that are never the final one.

A view is made for each look and costs nothing but itself: it holds a container of the
tree and what the schema says about it, and converts what has settled when it is asked
for, once. Containers that are open are shown by further views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar, overload

from pydantic_core import to_json, to_jsonable_python

from ._guard import (
    UNJUDGED,
    Elements,
    Entries,
    Fields,
    Mismatch,
    NodeSource,
    Place,
)
from ._unions import Tagged, Wrapped
from .errors import NotSettledError
from .partial import (
    UNSET,
    FieldState,
    PartialDict,
    PartialList,
    PartialStr,
    flatten,
    state_of,
)
from .paths import Path, Segment, format_path

_Model = TypeVar("_Model")
_MISSING: Final = object()


def _shown(raw: Any, segment: Segment, place: Place | None) -> Any:
    """What an entry of a container shows; `UNSET` when nothing is certain."""
    value = raw[segment]
    if raw.open_segment is not None and raw.open_segment == segment:
        return value if place is not None and place.shows_text else UNSET
    if place is None or type(value) is place.exact:
        return value
    if isinstance(value, PartialDict | PartialList) and value.is_open:
        return view_of(place, value)
    known = raw.converted
    if known is not None:
        found = known.get(segment, _MISSING)
        if found is not _MISSING:
            return found
    try:
        found = place.scalar(value, raw)
    except Mismatch:
        found = UNJUDGED
    if found is UNJUDGED:
        return value
    if known is None:
        raw.converted = known = {}
    known[segment] = found
    return found


def viewer_of(place: Place, raw: Any, schema: Any) -> Callable[[Any], Any] | None:
    """Return what makes the views of a root, or None when it shows itself.

    Args:
        place: The place of the root.
        raw: A container at the root.
        schema: The type that the place was compiled from.
    """
    source = _source(place, raw)
    if isinstance(source, Fields) and source.view_class is not None:
        return partial(source.view_class, source)
    if isinstance(source, Elements | Entries):
        # A list or a dict at the root has a type of its own.
        base = PartialItems if isinstance(source, Elements) else PartialMapping
        try:
            return partial(_class(schema, base), source)
        except TypeError:  # a schema that cannot be hashed
            return partial(base, source)
    return None if source is None else source.view


def view_of(place: Place | None, raw: Any) -> Any:
    """Return what shows an open container."""
    source = _source(place, raw)
    return raw if source is None else source.view(raw)


def _source(place: Place | None, raw: Any) -> NodeSource | None:
    if place is None:
        return None
    source = place.object if isinstance(raw, dict) else place.array
    # What is wrong is shown as it is; the verdict is another's business.
    return source if hasattr(source, "view") else None  # type: ignore[return-value]


if TYPE_CHECKING:

    class Partial(Generic[_Model]):
        """See below; here for type checkers, to which any attribute is Any."""

        def __init__(self, node: Any, raw: Any) -> None: ...
        @property
        def settled(self) -> Any: ...
        def state(self, *path: Segment | Path) -> FieldState: ...
        def model_dump(
            self, *, mode: str = "python", by_alias: bool = False
        ) -> dict[str, Any]: ...
        def model_dump_json(self, *, by_alias: bool = False) -> str: ...
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, segment: Any) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...

    _AnyPartial = Partial[Any]

else:

    class Partial(Generic[_Model]):
        """What has come of a `Model` so far.

        Each field is an attribute: converted and validated once it has settled,
        another view while it is an open object or array, the certain part of a plain
        ``str`` that is being written, and `UNSET` otherwise. A partial never changes,
        and it is never an instance of the model. Settled lists and models that it
        shows are shared with later partials: do not change them.

        ``Partial[Model]`` is a class of its own for each type, for annotations and
        for ``isinstance``. A field whose name is also a method of this class hides
        the method; `field_state` and ``partial["name"]`` always work.

        Example:
            >>> from pydantic import BaseModel
            >>> from partial_json_core import PartialParser
            >>> class Ticket(BaseModel):
            ...     category: str
            ...     amount: int
            >>> parser = PartialParser(Ticket)
            >>> events = parser.feed('{"category": "ref')
            >>> parser.snapshot()
            Partial[Ticket](category='ref'..., amount=UNSET)
        """

        __slots__ = ("_node", "_raw")

        _source_type: Any = None

        def __class_getitem__(cls, item: Any) -> Any:
            if cls is not Partial or isinstance(item, TypeVar | str):
                return super().__class_getitem__(item)
            return partial_class(item)

        def __init__(self, node: Any, raw: Any) -> None:
            _set_node(self, node)
            _set_raw(self, raw)

        def __setattr__(self, name: str, _value: object) -> NoReturn:
            raise TypeError(f"a partial is read-only: `{name}` cannot be set")

        def __delattr__(self, name: str) -> NoReturn:
            raise TypeError(f"a partial is read-only: `{name}` cannot be deleted")

        __hash__ = None

        def __eq__(self, other: object) -> bool:
            """Whether the same has come of the same type, in the same state."""
            if not isinstance(other, Partial):
                return NotImplemented
            return (
                type(self) is type(other)
                and self._raw == other._raw
                and _marks(self._raw) == _marks(other._raw)
            )

        def __copy__(self) -> Any:
            """Return itself: a partial never changes."""
            return self

        def __deepcopy__(self, _memo: Any) -> Any:
            """Return itself: a partial never changes."""
            return self

        def __reduce__(self) -> Any:
            """Rebuild from the type, or as plain values where there is none."""
            if self._source_type is None:
                return _same, (self.model_dump(),)
            return _restore, (self._source_type, self._raw)

        def state(self, *path: Any) -> FieldState:
            """Return the state of the value at `path`.

            Args:
                path: Field names, keys and indexes, as arguments or as one tuple;
                    none is the value itself.
            """
            return field_state(self, *path)

        @property
        def settled(self) -> Any:
            """The fields that have settled; any other raises `NotSettledError`."""
            return _Settled(self)

        def model_dump(self, *, mode: str = "python", by_alias: bool = False) -> Any:
            """Return what there is, as plain values.

            Args:
                mode: ``"python"``, or ``"json"`` for values that JSON can hold.
                by_alias: Use the keys of the input instead of the names.
            """
            return _dump(self, mode, by_alias=by_alias)

        def model_dump_json(self, *, by_alias: bool = False) -> str:
            """Return what there is, as JSON."""
            dumped = self.model_dump(mode="json", by_alias=by_alias)
            return to_json(dumped).decode()

    _AnyPartial = Partial

    # A partial is made for each chunk, and its slots are set past `__setattr__`.
    _set_node: Final = Partial._node.__set__  # noqa: SLF001 - one noun
    _set_raw: Final = Partial._raw.__set__  # noqa: SLF001 - as above


class _FieldsView(_AnyPartial):
    """A partial with named fields."""

    __slots__ = ()

    _node: Fields
    _raw: Any

    def __getattr__(self, name: str) -> Any:
        """Return what a field shows."""
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(self._node.fields) or "none"
            raise AttributeError(
                f"`{type(self).__name__}` has no field `{name}`; its fields: {fields}",
                name=name,
                obj=self,
            ) from None

    def __getitem__(self, name: str) -> Any:
        """Return what a field shows.

        Raises:
            KeyError: There is no such field.
        """
        node, raw = self._node, self._raw
        field = node.fields.get(name)
        if field is None:
            if name in raw and not node.ignores_extra and name not in node.known:
                return _shown(raw, name, node.extra_place)
            raise KeyError(name)
        for key in field.keys:
            if key in raw:
                return _shown(raw, key, field.place)
        return UNSET

    def _names(self) -> Iterator[str]:
        node, raw = self._node, self._raw
        yield from node.fields
        if not node.ignores_extra:
            yield from (key for key in raw if key not in node.known)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """Yield the name and the value of each field of which something has come."""
        for name in self._names():
            value = self[name]
            if value is not UNSET:
                yield name, value

    def __dir__(self) -> list[str]:
        """List the fields too."""
        return [*super().__dir__(), *self._node.fields]

    def __repr__(self) -> str:
        """Show each field; what is open ends with ``...``."""
        parts = []
        for name in self._names():
            value = self[name]
            state = field_state(self, name)
            if state is FieldState.OPEN and value is UNSET:
                parts.append(f"{name}=...")
            elif state is FieldState.OPEN and isinstance(value, str):
                parts.append(f"{name}={value!r}...")
            else:
                parts.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


class _RootView(_AnyPartial):
    """A partial `RootModel`: its value is the attribute ``root``."""

    __slots__ = ()

    _node: Wrapped
    _raw: Any

    @property
    def root(self) -> Any:
        """What has come of the value."""
        return self._node.inner.view(self._raw)

    def __repr__(self) -> str:
        """Show the value."""
        return f"{type(self).__name__}(root={self.root!r})"


class PartialItems(_AnyPartial, Sequence[Any]):
    """An array that is open; elements that have settled are converted."""

    __slots__ = ()

    _node: Elements
    _raw: Any

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __len__(self) -> int:
        """Count the elements that show something."""
        count = len(self._raw)
        if count and self._raw.open_segment == count - 1:
            place = self._node.child(count - 1, self._raw)
            return count if place is not None and place.shows_text else count - 1
        return count

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Return what an element shows."""
        length = len(self)
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(length))]
        if index < 0:
            index += length
        if not 0 <= index < length:
            raise IndexError(f"index {index} of {length} elements")
        return _shown(self._raw, index, self._node.child(index, self._raw))

    def __iter__(self) -> Iterator[Any]:
        """Yield what each element shows."""
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Compare with any list, or with another view."""
        if isinstance(other, list):
            return list(self) == other
        return super().__eq__(other)

    def __repr__(self) -> str:
        """Show it as a list."""
        return repr(list(self))


class PartialMapping(_AnyPartial, Mapping[str, Any]):
    """An object with keys that are data; values that have settled are converted."""

    __slots__ = ()

    _node: Entries
    _raw: Any

    __hash__ = None  # type: ignore[assignment]  # as a dict

    def _keys(self) -> list[str]:
        raw = self._raw
        if raw.open_segment is None or self[raw.open_segment] is not UNSET:
            return list(raw)
        return [key for key in raw if key != raw.open_segment]

    def __len__(self) -> int:
        """Count the keys whose values show something."""
        return len(self._keys())

    def __iter__(self) -> Iterator[str]:
        """Yield the keys whose values show something."""
        return iter(self._keys())

    def __getitem__(self, key: str) -> Any:
        """Return what a value shows."""
        if key not in self._raw:
            raise KeyError(key)
        return _shown(self._raw, key, self._node.value_place)

    def __eq__(self, other: object) -> bool:
        """Compare with any dict, or with another view."""
        if isinstance(other, dict):
            return dict(self) == other
        return super().__eq__(other)

    def __repr__(self) -> str:
        """Show it as a dict."""
        return repr(dict(self))


class _Settled:
    """The settled fields of a partial, by attribute or by item."""

    __slots__ = ("_partial",)

    def __init__(self, partial: Partial[Any]) -> None:
        self._partial = partial

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        # An unknown field is an AttributeError here.
        getattr(self._partial, name)
        return self[name]

    def __getitem__(self, segment: Segment) -> Any:
        state = field_state(self._partial, segment)
        if state is not FieldState.SETTLED:
            raise NotSettledError(
                f"`{format_path((segment,))}` is {state.value}, not settled: wait for "
                f"it, or ask `state()` first"
            )
        return self._partial[segment]

    def __repr__(self) -> str:
        names = [
            name
            for name in getattr(self._partial, "_names", tuple)()
            if field_state(self._partial, name) is FieldState.SETTLED
        ]
        return f"<settled: {', '.join(names) or 'nothing'}>"


# -------------------------------------------------------------------- state


def field_state(value: Any, *path: Segment | Path) -> FieldState:
    """Return the state of a value below what a stream showed.

    Args:
        value: A partial, or any snapshot.
        path: Field names, keys and indexes, as arguments or as one tuple; none is the
            value itself.

    Returns:
        Absent, open or settled; a final value is settled.
    """
    segments = flatten(path)
    if isinstance(value, PartialDict | PartialList | PartialStr):
        return state_of(value, (segments,))
    if not isinstance(value, Partial):
        return _state_of_final(value, segments)
    raw: Any = value._raw  # noqa: SLF001 - one noun
    source: Any = value._node  # noqa: SLF001 - as above
    keys: list[Segment] = []
    below: Any = raw
    for segment in segments:
        if isinstance(source, Wrapped):
            source = source.inner
            if segment == "root":
                continue
        if isinstance(source, Tagged):
            source = source.choose(below.get(source.key))
        key, place = _step(source, below, segment)
        keys.append(key)
        try:
            below = below[key]
        except (KeyError, IndexError, TypeError):
            return FieldState.ABSENT
        source = _source(place, below)
    return state_of(raw, (tuple(keys),))


def _state_of_final(value: Any, segments: tuple[Segment, ...]) -> FieldState:
    for segment in segments:
        try:
            value = value[segment]
        except (KeyError, IndexError, TypeError):
            value = getattr(value, str(segment), UNSET)
        if value is UNSET:
            return FieldState.ABSENT
    return FieldState.ABSENT if value is UNSET else FieldState.SETTLED


def _step(source: Any, raw: Any, segment: Segment) -> tuple[Segment, Place | None]:
    """The key of a segment, and what the schema says about its value."""
    if isinstance(source, Fields):
        field = source.fields.get(segment)  # type: ignore[arg-type]  # names are str
        if field is None:
            return segment, None
        for key in field.keys:
            if key in raw:
                return key, field.place
        return (field.keys[0] if field.keys else segment), field.place
    if isinstance(source, Elements) and isinstance(segment, int):
        return segment, source.child(max(segment, 0), raw)
    if isinstance(source, Entries):
        return segment, source.value_place
    return segment, None


def _marks(raw: Any) -> list[Any]:
    """How open a container is, from the outside in."""
    marks = []
    while isinstance(raw, PartialDict | PartialList) and raw.is_open:
        marks.append(raw.open_segment)
        if not raw:
            break
        raw = raw[next(reversed(raw))] if isinstance(raw, dict) else raw[-1]
    return marks


# ------------------------------------------------------------------ classes


def fields_view(cls: type | None) -> Any:
    """Return the class that shows an open object with the fields of `cls`."""
    return _FieldsView if cls is None else _class(cls, _FieldsView)


def root_view(cls: type) -> Any:
    """Return the class that shows an open `RootModel`."""
    return _class(cls, _RootView)


@lru_cache(maxsize=1024)
def _class(cls: Any, base: type) -> Any:
    name = getattr(cls, "__name__", None) if isinstance(cls, type) else None
    namespace: dict[str, Any] = {
        "__slots__": (),
        "__module__": __name__,
        "__doc__": f"What has come of a `{name or cls}` so far.",
        "_source_type": cls,
    }
    for field in _field_names(cls):
        # A field of this name hides the method.
        if base is _FieldsView and hasattr(base, field):
            namespace[field] = property(_getter(field))
    return type(f"Partial[{name or cls}]", (base,), namespace)


def _field_names(cls: Any) -> list[str]:
    for attribute in ("model_fields", "__dataclass_fields__", "__annotations__"):
        names = getattr(cls, attribute, None)
        if isinstance(names, Mapping):
            return list(names)
    return []


def _getter(field: str) -> Callable[[Any], Any]:
    return lambda self: self[field]


@lru_cache(maxsize=1024)
def partial_class(item: Any) -> Any:
    """Return the class of the snapshots of a type."""
    from ._schema import compile_schema  # noqa: PLC0415 - it needs this module

    place = compile_schema(item).place
    source = None if place is None else (place.object, place.array)
    for found in source or ():
        if isinstance(found, Wrapped) and isinstance(item, type):
            return _class(item, _RootView)
        if isinstance(found, Fields) and isinstance(item, type):
            return _class(item, _FieldsView)
        if isinstance(found, Elements):
            return _class(item, PartialItems)
        if isinstance(found, Entries):
            return _class(item, PartialMapping)
    return _class(item, Partial)


def _same(value: Any) -> Any:
    return value


def _restore(source: Any, raw: Any) -> Any:
    from ._schema import compile_schema  # noqa: PLC0415 - it needs this module

    return compile_schema(source).view(raw)


# --------------------------------------------------------------------- dump


def _dump(value: Any, mode: str, *, by_alias: bool) -> Any:
    if isinstance(value, _FieldsView):
        keys = {
            name: field.keys[0] if by_alias and field.keys else name
            for name, field in value._node.fields.items()  # noqa: SLF001 - one noun
        }
        return {
            keys.get(name, name): _dump(item, mode, by_alias=by_alias)
            for name, item in value
        }
    if isinstance(value, _RootView):
        return _dump(value.root, mode, by_alias=by_alias)
    if isinstance(value, Mapping):
        return {k: _dump(item, mode, by_alias=by_alias) for k, item in value.items()}
    if isinstance(value, list | PartialItems):
        return [_dump(item, mode, by_alias=by_alias) for item in value]
    if mode == "json":
        return to_jsonable_python(value, by_alias=by_alias)
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode=mode, by_alias=by_alias)
