from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from partial_json_core import (
    MalformedOutputError,
    SchemaMismatchError,
    TruncatedOutputError,
    aiter_partial,
    iter_partial,
    loads,
)


class Pay(BaseModel):
    payee: str
    amount: int


class Source:
    """Chunks that know whether they were closed."""

    def __init__(self, chunks: list[str]) -> None:
        self.chunks = iter(chunks)
        self.closed = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self.chunks)

    def close(self) -> None:
        self.closed += 1

    def __aiter__(self) -> AsyncIterator[str]:
        return self  # type: ignore[return-value]  # it has __anext__

    async def __anext__(self) -> str:
        for chunk in self.chunks:
            return chunk
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed += 1


CHUNKS = ['{"payee": "A', "nn", '", "amount": 1', "0", "0}"]
LAST = {"payee": "Ann", "amount": 100}
SHOWN = [{"payee": "A"}, {"payee": "Ann"}, {"payee": "Ann"}]


def test_snapshots_come_when_something_changed(chunked: Callable[..., Any]) -> None:
    """Each item shows more than the one before; the last is the model."""
    *shown, value = iter_partial(CHUNKS, Pay)

    assert [item.model_dump() for item in shown] == [*SHOWN, LAST]
    assert list(iter_partial(CHUNKS)) == [*SHOWN, LAST, LAST]
    assert value == Pay(payee="Ann", amount=100)


async def test_the_asynchronous_driver_does_the_same() -> None:
    """The same items come from an asynchronous source."""
    *shown, value = [item async for item in aiter_partial(Source(CHUNKS), Pay)]

    assert [item.model_dump() for item in shown] == [*SHOWN, LAST]
    assert value == Pay(payee="Ann", amount=100)


def test_the_reason_may_be_asked_for_at_the_end() -> None:
    """A function tells the finish reason once the chunks have ended."""
    asked = []

    def reason() -> str:
        asked.append(True)
        return "length"

    stream = iter_partial(CHUNKS[:3], finish_reason=reason)
    assert next(stream) == {"payee": "A"}
    assert not asked
    with pytest.raises(TruncatedOutputError, match="finish_reason='length'"):
        list(stream)


def test_the_source_is_closed_however_it_ends() -> None:
    """The source is closed at the end, on an error, and when the loop is left."""
    whole, broken, left = Source(CHUNKS), Source(['{"a": ?']), Source(CHUNKS)
    list(iter_partial(whole))
    with pytest.raises(MalformedOutputError):
        list(iter_partial(broken))
    stream = iter_partial(left)
    next(stream)
    stream.close()  # type: ignore[attr-defined]  # it is a generator

    assert (whole.closed, broken.closed, left.closed) == (1, 1, 1)
    assert list(iter_partial(iter(["[1]"]))) == [[1], [1]]


async def test_an_asynchronous_source_is_closed_too() -> None:
    """The same holds for an asynchronous source."""
    whole, left = Source(CHUNKS), Source(CHUNKS)
    async for _ in aiter_partial(whole):
        pass
    stream = aiter_partial(left)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]  # it is a generator

    assert (whole.closed, left.closed) == (1, 1)


def test_a_number_needs_a_normal_stop() -> None:
    """A bare number may have been cut unless the end was normal."""
    assert loads("12") == 12
    assert list(iter_partial(["1", "2"], int, finish_reason="stop")) == [12]
    with pytest.raises(TruncatedOutputError):
        list(iter_partial(["1", "2"], int))
    with pytest.raises(TruncatedOutputError):
        loads("12", finish_reason="length")


def test_loads_reads_a_whole_text() -> None:
    """`loads` gives the value or the error of the parser."""
    assert loads('So: {"payee": "A", "amount": 1}', Pay) == Pay(payee="A", amount=1)
    with pytest.raises(SchemaMismatchError) as caught:
        loads('{"payee": "A", "amount": "x"}', Pay)
    assert caught.value.report.chars == 29
