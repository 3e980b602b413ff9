"""What a chunk or a message says: text, finish reason, refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from langchain_core.messages import BaseMessage

# Where the providers put the reason in `response_metadata`; OpenRouter says `length` in
# `native_finish_reason` only, beside a `finish_reason` of `tool_calls`.
_REASON_KEYS: Final = ("native_finish_reason", "finish_reason", "stop_reason")
_OTHER_REASON_KEYS: Final = ("done_reason", "stopReason")


class Piece(NamedTuple):
    """What one chunk or message adds.

    Attributes:
        text: The characters that belong to the answer; no reasoning, no tool calls.
        finish_reasons: The finish reasons it names, as the provider spells them.
        refusal: The refusal text, or None.
        has_tool_calls: It carries tool calls or parts of them.
    """

    text: str
    finish_reasons: tuple[Any, ...] = ()
    refusal: str | None = None
    has_tool_calls: bool = False


def read(chunk: Any) -> Piece:
    """Take apart what a model yields: a string, a message or a message chunk.

    Raises:
        TypeError: `chunk` is none of these.
    """
    if isinstance(chunk, str):
        return Piece(chunk)
    if not isinstance(chunk, BaseMessage):
        raise TypeError(
            f"a parser reads strings and messages, got {type(chunk).__name__}: put it "
            f"directly behind the model"
        )
    metadata = chunk.response_metadata
    return Piece(
        chunk.content if isinstance(chunk.content, str) else str(chunk.text),
        _finish_reasons(metadata) if metadata else (),
        _refusal(chunk),
        bool(
            getattr(chunk, "tool_call_chunks", None)
            or getattr(chunk, "tool_calls", None)
        ),
    )


def _finish_reasons(metadata: Mapping[str, Any]) -> tuple[Any, ...]:
    found = [metadata[key] for key in _REASON_KEYS if metadata.get(key)]
    found += [metadata[key] for key in _OTHER_REASON_KEYS if metadata.get(key)]
    if metadata.get("status"):
        # The OpenAI responses API: the status, and why it is incomplete.
        keys = ("status", "incomplete_details")
        found.append({key: metadata.get(key) for key in keys})
    stop = metadata.get("messageStop")
    if isinstance(stop, Mapping) and stop.get("stopReason"):
        found.append(stop["stopReason"])
    feedback = metadata.get("prompt_feedback")
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):
        found.append(feedback["block_reason"])
    return tuple(found)


def _refusal(chunk: BaseMessage) -> str | None:
    said = chunk.additional_kwargs.get("refusal")
    if isinstance(said, str) and said:
        return said
    if isinstance(chunk.content, str):
        return None
    parts = [
        str(block.get("refusal", ""))
        for block in chunk.content
        if isinstance(block, dict) and block.get("type") == "refusal"
    ]
    return "".join(parts) if parts else None
