"""Watch a report fill in while the model writes it, and see what a cut answer becomes.

A real `ChatOpenAI` client streams a scripted answer of 10 transactions from a server on
this machine through ``prompt | llm | SafePartialParser(Report)``; then the same answer
is cut by ``max_tokens``, and every parser is asked for its opinion.

    python examples/demo.py                    # no key, no network
    python examples/demo.py --speed max        # without the waiting
    python examples/demo.py --base-url https://... --model NAME --api-key-env MY_KEY \
        --prompt "Report three suspicious payments."   # a real endpoint, live

Exits with 0 when everything went as it says.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from loopback import LoopbackServer, Script
from pydantic import BaseModel
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from langchain_partial import SafePartialParser
from partial_json_core import (
    UNSET,
    FieldState,
    Partial,
    PartialDict,
    PartialOutputError,
    Path,
    TruncatedOutputError,
    field_state,
    format_path,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "benchmarks"))
from cut_anywhere import (
    ANSWER,
    HEADER,
    LAYOUTS,
    Report,
    ours_is_safe,
    rows,
    run,
)

STATE_STYLES = {
    FieldState.ABSENT: "dim",
    FieldState.OPEN: "yellow",
    FieldState.SETTLED: "green",
}
COLUMNS = ("id", "amount", "currency", "reason")
SCRIPT = Script(LAYOUTS["compact"])
# Before the second row is closed: whoever closes it for the model has 2 of 10 rows.
CUT_AFTER_TOKENS = SCRIPT.text.index('{"id":1003') // SCRIPT.token_chars


def shown(value: Any, limit: int = 60) -> str:
    """Text of a model, made safe to print: no control characters, no length."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    clean = "".join(c for c in text if unicodedata.category(c)[0] != "C" or c == "\n")
    return (
        clean if len(clean) <= limit else clean[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
    )


def cell(item: Any, name: str) -> Text:
    """One field of a partial or of a model, coloured by its state."""
    state = field_state(item, name)
    value = getattr(item, name)
    return Text("." if value is UNSET else shown(value), style=STATE_STYLES[state])


def filling_in(report: Partial[Report] | Report) -> Table:
    """The report as far as it has come."""
    table = Table(title=cell(report, "title"), title_justify="left")
    for name in COLUMNS:
        table.add_column(name)
    for row in report.transactions or ():
        table.add_row(*(cell(row, name) for name in COLUMNS))
    table.caption = "green: settled, yellow: still being written, a dot: absent"
    return table


def any_shape(snapshot: Any) -> Text:
    """A snapshot of a schema that the demo does not know."""
    return Text(shown(json.dumps(snapshot, indent=2), limit=2_000))


def log(console: Console, stream: Any) -> Any:
    """Name what has settled while a stream is read; returns the final value."""
    value: Any = None
    seen: set[Path] = set()
    for count, value in enumerate(stream, start=1):
        if not isinstance(value, Partial):
            console.print(f"item {count}: the final value")
            continue
        rows_seen = range(len(value.transactions or ()))
        paths: list[Path] = [("title",), *(("transactions", i) for i in rows_seen)]
        for path in paths:
            if path not in seen and value.state(*path) is FieldState.SETTLED:
                seen.add(path)
                found = value.title if len(path) == 1 else value.transactions[path[1]]
                line = f"item {count}: {format_path(path)} has settled: {shown(found)}"
                console.print(Text(line), soft_wrap=True)
    return value


def watch(console: Console, stream: Any, draw: Callable[[Any], Any]) -> Any:
    """Show a stream while it is read; returns the final value."""
    value: Any = None
    if not console.is_terminal:
        return log(console, stream)
    with Live(console=console, refresh_per_second=20) as live:
        for value in stream:
            if isinstance(value, Partial | PartialDict):
                live.update(draw(value))
    return value


def client(arguments: argparse.Namespace, base_url: str, **options: Any) -> ChatOpenAI:
    """A real OpenAI client."""
    key = os.environ.get(arguments.api_key_env or "", "none")
    return ChatOpenAI(
        base_url=base_url, api_key=key, model=arguments.model, max_retries=0, **options
    )


def live(console: Console, arguments: argparse.Namespace) -> int:
    """Stream from a real endpoint."""
    parser: Any = SafePartialParser(Report)
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{instructions}"), ("human", "{question}")]
    )
    chain = prompt | client(arguments, arguments.base_url) | parser
    question = {
        "instructions": parser.get_format_instructions(),
        "question": arguments.prompt,
    }
    try:
        value = watch(console, chain.stream(question), filling_in)
    except PartialOutputError as err:
        console.print(Text(f"{type(err).__name__}: {err}", style="red"))
        return 1
    console.print(any_shape(value.model_dump()))
    return 0


def opinion(make: Callable[[], Any]) -> tuple[str, bool]:
    """What a parser makes of the cut answer, and whether it says that it was cut."""
    try:
        value = make()
    except TruncatedOutputError as err:
        kept = err.salvage().value["transactions"]
        said = f"raises {type(err).__name__}:\n{shown(str(err), 400)}"
        return (
            f"{said}\nerr.salvage(), on request: rows that are whole: {len(kept)}",
            True,
        )
    except Exception as err:  # noqa: BLE001 - whatever a peer raises is its opinion
        return f"raises {type(err).__name__}", False
    data = value.model_dump() if isinstance(value, BaseModel) else value
    found = data.get("transactions", [])
    last = shown(found[-1], 200) if found else "none"
    said = (
        f"hands over a {type(value).__name__} with {len(found)} of "
        f"{len(ANSWER['transactions'])} rows and no error\nthe last row: {last}"
    )
    return said, False


def last_of(stream: Any) -> Any:
    """The last item of a stream."""
    *_, value = stream
    return value


def compare(console: Console, arguments: argparse.Namespace, url: str) -> bool:
    """The same cut answer through each parser; True when ours raised."""
    llm = client(arguments, url, max_tokens=CUT_AFTER_TOKENS)
    parsers: dict[str, Any] = {
        "JsonOutputParser": JsonOutputParser(pydantic_object=Report),
        "PydanticOutputParser": PydanticOutputParser(pydantic_object=Report),
        "SafePartialParser": SafePartialParser(Report),
    }
    table = Table(title="The same answer, cut by max_tokens", show_lines=True)
    table.add_column("parser")
    table.add_column("chain.invoke")
    table.add_column("chain.stream, at its end")
    loud = True
    for name, parser in parsers.items():
        chain = llm | parser
        # The lambdas run at once, inside this turn of the loop.
        whole, loud_whole = opinion(lambda: chain.invoke("Report."))  # noqa: B023
        ended, loud_ended = opinion(lambda: last_of(chain.stream("Report.")))  # noqa: B023
        table.add_row(name, Text(whole), Text(ended))
        if name == "SafePartialParser":
            loud = loud_whole and loud_ended
    console.print(table)
    return loud


def lead_table(console: Console) -> bool:
    """The share of silent cuts for each tool; True when ours has none."""
    results = run(layouts=["compact"])
    table = Table(title="One answer, cut at every character: silent cuts")
    first = HEADER.index("all cuts accepted")
    for name in (HEADER[0], *HEADER[first:]):
        table.add_column(name)
    for cells in rows(results):
        if cells[first]:
            table.add_row(cells[0], *cells[first:])
        else:
            table.add_row(cells[0], cells[1])
    console.print(table)
    console.print(
        "In three layouts, with every tool: python benchmarks/cut_anywhere.py"
    )
    return ours_is_safe(results)


def tokens_per_second(given: str) -> float | None:
    """Tokens a second; None is as fast as it can."""
    if given == "max":
        return None
    speed = float(given)
    if speed <= 0:
        raise ValueError("not a speed")
    return speed


def scripted(console: Console, arguments: argparse.Namespace) -> int:
    """The whole demo, from a script."""
    # The model is on this machine: no proxy in between.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    slow = replace(SCRIPT, tokens_per_second=arguments.speed)
    with LoopbackServer(slow) as server:
        llm = client(arguments, server.url)
        prompt = ChatPromptTemplate.from_template("{question}")
        chain = prompt | llm | SafePartialParser(Report)
        stream = chain.stream({"question": "Report suspicious transactions."})
        report = watch(console, stream, filling_in)
        console.print(
            Group(
                filling_in(report),
                Text(f"the last item is a {type(report).__name__}, validated\n"),
            )
        )
        server.script = SCRIPT
        loud = compare(console, arguments, server.url)
    safe = lead_table(console)
    if report.model_dump() != ANSWER or not loud or not safe:
        console.print(Text("this is not what should have happened", style="red"))
        return 1
    return 0


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--speed",
        default="80",
        type=tokens_per_second,
        help="tokens a second, or `max`",
    )
    parser.add_argument("--base-url", help="a real endpoint instead of the script")
    parser.add_argument("--model", default="script")
    parser.add_argument("--api-key-env", help="the variable that holds the key")
    parser.add_argument("--prompt", default="Report three suspicious transactions.")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120)
    if arguments.base_url:
        return live(console, arguments)
    return scripted(console, arguments)


if __name__ == "__main__":
    sys.exit(main())
