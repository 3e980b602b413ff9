"""What every parser here has in common: its stream stops the model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any, Generic, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import Generation
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict

from ._upstream import AsyncUpstream, ClosingOnce, Upstream

_Value = TypeVar("_Value")


class ClosingParser(BaseTransformOutputParser[_Value], Generic[_Value]):
    """A parser that closes what feeds it, however its stream ends.

    A subclass has `parse_result`, `aparse_result`, `_transform` and `_atransform`.
    """

    # The base class ignores unknown names: a misspelt option would be no option.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    def _transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
    ) -> Iterator[_Value]:
        raise NotImplementedError

    async def _atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002, ARG002 - as above
        config: RunnableConfig | None = None,  # noqa: ARG002 - as above
    ) -> AsyncIterator[_Value]:
        raise NotImplementedError
        yield  # a generator

    def parse(self, text: str) -> _Value:
        """Read a whole output.

        Raises:
            PartialOutputError: See `partial_json_core.loads`.
        """
        return self.parse_result([Generation(text=text)])

    async def aparse(self, text: str) -> _Value:
        """Read a whole output, without a thread."""
        return await self.aparse_result([Generation(text=text)])

    def transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002 - the base class takes and ignores them too
    ) -> Iterator[Any]:
        """Read a stream of chunks.

        Put the parser last where a ``break`` has to stop the model: synchronous
        LangChain reads the input of each later step to its end when that step is
        closed. Asynchronous streams and errors stop the model through later steps.

        Args:
            input: What the model yields.
            config: The configuration of the run.
            **kwargs: Not used.

        Yields:
            Snapshots that changed; the last item is the final value.

        Raises:
            PartialOutputError: As soon as the output cannot become valid, or when it
                ended before it was complete. The model has been stopped.
        """
        upstream = Upstream(iter(input))

        def read_and_close(
            source: Iterator[str | BaseMessage],
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 - comes with it
            config: RunnableConfig,
        ) -> Iterator[Any]:
            with closing(upstream):
                yield from self._transform(source, config)

        items = self._transform_stream_with_config(
            upstream, read_and_close, config, run_type="parser"
        )
        # In this order: the upstream has ended by the time that LangChain drains it.
        with closing(items), closing(upstream):  # type: ignore[type-var]  # a generator
            # Not `yield from`: GeneratorExit must reach this frame first.
            for item in items:  # noqa: UP028 - see above
                yield item

    async def atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002 - the base class takes and ignores them too
    ) -> AsyncIterator[Any]:
        """Read an asynchronous stream of chunks; see `transform`."""
        upstream = AsyncUpstream(aiter(input))

        async def read_and_close(
            source: AsyncIterator[str | BaseMessage],
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 - as above
            config: RunnableConfig,
        ) -> AsyncIterator[Any]:
            async for item in self._atransform(source, config):
                yield item
            # After an early exit LangChain would read the rest. An abandoned stream is
            # closed below, and not here: when an event loop ends it closes this
            # generator and those around it at the same time, which goes well only if
            # it takes no time.
            await upstream.aclose()

        items = self._atransform_stream_with_config(
            upstream, read_and_close, config, run_type="parser"
        )
        async with ClosingOnce(items), aclosing(upstream):
            async for item in items:
                yield item
