"""A pytest plugin that puts `SafePartialParser` in the place of LangChain's parsers.

`run.py` loads it before the tests of langchain-core import what they test.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import langchain_core.output_parsers
import langchain_core.output_parsers.json
import langchain_core.output_parsers.pydantic
import langchain_core.utils.json
import pytest

from langchain_partial import SafePartialParser

_Value = TypeVar("_Value")
_PLAIN_ID = re.compile(r"[\w-]+").fullmatch
_outcomes: dict[str, str] = {}
_names: dict[str, str] = {}


class _Substitute(SafePartialParser[_Value], Generic[_Value]):
    """The parser, with one habit of theirs.

    They compare what they yield and drop an item that equals the one before. Without
    that each streaming test would differ in the last snapshot and the final value, and
    show nothing about the items between.
    """

    def transform(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        last: Any = None
        for item in super().transform(*args, **kwargs):
            if item != last:
                yield item
            last = item

    async def atransform(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        last: Any = None
        async for item in super().atransform(*args, **kwargs):
            if item != last:
                yield item
            last = item


class JsonOutputParser(_Substitute[Any]):
    """Stands for `JsonOutputParser` and `SimpleJsonOutputParser`."""


class PydanticOutputParser(_Substitute[_Value], Generic[_Value]):
    """Stands for `PydanticOutputParser`."""


_MODULES: dict[Any, dict[str, Any]] = {
    langchain_core.output_parsers: {
        "JsonOutputParser": JsonOutputParser,
        "SimpleJsonOutputParser": JsonOutputParser,
        "PydanticOutputParser": PydanticOutputParser,
    },
    langchain_core.output_parsers.json: {
        "JsonOutputParser": JsonOutputParser,
        "SimpleJsonOutputParser": JsonOutputParser,
    },
    langchain_core.output_parsers.pydantic: {
        "PydanticOutputParser": PydanticOutputParser
    },
    # Their tests of whole texts call the function that their parser is made of.
    langchain_core.utils.json: {
        "parse_json_markdown": lambda text: SafePartialParser().parse(text)
    },
}

for _module, _replacements in _MODULES.items():
    for _name, _replacement in _replacements.items():
        setattr(_module, _name, _replacement)


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Give each test a short name: a long parameter is told by its number."""
    counts: dict[str, int] = {}
    for item in items:
        function = item.originalname
        number = counts[function] = counts.get(function, 0) + 1
        case = getattr(item, "callspec", None)
        if case is None:
            name = function
        else:
            name = f"{function}[{case.id if _PLAIN_ID(case.id) else number}]"
        _names[item.nodeid] = name


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome; a failure in set-up or tear-down counts as one."""
    if report.when == "call" or report.outcome != "passed":
        _outcomes[_names[report.nodeid]] = report.outcome


def pytest_sessionfinish() -> None:
    """Hand the outcomes to `run.py`."""
    target = os.environ["CONFORMANCE_OUTCOMES"]
    Path(target).write_text(json.dumps(_outcomes), encoding="utf-8")
