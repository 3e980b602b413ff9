"""The third layer: facts that a schema cannot know, asked when a path settles."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

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


class CheckList:
    """All checks of a parser.

    Attributes:
        has_async: One of them has to be awaited.
    """

    __slots__ = ("_checks", "has_async")

    def __init__(self, checks: Checks) -> None:
        if not isinstance(checks, Mapping):
            raise TypeError(
                f"`checks` must map JSON Pointer patterns to functions, got "
                f"{type(checks).__name__}"
            )
        self._checks = [Check(*item) for item in checks.items()]
        self.has_async = any(check.is_async for check in self._checks)

    def of(self, path: Path) -> list[Check]:
        """The checks of a path that has settled, in the order they were given."""
        return [check for check in self._checks if check.selects(path)]
