"""JSON Schema dicts: judged by the `jsonschema` library, early where that is sound."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from partial_json_core import PartialDict, PartialParser, SchemaMismatchError

EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "maxLength": 3},
        "b": {"enum": ["x", "xy", 1]},
        "c": {"const": "k"},
        "d": {"type": "array", "maxItems": 2, "items": {"type": "integer"}},
        "e": {"$ref": "#/$defs/E"},
        "f": {"type": ["string", "null"]},
        "g": {"anyOf": [{"$ref": "#/$defs/E"}, {"type": "null"}]},
        "h": {"type": "number", "description": "any"},
        "i": True,
        "j": {"$ref": "#/$defs/loop"},
        "k": {"$ref": "#/$defs/a~1b"},
    },
    "additionalProperties": False,
    "$defs": {
        "E": {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 3},
                "kids": {"type": "array", "items": {"$ref": "#/$defs/E"}},
            },
            "additionalProperties": {"type": "boolean"},
        },
        "loop": {"type": "object", "properties": {"j": {"$ref": "#/$defs/loop"}}},
        "a/b": {"type": "boolean"},
    },
}
OLD: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "a": {
            "type": "array",
            "items": [{"type": "string"}],
            "prefixItems": [{"type": "integer"}],
        },
        "b": {"items": {"type": "string"}},
    },
    "patternProperties": {"^z": {"type": "integer"}},
    "additionalProperties": False,
}
TUPLE: dict[str, Any] = {
    "type": "array",
    "prefixItems": [{"type": "string"}, {"type": "integer"}],
    "items": False,
}
VALUES = [
    *('"abc"', '"abcd"', "1", "3.5", '["q"]', "[1]", "[1, 2, 3]", "{}", "null", "true"),
    *('"x"', '"xy"', '"xz"', '"k"', '"kk"', '{"n": 3}', '{"n": 2}', '{"q": true}'),
    *(
        '{"q": 1}',
        '{"kids": [{"n": 5}, {"n": 1}]}',
        "[]",
        '{"j": {"j": {}}}',
        '{"j": {"j": 1}}',
    ),
]


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    schema = draw(st.sampled_from([EVENT, OLD, TUPLE]))
    values = draw(st.lists(st.sampled_from(VALUES), max_size=4))
    if schema["type"] == "array":
        return schema, f"[{', '.join(values)}]"
    keys = draw(
        st.lists(
            st.sampled_from([*EVENT["properties"], "z1", "other"]),
            unique=True,
            max_size=4,
        )
    )
    items = [f'"{key}": {value}' for key, value in zip(keys, values, strict=False)]
    return schema, f"{{{', '.join(items)}}}"


def read(schema: dict[str, Any], text: str, size: int, **options: Any) -> Any:
    parser = PartialParser(schema, **options)
    try:
        for start in range(0, len(text), size):
            parser.feed(text[start : start + size])
            parser.snapshot()
        return parser.close("stop")
    except SchemaMismatchError as err:
        return err


@settings(max_examples=300, deadline=None)
@given(documents())
def test_g4_the_verdict_is_the_librarys(case: tuple[dict[str, Any], str]) -> None:
    """A valid document is never refused, and an invalid one is, in any chunking."""
    schema, text = case
    value = json.loads(text)
    is_valid = validator_for(schema)(schema).is_valid(value)
    results = [read(schema, text, size) for size in (1, 3, len(text))]
    results.append(read(schema, text, 1, early=False))

    for result in results:
        if is_valid:
            assert result == value
        else:
            assert isinstance(result, SchemaMismatchError)
    if not is_valid:
        assert len({(err.path, err.offset) for err in results[:3]}) == 1


EARLIEST = {
    "type": ('{"a": ^[1]}', "type"),
    "type of a scalar": ('{"a": 1^, "b": 1}', "type"),
    "enum": ('{"b": "x^z"}', "enum"),
    "const": ('{"c": "k^k"}', "const"),
    "maxLength": ('{"a": "abc^d"}', "maxLength"),
    "maxItems": ('{"d": [1, 2, ^3]}', "maxItems"),
    "additionalProperties": ('{^"other": 1}', "additionalProperties"),
    "reference": ('{"e": {"kids": [{"n": 1^}]}}', "minimum"),
    "schema of other keys": ('{"e": {"q": 1^}}', "type"),
}


@pytest.mark.parametrize("keyword", list(EARLIEST))
def test_the_verdict_comes_at_the_character_that_proves_it(keyword: str) -> None:
    """Each early keyword speaks at its character, in any chunking."""
    marked, kind = EARLIEST[keyword]
    text = marked.replace("^", "")
    for size in (1, 3, len(text)):
        err = read(EVENT, text, size)
        assert err.offset == marked.index("^")
        assert err.early
        assert err.errors[0]["type"] == kind


def test_snapshots_are_plain() -> None:
    """A JSON Schema has no types to show, so snapshots are plain and read-only."""
    parser = PartialParser(EVENT)
    parser.feed('{"a": "ab')

    assert type(parser.snapshot()) is PartialDict
    assert parser.snapshot() == {"a": "ab"}


def test_a_fault_of_the_schema_comes_out_at_the_end() -> None:
    """A reference that leads nowhere is left to the library."""
    schema = {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/nowhere"}]}}}
    parser = PartialParser(schema, early=["/a"])
    parser.feed('{"a": 1}')
    with pytest.raises(Exception, match="nowhere"):
        parser.close("stop")


def test_a_subschema_with_its_own_identity_is_left_to_the_end() -> None:
    """References below another `$id` are the library's business."""
    schema = {
        "type": "object",
        "properties": {"a": {"$id": "https://example.org/a", "type": "string"}},
    }
    parser = PartialParser(schema, early=["/a"])
    parser.feed('{"a": 1}')
    with pytest.raises(SchemaMismatchError):
        parser.close("stop")
