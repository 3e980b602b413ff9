"""The third layer: facts that a schema cannot know, asked when a path settles."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from .errors import SemanticCheckError
from .events import Event, FieldSettled, TextDelta
from .paths import EVERYTHING, Path, PatternNode, compile_patterns, parse_pointer

CheckFunction: TypeAlias = Callable[[Any], Any]
Checks: TypeAlias = Mapping[str, CheckFunction]
Early: TypeAlias = bool | Iterable[str]

_WILDCARD = "*"


def compile_early(early: Early) -> PatternNode | None:
    """Return what is judged early: None is nothing.

    Raises:
        ValueError: A pattern is not valid.
    """
    if isinstance(early, bool):
        return EVERYTHING if early else None
    return compile_patterns(early)


class Check:
    """One check.

    Attributes:
        name: What errors call it.
        function: Returns None, or raises `ValueError` to refuse a value.
        is_async: It is a coroutine function.
    """

    __slots__ = ("_segments", "function", "is_async", "name")

    def __init__(self, pattern: str, function: CheckFunction) -> None:
        if not callable(function):
            raise TypeError(
                f"the check of {pattern!r} cannot be called: give a function that "
                f"takes the value and raises ValueError to refuse it"
            )
        self._segments = parse_pointer(pattern)
        self.function = function
        self.name = getattr(function, "__qualname__", None) or repr(function)
        call = getattr(function, "__call__", None)  # noqa: B004 - an object's own
        self.is_async = inspect.iscoroutinefunction(
            function
        ) or inspect.iscoroutinefunction(call)

    def selects(self, path: Path) -> bool:
        """Whether a path is one of its pattern."""
        return len(path) == len(self._segments) and all(
            wanted in (_WILDCARD, str(segment))
            for wanted, segment in zip(self._segments, path, strict=True)
        )

    def judge(self, result: object) -> None:
        """Refuse a check that tells its verdict by what it returns.

        Raises:
            TypeError: It returned something.
        """
        if result is not None:
            raise TypeError(
                f"check `{self.name}` returned {type(result).__name__}: a check "
                f"returns nothing, and raises ValueError to refuse a value"
            )


class CheckRunner:
    """The checks of one stream: which were run, and which have to be awaited.

    Args:
        checks: Functions by JSON Pointer patterns.
        wanted: The events that the user asked for; checks bring others.

    Attributes:
        has_async: One of the checks has to be awaited.
        knows_root: The root has settled, and was checked.
    """

    __slots__ = (
        "_checks",
        "_is_awaited",
        "_pending",
        "_wanted",
        "has_async",
        "knows_root",
    )

    def __init__(self, checks: Checks, wanted: PatternNode | None) -> None:
        if not isinstance(checks, Mapping):
            raise TypeError(
                f"`checks` must map JSON Pointer patterns to functions, got "
                f"{type(checks).__name__}"
            )
        self._checks = [Check(*item) for item in checks.items()]
        self._wanted = wanted
        self._pending: list[tuple[Check, FieldSettled]] = []
        self.has_async = any(check.is_async for check in self._checks)
        self.knows_root = False
        self._is_awaited = False

    def refuse_async(self) -> None:
        """Refuse checks that nobody would await.

        Raises:
            TypeError: A check is a coroutine function.
        """
        if self.has_async and not self._is_awaited:
            raise TypeError(
                "a check is a coroutine function: use `afeed`, `aclose` and "
                "`aiter_partial`, or in a chain `ainvoke` and `astream`"
            )

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Promise to await what is pending."""
        self._is_awaited = True
        try:
            yield
        finally:
            self._is_awaited = False

    def run(self, events: Iterable[Event], wanted: list[Event]) -> None:
        """Run the checks of what has settled, in the order they were given.

        Args:
            events: What a chunk caused.
            wanted: The list to append to what the user asked for, up to a failure.

        Raises:
            SemanticCheckError: A check refused a value.
        """
        for event in events:
            if isinstance(event, FieldSettled):
                self.knows_root = self.knows_root or not event.path
                for check in self._checks:
                    if not check.selects(event.path):
                        continue
                    if check.is_async:
                        self._pending.append((check, event))
                        continue
                    try:
                        check.judge(check.function(event.value))
                    except ValueError as err:
                        raise _refusal(check, event, err) from err
            if self._is_wanted(event):
                wanted.append(event)

    async def run_pending(self) -> None:
        """Await the checks of what has settled.

        Raises:
            SemanticCheckError: A check refused a value.
        """
        pending, self._pending = self._pending, []
        for check, event in pending:
            await self._await_one(check, event)

    async def _await_one(self, check: Check, event: FieldSettled) -> None:
        try:
            check.judge(await check.function(event.value))
        except ValueError as err:
            raise _refusal(check, event, err) from err

    def _is_wanted(self, event: Event) -> bool:
        if not isinstance(event, FieldSettled | TextDelta):
            return True
        node = self._wanted
        for segment in event.path:
            if node is None:
                return False
            node = node.child(segment)
        return node is not None and node.selected


def _refusal(
    check: Check, event: FieldSettled, reason: ValueError
) -> SemanticCheckError:
    return SemanticCheckError(
        check=check.name,
        value=event.value,
        reason=str(reason),
        path=event.path,
        offset=event.offset,
    )
