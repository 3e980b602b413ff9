"""The guarantees G1 to G9, as the documentation numbers them (G4 is in `test_guard.py`)."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from partial_json_core import (
    UNSET,
    FieldSettled,
    FixApplied,
    FixKind,
    FixPolicy,
    Limits,
    PartialOutputError,
    PartialParser,
    SchemaMismatchError,
    TextDelta,
    TruncatedOutputError,
    loads,
)
from partial_json_core.partial import PartialDict, PartialList, PartialStr

settings.register_profile(
    "guarantees",
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("guarantees")

EVERY_FIX = FixPolicy(frozenset(FixKind))
POLICIES = [FixPolicy.SYNTAX_SAFE, FixPolicy.STRICT, EVERY_FIX]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
containers = st.lists(values, max_size=4) | st.dictionaries(
    st.text(max_size=6), values, max_size=4
)
layouts = st.sampled_from(
    [
        {},
        {"ensure_ascii": False},
        {"indent": 2},
        {"separators": (",", ":")},
        {"indent": 1, "ensure_ascii": False},
    ]
)
documents = st.builds(lambda value, how: json.dumps(value, **how), containers, layouts)

# What models put around and into JSON, in pieces that combine into every state.
PIECES = [
    *('{"a": ', '"b": 1', "}", "{", "[", "]", "[1", ", ", ",", ":", '"', "'", "1", "-"),
    *("0.5", "1e5", "true", "nul", "None", "\\", "\\u00e9", "\\ud83d", "\\ude00"),
    *("\\n", "\n", "\t", " ", "\u00a0", "\ufeff", "```", "```json\n", "```python\n"),
    *("`", "<think>", "</think>", "<", "[think]", "/", "// x\n", "/* y */", "words"),
    *('{"a": 1}', "[3]", "{curly}", "{'k': 2}", "{k: 2}", "\U0001f600", "é", "\x01"),
    *("\udce9", "[1, 2]"),
]
mixtures = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
texts = mixtures | documents | st.text(max_size=30)
wrapped = st.builds(
    lambda before, document, after: before + document + after,
    st.sampled_from(["", "Here: ", "```json\n", "<think>hm {</think>\n", "\ufeff"]),
    documents,
    st.sampled_from(["", "\n```", "\nDone.", " "]),
)


def cuts(data: st.DataObject, text: str) -> list[str]:
    """Draw a way of cutting a text."""
    places = data.draw(
        st.lists(st.integers(0, len(text)), max_size=len(text)).map(sorted)
    )
    ends = [*places, len(text)]
    return [text[i:j] for i, j in zip([0, *places], ends, strict=True)]


def merged(events: list[Any]) -> list[Any]:
    """Join neighbouring text deltas of one path: chunking decides their number."""
    out: list[Any] = []
    for event in events:
        last = out[-1] if out else None
        if (
            isinstance(event, TextDelta)
            and isinstance(last, TextDelta)
            and last.path == event.path
        ):
            out[-1] = TextDelta(event.path, last.text + event.text)
        else:
            out.append(event)
    return out


def read(
    chunks: list[str], *, look: bool = False, **options: Any
) -> tuple[Any, list[Any], Any]:
    """Read chunks, looking at snapshots or not; outcome, merged events and fixes."""
    parser = PartialParser(**options)
    events: list[Any] = []
    outcome: Any
    try:
        for chunk in chunks:
            events += parser.feed(chunk)
            if look:
                parser.snapshot()
        outcome = ("value", repr(parser.close("stop")))
    except PartialOutputError as err:
        events += err.events
        outcome = (type(err), err.path, err.offset, str(err))
    return outcome, merged(events), parser.report.fixes


@pytest.mark.parametrize("policy", POLICIES, ids=["safe", "strict", "every"])
@given(text=texts | wrapped, data=st.data())
@settings(max_examples=300)
def test_g1_chunking_never_matters(
    policy: FixPolicy, text: str, data: st.DataObject
) -> None:
    """G1: outcome, events and fixes are the same however the text is cut."""
    whole = read([text], policy=policy)

    assert read(list(text), policy=policy) == whole
    assert read(list(text), policy=policy, look=True) == whole
    assert read([text], policy=policy, look=True) == whole
    assert read(cuts(data, text), policy=policy) == whole


@pytest.mark.parametrize(
    "text",
    [
        '["',
        '[["a"], ["b',
        '{"k": ["v',
        '[1, "\\u00',
        '{"a": 1}{"a": 1}{"b": 2}',
        "[] [] [1] and more",
    ],
)
def test_g1_where_looking_or_a_chunk_once_mattered(text: str) -> None:
    """G1: the open path does not depend on snapshots, nor events on a later error."""
    whole = read([text])
    for size in range(1, len(text)):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        assert read(chunks) == whole
        assert read(chunks, look=True) == whole


@given(document=documents, data=st.data())
def test_g1_snapshots_at_equal_offsets_are_equal(
    document: str, data: st.DataObject
) -> None:
    """G1: the snapshot at an offset does not depend on the chunks before it."""
    end = data.draw(st.integers(0, len(document)))
    whole, pieces = PartialParser(), PartialParser()
    whole.feed(document[:end])
    for chunk in cuts(data, document[:end]):
        pieces.feed(chunk)
        pieces.snapshot()

    assert repr(whole.snapshot()) == repr(pieces.snapshot())


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All paths of a value, children before their parents."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    below = [p for key, item in items for p in paths_of(item, (*path, key))]
    return [*below, path]


@given(document=documents, data=st.data())
def test_g2_what_settled_never_changes(document: str, data: st.DataObject) -> None:
    """G2: each path settles exactly once, with its final value."""
    parser = PartialParser()
    settled: list[FieldSettled] = []
    for chunk in cuts(data, document):
        settled += [e for e in parser.feed(chunk) if isinstance(e, FieldSettled)]
    value = parser.close("stop")

    assert [event.path for event in settled] == paths_of(value)
    for event in settled:
        final = value
        for segment in event.path:
            final = final[segment]
        assert repr(event.value) == repr(final)


@given(document=documents)
def test_g3_every_cut_is_loud_and_the_whole_is_not(document: str) -> None:
    """G3: each prefix that leaves the root open is truncated; the whole is a value."""
    document = document.strip()
    for end in range(1, len(document)):
        parser = PartialParser()
        parser.feed(document[:end])
        with pytest.raises(TruncatedOutputError):
            parser.close("stop")
    assert repr(loads(document)) == repr(json.loads(document))


class Row(BaseModel):
    id: int
    note: str | None = None


class Table(BaseModel):
    title: str
    rows: list[Row]


tables = st.builds(
    Table,
    title=st.text(max_size=8),
    rows=st.lists(st.builds(Row, id=st.integers(), note=st.none() | st.text())),
)


@given(table=tables, data=st.data())
def test_g5_the_final_value_is_pydantics(table: Table, data: st.DataObject) -> None:
    """G5: the final value equals what pydantic makes of the plain document."""
    document = table.model_dump_json()
    parser = PartialParser(Table)
    for chunk in cuts(data, document):
        parser.feed(chunk)

    assert parser.close("stop") == Table.model_validate_json(document)
    assert loads(document, Table) == table


@given(value=values)
def test_g5_a_schema_mismatch_is_pydantics(value: Any) -> None:
    """G5: a document is refused exactly when pydantic refuses it, for its reasons."""
    document = json.dumps([value])
    adapter: TypeAdapter[Any] = TypeAdapter(list[Row | int])
    try:
        expected: Any = adapter.validate_json(document)
    except ValueError as err:
        with pytest.raises(SchemaMismatchError) as caught:
            loads(document, list[Row | int])
        kinds = [error["type"] for error in err.errors()]  # type: ignore[attr-defined]  # pydantic's ValidationError
        assert [error["type"] for error in caught.value.errors] == kinds
    else:
        assert loads(document, list[Row | int]) == expected


@given(value=st.dictionaries(st.text("abc", max_size=4), scalars, max_size=4))
def test_g6_a_fix_changes_no_value(value: dict[str, Any]) -> None:
    """G6: the values of a fixed document are those of the document without faults."""
    plain = json.dumps(value)
    faulty = "\ufeffSure:\n```json\n" + plain[:-1] + (",\u00a0}" if value else "}")

    parser = PartialParser()
    parser.feed(faulty + "\n```\nThat is all.")
    assert repr(parser.close("stop")) == repr(json.loads(plain))
    assert {fix.kind for fix in parser.report.fixes} >= {FixKind.CODE_FENCE}


pythonic = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab'\"x ", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab'", max_size=3), inner, max_size=3)
    ),
)


@given(value=pythonic, data=st.data())
def test_g6_python_spelling_changes_no_value(value: Any, data: st.DataObject) -> None:
    """G6: the opt-in fixes read Python's spelling of a value as that value."""
    text = repr(value)
    parser = PartialParser(policy=EVERY_FIX)
    for chunk in cuts(data, text):
        parser.feed(chunk)

    assert repr(parser.close("stop")) == text


@given(document=wrapped, data=st.data())
def test_g6_the_fixed_text_is_the_text_with_its_fixes_applied(
    document: str, data: st.DataObject
) -> None:
    """G6: applying the reported fixes to the text gives plain JSON of that value."""
    parser = PartialParser()
    fixes = [
        event.fix
        for chunk in cuts(data, document)
        for event in parser.feed(chunk)
        if isinstance(event, FixApplied)
    ]
    value = parser.close("stop")
    assert parser.report.fixes[: len(fixes)] == tuple(fixes)
    text = document
    for fix in sorted(parser.report.fixes, key=lambda fix: -fix.offset):
        end = fix.offset + len(fix.removed)
        assert text[fix.offset : end] == fix.removed
        text = text[: fix.offset] + fix.inserted + text[end:]
    assert repr(json.loads(text)) == repr(value)


@pytest.mark.parametrize("root", ["auto", "object", "array", "scalar"])
@given(text=texts, data=st.data())
@example(text="[[" * 300, data=None)
@settings(max_examples=300)
def test_g7_only_our_errors_come_out(root: Any, text: str, data: Any) -> None:
    """G7: whatever the text, the outcome is a value or one of our errors."""
    for policy in POLICIES:
        chunks = list(text) if data is None else cuts(data, text)
        read(chunks, policy=policy, root=root)


def seconds(text: str, size: int, *, watched: bool) -> float:
    limits = Limits(max_chars=10_000_000, max_whitespace_run=10_000_000)
    best = float("inf")
    for _ in range(3):
        parser = PartialParser(limits=limits)
        start = time.process_time()
        try:
            for pos in range(0, len(text), size):
                parser.feed(text[pos : pos + size])
                if watched:
                    parser.snapshot()
        except PartialOutputError:
            pass
        best = min(best, time.process_time() - start)
    return best


SHAPES = {
    "records": lambda n: '{"rows": [' + '{"id": 17, "name": "x y"},' * (n // 24),
    "one string": lambda n: '{"s": "' + "lorem ipsum " * (n // 12),
    "escapes": lambda n: '{"s": "' + "\\u00e9\\n" * (n // 8),
    "wide object": lambda n: "{" + ",".join(f'"k{i}": {i}' for i in range(n // 12)),
    "brackets in prose": lambda n: "{ [ " * (n // 4),
    "half objects": lambda n: '{"a": 1} ' + '{"' * (n // 2),
    "failed candidates": lambda n: '{"a": 1} x ' + '{"a": [ ' * (n // 8) + "x",
    "ticks": lambda n: "`` " * (n // 3),
    "tags": lambda n: "<thin <think" * (n // 12),
    "braces": lambda n: "{{ " * (n // 3),
    "one run of ticks": lambda n: "`" * n,
    "reasoning blocks": lambda n: "<think>a</think>" * (n // 16),
    "citations": lambda n: "see [1] and [2, 3]. " * (n // 20),
    "arrays": lambda n: "[1] " * (n // 4),
    "repeated documents": lambda n: '{"a": 1} ' * (n // 9),
    "brackets behind": lambda n: '{"a": 1} ' + "word {x} [1] " * (n // 13),
    "a separator behind": lambda n: '{"a": 1},' + " " * n,
}


@pytest.mark.parametrize("size", [1, 4, 100_000], ids=["one", "token", "whole"])
@pytest.mark.parametrize("shape", SHAPES)
def test_g8_work_is_linear(shape: str, size: int) -> None:
    """G8: four times the text takes about four times the work, never its square."""
    small, large = SHAPES[shape](20_000), SHAPES[shape](80_000)
    # A quadratic reader needs 16 times; 9 leaves room for a noisy machine.
    for _attempt in range(3):
        ratio = seconds(large, size, watched=True) / seconds(small, size, watched=True)
        if ratio < 9:
            return
    pytest.fail(f"{ratio:.1f} times the work for four times the text")


def is_certain(shown: Any, final: Any) -> bool:
    """Whether each value shown is final, or a prefix of the string to come."""
    if isinstance(shown, PartialDict) and shown.is_open:
        return isinstance(final, dict) and all(
            key in final and is_certain(item, final[key])
            if key != shown.open_segment
            else final[key].startswith(item)
            for key, item in shown.items()
        )
    if isinstance(shown, PartialList) and shown.is_open:
        return isinstance(final, list) and all(
            is_certain(item, final[index])
            if index != shown.open_segment
            else final[index].startswith(item)
            for index, item in enumerate(shown)
        )
    if isinstance(shown, PartialStr) and shown.is_open:
        return bool(final.startswith(shown))
    return repr(shown) == repr(final)


@given(document=documents, data=st.data())
def test_g9_a_snapshot_shows_only_what_is_certain(
    document: str, data: st.DataObject
) -> None:
    """G9: shown values have settled, or are a prefix of the string to come."""
    final = json.loads(document)
    parser = PartialParser()
    kept = []
    for chunk in cuts(data, document):
        parser.feed(chunk)
        snapshot = parser.snapshot()
        if snapshot is not UNSET:
            assert is_certain(snapshot, final)
            kept.append((snapshot, copy.deepcopy(snapshot)))
    for snapshot, then in kept:
        assert repr(snapshot) == repr(then)
