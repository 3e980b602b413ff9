"""`RetryWithFeedback`: bounded, loud, and never with a cut answer attached."""

# ruff: noqa: ARG002 - the base classes name the arguments

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel

from langchain_partial import (
    LangChainRefusedOutputError,
    RetryWithFeedback,
    SafePartialParser,
    SafePartialToolsParser,
)
from partial_json_core import (
    LimitExceededError,
    Limits,
    MalformedOutputError,
    Partial,
    RetriesExhaustedError,
    SemanticCheckError,
    TruncatedOutputError,
)


class City(BaseModel):
    name: str


GOOD = '{"name": "Oslo"}'
BAD = '{"name" Oslo}'


class Model(Runnable[Any, Any]):
    """Gives one answer after another, and keeps what it was asked."""

    def __init__(self, *answers: AIMessage | str) -> None:
        self.answers = [a if isinstance(a, AIMessage) else message(a) for a in answers]
        self.asked: list[list[BaseMessage]] = []
        self.limits: list[Any] = []
        self.written: list[int] = []

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        self.asked.append(list(input))
        self.limits.append(kwargs.get("max_tokens"))
        return self.answers[len(self.asked) - 1]

    def _chunks(self, said: AIMessage) -> Iterator[AIMessageChunk]:
        text = str(said.content)
        yield from (AIMessageChunk(text[i : i + 4]) for i in range(0, len(text), 4))
        yield AIMessageChunk(
            "",
            additional_kwargs=said.additional_kwargs,
            response_metadata=said.response_metadata,
        )

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        said = self.invoke(input, config, **kwargs)
        self.written.append(0)
        for chunk in self._chunks(said):
            self.written[-1] += len(chunk.content)
            yield chunk

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        for chunk in self.stream(input, config, **kwargs):
            yield chunk


def message(text: str, reason: str = "stop", **extra: Any) -> AIMessage:
    return AIMessage(text, response_metadata={"finish_reason": reason}, **extra)


def by_invoke(chain: Any, given: Any) -> Any:
    return chain.invoke(given)


def by_ainvoke(chain: Any, given: Any) -> Any:
    return asyncio.run(chain.ainvoke(given))


def by_stream(chain: Any, given: Any) -> Any:
    return list(chain.stream(given))[-1]


def by_astream(chain: Any, given: Any) -> Any:
    async def collect() -> list[Any]:
        return [item async for item in chain.astream(given)]

    return asyncio.run(collect())[-1]


@pytest.fixture(params=[by_invoke, by_ainvoke, by_stream, by_astream])
def run(request: pytest.FixtureRequest) -> Callable[[Any, Any], Any]:
    """Each way of running a chain."""
    way: Callable[[Any, Any], Any] = request.param
    return way


def test_a_good_answer_needs_no_retry(run: Any) -> None:
    """The first answer that can be read is the value."""
    model = Model(GOOD)
    assert run(RetryWithFeedback(model, SafePartialParser(City)), "Where?") == City(
        name="Oslo"
    )
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "bad", [BAD, '{"nme": "Oslo"}', "I do not know.", '{"name": "a"} or {"name": "b"}']
)
def test_a_bad_answer_is_asked_again_with_the_error(bad: str, run: Any) -> None:
    """The failed answer and the sentence of its error are attached to the prompt."""
    model = Model(bad, GOOD)
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Be brief."), ("human", "{q}")]
    )
    chain = RetryWithFeedback(prompt | model, SafePartialParser(City))

    assert run(chain, {"q": "Where?"}) == City(name="Oslo")
    first, second = model.asked
    assert [m.type for m in first] == ["system", "human"]
    assert [m.type for m in second] == ["system", "human", "ai", "human"]
    assert bad.startswith(str(second[2].content))
    assert "refused: " in str(second[3].content)


def test_only_the_last_failure_is_attached(run: Any) -> None:
    """The prompt does not grow with the attempts."""
    model = Model(BAD, "nothing", GOOD)
    run(RetryWithFeedback(model, SafePartialParser(City)), "Where?")
    assert [len(asked) for asked in model.asked] == [1, 3, 3]
    assert model.asked[2][1].content == "nothing"


def test_the_bound_holds(run: Any) -> None:
    """After `max_retries` the errors of all attempts are raised together."""
    model = Model(*[BAD] * 5)
    with pytest.raises(
        RetriesExhaustedError, match="all 3 attempts failed; the last: "
    ) as caught:
        run(RetryWithFeedback(model, SafePartialParser(City)), "Where?")

    assert len(model.asked) == 3
    assert [type(err).__mro__[1] for err in caught.value.attempts] == [
        MalformedOutputError
    ] * 3
    with pytest.raises(RetriesExhaustedError):
        run(
            RetryWithFeedback(Model(BAD), SafePartialParser(City), max_retries=0),
            "Where?",
        )


def test_a_fallback_answers_in_the_end(run: Any) -> None:
    """A runnable gets the input, a function the input and the errors."""
    runnable = RunnableLambda(lambda given: City(name=given))
    chain = RetryWithFeedback(
        Model(BAD), SafePartialParser(City), max_retries=0, fallback=runnable
    )
    assert run(chain, "Where?") == City(name="Where?")

    chain = RetryWithFeedback(
        Model(BAD),
        SafePartialParser(City),
        max_retries=0,
        fallback=lambda _given, errors: len(errors),
    )
    assert run(chain, "Where?") == 1


def test_a_cut_answer_is_never_attached(run: Any) -> None:
    """By default a cut raises at once; with a ladder more tokens are allowed."""
    cut = message(GOOD[:9], "length")
    with pytest.raises(TruncatedOutputError):
        run(RetryWithFeedback(Model(cut, GOOD), SafePartialParser(City)), "Where?")
    model = Model(cut, cut, GOOD)
    chain = RetryWithFeedback(
        model, SafePartialParser(City), max_retries=0, on_truncation=[200, 400]
    )

    assert run(chain, "Where?") == City(name="Oslo")
    assert model.limits == [None, 200, 400]
    assert [len(asked) for asked in model.asked] == [1, 1, 1]
    with pytest.raises(TruncatedOutputError):
        run(
            RetryWithFeedback(
                Model(cut, cut), SafePartialParser(City), on_truncation=[200]
            ),
            "Where?",
        )


def test_refusals_and_limits_are_not_retried(run: Any) -> None:
    """What asking again does not cure is raised at once."""
    refused = message("", additional_kwargs={"refusal": "No"})
    with pytest.raises(LangChainRefusedOutputError):
        run(RetryWithFeedback(Model(refused, GOOD), SafePartialParser(City)), "Where?")
    parser = SafePartialParser(City, limits=Limits(max_chars=5))
    with pytest.raises(LimitExceededError):
        run(RetryWithFeedback(Model(GOOD, GOOD), parser), "Where?")


def test_a_refused_check_is_asked_again(run: Any) -> None:
    """A check of the caller's is a reason to ask again as well."""

    def known(name: str) -> None:
        if name != "Oslo":
            raise ValueError("no such city")

    model = Model('{"name": "Atlantis"}', GOOD)
    parser = SafePartialParser(City, checks={"/name": known})
    assert run(RetryWithFeedback(model, parser), "Where?") == City(name="Oslo")
    assert "no such city" in str(model.asked[1][2].content)
    with pytest.raises(RetriesExhaustedError) as caught:
        run(
            RetryWithFeedback(Model('{"name": "Atlantis"}'), parser, max_retries=0),
            "Where?",
        )
    assert isinstance(caught.value.attempts[0], SemanticCheckError)


def test_a_stream_shows_each_attempt_and_stops_the_failed_one() -> None:
    """Snapshots of the failed attempt come first, and its model writes no more."""
    model = Model('{"name": 3, "more": "' + "x" * 100 + '"}', GOOD)
    items = list(RetryWithFeedback(model, SafePartialParser(City)).stream("Where?"))

    assert {type(item) for item in items[:-1]} == {Partial[City]}
    assert items[-1] == City(name="Oslo")
    assert model.written[0] < 20


class Events(BaseCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        self.seen.append((name, data["attempt"]))


def test_a_restart_is_an_event() -> None:
    """Handlers learn of each restart, with the number of the attempt and the error."""
    events = Events()
    chain = RetryWithFeedback(Model(BAD, BAD, GOOD), SafePartialParser(City))
    chain.invoke("Where?", {"callbacks": [events]})
    assert events.seen == [("retry", 2), ("retry", 3)]


async def test_tool_calls_are_retried_too() -> None:
    """The arguments of a failed call are attached as text."""
    call = {"name": "City", "args": {"nme": "x"}, "id": "1"}
    good = {"name": "City", "args": {"name": "Oslo"}, "id": "1"}
    model = Model(AIMessage("", tool_calls=[call]), AIMessage("", tool_calls=[good]))
    [found] = await RetryWithFeedback(model, SafePartialToolsParser([City])).ainvoke(
        "Where?"
    )

    assert found.args == City(name="Oslo")
    assert model.asked[1][1].content == '{"nme":"x"}'


def test_wrong_options_are_named() -> None:
    """Options that make no sense are refused when the chain is made."""
    with pytest.raises(ValueError, match="0 or more, got -1"):
        RetryWithFeedback(Model(), SafePartialParser(), max_retries=-1)
    with pytest.raises(ValueError, match="'raise' or a ladder"):
        RetryWithFeedback(Model(), SafePartialParser(), on_truncation="retry")
    assert repr(RetryWithFeedback(Model(), SafePartialParser(City))) == (
        "RetryWithFeedback(SafePartialParser(City), max_retries=2)"
    )
