"""`SafePartialParser`: the output parser for the text of a model."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing
from typing import Any, Final, Generic, TypeVar, cast, get_origin, overload

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, model_validator
from typing_extensions import TypedDict, Unpack

from partial_json_core import (
    UNSET,
    Event,
    FieldSettled,
    FinishReason,
    FixPolicy,
    Limits,
    Partial,
    PartialDict,
    PartialList,
    PartialOutputError,
    PartialParser,
    PartialStr,
    compact_schema,
)

from ._messages import Piece, read, read_generation
from ._upstream import AsyncUpstream, Upstream
from .errors import (
    LangChainNoJSONFoundError,
    LangChainRefusedOutputError,
    translate,
)

_Value = TypeVar("_Value")

_INSTRUCTIONS: Final = (
    "Answer with one JSON document and nothing else: no words around it, no code "
    "fence, no comments."
)
# Snapshots that LangChain cannot add up. It adds the items of a stream with `+`, so a
# settled 21 followed by the final 21 would reach the next step as 42.
_SNAPSHOTS: Final = (Partial, PartialDict, PartialList, PartialStr)
_EVENT: Final = "field_settled"
_OPTIONS: Final = (
    *("policy", "limits", "early", "checks", "stop_early", "watch", "root", "name"),
)


class _Options(TypedDict, total=False):
    policy: FixPolicy
    limits: Limits
    early: bool | Collection[str]
    checks: Mapping[str, Callable[[Any], Any]] | None
    stop_early: bool
    watch: Collection[str] | None
    root: str
    name: str | None


class SafePartialParser(BaseTransformOutputParser[_Value], Generic[_Value]):
    """Streams what a model writes as it settles, and never hands over a cut answer.

    Put it behind a model: ``chain = prompt | llm | SafePartialParser(Ticket)``.
    ``invoke`` gives the final value or raises. ``stream`` yields a snapshot each time
    that something changed, and the final value last; an output that was cut raises
    before the stream ends, so whatever follows in the chain never sees it. Closing the
    stream, leaving its loop, an error and a cancelled task stop the model.

    Args:
        schema: A pydantic model, a dataclass, a TypedDict, any type that pydantic's
            `TypeAdapter` takes, a JSON Schema dict, or None for plain JSON.
        pydantic_object: The schema, as `JsonOutputParser` and `PydanticOutputParser`
            call it.
        policy: The fixes that are permitted.
        limits: Ceilings on what is read.
        early: What the schema judges while it is written; see
            `partial_json_core.PartialParser`.
        checks: Callables by JSON Pointer patterns, called once with the value of a
            path that has settled; one raises `ValueError` to refuse it. Coroutine
            functions need ``ainvoke`` or ``astream``.
        stop_early: End a stream with the final value as soon as it is known, and stop
            the model: nothing that it may still write could change the value.
        watch: JSON Pointer patterns (``/rows/*/amount``) of values that a stream
            reports as they settle, in custom events named ``field_settled`` with
            ``path``, ``value`` and ``offset``; None is every value.
        root: The kind of the root, ``"object"``, ``"array"`` or ``"scalar"``; by
            default the schema decides.
        name: The name of the runnable.

    Raises:
        ValueError: Both `schema` and `pydantic_object` are given, or an option is
            unknown or not valid.

    Example:
        >>> from langchain_partial import SafePartialParser
        >>> SafePartialParser().invoke('Sure: {"city": "Oslo"}')
        {'city': 'Oslo'}
    """

    # The base class ignores unknown names: a misspelt option would be no option.
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    pydantic_object: Any = None
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE
    limits: Limits = Limits()
    early: Any = True
    checks: Any = None
    stop_early: bool = False
    watch: Any = ()
    root: Any = "auto"

    @overload
    def __init__(self, schema: type[_Value], **options: Unpack[_Options]) -> None: ...
    @overload
    def __init__(
        self, *, pydantic_object: type[_Value], **options: Unpack[_Options]
    ) -> None: ...
    @overload
    def __init__(
        self: SafePartialParser[Any],
        schema: Any = None,
        *,
        pydantic_object: Any = None,
        **options: Unpack[_Options],
    ) -> None: ...
    def __init__(
        self,
        schema: Any = None,
        *,
        pydantic_object: Any = None,
        **options: Any,
    ) -> None:
        if schema is None:
            schema = pydantic_object
        elif pydantic_object is not None:
            raise ValueError("give either `schema` or `pydantic_object`, not both")
        options["pydantic_object"] = schema
        super().__init__(**options)

    @model_validator(mode="after")
    def _check_options(self) -> SafePartialParser[_Value]:
        # A parser that cannot be made is better known now than at the first answer.
        self._new_parser(self.watch)
        return self

    def _new_parser(self, watch: Collection[str] | None) -> PartialParser[Any]:
        return PartialParser(
            self.pydantic_object,
            policy=self.policy,
            limits=self.limits,
            early=self.early,
            checks=self.checks,
            watch=watch,
            root=self.root,
        )

    def __repr__(self) -> str:
        """Show the schema, and the options that are not the default."""
        schema = self.pydantic_object
        parts = [] if schema is None else [_name(schema)]
        parts += [
            f"{name}={getattr(self, name)!r}"
            for name in _OPTIONS
            if getattr(self, name) != type(self).model_fields[name].default
        ]
        return f"{type(self).__name__}({', '.join(parts)})"

    __str__ = __repr__

    # ------------------------------------------------------------ whole outputs

    def parse(self, text: str) -> _Value:
        """Read a whole output.

        Raises:
            PartialOutputError: See `partial_json_core.loads`.
        """
        return self.parse_result([Generation(text=text)])

    async def aparse(self, text: str) -> _Value:
        """Read a whole output, without a thread."""
        return await self.aparse_result([Generation(text=text)])

    def parse_result(
        self, result: list[Generation], *, partial: bool = False
    ) -> _Value:
        """Read the first generation of a result.

        Args:
            result: What the model gave.
            partial: Return what there is so far instead of deciding that it is all.

        Returns:
            The final value; with `partial` a snapshot, or None before the root.

        Raises:
            PartialOutputError: The output is not a valid value. With `partial` when
                it can no longer become one.
        """
        reader, text = self._read_first(result)
        reader.feed(text)
        if partial and not reader.is_refused:
            return cast("_Value", reader.snapshot())
        return cast("_Value", reader.close())

    def _read_first(self, result: list[Generation]) -> tuple[_Reader, str]:
        first = result[0]
        message = first.message if isinstance(first, ChatGeneration) else None
        reader = _Reader(self._new_parser(()), message)
        return reader, reader.take(read_generation(first))

    async def aparse_result(
        self, result: list[Generation], *, partial: bool = False
    ) -> _Value:
        """Read the first generation of a result, without a thread."""
        reader, text = self._read_first(result)
        await reader.afeed(text)
        if partial and not reader.is_refused:
            return cast("_Value", reader.snapshot())
        return cast("_Value", await reader.aclose())

    # ---------------------------------------------------------------- streaming

    def _transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
    ) -> Iterator[Any]:
        reader = _Reader(self._new_parser(self.watch))
        for chunk in input:
            for event in reader.feed(chunk):
                if isinstance(event, FieldSettled):
                    data = _event_data(event)
                    dispatch_custom_event(_EVENT, data, config=config)
            if self.stop_early and reader.is_satisfied:
                yield reader.accept()
                return
            if (snapshot := reader.news()) is not None:
                yield snapshot
        yield reader.close()

    async def _atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
    ) -> AsyncIterator[Any]:
        reader = _Reader(self._new_parser(self.watch))
        async for chunk in input:
            for event in await reader.afeed(chunk):
                if isinstance(event, FieldSettled):
                    data = _event_data(event)
                    await adispatch_custom_event(_EVENT, data, config=config)
            if self.stop_early and reader.is_satisfied:
                yield reader.accept()
                return
            if (snapshot := reader.news()) is not None:
                yield snapshot
        yield await reader.aclose()

    def transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002 - the base class takes and ignores them too
    ) -> Iterator[Any]:
        """Read a stream of chunks.

        Put the parser last where a ``break`` has to stop the model: synchronous
        LangChain reads the input of each later step to its end when that step is
        closed. Asynchronous streams and errors stop the model through later steps.

        Args:
            input: What the model yields.
            config: The configuration of the run.
            **kwargs: Not used.

        Yields:
            Snapshots that changed; the last item is the final value.

        Raises:
            PartialOutputError: As soon as the output cannot become valid, or when it
                ended before it was complete. The model has been stopped.
        """
        upstream = Upstream(iter(input))

        def read_and_close(
            source: Iterator[str | BaseMessage],
            run_manager: CallbackManagerForChainRun,  # noqa: ARG001 - comes with it
            config: RunnableConfig,
        ) -> Iterator[Any]:
            with closing(upstream):
                yield from self._transform(source, config)

        items = self._transform_stream_with_config(
            upstream, read_and_close, config, run_type="parser"
        )
        # In this order: the upstream has ended by the time that LangChain drains it.
        with closing(items), closing(upstream):  # type: ignore[type-var]  # a generator
            # Not `yield from`: GeneratorExit must reach this frame first.
            for item in items:  # noqa: UP028 - see above
                yield item

    async def atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002 - the base class takes and ignores them too
    ) -> AsyncIterator[Any]:
        """Read an asynchronous stream of chunks; see `transform`."""
        upstream = AsyncUpstream(aiter(input))

        async def read_and_close(
            source: AsyncIterator[str | BaseMessage],
            run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001 - as above
            config: RunnableConfig,
        ) -> AsyncIterator[Any]:
            async with aclosing(upstream):
                async for item in self._atransform(source, config):
                    yield item

        items = self._atransform_stream_with_config(
            upstream, read_and_close, config, run_type="parser"
        )
        async with aclosing(items), aclosing(upstream):  # type: ignore[type-var]  # as above
            async for item in items:
                yield item

    # -------------------------------------------------------------- description

    def get_format_instructions(self) -> str:
        """Return what to tell the model: one document, and its schema."""
        if self.pydantic_object is None:
            return _INSTRUCTIONS
        schema = compact_schema(self.pydantic_object)
        return f"{_INSTRUCTIONS} Its JSON Schema:\n{schema}"

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the base class names it
        """The type of the final value."""
        schema = self.pydantic_object
        return Any if schema is None or isinstance(schema, dict) else schema

    @property
    def _type(self) -> str:
        return "safe_partial_parser"


class _Reader:
    """One output: the core parser, and what the chunks said about their end."""

    __slots__ = ("_has_tool_calls", "_message", "_parser", "_reasons", "_refusal")

    def __init__(
        self, parser: PartialParser[Any], message: BaseMessage | None = None
    ) -> None:
        self._parser = parser
        self._message = message
        self._reasons: list[Any] = []
        self._refusal: str | None = None
        self._has_tool_calls = False

    def feed(self, chunk: object) -> Sequence[Event]:
        """Read a chunk; returns the events that it caused."""
        # Strings need no looking into; this is the hot path of a stream.
        text = chunk if isinstance(chunk, str) else self.take(read(chunk))
        if not text:
            return ()
        try:
            return self._parser.feed(text)
        except PartialOutputError as err:
            raise translate(err) from err.__cause__

    async def afeed(self, chunk: object) -> Sequence[Event]:
        """Read a chunk, and await the checks that are coroutine functions."""
        text = chunk if isinstance(chunk, str) else self.take(read(chunk))
        if not text:
            return ()
        try:
            return await self._parser.afeed(text)
        except PartialOutputError as err:
            raise translate(err) from err.__cause__

    @property
    def is_satisfied(self) -> bool:
        """Whether the final value is known."""
        return self._parser.satisfied

    def accept(self) -> Any:
        """Return the final value, and leave the rest unread."""
        return self._parser.accept()

    def take(self, piece: Piece) -> str:
        """Note what a piece says about the end; returns its text."""
        text, reasons, refusal, has_tool_calls = piece
        if reasons:
            self._reasons += reasons
        if refusal is not None:
            self._refusal = (self._refusal or "") + refusal
        if has_tool_calls:
            self._has_tool_calls = True
        return text

    def news(self) -> Any:
        """A snapshot that has changed and can be shown, or None."""
        if not self._parser.changed:
            return None
        found = self._parser.snapshot()
        return found if isinstance(found, _SNAPSHOTS) else None

    def snapshot(self) -> Any:
        """What there is so far, or None."""
        found = self._parser.snapshot()
        return None if found is UNSET else found

    @property
    def is_refused(self) -> bool:
        """Whether the provider says that the model refused."""
        return (
            self._refusal is not None
            or FinishReason.parse(self._reasons) is FinishReason.REFUSAL
        )

    def close(self) -> Any:
        """Return the final value, or raise what LangChain knows."""
        try:
            return self._parser.close(self._finish_reason(), refusal=self._refusal)
        except PartialOutputError as err:
            raise self._translate(err) from err.__cause__

    async def aclose(self) -> Any:
        """Do what `close` does, and await the checks that are coroutine functions."""
        reason = self._finish_reason()
        try:
            return await self._parser.aclose(reason, refusal=self._refusal)
        except PartialOutputError as err:
            raise self._translate(err) from err.__cause__

    def _translate(self, err: PartialOutputError) -> PartialOutputError:
        made = translate(err)
        if isinstance(made, LangChainNoJSONFoundError):
            made.has_tool_calls = self._has_tool_calls
        if isinstance(made, LangChainRefusedOutputError):
            made.raw_message = self._message
        return made

    def _finish_reason(self) -> Any:
        """The most telling reason of all chunks, as it was given."""
        known = [FinishReason.parse(reason) for reason in self._reasons]
        worst = FinishReason.parse(self._reasons) if self._reasons else None
        return self._reasons[known.index(worst)] if worst in known else None


def _event_data(event: FieldSettled) -> dict[str, Any]:
    return {"path": event.path, "value": event.value, "offset": event.offset}


def _name(schema: Any) -> str:
    # Generic aliases have the name of their origin, and some are instances of `type`.
    if isinstance(schema, type) and get_origin(schema) is None:
        return schema.__name__
    return repr(schema)
