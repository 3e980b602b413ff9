from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from partial_json_core import (
    AmbiguousOutputError,
    ContentFilteredError,
    DuplicateKeyError,
    FailureLayer,
    FinishReason,
    FixKind,
    InvariantError,
    LimitExceededError,
    MalformedOutputError,
    NoJSONFoundError,
    ParseError,
    ParseReport,
    PartialOutputError,
    RefusedOutputError,
    RetriesExhaustedError,
    Salvaged,
    SchemaMismatchError,
    SemanticCheckError,
    TruncatedOutputError,
)

PLACE: dict[str, Any] = {"path": ("rows", 2, "amount"), "offset": 118}

SENTENCES = [
    (
        PartialOutputError(**PLACE),
        "the output failed in `$.rows[2].amount` at offset 118",
    ),
    (
        TruncatedOutputError(
            **PLACE,
            finish_reason="length",
            cause=FinishReason.LENGTH,
            expected="the rest of a number",
            settled={},
            settled_count=2,
        ),
        "output ended inside `$.rows[2].amount` at offset 118 (finish_reason='length'), "
        "expected the rest of a number: 2 values had settled; raise max_tokens or ask "
        "for less, then retry",
    ),
    (
        TruncatedOutputError(offset=4, expected="an object"),
        "output ended before a JSON document began, at offset 4 (finish_reason=None), "
        "expected an object: no values had settled; the connection may have been lost; "
        "retry",
    ),
    (
        TruncatedOutputError(
            **PLACE,
            finish_reason="stop",
            cause=FinishReason.STOP,
            expected="`,` or `}`",
            settled={},
            settled_count=1,
        ),
        "output ended inside `$.rows[2].amount` at offset 118 (finish_reason='stop'), "
        "expected `,` or `}`: 1 value had settled; retry, and raise max_tokens if it "
        "ends there again",
    ),
    (
        MalformedOutputError(
            **PLACE,
            expected="a value",
            found="`N`",
            available_fix=FixKind.PYTHON_LITERAL,
            excerpt='"amount": N',
        ),
        "expected a value but found `N` in `$.rows[2].amount` at offset 118, near "
        "'\"amount\": N'; permit it with `FixKind.PYTHON_LITERAL`",
    ),
    (
        MalformedOutputError(**PLACE, expected="a value", found="`?`"),
        "expected a value but found `?` in `$.rows[2].amount` at offset 118",
    ),
    (
        DuplicateKeyError(**PLACE, key="amount"),
        "duplicate key 'amount' in `$.rows[2].amount` at offset 118: which of the two "
        "values is meant cannot be known",
    ),
    (
        AmbiguousOutputError(spans=((0, 8), (9, 17)), offset=8),
        "the output holds two different documents, at offsets 0 to 8 and 9 to 17: ask "
        "for one JSON document only",
    ),
    (
        NoJSONFoundError(finish_reason="stop"),
        "the output is empty (finish_reason='stop'), expected a JSON document",
    ),
    (
        NoJSONFoundError(offset=5, expected="an object", excerpt="hello"),
        "no JSON document in 5 characters of output (finish_reason=None), expected an "
        "object, near 'hello'",
    ),
    (
        LimitExceededError(limit="max_depth", maximum=100, offset=501),
        "more than 100 containers are open at one time in `$` at offset 501; raise "
        "`Limits.max_depth` if that is intended",
    ),
    (
        SchemaMismatchError(
            **PLACE,
            errors=[{"type": "int_type", "msg": "not an int"}, {}],
            hint="it looks like a string",
        ),
        "schema mismatch in `$.rows[2].amount` at offset 118: not an int [int_type] "
        "(and 1 more); it looks like a string",
    ),
    (
        SchemaMismatchError(**PLACE),
        "schema mismatch in `$.rows[2].amount` at offset 118: the value does not match "
        "[unknown]",
    ),
    (
        SemanticCheckError(
            **PLACE, check="known_order", value=3, reason="no such order"
        ),
        "check `known_order` failed in `$.rows[2].amount` at offset 118: no such order",
    ),
    (
        RefusedOutputError(finish_reason="stop", refusal="I cannot. " * 20),
        "the model refused (finish_reason='stop'): "
        + repr("I cannot. " * 20)[:79]
        + "…",
    ),
    (RefusedOutputError(), "the model refused (finish_reason=None)"),
    (
        ContentFilteredError(offset=9, finish_reason="SAFETY"),
        "a content filter ended the output in `$` at offset 9 (finish_reason='SAFETY')",
    ),
    (
        RetriesExhaustedError(attempts=[RefusedOutputError()]),
        "all 1 attempts failed; the last: the model refused (finish_reason=None)",
    ),
    (RetriesExhaustedError(), "all 0 attempts failed"),
    (
        InvariantError(detail="the tree differs from the text", offset=3),
        "the tree differs from the text in `$` at offset 3: this is a bug of "
        "partial-json-core",
    ),
]


@pytest.mark.parametrize(
    ("err", "sentence"), SENTENCES, ids=[type(err).__name__ for err, _ in SENTENCES]
)
def test_the_sentence_says_what_where_and_what_to_do(
    err: PartialOutputError, sentence: str
) -> None:
    """Each error's sentence is computed from its attributes."""
    assert str(err) == sentence
    assert repr(err) == f"{type(err).__name__}({sentence!r})"


class Second(ValueError):
    """A framework's error, with a constructor of its own."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} see https://example.org")


class Both(MalformedOutputError, Second):
    """An error with two bases."""


@pytest.mark.parametrize("err", [err for err, _ in SENTENCES])
def test_pickle_and_copy_keep_everything(err: PartialOutputError) -> None:
    """A pickled or copied error has the same class, attributes and sentence."""
    for again in (pickle.loads(pickle.dumps(err)), copy.copy(err), copy.deepcopy(err)):
        assert type(again) is type(err)
        assert str(again) == str(err)
        assert again.__dict__.keys() == err.__dict__.keys()


def test_a_second_base_loses_nothing() -> None:
    """An error that is a framework's as well keeps sentence and attributes."""
    err = Both(expected="a value", found="`?`", offset=3)
    again = pickle.loads(pickle.dumps(err))

    assert isinstance(again, ValueError)
    assert str(again) == "expected a value but found `?` in `$` at offset 3"
    assert (again.expected, again.found, again.offset) == ("a value", "`?`", 3)


def test_none_of_ours_is_a_value_error() -> None:
    """No error of the core is a ValueError: frameworks swallow those."""
    assert not any(isinstance(err, ValueError) for err, _ in SENTENCES)


def test_layers_are_told_apart() -> None:
    """Each error names the layer that failed."""
    assert ParseError.layer is FailureLayer.PARSE
    assert SchemaMismatchError.layer is FailureLayer.SCHEMA
    assert SemanticCheckError.layer is FailureLayer.SEMANTIC
    assert RefusedOutputError.layer is FailureLayer.REFUSED
    assert ContentFilteredError.layer is FailureLayer.FILTERED


def test_salvage_is_a_type_of_its_own() -> None:
    """What is salvaged is marked as incomplete."""
    err = TruncatedOutputError(path=("a",), offset=7, salvaged={"a": [1]})

    assert err.salvage() == Salvaged({"a": [1]}, ("a",), 7)
    assert err.salvage().complete is False
    assert err.open_path == ("a",)


def test_a_report_can_be_pickled_and_copied() -> None:
    """A report keeps its offsets through pickle, and is its own deep copy."""
    report = ParseReport(settled_at={"a": 3}, chars=9)

    assert pickle.loads(pickle.dumps(report)) == report
    assert copy.deepcopy(report) is report
