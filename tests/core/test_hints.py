"""Hints: the likely reason of a schema error."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, ConfigDict

from partial_json_core import (
    PartialParser,
    SchemaMismatchError,
    WarningKind,
    loads,
)


class Ticket(BaseModel):
    category: Literal["refund", "billing"]
    steps: list[str] = []
    day: dt.date | None = None


class Strict(Ticket):
    model_config = ConfigDict(extra="forbid")


class Person(BaseModel):
    name: str
    email: Optional[str]  # noqa: UP045 - as people write it


class AllOptional(BaseModel):
    place: str | None = None


HINTS: dict[str, tuple[Any, str, str]] = {
    "schema echoed": (
        Ticket,
        '{"title": "Ticket", "type": "object", "properties": {"category": {"type": "string"}}}',
        "the model returned a JSON Schema",
    ),
    "schema echoed, extra forbidden": (
        Strict,
        '{"$defs": {}}',
        "the model returned a JSON Schema",
    ),
    "values inside properties": (
        Ticket,
        '{"type": "object", "properties": {"category": "refund"}}',
        "the model returned a JSON Schema",
    ),
    "wrapper key": (
        Ticket,
        '{"output": {"category": "refund"}}',
        "the answer stands inside the key 'output'",
    ),
    "list": (
        Ticket,
        '[{"category": "refund"}]',
        "use a list of the type as the schema",
    ),
    "JSON string": (
        Ticket,
        r'{"category": "refund", "steps": "[\"a\"]"}',
        "sent as a JSON string",
    ),
    "letter case": (Ticket, '{"category": "Refund"}', "the schema writes it 'refund'"),
    "the text null": (
        Ticket,
        '{"category": "refund", "day": "null"}',
        "not JSON's null",
    ),
    "no default": (Person, '{"name": "Ann"}', "give it `= None`"),
    "nothing to say": (Ticket, '{"category": 3}', ""),
    "another key": (Ticket, '{"output": {"x": 1}}', ""),
    "two keys": (Ticket, '{"output": {"category": "refund"}, "b": 1}', ""),
    "missing": (Person, '{"email": null}', ""),
}


@pytest.mark.parametrize("name", list(HINTS))
@pytest.mark.parametrize("early", [True, False])
def test_wrong_shapes_have_one_hint(name: str, early: bool) -> None:
    """Each shape that models are known for is named, early or at the end."""
    schema, text, hint = HINTS[name]
    with pytest.raises(SchemaMismatchError) as caught:
        loads(text, schema, early=early)

    assert hint in caught.value.hint
    assert bool(caught.value.hint) == bool(hint)
    assert caught.value.hint in str(caught.value)


def test_a_model_of_defaults_from_an_unrelated_object_is_a_warning() -> None:
    """Pydantic ignores other keys, so the value stands and the report warns."""
    parser = PartialParser(AllOptional)
    parser.feed('{"properties": {"place": {"type": "string"}}}')
    assert parser.close("stop") == AllOptional()
    assert [w.kind for w in parser.report.warnings] == [WarningKind.NO_FIELD_SET]

    for text in ("{}", '{"place": null, "x": 1}'):
        parser = PartialParser(AllOptional)
        parser.feed(text)
        parser.close("stop")
        assert not parser.report.warnings
