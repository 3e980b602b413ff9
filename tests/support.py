"""Ways of cutting a text and of reading a stream, for fixtures and property tests."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise
from typing import Any, Final

Cut = Callable[[str], list[str]]

_escape = re.compile(r"\\(?:u[0-9a-fA-F]{0,4})?")


def whole(text: str) -> list[str]:
    """Leave the text in one chunk."""
    return [text]


def pieces(size: int) -> Cut:
    """Cut after every `size` characters."""

    def cut(text: str) -> list[str]:
        return [text[i : i + size] for i in range(0, len(text), size)]

    return cut


def at_random(seed: int) -> Cut:
    """Cut at random places, some of them twice, so that chunks may be empty."""

    def cut(text: str) -> list[str]:
        draw = random.Random(seed)  # noqa: S311 - no cryptography
        count = len(text) // 3 + 1
        places = sorted(draw.choices(range(len(text) + 1), k=count))
        return split(text, places)

    return cut


def in_escapes(text: str) -> list[str]:
    """Cut inside each escape and each surrogate pair."""
    places = {
        place
        for found in _escape.finditer(text)
        for place in range(found.start() + 1, found.end() + 1)
    }
    return split(text, sorted(places))


def split(text: str, places: list[int]) -> list[str]:
    """Cut at the given places."""
    bounds = [0, *places, len(text)]
    return [text[i:j] for i, j in pairwise(bounds)]


CUTS: Final[dict[str, Cut]] = {
    "whole": whole,
    "one": pieces(1),
    "three": pieces(3),
    "random-1": at_random(1),
    "random-2": at_random(2),
    "escapes": in_escapes,
}


def streamed(parser: Any, chunks: Sequence[Any]) -> list[Any]:
    """What a parser yields."""
    return list(parser.transform(iter(chunks)))


def astreamed(parser: Any, chunks: Sequence[Any]) -> list[Any]:
    """What a parser yields, asynchronously."""

    async def source() -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    async def collect() -> list[Any]:
        return [item async for item in parser.atransform(source())]

    return asyncio.run(collect())
