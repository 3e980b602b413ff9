"""Tool calls: `SafePartialToolsParser`, and the one call that `SafePartialParser` reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.tools import tool
from pydantic import BaseModel, Field
from support import pieces, streamed
from typing_extensions import TypedDict

from langchain_partial import (
    LangChainAmbiguousOutputError,
    LangChainContentFilteredError,
    LangChainRefusedOutputError,
    LangChainSchemaMismatchError,
    PartialToolCall,
    PartialToolCalls,
    SafePartialParser,
    SafePartialToolsParser,
    SafeToolCall,
)
from partial_json_core import (
    UNSET,
    DuplicateKeyError,
    LimitExceededError,
    Limits,
    MalformedOutputError,
    NoJSONFoundError,
    Partial,
    PartialOutputError,
    SchemaMismatchError,
    TruncatedOutputError,
)


class Search(BaseModel):
    """Look something up."""

    query: str
    limit: int = Field(3, le=10)


class Ping(BaseModel):
    """Say that you are there."""


TOOLS = [Search, Ping]
QUERY = '{"query": "oslo", "limit": 5}'


def part(
    args: str | None = "",
    index: Any = 0,
    id: str | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    return {
        "index": index,
        "id": id,
        "name": name,
        "args": args,
        "type": "tool_call_chunk",
    }


def chunk(
    *parts: dict[str, Any], reason: str | None = None, text: str = ""
) -> AIMessageChunk:
    metadata = {} if reason is None else {"finish_reason": reason}
    return AIMessageChunk(
        text, tool_call_chunks=list(parts), response_metadata=metadata
    )


def call_chunks(
    args: str, reason: str | None = "tool_calls", size: int = 4, **first: Any
) -> list[AIMessageChunk]:
    """One call in pieces."""
    name = {"id": "c0", "name": "Search"} | first
    rest = [
        chunk(part(piece, index=name.get("index", 0))) for piece in pieces(size)(args)
    ]
    return [chunk(part("", **name)), *rest, chunk(reason=reason)]


def calls(*pairs: tuple[Any, str | None]) -> list[SafeToolCall]:
    return [
        SafeToolCall(type(args).__name__, args, id, index)
        for index, (args, id) in enumerate(pairs)
    ]


# ---------------------------------------------------------------------------- grouping

GROUPINGS: dict[str, tuple[list[AIMessageChunk], list[tuple[Any, str | None]]]] = {
    "pieces": (call_chunks(QUERY), [(Search(query="oslo", limit=5), "c0")]),
    "interleaved": (
        [
            chunk(
                part('{"que', 0, "c0", "Search"), part('{"query"', 1, "c1", "Search")
            ),
            chunk(part('ry": "a"}', 0), part(': "b"}', 1)),
        ],
        [(Search(query="a"), "c0"), (Search(query="b"), "c1")],
    ),
    "a new id on the same index": (
        [
            chunk(part('{"query": "a"}', 0, "c0", "Search")),
            chunk(part('{"query": "b"}', 0, "c1", "Search")),
        ],
        [(Search(query="a"), "c0"), (Search(query="b"), "c1")],
    ),
    "no indexes": (
        [
            chunk(part('{"query": ', None, "c0", "Search")),
            chunk(part('"a"}', None)),
            chunk(part('{"query": "b', None, "c1", "Search")),
            chunk(part('"}', None, "c1")),
        ],
        [(Search(query="a"), "c0"), (Search(query="b"), "c1")],
    ),
    "no ids": (
        [
            chunk(part('{"query": "a"}', None, None, "Search")),
            chunk(part("{}", None, None, "Ping")),
        ],
        [(Search(query="a"), None), (Ping(), None)],
    ),
    "the same id in each piece": (
        [
            chunk(part('{"query": ', 0, "c0", "Search")),
            chunk(part('"a"}', 0, "c0", "Search")),
        ],
        [(Search(query="a"), "c0")],
    ),
    "two pieces in one chunk": (
        [
            chunk(part("", 0, "c0", "Search"), part('{"query": ', 0)),
            chunk(part('"a"}', 0)),
        ],
        [(Search(query="a"), "c0")],
    ),
    "arguments before the name": (
        [chunk(part('{"query": ', 0, "c0")), chunk(part('"a"}', 0, None, "Search"))],
        [(Search(query="a"), "c0")],
    ),
    "no arguments": (
        [chunk(part(None, 0, "c0", "Ping")), chunk(part("", 1, "c1", "Ping"))],
        [(Ping(), "c0"), (Ping(), "c1")],
    ),
    "whole calls in one chunk": (
        [chunk(part('{"query": "a"}', 0, "c0", "Search"), part("{}", 1, "c1", "Ping"))],
        [(Search(query="a"), "c0"), (Ping(), "c1")],
    ),
    "a call that is repeated": (
        [
            chunk(part('{"query": "a"}', 0, "c0", "Search")),
            chunk(part('{"query": "a"}', 0)),
        ],
        [(Search(query="a"), "c0")],
    ),
    "words beside the calls": (
        [
            chunk(text='Let me see: {"query": 3}'),
            chunk(part('{"query": "a"}', 0, "c0", "Search")),
        ],
        [(Search(query="a"), "c0")],
    ),
    "no calls": ([chunk(text="Hello")], []),
}


@pytest.mark.parametrize("name", list(GROUPINGS))
def test_fragments_find_their_call(name: str, stream: Any) -> None:
    """However a provider numbers and cuts them, calls come out whole and in order."""
    chunks, pairs = GROUPINGS[name]
    *shown, last = stream(
        SafePartialToolsParser(TOOLS), [*chunks, chunk(reason="tool_calls")]
    )

    assert last == calls(*pairs)
    assert all(type(item) is PartialToolCalls for item in shown)


def test_calls_are_shown_while_they_are_written(stream: Any) -> None:
    """Snapshots carry partials, never models, and cannot be added."""
    *shown, _ = stream(SafePartialToolsParser(TOOLS), call_chunks(QUERY))

    assert shown[0] == [PartialToolCall("Search", UNSET, "c0", 0)]
    args = [calls[0].args for calls in shown[1:]]
    assert {type(arg) for arg in args} == {Partial[Search]}
    assert {arg.query for arg in args} >= {"o", "oslo"}
    with pytest.raises(TypeError):
        shown[0] + shown[1]


WHOLE = {
    "parsed": AIMessage(
        "", tool_calls=[{"name": "Search", "args": {"query": "a"}, "id": "c0"}]
    ),
    "raw": AIMessage(
        "",
        additional_kwargs={
            "tool_calls": [
                {
                    "id": "c0",
                    "type": "function",
                    "function": {"name": "Search", "arguments": '{"query": "a"}'},
                }
            ]
        },
    ),
    "chunk": chunk(part('{"query": "a"}', 0, "c0", "Search")),
}


@pytest.mark.parametrize("name", list(WHOLE))
async def test_calls_of_a_whole_message(name: str) -> None:
    """`invoke`, `ainvoke` and a stream of one message read whole calls."""
    message = WHOLE[name]
    parser = SafePartialToolsParser(TOOLS)
    expected = calls((Search(query="a"), "c0"))

    assert parser.invoke(message) == await parser.ainvoke(message) == expected
    assert list(parser.transform(iter([message])))[-1] == expected
    assert SafePartialParser(Search).invoke(message) == Search(query="a")
    first = SafePartialToolsParser(TOOLS, first_tool_only=True)
    assert first.invoke(message) == expected[0]
    assert first.invoke(AIMessage("Hello")) is None


@pytest.mark.parametrize("kind", ["pydantic", "typed dict", "function", "tool", "dict"])
def test_every_kind_of_tool(kind: str) -> None:
    """Models, TypedDicts, functions, LangChain tools and dicts describe arguments."""

    class look_up(TypedDict):
        """Look something up."""

        query: str

    def function(query: str) -> str:
        """Look something up."""
        return query

    function.__name__ = "look_up"
    model = type(
        "look_up",
        (BaseModel,),
        {"__annotations__": {"query": str}, "__doc__": "Look up."},
    )
    tools: dict[str, Any] = {
        "pydantic": model,
        "typed dict": look_up,
        "function": function,
        "tool": tool(function),
        "dict": {
            "type": "function",
            "function": {
                "name": "look_up",
                "description": "Look something up.",
                "parameters": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}},
                    "required": ["query"],
                },
            },
        },
    }
    parser = SafePartialToolsParser([tools[kind]])
    [call] = parser.invoke(chunk(part('{"query": "a"}', 0, "c0", "look_up")))
    args = call.args if isinstance(call.args, dict) else call.args.model_dump()

    assert call.name == "look_up"
    assert args == {"query": "a"}
    with pytest.raises(SchemaMismatchError):
        parser.invoke(chunk(part('{"query": 3}', 0, "c0", "look_up")))


# ------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("reason", ["length", "tool_calls", None])
def test_every_cut_of_a_call_is_loud(reason: str | None) -> None:
    """Cut at any character, through both parsers, whatever the reason claims."""
    for end in range(1, len(QUERY)):
        chunks = call_chunks(QUERY[:end], reason)
        for parser in (SafePartialToolsParser(TOOLS), SafePartialParser(Search)):
            with pytest.raises(TruncatedOutputError):
                streamed(parser, chunks)


def test_a_call_without_arguments_that_was_cut_is_loud(stream: Any) -> None:
    """An empty text is no call without arguments when the output was cut."""
    chunks = [chunk(part("", 0, "c0", "Ping")), chunk(reason="length")]
    for parser in (SafePartialToolsParser(TOOLS), SafePartialParser(Ping)):
        with pytest.raises(TruncatedOutputError):
            stream(parser, chunks)
        assert stream(parser, [*chunks[:1], chunk(reason="tool_calls")])


def test_an_output_that_was_cut_before_its_calls_is_loud(stream: Any) -> None:
    """No calls and a cut output are not the same as no calls."""
    with pytest.raises(TruncatedOutputError):
        stream(
            SafePartialToolsParser(TOOLS),
            [chunk(text="I will"), chunk(reason="length")],
        )


@pytest.mark.parametrize("provider", [None, "anthropic", "openai"])
def test_parsed_arguments_of_a_cut_message_are_not_trusted(
    provider: str | None,
) -> None:
    """A provider that parses arguments itself may have closed them."""
    metadata = {"stop_reason": "max_tokens", "model_provider": provider}
    message = AIMessage(
        "",
        tool_calls=[{"name": "Search", "args": {"query": "a"}, "id": "c0"}],
        response_metadata=metadata,
    )
    for parser in (SafePartialToolsParser(TOOLS), SafePartialParser(Search)):
        with pytest.raises(TruncatedOutputError):
            parser.invoke(message)


def test_invalid_arguments_of_a_cut_message_are_loud() -> None:
    """What LangChain could not parse is read as the text that it is."""
    cut = AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "Search", "args": '{"query": "a', "id": "c0", "error": "x"}
        ],
        response_metadata={"finish_reason": "length"},
    )
    with pytest.raises(TruncatedOutputError):
        SafePartialToolsParser(TOOLS).invoke(cut)


def test_one_good_call_and_one_cut_call(stream: Any) -> None:
    """The good call is on the error, and the error says which call was cut."""
    chunks = [
        chunk(part('{"query": "a"}', 0, "c0", "Search")),
        chunk(part('{"query": "b', 1, "c1", "Search")),
        chunk(reason="length"),
    ]
    with pytest.raises(TruncatedOutputError) as caught:
        stream(SafePartialToolsParser(TOOLS), chunks)

    err: Any = caught.value
    assert err.calls == tuple(calls((Search(query="a"), "c0")))
    assert (err.tool_call.name, err.tool_call.id, err.tool_call.index) == (
        "Search",
        "c1",
        1,
    )


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ('{"query": 3, ', LangChainSchemaMismatchError),
        ('{"query" 3', MalformedOutputError),
        ('{"query": "a", "query"', DuplicateKeyError),
        ('{"query": "' + "a" * 99, LimitExceededError),
    ],
)
def test_a_bad_call_stops_the_stream_at_once(
    args: str, error: type[PartialOutputError], stream: Any
) -> None:
    """An error comes at its character, with the calls that were whole by then."""
    taken: list[int] = []

    def source() -> Iterator[AIMessageChunk]:
        for index, item in enumerate(
            [
                chunk(part('{"query": "a"}', 0, "c0", "Search")),
                chunk(part(args, 1, "c1", "Search")),
                chunk(part("}", 1)),
            ]
        ):
            taken.append(index)
            yield item

    parser = SafePartialToolsParser(TOOLS, limits=Limits(max_string_chars=50))
    with pytest.raises(error) as caught:
        list(parser.transform(source()))

    assert taken == [0, 1]
    err: Any = caught.value
    assert err.calls == tuple(calls((Search(query="a"), "c0")))


def test_an_unknown_tool_is_named_with_the_known_ones(stream: Any) -> None:
    """A model that invents a tool is told which there are."""
    with pytest.raises(
        LangChainSchemaMismatchError,
        match=r"there is no tool 'Find' .*the tools: Search, Ping",
    ):
        stream(SafePartialToolsParser(TOOLS), call_chunks("{}", name="Find"))
    with pytest.raises(LangChainSchemaMismatchError, match="there is no tool ''"):
        stream(SafePartialToolsParser(TOOLS), call_chunks("{}", name=None))


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"stop_reason": "refusal"}, LangChainRefusedOutputError),
        ({"finish_reason": "content_filter"}, LangChainContentFilteredError),
    ],
)
def test_refusals_and_filters_are_named(
    metadata: Any, error: type[Exception], stream: Any
) -> None:
    """A refused or filtered output is no output without calls."""
    with pytest.raises(error):
        stream(
            SafePartialToolsParser(TOOLS),
            [AIMessageChunk("", response_metadata=metadata)],
        )


def test_the_single_call_parser_refuses_several(stream: Any) -> None:
    """Two calls, or a call beside a document, are ambiguous for `SafePartialParser`."""
    two = [*call_chunks(QUERY, None), *call_chunks(QUERY, id="c1", index=1)]
    with pytest.raises(
        LangChainAmbiguousOutputError, match=r"2 tool calls.*SafePartialToolsParser"
    ):
        stream(SafePartialParser(Search), two)
    with pytest.raises(
        LangChainAmbiguousOutputError, match="a document in the text and a tool call"
    ):
        stream(
            SafePartialParser(Search), [chunk(text='{"query": "b'), *call_chunks(QUERY)]
        )
    words = [
        chunk(text="Let me look {that} up."),
        *call_chunks(QUERY),
        chunk(text="Done."),
    ]
    assert stream(SafePartialParser(Search), words)[-1] == Search(query="oslo", limit=5)


def test_two_tools_of_one_name_are_refused() -> None:
    """Names decide which schema a call has."""
    with pytest.raises(ValueError, match="two tools are called 'Search'"):
        SafePartialToolsParser([Search, Search])
    assert (
        repr(SafePartialToolsParser(TOOLS)) == "SafePartialToolsParser([Search, Ping])"
    )


# ----------------------------------------------------------------------- field reports

FOLDER = Path(
    os.environ.get("PARTIAL_JSON_SHARED", Path(__file__).parents[3] / "shared")
)
KINDS: dict[str, type[Exception]] = {
    "no_json": NoJSONFoundError,
    "syntax": MalformedOutputError,
    "truncated": TruncatedOutputError,
}


def tool_rows() -> Iterator[Any]:
    path = FOLDER / "cases" / "field_reports.jsonl"
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        if "tool_chunks" in row:
            yield pytest.param(row, id=row["id"])


def any_tool(name: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": "x",
            "parameters": {"type": "object"},
        },
    }


@pytest.mark.parametrize("row", list(tool_rows()))
def test_a_field_report_about_tools_comes_out_right(
    row: dict[str, Any], stream: Any
) -> None:
    """Each public bug report about tool calls has its right calls or error."""
    chunks = []
    names = set()
    for item in row["tool_chunks"]:
        group = item if isinstance(item, list) else [item]
        names |= {entry["name"] for entry in group if entry.get("name")}
        # The text of a done event, where no delta came.
        parts = [
            part(
                e.get("args", e.get("done_args")),
                e["index"],
                e.get("id"),
                e.get("name"),
            )
            for e in group
        ]
        chunks.append(chunk(*parts))
    chunks.append(chunk(reason=row["finish_reason"]))
    parser = SafePartialToolsParser([any_tool(name) for name in sorted(names)])
    right = row["right"]
    if right["errors"]:
        with pytest.raises(PartialOutputError) as caught:
            stream(parser, chunks)
        err: Any = caught.value
        found = [[call.name, call.args] for call in err.calls]
        expected = right["errors"][0]
        assert isinstance(err, KINDS[expected["error"]])
        assert err.tool_call.name == expected["tool"]
        assert err.offset == expected["offset"]
    else:
        found = [[call.name, call.args] for call in stream(parser, chunks)[-1]]
    assert found == (right["calls"] or [])
