"""Tests of `langchain_partial._upstream`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from langchain_partial._upstream import AsyncUpstream, Upstream


def numbers(closed: list[str]) -> Iterator[int]:
    """Counts, and notes when it is closed."""
    try:
        yield from range(3)
    finally:
        closed.append("closed")


async def anumbers(closed: list[str], gate: asyncio.Event) -> AsyncIterator[int]:
    """Counts, and notes when it is closed, which takes until the gate opens."""
    try:
        for number in range(3):
            yield number
    finally:
        await gate.wait()
        closed.append("closed")


def test_it_yields_what_the_source_yields() -> None:
    """Until it is closed it is the source."""
    assert list(Upstream(numbers([]))) == [0, 1, 2]


def test_closing_ends_it_once() -> None:
    """After `close` there are no more items, and the source was closed once."""
    closed: list[str] = []
    upstream = Upstream(numbers(closed))
    next(upstream)
    upstream.close()
    upstream.close()

    assert list(upstream) == []
    assert closed == ["closed"]


def test_a_source_without_close_is_just_left() -> None:
    """An iterator that cannot be closed ends all the same."""
    upstream = Upstream(iter([1, 2]))
    upstream.close()

    assert list(upstream) == []


async def test_the_asynchronous_one_does_the_same() -> None:
    """It yields the source, and closing ends it once."""
    closed: list[str] = []
    gate = asyncio.Event()
    gate.set()
    assert [n async for n in AsyncUpstream(anumbers([], gate))] == [0, 1, 2]
    upstream = AsyncUpstream(anumbers(closed, gate))
    await anext(upstream)
    await upstream.aclose()
    await upstream.aclose()

    assert [n async for n in upstream] == []
    assert closed == ["closed"]


class Bare:
    """An asynchronous iterator that cannot be closed."""

    def __aiter__(self) -> Bare:
        return self

    async def __anext__(self) -> int:
        return 1


async def test_an_asynchronous_source_without_aclose_is_just_left() -> None:
    """An asynchronous iterator that cannot be closed ends all the same."""
    upstream = AsyncUpstream(Bare())
    assert await anext(upstream) == 1
    await upstream.aclose()

    assert [n async for n in upstream] == []


async def test_a_cancelled_caller_does_not_stop_the_closing() -> None:
    """The closing goes on in its own task when its caller is cancelled."""
    closed: list[str] = []
    gate = asyncio.Event()
    upstream = AsyncUpstream(anumbers(closed, gate))
    await anext(upstream)
    task = asyncio.create_task(upstream.aclose())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == []
    gate.set()
    for _ in range(3):
        await asyncio.sleep(0)

    assert closed == ["closed"]


@pytest.mark.parametrize("cancelled", [True, False])
async def test_what_a_forgotten_closing_raises_is_forgotten(cancelled: bool) -> None:
    """Nobody waits any more, so its error or cancellation is read and dropped."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: complaints.append(context)
    )
    started = asyncio.Event()

    class Failing(Bare):
        async def aclose(self) -> None:
            task.cancel()
            closing = asyncio.current_task()
            assert closing is not None
            if cancelled:
                closing.cancel()
            started.set()
            await asyncio.sleep(0)
            raise OSError("gone")

    task = asyncio.create_task(AsyncUpstream(Failing()).aclose())
    await started.wait()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(3):
        await asyncio.sleep(0)

    assert complaints == []
