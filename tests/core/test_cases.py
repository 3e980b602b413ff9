"""Real inputs of other people, read from the shared folder (skipped without it).

Where an expectation and the reading rules disagree, the rules stand: the rows are
listed here, each with its reason, and in `docs/peer-suites.md`.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from partial_json_core import (
    AmbiguousOutputError,
    ContentFilteredError,
    DuplicateKeyError,
    FieldSettled,
    FixPolicy,
    LimitExceededError,
    MalformedOutputError,
    NoJSONFoundError,
    PartialOutputError,
    PartialParser,
    RefusedOutputError,
    SchemaMismatchError,
    TruncatedOutputError,
    format_path,
    loads,
)

FOLDER = Path(
    os.environ.get("PARTIAL_JSON_SHARED", Path(__file__).parents[3] / "shared")
)
NEEDS_SHARED = pytest.mark.skipif(
    not (FOLDER / "cases").is_dir(),
    reason="no shared data: set PARTIAL_JSON_SHARED",
)
pytestmark = NEEDS_SHARED


def lines(name: str) -> list[dict[str, Any]]:
    path = FOLDER / "cases" / name
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read(chunks: list[str], reason: Any, refusal: Any, **options: Any) -> Any:
    """Read chunks: the value or the error, the events by chunk, and the report."""
    parser = PartialParser(**options)
    events: list[list[Any]] = []
    outcome: Any
    try:
        for chunk in chunks:
            events.append(parser.feed(chunk))  # noqa: PERF401 - what came before an error counts
        outcome = parser.close(reason, refusal=refusal)
    except PartialOutputError as err:
        outcome = err
    return outcome, events, parser.report


# --------------------------------------------------------------------- field reports

ERRORS = {
    "truncated": TruncatedOutputError,
    "syntax": MalformedOutputError,
    "ambiguous": AmbiguousOutputError,
    "duplicate_key": DuplicateKeyError,
    "no_json": NoJSONFoundError,
    "empty": NoJSONFoundError,
    "limit": LimitExceededError,
    "refusal": RefusedOutputError,
    "content_filter": ContentFilteredError,
    "schema": SchemaMismatchError,
}
FIX_NAMES = {
    "fence": "code_fence",
    "control_char": "raw_control_character",
    "unicode_space": "unusual_whitespace",
    "bom": "byte_order_mark",
    "repeated_value": "repeated_document",
}
# The offset that the rules give where the row has another one.
OTHER_OFFSETS = {
    # Every error of an escape stands at its backslash.
    "unicode-04": 9,
    # The limit is 100 levels of 5 characters; the row was made with another limit.
    "deep_nesting-02": 501,
}
# The row asks for the warning in words only.
NO_FIELD_SET = {"schema_echo-03"}
SIZES = {"whole": None, "one": 1, "three": 3, "own": 0}


def field_reports() -> Iterator[Any]:
    for row in lines("field_reports.jsonl"):
        if "tool_chunks" in row or row["right"]["outcome"] == "lifecycle":
            continue
        ways = SIZES if "chunks" in row else [how for how in SIZES if how != "own"]
        yield from (pytest.param(row, how, id=f"{row['id']}-{how}") for how in ways)


def chunks_of(row: dict[str, Any], how: str) -> tuple[str, list[str]]:
    generated = row.get("input_gen")
    # The generator expressions use builtins only.
    text = eval(generated) if generated else row["input"]  # noqa: S307
    if how == "own":
        return text, row["chunks"]
    size = SIZES[how] or len(text) or 1
    return text, [text[i : i + size] for i in range(0, len(text), size)]


@pytest.fixture(scope="module")
def models() -> Any:
    path = FOLDER / "cases" / "field_report_models.py"
    spec = importlib.util.spec_from_file_location("field_report_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("row", "how"), list(field_reports()))
def test_a_field_report_comes_out_right(
    row: dict[str, Any], how: str, models: Any
) -> None:
    """Each public bug report about text has its right outcome, place and fixes."""
    text, chunks = chunks_of(row, how)
    options: dict[str, Any] = {"root": row.get("root", "auto")}
    if "schema" in row:
        options = {"schema": getattr(models, row["schema"]["model"])}
    refusal = "".join(row["refusal_deltas"]) if "refusal_deltas" in row else None

    outcome, events, report = read(chunks, row["finish_reason"], refusal, **options)

    right = row["right"]
    if right["outcome"] == "value":
        check_value(row, text, outcome, report, is_model="schema" in row)
    else:
        check_error(row, outcome)
    if how == "own" and "settled_after_chunk" in row:
        settled = [
            [[format_path(e.path), plain(e)] for e in caused if type(e) is FieldSettled]
            for caused in events
        ]
        assert settled == row["settled_after_chunk"]


def plain(event: FieldSettled) -> Any:
    """The value of an event; a root that became a model shows what was set."""
    if isinstance(event.value, BaseModel):
        return event.value.model_dump(mode="json", exclude_unset=True)
    return event.value


def check_value(
    row: dict[str, Any], text: str, outcome: Any, report: Any, *, is_model: bool
) -> None:
    right = row["right"]
    assert not isinstance(outcome, Exception), outcome
    if is_model:
        wanted = right.get("model_value")
        assert wanted is None or outcome.model_dump(mode="json") == wanted
    else:
        generated = right["value"] == "json.loads(input)"
        assert outcome == (json.loads(text) if generated else right["value"])
    names = {name for name in right["fixes"] if not name.startswith("warn:")}
    assert {fix.kind.value for fix in report.fixes} == {
        FIX_NAMES.get(name, name) for name in names
    }
    warned = {name[5:] for name in right["fixes"] if name.startswith("warn:")}
    if row["id"] in NO_FIELD_SET:
        warned.add("no_field_set")
    assert {warning.kind.value for warning in report.warnings} == warned


def check_error(row: dict[str, Any], outcome: Any) -> None:
    right = row["right"]
    assert type(outcome) is ERRORS[right["outcome"]]
    if right.get("offset") is not None:
        assert outcome.offset == OTHER_OFFSETS.get(row["id"], right["offset"])
    named = right.get("path")
    if named is not None and "..." not in named:
        assert format_path(outcome.path) == named
    error = right.get("error")
    if error is not None and "n" in error:
        assert outcome.errors[0]["type"] == error["type"]
        assert format_path(tuple(outcome.errors[0]["loc"])) == error["loc"]
        assert len(outcome.errors) == error["n"]


def test_a_named_fix_reads_what_the_default_refuses() -> None:
    """An opt-in fix makes of a refused row what the row says it makes."""
    rows = [row for row in lines("field_reports.jsonl") if "right_with_policy" in row]
    assert rows
    for row in rows:
        right = row["right_with_policy"]
        policy = FixPolicy.SYNTAX_SAFE.with_(*right["policy"])
        parser = PartialParser(policy=policy)
        parser.feed(row["input"])
        assert parser.close(row["finish_reason"]) == right["value"]
        assert {fix.kind.value for fix in parser.report.fixes} == set(right["fixes"])


# ----------------------------------------------------------------------- peer suites

# Rows whose expectation is not ours: what comes out here, and why.
EMPTY = "nothing was written: NoJSONFoundError, and truncation only for `length`"
SPACES = "white space that is not JSON's is permitted between tokens, and reported"
CONTROL = "a raw control character in a string is kept and reported"
REPEATED = "the second document equals the first: a reported fix"
PROSE = "`{word}` in words is prose, and the document after it counts"
DISAGREEMENTS: dict[str, tuple[str, str]] = {
    "own-0030": (
        "syntax_error",
        "a fence that closes while the root is open breaks the grammar at once",
    ),
    "own-0033": ("value", PROSE),
    "own-0070": ("no_json", EMPTY),
    "jsontestsuite-0198": ("no_json", EMPTY),
    "jsontestsuite-0226": ("value", SPACES),
    "jsontestsuite-0227": ("no_json", EMPTY),
    "jsontestsuite-0237": ("value", REPEATED),
    "jsontestsuite-0253": (
        "truncated",
        "`{[` may be cut before anything decides what it is; it is loud",
    ),
    "json-repair-0619": ("no_json", EMPTY),
    "json-repair-0667": ("value", CONTROL),
    "jsonrepair-0954": (
        "truncated",
        "the raw newlines belong to a string that never closes",
    ),
    "jsonrepair-0984": ("value", CONTROL),
    "jsonrepair-1005": ("value", SPACES),
    "jsonrepair-1008": ("value", SPACES),
    "best-effort-json-parser-1329": ("value", CONTROL),
    "best-effort-json-parser-1337": ("value", CONTROL),
    "best-effort-json-parser-1353": (
        "truncated",
        "a raw control character is kept, and then the object is open",
    ),
    "baml-1432": ("value", PROSE),
}
PEER_ROWS = lines("peer_suites.jsonl")


def peer_outcome(text: str, cut: Callable[[str], list[str]]) -> tuple[str, Any]:
    outcome, _, _ = read(cut(text), "stop", None)
    names = {
        TruncatedOutputError: "truncated",
        NoJSONFoundError: "no_json",
    }
    if isinstance(outcome, PartialOutputError):
        return names.get(type(outcome), "syntax_error"), None
    return "value", outcome


@pytest.mark.parametrize("expectation", ["value", "truncated", "syntax_error"])
def test_the_suites_of_other_parsers(
    expectation: str, chunked: Callable[[str], list[str]]
) -> None:
    """Each row of other parsers' suites is as expected, or listed with a reason."""
    wrong = []
    for row in PEER_ROWS:
        if row["safe_policy_expectation"] != expectation:
            continue
        name, value = peer_outcome(row["input"], chunked)
        wanted = DISAGREEMENTS.get(row["id"], (expectation, ""))[0]
        # No document at all is an error of its own here, and a syntax error there.
        same = name == wanted or (wanted == "syntax_error" and name == "no_json")
        if same and name == "value" and row.get("value_json") is not None:
            same = value == json.loads(row["value_json"])
        if not same:
            wrong.append((row["id"], name, row["input"][:60]))

    assert wrong == []


def test_what_must_raise_raises(chunked: Callable[[str], list[str]]) -> None:
    """No row that must raise comes back as a value."""
    silent = [
        row["id"]
        for row in PEER_ROWS
        if row["must_raise"]
        and row["id"] not in DISAGREEMENTS
        and peer_outcome(row["input"], chunked)[0] == "value"
    ]

    assert silent == []


def test_disagreements_are_needed() -> None:
    """Each listed disagreement still is one."""
    expected = {row["id"]: row["safe_policy_expectation"] for row in PEER_ROWS}

    assert [
        name for name, (ours, _) in DISAGREEMENTS.items() if expected[name] == ours
    ] == []


# --------------------------------------------------------------------------- vectors


def vectors(prefix: str) -> list[Any]:
    folder = FOLDER / "vectors" / "json_test_suite"
    return [
        pytest.param(path, id=path.stem) for path in sorted(folder.glob(f"{prefix}*"))
    ]


@pytest.mark.parametrize("path", vectors("y_"))
def test_valid_json_reads_as_json_loads_reads_it(
    path: Path, chunked: Callable[[str], list[str]]
) -> None:
    """Each valid text gives what json.loads gives, but for duplicate keys."""
    text = path.read_text("utf-8")
    for policy in (FixPolicy.STRICT, FixPolicy.SYNTAX_SAFE):
        outcome, _, _ = read(chunked(text), "stop", None, policy=policy)
        if "duplicated_key" in path.stem:
            assert type(outcome) is DuplicateKeyError
            continue
        assert repr(outcome) == repr(json.loads(text))
        assert repr(loads(text, policy=policy)) == repr(json.loads(text))


@pytest.mark.parametrize("path", vectors("n_"))
def test_invalid_json_is_refused_under_the_strict_policy(
    path: Path, chunked: Callable[[str], list[str]]
) -> None:
    """Each invalid text is one of our errors when no fix is permitted."""
    text = path.read_bytes().decode("utf-8", "replace")
    outcome, _, _ = read(chunked(text), "stop", None, policy=FixPolicy.STRICT)

    assert isinstance(outcome, PartialOutputError)
    with pytest.raises(PartialOutputError):
        loads(text, policy=FixPolicy.STRICT)


@pytest.mark.parametrize("path", vectors("i_"))
def test_texts_that_parsers_may_read_or_refuse_crash_nothing(
    path: Path, chunked: Callable[[str], list[str]]
) -> None:
    """A text on which the RFC leaves a choice is a value or one of our errors."""
    text = path.read_bytes().decode("utf-8", "replace")
    read(chunked(text), "stop", None)


# ------------------------------------------------------------------- recorded streams

TEXT_KINDS = {
    *("json_mode", "json_schema", "text_json", "text_json_fenced", "reasoning+json"),
    *("text_json_in_prose", "text_json_special_token"),
}
CUT_KINDS = {"length_truncated_text", "length_truncated_json", "length_before_output"}
# Written as invalid by those who recorded them, and what they are here.
INVALID = {
    "bedrock_converse_text_json_invalid_x": NoJSONFoundError,
    "ollama_chat_text_json_invalid_llama3_2_3b_instruct_fp16_2": MalformedOutputError,
    # It holds the same object twice.
    "openai_chat_text_json_invalid_gpt_4o": None,
}
# Its text breaks the grammar before it is cut: a key without quotes.
CUT_AND_MALFORMED = "mistral_chat_length_truncated_json_codestral"


def recordings(kinds: set[str]) -> Iterator[Any]:
    for path in sorted((FOLDER / "streams" / "data").glob("*.json")):
        recorded = json.loads(path.read_text("utf-8"))
        if recorded["kind"] in kinds:
            yield pytest.param(recorded, id=path.stem)


@pytest.mark.parametrize("recorded", list(recordings(TEXT_KINDS)))
def test_a_whole_recording_gives_its_value(recorded: dict[str, Any]) -> None:
    """A recorded answer, by its own chunks, gives the value that it holds."""
    outcome, _, _ = read(recorded["chunks"], recorded["finish_reason"], None)

    assert not isinstance(outcome, Exception), outcome
    if recorded["json_valid"]:
        assert outcome == json.loads(recorded["json_text"])


@pytest.mark.parametrize("recorded", list(recordings(CUT_KINDS)))
def test_a_cut_recording_is_loud(
    recorded: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """A recorded answer that was cut raises truncation."""
    outcome, _, _ = read(recorded["chunks"], recorded["finish_reason"], None)

    if CUT_AND_MALFORMED in request.node.name:
        assert type(outcome) is MalformedOutputError
        return
    assert type(outcome) is TruncatedOutputError


@pytest.mark.parametrize("recorded", list(recordings({"text_json_invalid"})))
def test_an_invalid_recording_is_loud(
    recorded: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """A recorded answer that is no valid JSON raises, but for a repeated document."""
    outcome, _, report = read(recorded["chunks"], recorded["finish_reason"], None)

    name = request.node.callspec.id
    expected = INVALID[name]
    if expected is None:
        assert "repeated_document" in {fix.kind.value for fix in report.fixes}
        return
    assert type(outcome) is expected


@pytest.mark.parametrize("recorded", list(recordings({"refusal"})))
def test_a_recorded_refusal_is_named(recorded: dict[str, Any]) -> None:
    """A recorded refusal raises as one, whatever finish reason came with it."""
    refusal = recorded.get("refusal_text") or None
    outcome, _, _ = read(recorded["chunks"], recorded["finish_reason"], refusal)

    assert type(outcome) is RefusedOutputError


@pytest.mark.parametrize("recorded", list(recordings({"content_filter"})))
def test_a_recorded_filter_is_named(recorded: dict[str, Any]) -> None:
    """A recorded answer that a filter replaced raises as one."""
    outcome, _, _ = read(recorded["chunks"], recorded["finish_reason"], None)

    assert type(outcome) is ContentFilteredError
