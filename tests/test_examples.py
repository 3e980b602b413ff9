"""The examples run, and the server that they share does what its protocol says."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, Script

ROOT = Path(__file__).parent.parent
ANSWER = json.dumps({"title": "Zürich \N{PAPERCLIP}", "rows": list(range(60))})
TOKENS = Script(ANSWER).tokens()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A model that writes as fast as it can."""
    with LoopbackServer(Script(ANSWER)) as running:
        yield running


def client(server: LoopbackServer, **options: Any) -> ChatOpenAI:
    """A real client."""
    return ChatOpenAI(
        base_url=server.url, api_key="x", model="script", max_retries=0, **options
    )


def ask(server: LoopbackServer, **body: Any) -> http.client.HTTPResponse:
    """Post a request as it is, without a client's opinions."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    return connection.getresponse()


def payloads(response: http.client.HTTPResponse) -> list[Any]:
    """The events of a stream, the closing mark left out."""
    with response:
        lines = [line for line in response.read().decode().split("\n\n") if line]
    events = [line.removeprefix("data: ") for line in lines]
    return [json.loads(event) for event in events if event != "[DONE]"]


def text_of(events: list[Any]) -> str:
    """The text of a stream."""
    choices = [choice for event in events for choice in event["choices"]]
    return "".join(choice["delta"].get("content", "") for choice in choices)


def reasons_of(events: list[Any]) -> list[str]:
    """The finish reasons of a stream."""
    choices = [choice for event in events for choice in event["choices"]]
    return [c["finish_reason"] for c in choices if c["finish_reason"]]


def test_a_client_streams_the_exact_answer(server: LoopbackServer) -> None:
    """A real client reads the script to its last character and is not cut off."""
    chunks = list(client(server).stream("go"))

    assert "".join(chunk.text for chunk in chunks) == ANSWER
    exchange = server.last()
    assert exchange.sent == exchange.total
    assert not exchange.disconnected


def test_a_client_gets_the_whole_answer(server: LoopbackServer) -> None:
    """Without streaming the answer comes in one message."""
    message = client(server).invoke("go")

    assert message.content == ANSWER
    assert message.response_metadata["finish_reason"] == "stop"


def test_a_client_that_sets_max_tokens_is_cut(server: LoopbackServer) -> None:
    """A real client's `max_tokens` cuts the answer, and the reason says so."""
    message = client(server, max_tokens=9).invoke("go")

    assert message.content == "".join(TOKENS[:9])
    assert message.response_metadata["finish_reason"] == "length"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_either_limit_cuts_a_stream(server: LoopbackServer, name: str) -> None:
    """Both spellings of the limit cut a stream after that many deltas."""
    events = payloads(ask(server, stream=True, **{name: 9}))

    assert text_of(events) == "".join(TOKENS[:9])
    assert reasons_of(events) == ["length"]


def test_a_limit_that_is_not_reached_cuts_nothing(server: LoopbackServer) -> None:
    """An answer of exactly `max_tokens` deltas is whole."""
    events = payloads(ask(server, stream=True, max_tokens=len(TOKENS)))

    assert text_of(events) == ANSWER
    assert reasons_of(events) == ["stop"]


def test_the_script_names_the_finish_reason(server: LoopbackServer) -> None:
    """A script ends with the reason it was given."""
    server.script = Script(ANSWER, finish_reason="content_filter")

    assert reasons_of(payloads(ask(server, stream=True))) == ["content_filter"]


def test_a_dropped_connection_gives_no_reason(server: LoopbackServer) -> None:
    """A script that drops the connection ends without a finish reason."""
    server.script = Script(ANSWER, drop=True)

    assert reasons_of(payloads(ask(server, stream=True))) == []


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "not-asked"])
def test_usage_comes_when_asked_for(server: LoopbackServer, asked: bool) -> None:
    """The usage is the last event, and only when the request wants it."""
    options = {"stream_options": {"include_usage": asked}}
    *_, end = payloads(ask(server, stream=True, **options))

    assert ("usage" in end) is asked
    if asked:
        assert end["usage"]["completion_tokens"] == len(TOKENS)


def test_a_client_that_goes_away_is_noticed(server: LoopbackServer) -> None:
    """The server stops at the first event after the client has gone."""
    server.script = Script(ANSWER, tokens_per_second=200)
    response = ask(server, stream=True)
    response.readline()
    response.close()

    exchange = server.last()
    assert exchange.disconnected
    assert exchange.sent < exchange.total


def test_closing_leaves_no_thread() -> None:
    """After `close`, also in the middle of an answer, no thread is left."""
    before = set(threading.enumerate())
    with LoopbackServer(Script(ANSWER, tokens_per_second=50)) as server:
        response = ask(server, stream=True)
        response.readline()
    response.close()

    assert set(threading.enumerate()) <= before


def test_a_server_that_never_ran_can_be_closed() -> None:
    """`close` returns when the server was not entered."""
    server = LoopbackServer(Script(ANSWER))
    server.close()

    assert server.exchanges == []


def test_the_demo_does_what_it_says() -> None:
    """The demo exits with 0: others hand over 2 of 10 rows, and this parser raises."""
    done = run("examples/demo.py", "--speed", "max")

    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "TruncatedOutputError" in said
    assert "2 of 10 rows" in said.replace("\N{BOX DRAWINGS LIGHT VERTICAL} ", "")
    assert "this is not what should have happened" not in said


def test_the_lead_benchmark_counts_silent_cuts() -> None:
    """The benchmark exits with 0 as long as none of ours hands over a cut."""
    options = ["--layouts", "compact", "--tools", "ours: loads", "PydanticOutput"]
    done = run("benchmarks/cut_anywhere.py", *options)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "PydanticOutputParser" in done.stdout


def run(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the project as a user does."""
    return subprocess.run(
        [sys.executable, script, *options],
        capture_output=True,
        check=False,
        cwd=ROOT,
        encoding="utf-8",
        timeout=300,
    )
