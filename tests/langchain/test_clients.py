"""Two real clients over real HTTP: whole, cut, refused, dropped, broken and left."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, Script
from pydantic import BaseModel

from langchain_partial import (
    ElementStream,
    LangChainContentFilteredError,
    LangChainRefusedOutputError,
    SafePartialParser,
    SafePartialToolsParser,
    safe_structured_output,
)
from partial_json_core import (
    MalformedOutputError,
    PartialOutputError,
    TruncatedOutputError,
)


class Row(BaseModel):
    """A row."""

    id: int
    reason: str


class Report(BaseModel):
    """A report."""

    rows: list[Row]


VALUE = Report(rows=[Row(id=i, reason=f"row number {i}") for i in range(14)])
TEXT = VALUE.model_dump_json()
MOST_SENT = 40


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Script(TEXT)) as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def client(request: pytest.FixtureRequest, server: LoopbackServer) -> Any:
    """A client, as a function of `max_tokens`."""

    def make(limit: int | None = None) -> Any:
        if request.param == "openai":
            return ChatOpenAI(
                base_url=server.url,
                api_key="x",
                model="script",
                max_retries=0,
                max_tokens=limit,
            )
        url = server.url.removesuffix("/v1")
        return ChatAnthropic(
            base_url=url,
            api_key="x",
            model="script",
            max_retries=0,
            max_tokens=limit or 10_000,
        )

    make.name = request.param  # type: ignore[attr-defined]  # for the tests
    return make


def bound(client: Any, limit: int | None = None) -> Any:
    return client(limit).bind_tools([Report])


async def outcomes(chain: Any) -> list[Any]:
    """What each path of a chain comes to: a value, or the error."""

    async def collect() -> Any:
        return [item async for item in chain.astream("go")][-1]

    def attempt(call: Any) -> Any:
        try:
            return call()
        except PartialOutputError as err:
            return err

    async def aattempt(awaitable: Any) -> Any:
        try:
            return await awaitable
        except PartialOutputError as err:
            return err

    return [
        attempt(lambda: chain.invoke("go")),
        attempt(lambda: list(chain.stream("go"))[-1]),
        await aattempt(chain.ainvoke("go")),
        await aattempt(collect()),
    ]


async def test_whole_answers_come_through_every_path(
    client: Any, server: LoopbackServer
) -> None:
    """Text and tool calls, invoked and streamed, sync and async, are never refused."""
    server.script = Script(TEXT)
    assert await outcomes(client() | SafePartialParser(Report)) == [VALUE] * 4
    server.script = Script(TEXT, tool="Report")
    assert await outcomes(bound(client) | SafePartialParser(Report)) == [VALUE] * 4
    calls = await outcomes(bound(client) | SafePartialToolsParser([Report]))
    assert [[call.args for call in found] for found in calls] == [[VALUE]] * 4
    structured = safe_structured_output(client(), Report, method="function_calling")
    assert await outcomes(structured) == [VALUE] * 4


@pytest.mark.parametrize("limit", [1, 2, 60, len(TEXT) // 4 - 1])
async def test_cut_answers_are_loud_in_every_path(
    client: Any, server: LoopbackServer, limit: int
) -> None:
    """Cut by `max_tokens`, nothing comes out of any path."""
    server.script = Script(TEXT)
    chains = [client(limit) | SafePartialParser(Report)]
    for found in await outcomes(chains[0]):
        assert isinstance(found, TruncatedOutputError)
    server.script = Script(TEXT, tool="Report")
    for chain in (
        bound(client, limit) | SafePartialParser(Report),
        bound(client, limit) | SafePartialToolsParser([Report]),
        safe_structured_output(client(limit), Report, method="function_calling"),
    ):
        for found in await outcomes(chain):
            assert isinstance(found, TruncatedOutputError)


@pytest.mark.parametrize("tool", [None, "Report"])
async def test_a_dropped_connection_is_loud(
    client: Any, server: LoopbackServer, tool: str | None
) -> None:
    """A stream that ends without a finish reason is no answer."""
    server.script = Script(TEXT[:200], drop=True, tool=tool)
    chain = (client() if tool is None else bound(client)) | SafePartialParser(Report)
    with pytest.raises(TruncatedOutputError):
        list(chain.stream("go"))
    with pytest.raises(TruncatedOutputError):
        _ = [item async for item in chain.astream("go")]


async def test_an_error_inside_the_stream_comes_out(
    client: Any, server: LoopbackServer
) -> None:
    """What the provider says in a stream of status 200 is not taken for an end."""
    server.script = Script(TEXT, error_after=20)
    chain = client() | SafePartialParser(Report)
    with pytest.raises(Exception, match="overloaded"):
        list(chain.stream("go"))
    with pytest.raises(Exception, match="overloaded"):
        _ = [item async for item in chain.astream("go")]


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("refusal", LangChainRefusedOutputError),
        ("content_filter", LangChainContentFilteredError),
    ],
)
async def test_refused_and_filtered_answers_are_named(
    client: Any, server: LoopbackServer, reason: str, error: type[Exception]
) -> None:
    """The reason decides, whatever text came."""
    server.script = Script(TEXT[:40], finish_reason=reason)
    for found in await outcomes(client() | SafePartialParser(Report)):
        assert isinstance(found, error)


SLOW = {"tokens_per_second": 300.0}


def leave(chain: Any, count: int = 8) -> None:
    for number, _ in enumerate(chain.stream("go"), start=1):
        if number == count:
            break


async def aleave(chain: Any, count: int = 8) -> None:
    stream = chain.astream("go")
    number = 0
    async for _ in stream:
        number += 1
        if number == count:
            break
    await stream.aclose()


@pytest.mark.parametrize("tool", [None, "Report"])
async def test_g10_leaving_stops_the_model(
    client: Any, server: LoopbackServer, tool: str | None
) -> None:
    """A `break` at the 8th snapshot: few of the events were sent, sync and async."""
    server.script = Script(TEXT + " " * 200, tool=tool, **SLOW)
    chain = (client() if tool is None else bound(client)) | SafePartialParser(Report)
    await asyncio.to_thread(leave, chain)
    sync = await asyncio.to_thread(server.last)
    await aleave(chain)
    later = await asyncio.to_thread(server.last)

    for exchange in (sync, later):
        assert exchange.total > 140
        assert exchange.disconnected
        assert exchange.sent <= MOST_SENT


async def test_g10_errors_and_early_exit_stop_the_model(
    client: Any, server: LoopbackServer
) -> None:
    """An answer that is wrong, or known, is not read on."""
    wrong = TEXT.replace(',"reason"', ' oops "reason"', 1)
    known = '{"rows": [], "more": "' + "x" * 800 + '"}'
    for text, chain, error in (
        (wrong, client() | SafePartialParser(Report), MalformedOutputError),
        (known, client() | SafePartialParser(Report, stop_early=True), None),
        (TEXT, client() | ElementStream(Report, "/rows"), None),
    ):
        server.script = Script(text + " " * 600, **SLOW)
        if error is not None:
            with pytest.raises(error):
                await asyncio.to_thread(list, chain.stream("go"))
        elif text is TEXT:
            await asyncio.to_thread(leave, chain, 1)
        else:
            await asyncio.to_thread(list, chain.stream("go"))
        exchange = await asyncio.to_thread(server.last)
        assert exchange.disconnected
        assert exchange.sent <= MOST_SENT


async def test_a_model_that_streams_behind_an_invoke(
    client: Any, server: LoopbackServer
) -> None:
    """Where somebody listens, `invoke` streams and LangChain closes a cut call: loud."""
    server.script = Script(TEXT, tool="Report")
    for limit in (None, 5, 60):
        chain = bound(client, limit) | SafePartialParser(Report)

        def ask(_given: Any, config: RunnableConfig, chain: Any = chain) -> Any:
            return chain.invoke("go", config)

        async def listen(ask: Any = ask) -> Any:
            events = RunnableLambda(ask).astream_events("go", version="v2")
            return [e async for e in events if e["event"] == "on_chain_end"][-1]

        if limit is None:
            assert (await listen())["data"]["output"] == VALUE
        else:
            with pytest.raises(TruncatedOutputError):
                await listen()
