"""Transformers that yield what has settled: fields, and elements of a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import BaseMessage
from langchain_core.outputs import Generation
from langchain_core.runnables import RunnableConfig

from partial_json_core import (
    Event,
    FieldSettled,
    FixPolicy,
    Limits,
    PartialParser,
    SchemaMismatchError,
    compile_schema,
)

from ._base import ClosingParser
from ._messages import read_generation
from ._reader import Reader


@dataclass(frozen=True, slots=True)
class SettledField:
    """A value that is final while the model still writes.

    It unpacks as ``path, value``.

    Attributes:
        path: Where it stands.
        value: The value, validated and converted.
        offset: Characters of the output up to and including its last one.
    """

    path: tuple[str | int, ...]
    value: Any
    offset: int

    def __iter__(self) -> Iterator[Any]:
        """Yield the path and the value."""
        yield self.path
        yield self.value


@dataclass(frozen=True, slots=True)
class Rejected:
    """An element that its schema refused.

    Attributes:
        index: Its place in the list.
        raw: The element as plain JSON.
        errors: pydantic's error list; ``loc`` begins at the element.
    """

    index: int
    raw: Any
    errors: Sequence[Any]


class _EventStream(ClosingParser[Any]):
    """Yields something for each event, and checks the whole at the end."""

    pydantic_object: Any = None
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE
    limits: Limits = Limits()

    def _new_parser(self) -> PartialParser[Any]:
        raise NotImplementedError

    def _items(self, event: FieldSettled) -> Iterator[Any]:
        raise NotImplementedError

    def _all_items(self, events: Sequence[Event]) -> Iterator[Any]:
        for event in events:
            if isinstance(event, FieldSettled):
                yield from self._items(event)

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the items of a whole output.

        Args:
            result: What the model gave.
            partial: Return what there is so far instead of deciding that it is all.

        Raises:
            PartialOutputError: The output is not valid, or was cut.
        """
        reader = Reader(self._new_parser)
        events = reader.feed(reader.take(read_generation(result[0])))
        items = list(self._all_items(events))
        if not partial:
            reader.close()
        return items

    async def aparse_result(
        self, result: list[Generation], *, partial: bool = False
    ) -> Any:
        """Return the items of a whole output, without a thread."""
        return self.parse_result(result, partial=partial)

    def _transform(
        self,
        input: Iterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,  # noqa: ARG002 - as above
    ) -> Iterator[Any]:
        reader = Reader(self._new_parser)
        for chunk in input:
            yield from self._all_items(reader.feed(chunk))
        reader.close()

    async def _atransform(
        self,
        input: AsyncIterator[str | BaseMessage],  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,  # noqa: ARG002 - as above
    ) -> AsyncIterator[Any]:
        reader = Reader(self._new_parser)
        async for chunk in input:
            for item in self._all_items(reader.feed(chunk)):
                yield item
        reader.close()

    @property
    def _type(self) -> str:
        return "safe_partial_events"


class SettledFields(_EventStream):
    """Yields a `SettledField` once for each path that settles, validated.

    Start a look-up while the model writes on: ``chain = llm | SettledFields(Ticket,
    "/order_id")``. The whole is validated at the end, so an output that was cut raises
    after its last settled field. ``invoke`` gives all fields as a list.

    Args:
        schema: See `SafePartialParser`.
        *paths: JSON Pointer patterns (``/rows/*/id``); none is every path.
        policy: The fixes that are permitted.
        limits: Ceilings on what is read.
        name: The name of the runnable.

    Raises:
        ValueError: A pattern is not valid, or an option is unknown.

    Example:
        >>> from langchain_partial import SettledFields
        >>> fields = SettledFields(None, "/city")
        >>> [value for path, value in fields.transform(iter(['{"city": "Os', 'lo"}']))]
        ['Oslo']
    """

    paths: Any = ()

    def __init__(self, schema: Any = None, *paths: str, **options: Any) -> None:
        options |= {"pydantic_object": schema, "paths": paths}
        super().__init__(**options)
        self._new_parser()

    def _new_parser(self) -> PartialParser[Any]:
        return PartialParser(
            self.pydantic_object,
            policy=self.policy,
            limits=self.limits,
            watch=self.paths or None,
        )

    def _items(self, event: FieldSettled) -> Iterator[SettledField]:
        yield SettledField(event.path, event.value, event.offset)

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the base class names it
        """The type of what ``invoke`` gives."""
        return list[SettledField]


class ElementStream(_EventStream):
    """Yields each element of a list as it settles.

    With ``on_bad="raise"`` an element that its schema refuses stops the model. With
    ``"collect"`` it is yielded as `Rejected` beside the good ones: what is good and
    what is rejected is all that was seen. ``invoke`` gives them as a list.

    Args:
        schema: The schema of the whole document.
        path: The JSON Pointer of the list; the empty one is a list at the root.
        on_bad: What becomes of an element that is not valid.
        policy: The fixes that are permitted.
        limits: Ceilings on what is read.
        name: The name of the runnable.

    Raises:
        ValueError: The pointer is not valid, or an option is unknown.

    Example:
        >>> from langchain_partial import ElementStream
        >>> elements = ElementStream(list[int], "", on_bad="collect")
        >>> list(elements.transform(iter(['[1, "x', '", 2]'])))  # doctest: +ELLIPSIS
        [1, Rejected(index=1, raw='x', errors=[...]), 2]
    """

    path: str = ""
    on_bad: Literal["raise", "collect"] = "raise"

    def __init__(self, schema: Any, path: str = "", **options: Any) -> None:
        options |= {"pydantic_object": schema, "path": path}
        super().__init__(**options)
        # Both ways of reading refuse a path that the schema cannot have.
        PartialParser(schema, watch=[f"{self.path}/*"])
        self._new_parser()

    def _new_parser(self) -> PartialParser[Any]:
        # What is collected must not stop the stream: then each element is judged here.
        is_collected = self.on_bad == "collect"
        return PartialParser(
            None if is_collected else self.pydantic_object,
            policy=self.policy,
            limits=self.limits,
            watch=[f"{self.path}/*"],
            root="array" if not self.path else "object",
        )

    def _items(self, event: FieldSettled) -> Iterator[Any]:
        if self.on_bad == "raise":
            yield event.value
            return
        try:
            schema = compile_schema(self.pydantic_object)
            yield schema.validate_at(event.path, event.value)
        except SchemaMismatchError as err:
            index = event.path[-1]
            assert isinstance(index, int)
            yield Rejected(index, event.value, list(err.errors))

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the base class names it
        """The type of what ``invoke`` gives."""
        return list[Any]
