"""Finish reasons: what providers say about the end of an output, in one vocabulary.

The spellings are those of the providers' API references and of recorded responses:
OpenAI (chat and responses), Anthropic, Google, Bedrock, Cohere, Mistral, Ollama,
OpenRouter and servers that speak the OpenAI protocol. The reason only names the
cause of an end: whether the output is complete is decided by its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

RawFinishReason: TypeAlias = "str | int | Mapping[str, object] | FinishReason | None"


class FinishReason(str, Enum):
    """Why a model stopped writing."""

    NONE = "none"
    """The provider gave no reason; a dropped connection looks like this."""
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    """The token limit or the context window was reached."""
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    PAUSED = "paused"
    """The provider interrupted the turn and expects to go on with it."""
    ERROR = "error"
    UNKNOWN = "unknown"
    """A reason was given that this version does not know; never taken as success."""

    @property
    def is_normal(self) -> bool:
        """Whether the model ended its output by itself."""
        return self is FinishReason.STOP or self is FinishReason.TOOL_CALLS

    @classmethod
    def parse(cls, raw: object) -> FinishReason:
        """Normalise a reason in any provider's spelling.

        Args:
            raw: The value as given: a string in any case, Google's integer codes, a
                list of reasons, a mapping with ``status`` and ``incomplete_details``
                (OpenAI responses), a `FinishReason`, an enum member, or None. A
                string that repeats one spelling (``"stopstop"``, from merged chunks)
                counts once; one that merges several counts as the worst of them.

        Returns:
            The reason; `UNKNOWN` for a value that is not in the tables.
        """
        if isinstance(raw, FinishReason):
            return raw
        if isinstance(raw, Mapping):
            return _parse_mapping(raw)
        if isinstance(raw, list | tuple):
            # Several candidates or choices: the worst of them.
            found = {cls.parse(item) for item in raw}
            return next((r for r in _SEVERITY if r in found), cls.UNKNOWN)
        if isinstance(raw, Enum):
            # google-genai and protobuf enums: the name is the documented spelling.
            return cls.parse(raw.name)
        if raw is None or raw == "":
            return cls.NONE
        return _parse_spelling(str(raw))


_SPELLINGS: Final[dict[FinishReason, tuple[str, ...]]] = {
    FinishReason.NONE: ("none", "null", "finish_reason_unspecified"),
    FinishReason.STOP: (
        *("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"),
        *("completed", "end", "finished", "done", "stop_token", "1"),
    ),
    FinishReason.TOOL_CALLS: (
        *("tool_calls", "tool_call", "tool_use", "function_call"),
        *("function_calls", "requires_action"),
    ),
    FinishReason.LENGTH: (
        *("length", "max_tokens", "max_output_tokens", "max_completion_tokens"),
        *("model_length", "model_context_window_exceeded", "max_length"),
        *("context_length_exceeded", "context_window_exceeded", "token_limit", "2"),
    ),
    FinishReason.CONTENT_FILTER: (
        *("content_filter", "content_filtered", "guardrail_intervened", "safety"),
        *("blocklist", "prohibited_content", "recitation", "spii", "language"),
        *("other", "model_armor", "image_safety", "jailbreak", "error_toxic"),
        *("3", "4", "5", "6", "7", "8", "9"),
    ),
    FinishReason.REFUSAL: ("refusal", "refused"),
    FinishReason.PAUSED: ("pause_turn", "compaction", "paused", "in_progress"),
    FinishReason.ERROR: (
        *("error", "failed", "cancelled", "canceled", "timeout", "user_cancel"),
        *("malformed_function_call", "unexpected_tool_call", "malformed_response"),
        *("malformed_model_output", "malformed_tool_use", "network_error", "abort"),
        *("insufficient_system_resource", "too_many_tool_calls", "error_limit"),
        *("missing_thought_signature", "no_image", "tool_use_failed", "10", "11", "12"),
    ),
}
_REASONS: Final[dict[str, FinishReason]] = {
    spelling: reason for reason, names in _SPELLINGS.items() for spelling in names
}
# From the most to the least telling: what wins when chunks were merged.
_SEVERITY: Final = (
    FinishReason.REFUSAL,
    FinishReason.CONTENT_FILTER,
    FinishReason.LENGTH,
    FinishReason.ERROR,
    FinishReason.PAUSED,
    FinishReason.TOOL_CALLS,
    FinishReason.STOP,
    FinishReason.NONE,
)
_NAMES: Final = sorted(
    (name for name in _REASONS if not name.isdigit()), key=len, reverse=True
)
_ANY_NAME: Final = re.compile("|".join(map(re.escape, _NAMES)))
_MERGED: Final = re.compile(f"(?:(?:{_ANY_NAME.pattern})[|,; ]*)+").fullmatch
# Merged spellings are short; a longer value is not worth searching.
_LONGEST_MERGED: Final = 400
_INCOMPLETE: Final = frozenset({"incomplete", "queued"})


def _parse_spelling(text: str) -> FinishReason:
    # "FinishReason.MAX_TOKENS" is a printed enum, "blockReason=SAFETY" Google's
    # prompt feedback.
    name = text.strip().lower().rsplit(".", 1)[-1].rsplit("=", 1)[-1]
    name = name.replace("-", "_")
    if name in _REASONS:
        return _REASONS[name]
    if name in _INCOMPLETE:
        return FinishReason.LENGTH if name == "incomplete" else FinishReason.PAUSED
    if len(name) <= _LONGEST_MERGED and _MERGED(name):
        found = {_REASONS[part] for part in _ANY_NAME.findall(name)}
        return next(reason for reason in _SEVERITY if reason in found)
    return FinishReason.UNKNOWN


def _parse_mapping(raw: Mapping[str, object]) -> FinishReason:
    """Read the status object of the OpenAI responses API and its relatives."""
    details = raw.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    reason = reason or raw.get("incomplete_reason") or raw.get("reason")
    if reason:
        return FinishReason.parse(reason)
    return FinishReason.parse(raw.get("status"))
