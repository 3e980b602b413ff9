"""Tests of `langchain_partial._messages`."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, Generation

from langchain_partial._messages import Piece, read, read_generation
from partial_json_core import FinishReason


def reasons(metadata: dict[str, Any]) -> tuple[Any, ...]:
    """The reasons that a chunk with this metadata names."""
    return read(AIMessageChunk("", response_metadata=metadata)).finish_reasons


def test_text_content_is_text() -> None:
    """String content is the text of a chunk."""
    assert read(AIMessageChunk("abc")) == Piece("abc")


def test_none_is_an_empty_chunk() -> None:
    """None adds nothing."""
    assert read(None) == Piece("")


@pytest.mark.parametrize("cls", [AIMessage, AIMessageChunk, HumanMessage])
def test_blocks_give_their_text_only(cls: type[Any]) -> None:
    """Text blocks are read; reasoning and other blocks are not."""
    message = cls(
        [
            {"type": "reasoning", "reasoning": "{think}"},
            {"type": "thinking", "thinking": "{think}"},
            {"type": "text", "text": '{"a"'},
            ": 1",
            {"type": "text", "text": "}", "index": 0},
            {"type": "text", "annotations": []},
            {"type": "tool_use", "name": "f", "input": {"a": 2}},
        ]
    )

    assert read(message).text == '{"a": 1}'


def test_anything_else_is_misuse() -> None:
    """A dict is no message; the sentence says what to do."""
    with pytest.raises(TypeError) as caught:
        read({"content": "a"})
    assert str(caught.value) == (
        "a parser reads strings and messages, got dict: put it directly behind the model"
    )


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"finish_reason": "stop"}, FinishReason.STOP),
        ({"finish_reason": "length"}, FinishReason.LENGTH),
        ({"stop_reason": "max_tokens"}, FinishReason.LENGTH),
        ({"stop_reason": "end_turn", "stop_sequence": None}, FinishReason.STOP),
        ({"stop_reason": "pause_turn"}, FinishReason.PAUSED),
        ({"finish_reason": "MAX_TOKENS", "safety_ratings": []}, FinishReason.LENGTH),
        ({"finish_reason": "SAFETY"}, FinishReason.CONTENT_FILTER),
        ({"prompt_feedback": {"block_reason": "SAFETY"}}, FinishReason.CONTENT_FILTER),
        ({"done_reason": "length", "done": True}, FinishReason.LENGTH),
        ({"stopReason": "guardrail_intervened"}, FinishReason.CONTENT_FILTER),
        ({"messageStop": {"stopReason": "max_tokens"}}, FinishReason.LENGTH),
        ({"finish_reason": "COMPLETE"}, FinishReason.STOP),
        ({"finish_reason": "model_length"}, FinishReason.LENGTH),
        (
            {"finish_reason": "tool_calls", "native_finish_reason": "max_tokens"},
            FinishReason.LENGTH,
        ),
        ({"status": "completed", "incomplete_details": None}, FinishReason.STOP),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            },
            FinishReason.LENGTH,
        ),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "content_filter"},
            },
            FinishReason.CONTENT_FILTER,
        ),
        ({"status": "failed"}, FinishReason.ERROR),
    ],
    ids=str,
)
def test_reasons_are_found_where_providers_put_them(
    metadata: dict[str, Any], expected: FinishReason
) -> None:
    """Each provider's key is read, and the spelling is left to the core."""
    assert FinishReason.parse(reasons(metadata)) is expected


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"finish_reason": None},
        {"stop_reason": ""},
        {"status": None},
        {"messageStop": None},
        {"messageStop": {}},
        {"prompt_feedback": {"block_reason": 0}},
        {"model_name": "m"},
    ],
    ids=str,
)
def test_no_reason_is_no_reason(metadata: dict[str, Any]) -> None:
    """Empty values and other keys name no reason."""
    assert reasons(metadata) == ()


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        (AIMessage("", additional_kwargs={"refusal": "I cannot"}), "I cannot"),
        (AIMessage("", additional_kwargs={"refusal": None}), None),
        (AIMessage("", additional_kwargs={"refusal": ""}), None),
        (AIMessage([{"type": "refusal", "refusal": "No"}]), "No"),
        (
            AIMessage(
                [{"type": "refusal", "refusal": "No"}, {"type": "refusal", "index": 1}]
            ),
            "No",
        ),
        (AIMessage([{"type": "refusal", "refusal": None}]), ""),
        (
            AIMessage(
                [
                    {
                        "type": "non_standard",
                        "value": {"type": "refusal", "refusal": "No"},
                    }
                ]
            ),
            "No",
        ),
        (AIMessage([{"type": "non_standard", "value": None}]), None),
        (AIMessage(["text", {"type": "text", "text": "a"}]), None),
        (
            AIMessage(
                [],
                response_metadata={
                    "stop_details": {
                        "type": "refusal",
                        "category": "cyber",
                        "explanation": "harm",
                    }
                },
            ),
            "cyber: harm",
        ),
        (AIMessage("", response_metadata={"stop_details": {"type": "refusal"}}), ""),
        (AIMessage("", response_metadata={"stop_details": {"type": "other"}}), None),
    ],
    ids=[
        *("openai", "openai-null", "openai-empty", "block", "two-blocks"),
        *("block-null", "wrapped", "wrapped-nothing", "no-block"),
        *("anthropic", "anthropic-null", "anthropic-other"),
    ],
)
def test_refusals_are_found_where_providers_put_them(
    message: AIMessage, refusal: str | None
) -> None:
    """A refusal is text beside the answer, a block, or a detail of the stop."""
    assert read(message).refusal == refusal


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]),
        AIMessageChunk(
            "", tool_call_chunks=[{"name": "f", "args": "", "id": "1", "index": 0}]
        ),
    ],
    ids=["message", "chunk"],
)
def test_tool_calls_are_noticed(message: AIMessage) -> None:
    """The parts of tool calls are taken from chunks and from whole messages."""
    assert len(read(message).calls) == 1


def test_a_plain_generation_is_whole() -> None:
    """A completion without a reason counts as a normal stop."""
    assert read_generation(Generation(text="1")) == Piece("1", ("stop",))


def test_generation_info_names_reasons() -> None:
    """The reason may stand beside the text or the message."""
    info = {"finish_reason": "length"}
    plain = Generation(text="1", generation_info=info)
    chat = ChatGeneration(
        message=AIMessage("1", response_metadata={"stop_reason": "end_turn"}),
        generation_info=info,
    )

    assert read_generation(plain).finish_reasons == ("length",)
    assert read_generation(chat).finish_reasons == ("end_turn", "length")
