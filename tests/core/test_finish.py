from __future__ import annotations

import json
import re
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from partial_json_core import FinishReason

# The table of providers' API references, written out.
SPELLINGS = {
    FinishReason.STOP: (
        "stop eos end_turn stop_sequence completed STOP COMPLETE STOP_SEQUENCE 1"
    ),
    FinishReason.TOOL_CALLS: "tool_calls function_call tool_use TOOL_CALL",
    FinishReason.LENGTH: (
        "length max_tokens model_context_window_exceeded MAX_TOKENS model_length "
        "max_output_tokens incomplete 2"
    ),
    FinishReason.CONTENT_FILTER: (
        "content_filter SAFETY BLOCKLIST PROHIBITED_CONTENT RECITATION SPII LANGUAGE "
        "OTHER MODEL_ARMOR guardrail_intervened content_filtered "
        "promptFeedback.blockReason=SAFETY blockReason=SAFETY"
    ),
    FinishReason.REFUSAL: "refusal",
    FinishReason.PAUSED: "pause_turn compaction",
    FinishReason.ERROR: (
        "failed cancelled MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL error TIMEOUT "
        "malformed_model_output malformed_tool_use ERROR"
    ),
}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [(raw, reason) for reason, names in SPELLINGS.items() for raw in names.split()],
)
def test_each_providers_spelling_is_known(raw: str, reason: FinishReason) -> None:
    """A spelling of a provider's reference has its reason."""
    assert FinishReason.parse(raw) is reason


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stopstop", FinishReason.STOP),
        ("tool_callstool_calls", FinishReason.TOOL_CALLS),
        ("lengthstop", FinishReason.LENGTH),
        ("stopcontent_filter", FinishReason.CONTENT_FILTER),
        ("end_turnend_turn", FinishReason.STOP),
    ],
)
def test_merged_spellings_count_as_the_worst(raw: str, reason: FinishReason) -> None:
    """Spellings that merged chunks have joined are taken apart."""
    assert FinishReason.parse(raw) is reason


class Google(Enum):
    MAX_TOKENS = 2


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, FinishReason.NONE),
        ("", FinishReason.NONE),
        (FinishReason.LENGTH, FinishReason.LENGTH),
        (Google.MAX_TOKENS, FinishReason.LENGTH),
        ("FinishReason.MAX_TOKENS", FinishReason.LENGTH),
        (2, FinishReason.LENGTH),
        (["STOP", "RECITATION"], FinishReason.CONTENT_FILTER),
        ([], FinishReason.UNKNOWN),
        ({"status": "completed", "incomplete_details": None}, FinishReason.STOP),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
            },
            FinishReason.CONTENT_FILTER,
        ),
        ({"status": "incomplete"}, FinishReason.LENGTH),
        ({"status": "in_progress"}, FinishReason.PAUSED),
        ({"status": "queued"}, FinishReason.PAUSED),
        ({"status": "failed", "incomplete_reason": None}, FinishReason.ERROR),
        ({}, FinishReason.NONE),
        ("FAKE_ENUM", FinishReason.UNKNOWN),
        ("x" * 1000, FinishReason.UNKNOWN),
        ("stop it", FinishReason.UNKNOWN),
    ],
)
def test_other_forms_are_read(raw: Any, reason: FinishReason) -> None:
    """Enums, codes, lists and status objects are read; what is unknown stays so."""
    assert FinishReason.parse(raw) is reason


def test_only_a_stop_and_tool_calls_are_normal() -> None:
    """Nothing but a stop or tool calls counts as the model's own end."""
    assert [reason.name for reason in FinishReason if reason.is_normal] == [
        "STOP",
        "TOOL_CALLS",
    ]


def test_every_recorded_reason_is_classified(shared: Path) -> None:
    """Of all reasons seen in recordings only the invented ones are unknown."""
    streamed = json.loads(
        (shared / "streams" / "finish_reasons_streamed.json").read_text()
    )
    plain = json.loads(
        (shared / "streams" / "finish_reasons_nonstreamed.json").read_text()
    )
    seen = {raw for counts in streamed.values() for raw in counts}
    seen |= {row["finish"] for row in plain}
    # The list joins what stood in several fields with `+` and `~native=`.
    parts = {part for raw in seen for part in re.split(r"~native=|\+", raw)}
    unknown = set()
    for part in parts - {"<none>", "None"}:
        status = part.strip("()").replace("'", "").replace(", ", "/").split("/")
        form: Any = part
        if len(status) == 2:
            reason = None if status[1] == "None" else status[1]
            form = {"status": status[0], "incomplete_details": {"reason": reason}}
        if FinishReason.parse(form) is FinishReason.UNKNOWN:
            unknown.add(part)

    invented = {"custom"}
    assert {part for part in unknown if "FAKE" not in part} == invented
