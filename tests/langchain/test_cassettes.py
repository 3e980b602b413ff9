"""Recorded HTTP, replayed with vcrpy through real clients of three APIs.

The cassettes in this folder were recorded from `examples/loopback.py` with this file
as a script (``python tests/langchain/test_cassettes.py``); those in the shared folder
are other people's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vcr
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI

from langchain_partial import (
    LangChainRefusedOutputError,
    SafePartialParser,
    SafePartialToolsParser,
)
from partial_json_core import (
    MalformedOutputError,
    NoJSONFoundError,
    TruncatedOutputError,
)

HERE = Path(__file__).parent
OURS = HERE / "cassettes"
FOLDER = Path(os.environ.get("PARTIAL_JSON_SHARED", HERE.parents[2] / "shared"))
RAW = FOLDER / "streams" / "raw"
TEXT = '{"rows": [{"id": 1, "amount": 12.5}, {"id": 2, "amount": 1000}]}'
# Nothing is there: what is not in a cassette fails at once.
NOWHERE = "http://127.0.0.1:9/v1"


def replay(path: Path) -> Any:
    return vcr.VCR(
        record_mode="none",
        match_on=["method", "path"],
    ).use_cassette(str(path))


def client(api: str) -> Any:
    if api == "anthropic-messages":
        llm = ChatAnthropic(model="claude", api_key="x", max_retries=0)
        # Without any tool the client warns of calls.
        return llm.bind_tools([{"name": "any", "input_schema": {"type": "object"}}])
    options: dict[str, Any] = {"use_responses_api": api == "openai-responses"}
    return ChatOpenAI(model="gpt", api_key="x", max_retries=0, **options)


def streams() -> Iterator[Any]:
    index = RAW / "index.json"
    for cassette in (
        json.loads(index.read_text())["cassettes"] if index.exists() else ()
    ):
        for stream in cassette["streamed"]:
            name = cassette["file"].removesuffix(".yaml")
            yield pytest.param(
                cassette["file"], stream, id=f"{name}-{stream['interaction']}"
            )


def any_tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object"}
    function = {"name": name, "description": "x", "parameters": parameters}
    return {"type": "function", "function": function}


def chunks_of(file: str, stream: dict[str, Any]) -> list[AIMessageChunk]:
    """What the real client makes of one recorded stream."""
    llm = client(stream["api"])
    with replay(RAW / file):
        # The recordings of one cassette are played in their order.
        for _ in range(stream["interaction"] + 1):
            chunks = list(llm.stream("go"))
    return chunks


@pytest.mark.parametrize(("file", "stream"), list(streams()))
def test_recorded_streams_of_real_providers(file: str, stream: dict[str, Any]) -> None:
    """Whole answers give their JSON, refusals and cuts are loud, through real clients."""
    chunks = chunks_of(file, stream)
    text = "".join(chunk.text for chunk in chunks)
    kind = stream["kind"]
    if "n2_interleaved" in file:
        # LangChain merges the choices of one stream; what comes of it is loud.
        tools = [any_tool("get_current_weather")]
        with pytest.raises(MalformedOutputError):
            list(SafePartialToolsParser(tools).transform(iter(chunks)))
        return
    if kind.startswith("tool_call"):
        args: dict[Any, str] = {}
        names: dict[Any, str] = {}
        for chunk in chunks:
            for part in chunk.tool_call_chunks:
                key = part["index"]
                args[key] = args.get(key, "") + (part["args"] or "")
                names[key] = names.get(key) or part["name"] or ""
        tools = [any_tool(name) for name in sorted(set(names.values()))]
        *_, calls = SafePartialToolsParser(tools).transform(iter(chunks))
        assert [call.args for call in calls] == [
            json.loads(a or "{}") for a in args.values()
        ]
        return
    outcome: Any
    try:
        *_, outcome = SafePartialParser().transform(iter(chunks))
    except (
        LangChainRefusedOutputError,
        NoJSONFoundError,
        TruncatedOutputError,
        MalformedOutputError,
    ) as err:
        outcome = err
    if kind == "refusal":
        # The client drops the refusal of a plain OpenAI chat stream, so nothing is left.
        expected = (
            LangChainRefusedOutputError
            if stream["api"] != "openai-chat"
            else NoJSONFoundError
        )
        assert isinstance(outcome, expected | LangChainRefusedOutputError)
    elif kind == "text":
        is_cut = stream["finish"][0] == ["incomplete", "max_output_tokens"]
        assert isinstance(outcome, TruncatedOutputError if is_cut else NoJSONFoundError)
    elif kind == "text_json_invalid":
        # The object stands there twice: a reported fix.
        assert outcome == json.JSONDecoder().raw_decode(text)[0]
    else:
        start = text.index("{")
        assert outcome == json.JSONDecoder().raw_decode(text, start)[0]


# ----------------------------------------------------------------- our own cassettes

SCRIPTS = {
    "text": ({}, None),
    "text_cut": ({}, 9),
    "tool": ({"tool": "Report"}, None),
    "tool_cut": ({"tool": "Report"}, 9),
}


def ask(url: str, limit: int | None) -> list[AIMessageChunk]:
    llm = ChatOpenAI(
        base_url=url, api_key="x", model="script", max_retries=0, max_tokens=limit
    )
    return list(llm.stream("Report suspicious transactions."))


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_our_own_recordings(name: str) -> None:
    """What was recorded from the loopback server: whole or loud."""
    _, limit = SCRIPTS[name]
    with replay(OURS / f"{name}.yaml"):
        chunks = ask(NOWHERE, limit)
    parser = SafePartialParser({"type": "object"})
    if limit is None:
        assert list(parser.transform(iter(chunks)))[-1] == json.loads(TEXT)
    else:
        with pytest.raises(TruncatedOutputError) as caught:
            list(parser.transform(iter(chunks)))
        assert caught.value.finish_reason == "length"


def record() -> None:
    """Record the cassettes anew."""
    sys.path.insert(0, str(HERE.parents[1] / "examples"))
    from loopback import LoopbackServer, Script

    for name, (options, limit) in SCRIPTS.items():
        path = OURS / f"{name}.yaml"
        path.unlink(missing_ok=True)
        with LoopbackServer(Script(TEXT, **options)) as server:
            host = server.url.removesuffix("/v1")

            def anonymous(request: Any, host: str = host) -> Any:
                request.uri = request.uri.replace(host, "http://loopback.invalid")
                request.headers = {"content-type": "application/json"}
                return request

            def plain(response: Any) -> Any:
                kept = {"content-type", "Content-Type"}
                response["headers"] = {
                    k: v for k, v in response["headers"].items() if k in kept
                }
                return response

            recorder = vcr.VCR(
                record_mode="all",
                before_record_request=anonymous,
                before_record_response=plain,
            )
            with recorder.use_cassette(str(path)):
                ask(server.url, limit)


if __name__ == "__main__":
    record()
