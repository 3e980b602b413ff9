"""`TruncationGuard` in a real agent, with a real client over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, Script
from pydantic import BaseModel

from langchain_partial.agents import TruncationGuard
from partial_json_core import ContentFilteredError, TruncatedOutputError

ARGS = '{"bucket": "logs-2019", "force": false}'


class Purge(BaseModel):
    """Delete a bucket."""

    bucket: str
    force: bool = True


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Script(ARGS, tool="purge")) as running:
        yield running


def agent(
    server: LoopbackServer, ran: list[Any], limit: int | None = None, **options: Any
) -> Any:
    """An agent with a tool that writes down what it was asked to do."""

    def purge(bucket: str, force: bool = True) -> str:  # noqa: FBT002 - a tool
        """Delete a bucket."""
        ran.append((bucket, force))
        server.script = Script("Done.")
        return "deleted"

    llm = ChatOpenAI(
        base_url=server.url,
        api_key="x",
        model="script",
        max_retries=0,
        max_tokens=limit,
    )
    options.setdefault("middleware", [TruncationGuard()])
    return create_agent(llm, [] if "response_format" in options else [purge], **options)


ASKED = {"messages": [("user", "Purge the logs.")]}


async def test_a_whole_call_is_executed(server: LoopbackServer) -> None:
    """The guard lets whole responses pass, and the tool runs with what was written."""
    ran: list[Any] = []
    agent(server, ran).invoke(ASKED)
    server.script = Script(ARGS, tool="purge")
    await agent(server, ran).ainvoke(ASKED)

    assert ran == [("logs-2019", False)] * 2


@pytest.mark.parametrize("limit", [3, 6, 7, 9])
async def test_a_cut_call_is_never_executed(server: LoopbackServer, limit: int) -> None:
    """Invoked or streamed, sync and async, a cut call raises before the tool runs."""
    ran: list[Any] = []
    guarded = agent(server, ran, limit)
    with pytest.raises(TruncatedOutputError):
        guarded.invoke(ASKED)
    with pytest.raises(TruncatedOutputError):
        await guarded.ainvoke(ASKED)
    for mode in ("updates", "messages"):
        with pytest.raises(TruncatedOutputError):
            list(guarded.stream(ASKED, stream_mode=mode))
        with pytest.raises(TruncatedOutputError):
            _ = [item async for item in guarded.astream(ASKED, stream_mode=mode)]

    assert ran == []


def test_without_the_guard_a_streamed_cut_call_runs(server: LoopbackServer) -> None:
    """What the guard is for: with default arguments a cut call looks whole."""
    ran: list[Any] = []
    list(agent(server, ran, 6, middleware=[]).stream(ASKED, stream_mode="messages"))

    assert ran
    assert ran[0][1]


async def test_a_cut_structured_response_is_loud(server: LoopbackServer) -> None:
    """A structured response that was cut does not become one."""
    server.script = Script(ARGS, tool="Purge")
    whole = agent(server, [], response_format=ToolStrategy(Purge))
    assert whole.invoke(ASKED)["structured_response"] == Purge(
        bucket="logs-2019", force=False
    )
    cut = agent(server, [], 6, response_format=ToolStrategy(Purge))
    for mode in ("updates", "messages"):
        with pytest.raises(TruncatedOutputError):
            list(cut.stream(ASKED, stream_mode=mode))


def test_words_may_be_cut(server: LoopbackServer) -> None:
    """A cut answer in words passes, unless it is not allowed to."""
    server.script = Script("The logs have been purged.")
    assert agent(server, [], 2).invoke(ASKED)["messages"][-1].content == "The logs"
    with pytest.raises(TruncatedOutputError):
        agent(server, [], 2, middleware=[TruncationGuard(allow_text=False)]).invoke(
            ASKED
        )


def test_a_filtered_call_is_named() -> None:
    """A response that a filter cut is not executed either."""
    call = {"name": "purge", "args": {"bucket": "x"}, "id": "1"}
    message = AIMessage(
        "", tool_calls=[call], response_metadata={"finish_reason": "content_filter"}
    )
    with pytest.raises(ContentFilteredError):
        TruncationGuard().wrap_model_call(None, lambda _request: message)
