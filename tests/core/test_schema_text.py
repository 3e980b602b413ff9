from __future__ import annotations

import json

from pydantic import BaseModel, Field

from partial_json_core import compact_schema


class Inner(BaseModel):
    title: str = Field(description="what it is called")


class Outer(BaseModel):
    """The outer one."""

    title: Inner
    rows: list[Inner] = []


def test_titles_go_and_fields_named_title_stay() -> None:
    """The text has no titles of its own, and keeps a field of that name."""
    shown = json.loads(compact_schema(Outer))

    assert "title" not in shown
    assert set(shown["properties"]) == {"title", "rows"}
    assert shown["$defs"]["Inner"]["properties"]["title"] == {
        "description": "what it is called",
        "type": "string",
    }
    assert shown["properties"]["rows"]["default"] == []


def test_it_is_one_line_with_real_braces() -> None:
    """The text is compact JSON, for a JSON Schema dict too."""
    assert compact_schema({"title": "T", "type": "object"}) == '{"type":"object"}'
    assert "\n" not in compact_schema(Outer)
