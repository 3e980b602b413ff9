"""The recipe of `docs/agents-and-servers.md`, in a real server with a real client."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, Script

from langchain_partial import SafePartialParser

ANSWER = json.dumps({"rows": [{"id": i, "reason": f"row {i}"} for i in range(20)]})
MOST_SENT = 40


@pytest.fixture
def model() -> Iterator[LoopbackServer]:
    """A model that writes 200 tokens a second."""
    with LoopbackServer(Script(ANSWER, tokens_per_second=200)) as running:
        yield running


@pytest.fixture
def url(model: LoopbackServer) -> Iterator[str]:
    """A server that streams what the model says, line by line."""
    app = FastAPI()
    llm = ChatOpenAI(base_url=model.url, api_key="x", model="script", max_retries=0)
    chain = llm | SafePartialParser()

    async def body() -> AsyncIterator[str]:
        stream: Any = chain.astream("go")
        async with aclosing(stream) as items:
            async for item in items:
                yield json.dumps(item) + "\n"

    @app.get("/report")
    async def report() -> StreamingResponse:
        return StreamingResponse(body(), media_type="application/x-ndjson")

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{port}/report"
        server.should_exit = True
        thread.join()


def test_a_whole_answer_is_streamed(url: str) -> None:
    """Each line shows more, and the last one is the answer."""
    lines = httpx.get(url, timeout=30).text.splitlines()
    assert json.loads(lines[-1]) == json.loads(ANSWER)
    assert len(lines) > 40


def test_g10_a_client_that_disconnects_stops_the_model(
    url: str, model: LoopbackServer
) -> None:
    """The browser goes away after eight lines: few of the events were sent."""
    with httpx.stream("GET", url, timeout=30) as response:
        for count, _line in enumerate(response.iter_lines(), start=1):
            if count == 8:
                break
    exchange = model.last()

    assert exchange.total > 140
    assert exchange.disconnected
    assert exchange.sent <= MOST_SENT


def test_g10_an_asynchronous_client_may_leave_as_well(
    url: str, model: LoopbackServer
) -> None:
    """A client whose event loop ends in the middle of a stream stops the model."""

    async def read() -> None:
        async with httpx.AsyncClient() as client, client.stream("GET", url) as response:
            async for _line in response.aiter_lines():
                return

    asyncio.run(read())
    assert model.last().disconnected
