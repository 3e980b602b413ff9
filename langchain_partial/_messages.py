"""What a chunk or a message says: text, finish reason, refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, Generation

from ._calls import Fragment, fragments

# Where the providers put the reason in `response_metadata`; OpenRouter says `length` in
# `native_finish_reason` only, beside a `finish_reason` of `tool_calls`.
_REASON_KEYS: Final = (
    *("native_finish_reason", "finish_reason", "stop_reason", "done_reason"),
    "stopReason",
)


class Piece(NamedTuple):
    """What one chunk or message adds.

    Attributes:
        text: The characters that belong to the answer; no reasoning, no tool calls.
        finish_reasons: The finish reasons it names, as the provider spells them.
        refusal: The refusal text, or None.
        calls: The parts of tool calls that it carries.
    """

    text: str
    finish_reasons: tuple[Any, ...] = ()
    refusal: str | None = None
    calls: Sequence[Fragment] = ()


def read(chunk: object) -> Piece:
    """Take apart what a model yields beside strings: a message or a message chunk.

    None stands for a chunk in which there is nothing.

    Raises:
        TypeError: `chunk` is something else.
    """
    if isinstance(chunk, BaseMessage):
        return _read_message(chunk)
    if chunk is None:
        return Piece("")
    raise TypeError(
        f"a parser reads strings and messages, got {type(chunk).__name__}: put it "
        f"directly behind the model"
    )


def read_generation(generation: Generation) -> Piece:
    """Take apart a whole result.

    A plain text has no finish reason of its own; it is taken for whole.
    """
    reasons = _finish_reasons(generation.generation_info or {})
    if not isinstance(generation, ChatGeneration):
        return Piece(generation.text, reasons or ("stop",))
    piece = _read_message(generation.message)
    return piece._replace(finish_reasons=piece.finish_reasons + reasons)


def _read_message(message: BaseMessage) -> Piece:
    metadata = message.response_metadata
    content = message.content
    # `text` leaves out reasoning and tool calls; for a string it only makes a copy.
    return Piece(
        content if isinstance(content, str) else str(message.text),
        _finish_reasons(metadata) if metadata else (),
        _refusal(message),
        fragments(message),
    )


def _finish_reasons(metadata: Mapping[str, Any]) -> tuple[Any, ...]:
    found = [metadata[key] for key in _REASON_KEYS if metadata.get(key)]
    if metadata.get("status"):
        # The OpenAI responses API: the status, and why it is incomplete.
        keys = ("status", "incomplete_details")
        found.append({key: metadata.get(key) for key in keys})
    # Bedrock streams the reason in an event, Google blocks a prompt with one.
    for outer, inner in (
        ("messageStop", "stopReason"),
        ("prompt_feedback", "block_reason"),
    ):
        nested = metadata.get(outer)
        if isinstance(nested, Mapping) and nested.get(inner):
            found.append(nested[inner])
    return tuple(found)


def _refusal(message: BaseMessage) -> str | None:
    said = message.additional_kwargs.get("refusal")
    if isinstance(said, str) and said:
        return said
    details = message.response_metadata.get("stop_details")
    if isinstance(details, Mapping) and details.get("type") == "refusal":
        # Anthropic: a category and a sentence, either may be null.
        words = (details.get("category"), details.get("explanation"))
        return ": ".join(str(word) for word in words if word)
    if isinstance(message.content, str):
        return None
    parts = [_refusal_of_block(block) for block in message.content]
    found = [part for part in parts if part is not None]
    return "".join(found) if found else None


def _refusal_of_block(block: object) -> str | None:
    if not isinstance(block, Mapping):
        return None
    if block.get("type") == "non_standard":
        # Older releases wrap what their standard blocks do not know.
        return _refusal_of_block(block.get("value"))
    return str(block.get("refusal") or "") if block.get("type") == "refusal" else None
