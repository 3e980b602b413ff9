"""`SafePartialParser`: the output parser for the text of a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator
from typing import Any, Final, Generic, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import BaseTransformOutputParser
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from partial_json_core import (
    FinishReason,
    FixPolicy,
    Limits,
    PartialOutputError,
    PartialParser,
    compact_schema,
    compile_schema,
)
from pydantic import ConfigDict, Field, model_validator

from ._messages import Piece, read
from ._upstream import AsyncUpstream, Upstream
from .errors import translate

_Value = TypeVar("_Value")

_INSTRUCTIONS: Final = (
    "Answer with one JSON document and nothing else: no words around it, no code "
    "fence, no comments."
)


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
        policy: The fixes that are permitted.
        limits: Ceilings on what is read.
        root: The kind of the root; by default the schema decides.
        pydantic_object: The schema, as `JsonOutputParser` and `PydanticOutputParser`
            call it.

    Raises:
        ValueError: Both `schema` and `pydantic_object` are given, or an option is not
            valid.

    Example:
        >>> from langchain_partial import SafePartialParser
        >>> SafePartialParser().invoke('Sure: {"city": "Oslo"}')
        {'city': 'Oslo'}
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    schema_: Any = Field(default=None, alias="schema")
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE
    limits: Limits = Limits()
    root: str = "auto"

    def __init__(self, schema: Any = None, **options: Any) -> None:
        alias = options.pop("pydantic_object", None)
        if schema is not None and alias is not None:
            raise ValueError("give either `schema` or `pydantic_object`, not both")
        super().__init__(schema=schema if alias is None else alias, **options)

    @model_validator(mode="after")
    def _check_options(self) -> SafePartialParser[_Value]:
        compile_schema(self.schema_, self.root)  # type: ignore[arg-type]  # it checks the value
        return self

    def __repr__(self) -> str:
        """Show the schema, and the options that are not the default."""
        parts = [] if self.schema_ is None else [_name(self.schema_)]
        if self.policy != FixPolicy.SYNTAX_SAFE:
            parts.append(f"policy={self.policy!r}")
        if self.limits != Limits():
            parts.append(f"limits={self.limits!r}")
        if self.root != "auto":
            parts.append(f"root={self.root!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    __str__ = __repr__

    # ------------------------------------------------------------ whole outputs

    def parse(self, text: str) -> _Value:
        """Read a whole output.

        Raises:
            PartialOutputError: See `partial_json_core.loads`.
        """
        return self._read_whole(Piece(text, ("stop",)))

    async def aparse(self, text: str) -> _Value:
        """Read a whole output, without a thread."""
        return self.parse(text)

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
            PartialOutputError: The output is not a valid value. With `partial` also
                when it can no longer become one.
        """
        piece = _whole_piece(result[0])
        if not partial:
            return self._read_whole(piece)
        reader = _Reader(self)
        reader.feed(piece)
        snapshot = reader.parser.snapshot() if reader.parser.changed else None
        return snapshot  # type: ignore[no-any-return]  # a snapshot stands for the value

    async def aparse_result(
        self, result: list[Generation], *, partial: bool = False
    ) -> _Value:
        """Read the first generation of a result, without a thread."""
        return self.parse_result(result, partial=partial)

    def _read_whole(self, piece: Piece) -> _Value:
        reader = _Reader(self)
        reader.feed(piece)
        value: _Value = reader.close()
        return value

    # ---------------------------------------------------------------- streaming

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[_Value]:  # noqa: A002 - the base class names it
        reader = _Reader(self)
        for chunk in input:
            if reader.feed(read(chunk)):
                yield reader.parser.snapshot()
        yield reader.close()

    async def _atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
    ) -> AsyncIterator[_Value]:
        reader = _Reader(self)
        async for chunk in input:
            if reader.feed(read(chunk)):
                yield reader.parser.snapshot()
        yield reader.close()

    def transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002 - the base class takes and ignores them too
    ) -> Iterator[_Value]:
        """Read a stream of chunks.

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

        def closing(source: Iterator[str | BaseMessage]) -> Iterator[_Value]:
            try:
                yield from self._transform(source)
            finally:
                upstream.close()

        inner = self._transform_stream_with_config(
            upstream, closing, config, run_type="parser"
        )
        try:
            # Not `yield from`: GeneratorExit must reach this frame first, so that the
            # upstream is closed before LangChain drains it.
            for item in inner:  # noqa: UP028 - see above
                yield item
        finally:
            upstream.close()
            inner.close()  # type: ignore[attr-defined]  # it is a generator

    async def atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ARG002 - the base class takes and ignores them too
    ) -> AsyncIterator[_Value]:
        """Read an asynchronous stream of chunks; see `transform`."""
        upstream = AsyncUpstream(aiter(input))

        async def closing(
            source: AsyncIterator[str | BaseMessage],
        ) -> AsyncIterator[_Value]:
            try:
                async for item in self._atransform(source):
                    yield item
            finally:
                await upstream.aclose()

        inner = self._atransform_stream_with_config(
            upstream, closing, config, run_type="parser"
        )
        try:
            async for item in inner:
                yield item
        finally:
            await upstream.aclose()
            await inner.aclose()  # type: ignore[attr-defined]  # it is a generator

    # -------------------------------------------------------------- description

    def get_format_instructions(self) -> str:
        """Return what to tell the model: one document, and its schema."""
        if self.schema_ is None:
            return _INSTRUCTIONS
        return f"{_INSTRUCTIONS} Its JSON Schema:\n{compact_schema(self.schema_)}"

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the base class names it
        """The type of the final value."""
        if self.schema_ is None or isinstance(self.schema_, dict):
            return Any
        return self.schema_

    @property
    def _type(self) -> str:
        return "safe_partial_parser"


class _Reader:
    """One output: the core parser, and what the chunks said about their end."""

    __slots__ = ("_reasons", "_refusal", "_saw_tool_calls", "parser")

    def __init__(self, options: SafePartialParser[Any]) -> None:
        self.parser = PartialParser(
            options.schema_,
            policy=options.policy,
            limits=options.limits,
            watch=(),
            root=options.root,  # type: ignore[arg-type]  # checked when it was made
        )
        self._reasons: list[Any] = []
        self._refusal: list[str] = []
        self._saw_tool_calls = False

    def feed(self, piece: Piece) -> bool:
        """Read a piece; returns whether there is something new to show."""
        self._reasons.extend(piece.finish_reasons)
        if piece.refusal is not None:
            self._refusal.append(piece.refusal)
        self._saw_tool_calls = self._saw_tool_calls or piece.has_tool_calls
        if not piece.text:
            return False
        try:
            self.parser.feed(piece.text)
        except PartialOutputError as err:
            raise translate(err) from err.__cause__
        return self.parser.changed

    def close(self) -> Any:
        refusal = "".join(self._refusal) if self._refusal else None
        try:
            return self.parser.close(self._finish_reason(), refusal=refusal)
        except PartialOutputError as err:
            made = translate(err)
            if self._saw_tool_calls and made.offset == 0:
                made.add_note(
                    "the message holds tool calls and no text: this parser reads text"
                ) if hasattr(made, "add_note") else None
            raise made from err.__cause__

    def _finish_reason(self) -> Any:
        """The most telling reason of all chunks, as it was given."""
        known = [FinishReason.parse(reason) for reason in self._reasons]
        worst = FinishReason.parse(self._reasons) if self._reasons else None
        return self._reasons[known.index(worst)] if worst in known else None


def _whole_piece(generation: Generation) -> Piece:
    if isinstance(generation, ChatGeneration):
        return read(generation.message)
    # A plain completion has no message; its reason stands in the generation info.
    info = generation.generation_info or {}
    reason = info.get("finish_reason")
    return Piece(generation.text, (reason,) if reason else ("stop",))


def _name(schema: Any) -> str:
    return getattr(schema, "__name__", None) or repr(schema)
