"""Compiles a JSON Schema dict into places: what of it can be told early.

Judged while the document is written: ``type``, ``enum``, ``const``, ``maxLength``,
``maxItems``, ``additionalProperties: false``, and every keyword about a scalar at its
end. ``properties``, ``items``, ``prefixItems`` and local ``$ref`` lead further in; what
stands under any other keyword is judged at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ._guard import (
    UNJUDGED,
    WRONG,
    Elements,
    Errors,
    Field,
    Fields,
    LengthRule,
    Mismatch,
    Place,
    PrefixRule,
)

JSONSchema = Mapping[str, Any]

_EXACT: Final = {"string": str, "integer": int, "boolean": bool}
# What a schema of such a type may hold without having more to say.
_SILENT: Final = frozenset({"type", "title", "description", "default", "examples"})
# With one of these a property may be judged by more than its own schema.
_MORE_PROPERTIES: Final = ("patternProperties", "propertyNames", "$dynamicRef")
_LOCAL: Final = "#/"


class JSONValidator:
    """The verdict of the `jsonschema` library on one value.

    Args:
        validator: The library's validator of the whole schema.
        schema: The part of it that the value has to match.
    """

    __slots__ = ("_schema", "_validator")

    title = ""

    def __init__(self, validator: Any, schema: JSONSchema) -> None:
        self._validator = validator
        self._schema = schema

    def __call__(self, value: Any) -> Any:
        """Return `UNJUDGED`: there is nothing to convert."""
        try:
            errors = list_errors(self._validator.descend(value, self._schema))
        except Exception:  # noqa: BLE001 - a fault of the schema's own; `close` raises it
            return UNJUDGED
        if errors:
            raise Mismatch(errors)
        return UNJUDGED


def list_errors(found: Iterable[Any]) -> Errors:
    """What the library found, in the form of pydantic's errors, outermost first."""
    return [
        {
            "type": str(err.validator),
            "loc": tuple(err.absolute_path),
            "msg": f"does not match `{err.validator}` of the schema",
            "input": err.instance,
        }
        for err in sorted(found, key=lambda err: len(err.absolute_path))
    ]


class JSONCompiler:
    """Compiles one JSON Schema.

    Args:
        validator: The library's validator of the whole schema.
    """

    __slots__ = ("_by_ref", "_root", "_validator", "root")

    def __init__(self, validator: Any) -> None:
        self._validator = validator
        self._root: JSONSchema = validator.schema
        self._by_ref: dict[str, Place | None] = {}
        self.root = self.place(self._root)

    def place(self, schema: Any) -> Place | None:
        """Return the place of a value, or None when nothing is known about it."""
        if not isinstance(schema, Mapping) or (
            "$id" in schema and schema is not self._root
        ):
            return None
        ref = schema.get("$ref")
        if isinstance(ref, str):
            return self._refer(ref)
        place = Place(JSONValidator(self._validator, schema))
        if _SILENT.issuperset(schema):
            place.exact = _EXACT.get(str(schema.get("type")))
        self._take_texts(place, schema)
        declared = schema.get("type")
        types = [declared] if isinstance(declared, str) else declared
        place.object = self._object(place, schema)
        place.array = self._array(place, schema)
        if isinstance(types, list):
            if "object" not in types:
                place.object = WRONG
            if "array" not in types:
                place.array = WRONG
        elif "const" in schema or "enum" in schema:
            place.object = place.array = None
        return place

    def _refer(self, ref: str) -> Place | None:
        if ref not in self._by_ref:
            # A reference to itself leads nowhere.
            self._by_ref[ref] = None
            target: Any = self._root if ref.startswith(_LOCAL) or ref == "#" else None
            for part in ref.removeprefix("#").split("/")[1:]:
                key = part.replace("~1", "/").replace("~0", "~")
                target = target.get(key) if isinstance(target, Mapping) else None
            self._by_ref[ref] = self.place(target)
        return self._by_ref[ref]

    def _later(self, schema: Any) -> Callable[[], Place | None]:
        made: list[Place | None] = []

        def place() -> Place | None:
            if not made:
                made.append(self.place(schema))
            return made[0]

        return place

    def _take_texts(self, place: Place, schema: JSONSchema) -> None:
        """What an open string has to keep to."""
        members = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(members, list):
            place.rule = PrefixRule([m for m in members if isinstance(m, str)])
        elif isinstance(longest := schema.get("maxLength"), int):
            place.rule = LengthRule(longest)

    def _array(self, place: Place, schema: JSONSchema) -> Elements:
        longest = schema.get("maxItems")
        # Older drafts do not know it.
        knows_prefix = "prefixItems" in self._validator.VALIDATORS
        prefix = schema.get("prefixItems", []) if knows_prefix else []
        items = schema.get("items")
        return _JSONElements(
            place,
            [self._later(item) for item in prefix],
            self._later(items),
            longest=longest if isinstance(longest, int) else None,
            overflow_error=_too_many,
        )

    def _object(self, place: Place, schema: JSONSchema) -> Fields:
        properties = schema.get("properties", {})
        extra = schema.get("additionalProperties")
        is_known = not any(key in schema for key in _MORE_PROPERTIES)
        return _JSONFields(
            place,
            [Field(name, (name,), self._later(s)) for name, s in properties.items()],
            known=frozenset(properties),
            extra=self._later(extra) if is_known else None,
            extra_error=_unknown_key if extra is False and is_known else None,
        )


class _JSONElements(Elements):
    """An array of which the library judges the whole at the end only."""

    __slots__ = ()

    def close(self, container: Any) -> Any:  # noqa: ARG002 - see the class
        return UNJUDGED


class _JSONFields(Fields):
    """An object of which the library judges the whole at the end only."""

    __slots__ = ()

    def close(self, container: Any) -> Any:  # noqa: ARG002 - see the class
        return UNJUDGED


def _error(kind: str, loc: tuple[str | int, ...]) -> dict[str, Any]:
    return {
        "type": kind,
        "loc": loc,
        "msg": f"does not match `{kind}` of the schema",
    }


def _too_many(longest: int, container: Any) -> dict[str, Any]:  # noqa: ARG001 - see Elements
    return _error("maxItems", ())


def _unknown_key(key: str) -> dict[str, Any]:  # noqa: ARG001 - see Fields
    return _error("additionalProperties", ())
