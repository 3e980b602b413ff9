from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partial_json_core import Limits, PartialOutputError, PartialParser
from partial_json_core._bulk import read_plain
from partial_json_core._schema import compile_schema

keys = st.text('ab:\\" \u00e9', max_size=3)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text('a:\\"\n{', max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(keys, inner), max_size=3)
    ),
    max_leaves=10,
)


def dump(value: Any) -> str:
    """Write a value; a list of pairs becomes an object, duplicate keys and all."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return "{" + ", ".join(f"{json.dumps(k)} : {dump(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dump, value)) + "]"
    return json.dumps(value)


def plain(text: str, **limits: Any) -> tuple[Any, bool]:
    return read_plain(text, compile_schema(None), Limits(**limits), "stop")


def by_parser(text: str, **limits: Any) -> Any:
    parser = PartialParser(limits=Limits(**limits), watch=())
    parser.feed(text)
    return parser.close("stop")


@given(value=values, tail=st.sampled_from(["", " ", "x", "}", " []", ","]))
def test_the_shortcut_agrees_with_the_parser(value: Any, tail: str) -> None:
    """What the shortcut takes, the parser reads as the same value."""
    text = dump(value) + tail
    result, taken = plain(text)
    if taken:
        assert repr(result) == repr(by_parser(text))


TAKEN = ['{"a": [1, 2.5, "x:y"]}', " [1]\n", '{"a" : {"b":1}}', "[]", '["\\u00e9\\""]']


@pytest.mark.parametrize("text", TAKEN)
def test_plain_documents_are_taken(text: str) -> None:
    """A plain document takes the shortcut."""
    assert plain(text) == (json.loads(text), True)


LEFT = [
    "12",
    '"a"',
    '{"a": 1, "a": 2}',
    '{"a:": 1, "a:": 2}',
    "[1e999]",
    "[-1e999]",
    "[NaN]",
    '["\\ud800"]',
    '["a\nb"]',
    "[1,]",
    "[1] x",
    "x [1]",
    "[1",
    "",
    "[" * 101 + "]" * 101,
    "[" + " " * 1100 + "1]",
    "[" + "1" * 1100 + "]",
    '["' + "ab" * 70_000 + '"]',
]


@pytest.mark.parametrize("text", LEFT, ids=[text[:20] for text in LEFT])
def test_what_the_parser_must_decide_is_left_to_it(text: str) -> None:
    """Anything that may be an error, a fix or beyond a limit is not taken."""
    assert plain(text) == (None, False)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ('["abcd"]', {"max_string_chars": 3}),
        ("[[[1]]]", {"max_depth": 2}),
        ("[1,2,3]", {"max_chars": 6}),
        ("[12345]", {"max_number_chars": 4}),
        ("[1,      2]", {"max_whitespace_run": 5}),
        ('["abababababab"]', {"max_repeat": 6}),
    ],
)
def test_limits_hold(text: str, limits: Any) -> None:
    """A text beyond a limit is never taken."""
    assert plain(text, **limits) == (None, False)
    with pytest.raises(PartialOutputError):
        by_parser(text, **limits)


def test_long_texts_within_the_limits_are_taken() -> None:
    """Length alone is no reason to doubt."""
    text = json.dumps({"rows": [{"id": i, "text": f"row {i}"} for i in range(3_000)]})
    assert len(text) > 65_536

    assert plain(text)[1]


def test_another_kind_and_another_reason_are_left() -> None:
    """The wrong kind of root and an odd finish reason are the parser's."""
    array = compile_schema(list[int])
    assert read_plain('{"a": 1}', array, Limits(), "stop") == (None, False)
    assert read_plain("[1]", array, Limits(), "length") == (None, False)
    assert read_plain('["x"]', array, Limits(), "stop") == (None, False)
    assert read_plain("[1]", array, Limits(), "stop") == ([1], True)
