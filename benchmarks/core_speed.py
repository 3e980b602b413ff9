"""What the core costs: microseconds a chunk, and `loads` against `json.loads`.

A stream is cut into chunks of 4 characters, about a token, and a snapshot is looked at
after each. CPU time, medians of alternating runs; the machine's own speed is shown as
the cost of an empty call a chunk, so that figures of two machines can be compared.

    python benchmarks/core_speed.py
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from partial_json_core import Limits, PartialParser, loads

LIMITS = Limits(max_chars=50_000_000, max_repeat=None)
TOKEN = 4
RUNS = 7


def scalars(size: int) -> str:
    """One object of numbers, strings and booleans, about `size` characters."""
    fields: dict[str, Any] = {}
    length = 0
    while length < size:
        index = len(fields)
        value = [index, "some text value", index * 1.5, True][index % 4]
        fields[f"field_{index}"] = value
        length += len(json.dumps(value)) + len(f"field_{index}") + 6
    return json.dumps(fields)


def records(count: int) -> str:
    """Rows of four scalars."""
    rows = [
        {"id": i, "name": f"row number {i}", "amount": i * 1.25, "ok": True}
        for i in range(count)
    ]
    return json.dumps({"rows": rows})


DOCUMENTS = {
    "2 KB object of scalars": scalars(2_000),
    "1 MB object of scalars": scalars(1_000_000),
    "100 records": records(100),
    "5000 records": records(5_000),
    "one 18 KB string": json.dumps({"text": "lorem ipsum " * 1_500}),
    "90 levels": "[" * 90 + "1" + "]" * 90,
}


def chunks(text: str) -> list[str]:
    """Cut into token-sized chunks."""
    return [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]


def watched(pieces: list[str]) -> None:
    """Feed, and look at a snapshot after each chunk without keeping it."""
    parser = PartialParser(limits=LIMITS)
    feed, snapshot = parser.feed, parser.snapshot
    for piece in pieces:
        feed(piece)
        snapshot()


def held(pieces: list[str]) -> None:
    """The same, holding the latest snapshot."""
    parser = PartialParser(limits=LIMITS)
    feed, snapshot = parser.feed, parser.snapshot
    latest = None
    for piece in pieces:
        feed(piece)
        latest = snapshot()
    del latest


def silent(pieces: list[str]) -> None:
    """Feed without events, and look at snapshots."""
    parser = PartialParser(limits=LIMITS, watch=())
    feed, snapshot = parser.feed, parser.snapshot
    for piece in pieces:
        feed(piece)
        snapshot()


def nothing(pieces: list[str]) -> None:
    """The floor: an empty call a chunk."""
    for piece in pieces:
        _empty(piece)


def _empty(_piece: str) -> None:
    """Do nothing."""


def seconds(call: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def a_chunk(how: Callable[[list[str]], None], pieces: list[str]) -> float:
    """Microseconds a chunk, repeated until it can be measured."""
    times = max(1, 20_000 // len(pieces))

    def repeated() -> None:
        for _ in range(times):
            how(pieces)

    return seconds(repeated) / times / len(pieces) * 1e6


def main() -> None:
    """Print the tables."""
    ways = [watched, silent, held, nothing]
    print("microseconds a chunk of 4 characters, median of", RUNS)
    print(
        f"{'':24}{'events, snapshot':>18}{'snapshot':>10}{'held':>8}{'empty call':>12}"
    )
    for name, text in DOCUMENTS.items():
        pieces = chunks(text)
        runs = RUNS if len(pieces) < 50_000 else 3
        figures = [[a_chunk(how, pieces) for how in ways] for _ in range(runs)]
        a, b, c, d = (
            statistics.median(column) for column in zip(*figures, strict=True)
        )
        print(f"{name:24}{a:18.2f}{b:10.2f}{c:8.2f}{d:12.3f}")
    text = records(950)
    pairs = [
        (seconds(lambda: json.loads(text)), seconds(lambda: loads(text)))
        for _ in range(41)
    ]
    theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"loads of {len(text) // 1000} KB without a schema: {ours / theirs:.2f} times "
        f"json.loads ({theirs * 1e6:.0f} microseconds)"
    )


if __name__ == "__main__":
    main()
