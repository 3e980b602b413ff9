"""Closing what feeds a parser, so that a stream that nobody reads stops the model.

LangChain drains the input of a parser that is closed, and hands the parser a copy
(`itertools.tee`) on which ``close`` does nothing. So the outer input is wrapped: once
the wrapper is closed it ends at once, and with it the draining.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, Generic, TypeVar

_Item = TypeVar("_Item")


class Upstream(Generic[_Item]):
    """An iterator that can be closed, whatever it iterates over."""

    def __init__(self, source: Iterator[_Item]) -> None:
        self._source = source
        # A generator hands items on faster than a `__next__` of ours.
        self._items = self._run()
        self._is_closed = False

    def _run(self) -> Iterator[_Item]:
        # Not `yield from`: that would close the source a second time.
        for item in self._source:  # noqa: UP028 - see above
            yield item

    def __iter__(self) -> Iterator[_Item]:
        return self._items

    def __next__(self) -> _Item:
        return next(self._items)

    def close(self) -> None:
        """Close the source, once; from here on there are no more items."""
        if self._is_closed:
            return
        self._is_closed = True
        self._items.close()  # type: ignore[attr-defined]  # it is a generator
        close = getattr(self._source, "close", None)
        if close is not None:
            close()


async def close_once(generator: Any) -> None:
    """Close an asynchronous generator, unless somebody else does.

    When an event loop ends it closes all generators at the same time, outer and inner
    ones; two closings of one generator are an error. So the others go first.
    """
    await asyncio.sleep(0)
    if not getattr(generator, "ag_running", False):
        await generator.aclose()


class ClosingOnce:
    """What `contextlib.aclosing` is, with `close_once`."""

    __slots__ = ("_generator",)

    def __init__(self, generator: AsyncIterator[object]) -> None:
        self._generator = generator

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_raised: object) -> None:
        await close_once(self._generator)


class AsyncUpstream(Generic[_Item]):
    """The same for an asynchronous iterator."""

    def __init__(self, source: AsyncIterator[_Item]) -> None:
        self._source = source
        self._is_closed = False

    def __aiter__(self) -> AsyncUpstream[_Item]:
        return self

    async def __anext__(self) -> _Item:
        if self._is_closed:
            raise StopAsyncIteration
        return await anext(self._source)

    async def aclose(self) -> None:
        """Close the source, once, even when the task is being cancelled.

        Under a cancelled scope an ordinary ``await`` is cancelled itself, and the
        connection would stay open. So the closing is a task of its own: a cancelled
        caller does not wait for it, and it goes on.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if not hasattr(self._source, "aclose"):
            return
        closing = asyncio.ensure_future(close_once(self._source))
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            closing.add_done_callback(_forget)
            raise


def _forget(closing: asyncio.Future[None]) -> None:
    """Read the outcome of a closing that nobody waits for any more."""
    if not closing.cancelled():
        closing.exception()
