"""What a schema costs: a stream of partials, `loads` with a model, compiling a guard.

CPU time, medians of alternating runs in one process.

    python benchmarks/schema_cost.py
"""

from __future__ import annotations

import datetime as dt
import enum
import json
import statistics
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from core_speed import chunks, seconds
from pydantic import BaseModel, Field, create_model

from partial_json_core import Limits, PartialParser, compile_schema, loads

LIMITS = Limits(max_chars=50_000_000, max_repeat=None)
RUNS = 9


class Row(BaseModel):
    """Four scalars."""

    id: int
    name: str
    amount: float
    ok: bool


class Table(BaseModel):
    """Rows."""

    rows: list[Row]


class Status(str, enum.Enum):
    """Where an order stands."""

    NEW = "new"
    PAID = "paid"
    SENT = "sent"


class Order(BaseModel):
    """Fields that are converted and bounded."""

    id: int = Field(ge=0)
    status: Status
    day: dt.date
    price: Decimal
    note: str = Field(max_length=200)
    kind: Literal["a", "b"]


class Orders(BaseModel):
    """Orders."""

    orders: list[Order]


def table(count: int) -> str:
    """Rows of plain scalars."""
    rows = [
        {"id": i, "name": f"row number {i}", "amount": i * 1.25, "ok": True}
        for i in range(count)
    ]
    return json.dumps({"rows": rows})


def orders(count: int) -> str:
    """Rows that are converted."""
    rows = [
        {
            "id": i,
            "status": "paid",
            "day": "2024-02-29",
            "price": "12.50",
            "note": "lorem ipsum dolor sit amet",
            "kind": "a",
        }
        for i in range(count)
    ]
    return json.dumps({"orders": rows})


def wide(count: int = 28, unions: int = 3) -> type[BaseModel]:
    """A fresh model of `count` fields, `unions` of them unions."""
    fields: dict[str, Any] = {
        f"field_{i}": (
            int | str | list[int] if i < unions else [int, str, Row][i % 3],
            ...,
        )
        for i in range(count)
    }
    return create_model("Wide", **fields)


def stream(schema: Any, pieces: list[str], *, early: bool = True) -> None:
    """Feed, and take a snapshot after each chunk."""
    parser = PartialParser(schema, limits=LIMITS, early=early)
    feed, snapshot = parser.feed, parser.snapshot
    for piece in pieces:
        feed(piece)
        snapshot()


def medians(*calls: Callable[[], object], times: int) -> list[float]:
    """CPU seconds of one call of each, in alternating runs."""

    def repeated(call: Callable[[], object]) -> float:
        return seconds(lambda: [call() for _ in range(times)]) / times

    runs = [[repeated(call) for call in calls] for _ in range(RUNS)]
    return [statistics.median(column) for column in zip(*runs, strict=True)]


def main() -> None:
    """Print the figures."""
    print(
        "a stream in chunks of 4 characters with a snapshot each, microseconds a chunk"
    )
    for name, schema, text in (
        ("100 rows of plain scalars", Table, table(100)),
        ("100 rows that are converted", Orders, orders(100)),
    ):
        pieces = chunks(text)
        untyped, typed, late = medians(
            partial(stream, None, pieces),
            partial(stream, schema, pieces),
            partial(stream, schema, pieces, early=False),
            times=3,
        )
        print(
            f"  {name}: untyped {untyped / len(pieces) * 1e6:.2f}, "
            f"with a schema {typed / len(pieces) * 1e6:.2f} ({typed / untyped:.2f} x), "
            f"early=False {late / untyped:.2f} x"
        )
    print("loads(text, Model) against Model.model_validate_json(text)")
    for name, model, text in (
        ("64 KB of plain rows", Table, table(950)),
        ("64 KB of converted rows", Orders, orders(500)),
        ("1 KB of plain rows", Table, table(15)),
    ):
        theirs, ours = medians(
            partial(model.model_validate_json, text),
            partial(loads, text, model),
            times=20,
        )
        print(f"  {name}: {ours / theirs:.2f} x ({theirs * 1e6:.0f} microseconds)")
    times = []
    for _ in range(RUNS):
        model = wide()
        compile_schema(model)
        start = time.process_time()
        guard = compile_schema(model).place
        fields = guard.object.fields.values()
        for field in fields:
            field.place.errors_for(None)
        times.append(time.process_time() - start)
    print(
        f"compiling every place of 28 fields: {statistics.median(times) * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
