"""`RetryWithFeedback`: ask again, a bounded number of times, and say why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any, Literal, TypeAlias

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    convert_to_messages,
)
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSequence
from langchain_core.runnables.utils import Input

from partial_json_core import (
    InvariantError,
    LimitExceededError,
    PartialOutputError,
    RefusedOutputError,
    RetriesExhaustedError,
    TruncatedOutputError,
)

from ._base import ClosingParser
from ._calls import fragments

OnTruncation: TypeAlias = Literal["raise"] | Sequence[int]

_EVENT = "retry"
_FEEDBACK = (
    "Your last answer was refused: {error}. Answer again, with one JSON document and "
    "nothing else, and mend what was wrong."
)


class RetryWithFeedback(Runnable[Any, Any]):
    """Asks a model again when its answer cannot be read, and says why.

    The failed answer and the error are attached to the prompt. An answer that was cut
    is never attached, and a refusal is never retried. A stream yields the snapshots of
    each attempt, one after another, and the final value last; a restart is a custom
    event named ``retry``, and the failed attempt has been stopped by then.

    Args:
        runnable: A model, or a prompt and a model (``prompt | llm``).
        parser: `SafePartialParser` or `SafePartialToolsParser`.
        max_retries: How often to ask again, 0 or more.
        fallback: What answers when no attempt did: a runnable that gets the input, or
            a function of the input and the errors.
        on_truncation: ``"raise"``, or a ladder of ``max_tokens``: after each cut the
            next rung is bound to the model, and the last one raises.

    Raises:
        ValueError: `max_retries` is negative, or `on_truncation` is neither.

    Example:
        >>> from langchain_core.runnables import RunnableLambda
        >>> from langchain_partial import RetryWithFeedback, SafePartialParser
        >>> answers = iter(['{"city" Oslo}', '{"city": "Oslo"}'])
        >>> llm = RunnableLambda(lambda prompt: next(answers))
        >>> RetryWithFeedback(llm, SafePartialParser()).invoke("Where?")
        {'city': 'Oslo'}
    """

    def __init__(
        self,
        runnable: Runnable[Any, Any],
        parser: ClosingParser[Any],
        *,
        max_retries: int = 2,
        fallback: Runnable[Any, Any] | Callable[..., Any] | None = None,
        on_truncation: OnTruncation = "raise",
    ) -> None:
        if max_retries < 0:
            raise ValueError(f"`max_retries` must be 0 or more, got {max_retries}")
        if isinstance(on_truncation, str) and on_truncation != "raise":
            raise ValueError(
                f"`on_truncation` must be 'raise' or a ladder of max_tokens, got "
                f"{on_truncation!r}"
            )
        self.runnable = runnable
        self.parser = parser
        self.max_retries = max_retries
        self.fallback = fallback
        self.on_truncation = on_truncation
        self._prompt: Runnable[Any, Any] | None = None
        self._model = runnable
        if isinstance(runnable, RunnableSequence) and isinstance(
            runnable.first, BasePromptTemplate
        ):
            # The feedback is attached to what the prompt makes.
            self._prompt = runnable.first
            steps = runnable.steps[1:]
            self._model = steps[0] if len(steps) == 1 else RunnableSequence(*steps)

    def __repr__(self) -> str:
        """Show the parser and the bound."""
        return f"RetryWithFeedback({self.parser!r}, max_retries={self.max_retries})"

    # ------------------------------------------------------------------- invoke

    def invoke(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return the first answer that can be read; see the class for errors."""
        return self._call_with_config(self._invoke, input, config, **kwargs)

    def _invoke(
        self,
        given: Any,
        run_manager: CallbackManagerForChainRun,  # noqa: ARG002 - comes with the config
        config: RunnableConfig,
    ) -> Any:
        attempts = _Attempts(self, self._messages(given, config))
        while True:
            said = attempts.model.invoke(attempts.messages, config)
            try:
                return self.parser.parse_result(_result(said), partial=False)
            except PartialOutputError as err:
                if not attempts.fail(err, _text_of(said)):
                    return self._fall_back(given, config, attempts)
            dispatch_custom_event(_EVENT, attempts.news(), config=config)

    async def ainvoke(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return the first answer that can be read; see the class for errors."""
        return await self._acall_with_config(self._ainvoke, input, config, **kwargs)

    async def _ainvoke(
        self,
        given: Any,
        run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG002 - as above
        config: RunnableConfig,
    ) -> Any:
        attempts = _Attempts(self, await self._amessages(given, config))
        while True:
            said = await attempts.model.ainvoke(attempts.messages, config)
            try:
                return await self.parser.aparse_result(_result(said), partial=False)
            except PartialOutputError as err:
                if not attempts.fail(err, _text_of(said)):
                    return await self._afall_back(given, config, attempts)
            await adispatch_custom_event(_EVENT, attempts.news(), config=config)

    # ------------------------------------------------------------------- stream

    def stream(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **_kwargs: Any,
    ) -> Iterator[Any]:
        """Yield the snapshots of each attempt, and the final value last."""
        attempts = _Attempts(self, self._messages(input, config))
        while True:
            said = _Recorder()
            source = attempts.model.stream(attempts.messages, config)
            try:
                stream = self.parser.transform(said.record(source), config)
                with closing(stream) as items:  # type: ignore[type-var]  # a generator
                    yield from items
            except PartialOutputError as err:
                if not attempts.fail(err, said.text):
                    yield self._fall_back(input, config, attempts)
                    return
            else:
                return
            _dispatch(attempts.news(), config)

    async def astream(
        self,
        input: Input,  # noqa: A002 - the base class names it
        config: RunnableConfig | None = None,
        **_kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Yield the snapshots of each attempt, and the final value last."""
        attempts = _Attempts(self, await self._amessages(input, config))
        while True:
            said = _Recorder()
            source = attempts.model.astream(attempts.messages, config)
            try:
                stream = self.parser.atransform(said.arecord(source), config)
                async with aclosing(stream) as items:  # type: ignore[type-var]  # a generator
                    async for item in items:
                        yield item
            except PartialOutputError as err:
                if not attempts.fail(err, said.text):
                    yield await self._afall_back(input, config, attempts)
                    return
            else:
                return
            await _adispatch(attempts.news(), config)

    # -------------------------------------------------------------- the prompt

    def _messages(self, given: Any, config: RunnableConfig | None) -> list[BaseMessage]:
        if self._prompt is not None:
            given = self._prompt.invoke(given, config)
        return _as_messages(given)

    async def _amessages(
        self, given: Any, config: RunnableConfig | None
    ) -> list[BaseMessage]:
        if self._prompt is not None:
            given = await self._prompt.ainvoke(given, config)
        return _as_messages(given)

    # ------------------------------------------------------------ the fallback

    def _fall_back(
        self, given: Any, config: RunnableConfig | None, attempts: _Attempts
    ) -> Any:
        if self.fallback is None:
            raise attempts.exhausted() from attempts.errors[-1]
        if isinstance(self.fallback, Runnable):
            return self.fallback.invoke(given, config)
        return self.fallback(given, tuple(attempts.errors))

    async def _afall_back(
        self, given: Any, config: RunnableConfig | None, attempts: _Attempts
    ) -> Any:
        if isinstance(self.fallback, Runnable):
            return await self.fallback.ainvoke(given, config)
        value = self._fall_back(given, config, attempts)
        return await value if hasattr(value, "__await__") else value


class _Attempts:
    """What was tried, and what is tried next.

    Attributes:
        model: The model of the next attempt.
        messages: What it is asked.
        errors: Why each attempt so far failed.
    """

    def __init__(self, owner: RetryWithFeedback, messages: list[BaseMessage]) -> None:
        self._owner = owner
        self._asked = messages
        self._ladder = (
            [] if isinstance(owner.on_truncation, str) else list(owner.on_truncation)
        )
        self.model: Runnable[Any, Any] = owner._model  # noqa: SLF001 - one noun
        self.messages = messages
        self.errors: list[PartialOutputError] = []

    def fail(self, err: PartialOutputError, said: str) -> bool:
        """Take note of a failure; returns whether to ask again.

        Raises:
            PartialOutputError: The failure is one that asking again does not cure.
        """
        if isinstance(err, RefusedOutputError | LimitExceededError | InvariantError):
            raise err
        if isinstance(err, TruncatedOutputError):
            if not self._ladder:
                raise err
            self.errors.append(err)
            # A cut answer is not shown to the model: it would go on from it.
            self.model = self._owner._model.bind(max_tokens=self._ladder.pop(0))  # noqa: SLF001 - one noun
            return True
        self.errors.append(err)
        failures = sum(not isinstance(e, TruncatedOutputError) for e in self.errors)
        if failures > self._owner.max_retries:
            return False
        feedback = HumanMessage(_FEEDBACK.format(error=err))
        self.messages = [*self._asked, AIMessage(said), feedback]
        return True

    def news(self) -> dict[str, Any]:
        """The data of the event."""
        return {"attempt": len(self.errors) + 1, "error": str(self.errors[-1])}

    def exhausted(self) -> RetriesExhaustedError:
        """The error that holds all of them."""
        last = self.errors[-1]
        return RetriesExhaustedError(
            attempts=tuple(self.errors),
            path=last.path,
            offset=last.offset,
            finish_reason=last.finish_reason,
            report=last.report,
        )


class _Recorder:
    """Keeps the text of an attempt while it streams."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def record(self, source: Iterator[Any]) -> Iterator[Any]:
        with closing(source):  # type: ignore[type-var]  # a generator
            for chunk in source:
                self._parts.append(_text_of(chunk))
                yield chunk

    async def arecord(self, source: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async with aclosing(source):  # type: ignore[type-var]  # a generator
            async for chunk in source:
                self._parts.append(_text_of(chunk))
                yield chunk


def _as_messages(given: LanguageModelInput) -> list[BaseMessage]:
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, str):
        return [HumanMessage(given)]
    if isinstance(given, BaseMessage):
        return [given]
    return convert_to_messages(given)


def _result(said: Any) -> list[Generation]:
    if isinstance(said, BaseMessage):
        return [ChatGeneration(message=said)]
    return [Generation(text=said)]


def _text_of(said: Any) -> str:
    if not isinstance(said, BaseMessage):
        return str(said)
    return str(said.text) + "".join(part.args for part in fragments(said))


def _dispatch(data: dict[str, Any], config: RunnableConfig | None) -> None:
    try:
        dispatch_custom_event(_EVENT, data, config=config)
    except RuntimeError:
        # Outside a run nobody listens.
        return


async def _adispatch(data: dict[str, Any], config: RunnableConfig | None) -> None:
    try:
        await adispatch_custom_event(_EVENT, data, config=config)
    except RuntimeError:
        return
