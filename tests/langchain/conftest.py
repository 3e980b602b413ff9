"""A chat model that says what it was given, chunk by chunk."""

# ruff: noqa: ARG002 - the base class names the arguments

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from support import astreamed, streamed

Say = Callable[..., BaseChatModel]


class ScriptedModel(BaseChatModel):
    """Streams its chunks, and answers with their text when it is invoked."""

    chunks: list[AIMessageChunk]
    metadata_at_end: dict[str, Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = AIMessage(
            content="".join(chunk.text for chunk in self.chunks),
            response_metadata=self.metadata_at_end,
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self.chunks:
            yield ChatGenerationChunk(message=chunk)


@pytest.fixture
def say() -> Say:
    """Make a model from texts and the reason for which it ends."""

    def make(
        *texts: str, reason: str | None = "stop", chunks: Sequence[AIMessageChunk] = ()
    ) -> BaseChatModel:
        metadata = {} if reason is None else {"finish_reason": reason}
        end = AIMessageChunk(content="", response_metadata=metadata)
        said = [AIMessageChunk(content=text) for text in texts]
        return ScriptedModel(chunks=[*said, *chunks, end], metadata_at_end=metadata)

    return make


@pytest.fixture(params=[streamed, astreamed], ids=["sync", "async"])
def stream(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """Both ways of reading a stream of chunks."""
    read: Callable[..., list[Any]] = request.param
    return read
