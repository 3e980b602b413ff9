"""`safe_structured_output` with a real client over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, Script
from pydantic import BaseModel
from typing_extensions import TypedDict

from langchain_partial import (
    SafePartialParser,
    SafePartialToolsParser,
    safe_structured_output,
)
from partial_json_core import (
    Partial,
    SchemaMismatchError,
    TruncatedOutputError,
)


class City(BaseModel):
    """A city."""

    name: str
    people: int


class Town(TypedDict):
    """A town."""

    name: str
    people: int


SCHEMA = {
    "title": "City",
    "description": "A city.",
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["name", "people"],
}
TEXT = '{"name": "Oslo", "people": 709037}'
VALUE = {"name": "Oslo", "people": 709037}
METHODS = ["function_calling", "json_mode", "json_schema", None]


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(Script(TEXT)) as running:
        yield running


def answering(
    server: LoopbackServer,
    method: str | None,
    schema: Any = City,
    text: str = TEXT,
    **options: Any,
) -> Any:
    """A model that answers in the way of a method."""
    name = schema["title"] if isinstance(schema, dict) else schema.__name__
    server.script = Script(text, tool=name if method == "function_calling" else None)
    llm = ChatOpenAI(
        base_url=server.url,
        api_key="x",
        model="script",
        max_retries=0,
        **options.pop("model", {}),
    )
    return safe_structured_output(llm, schema, method=method, **options)


def plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "schema", [City, Town, SCHEMA], ids=["model", "typed dict", "dict"]
)
async def test_every_method_gives_the_value(
    server: LoopbackServer, method: Any, schema: Any
) -> None:
    """Invoked or streamed, sync and async, the value is the validated one."""
    chain = answering(server, method, schema)
    assert plain(chain.invoke("go")) == plain(await chain.ainvoke("go")) == VALUE
    *shown, last = chain.stream("go")
    *later, alast = [item async for item in chain.astream("go")]

    assert plain(last) == plain(alast) == VALUE
    assert shown
    assert len(shown) == len(later)
    if schema is City:
        assert type(last) is City
        assert {type(item) for item in shown} == {Partial[City]}


@pytest.mark.parametrize("method", METHODS)
async def test_every_cut_is_loud(server: LoopbackServer, method: Any) -> None:
    """Cut by `max_tokens` at any token, each method raises in each path."""
    tokens = len(Script(TEXT).tokens())
    for limit in range(1, tokens):
        chain = answering(server, method, model={"max_tokens": limit})
        with pytest.raises(TruncatedOutputError):
            list(chain.stream("go"))
        with pytest.raises(TruncatedOutputError):
            chain.invoke("go")
        if limit in (1, tokens // 2, tokens - 1):
            with pytest.raises(TruncatedOutputError):
                await chain.ainvoke("go")
            with pytest.raises(TruncatedOutputError):
                _ = [item async for item in chain.astream("go")]


@pytest.mark.parametrize("method", METHODS)
async def test_the_raw_message_can_be_kept(server: LoopbackServer, method: Any) -> None:
    """With `include_raw` the message and the error come beside the value."""
    chain = answering(server, method, include_raw=True)
    for found in (chain.invoke("go"), await chain.ainvoke("go")):
        assert found["parsed"] == City(**VALUE)
        assert found["parsing_error"] is None
        assert isinstance(found["raw"], AIMessage)
    cut = answering(server, method, include_raw=True, model={"max_tokens": 4})
    for found in (cut.invoke("go"), await cut.ainvoke("go")):
        assert found["parsed"] is None
        assert isinstance(found["parsing_error"], TruncatedOutputError)

    for chosen, is_good in ((chain, True), (cut, False)):
        server.script = replace(server.script)
        items = list(chosen.stream("go"))
        later = [item async for item in chosen.astream("go")]
        assert len(items) == len(later)
        total = items[0]
        for item in items[1:]:
            total = total + item
        assert isinstance(total["raw"], AIMessageChunk)
        assert (items[-1]["parsing_error"] is None) == is_good
        assert items[-1]["parsed"] == (City(**VALUE) if is_good else None)


def test_options_go_where_they_belong(server: LoopbackServer) -> None:
    """Options of the parser and of the model are told apart."""

    def refuse(_name: str) -> None:
        raise ValueError("no")

    chain = answering(
        server,
        "function_calling",
        stop_early=True,
        checks={"/name": refuse},
        strict=True,
    )
    assert chain.last.stop_early
    with pytest.raises(SchemaMismatchError):
        answering(server, "json_mode", text='{"name": 3, "people": 1}').invoke("go")
    assert "include_raw=True" in repr(answering(server, "json_mode", include_raw=True))


def test_a_model_without_structured_output_says_so() -> None:
    """What LangChain raises for such a model comes out."""
    with pytest.raises(NotImplementedError):
        safe_structured_output(FakeListChatModel(responses=["x"]), City)


async def test_bound_tools_over_http(server: LoopbackServer) -> None:
    """A real stream of tool call fragments, whole and cut, through both parsers."""
    llm = ChatOpenAI(base_url=server.url, api_key="x", model="script", max_retries=0)
    server.script = Script(TEXT, tool="City")
    bound = llm.bind_tools([City])
    [call] = list((bound | SafePartialToolsParser([City])).stream("go"))[-1]
    assert call.args == City(**VALUE)
    assert call.id == "call_0"
    assert (bound | SafePartialParser(City)).invoke("go") == City(**VALUE)
    cut = bound.bind(max_tokens=5)
    for parser in (SafePartialToolsParser([City]), SafePartialParser(City)):
        with pytest.raises(TruncatedOutputError):
            list((cut | parser).stream("go"))
        with pytest.raises(TruncatedOutputError):
            await (cut | parser).ainvoke("go")


def test_leaving_a_stream_of_tool_calls_stops_the_model(server: LoopbackServer) -> None:
    """A `break` closes the connection here too."""
    server.script = Script(
        TEXT[:-1] + " " * 600 + "}", tool="City", tokens_per_second=200
    )
    llm = ChatOpenAI(base_url=server.url, api_key="x", model="script", max_retries=0)
    for count, _ in enumerate(
        (llm | SafePartialToolsParser([City])).stream("go"), start=1
    ):
        if count == 3:
            break
    exchange = server.last()
    assert exchange.disconnected
    assert exchange.sent <= 40

    async def cancelled() -> None:
        chain = answering(server, "function_calling")
        server.script = Script(
            TEXT[:-1] + " " * 600 + "}", tool="City", tokens_per_second=200
        )
        async for _ in chain.astream("go"):
            break

    asyncio.run(cancelled())
    assert server.last().sent <= 40
