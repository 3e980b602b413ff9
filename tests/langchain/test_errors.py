"""Tests of `langchain_partial.errors`."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from langchain_core import exceptions
from langchain_core.exceptions import LangChainException, OutputParserException
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from langchain_partial import SafePartialParser, translate
from partial_json_core import (
    AmbiguousOutputError,
    ContentFilteredError,
    DuplicateKeyError,
    InvariantError,
    LimitExceededError,
    Limits,
    MalformedOutputError,
    NoJSONFoundError,
    PartialOutputError,
    RefusedOutputError,
    RetriesExhaustedError,
    SchemaMismatchError,
    SemanticCheckError,
    TruncatedOutputError,
    loads,
)

# langchain-core knows refusals from 1.7.5 on.
REFUSAL = getattr(exceptions, "ModelRefusalError", LangChainException)


class Ticket(BaseModel):
    title: str
    count: int


FIXABLE: dict[str, tuple[str, type[PartialOutputError]]] = {
    "malformed": ('{"title": "a" "b"}', MalformedOutputError),
    "duplicate": ('{"title": "a", "title": "b"}', DuplicateKeyError),
    "ambiguous": (
        '{"title": "a", "count": 1} or {"title": "b", "count": 2}',
        AmbiguousOutputError,
    ),
    "nothing": ("I would rather not say.", NoJSONFoundError),
    "schema": ('{"title": "a", "count": "many"}', SchemaMismatchError),
}


def failure(text: str, **options: Any) -> PartialOutputError:
    """The error that a text ends in."""
    with pytest.raises(PartialOutputError) as caught:
        SafePartialParser(Ticket, **options).invoke(text)
    return caught.value


@pytest.mark.parametrize(("text", "kind"), FIXABLE.values(), ids=FIXABLE)
def test_a_fixer_may_answer_what_is_whole_and_wrong(
    text: str, kind: type[PartialOutputError]
) -> None:
    """Such errors are both ours and LangChain's, and keep our sentence and data."""
    err = failure(text)
    with pytest.raises(kind) as ours:
        loads(text, Ticket)

    assert isinstance(err, kind)
    assert isinstance(err, OutputParserException)
    assert str(err) == str(ours.value)
    assert vars(err).keys() >= vars(ours.value).keys()
    assert (err.observation, err.llm_output, err.send_to_llm) == (None, None, False)


def test_a_duplicate_key_is_malformed_for_langchain_too() -> None:
    """Whoever catches the malformed error gets the duplicate key as well."""
    from langchain_partial import LangChainMalformedOutputError

    assert isinstance(failure(FIXABLE["duplicate"][0]), LangChainMalformedOutputError)


@pytest.mark.parametrize(
    ("text", "options", "kind"),
    [
        ('{"title": "a', {}, TruncatedOutputError),
        (
            '{"title": "abc"}',
            {"limits": Limits(max_string_chars=2)},
            LimitExceededError,
        ),
    ],
    ids=["truncated", "limit"],
)
def test_a_fixer_must_not_answer_the_rest(
    text: str, options: dict[str, Any], kind: type[PartialOutputError]
) -> None:
    """A cut or excessive output is not an `OutputParserException`."""
    err = failure(text, **options)

    assert type(err) is kind
    assert not isinstance(err, OutputParserException)


@pytest.mark.parametrize(
    "err",
    [SemanticCheckError(), RetriesExhaustedError(), InvariantError()],
    ids=lambda err: type(err).__name__,
)
def test_what_langchain_has_no_word_for_stays(err: PartialOutputError) -> None:
    """Errors without a counterpart are returned as they are."""
    assert translate(err) is err


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("refusal", RefusedOutputError), ("content_filter", ContentFilteredError)],
)
def test_a_refusal_is_langchains_refusal(
    reason: str, kind: type[PartialOutputError]
) -> None:
    """Refused and filtered outputs are a `ModelRefusalError` with the raw message."""
    message = AIMessage("No", response_metadata={"finish_reason": reason})
    with pytest.raises(kind) as caught:
        SafePartialParser(Ticket).invoke(message)

    err = caught.value
    assert isinstance(err, REFUSAL)
    assert not isinstance(err, OutputParserException)
    assert err.raw_message is message
    assert err.finish_reason == reason


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, "pickle"], ids=str)
@pytest.mark.parametrize("text", [text for text, _ in FIXABLE.values()], ids=FIXABLE)
def test_errors_survive_pickle_and_copy(text: str, again: Any) -> None:
    """Class, sentence and attributes are the same afterwards."""
    err = failure(text)
    made = pickle.loads(pickle.dumps(err)) if again == "pickle" else again(err)

    assert type(made) is type(err)
    assert str(made) == str(err)
    assert vars(made).keys() == vars(err).keys()
    assert (made.path, made.offset) == (err.path, err.offset)
    assert made.report == err.report


def test_a_refusal_survives_pickle() -> None:
    """A refusal keeps what the model said and the raw message."""
    message = AIMessage("", additional_kwargs={"refusal": "I cannot help"})
    with pytest.raises(RefusedOutputError) as caught:
        SafePartialParser().invoke(message)
    made = pickle.loads(pickle.dumps(caught.value))

    assert made.refusal == "I cannot help"
    assert made.raw_message == message
    assert str(made) == "the model refused (finish_reason=None): 'I cannot help'"


def test_the_sentence_carries_no_address() -> None:
    """LangChain's troubleshooting address is not appended."""
    err = failure(FIXABLE["malformed"][0])

    assert "http" not in str(err)
    assert str(err) == (
        'expected `,` or `}` but found `"` in `$` at offset 14, near '
        '\'{"title": "a" "\''
    )


def test_the_reason_of_a_schema_error_is_kept() -> None:
    """The error of pydantic is the cause; other errors have none, and no context shows."""
    schema, malformed = failure(FIXABLE["schema"][0]), failure(FIXABLE["malformed"][0])

    assert type(schema.__cause__).__name__ == "ValidationError"
    assert malformed.__cause__ is None
    assert malformed.__suppress_context__
