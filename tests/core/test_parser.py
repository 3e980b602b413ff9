from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from partial_json_core import (
    UNSET,
    ContentFilteredError,
    FailureLayer,
    FinishReason,
    FixApplied,
    FixKind,
    LimitExceededError,
    Limits,
    MalformedOutputError,
    NoJSONFoundError,
    Outcome,
    ParserStateError,
    PartialDict,
    PartialParser,
    RefusedOutputError,
    SchemaMismatchError,
    TruncatedOutputError,
    WarningKind,
)

Cut = Callable[[str], list[str]]


class Row(BaseModel):
    id: int


class Table(BaseModel):
    title: str
    rows: list[Row]


def fed(chunks: list[str], **options: Any) -> PartialParser:
    parser = PartialParser(**options)
    for chunk in chunks:
        parser.feed(chunk)
    return parser


def truncated(parser: PartialParser, reason: Any = "length") -> TruncatedOutputError:
    with pytest.raises(TruncatedOutputError) as caught:
        parser.close(reason)
    return caught.value


def test_the_final_value_is_the_schemas_type(chunked: Cut) -> None:
    """A complete document becomes the model, strictly validated."""
    text = 'So: {"title": "t", "rows": [{"id": "34"},]} bye'

    assert fed(chunked(text), schema=Table).close("stop") == Table(
        title="t", rows=[Row(id=34)]
    )


def test_a_mismatch_is_named_at_the_end(chunked: Cut) -> None:
    """A document that the schema refuses raises with pydantic's own list."""
    text = '{"title": "t", "rows": [{"id": "x"}]}'
    parser = fed(chunked(text), schema=Table, early=False)
    with pytest.raises(SchemaMismatchError) as caught:
        parser.close("stop")

    err = caught.value
    assert err.path == ("rows", 0, "id")
    assert err.errors[0]["type"] == "int_parsing"
    assert not err.early
    assert err.report.layer is FailureLayer.SCHEMA
    assert err.__cause__ is not None


def test_a_cut_answer_keeps_what_had_settled(chunked: Cut) -> None:
    """The error holds the settled tree, its size, the cause and the open path."""
    text = '{"title": "t", "rows": [{"id": 1}, {"id": 2, "x": [3, 4'
    err = truncated(fed(chunked(text)))

    assert err.settled == {"title": "t", "rows": [{"id": 1}, {"id": 2, "x": [3]}]}
    assert isinstance(err.settled, PartialDict)
    assert err.settled_count == 5
    assert err.cause is FinishReason.LENGTH
    assert err.open_path == ("rows", 1, "x", 1)
    assert err.offset == len(text)


SALVAGED = [
    ('{"a": [1, {"b": 2}, {"b": 3', {"a": [1, {"b": 2}]}),
    ('{"a": {"b": 1, "c": "x', {"a": {"b": 1}}),
    ("[[1], [2, 3", [[1]]),
    ('[{"a": {"b": 1}, "c', []),
    ('{"a": "x', {}),
    ('{"a": [["x"], ["y", ', {"a": [["x"]]}),
    ("[", []),
    ("{", {}),
]


@pytest.mark.parametrize(("text", "kept"), SALVAGED, ids=[text for text, _ in SALVAGED])
def test_salvage_cuts_at_the_last_settled_element(
    text: str, kept: Any, chunked: Cut
) -> None:
    """List elements that were open go whole; what is left is plain."""
    value = truncated(fed(chunked(text))).salvage().value

    assert value == kept
    assert type(value) in (dict, list)


def test_a_held_snapshot_is_not_changed_by_the_end(chunked: Cut) -> None:
    """The settled tree of an error leaves out what a snapshot showed as open."""
    parser = fed(chunked('{"a": 1, "b": "x'))
    shown = parser.snapshot()
    err = truncated(parser)

    assert shown == {"a": 1, "b": "x"}
    assert err.settled == {"a": 1}


@pytest.mark.parametrize(
    ("text", "path"),
    [('"ab', ()), ("[tru", ()), ("[1, tru", (1,)), ('{"a', ()), ("So: {", ())],
)
def test_a_cut_at_any_place_has_a_path(text: str, path: Any, chunked: Cut) -> None:
    """The open path is known wherever the text ends."""
    assert truncated(fed(chunked(text))).open_path == path


def test_no_document_yet_is_told_apart(chunked: Cut) -> None:
    """A cut before the root says so and has nothing to salvage."""
    err = truncated(fed(chunked("Let me think")))

    assert err.settled is None
    assert err.salvage().value is None
    assert "before a JSON document began" in str(err)


@pytest.mark.parametrize("reason", [None, "stop", "tool_calls", "weird", "error"])
def test_the_text_decides_whatever_the_reason_claims(reason: Any, chunked: Cut) -> None:
    """An open root is truncated under every reason, a closed one is a value."""
    err = truncated(fed(chunked('{"a": [1')), reason)
    parser = fed(chunked('{"a": [1]}'))

    assert err.finish_reason == reason
    assert parser.close(reason) == {"a": [1]}


def test_a_complete_document_with_an_odd_reason_is_noted(chunked: Cut) -> None:
    """The value comes with a warning when the reason is not a normal stop."""
    parser = fed(chunked('{"a": 1}'))

    assert parser.close("length") == {"a": 1}
    (warning,) = parser.report.warnings
    assert warning.kind is WarningKind.FINISH_REASON
    assert parser.report.finish_reason is FinishReason.LENGTH


def test_a_filter_is_named_when_the_document_is_open(chunked: Cut) -> None:
    """A filter is the cause of an open or missing document, not of a whole one."""
    for text in ('{"a": 1', "I cannot", "", '"x'):
        with pytest.raises(ContentFilteredError) as caught:
            fed(chunked(text)).close("content_filter")
        assert caught.value.layer is FailureLayer.FILTERED
    assert fed(chunked('{"a": 1}')).close("content_filter") == {"a": 1}


@pytest.mark.parametrize("text", ["", '{"a": 1', '{"a": 1}'])
def test_a_refusal_stands_whatever_the_text(text: str, chunked: Cut) -> None:
    """A refusal is an error even beside a complete document."""
    with pytest.raises(RefusedOutputError) as caught:
        fed(chunked(text)).close("stop", refusal="No.")
    assert caught.value.refusal == "No."
    with pytest.raises(RefusedOutputError):
        fed(chunked(text)).close("refusal")


def test_a_used_up_parser_says_why() -> None:
    """After an error or `close` each call is misuse."""
    parser = PartialParser()
    parser.feed("[1]")
    parser.close("stop")
    with pytest.raises(
        ParserStateError, match=r"used up \(it was closed\): make a new"
    ):
        parser.feed(" ")
    with pytest.raises(ParserStateError):
        parser.close("stop")

    parser = PartialParser()
    with pytest.raises(MalformedOutputError):
        parser.feed('{"a": x')
    with pytest.raises(ParserStateError, match="had raised MalformedOutputError"):
        parser.feed(" ")
    assert parser.report.chars == 7


def test_an_error_carries_report_events_and_excerpt(chunked: Cut) -> None:
    """What was read up to a failure is on the error, and no more of the output."""
    parser = PartialParser()
    with pytest.raises(MalformedOutputError) as caught:
        for chunk in chunked('Sure: {"key": "some long private text", "n": ?'):
            parser.feed(chunk)

    err = caught.value
    assert err.report.outcome is Outcome.FAILED
    assert err.report.settled_at == {"key": 38}
    assert [fix.kind for fix in err.report.fixes] == [FixKind.PROSE]
    assert err.excerpt == '{"key": "some long private text", "n": ?'[-40:]
    assert parser.report == err.report


def test_events_before_a_failure_are_on_the_error() -> None:
    """Events that the failing chunk caused are not lost."""
    parser = PartialParser(watch=["/a"])
    with pytest.raises(MalformedOutputError) as caught:
        parser.feed('{"a": 1, ?')

    assert [event.path for event in caught.value.events] == [("a",)]


def test_the_report_of_a_value(chunked: Cut) -> None:
    """The report counts, and tells where each field settled."""
    text = '```json\n{"a": 1, "b": {"c": [2]}}\n```\n'
    chunks = chunked(text)
    parser = fed(chunks)
    assert parser.report.outcome is Outcome.OPEN
    parser.close("STOP")
    report = parser.report

    assert report.outcome is Outcome.VALUE
    assert report.layer is FailureLayer.NONE
    assert report.finish_reason is FinishReason.STOP
    assert report.raw_finish_reason == "STOP"
    assert report.chars == len(text)
    assert report.chunks == len(chunks)
    assert report.settled_at == {"a": 15, "b": 32}
    assert [fix.kind.value for fix in report.fixes] == ["code_fence", "code_fence"]


def test_fixes_before_and_in_the_root_are_events(chunked: Cut) -> None:
    """A fix is an event once it is certain; what follows the root is in the report."""
    parser = PartialParser()
    events = [
        event
        for chunk in chunked('So: {"a": 1,} {"a":1} bye')
        for event in parser.feed(chunk)
    ]
    parser.close("stop")

    kinds = [event.fix.kind.value for event in events if type(event) is FixApplied]
    assert kinds == ["prose", "trailing_comma", "repeated_document"]
    assert [fix.kind.value for fix in parser.report.fixes] == [*kinds, "prose"]


def test_the_number_of_characters_is_limited(chunked: Cut) -> None:
    """The character beyond the limit raises, inside the root and outside."""
    for text in ('{"a": 1234}', "words and words", '{"a": 1}    '):
        parser = PartialParser(limits=Limits(max_chars=10))
        with pytest.raises(LimitExceededError) as caught:
            for chunk in chunked(text):
                parser.feed(chunk)
        assert (caught.value.limit, caught.value.offset) == ("max_chars", 11)


def test_an_error_within_the_limit_comes_first(chunked: Cut) -> None:
    """A fault before the limit is the one that is raised."""
    parser = PartialParser(limits=Limits(max_chars=10))
    with pytest.raises(MalformedOutputError):
        for chunk in chunked('{"a": ?' + " " * 90):
            parser.feed(chunk)


def test_idle_chunks_are_limited() -> None:
    """A stream in which no document begins is stopped."""
    parser = PartialParser(limits=Limits(max_idle_chunks=3))
    for _ in range(3):
        parser.feed("")
    with pytest.raises(LimitExceededError, match="no JSON document began in 3 chunks"):
        parser.feed("x")


def test_snapshots_begin_with_the_root(chunked: Cut) -> None:
    """Before the root there is nothing to show, at its end all of it."""
    parser = fed(chunked("Sure: "))
    assert parser.snapshot() is UNSET
    assert not parser.changed
    parser.feed('{"a": tr')
    assert parser.changed
    assert parser.snapshot() == {}
    parser.feed("ue}")
    assert parser.snapshot() == {"a": True}
    assert not parser.changed


def test_a_scalar_root_is_shown_when_it_has_settled() -> None:
    """A number at the root is shown once it is delimited, a string as it grows."""
    parser = PartialParser(root="scalar")
    parser.feed("12")
    assert parser.snapshot() is UNSET
    parser.feed(" ")
    assert parser.snapshot() == 12


def test_a_parser_prints_no_output() -> None:
    """The repr tells schema and progress, and nothing that the model wrote."""
    parser = PartialParser(Table)
    assert repr(parser) == "<PartialParser Table: before the root, 0 chars>"
    parser.feed('{"title": "secret')
    assert repr(parser) == "<PartialParser Table: inside the root, 17 chars>"
    parser.feed('", "rows": []}')
    assert repr(parser) == "<PartialParser Table: after the root, 31 chars>"
    parser.close("stop")
    assert repr(parser) == "<PartialParser Table: closed, 31 chars>"
    assert repr(PartialParser({"type": "object"})) == (
        "<PartialParser {'type': 'object'}: before the root, 0 chars>"
    )


def test_an_answer_without_a_document_names_the_kinds(chunked: Cut) -> None:
    """The error says what the root may be."""
    with pytest.raises(NoJSONFoundError) as caught:
        fed(chunked("I do not know."), schema=Table).close("stop")

    assert caught.value.expected == "an object"
    assert caught.value.excerpt == "I do not know."


@pytest.mark.parametrize(
    "options", [{"root": "list"}, {"watch": ["a"]}, {"watch": "/a"}]
)
def test_impossible_options_are_refused(options: Any) -> None:
    """An option that means nothing is refused when the parser is made."""
    with pytest.raises(ValueError):
        PartialParser(**options)
