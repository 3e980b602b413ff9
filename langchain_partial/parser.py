"""`SafePartialParser`: the output parser for the text of a model."""

from __future__ import annotations

import functools
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterator,
    Mapping,
)
from typing import Any, Final, Generic, TypeVar, cast, get_origin, overload

from langchain_core.callbacks import (
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import RunnableConfig
from pydantic import model_validator
from typing_extensions import TypedDict, Unpack

from partial_json_core import (
    Event,
    FieldSettled,
    FixApplied,
    FixPolicy,
    Limits,
    ParseReport,
    PartialParser,
    compact_schema,
)

from ._base import ClosingParser
from ._messages import read_generation
from ._patches import Patches
from ._reader import Reader

_Value = TypeVar("_Value")

_INSTRUCTIONS: Final = (
    "Answer with one JSON document and nothing else: no words around it, no code "
    "fence, no comments."
)
_OPTIONS: Final = (
    *("policy", "limits", "early", "checks", "stop_early", "diff", "watch", "root"),
    *("on_report", "name"),
)


class _Options(TypedDict, total=False):
    policy: FixPolicy
    limits: Limits
    early: bool | Collection[str]
    checks: Mapping[str, Callable[[Any], Any]] | None
    stop_early: bool
    diff: bool
    on_report: Callable[[ParseReport], object] | None
    watch: Collection[str] | None
    root: str
    name: str | None


class SafePartialParser(ClosingParser[_Value], Generic[_Value]):
    """Streams what a model writes as it settles, and never hands over a cut answer.

    The answer is the text of the model, or the arguments of its only tool call,
    whatever the name of that tool; `SafePartialToolsParser` goes by the names.

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
        diff: Yield JSON Patch operations (RFC 6902) in place of snapshots: applied in
            order to None they rebuild each snapshot, and in the end the document.
        watch: JSON Pointer patterns (``/rows/*/amount``) of values that a stream
            reports as they settle, in custom events named ``field_settled`` with
            ``path``, ``value`` and ``offset``; None is every value. Fixes are custom
            events named ``fix_applied``.
        on_report: Called once with the `ParseReport` of each output, also of one that
            failed: its fixes, warnings and finish reason.
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

    pydantic_object: Any = None
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE
    limits: Limits = Limits()
    early: Any = True
    checks: Any = None
    stop_early: bool = False
    diff: bool = False
    watch: Any = ()
    on_report: Any = None
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

    def _read_first(self, result: list[Generation]) -> tuple[Reader, str]:
        first = result[0]
        message = first.message if isinstance(first, ChatGeneration) else None
        reader = Reader(
            functools.partial(self._new_parser, ()), message, self.on_report
        )
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
        reader = Reader(
            functools.partial(self._new_parser, self.watch), on_report=self.on_report
        )
        patches = Patches(reader) if self.diff else None
        news = reader.news if patches is None else patches.news
        for chunk in input:
            for event in reader.feed(chunk):
                if (named := _event_data(event)) is not None:
                    dispatch_custom_event(*named, config=config)
            if self.stop_early and reader.is_satisfied:
                yield from _last(patches, reader.accept())
                return
            if (found := news()) is not None:
                yield found
        yield from _last(patches, reader.close())

    async def _atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
    ) -> AsyncIterator[Any]:
        reader = Reader(
            functools.partial(self._new_parser, self.watch), on_report=self.on_report
        )
        patches = Patches(reader) if self.diff else None
        news = reader.news if patches is None else patches.news
        async for chunk in input:
            for event in await reader.afeed(chunk):
                if (named := _event_data(event)) is not None:
                    await adispatch_custom_event(*named, config=config)
            if self.stop_early and reader.is_satisfied:
                for item in _last(patches, reader.accept()):
                    yield item
                return
            if (found := news()) is not None:
                yield found
        for item in _last(patches, await reader.aclose()):
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


def _last(patches: Patches | None, value: Any) -> Iterator[Any]:
    """What a stream ends with: the final value, or what still leads to it."""
    if patches is None:
        yield value
    elif (found := patches.last()) is not None:
        yield found


def _event_data(event: Event) -> tuple[str, dict[str, Any]] | None:
    """The name and the data of the custom event for what happened, if there is one."""
    if isinstance(event, FieldSettled):
        data = {"path": event.path, "value": event.value, "offset": event.offset}
        return "field_settled", data
    if isinstance(event, FixApplied):
        fix = event.fix
        data = {"kind": fix.kind.value, "offset": fix.offset}
        return "fix_applied", data | {"removed": fix.removed, "inserted": fix.inserted}
    return None


def _name(schema: Any) -> str:
    # Generic aliases have the name of their origin, and some are instances of `type`.
    if isinstance(schema, type) and get_origin(schema) is None:
        return schema.__name__
    return repr(schema)
