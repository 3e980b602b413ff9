"""Where the guard stops an answer that cannot become valid, and what is never paid for.

One answer of a support desk, broken in one place for each rule, and the order of the
fields turned around for one of them.

    python benchmarks/earliest_verdict.py
    python benchmarks/earliest_verdict.py --markdown
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from partial_json_core import PartialParser, SchemaMismatchError


class Email(BaseModel):
    """Tell the customer by mail."""

    kind: Literal["email"]
    address: str


class Call(BaseModel):
    """Tell the customer by telephone."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["call"]
    number: str


class Item(BaseModel):
    """What came back, and why."""

    sku: str
    count: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _known(self) -> Item:
        if self.sku.startswith("X"):
            raise ValueError("discontinued")
        return self


class Answer(BaseModel):
    """The answer of a support desk."""

    model_config = ConfigDict(extra="forbid")
    category: Literal["refund", "exchange", "inquiry"]
    title: Annotated[str, Field(max_length=40)]
    items: Annotated[list[Item], Field(max_length=3)]
    contact: Annotated[Email | Call, Field(discriminator="kind")]
    amount: int | list[int]
    reason: str


REASON = (
    "The customer reports that the parcel arrived on Monday with a broken seal, that "
    "two of the three lamps inside were cracked and that the third one does not light. "
    "The photographs show the damage clearly, the carrier has confirmed it, and the "
    "order is within the return period, so that the whole amount should be paid back. "
) * 2
GOOD: dict[str, Any] = {
    "category": "refund",
    "title": "Two broken lamps",
    "items": [{"sku": "A-1", "count": 2}, {"sku": "B-7", "count": 1}],
    "contact": {"kind": "email", "address": "ann@example.org"},
    "amount": 1999,
    "reason": REASON,
}
BROKEN: dict[str, dict[str, Any]] = {
    "wrong container at its bracket": {"items": {"sku": "A-1"}},
    'unknown key under `extra="forbid"`': {"categry": "refund"},
    "no `Literal` member begins so": {"category": "return"},
    "`max_length` exceeded": {
        "title": "Two broken lamps, and one that does not light at all"
    },
    "`max_items` exceeded": {
        "items": [{"sku": f"A-{i}", "count": 1} for i in range(9)]
    },
    "a scalar at its end": {
        "items": [{"sku": "A-1", "count": 0}, {"sku": "B-7", "count": 1}]
    },
    "a nested model at its brace": {
        "items": [{"sku": "X-1", "count": 1}, {"sku": "B-7", "count": 1}]
    },
    "an unknown tag of a discriminated union": {
        "contact": {"kind": "letter", "address": "Main Street 1"}
    },
    "an unknown key behind the tag": {
        "contact": {"kind": "call", "address": "ann@example.org"}
    },
    "the last branch of a plain union": {"amount": [1999, "gift"]},
    "a required field, at the brace of the root": {"amount": None},
}


def broken(rule: str) -> str:
    """The answer with one place broken."""
    changed = BROKEN[rule]
    if "categry" in changed:
        return json.dumps(
            {**changed, **{k: v for k, v in GOOD.items() if k != "category"}}
        )
    answer = {**GOOD, **changed}
    if answer["amount"] is None:
        del answer["amount"]
    return json.dumps(answer)


def stop(text: str) -> SchemaMismatchError:
    """Where the guard stops a text, character by character."""
    parser = PartialParser(Answer)
    try:
        for char in text:
            parser.feed(char)
    except SchemaMismatchError as err:
        return err
    raise AssertionError("the answer is valid")


def rows() -> list[tuple[str, str, int, int, str]]:
    """For each rule the place, the offset, the length and the share that is saved."""
    listed = []
    for rule in BROKEN:
        text = broken(rule)
        err = stop(text)
        listed.append(_row(rule, text, err))
    wrong = GOOD | {"category": "return"}
    last = {key: wrong[key] for key in [*list(wrong)[1:], "category"]}
    for name, answer in (("enum first", wrong), ("reason first, enum last", last)):
        text = json.dumps(answer)
        listed.append(_row(name, text, stop(text)))
    return listed


def _row(
    name: str, text: str, err: SchemaMismatchError
) -> tuple[str, str, int, int, str]:
    seen = text[max(err.offset - 24, 0) : err.offset]
    place = f"…{seen}▸{text[err.offset : err.offset + 1]}"
    saved = 1 - err.offset / len(text)
    return name, place, err.offset, len(text), f"{saved:.0%}"


def main() -> None:
    """Print the table."""
    listed = rows()
    if "--markdown" in sys.argv[1:]:
        print("| rule | stopped at | character | of | never paid for |")
        print("|---|---|---|---|---|")
        for name, place, offset, length, saved in listed:
            print(f"| {name} | `{place}` | {offset} | {length} | {saved} |")
        return
    for name, place, offset, length, saved in listed:
        print(
            f"{name:45} {place:32} {offset:5} of {length:5}  {saved:>4} never paid for"
        )


if __name__ == "__main__":
    main()
