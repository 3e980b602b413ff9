"""`SettledFields`, `ElementStream` and JSON Patch streams."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from collections.abc import Callable
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field
from support import pieces, split, streamed

from langchain_partial import (
    ElementStream,
    LangChainSchemaMismatchError,
    Rejected,
    SafePartialParser,
    SettledField,
    SettledFields,
)
from partial_json_core import (
    MalformedOutputError,
    PartialParser,
    SchemaMismatchError,
    TruncatedOutputError,
)


class Row(BaseModel):
    id: int
    day: dt.date | None = None
    amount: int = Field(0, ge=0)


class Table(BaseModel):
    title: str
    rows: list[Row]


TEXT = '{"title": "t", "rows": [{"id": 1, "day": "2024-02-29"}, {"id": "x"}, {"id": 3, "amount": -1}, {"id": 4}]}'
GOOD = '{"title": "t", "rows": [{"id": 1, "day": "2024-02-29"}, {"id": 4}]}'
Cut = Callable[[str], list[str]]


# ----------------------------------------------------------------------- SettledFields


def test_settled_fields_come_once_and_converted(chunked: Cut, stream: Any) -> None:
    """Each selected path is yielded once, as it settles, as the schema makes it."""
    fields = stream(
        SettledFields(Table, "/title", "/rows/*/day", "/rows/*"), chunked(GOOD)
    )

    assert [(path, value) for path, value in fields] == [
        (("title",), "t"),
        (("rows", 0, "day"), dt.date(2024, 2, 29)),
        (("rows", 0), Row(id=1, day=dt.date(2024, 2, 29))),
        (("rows", 1), Row(id=4)),
    ]
    assert all(GOOD[: field.offset][-1] in '"}' for field in fields)


def test_without_paths_every_field_is_yielded(stream: Any) -> None:
    """No pattern selects every path, the root last."""
    fields = stream(SettledFields(), ['{"a": [1]}'])
    assert [field.path for field in fields] == [("a", 0), ("a",), ()]


def test_a_cut_is_loud_after_the_last_settled_field(stream: Any) -> None:
    """What had settled was yielded; the end raises."""
    seen = []
    with pytest.raises(TruncatedOutputError):
        for field in SettledFields(Table, "/title").transform(iter([GOOD[:30]])):
            seen.append(field.value)  # noqa: PERF401 - it raises
    assert seen == ["t"]


async def test_settled_fields_of_a_whole_message() -> None:
    """`invoke` gives all of them as a list, or raises."""
    fields = SettledFields(Table, "/title")
    expected = [SettledField(("title",), "t", 13)]
    assert fields.invoke(AIMessage(GOOD)) == await fields.ainvoke(GOOD) == expected
    with pytest.raises(TruncatedOutputError):
        fields.invoke(GOOD[:30])


# ----------------------------------------------------------------------- ElementStream


def test_elements_come_as_they_settle(chunked: Cut, stream: Any) -> None:
    """Each element is yielded validated, in order, before the next one has settled."""
    rows = stream(ElementStream(Table, "/rows"), chunked(GOOD))
    assert rows == [Row(id=1, day=dt.date(2024, 2, 29)), Row(id=4)]
    assert stream(ElementStream(list[int], ""), chunked("[1, 2]")) == [1, 2]


def test_a_bad_element_raises_by_default(chunked: Cut, stream: Any) -> None:
    """The schema stops the model at the element it refuses."""
    with pytest.raises(LangChainSchemaMismatchError) as caught:
        stream(ElementStream(Table, "/rows"), chunked(TEXT))
    assert caught.value.path == ("rows", 1, "id")


def test_bad_elements_can_be_collected(chunked: Cut, stream: Any) -> None:
    """Good and rejected elements together are all that was seen."""
    items = stream(ElementStream(Table, "/rows", on_bad="collect"), chunked(TEXT))

    assert [type(item) for item in items] == [Row, Rejected, Rejected, Row]
    assert items[1].index == 1
    assert items[1].raw == {"id": "x"}
    assert items[1].errors[0]["loc"] == ("id",)
    assert items[2].errors[0]["type"] == "greater_than_equal"
    schema = {"type": "array", "items": {"type": "integer"}}
    assert stream(ElementStream(schema, on_bad="collect"), ['[1, "x"]'])[0] == 1
    assert isinstance(
        stream(ElementStream(schema, on_bad="collect"), ['[1, "x"]'])[1], Rejected
    )


@given(st.lists(st.integers(-3, 3) | st.text(max_size=3) | st.none(), max_size=8))
def test_nothing_is_dropped(elements: list[Any]) -> None:
    """Good and rejected are as many as the elements of the list, in their order."""
    text = json.dumps(elements)
    items = streamed(ElementStream(list[int], on_bad="collect"), pieces(2)(text))

    assert len(items) == len(elements)
    for index, (item, element) in enumerate(zip(items, elements, strict=True)):
        if isinstance(item, Rejected):
            assert (item.index, item.raw) == (index, element)
        else:
            assert item == int(element)


@pytest.mark.parametrize("on_bad", ["raise", "collect"])
def test_a_cut_list_is_loud(on_bad: Any, stream: Any) -> None:
    """The elements that had settled were yielded; the end raises."""
    for end in range(1, len(GOOD)):
        with pytest.raises(TruncatedOutputError):
            stream(ElementStream(Table, "/rows", on_bad=on_bad), [GOOD[:end]])


def test_what_is_not_asked_for_is_refused() -> None:
    """Options and pointers that are wrong are known when the stream is made."""
    with pytest.raises(ValueError, match="on_bad"):
        ElementStream(Table, "/rows", on_bad="drop")
    with pytest.raises(ValueError, match="JSON Pointer"):
        ElementStream(Table, "rows")
    with pytest.raises(ValueError, match="JSON Pointer"):
        SettledFields(Table, "rows")
    with pytest.raises(ValueError, match="extra"):
        SettledFields(Table, "/rows", watching=True)


async def test_streams_stand_in_chains(say: Any) -> None:
    """Both work behind a model, and before a step that takes each element."""
    seen: list[Any] = []
    chain = say(*pieces(5)(GOOD)) | ElementStream(Table, "/rows")
    for row in chain.stream("go"):
        seen.append(row)  # noqa: PERF402 - as a user writes it
    later = [row async for row in chain.astream("go")]
    titles = (
        say(*pieces(5)(GOOD))
        | SettledFields(Table, "/title")
        | RunnableLambda(lambda field: field)
    )

    assert seen == later == [Row(id=1, day=dt.date(2024, 2, 29)), Row(id=4)]
    assert list(titles.stream("go"))[-1].value == "t"


def test_values_survive_pickle_and_copy() -> None:
    """What is yielded can be stored."""
    for item in (SettledField(("a", 0), 1, 2), Rejected(0, "x", [])):
        assert pickle.loads(pickle.dumps(item)) == copy.copy(item) == item


# ------------------------------------------------------------------------- JSON Patch

leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab/~0", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    value=st.lists(values, max_size=3)
    | st.dictionaries(st.text("ab/~", max_size=3), values, max_size=4)
    | st.text(max_size=9),
    data=st.data(),
)
def test_patches_rebuild_every_snapshot(value: Any, data: st.DataObject) -> None:
    """Applied in order they give each snapshot, and in the end the document."""
    text = json.dumps(value)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    chunks = split(text, places)
    parser = PartialParser()
    document: Any = None
    shown = []
    for chunk in chunks:
        parser.feed(chunk)
        if parser.changed:
            shown.append(json.loads(json.dumps(parser.snapshot())))
    shown.append(value)
    patched = []
    for operations in streamed(SafePartialParser(diff=True), chunks):
        document = jsonpatch.apply_patch(document, operations)
        patched.append(json.loads(json.dumps(document)))

    assert document == value
    # An open container that shows nothing new gives no patch.
    assert [s for i, s in enumerate(shown) if not i or s != shown[i - 1]] == [
        p for i, p in enumerate(patched) if not i or p != patched[i - 1]
    ]


def test_patches_say_only_what_changed(stream: Any) -> None:
    """A patch holds the new entries and the string that grew, and no more."""
    chunks = ['{"title": "a', "b", '", "rows": [{"id": 1', "}, {", '"id": 2}]}']
    patches = stream(SafePartialParser(Table, diff=True), chunks)

    assert patches == [
        [{"op": "replace", "path": "", "value": {"title": "a"}}],
        [{"op": "replace", "path": "/title", "value": "ab"}],
        [{"op": "add", "path": "/rows", "value": [{}]}],
        [
            {"op": "add", "path": "/rows/0/id", "value": 1},
            {"op": "add", "path": "/rows/1", "value": {}},
        ],
        [{"op": "add", "path": "/rows/1/id", "value": 2}],
    ]


def test_patches_are_strict_at_the_end(stream: Any) -> None:
    """A patch stream of a cut or wrong output raises, as any other."""
    with pytest.raises(TruncatedOutputError):
        stream(SafePartialParser(Table, diff=True), [GOOD[:30]])
    with pytest.raises(SchemaMismatchError):
        stream(SafePartialParser(Table, diff=True), [TEXT])
    with pytest.raises(MalformedOutputError):
        stream(SafePartialParser(diff=True), ['{"a" 1'])


def test_invoke_gives_the_value_whatever_the_stream_shows() -> None:
    """`diff` is about streams: `invoke` gives the model."""
    parser = SafePartialParser(Table, diff=True)
    assert parser.invoke(GOOD) == Table.model_validate_json(GOOD)
    message = AIMessageChunk(
        "", tool_call_chunks=[{"name": "Table", "args": GOOD, "id": "1", "index": 0}]
    )
    assert parser.invoke(message) == Table.model_validate_json(GOOD)
