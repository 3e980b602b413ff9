"""What users write, checked by mypy in strict mode and never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from pydantic import BaseModel

from langchain_partial import SafePartialParser
from partial_json_core import (
    FieldSettled,
    FinishReason,
    FixKind,
    FixPolicy,
    Limits,
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
