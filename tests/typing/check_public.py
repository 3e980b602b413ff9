"""What users write, checked by mypy in strict mode and never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from pydantic import BaseModel

from langchain_partial import SafePartialParser
from partial_json_core import (
    FieldSettled,
    FieldState,
    FinishReason,
    FixKind,
    FixPolicy,
    Limits,
    Partial,
    PartialParser,
    TruncatedOutputError,
    aiter_partial,
    iter_partial,
    loads,
)


class Ticket(BaseModel):
    """A schema."""

    title: str


def read(chunks: list[str]) -> Any:
    """Feed, look and close."""
    parser = PartialParser(
        Ticket,
        policy=FixPolicy.SYNTAX_SAFE.with_(FixKind.COMMENT),
        limits=Limits(max_chars=10_000),
        watch=["/title"],
        root="object",
    )
    for chunk in chunks:
        for event in parser.feed(chunk):
            if isinstance(event, FieldSettled):
                path: tuple[str | int, ...] = event.path
                del path
    try:
        return parser.close(FinishReason.STOP)
    except TruncatedOutputError as err:
        return err.salvage().value


def rebuild(partial: Partial[Ticket]) -> str | None:
    """A partial is a type hint, and its attributes are Any."""
    if partial.state("title") is FieldState.SETTLED:
        title: str = partial.title
        return title
    nested: FieldState = partial.items[0].state("name")
    shown: dict[str, Any] = partial.model_dump(mode="json")
    del nested, shown
    return partial.model_dump_json()


def infer(text: str, chunks: list[str]) -> Ticket:
    """The schema's type is the type of the final value."""
    ticket: Ticket = loads(text, Ticket, checks={"/title": print}, early=["/title"])
    parser = PartialParser(Ticket)
    same: Ticket = parser.close("stop")
    plain: Any = PartialParser().close()
    rows: list[Ticket] = loads(text, list[Ticket])
    schema: Any = loads(text, {"type": "object"})
    for item in iter_partial(chunks, Ticket, stop_early=True):
        known: Partial[Ticket] | Ticket = item
        if isinstance(item, Ticket):
            return item
        del known
    del same, plain, rows, schema
    return parser.accept() if parser.satisfied else ticket


def drive(chunks: list[str]) -> Iterator[Any]:
    """The drivers."""
    loads(chunks[0], list[Ticket], finish_reason="stop")
    return iter_partial(chunks, Ticket, finish_reason=lambda: "stop")


def adrive(chunks: AsyncIterator[str]) -> AsyncIterator[Any]:
    """The asynchronous driver."""
    return aiter_partial(chunks, Ticket)


def chain() -> Ticket:
    """The LangChain parser gives its schema's type."""
    parser: SafePartialParser[Ticket] = SafePartialParser(Ticket)
    return parser.invoke("{}")
