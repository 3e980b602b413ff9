"""The schema that a user gives: what its root may be, and its final verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from pydantic import PydanticSchemaGenerationError, TypeAdapter, ValidationError

from ._core_schema import Compiler
from ._guard import UNJUDGED, Mismatch, Place, document_path, plain_errors
from ._json_schema import JSONCompiler, list_errors
from ._views import viewer_of
from .errors import SchemaMismatchError, shorten
from .partial import PartialDict, PartialList
from .paths import Path

RootKind: TypeAlias = Literal["object", "array", "scalar"]
Root: TypeAlias = Literal["auto", "object", "array", "scalar"]
ALL_KINDS: Final[frozenset[RootKind]] = frozenset({"object", "array", "scalar"})

_OBJECT: Final = frozenset({"model", "dataclass", "typed-dict", "dict", "model-fields"})
_ARRAY: Final = frozenset(
    {"list", "tuple", "set", "frozenset", "generator", "arguments", "named-tuple"}
)
_SCALAR: Final = frozenset(
    {
        *("none", "bool", "int", "float", "decimal", "str", "bytes", "date", "time"),
        *("datetime", "timedelta", "literal", "enum", "url", "multi-host-url", "uuid"),
        "complex",
    }
)
_KINDS: Final[Mapping[str, RootKind]] = {
    **dict.fromkeys(_OBJECT, "object"),
    **dict.fromkeys(_ARRAY, "array"),
    **dict.fromkeys(_SCALAR, "scalar"),
}
# Schemas that wrap one other: the key under which it stands.
_WRAPPERS: Final = {
    "default": "schema",
    "definitions": "schema",
    "function-after": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "lax_schema",
    "nullable": "schema",
}
_UNIONS: Final = frozenset({"union", "tagged-union"})
_JSON_KINDS: Final[Mapping[str, RootKind]] = {"object": "object", "array": "array"}


class Schema:
    """A schema, compiled once.

    Attributes:
        source: What the user gave.
        kinds: The kinds that the root may have.
    """

    __slots__ = ("kinds", "source")

    source: Any
    kinds: frozenset[RootKind]

    def __init__(self, source: Any, kinds: frozenset[RootKind]) -> None:
        self.source = source
        self.kinds = kinds

    def __repr__(self) -> str:
        """Show what it was compiled from."""
        return f"<schema of {getattr(self.source, '__name__', shorten(self.source))}>"

    @property
    def place(self) -> Place | None:
        """What the schema says about the root, or None when nothing is known."""
        return None

    def viewer(self, raw: Any) -> Callable[[Any], Any] | None:  # noqa: ARG002 - plain JSON
        """Return what makes the views of a root, or None when it shows itself."""
        return None

    def view(self, raw: Any) -> Any:
        """Return what shows a root of which not all has come."""
        viewer = self.viewer(raw)
        return raw if viewer is None else viewer(raw)

    def validate_at(self, path: Path, value: Any) -> Any:
        """Return what the schema makes of one value of a document.

        Args:
            path: Where the value stands.
            value: The value, as plain JSON.

        Returns:
            The converted value; the value itself where the schema alone cannot tell,
            because it takes the whole document to.

        Raises:
            SchemaMismatchError: The value is not valid; ``loc`` begins at it.
        """
        place = self.place
        try:
            for segment in path:
                if place is None:
                    return value
                node = place.open("[" if isinstance(segment, int) else "{")
                place = node.child(segment, ()) if node is not None else None
            found = UNJUDGED if place is None else place.convert(value)
        except Mismatch as err:
            raise SchemaMismatchError(errors=err.errors, path=path) from err.__cause__
        return value if found is UNJUDGED else found

    def validate(self, text: str, value: Any) -> Any:
        """Return the final value of a complete document.

        Args:
            text: The document, plain JSON.
            value: What `text` reads as.

        Raises:
            SchemaMismatchError: The document is not what the schema asks for. Its
                offset and report are filled in by the parser.
        """
        raise NotImplementedError


class _AnySchema(Schema):
    """No schema: plain JSON."""

    __slots__ = ()

    def validate(self, text: str, value: Any) -> Any:  # noqa: ARG002 - plain JSON
        return value


class _PydanticSchema(Schema):
    __slots__ = ("_adapter", "_place")

    def __init__(self, source: Any) -> None:
        if _is_pydantic_v1(source):
            raise TypeError(
                f"`{source.__name__}` is a pydantic.v1 model: derive it from "
                f"pydantic.BaseModel"
            )
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(source)
        except PydanticSchemaGenerationError as err:
            raise TypeError(
                f"{shorten(source)} is no schema: give a pydantic model, a type that "
                f"pydantic's TypeAdapter takes, a JSON Schema dict, or None"
            ) from err
        self._place: Place | None = None
        super().__init__(source, _root_kinds(self._adapter.core_schema))

    @property
    def place(self) -> Place:
        # Compiled once for each schema, and not before a stream needs it.
        if self._place is None:
            self._place = Compiler(self._adapter.core_schema).root
        return self._place

    def viewer(self, raw: Any) -> Callable[[Any], Any] | None:
        if not isinstance(raw, PartialDict | PartialList):
            return None
        return viewer_of(self.place, raw, self.source)

    def validate(self, text: str, value: Any) -> Any:
        try:
            return self._adapter.validate_json(text)
        except ValidationError as err:
            errors = plain_errors(err)
            path = document_path(value, errors[0]["loc"])
            raise SchemaMismatchError(errors=errors, path=path) from err


class _JSONSchema(Schema):
    __slots__ = ("_place", "_validator")

    def __init__(self, source: Mapping[str, Any]) -> None:
        try:
            from jsonschema.validators import validator_for  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as err:
            if err.name != "jsonschema":
                raise
            raise ModuleNotFoundError(
                "a JSON Schema dict is validated with the `jsonschema` library: "
                "pip install 'partial-json-core[jsonschema]'",
                name="jsonschema",
            ) from err
        validator = validator_for(source)
        validator.check_schema(source)
        self._validator: Any = validator(source)
        self._place: Place | None = None
        super().__init__(source, _json_root_kinds(source))

    def validate(self, text: str, value: Any) -> Any:  # noqa: ARG002 - see Schema
        errors = list_errors(self._validator.iter_errors(value))
        if errors:
            raise SchemaMismatchError(errors=errors, path=errors[0]["loc"])
        return value

    @property
    def place(self) -> Place | None:
        if self._place is None:
            self._place = JSONCompiler(self._validator).root
        return self._place


def compile_schema(source: Any, root: Root = "auto") -> Schema:
    """Compile a schema; equal hashable schemas are compiled once.

    Args:
        source: A pydantic model, any type that `TypeAdapter` takes, a JSON Schema
            dict, None for plain JSON, or a schema that was compiled before.
        root: The kind of the root; by default the schema decides.

    Raises:
        ValueError: `root` is not one of its four values.
        TypeError: `source` is nothing that can be a schema.
        ModuleNotFoundError: A JSON Schema dict without the extra ``jsonschema``.
    """
    if root not in ("auto", *ALL_KINDS):
        raise ValueError(
            f"`root` must be 'auto', 'object', 'array' or 'scalar', got {root!r}"
        )
    schema = _compile(source)
    if root == "auto":
        return schema
    narrowed = type(schema).__new__(type(schema))
    for cls in type(schema).__mro__:
        for name in getattr(cls, "__slots__", ()):
            setattr(narrowed, name, getattr(schema, name))
    narrowed.kinds = frozenset({root})
    return narrowed


def _is_pydantic_v1(source: Any) -> bool:
    # By name: importing pydantic.v1 costs a tenth of a second.
    bases = source.__mro__ if isinstance(source, type) else ()
    return any(base.__module__.startswith("pydantic.v1") for base in bases)


def _compile(source: Any) -> Schema:
    if source is None:
        return _ANY
    if isinstance(source, Schema):
        return source
    if isinstance(source, Mapping):
        return _JSONSchema(source)
    try:
        hash(source)
    except TypeError:
        return _PydanticSchema(source)
    return _compile_hashable(source)


# Building a TypeAdapter costs milliseconds, a parser is made for each stream.
@lru_cache(maxsize=256)
def _compile_hashable(source: Any) -> Schema:
    return _PydanticSchema(source)


_ANY: Final = _AnySchema(None, ALL_KINDS)


def _root_kinds(core_schema: Any) -> frozenset[RootKind]:
    """Read the kinds of the root off a pydantic core schema; all when unsure."""
    definitions: dict[str, Any] = {}
    kinds: set[RootKind] = set()
    pending = [core_schema]
    seen: set[int] = set()
    while pending:
        schema = pending.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        if schema["type"] == "definitions":
            definitions |= {item["ref"]: item for item in schema["definitions"]}
        if schema.get("on_error", "raise") != "raise":
            return ALL_KINDS
        kind = _KINDS.get(schema["type"])
        if schema["type"] == "nullable":
            kinds.add("scalar")
        inner = _inner_schemas(schema, definitions)
        if inner:
            pending.extend(inner)
        elif kind is None:
            return ALL_KINDS
        else:
            kinds.add(kind)
    return frozenset(kinds)


def _inner_schemas(schema: Any, definitions: Mapping[str, Any]) -> list[Any]:
    """The schemas that a wrapper, a reference or a union stands for."""
    kind = schema["type"]
    if kind in _WRAPPERS:
        return [schema[_WRAPPERS[kind]]]
    if kind == "model" and schema.get("root_model"):
        return [schema["schema"]]
    if kind == "definition-ref":
        target = definitions.get(schema["schema_ref"])
        return [] if target is None else [target]
    if kind in _UNIONS:
        choices = schema["choices"]
        choices = choices.values() if isinstance(choices, Mapping) else choices
        return [c[0] if isinstance(c, tuple) else c for c in choices]
    return []


def _json_root_kinds(schema: Mapping[str, Any]) -> frozenset[RootKind]:
    declared = schema.get("type")
    if declared is None:
        return frozenset({"object"}) if "properties" in schema else ALL_KINDS
    names = [declared] if isinstance(declared, str) else declared
    return frozenset(_JSON_KINDS.get(name, "scalar") for name in names)


def describe_kinds(kinds: frozenset[RootKind]) -> str:
    """Name the kinds that a root may have, for a sentence."""
    names = {"object": "an object", "array": "an array", "scalar": "a scalar"}
    listed = [names[kind] for kind in ("object", "array", "scalar") if kind in kinds]
    return "a JSON document" if len(listed) == len(names) else " or ".join(listed)
