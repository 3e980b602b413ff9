"""What `SafePartialParser.transform` costs beside `StrOutputParser.transform`.

The same message chunks of 4 characters, CPU time, medians of alternating runs.

    python benchmarks/langchain_speed.py
"""

from __future__ import annotations

import statistics
from collections import deque
from functools import partial
from typing import Any

from core_speed import chunks, seconds
from langchain_core.messages import AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from schema_cost import Table, table

from langchain_partial import SafePartialParser

RUNS = 11
SIZES = {"2 KB": 30, "16 KB": 240, "64 KB": 950}


def consume(parser: Any, messages: list[AIMessageChunk]) -> None:
    """Read a stream to its end."""
    deque(parser.transform(iter(messages)), maxlen=0)


def main() -> None:
    """Print the table."""
    parsers = [StrOutputParser(), SafePartialParser(), SafePartialParser(Table)]
    print(f"{'':8}{'StrOutputParser':>18}{'without schema':>18}{'with a schema':>18}")
    for name, count in SIZES.items():
        pieces = chunks(table(count))
        messages = [AIMessageChunk(piece) for piece in pieces]
        messages.append(AIMessageChunk("", response_metadata={"finish_reason": "stop"}))
        times = max(1, 2_000 // len(pieces))
        runs = []
        for _ in range(RUNS):
            row = []
            for parser in parsers:
                call = partial(consume, parser, messages)
                row.append(seconds(lambda: [call() for _ in range(times)]) / times)  # noqa: B023 - called at once
            runs.append(row)
        theirs, plain, typed = (
            statistics.median(column) for column in zip(*runs, strict=True)
        )
        print(
            f"{name:8}{theirs * 1e3:15.2f} ms{plain / theirs:16.2f} x"
            f"{typed / theirs:16.2f} x"
        )


if __name__ == "__main__":
    main()
