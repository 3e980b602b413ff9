"""G10: an aborted or abandoned stream stops the model, with a real client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableGenerator, RunnablePassthrough
from langchain_openai import ChatOpenAI
from loopback import Exchange, LoopbackServer, Script

from langchain_partial import SafePartialParser
from partial_json_core import MalformedOutputError, PartialDict

ROWS = [{"id": i, "amount": i * 12.5, "reason": f"row {i}"} for i in range(12)]
ANSWER = json.dumps({"rows": ROWS})
BROKEN = ANSWER[:80] + " oops " + ANSWER[80:]
# After a break at the 8th snapshot no more than this of the 140 events may be sent:
# what the client has buffered, and one read ahead.
MOST_SENT = 40


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A model that writes 200 tokens a second."""
    with LoopbackServer(Script(ANSWER, tokens_per_second=200)) as running:
        yield running


def chain(server: LoopbackServer) -> Any:
    """A real client with the parser behind it."""
    llm = ChatOpenAI(base_url=server.url, api_key="x", model="script", max_retries=0)
    return llm | SafePartialParser()


def stopped(server: LoopbackServer) -> Exchange:
    """The exchange, once the server has noticed."""
    exchange = server.last()
    assert exchange.total >= 140
    assert exchange.disconnected
    assert exchange.sent <= MOST_SENT
    return exchange


async def astopped(server: LoopbackServer) -> None:
    """The same, without blocking the event loop that has to close the socket."""
    await asyncio.to_thread(stopped, server)


def test_leaving_the_loop_stops_the_model(server: LoopbackServer) -> None:
    """A `break` closes the connection."""
    for count, _ in enumerate(chain(server).stream("go"), start=1):
        if count == 8:
            break

    stopped(server)


def test_closing_the_stream_stops_the_model(server: LoopbackServer) -> None:
    """`close` on the stream closes the connection at once."""
    stream = chain(server).stream("go")
    for _ in range(8):
        next(stream)
    stream.close()

    stopped(server)


def test_an_error_stops_the_model_while_it_is_held(server: LoopbackServer) -> None:
    """An answer that cannot become valid closes the connection, error kept or not."""
    server.script = Script(BROKEN, tokens_per_second=200)
    with pytest.raises(MalformedOutputError) as held:
        list(chain(server).stream("go"))

    stopped(server)
    assert held.value.offset == 81


def test_an_error_of_a_later_step_stops_the_model(server: LoopbackServer) -> None:
    """A step behind the parser that raises closes the connection."""

    def fail(items: Iterator[Any]) -> Iterator[Any]:
        for count, item in enumerate(items, start=1):
            if count == 8:
                raise KeyError(count)
            yield item

    with pytest.raises(KeyError):
        list((chain(server) | RunnableGenerator(fail)).stream("go"))

    stopped(server)


def test_a_stopped_run_ends_for_the_callbacks(server: LoopbackServer) -> None:
    """Callbacks see the end of a run that is closed, with what there was."""
    ends: list[Any] = []

    class Recorder(BaseCallbackHandler):
        def on_chain_end(self, outputs: Any, **_: Any) -> None:
            ends.append(outputs)

    stream = chain(server).stream("go", {"callbacks": [Recorder()]})
    for _ in range(8):
        next(stream)
    stream.close()

    stopped(server)
    assert any(isinstance(outputs, PartialDict) for outputs in ends)


async def read_eight(server: LoopbackServer, *behind: Any) -> None:
    """Read eight snapshots, then leave the loop without another word."""
    whole = chain(server)
    for step in behind:
        whole |= step
    count = 0
    async for _ in whole.astream("go"):
        count += 1
        if count == 8:
            break


async def test_leaving_an_async_loop_stops_the_model(server: LoopbackServer) -> None:
    """A `break` in an asynchronous loop closes the connection."""
    await read_eight(server)

    await astopped(server)


async def test_an_async_step_behind_changes_nothing(server: LoopbackServer) -> None:
    """Leaving the loop reaches the model through later asynchronous steps."""
    await read_eight(server, RunnablePassthrough())

    await astopped(server)


async def test_closing_an_async_stream_stops_the_model(server: LoopbackServer) -> None:
    """`aclose` on the stream closes the connection at once."""
    stream: Any = chain(server).astream("go")
    for _ in range(8):
        await anext(stream)
    await stream.aclose()

    await astopped(server)


async def test_a_cancelled_scope_stops_the_model(server: LoopbackServer) -> None:
    """A cancel scope, which cancels each `await` in it, closes the connection."""
    count = 0
    with anyio.CancelScope() as scope:
        async for _ in chain(server).astream("go"):
            count += 1
            if count == 8:
                scope.cancel()
            await asyncio.sleep(0)

    assert scope.cancelled_caught
    await astopped(server)


async def test_cancelling_between_snapshots_stops_the_model(
    server: LoopbackServer,
) -> None:
    """A task that is cancelled while it handles a snapshot closes the connection."""
    seen = asyncio.Event()

    async def read() -> None:
        async for _ in chain(server).astream("go"):
            seen.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(read())
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await astopped(server)


async def test_an_async_error_stops_the_model(server: LoopbackServer) -> None:
    """An error in an asynchronous stream closes the connection."""
    server.script = Script(BROKEN, tokens_per_second=200)
    with pytest.raises(MalformedOutputError):
        async for _ in chain(server).astream("go"):
            pass

    await astopped(server)


@pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="there LangChain runs each step of a stream in a task of its own, and leaves "
    "the steps below a cancelled one to the garbage collector",
)
async def test_cancelling_the_task_stops_the_model(server: LoopbackServer) -> None:
    """A cancelled task closes the connection."""
    seen = asyncio.Event()

    async def read() -> None:
        count = 0
        async for _ in chain(server).astream("go"):
            count += 1
            if count == 8:
                seen.set()

    task = asyncio.create_task(read())
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await astopped(server)


def test_a_whole_stream_is_read_to_its_end(server: LoopbackServer) -> None:
    """Nothing is closed early when the answer is read to its end."""
    server.script = Script(ANSWER)
    *_, value = chain(server).stream("go")

    assert value == {"rows": ROWS}
    exchange = server.last()
    assert not exchange.disconnected
    assert exchange.sent == exchange.total


ABANDONED = """
import asyncio, logging
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_partial import SafePartialParser

def chain():
    text = '{"x": 12, "s": "hello a b c d e f g"}'
    llm = GenericFakeChatModel(messages=iter([AIMessage(text)]))
    return llm | SafePartialParser()

async def leave():
    async for _ in chain().astream(""):
        break

async def cancel():
    async def run():
        async for _ in chain().astream(""):
            await asyncio.sleep(3)
    task = asyncio.create_task(run())
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.wait([task])

for way in (leave, cancel):
    asyncio.run(way())
"""


def test_a_loop_that_ends_behind_an_abandoned_stream_is_silent() -> None:
    """Generators that the ending loop closes all at once do not get in each other's way."""
    done = subprocess.run(
        [sys.executable, "-c", ABANDONED], capture_output=True, check=True, text=True
    )
    assert done.stderr == ""
