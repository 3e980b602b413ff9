"""The schema layer in a chain: partials, early verdicts, checks, early exit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableGenerator
from pydantic import BaseModel

from langchain_partial import SafePartialParser
from partial_json_core import Partial, SchemaMismatchError, SemanticCheckError


class Ticket(BaseModel):
    category: Literal["refund", "exchange"]
    order_id: str


TEXT = '{"category": "refund", "order_id": "A1", "reason": "' + "because " * 20 + '"}'


class Model:
    """A model that counts the characters that were taken from it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.written = 0

    def say(self, _input: Iterator[Any]) -> Iterator[str]:
        for char in self.text:
            self.written += 1
            yield char

    async def asay(self, _input: AsyncIterator[Any]) -> AsyncIterator[str]:
        for char in self.text:
            self.written += 1
            yield char


def run(text: str, parser: SafePartialParser[Any]) -> tuple[list[Any], int]:
    model = Model(text)
    items = list((RunnableGenerator(model.say) | parser).stream("go"))
    return items, model.written


def arun(text: str, parser: SafePartialParser[Any]) -> tuple[list[Any], int]:
    model = Model(text)

    async def collect() -> list[Any]:
        chain: Any = RunnableGenerator(model.asay) | parser
        return [item async for item in chain.astream("go")]

    return asyncio.run(collect()), model.written


Run = Callable[[str, SafePartialParser[Any]], tuple[list[Any], int]]


@pytest.fixture(params=[run, arun], ids=["sync", "async"])
def stream(request: pytest.FixtureRequest) -> Run:
    """Both ways of streaming a chain."""
    read: Run = request.param
    return read


def is_known(order_id: str) -> None:
    if order_id != "A1":
        raise ValueError("no such order")


async def is_known_later(order_id: str) -> None:
    await asyncio.sleep(0)
    is_known(order_id)


def test_a_stream_is_of_partials(stream: Run) -> None:
    """Every item but the last is a `Partial`, the last is the model."""
    *shown, last = stream(TEXT, SafePartialParser(Ticket))[0]

    assert {type(item) for item in shown} == {Partial[Ticket]}
    assert "refund" in {item.category for item in shown}
    assert last == Ticket(category="refund", order_id="A1")


def test_a_wrong_answer_stops_the_model(stream: Run) -> None:
    """The error comes at the first wrong letter, and the model writes no more."""
    text = TEXT.replace("refund", "rebate")
    model = Model(text)
    with pytest.raises(SchemaMismatchError) as caught:
        list((RunnableGenerator(model.say) | SafePartialParser(Ticket)).stream("go"))

    assert isinstance(caught.value, OutputParserException)
    assert caught.value.early
    assert caught.value.offset == text.index("bate")
    assert model.written == caught.value.offset + 1
    with pytest.raises(SchemaMismatchError):
        stream(text, SafePartialParser(Ticket))


def test_early_verdicts_can_be_turned_off(stream: Run) -> None:
    """With `early=False` the schema is asked at the end."""
    with pytest.raises(SchemaMismatchError) as caught:
        stream(TEXT.replace("refund", "rebate"), SafePartialParser(Ticket, early=False))

    assert not caught.value.early


def test_early_exit_ends_the_stream_and_the_model(stream: Run) -> None:
    """With `stop_early` the model stops once each field has settled."""
    parser = SafePartialParser(Ticket, stop_early=True)
    items, written = stream(TEXT, parser)

    assert items[-1] == Ticket(category="refund", order_id="A1")
    assert written <= TEXT.index(', "reason"') + 1
    assert "stop_early=True" in repr(parser)


@pytest.mark.parametrize("check", [is_known, is_known_later])
async def test_checks_are_run_and_awaited(check: Any) -> None:
    """Checks refuse a value in every asynchronous path, coroutine functions too."""
    parser = SafePartialParser(Ticket, checks={"/order_id": check})
    bad = TEXT.replace("A1", "B2")
    assert await parser.ainvoke(TEXT) == await parser.aparse(TEXT)
    calls: list[Callable[[], Any]] = [
        lambda: parser.ainvoke(bad),
        lambda: parser.ainvoke(AIMessage(bad)),
        lambda: parser.aparse(bad),
        lambda: parser.abatch([bad]),
    ]
    for call in calls:
        with pytest.raises(SemanticCheckError, match="no such order") as caught:
            await call()
        assert not isinstance(caught.value, OutputParserException)
    chain: Any = RunnableGenerator(Model(bad).asay) | parser
    with pytest.raises(SemanticCheckError):
        _ = [item async for item in chain.astream("go")]


def test_checks_are_run_in_synchronous_paths() -> None:
    """Plain functions run everywhere; coroutine functions are refused with the way out."""
    bad = TEXT.replace("A1", "B2")
    parser = SafePartialParser(Ticket, checks={"/order_id": is_known})
    for call in (parser.invoke, parser.parse, lambda text: run(text, parser)):
        with pytest.raises(SemanticCheckError):
            call(bad)
        call(TEXT)
    later = SafePartialParser(Ticket, checks={"/order_id": is_known_later})
    for call in (later.invoke, lambda text: run(text, later)):
        with pytest.raises(TypeError, match="`ainvoke` and `astream`"):
            call(TEXT)


def test_a_wrong_check_is_known_when_the_parser_is_made() -> None:
    """A pattern or a function that is none is refused at once."""
    with pytest.raises(ValueError, match="JSON Pointer"):
        SafePartialParser(Ticket, checks={"order_id": is_known})


def test_a_report_reaches_the_user_of_a_chain(stream: Run) -> None:
    """`on_report` gets the report of each output, good or bad, once."""
    reports: list[Any] = []
    parser = SafePartialParser(Ticket, on_report=reports.append)
    stream('Here: {"category": "refund", "order_id": "A1",}', parser)
    parser.invoke(AIMessage(TEXT, response_metadata={"finish_reason": "length"}))
    with pytest.raises(SchemaMismatchError):
        stream(TEXT.replace("refund", "rebate"), parser)

    assert [[fix.kind.value for fix in report.fixes] for report in reports] == [
        ["prose", "trailing_comma"],
        [],
        [],
    ]
    assert [w.kind.value for w in reports[1].warnings] == ["finish_reason"]
    assert [report.outcome.value for report in reports] == ["value", "value", "failed"]


async def test_fixes_are_custom_events(say: Any) -> None:
    """A fix is reported as it is applied."""
    chain = say(
        "So: ", '{"category": "refund", ', '"order_id": "A1",}'
    ) | SafePartialParser(Ticket)
    seen = [
        event["data"]["kind"]
        async for event in chain.astream_events("go", version="v2")
        if event["event"] == "on_custom_event" and event["name"] == "fix_applied"
    ]
    assert seen == ["prose", "trailing_comma"]
