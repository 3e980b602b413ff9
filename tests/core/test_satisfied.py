"""Early exit: the final value is known before the text has ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from partial_json_core import (
    Outcome,
    ParserStateError,
    PartialParser,
    SchemaMismatchError,
    aiter_partial,
    iter_partial,
    loads,
)

Cut = Callable[[str], list[str]]


class Verdict(BaseModel):
    verdict: Literal["safe", "unsafe"]
    score: int = 0


class Forbidding(Verdict):
    model_config = ConfigDict(extra="forbid")


class Allowing(Verdict):
    model_config = ConfigDict(extra="allow")


class Nested(BaseModel):
    inner: Verdict
    rest: list[int]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


class Ordered(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def _order(self) -> Ordered:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class Unwrapping(Verdict):
    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, value: Any) -> Any:
        return value


PET = Annotated[Cat | Dog, Field(discriminator="kind")]
KNOWN_AT = {
    "all fields": (Verdict, '{"verdict": "safe", "score": 1^, "why": "because of'),
    "a number needs its end": (Verdict, '{"verdict": "safe", "score": 1'),
    "a field with a default may still come": (Verdict, '{"verdict": "safe", '),
    "an open field": (Nested, '{"inner": {"verdict": "safe"}, "rest": [1'),
    "nested fields": (
        Nested,
        '{"inner": {"verdict": "safe", "score": 1}, "rest": [1]^, "x',
    ),
    "an unknown key is an error": (Forbidding, '{"verdict": "safe", "score": 1, '),
    "an unknown key is kept": (Allowing, '{"verdict": "safe", "score": 1, '),
    "a validator may look at the whole": (
        Unwrapping,
        '{"verdict": "safe", "score": 1, ',
    ),
    "a validator that accepts": (Ordered, '{"low": 1, "high": 2^, "x'),
    "a discriminated union": (PET, '{"kind": "cat", "lives": 9^, "x'),
    "no schema": (None, '{"a": 1, '),
    "an array": (list[int], "[1, "),
    "a closed root": (list[int], "[1]^ and words"),
    "a closed root without a schema": (None, '{"a": 1}^ and'),
}


@pytest.mark.parametrize("name", list(KNOWN_AT))
def test_a_parser_is_satisfied_when_nothing_can_change_the_value(name: str) -> None:
    """It is so at the first character that makes it sure, and not before."""
    schema, marked = KNOWN_AT[name]
    text = marked.replace("^", "")
    known_at = marked.index("^") if "^" in marked else -1
    parser = PartialParser(schema)
    satisfied = []
    for char in text:
        parser.feed(char)
        satisfied.append(parser.satisfied)

    if known_at < 0:
        assert not any(satisfied)
        with pytest.raises(ParserStateError, match="not satisfied"):
            parser.accept()
        return
    first = satisfied.index(True)
    # A number settles with the character after it.
    assert first == known_at - (0 if text[known_at - 1].isdigit() else 1)
    assert all(satisfied[first:])
    whole = text[:known_at]
    if whole[0] == "{" and whole.count("{") > whole.count("}"):
        whole += "}"
    assert parser.accept() == loads(whole, schema)
    report = parser.report
    assert report.stopped_early
    assert report.outcome is Outcome.VALUE
    assert report.unread == len(text) - known_at
    with pytest.raises(ParserStateError):
        parser.accept()
    assert not parser.satisfied


def test_what_the_model_refuses_is_not_satisfied() -> None:
    """All fields are there and wrong together: the closing brace raises."""
    parser = PartialParser(Ordered)
    parser.feed('{"low": 2, "high": 1, ')
    assert not parser.satisfied
    with pytest.raises(SchemaMismatchError):
        parser.feed('"x": 0}')


class Source:
    """Chunks that count how many were taken, and know whether they were closed."""

    def __init__(self, text: str) -> None:
        self.text = iter(text)
        self.taken = 0
        self.is_closed = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.taken += 1
        return next(self.text)

    def close(self) -> None:
        self.is_closed = True

    def __aiter__(self) -> AsyncIterator[str]:
        return self  # type: ignore[return-value]  # it has __anext__

    async def __anext__(self) -> str:
        for char in self.text:
            self.taken += 1
            return char
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.is_closed = True


LONG = '{"verdict": "safe", "score": 1, "why": "' + "because " * 50 + '"}'


async def test_the_drivers_stop_the_source() -> None:
    """With `stop_early` a driver ends with the value and leaves the rest unread."""
    source, later = Source(LONG), Source(LONG)
    *_, value = iter_partial(source, Verdict, stop_early=True)
    *_, same = [item async for item in aiter_partial(later, Verdict, stop_early=True)]

    assert value == same == Verdict(verdict="safe", score=1)
    assert source.taken == later.taken == 31
    assert source.is_closed
    assert later.is_closed


def test_without_early_exit_everything_is_read() -> None:
    """By default a stream is read to its end, and a cut is loud."""
    source = Source(LONG)
    *_, value = iter_partial(source, Verdict)

    assert value == Verdict(verdict="safe", score=1)
    assert source.taken == len(LONG) + 1
