"""Recorded tool calls of all providers, as the chunks that LangChain makes of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from langchain_partial import SafePartialParser, SafePartialToolsParser
from partial_json_core import TruncatedOutputError

FOLDER = Path(
    os.environ.get("PARTIAL_JSON_SHARED", Path(__file__).parents[3] / "shared")
)
OBJECT = {"type": "object"}
# The stream ends without a reason, and its call has no arguments at all.
NO_REASON = {"openai_chat_tools_variant_a.json", "openai_chat_tools_variant_b.json"}


def recordings(kinds: tuple[str, ...]) -> Iterator[Any]:
    for path in sorted((FOLDER / "streams" / "data").glob("*.json")):
        recording = json.loads(path.read_text())
        if recording["kind"] in kinds and not recording.get("chunk_format"):
            yield pytest.param(recording, id=path.stem)


def messages(recording: dict[str, Any]) -> list[AIMessageChunk]:
    """The chunks of a recording: each call is named once, its arguments in pieces."""
    names = recording["tool_calls"]
    named: set[int] = set()
    made = []
    for item in recording["chunks"]:
        index, args = item if isinstance(item, list) else (0, item)
        is_first = index not in named
        named.add(index)
        part = {
            "index": index,
            "id": f"call_{index}" if is_first else None,
            "name": (names[index] or "tool") if is_first else None,
            "args": args,
        }
        made.append(AIMessageChunk("", tool_call_chunks=[part]))
    reason = recording["finish_reason"]
    metadata = {"native_finish_reason": recording.get("native_finish_reason")}
    if isinstance(reason, dict):
        details = {"reason": reason["incomplete_reason"]}
        metadata |= {"status": reason["status"], "incomplete_details": details}
    else:
        metadata["finish_reason"] = reason
    return [*made, AIMessageChunk("", response_metadata=metadata)]


def tools(recording: dict[str, Any]) -> list[dict[str, Any]]:
    names = {name or "tool" for name in recording["tool_calls"]}
    return [
        {
            "type": "function",
            "function": {"name": name, "description": "x", "parameters": OBJECT},
        }
        for name in sorted(names)
    ]


WHOLE = ("tool_call", "tool_call_parallel", "reasoning+tool_call", "server_tool_call")


@pytest.mark.parametrize("recording", list(recordings(WHOLE)))
def test_recorded_calls_come_out_whole(recording: dict[str, Any]) -> None:
    """Each call of a whole recording has the arguments that the provider sent."""
    texts = recording["json_text"]
    listed = [texts] if isinstance(texts, str) else texts
    # Some servers send `null` for no arguments.
    expected = [json.loads(text) or {} for text in listed]
    parser = SafePartialToolsParser(tools(recording))
    *_, found = parser.transform(iter(messages(recording)))

    assert [call.args for call in found] == expected
    assert [call.name for call in found] == [
        n or "tool" for n in recording["tool_calls"]
    ]
    if len(expected) == 1:
        *_, value = SafePartialParser(OBJECT).transform(iter(messages(recording)))
        assert value == expected[0]


@pytest.mark.parametrize("recording", list(recordings(("tool_call_empty_args",))))
def test_recorded_calls_without_arguments_are_empty(recording: dict[str, Any]) -> None:
    """A provider that sends an empty text for no arguments means an empty object."""
    parser = SafePartialToolsParser(tools(recording))
    *_, found = parser.transform(iter(messages(recording)))

    assert [call.args for call in found] == [{}] * len(recording["tool_calls"])


@pytest.mark.parametrize("recording", list(recordings(("length_truncated_tool",))))
def test_recorded_cut_calls_are_loud(recording: dict[str, Any]) -> None:
    """A call that was cut raises, also where the finish reason claims `tool_calls`."""
    for parser in (SafePartialToolsParser(tools(recording)), SafePartialParser(OBJECT)):
        with pytest.raises(TruncatedOutputError) as caught:
            list(parser.transform(iter(messages(recording))))
        assert caught.value.cause.value == "length"
