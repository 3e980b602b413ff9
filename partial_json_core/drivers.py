"""Drivers: a whole text, an iterable of chunks, an asynchronous iterable of chunks."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar, overload

from typing_extensions import TypedDict, Unpack

from ._bulk import read_plain
from ._checks import Checks, Early
from ._schema import Root, compile_schema
from ._views import Partial
from .finish import RawFinishReason
from .fixes import FixPolicy
from .limits import Limits
from .parser import PartialParser

_DEFAULT_LIMITS: Final = Limits()

FinishReasonOption: TypeAlias = "RawFinishReason | Callable[[], RawFinishReason]"
"""A finish reason, or a function that is asked for it once the chunks have ended."""


_Value = TypeVar("_Value")


class _Options(TypedDict, total=False):
    policy: FixPolicy
    limits: Limits
    early: Early
    checks: Checks | None
    root: Root


class _LoadsOptions(_Options, total=False):
    finish_reason: RawFinishReason


class _StreamOptions(_Options, total=False):
    stop_early: bool
    finish_reason: FinishReasonOption


@overload
def loads(
    text: str, schema: type[_Value], **options: Unpack[_LoadsOptions]
) -> _Value: ...
@overload
def loads(text: str, schema: Any = None, **options: Unpack[_LoadsOptions]) -> Any: ...
def loads(
    text: str,
    schema: Any = None,
    *,
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE,
    limits: Limits = _DEFAULT_LIMITS,
    early: Early = True,
    checks: Checks | None = None,
    root: Root = "auto",
    finish_reason: RawFinishReason = "stop",
) -> Any:
    """Read a whole output: the rules and the errors of `PartialParser`.

    Args:
        text: The output.
        schema: See `PartialParser`.
        policy: See `PartialParser`.
        limits: See `PartialParser`.
        early: See `PartialParser`.
        checks: See `PartialParser`.
        root: See `PartialParser`.
        finish_reason: Why the model stopped; a normal stop is assumed.

    Returns:
        The final value.

    Raises:
        PartialOutputError: See `PartialParser.feed` and `PartialParser.close`.

    Example:
        >>> loads('Here you are: {"city": "Oslo"}')
        {'city': 'Oslo'}
    """
    if not isinstance(text, str):
        raise TypeError(
            f"`loads` reads str, got {type(text).__name__}: decode it first"
        )
    compiled = compile_schema(schema, root)
    if not checks:
        value, is_plain = read_plain(text, compiled, limits, finish_reason)
        if is_plain:
            return value
    parser = PartialParser(
        compiled,
        policy=policy,
        limits=limits,
        early=early,
        checks=checks,
        watch=(),
    )
    parser.feed(text)
    return parser.close(finish_reason)


@overload
def iter_partial(
    deltas: Iterable[str], schema: type[_Value], **options: Unpack[_StreamOptions]
) -> Iterator[Partial[_Value] | _Value]: ...
@overload
def iter_partial(
    deltas: Iterable[str], schema: Any = None, **options: Unpack[_StreamOptions]
) -> Iterator[Any]: ...
def iter_partial(
    deltas: Iterable[str],
    schema: Any = None,
    *,
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE,
    limits: Limits = _DEFAULT_LIMITS,
    early: Early = True,
    checks: Checks | None = None,
    root: Root = "auto",
    stop_early: bool = False,
    finish_reason: FinishReasonOption = None,
) -> Iterator[Any]:
    """Yield the snapshots that changed, and then the final value.

    The source is closed, if it has a ``close``, when the iteration ends for whatever
    reason.

    Args:
        deltas: The chunks.
        schema: See `PartialParser`.
        policy: See `PartialParser`.
        limits: See `PartialParser`.
        early: See `PartialParser`.
        checks: See `PartialParser`.
        root: See `PartialParser`.
        stop_early: End with the final value as soon as it is known
            (`PartialParser.satisfied`), and leave the rest unread.
        finish_reason: Why the model stopped, or a function that tells it at the end.

    Yields:
        Snapshots; the last item is the final value.

    Raises:
        PartialOutputError: See `PartialParser.feed` and `PartialParser.close`.

    Example:
        >>> list(iter_partial(['{"n": [1', ', 2', '0]}']))
        [{'n': []}, {'n': [1]}, {'n': [1, 20]}, {'n': [1, 20]}]
    """
    parser = PartialParser(
        schema,
        policy=policy,
        limits=limits,
        early=early,
        checks=checks,
        watch=(),
        root=root,
    )
    source = iter(deltas)
    try:
        for delta in source:
            parser.feed(delta)
            if stop_early and parser.satisfied:
                yield parser.accept()
                return
            if parser.changed:
                yield parser.snapshot()
        yield parser.close(_ask(finish_reason))
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()


@overload
def aiter_partial(
    deltas: AsyncIterable[str], schema: type[_Value], **options: Unpack[_StreamOptions]
) -> AsyncIterator[Partial[_Value] | _Value]: ...
@overload
def aiter_partial(
    deltas: AsyncIterable[str], schema: Any = None, **options: Unpack[_StreamOptions]
) -> AsyncIterator[Any]: ...
async def aiter_partial(
    deltas: AsyncIterable[str],
    schema: Any = None,
    *,
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE,
    limits: Limits = _DEFAULT_LIMITS,
    early: Early = True,
    checks: Checks | None = None,
    root: Root = "auto",
    stop_early: bool = False,
    finish_reason: FinishReasonOption = None,
) -> AsyncIterator[Any]:
    """Do what `iter_partial` does, over an asynchronous iterable.

    Args:
        deltas: The chunks.
        schema: See `PartialParser`.
        policy: See `PartialParser`.
        limits: See `PartialParser`.
        early: See `PartialParser`.
        checks: See `PartialParser`.
        root: See `PartialParser`.
        stop_early: End with the final value as soon as it is known
            (`PartialParser.satisfied`), and leave the rest unread.
        finish_reason: Why the model stopped, or a function that tells it at the end.

    Yields:
        Snapshots; the last item is the final value.

    Raises:
        PartialOutputError: See `PartialParser.feed` and `PartialParser.close`.
    """
    parser = PartialParser(
        schema,
        policy=policy,
        limits=limits,
        early=early,
        checks=checks,
        watch=(),
        root=root,
    )
    source = aiter(deltas)
    try:
        async for delta in source:
            await parser.afeed(delta)
            if stop_early and parser.satisfied:
                yield parser.accept()
                return
            if parser.changed:
                yield parser.snapshot()
        yield await parser.aclose(_ask(finish_reason))
    finally:
        aclose = getattr(source, "aclose", None)
        if aclose is not None:
            await aclose()


def _ask(finish_reason: FinishReasonOption) -> RawFinishReason:
    return finish_reason() if callable(finish_reason) else finish_reason
