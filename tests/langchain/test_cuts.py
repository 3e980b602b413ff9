"""The lead promise through LangChain: each cut is loud, a whole answer is not."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel

from langchain_partial import LangChainNoJSONFoundError, SafePartialParser
from partial_json_core import PartialOutputError, TruncatedOutputError


class Row(BaseModel):
    id: int = 0
    amount: float = 0.0
    note: str | None = None


class Report(BaseModel):
    rows: list[Row] = []
    done: bool = False


VALUE = {
    "rows": [
        {"id": 10, "amount": -1e3, "note": 'a "b" \N{GRINNING FACE}'},
        {"note": None},
    ],
    "done": True,
}
LAYOUTS = {
    "compact": json.dumps(VALUE, separators=(",", ":")),
    "indented": json.dumps(VALUE, indent=1, ensure_ascii=False),
    "fenced": f"Sure:\n```json\n{json.dumps(VALUE)}",
}


async def by_invoke(chain: Any) -> Any:
    return chain.invoke("go")


async def by_ainvoke(chain: Any) -> Any:
    return await chain.ainvoke("go")


async def by_batch(chain: Any) -> Any:
    return chain.batch(["go"])[0]


async def by_stream(chain: Any) -> Any:
    return list(chain.stream("go"))[-1]


async def by_astream(chain: Any) -> Any:
    return [item async for item in chain.astream("go")][-1]


WAYS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "invoke": by_invoke,
    "ainvoke": by_ainvoke,
    "stream": by_stream,
    "astream": by_astream,
}

CUT_REASONS = ("length", None, "stop")
# Before the document begins, a normal stop means that there is none.
CUT_ERRORS = {TruncatedOutputError, LangChainNoJSONFoundError}


def texts(answer: str) -> list[str]:
    """The answer in chunks of seven characters."""
    return [answer[i : i + 7] for i in range(0, len(answer), 7)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", WAYS)
async def test_every_cut_is_loud(say: Any, way: str, layout: str) -> None:
    """A cut raises whatever the finish reason says, and no later step sees a value."""
    answer = LAYOUTS[layout]
    seen: list[Any] = []
    raised = []
    for end in range(len(answer)):
        model = say(*texts(answer[:end]), reason=CUT_REASONS[end % 3])
        chain: Runnable[Any, Any] = model | SafePartialParser(Report)
        with pytest.raises(PartialOutputError) as caught:
            await WAYS[way](chain | RunnableLambda(seen.append))
        raised.append(type(caught.value))

    assert seen == []
    assert set(raised) <= CUT_ERRORS


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", None], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", [*WAYS, "batch"])
async def test_a_whole_answer_is_never_refused(
    say: Any, way: str, layout: str, reason: str | None
) -> None:
    """A whole answer gives the value on every path, whatever the finish reason says."""
    model = say(*texts(LAYOUTS[layout]), reason=reason)
    read = {**WAYS, "batch": by_batch}[way]

    assert await read(model | SafePartialParser(Report)) == Report(**VALUE)


def test_no_fixer_gets_a_cut_answer(say: Any) -> None:
    """What LangChain's fixing parsers catch does not include a truncated answer."""
    chain = say('{"rows": [{"id": 1', reason="length") | SafePartialParser(Report)

    with pytest.raises(TruncatedOutputError) as caught:
        chain.invoke("go")
    assert not isinstance(caught.value, OutputParserException | ValueError)
    assert caught.value.finish_reason == "length"
    assert str(caught.value) == (
        "output ended inside `$.rows[0].id` at offset 18 (finish_reason='length'), "
        "expected the rest of a number: no values had settled; raise max_tokens or ask "
        "for less, then retry"
    )
