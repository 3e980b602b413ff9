"""A schema as compact text for a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

# Keys that cost tokens and tell a model nothing that the rest does not.
_LEFT_OUT: Final = frozenset({"title", "$schema", "$id"})


def compact_schema(schema: Any) -> str:
    """Return the JSON Schema of a schema as one line, without titles.

    Args:
        schema: A pydantic model, any type that `TypeAdapter` takes, or a JSON Schema
            dict.

    Raises:
        pydantic.errors.PydanticInvalidForJsonSchema: The schema has no JSON Schema.
    """
    if not isinstance(schema, Mapping):
        schema = TypeAdapter(schema).json_schema()
    return json.dumps(_shortened(schema), ensure_ascii=False, separators=(",", ":"))


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    kept = {}
    for key, item in value.items():
        if key in ("properties", "$defs", "definitions", "patternProperties"):
            # Here the keys are names of the user's, `title` among them.
            kept[key] = {name: _shortened(below) for name, below in item.items()}
        elif key in ("default", "const", "enum", "examples"):
            kept[key] = item
        elif key not in _LEFT_OUT:
            kept[key] = _shortened(item)
    return kept
