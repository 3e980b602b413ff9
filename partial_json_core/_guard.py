"""What a schema says about the places of a document, and the earliest sound verdict.

A `Place` is what a schema says about one value; a node is what it says about the
entries of one open container. The scanner carries the node of each open container and
the place of the value that it is reading, and asks

    `Place.open`       at an opening bracket, for the node of the container
    `child`            at a key, or before an element, for the place of its value
    `Place.rule`       while a string is being written
    `Place.scalar`     when a scalar has settled
    `close`            at the closing bracket

Each raises `Mismatch` only if no continuation of the text could pass the schema (G4),
and whatever is not understood has no place: None. A suspicion that comes before the end
of a value is confirmed by the real validator on a stand-in, so a mistake in the
reasoning here makes the verdict late and not wrong.

Where the places come from: `_core_schema` compiles what pydantic made of a type,
`_json_schema` compiles a JSON Schema dict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from pydantic_core import ValidationError

from .paths import Path, Segment

Errors = list[dict[str, Any]]


class Mismatch(Exception):  # noqa: N818 - it is caught inside, and is no error yet
    """A place cannot become what the schema asks for.

    Attributes:
        errors: As pydantic lists them; ``loc`` is relative to the value, or to the
            container that is `up` levels above it.
        up: How many levels above the value ``loc`` begins.
    """

    def __init__(self, errors: Errors, up: int = 0) -> None:
        super().__init__(errors, up)
        self.errors = errors
        self.up = up


class Marker:
    """A named constant."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNJUDGED: Final = Marker("UNJUDGED")
"""What a validator returns that could not tell."""
WRONG: Final = Marker("WRONG")
"""In place of a node: a container of this kind is never valid here."""
ERROR_CONTEXT: Final = "ctx"


class Validator(Protocol):
    """The verdict on one whole value."""

    @property
    def title(self) -> str:
        """What pydantic calls it in ``loc``."""
        ...

    def __call__(self, value: Any) -> Any:
        """Return the converted value, or `UNJUDGED`.

        Raises:
            Mismatch: The value is not valid.
        """
        ...


class Node(Protocol):
    """What a schema says about the entries of one open container."""

    @property
    def label(self) -> Path:
        """What pydantic puts into ``loc`` between the container and an entry."""
        ...

    def child(self, segment: Segment, container: Any) -> Place | None:
        """Return the place of an entry, or None when nothing is known about it.

        Args:
            segment: Its key or index.
            container: What has come of the container before it.

        Raises:
            Mismatch: There cannot be such an entry; ``loc`` begins at the container.
        """
        ...

    def is_full(self, container: Any) -> bool:
        """Whether one more element may be one too many."""
        ...

    def overflow(self, container: Any) -> None:
        """Take note that one more element comes to a container that is full.

        Raises:
            Mismatch: It is one too many; ``loc`` begins at the container.
        """
        ...

    def close(self, container: Any) -> Any:
        """Return the converted container, or `UNJUDGED`.

        Raises:
            Mismatch: It is not valid.
        """
        ...


class NodeSource(Protocol):
    """Makes the node of a container that opens."""

    def begin(self) -> Node:
        """Return a node; one that remembers nothing may be shared."""
        ...

    def view(self, container: Any) -> Any:
        """Return what shows a container that is not converted."""
        ...


class Place:
    """What a schema says about one value.

    Attributes:
        validator: The verdict on the whole value, or None when there is none.
        exact: A settled scalar of exactly this type is valid, and final as it is.
        is_nullable: So is None.
        rule: What a string has to keep to while it is being written, or None.
        shows_text: What has come of a string is a prefix of the final value.
        object: The nodes of an object here: a source, `WRONG`, or None for unknown.
        array: The same for an array.
    """

    __slots__ = (
        "array",
        "exact",
        "is_nullable",
        "object",
        "rule",
        "shows_text",
        "validator",
    )

    def __init__(
        self,
        validator: Validator | None = None,
        *,
        exact: type | None = None,
        rule: Rule | None = None,
        shows_text: bool = False,
    ) -> None:
        self.validator = validator
        self.exact = exact
        self.is_nullable = False
        self.rule = rule
        self.shows_text = shows_text
        self.object: NodeSource | Marker | None = None
        self.array: NodeSource | Marker | None = None

    def scalar(self, value: Any, container: Any) -> Any:  # noqa: ARG002 - a tag needs it
        """Return the converted value of a scalar that has settled.

        Args:
            value: The scalar.
            container: What came before it in its container.

        Raises:
            Mismatch: It is not valid.
        """
        if value is None and self.is_nullable:
            return None
        return self.convert(value)

    def convert(self, value: Any) -> Any:
        """Return the converted value of what has settled, or `UNJUDGED`.

        Raises:
            Mismatch: It is not valid.
        """
        if self.validator is None:
            return UNJUDGED
        return self.validator(value)

    def open(self, bracket: str) -> Node | None:
        """Return the node of a container that opens, or None when nothing is known.

        Raises:
            Mismatch: No container of this kind is valid here.
        """
        source = self.object if bracket == "{" else self.array
        if source is None:
            return None
        if isinstance(source, Marker):
            if errors := self.errors_for({} if bracket == "{" else []):
                raise Mismatch(errors)
            return None
        return source.begin()

    def break_rule(self, text: str) -> None:
        """Take note that a string that is not over yet breaks the rule.

        Raises:
            Mismatch: No string that begins so is valid.
        """
        if errors := self.errors_for(text):
            raise Mismatch(errors)

    def errors_for(self, stand_in: Any) -> Errors:
        """The errors of a stand-in; none when it is valid or cannot be judged."""
        try:
            self.convert(stand_in)
        except Mismatch as err:
            return err.errors
        return []


# ------------------------------------------------------------------ strings


class Rule(Protocol):
    """What a string has to keep to while it is being written."""

    def broken_at(self, text: str) -> int:
        """Return the index of the first character that breaks the rule, or -1."""
        ...

    def next_check(self, length: int) -> int:
        """Return the length at which the rule may be broken first."""
        ...


class PrefixRule:
    """One of a few strings is being written."""

    __slots__ = ("members",)

    def __init__(self, members: Sequence[str]) -> None:
        self.members = tuple(members)

    def broken_at(self, text: str) -> int:
        """Return where `text` leaves the last member that it could have become."""
        for member in self.members:
            if member.startswith(text):
                return -1
        alive = self.members
        for index, char in enumerate(text):
            alive = tuple(m for m in alive if m[index : index + 1] == char)
            if not alive:
                return index
        return -1

    def next_check(self, length: int) -> int:
        """Look at each character."""
        return length + 1


class LengthRule:
    """At most so many characters."""

    __slots__ = ("longest",)

    def __init__(self, longest: int) -> None:
        self.longest = longest

    def broken_at(self, text: str) -> int:
        """Return the index of the first character too many."""
        return self.longest if len(text) > self.longest else -1

    def next_check(self, length: int) -> int:  # noqa: ARG002 - always the same
        """Look at the first character too many."""
        return self.longest + 1


# -------------------------------------------------------------------- nodes


class StaticNode:
    """A node that remembers nothing: one for all containers at its place."""

    __slots__ = ("place",)

    label: Path = ()

    def __init__(self, place: Place) -> None:
        self.place = place

    def begin(self) -> Node:
        """Return itself."""
        return self  # type: ignore[return-value]  # subclasses have `child`

    def is_full(self, container: Any) -> bool:  # noqa: ARG002 - see Node
        """Whether one more element may be one too many."""
        return False

    def overflow(self, container: Any) -> None:
        """See `Node.overflow`."""

    def close(self, container: Any) -> Any:
        """Return the converted container, or `UNJUDGED`."""
        return self.place.convert(container)

    def view(self, container: Any) -> Any:
        """Return the container itself."""
        return container


class Elements(StaticNode):
    """An array.

    Args:
        place: The place of the array.
        prefix: The places of the first elements.
        rest: Gives the place of each further one.
        longest: How many elements there may be, or None.
        overflow_error: Makes the error of an array with one too many.
        may_omit: A validator of the elements may drop some, so that only those count
            that were converted.
        is_plain: The array is converted when its elements are.
        view: Makes the view of an open array.
    """

    __slots__ = (
        "_longest",
        "_may_omit",
        "_overflow_error",
        "_prefix",
        "_rest",
        "_view",
        "is_plain",
    )

    def __init__(
        self,
        place: Place,
        prefix: Sequence[Callable[[], Place | None]],
        rest: Callable[[], Place | None],
        *,
        longest: int | None = None,
        overflow_error: Callable[[int, Any], dict[str, Any]] | None = None,
        may_omit: bool = False,
        is_plain: bool = False,
        view: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        super().__init__(place)
        self._prefix = prefix
        self._rest = rest
        self._longest = longest
        self._overflow_error = overflow_error
        self._may_omit = may_omit
        self.is_plain = is_plain
        self._view = view

    def child(self, segment: Segment, container: Any) -> Place | None:  # noqa: ARG002 - see Node
        """Return the place of an element."""
        assert isinstance(segment, int)
        if segment < len(self._prefix):
            return self._prefix[segment]()
        return self._rest()

    def is_full(self, container: Any) -> bool:
        """Whether one more element is one too many."""
        count = len(container)
        if self._longest is None or count < self._longest:
            return False
        return not self._may_omit or count == len(container.converted or ())

    def overflow(self, container: Any) -> None:
        """Refuse one more element."""
        if self._longest is not None and self._overflow_error is not None:
            raise Mismatch([self._overflow_error(self._longest, container)])

    def close(self, container: Any) -> Any:
        """Put the converted elements together, or convert the whole."""
        if not self.is_plain:
            return self.place.convert(container)
        converted = container.converted
        if not converted:
            return list(container)
        return [converted.get(i, value) for i, value in enumerate(container)]

    def view(self, container: Any) -> Any:
        """Return a sequence that shows each element by its place."""
        return container if self._view is None else self._view(self, container)


class Entries(StaticNode):
    """An object whose keys are data.

    Args:
        place: The place of the object.
        value: Gives the place of each value.
        key: The verdict on a key, by way of ``{key: null}``, or None.
        longest: How many entries there may be, or None.
        overflow_error: Makes the error of an object with one too many.
        is_plain: The object is converted when its values are.
        view: Makes the view of an open object.
    """

    __slots__ = (
        "_key",
        "_longest",
        "_overflow_error",
        "_value",
        "_view",
        "is_plain",
    )

    def __init__(
        self,
        place: Place,
        value: Callable[[], Place | None],
        *,
        key: Validator | None = None,
        longest: int | None = None,
        overflow_error: Callable[[int, Any], dict[str, Any]] | None = None,
        is_plain: bool = False,
        view: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        super().__init__(place)
        self._value = value
        self._key = key
        self._longest = longest
        self._overflow_error = overflow_error
        self.is_plain = is_plain
        self._view = view

    @property
    def value_place(self) -> Place | None:
        """The place of each value."""
        return self._value()

    def child(self, segment: Segment, container: Any) -> Place | None:
        """Return the place of the value under a key."""
        if self._longest is not None and len(container) >= self._longest:
            assert self._overflow_error is not None
            raise Mismatch([self._overflow_error(self._longest, container)])
        if self._key is not None:
            self._key({segment: None})
        return self._value()

    def close(self, container: Any) -> Any:
        """Put the converted values together, or convert the whole."""
        if not self.is_plain:
            return self.place.convert(container)
        converted = container.converted
        if not converted:
            return dict(container)
        return {key: converted.get(key, value) for key, value in container.items()}

    def view(self, container: Any) -> Any:
        """Return a mapping that shows each value by its place."""
        return container if self._view is None else self._view(self, container)


class Field:
    """One named field of an object.

    Attributes:
        name: Its name in the schema.
        keys: The keys of the input, the first that is there wins.
    """

    __slots__ = ("_make", "_place", "keys", "name")

    def __init__(
        self, name: str, keys: tuple[str, ...], make: Callable[[], Place | None]
    ) -> None:
        self.name = name
        self.keys = keys
        self._make: Callable[[], Place | None] | None = make
        self._place: Place | None = None

    @property
    def place(self) -> Place | None:
        """The place of its value; compiled when it is first asked for."""
        if self._make is not None:
            self._place = self._make()
            self._make = None
        return self._place


class Fields(StaticNode):
    """An object with named fields.

    Attributes:
        fields: By their names.
        known: Each key that is not an extra one.
        ignores_extra: An extra key changes nothing.
        view_class: Makes the view of an open object from the node and the object.
    """

    __slots__ = (
        "_by_key",
        "_extra",
        "_extra_error",
        "fields",
        "ignores_extra",
        "known",
        "view_class",
    )

    def __init__(
        self,
        place: Place,
        fields: Sequence[Field],
        *,
        known: frozenset[str],
        extra: Callable[[], Place | None] | None = None,
        extra_error: Callable[[str], dict[str, Any]] | None = None,
        ignores_extra: bool = False,
        view: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        super().__init__(place)
        self.fields = {field.name: field for field in fields}
        self.known = known
        self._extra = extra
        self._extra_error = extra_error
        self.ignores_extra = ignores_extra
        # Only the key that always wins: a value under another may not count.
        self._by_key = {field.keys[0]: field for field in fields if field.keys}
        self.view_class = view

    def child(self, segment: Segment, container: Any) -> Place | None:  # noqa: ARG002 - see Node
        """Return the place of a field."""
        field = self._by_key.get(segment)  # type: ignore[arg-type]  # a key is a str
        if field is not None:
            return field.place
        if segment in self.known:
            return None
        if self._extra_error is not None:
            raise Mismatch([self._extra_error(str(segment))])
        return self.extra_place

    @property
    def keeps_extra(self) -> bool:
        """Whether another key is neither refused nor ignored."""
        return self._extra_error is None and not self.ignores_extra

    @property
    def extra_place(self) -> Place | None:
        """The place of a value under any other key."""
        return self._extra() if self._extra is not None else None

    def has_all(self, container: Mapping[str, Any]) -> bool:
        """Whether each field has come, under the key that always wins."""
        return all(
            bool(field.keys) and field.keys[0] in container
            for field in self.fields.values()
        )

    def view(self, container: Any) -> Any:
        """Return an object with one attribute a field."""
        return (
            container if self.view_class is None else self.view_class(self, container)
        )


# ------------------------------------------------------------------- errors


def plain_errors(err: ValidationError) -> Errors:
    """The errors of pydantic, without what cannot be pickled."""
    errors: Errors = [dict(entry) for entry in err.errors(include_url=False)]
    for entry in errors:
        if ERROR_CONTEXT in entry:
            entry[ERROR_CONTEXT] = {
                key: str(item) if isinstance(item, Exception) else item
                for key, item in entry[ERROR_CONTEXT].items()
            }
    return errors


def prefixed(errors: Errors, loc: Path) -> Errors:
    """The same errors, seen from further out."""
    return [{**entry, "loc": (*loc, *entry["loc"])} for entry in errors]


def document_path(document: Any, loc: Path) -> Path:
    """The path of the document that a ``loc`` of pydantic names.

    A ``loc`` also holds the names of union branches and validators; they lead nowhere
    in the document. A last segment that is not there is a missing entry.
    """
    path: list[Segment] = []
    value: Any = document
    for index, segment in enumerate(loc):
        if _has(value, segment):
            value = value[segment]
        elif index + 1 < len(loc) or not _may_be_missing(value, segment):
            continue
        path.append(segment)
    return tuple(path)


def _has(value: Any, segment: Segment) -> bool:
    if isinstance(value, dict):
        return segment in value
    return (
        isinstance(value, list)
        and isinstance(segment, int)
        and 0 <= segment < len(value)
    )


def _may_be_missing(value: Any, segment: Segment) -> bool:
    if isinstance(value, dict):
        return isinstance(segment, str)
    return isinstance(value, list) and isinstance(segment, int)
