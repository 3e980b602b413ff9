"""The support ticket, field by field and layer by layer (`cases/example_models.py`)."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from partial_json_core import (
    FailureLayer,
    Partial,
    PartialOutputError,
    PartialParser,
    SchemaMismatchError,
    SemanticCheckError,
    loads,
)

Cut = Callable[[str], list[str]]

GOOD = {
    "schema_version": "2",
    "reason": "The parcel arrived broken.",
    "category": "refund",
    "order_id": "ORD-12345678",
    "amount": 1999,
}
KNOWN = {"ORD-12345678"}


def is_known(order_id: str | None) -> None:
    """A check against the database of orders."""
    if order_id is not None and order_id not in KNOWN:
        raise ValueError("no such order")


@pytest.fixture(scope="module")
def ticket(shared: Path) -> Any:
    path = shared / "cases" / "example_models.py"
    spec = importlib.util.spec_from_file_location("example_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["example_models"] = module
    spec.loader.exec_module(module)
    return module.Ticket


def verdict(schema: Any, text: str, chunks: list[str]) -> PartialOutputError:
    parser = PartialParser(schema, checks={"/order_id": is_known})
    with pytest.raises(PartialOutputError) as caught:
        for chunk in chunks:
            parser.feed(chunk)
        parser.close("stop")
    assert caught.value.offset <= len(text)
    return caught.value


# What is changed, the layer, the path, and the text before the character that proves it.
VIOLATIONS: dict[str, tuple[dict[str, Any], str, tuple[str, ...], str]] = {
    "version": (
        {"schema_version": "3"},
        "literal_error",
        ("schema_version",),
        '{"schema_version": "',
    ),
    "reason": (
        {"reason": "x" * 250},
        "string_too_long",
        ("reason",),
        '"reason": "' + "x" * 200,
    ),
    "category": (
        {"category": "complaint"},
        "literal_error",
        ("category",),
        '"category": "',
    ),
    "order id": (
        {"order_id": "ORD-1"},
        "string_pattern_mismatch",
        ("order_id",),
        '"ORD-1"',
    ),
    "amount": ({"amount": -1}, "greater_than_equal", ("amount",), '"amount": -1'),
    "across fields": ({"amount": None}, "value_error", (), '"amount": null}'),
}


@pytest.mark.parametrize("name", list(VIOLATIONS))
def test_each_rule_speaks_in_the_schema_layer(
    ticket: Any, name: str, chunked: Cut
) -> None:
    """Each rule of the schema is broken at its own character, and named."""
    changed, kind, path, before = VIOLATIONS[name]
    text = json.dumps(GOOD | changed)
    err = verdict(ticket, text, chunked(text))

    assert type(err) is SchemaMismatchError
    assert err.layer is FailureLayer.SCHEMA
    assert err.early
    assert err.errors[0]["type"] == kind
    assert err.path == path
    assert err.offset == text.index(before) + len(before)


def test_the_check_speaks_in_the_semantic_layer(ticket: Any, chunked: Cut) -> None:
    """An order that does not exist is no matter of the schema."""
    text = json.dumps(GOOD | {"order_id": "ORD-00000000"})
    err = verdict(ticket, text, chunked(text))

    assert type(err) is SemanticCheckError
    assert err.report.layer is FailureLayer.SEMANTIC
    assert (err.path, err.check) == (("order_id",), "is_known")


def test_a_cut_speaks_in_the_parse_layer(ticket: Any) -> None:
    """Every proper prefix is loud, and in the layer of parsing."""
    text = json.dumps(GOOD)
    for end in range(len(text)):
        with pytest.raises(PartialOutputError) as caught:
            loads(text[:end], ticket, finish_reason="length")
        assert caught.value.layer is FailureLayer.PARSE


def test_a_good_ticket_is_shown_as_it_grows(ticket: Any, chunked: Cut) -> None:
    """The category is shown once it has settled, the reason while it is written."""
    text = json.dumps(GOOD)
    parser = PartialParser(ticket, checks={"/order_id": is_known})
    for chunk in chunked(text):
        parser.feed(chunk)
        snapshot = parser.snapshot()
        if isinstance(snapshot, Partial):
            assert snapshot.category in (GOOD["category"], ...) or not snapshot.category
            assert not snapshot.reason or str(GOOD["reason"]).startswith(
                snapshot.reason
            )

    assert parser.close("stop") == ticket(**GOOD)
