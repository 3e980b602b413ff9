"""Checks: the third layer, run when a path settles."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import BaseModel

from partial_json_core import (
    FailureLayer,
    FieldSettled,
    MalformedOutputError,
    ParserStateError,
    PartialOutputError,
    PartialParser,
    SemanticCheckError,
    aiter_partial,
    iter_partial,
    loads,
)

Cut = Callable[[str], list[str]]


class Line(BaseModel):
    sku: str
    count: int


class Order(BaseModel):
    order_id: str
    lines: list[Line] = []


TEXT = '{"order_id": "A1", "lines": [{"sku": "x", "count": 1}, {"sku": "y", "count": "2"}]}'


def refuse(value: Any) -> None:
    """A check that refuses everything."""
    raise ValueError(f"{value} is unknown")


async def arefuse(value: Any) -> None:
    raise ValueError(f"{value} is unknown")


class Log:
    """A check that writes down what it was asked."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def __call__(self, value: Any) -> None:
        self.values.append(value)

    async def later(self, value: Any) -> None:
        self.values.append(value)


def fed(chunks: list[str], schema: Any = Order, **options: Any) -> PartialParser:
    parser = PartialParser(schema, **options)
    for chunk in chunks:
        parser.feed(chunk)
    return parser


def test_a_check_runs_once_when_its_path_settles(chunked: Cut) -> None:
    """Each selected path is checked once, in document order, converted."""
    log = Log()
    names = ["/order_id", "/lines/*/count", "/lines/*", "/lines", ""]
    parser = fed(chunked(TEXT), checks=dict.fromkeys(names, log))
    order = parser.close("stop")

    first, second = order.lines
    assert log.values == ["A1", 1, first, 2, second, [first, second], order]


@pytest.mark.parametrize("schema", [Order, None])
def test_a_refusal_names_the_layer_the_path_and_the_check(
    schema: Any, chunked: Cut
) -> None:
    """The error comes at the end of the value, in the semantic layer."""
    with pytest.raises(SemanticCheckError) as caught:
        fed(chunked(TEXT), schema, checks={"/order_id": refuse})

    err = caught.value
    assert err.layer is err.report.layer is FailureLayer.SEMANTIC
    assert (err.path, err.offset) == (("order_id",), 17)
    assert (err.check, err.value, err.reason) == ("refuse", "A1", "A1 is unknown")
    assert (
        str(err) == "check `refuse` failed in `$.order_id` at offset 17: A1 is unknown"
    )
    assert isinstance(err.__cause__, ValueError)
    assert pickle.loads(pickle.dumps(err)).reason == err.reason
    assert not any(isinstance(event, FieldSettled) for event in err.events)


def test_an_earlier_refusal_wins_over_a_later_error(chunked: Cut) -> None:
    """What settled first is judged first, also when one chunk holds both."""
    with pytest.raises(SemanticCheckError):
        fed(chunked('{"order_id": "A1", "lines": ?'), checks={"/order_id": refuse})
    with pytest.raises(MalformedOutputError):
        fed(chunked('{"order_id": ?, "lines": []'), checks={"/lines": refuse})


def test_a_check_brings_no_events_that_were_not_asked_for(chunked: Cut) -> None:
    """`watch` decides about events, whatever is checked."""
    log = Log()
    options: dict[str, Any] = {"checks": {"/lines/*/sku": log}, "watch": ["/order_id"]}
    parser = PartialParser(Order, **options)
    paths = {
        event.path
        for chunk in chunked(TEXT)
        for event in parser.feed(chunk)
        if hasattr(event, "path")
    }

    assert log.values == ["x", "y"]
    assert paths == {("order_id",)}


def test_a_root_that_only_the_end_delimits_is_checked() -> None:
    """A bare number and other scalar roots are checked at `close`."""
    log = Log()
    fed(["12"], int, checks={"": log}).close("stop")
    fed(['"a"'], None, root="scalar", checks={"": log}).close("stop")
    with pytest.raises(SemanticCheckError):
        fed(["12"], int, checks={"": refuse}).close("stop")

    assert log.values == [12, "a"]


def test_a_check_that_returns_something_is_a_mistake() -> None:
    """A verdict that is returned would be lost, so it is refused."""
    with pytest.raises(TypeError, match="returned bool: a check returns nothing"):
        fed([TEXT], checks={"/order_id": lambda _value: False})


def test_another_exception_comes_out_as_it_is() -> None:
    """A check whose lookup fails gives no verdict, and the parser is used up."""

    def fail(_value: Any) -> None:
        raise ConnectionError("no database")

    parser = PartialParser(Order, checks={"/order_id": fail})
    with pytest.raises(ConnectionError):
        parser.feed(TEXT)
    with pytest.raises(ParserStateError):
        parser.feed("")


@pytest.mark.parametrize(
    ("checks", "error", "match"),
    [
        ({"/a": None}, TypeError, "the check of '/a' cannot be called"),
        ({"a": refuse}, ValueError, "a path pattern is a JSON Pointer"),
        ([refuse], TypeError, "`checks` must map JSON Pointer patterns"),
    ],
)
def test_a_wrong_check_is_named_when_the_parser_is_made(
    checks: Any, error: type[Exception], match: str
) -> None:
    """Mistakes in `checks` are known before the first chunk."""
    with pytest.raises(error, match=match):
        PartialParser(Order, checks=checks)


def test_the_drivers_take_checks() -> None:
    """`loads` and `iter_partial` run checks, on plain documents too."""
    log = Log()
    loads(TEXT, Order, checks={"/order_id": log})
    list(iter_partial([TEXT], Order, checks={"/order_id": log}))
    with pytest.raises(SemanticCheckError):
        loads(TEXT, Order, checks={"/order_id": refuse})

    assert log.values == ["A1", "A1"]


# ------------------------------------------------------------------------ coroutines


async def source(*chunks: str) -> AsyncIterator[str]:
    for chunk in chunks:
        yield chunk


async def test_coroutine_functions_are_awaited_by_the_asynchronous_driver() -> None:
    """`aiter_partial` awaits each check before it shows what comes after."""
    log = Log()
    checks = {"/order_id": log.later, "/lines/*/sku": log}
    *_, order = [
        item async for item in aiter_partial(source(*TEXT), Order, checks=checks)
    ]
    assert log.values == ["A1", "x", "y"]
    assert order.order_id == "A1"
    with pytest.raises(SemanticCheckError, match="`arefuse`"):
        _ = [
            item
            async for item in aiter_partial(
                source(TEXT), Order, checks={"/order_id": arefuse}
            )
        ]


@pytest.mark.parametrize(
    "chunks", [[*'{"order_id": "A1", "lines": ?'], ['{"order_id": "A1", "lines": ?']]
)
async def test_an_earlier_awaited_refusal_wins_over_a_later_error(
    chunks: list[str],
) -> None:
    """The same verdict comes whether the later error is in the same chunk or not."""
    parser = PartialParser(Order, checks={"/order_id": arefuse})
    with pytest.raises(PartialOutputError) as caught:
        for chunk in chunks:
            await parser.afeed(chunk)

    assert type(caught.value) is SemanticCheckError
    assert caught.value.report.layer is FailureLayer.SEMANTIC


async def test_awaited_checks_of_a_root_number() -> None:
    """`aclose` awaits what `close` was the first to be sure of."""
    parser = PartialParser(int, checks={"": arefuse})
    await parser.afeed("12")
    with pytest.raises(SemanticCheckError):
        await parser.aclose("stop")
    plain = PartialParser(int)
    await plain.afeed("12")

    assert await plain.aclose("stop") == 12


def test_coroutine_functions_are_refused_where_nobody_awaits_them() -> None:
    """`feed`, `close` and the synchronous drivers say where such checks belong."""
    parser = PartialParser(Order, checks={"/order_id": arefuse})
    for call in (
        lambda: parser.feed("{"),
        parser.close,
        lambda: loads(TEXT, Order, checks={"/order_id": arefuse}),
    ):
        with pytest.raises(
            TypeError, match="use `afeed`, `aclose` and `aiter_partial`"
        ):
            call()


async def test_an_exception_of_an_awaited_check_comes_out_as_it_is() -> None:
    """A lookup that fails gives no verdict."""

    async def fail(_value: Any) -> None:
        raise ConnectionError("no database")

    parser = PartialParser(Order, checks={"/order_id": fail})
    with pytest.raises(ConnectionError):
        await parser.afeed(TEXT)
    with pytest.raises(ParserStateError):
        await parser.afeed("")
