"""`SafePartialToolsParser`: tool calls, several side by side."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from partial_json_core import (
    UNSET,
    FixPolicy,
    Limits,
    NoJSONFoundError,
    PartialOutputError,
    PartialParser,
    RefusedOutputError,
)

from ._base import ClosingParser
from ._calls import Call, Calls
from ._ends import Ends, complete_call, refuse_doubtful
from ._messages import Piece, read, read_generation
from .errors import (
    LangChainRefusedOutputError,
    LangChainSchemaMismatchError,
    translate,
)


@dataclass(frozen=True, slots=True)
class SafeToolCall:
    """A tool call that is whole and valid.

    Attributes:
        name: The name of the tool.
        args: The validated arguments: an instance of the tool's model, or a dict.
        id: The id that the provider gave the call, or None.
        index: Its place among the calls of the message.
    """

    name: str
    args: Any
    id: str | None = None
    index: int = 0


@dataclass(frozen=True, slots=True)
class PartialToolCall:
    """A tool call that is being written; never to be executed.

    Attributes:
        name: The name of the tool, or an empty string before it has come.
        args: What has come of the arguments: a snapshot, or `UNSET`.
        id: The id that the provider gave the call, or None.
        index: Its place among the calls of the message.
    """

    name: str
    args: Any
    id: str | None = None
    index: int = 0


class PartialToolCalls(list[PartialToolCall]):
    """The calls of a message that is being written."""

    __slots__ = ()

    def __add__(self, other: object) -> NoReturn:
        """Refuse: LangChain adds what a stream yields."""
        raise TypeError("snapshots replace each other and cannot be added")


class SafePartialToolsParser(ClosingParser[Any]):
    """Streams tool calls as they are written, and never hands over a cut one.

    It reads the raw fragments of a stream: LangChain's own `tool_calls` of a chunk have
    been closed for the model. ``invoke`` gives the calls, each strictly validated;
    ``stream`` yields `PartialToolCalls` that changed, and the calls last.

    Args:
        tools: What the model may call: pydantic models, TypedDicts, functions,
            LangChain tools, or tool dicts with a JSON Schema.
        first_tool_only: Give the first call, or None, instead of a list.
        policy: The fixes that are permitted.
        limits: Ceilings on what is read of one call.
        early: What the schemas judge while arguments are written.
        name: The name of the runnable.

    Raises:
        ValueError: Two tools have one name, or an option is unknown.

    An error of one call has the attributes ``tool_call`` (a `PartialToolCall`) and
    ``calls`` (the calls that are whole and valid, as `SafeToolCall`).

    Example:
        >>> from langchain_core.messages import AIMessageChunk
        >>> from langchain_partial import SafePartialToolsParser
        >>> from pydantic import BaseModel
        >>> class Search(BaseModel):
        ...     query: str
        >>> first = {"name": "Search", "args": '{"query": "os', "id": "1", "index": 0}
        >>> then = {"name": None, "args": 'lo"}', "id": None, "index": 0}
        >>> parts = [AIMessageChunk("", tool_call_chunks=[p]) for p in (first, then)]
        >>> list(SafePartialToolsParser([Search]).transform(iter(parts)))[-1]
        [SafeToolCall(name='Search', args=Search(query='oslo'), id='1', index=0)]
    """

    tools: Any
    first_tool_only: bool = False
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE
    limits: Limits = Limits()
    early: Any = True

    _schemas: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, tools: Collection[Any], **options: Any) -> None:
        if isinstance(tools, type | str) or not isinstance(tools, Collection):
            raise TypeError(
                f"`tools` must be a collection, got {tools!r}: put the tool in a list"
            )
        if not tools:
            raise ValueError("give at least one tool")
        options["tools"] = list(tools)
        super().__init__(**options)
        for tool in self.tools:
            name, schema = _name_and_schema(tool)
            if name in self._schemas:
                raise ValueError(f"two tools are called {name!r}")
            # A schema that is none is better known now than at the first call.
            PartialParser(schema)
            self._schemas[name] = schema

    def __repr__(self) -> str:
        """Show the names of the tools."""
        return f"{type(self).__name__}([{', '.join(self._schemas)}])"

    __str__ = __repr__

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Read the calls of the first generation of a result.

        Args:
            result: What the model gave.
            partial: Return what there is so far instead of deciding that it is all.

        Raises:
            PartialOutputError: A call is not valid.
        """
        first = result[0]
        message = first.message if isinstance(first, ChatGeneration) else None
        reader = _ToolsReader(self, message)
        reader.feed_piece(read_generation(first))
        return reader.snapshot() if partial else reader.close()

    async def aparse_result(
        self, result: list[Generation], *, partial: bool = False
    ) -> Any:
        """Read the calls of the first generation, without a thread."""
        return self.parse_result(result, partial=partial)

    def _transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,  # noqa: ARG002 - as above
    ) -> Iterator[Any]:
        reader = _ToolsReader(self)
        for chunk in input:
            if reader.feed(chunk):
                yield reader.snapshot()
        yield reader.close()

    async def _atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,  # noqa: ARG002 - as above
    ) -> AsyncIterator[Any]:
        reader = _ToolsReader(self)
        async for chunk in input:
            if reader.feed(chunk):
                yield reader.snapshot()
        yield reader.close()

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the base class names it
        """The type of the final value."""
        return SafeToolCall | None if self.first_tool_only else list[SafeToolCall]

    @property
    def _type(self) -> str:
        return "safe_partial_tools_parser"


class _Reading:
    """One call and the parser of its arguments."""

    __slots__ = ("call", "parser", "waiting")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.parser: PartialParser[Any] | None = None
        # Arguments that came before the name.
        self.waiting = ""

    def shown(self) -> PartialToolCall:
        call = self.call
        args = UNSET if self.parser is None else self.parser.snapshot()
        return PartialToolCall(call.name, args, call.id, call.number)


class _ToolsReader:
    """The calls of one output."""

    __slots__ = ("_calls", "_ends", "_message", "_options", "_readings")

    def __init__(
        self, options: SafePartialToolsParser, message: BaseMessage | None = None
    ) -> None:
        self._options = options
        self._message = message
        self._calls = Calls()
        self._ends = Ends()
        self._readings: list[_Reading] = []

    def feed(self, chunk: object) -> bool:
        """Read a chunk; returns whether a snapshot would show something new."""
        if isinstance(chunk, str):
            return False
        return self.feed_piece(read(chunk))

    def feed_piece(self, piece: Piece) -> bool:
        """Read what a chunk says; returns whether something is new."""
        self._ends.note(piece)
        is_new = False
        for call, part in self._calls.assign(piece.calls):
            if call.number == len(self._readings):
                self._readings.append(_Reading(call))
                is_new = True
            reading = self._readings[call.number]
            try:
                refuse_doubtful(part, self._ends)
                self._feed_call(reading, part.args)
            except PartialOutputError as err:
                self._fail(reading, err)
            is_new = is_new or (reading.parser is not None and reading.parser.changed)
        return is_new

    def _feed_call(self, reading: _Reading, args: str) -> None:
        if reading.parser is None:
            if not reading.call.name:
                reading.waiting += args
                return
            reading.parser = self._make(reading.call.name)
            args, reading.waiting = reading.waiting + args, ""
        if args:
            reading.parser.feed(args)

    def _make(self, name: str) -> PartialParser[Any]:
        options = self._options
        schemas = options._schemas  # noqa: SLF001 - one noun
        if name not in schemas:
            known = ", ".join(schemas) or "none"
            raise LangChainSchemaMismatchError(
                errors=[
                    {
                        "type": "unknown_tool",
                        "loc": ("name",),
                        "msg": f"there is no tool {name[:40]!r}",
                    }
                ],
                hint=f"the tools: {known}",
                early=True,
            )
        return PartialParser(
            schemas[name],
            policy=options.policy,
            limits=options.limits,
            early=options.early,
            watch=(),
            root="object",
        )

    def snapshot(self) -> Any:
        """What there is so far."""
        shown = PartialToolCalls(reading.shown() for reading in self._readings)
        if not self._options.first_tool_only:
            return shown
        return shown[0] if shown else None

    def close(self) -> Any:
        """Return the calls, or raise for the first that is not valid."""
        ends = self._ends
        good: list[SafeToolCall] = []
        failed: tuple[_Reading, PartialOutputError] | None = None
        for reading in self._readings:
            outcome = self._close_call(reading)
            if isinstance(outcome, SafeToolCall):
                good.append(outcome)
            else:
                failed = failed or (reading, outcome)
        if failed is not None:
            self._fail(*failed, good)
        if ends.is_refused:
            refused = RefusedOutputError(refusal=ends.refusal or "")
            refused.finish_reason = ends.reason
            made = cast("LangChainRefusedOutputError", translate(refused))
            made.raw_message = self._message
            raise made
        if not good:
            # Nothing was called: an answer in words, or an output that was cut.
            self._close_empty()
        if self._options.first_tool_only:
            return good[0] if good else None
        return good

    def _close_empty(self) -> None:
        try:
            PartialParser().close(self._ends.reason)
        except NoJSONFoundError:
            return
        except PartialOutputError as err:
            raise translate(err) from err.__cause__

    def _close_call(self, reading: _Reading) -> SafeToolCall | PartialOutputError:
        call = reading.call
        try:
            if reading.parser is None:
                reading.parser = self._make(call.name)
                reading.parser.feed(reading.waiting)
            make = functools.partial(self._make, call.name)
            parser = complete_call(reading.parser, call, self._ends, make)
            args = parser.close(self._ends.reason, refusal=self._ends.refusal)
        except PartialOutputError as err:
            return err
        return SafeToolCall(call.name, args, call.id, call.number)

    def _fail(
        self,
        reading: _Reading,
        err: PartialOutputError,
        good: list[SafeToolCall] | None = None,
    ) -> NoReturn:
        """Raise the error of a call, with the calls that are whole."""
        if good is None:
            good = []
            for other in self._readings:
                # What has closed is whole, whatever becomes of the rest.
                if other is not reading and other.parser and other.parser.satisfied:
                    call = other.call
                    args = other.parser.accept()
                    good.append(SafeToolCall(call.name, args, call.id, call.number))
        call = reading.call
        made: Any = translate(err)
        made.tool_call = PartialToolCall(call.name, UNSET, call.id, call.number)
        made.calls = tuple(good)
        if hasattr(made, "add_note"):  # from Python 3.11 on
            made.add_note(f"in call {call.number} of the message, to {call.name!r}")
        raise made from err.__cause__


def _name_and_schema(tool: Any) -> tuple[str, Any]:
    """The name by which a model calls a tool, and what its arguments have to be."""
    name = convert_to_openai_tool(tool)["function"]["name"]
    if isinstance(tool, Mapping):
        return name, convert_to_openai_tool(tool)["function"].get("parameters")
    if isinstance(tool, BaseTool):
        return name, tool.tool_call_schema
    if isinstance(tool, type):
        return name, tool
    return name, StructuredTool.from_function(
        cast("Callable[..., Any]", tool)
    ).tool_call_schema
