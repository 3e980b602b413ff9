"""`safe_structured_output`: what `with_structured_output` is, with the safe parser."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any, Final, Literal, TypeAlias

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableSequence
from langchain_core.runnables.utils import Input
from langchain_core.utils.function_calling import convert_to_json_schema

from partial_json_core import PartialOutputError

from .parser import SafePartialParser

Method: TypeAlias = Literal["function_calling", "json_mode", "json_schema"]


def safe_structured_output(
    llm: BaseChatModel,
    schema: Any,
    *,
    method: Method | None = None,
    include_raw: bool = False,
    **options: Any,
) -> Runnable[Any, Any]:
    """Return a model that answers with a value of a schema, and never with a cut one.

    Args:
        llm: A chat model that offers `with_structured_output`.
        schema: A pydantic model, a TypedDict, or a JSON Schema dict with a title.
        method: How the model is asked; by default the model decides.
        include_raw: Give ``{"raw": message, "parsed": value, "parsing_error": error}``
            instead of raising.
        **options: Options of `SafePartialParser` (``policy``, ``limits``, ``early``,
            ``checks``, ``stop_early``), and any other for `with_structured_output`.

    Returns:
        A runnable: ``invoke`` gives the value, ``stream`` yields snapshots and then the
        value.

    Raises:
        NotImplementedError: The model offers no structured output.
    """
    names = SafePartialParser.model_fields
    parsing = {key: options.pop(key) for key in list(options) if key in names}
    if method is not None:
        options["method"] = method
    asked: Any = schema
    if isinstance(schema, type) and _method_of(llm, method) == "json_schema":
        # With a class some clients parse the answer themselves, and raise before the
        # finish reason is known.
        asked = convert_to_json_schema(schema)
    sequence: Any = llm.with_structured_output(asked, **options)
    steps = sequence.steps[:-1]
    asking = steps[0] if len(steps) == 1 else RunnableSequence(*steps)
    model = _ReasonGiving(asking)
    parser: SafePartialParser[Any] = SafePartialParser(schema, **parsing)
    return _WithRaw(model, parser) if include_raw else model | parser


def _method_of(llm: BaseChatModel, method: Method | None) -> Any:
    if method is not None:
        return method
    known = inspect.signature(llm.with_structured_output).parameters
    return known["method"].default if "method" in known else None


# What the OpenAI client raises in place of giving a finish reason, by the name of the
# class: the client is no dependency.
_REASONS: Final = {
    "LengthFinishReasonError": "length",
    "ContentFilterFinishReasonError": "content_filter",
}


class _ReasonGiving(Runnable[Any, Any]):
    """A model that gives the finish reason where its client raises it.

    The client of OpenAI raises its own error for an answer that was cut when a response
    format was asked for; the parser has to see the answer and the reason.
    """

    def __init__(self, model: Runnable[Any, Any]) -> None:
        self.model = model

    def __repr__(self) -> str:
        return repr(self.model)

    def invoke(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        try:
            return self.model.invoke(input, config, **kwargs)
        except Exception as err:  # noqa: BLE001 - raised again unless it is a reason
            return _cut_message(err)

    async def ainvoke(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        try:
            return await self.model.ainvoke(input, config, **kwargs)
        except Exception as err:  # noqa: BLE001 - raised again unless it is a reason
            return _cut_message(err)

    def stream(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        source = self.model.stream(input, config, **kwargs)
        with closing(source):  # type: ignore[type-var]  # a generator
            try:
                yield from source
            except Exception as err:  # noqa: BLE001 - as above
                yield _last_chunk(err)

    async def astream(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        source = self.model.astream(input, config, **kwargs)
        async with aclosing(source):  # type: ignore[type-var]  # a generator
            try:
                async for chunk in source:
                    yield chunk
            except Exception as err:  # noqa: BLE001 - as above
                yield _last_chunk(err)


def _last_chunk(err: Exception) -> AIMessageChunk:
    """The finish reason that an error stands for.

    Raises:
        Exception: The error, when it stands for something else.
    """
    reason = _REASONS.get(type(err).__name__)
    if reason is None:
        raise err
    return AIMessageChunk(content="", response_metadata={"finish_reason": reason})


def _cut_message(err: Exception) -> AIMessage:
    """The answer that an error holds, with its finish reason."""
    metadata = _last_chunk(err).response_metadata
    choices = getattr(getattr(err, "completion", None), "choices", None) or [None]
    text = getattr(getattr(choices[0], "message", None), "content", None) or ""
    return AIMessage(text, response_metadata=metadata)


class RawAndParsed(dict[str, Any]):
    """A part of what ``include_raw`` streams; parts are added up.

    Message chunks are added as LangChain adds them, anything else is replaced.
    """

    def __add__(self, other: object) -> RawAndParsed:
        """Return both parts as one."""
        if not isinstance(other, dict):
            return NotImplemented
        total = RawAndParsed(self | other)
        if "raw" in self and "raw" in other:
            total["raw"] = self["raw"] + other["raw"]
        return total


class _WithRaw(Runnable[Any, Any]):
    """Gives the message beside its value, and the error in place of raising it.

    A stream yields ``raw`` and ``parsed`` as they come; added up, as LangChain does,
    they are what ``invoke`` gives.
    """

    def __init__(
        self, model: Runnable[Any, Any], parser: SafePartialParser[Any]
    ) -> None:
        self.model = model
        self.parser = parser

    def __repr__(self) -> str:
        return f"safe_structured_output({self.parser!r}, include_raw=True)"

    def invoke(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        raw = self.model.invoke(input, config, **kwargs)
        try:
            parsed = self.parser.parse_result([ChatGeneration(message=raw)])
        except PartialOutputError as err:
            return {"raw": raw, "parsed": None, "parsing_error": err}
        return {"raw": raw, "parsed": parsed, "parsing_error": None}

    async def ainvoke(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        raw = await self.model.ainvoke(input, config, **kwargs)
        try:
            parsed = await self.parser.aparse_result([ChatGeneration(message=raw)])
        except PartialOutputError as err:
            return {"raw": raw, "parsed": None, "parsing_error": err}
        return {"raw": raw, "parsed": parsed, "parsing_error": None}

    def stream(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[RawAndParsed]:
        seen: list[Any] = []
        source = self.model.stream(input, config, **kwargs)
        # What the parser takes is handed on before what it makes of it.
        items = self.parser.transform(_kept(source, seen), config)
        parsed: Any = None
        error: PartialOutputError | None = None
        with closing(items):  # type: ignore[type-var]  # a generator
            try:
                for parsed in items:
                    yield from _raws(seen)
                    yield RawAndParsed(parsed=parsed)
            except PartialOutputError as err:
                parsed, error = None, err
        yield from _raws(seen)
        yield RawAndParsed(parsed=parsed, parsing_error=error)

    async def astream(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[RawAndParsed]:
        seen: list[Any] = []
        source = self.model.astream(input, config, **kwargs)
        items = self.parser.atransform(_akept(source, seen), config)
        parsed: Any = None
        error: PartialOutputError | None = None
        async with aclosing(items):  # type: ignore[type-var]  # a generator
            try:
                async for parsed in items:
                    for raw in _raws(seen):
                        yield raw
                    yield RawAndParsed(parsed=parsed)
            except PartialOutputError as err:
                parsed, error = None, err
        for raw in _raws(seen):
            yield raw
        yield RawAndParsed(parsed=parsed, parsing_error=error)


def _raws(seen: list[Any]) -> Iterator[RawAndParsed]:
    while seen:
        yield RawAndParsed(raw=seen.pop(0))


def _kept(source: Iterator[Any], seen: list[Any]) -> Iterator[Any]:
    with closing(source):  # type: ignore[type-var]  # a generator
        for chunk in source:
            seen.append(chunk)
            yield chunk


async def _akept(source: AsyncIterator[Any], seen: list[Any]) -> AsyncIterator[Any]:
    async with aclosing(source):  # type: ignore[type-var]  # a generator
        async for chunk in source:
            seen.append(chunk)
            yield chunk
