"""How many cut answers does each tool hand over as if they were whole?

A 10-transaction answer in three layouts is cut at every character, and each tool is
asked to read each cut. A cut that comes back as a value without an error is counted,
and with it what is wrong in the value: rows that are missing, numbers and texts that
the model did not write. A whole answer that is refused is a false alarm. All shares
are shares of all cuts.

    python benchmarks/cut_anywhere.py              # all tools that are installed
    python benchmarks/cut_anywhere.py --markdown   # the table of the README
    python benchmarks/cut_anywhere.py --json       # the counts
    python benchmarks/cut_anywhere.py --layouts compact --tools json_repair ours

Exits with 1 when one of ours hands over a cut, or refuses the whole.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

CURRENCIES = ["EUR", "USD", "GBP"]
REASONS = ["new payee", "night time", "round sum", "split payment"]


class Transaction(BaseModel):
    """One row; `amount` is in the smallest unit of the currency."""

    id: int
    amount: int
    currency: str
    reason: str


class Report(BaseModel):
    """What the model is asked for."""

    title: str
    transactions: list[Transaction]


class TransactionDict(TypedDict):
    """`Transaction` for pydantic's partial validation, which skips models."""

    id: int
    amount: int
    currency: str
    reason: str


class ReportDict(TypedDict):
    """`Report`, likewise."""

    title: str
    transactions: list[TransactionDict]


ROWS = [
    {
        "id": 1001 + i,
        "amount": 10_000_000 - 777_771 * i,
        "currency": CURRENCIES[i % 3],
        "reason": REASONS[i % 4],
    }
    for i in range(10)
]
ANSWER = {"title": "Suspicious transactions", "transactions": ROWS}
LAYOUTS: dict[str, str] = {
    "default": json.dumps(ANSWER),
    "compact": json.dumps(ANSWER, separators=(",", ":")),
    "indented": json.dumps(ANSWER, indent=2),
}
WHOLE = Report.model_validate(ANSWER)

Read = Callable[[str], Any]


@dataclass
class Score:
    """What one tool made of one layout.

    Attributes:
        cuts: Cuts that were tried.
        accepted: Cuts that came back as a value.
        wrong: Accepted cuts whose value is not the whole answer.
        missing_rows: Of these, the ones with fewer rows.
        wrong_number: Of these, the ones with a number that the model did not write.
        cut_text: Of these, the ones with a text that is only its beginning.
        false_alarm: The whole answer was refused, or read as something else.
    """

    cuts: int = 0
    accepted: int = 0
    wrong: int = 0
    missing_rows: int = 0
    wrong_number: int = 0
    cut_text: int = 0
    false_alarm: bool = False


def plain(value: Any) -> Any:
    """The value as plain JSON, whatever a tool calls it."""
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Each scalar of a tree with its path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for segment, item in items:
            yield from leaves(item, (*path, segment))
    else:
        yield path, value


TRUTH = dict(leaves(ANSWER))


def judge(value: Any, score: Score) -> None:
    """Count what is wrong with an accepted value."""
    score.wrong += 1
    found = value.get("transactions") if isinstance(value, dict) else None
    score.missing_rows += len(found or ()) < len(ROWS)
    # A field that has not come is None for some tools: missing, not wrong.
    wrong = [
        item
        for path, item in leaves(value)
        if item is not None and item != TRUTH.get(path)
    ]
    score.wrong_number += any(isinstance(item, int | float) for item in wrong)
    score.cut_text += any(isinstance(item, str) for item in wrong)


def measure(read: Read, text: str) -> Score:
    """Cut a text everywhere and count what comes back."""
    score = Score(cuts=len(text) - 1)
    for end in range(1, len(text)):
        try:
            value = plain(read(text[:end]))
        except Exception:  # noqa: S112 - loud, and so not counted
            continue
        if value is None:
            continue
        score.accepted += 1
        if value != ANSWER:
            judge(value, score)
    try:
        score.false_alarm = plain(read(text)) != ANSWER
    except Exception:
        score.false_alarm = True
    return score


# ------------------------------------------------------------------------ the tools


def _json() -> Read:
    return lambda text: Report.model_validate(json.loads(text))


def _langchain(name: str, *, stream: bool) -> Read:
    from langchain_core import output_parsers as parsers
    from langchain_core.messages import AIMessageChunk

    parser: Any = getattr(parsers, name)(pydantic_object=Report)
    if not stream:
        invoke: Read = parser.invoke
        return invoke

    def read(text: str) -> Any:
        chunks = (AIMessageChunk(content=chunk) for chunk in cut(text))
        return [None, *parser.transform(chunks)][-1]

    return read


def cut(text: str) -> Iterator[str]:
    """Chunks of a few tokens: one by one, peers that re-parse would take minutes."""
    return (text[i : i + 16] for i in range(0, len(text), 16))


def _json_repair() -> Read:
    repair: Any = importlib.import_module("json_repair")
    return lambda text: Report.model_validate(repair.loads(text))


def _partial_json_parser() -> Read:
    parser: Any = importlib.import_module("partial_json_parser")
    return lambda text: Report.model_validate(parser.loads(text))


def _allow_partial(schema: Any) -> Read:
    adapter = TypeAdapter(schema)
    mode: Any = "trailing-strings"
    return lambda text: adapter.validate_json(text, experimental_allow_partial=mode)


def _instructor() -> Read:
    dsl: Any = importlib.import_module("instructor.dsl.partial")
    partial = dsl.Partial[Report]

    def read(text: str) -> Any:
        # What `create_partial` does with the text of a stream.
        *_, last = partial.model_from_chunks(cut(text))
        return last

    return read


_BAML = """
class Transaction {
  id int
  amount int
  currency string
  reason string
}
class Report {
  title string
  transactions Transaction[]
}
client<llm> Script {
  provider openai
  options {
    model "script"
    api_key "x"
  }
}
function Read(text: string) -> Report {
  client Script
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
"""


def _baml() -> Read:
    baml: Any = importlib.import_module("baml_py")
    runtime = baml.BamlRuntime.from_files("baml_src", {"main.baml": _BAML}, {})
    module: Any = importlib.import_module("types")
    types = module.ModuleType("baml_types")
    types.Transaction, types.Report = Transaction, Report
    context = runtime.create_context_manager()

    def read(text: str) -> Any:
        return runtime.parse_llm_response(
            "Read", text, types, types, types, False, context, None, None, {}
        )

    read(LAYOUTS["default"])
    return read


def _ours_loads() -> Read:
    from partial_json_core import loads

    return lambda text: loads(text, Report)


def _ours(how: str) -> Read:
    from langchain_core.messages import AIMessage, AIMessageChunk

    from langchain_partial import SafePartialParser

    parser: Any = SafePartialParser(Report)

    def invoke(text: str) -> Any:
        return parser.invoke(AIMessage(content=text))

    def stream(text: str) -> Any:
        *_, last = parser.transform(AIMessageChunk(content=c) for c in cut(text))
        return last

    async def collect(text: str) -> Any:
        async def source() -> Any:
            for chunk in cut(text):
                yield AIMessageChunk(content=chunk)

        return [item async for item in parser.atransform(source())][-1]

    return {
        "invoke": invoke,
        "stream": stream,
        "astream": lambda text: asyncio.run(collect(text)),
        "ainvoke": lambda text: asyncio.run(parser.ainvoke(AIMessage(content=text))),
    }[how]


def _call_chunks(text: str) -> Iterator[Any]:
    """The text as the arguments of a tool call."""
    from langchain_core.messages import AIMessageChunk

    first: dict[str, Any] = {"index": 0, "id": "1", "name": "Report", "args": ""}
    yield AIMessageChunk(content="", tool_call_chunks=[first])
    for chunk in cut(text):
        part = {"index": 0, "id": None, "name": None, "args": chunk}
        yield AIMessageChunk(content="", tool_call_chunks=[part])


def _langchain_tools() -> Read:
    from langchain_core.output_parsers import PydanticToolsParser

    parser = PydanticToolsParser(tools=[Report], first_tool_only=True)

    def stream(text: str) -> Any:
        *_, last = parser.transform(_call_chunks(text))
        return last

    return stream


def _ours_tools(name: str, how: str) -> Read:
    import langchain_partial

    options: dict[str, Any] = {}
    schema: Any = Report
    if name == "SafePartialToolsParser":
        schema, options = [Report], {"first_tool_only": True}
    parser: Any = getattr(langchain_partial, name)(schema, **options)

    def stream(text: str) -> Any:
        *_, last = parser.transform(_call_chunks(text))
        return getattr(last, "args", last)

    async def collect(text: str) -> Any:
        async def source() -> Any:
            for chunk in _call_chunks(text):
                yield chunk

        last = [item async for item in parser.atransform(source())][-1]
        return getattr(last, "args", last)

    return stream if how == "stream" else lambda text: asyncio.run(collect(text))


TOOLS: dict[str, Callable[[], Read]] = {
    "json.loads + pydantic": _json,
    "LangChain PydanticOutputParser, invoke": lambda: _langchain(
        "PydanticOutputParser", stream=False
    ),
    "LangChain PydanticOutputParser, stream": lambda: _langchain(
        "PydanticOutputParser", stream=True
    ),
    "LangChain JsonOutputParser, invoke": lambda: _langchain(
        "JsonOutputParser", stream=False
    ),
    "LangChain JsonOutputParser, stream": lambda: _langchain(
        "JsonOutputParser", stream=True
    ),
    "json_repair + pydantic": _json_repair,
    "partial-json-parser + pydantic": _partial_json_parser,
    "pydantic allow_partial, model": lambda: _allow_partial(Report),
    "pydantic allow_partial, TypedDict": lambda: _allow_partial(ReportDict),
    "instructor Partial": _instructor,
    "BAML parse": _baml,
    "ours: loads": _ours_loads,
    "ours: chain.invoke": lambda: _ours("invoke"),
    "ours: chain.ainvoke": lambda: _ours("ainvoke"),
    "ours: chain.stream": lambda: _ours("stream"),
    "ours: chain.astream": lambda: _ours("astream"),
    "LangChain PydanticToolsParser, stream": _langchain_tools,
    "ours: one tool call, stream": lambda: _ours_tools("SafePartialParser", "stream"),
    "ours: one tool call, astream": lambda: _ours_tools("SafePartialParser", "astream"),
    "ours: tools parser, stream": lambda: _ours_tools(
        "SafePartialToolsParser", "stream"
    ),
    "ours: tools parser, astream": lambda: _ours_tools(
        "SafePartialToolsParser", "astream"
    ),
}


def run(
    tools: list[str] | None = None, layouts: list[str] | None = None
) -> dict[str, dict[str, Score] | str]:
    """Measure tools; a tool that cannot be used gives the reason instead."""
    results: dict[str, dict[str, Score] | str] = {}
    for name, make in TOOLS.items():
        if tools and not any(part.lower() in name.lower() for part in tools):
            continue
        try:
            read = make()
        except ModuleNotFoundError as err:
            results[name] = f"not installed: {err.name}"
            continue
        except Exception as err:
            results[name] = f"not run: {type(err).__name__}"
            continue
        results[name] = {
            layout: measure(read, text)
            for layout, text in LAYOUTS.items()
            if not layouts or layout in layouts
        }
    return results


def rows(results: dict[str, dict[str, Score] | str]) -> list[list[str]]:
    """The results as cells, one for each column of `HEADER`."""
    table = []
    for name, scores in results.items():
        if isinstance(scores, str):
            table.append([name, scores, *[""] * (len(HEADER) - 2)])
            continue
        cells = [name]
        for layout in LAYOUTS:
            score = scores.get(layout)
            cells.append(_share(score.accepted, score.cuts) if score else "")
        cuts = sum(score.cuts for score in scores.values())
        cells += [
            _share(sum(getattr(score, count) for score in scores.values()), cuts)
            for count in ("accepted", "missing_rows", "wrong_number", "cut_text")
        ]
        cells.append(str(sum(score.false_alarm for score in scores.values())))
        table.append(cells)
    return table


def _share(part: int, whole: int) -> str:
    if part == 0:
        return "0"
    return f"{100 * part / whole:.1f} %"


HEADER = [
    "tool",
    *LAYOUTS,
    "all cuts accepted",
    "rows missing",
    "a number wrong",
    "a text cut",
    "whole refused",
]


def ours_is_safe(results: dict[str, dict[str, Score] | str]) -> bool:
    """Whether none of ours accepted a cut or refused the whole."""
    return all(
        not isinstance(scores, str)
        and all(not s.accepted and not s.false_alarm for s in scores.values())
        for name, scores in results.items()
        if name.startswith("ours")
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tools", nargs="*", help="parts of tool names")
    parser.add_argument("--layouts", nargs="*", choices=list(LAYOUTS))
    asked = parser.parse_args()
    # What a peer warns of is not what is measured.
    warnings.simplefilter("ignore")
    results = run(asked.tools, asked.layouts)
    table = rows(results)
    if asked.json:
        print(json.dumps(results, default=asdict, indent=2))
    elif asked.markdown:
        print("| " + " | ".join(HEADER) + " |")
        print("|---" * len(HEADER) + "|")
        for cells in table:
            print("| " + " | ".join(cells) + " |")
    else:
        widths = [max(map(len, column)) for column in zip(HEADER, *table, strict=True)]
        for cells in [HEADER, *table]:
            print("  ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)))
    return 0 if ours_is_safe(results) else 1


if __name__ == "__main__":
    sys.exit(main())
