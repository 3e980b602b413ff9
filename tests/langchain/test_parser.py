"""Tests of `langchain_partial.parser`."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, Generation
from langchain_core.runnables import (
    ConfigurableField,
    RunnableGenerator,
    RunnableLambda,
)
from pydantic import BaseModel, ValidationError

from langchain_partial import (
    LangChainNoJSONFoundError,
    LangChainRefusedOutputError,
    SafePartialParser,
)
from partial_json_core import (
    ContentFilteredError,
    FinishReason,
    FixKind,
    FixPolicy,
    LimitExceededError,
    Limits,
    MalformedOutputError,
    Partial,
    PartialDict,
    PartialList,
    PartialOutputError,
    PartialStr,
    RefusedOutputError,
    SchemaMismatchError,
    TruncatedOutputError,
)


class Ticket(BaseModel):
    title: str
    count: int = 0


SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
}
TOOL_CALL = {"name": "f", "args": '{"title": "a"}', "id": "1", "index": 0}


async def achunks(chunks: list[Any]) -> AsyncIterator[Any]:
    """The chunks, asynchronously."""
    for chunk in chunks:
        yield chunk


def chunk(content: Any = "", reason: str | None = None, **options: Any) -> Any:
    """A message chunk, perhaps with a finish reason."""
    metadata = {} if reason is None else {"finish_reason": reason}
    return AIMessageChunk(content=content, response_metadata=metadata, **options)


# ------------------------------------------------------------------------- streaming


def plain(items: list[Any]) -> list[Any]:
    """What partials show, as plain values."""
    return [i.model_dump() if isinstance(i, Partial) else i for i in items]


def test_a_stream_grows_and_ends_with_the_model(stream: Any) -> None:
    """Snapshots come when something changed; the strict value is the last item."""
    chunks = ['{"title"', ': "a', "b", '", "cou', 'nt": 1', "2", "}", " ", ""]
    items = stream(SafePartialParser(Ticket), chunks)

    assert plain(items[:-1]) == [
        {},
        {"title": "a"},
        {"title": "ab"},
        {"title": "ab"},
        {"title": "ab", "count": 12},
    ]
    states = [item.state("title").value for item in items[:-1]]
    assert states == ["absent", "open", "open", "settled", "settled"]
    assert {type(item) for item in items[:-1]} == {Partial[Ticket]}
    assert items[-1] == Ticket(title="ab", count=12)


@pytest.mark.parametrize(
    ("text", "kind", "final"),
    [
        ('{"a": [1, "b"]}', PartialDict, dict),
        ('[{"a": 1}, 2]', PartialList, list),
        ('"text"', PartialStr, str),
    ],
)
def test_the_final_value_is_plain(
    stream: Any, text: str, kind: type[Any], final: type[Any]
) -> None:
    """Without a schema snapshots are marked, and the final value is plain JSON."""
    root = "scalar" if final is str else "auto"
    *snapshots, value = stream(SafePartialParser(root=root), [*text])

    assert {type(item) for item in snapshots} == {kind}
    assert type(value) is final


@pytest.mark.parametrize(
    ("schema", "chunks", "value"),
    [
        (int, ["4", "2", " "], 42),
        (bool, ["tr", "ue"], True),
        (list[int], ["[1", ", 2]"], [1, 2]),
        (str, ['"a', 'b"'], "ab"),
    ],
    ids=["number", "literal", "list", "string"],
)
def test_a_later_step_gets_the_value_once(
    say: Any, schema: Any, chunks: list[str], value: Any
) -> None:
    """LangChain adds up what a stream yields; snapshots never add to the value."""
    chain = say(*chunks) | SafePartialParser(schema) | RunnableLambda(lambda item: item)

    assert list(chain.stream("go")) == [value]


def test_snapshots_stay_as_they_were(stream: Any) -> None:
    """A snapshot that is kept does not change when the stream goes on."""
    items = stream(SafePartialParser(), ['{"rows": [{"a": 1}', ', {"a": 2}', "]}"])

    assert items[0] == {"rows": [{"a": 1}]}
    assert items[1] == {"rows": [{"a": 1}, {"a": 2}]}


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk(), None, chunk('{"title"'), chunk(': "a"}'), chunk(reason="stop")],
        [chunk([{"type": "text", "text": '{"title": "a"}'}], "stop")],
        [
            chunk([{"type": "reasoning", "reasoning": "{hm", "index": 0}]),
            chunk([{"type": "text", "text": '{"title": ', "index": 1}]),
            chunk([{"type": "text", "text": '"a"}', "index": 1}]),
            chunk([], "stop"),
        ],
        [
            chunk('{"title": "a"'),
            chunk("}", "stop"),
            chunk("", "stop", chunk_position="last"),
            chunk(
                usage_metadata={
                    "input_tokens": 1,
                    "output_tokens": 2,
                    "total_tokens": 3,
                }
            ),
        ],
        [AIMessage('{"title": "a"}')],
        ["", '{"title": "a"}', ""],
        [chunk('{"title": "a'), '"}'],
    ],
    ids=["empty", "blocks", "reasoning", "usage", "whole", "strings", "mixed"],
)
def test_all_that_models_yield_is_read(stream: Any, chunks: list[Any]) -> None:
    """Strings, messages and chunks of every make lead to the same value."""
    assert stream(SafePartialParser(Ticket), chunks)[-1] == Ticket(title="a")


def test_a_chunk_that_is_no_message_is_misuse(stream: Any) -> None:
    """A dict in the stream raises and says where the parser belongs."""
    with pytest.raises(TypeError, match="put it directly behind the model"):
        stream(SafePartialParser(), [{"a": 1}])


def test_an_answer_that_cannot_become_valid_raises_at_once() -> None:
    """The error comes with its chunk; later chunks are not asked for."""
    asked = []

    def chunks() -> Iterator[str]:
        for text in ['{"a": 1', " 2", "}"]:
            asked.append(text)
            yield text

    with pytest.raises(MalformedOutputError) as caught:
        list(SafePartialParser().transform(chunks()))
    assert caught.value.offset == 8
    assert asked == ['{"a": 1', " 2"]


def test_a_cut_stream_raises_in_place_of_the_value(stream: Any) -> None:
    """The stream ends in the error, with the reason as the provider gave it."""
    chunks = [chunk('{"title": "a'), chunk(reason="MAX_TOKENS")]
    with pytest.raises(TruncatedOutputError) as caught:
        stream(SafePartialParser(Ticket), chunks)

    err = caught.value
    assert err.finish_reason == "MAX_TOKENS"
    assert err.cause is FinishReason.LENGTH
    assert err.path == ("title",)


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        (["stop", "stop"], "stop"),
        (["tool_calls", "length"], "length"),
        (["stop", "brand_new"], "stop"),
        (["brand_new"], "brand_new"),
        ([], None),
    ],
    ids=str,
)
def test_the_most_telling_reason_is_kept(
    stream: Any, reasons: list[str], told: str | None
) -> None:
    """Reasons are read per chunk and never joined; the worst names the cause."""
    chunks = [chunk('{"a": '), *(chunk(reason=reason) for reason in reasons)]
    with pytest.raises(TruncatedOutputError) as caught:
        stream(SafePartialParser(), chunks)

    assert caught.value.finish_reason == told


def test_the_responses_api_is_understood(stream: Any) -> None:
    """A status with its details is passed on as it is."""
    status = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    chunks = [chunk('{"a": '), AIMessageChunk("", response_metadata=status)]
    with pytest.raises(TruncatedOutputError) as caught:
        stream(SafePartialParser(), chunks)

    assert caught.value.cause is FinishReason.LENGTH
    assert caught.value.finish_reason == status


# ------------------------------------------------- refusals, filters, tool calls


def test_a_refusal_is_collected_from_its_chunks(stream: Any) -> None:
    """A refusal that is streamed in parts is told whole."""
    parts = [{"type": "refusal", "refusal": text} for text in ("I can", "not help")]
    with pytest.raises(LangChainRefusedOutputError) as caught:
        stream(SafePartialParser(Ticket), [*(chunk([part]) for part in parts)])

    assert caught.value.refusal == "I cannot help"
    assert caught.value.raw_message is None


def test_a_refusal_counts_whatever_the_text(stream: Any) -> None:
    """A document beside a refusal is not an answer."""
    chunks = [chunk('{"title": "a"}', additional_kwargs={"refusal": "No"})]
    with pytest.raises(RefusedOutputError):
        stream(SafePartialParser(Ticket), chunks)


def test_a_filter_is_named_when_the_answer_is_cut(stream: Any) -> None:
    """A filtered answer that is cut is not called truncated."""
    chunks = [chunk('{"title": "a'), chunk(reason="content_filter")]
    with pytest.raises(ContentFilteredError):
        stream(SafePartialParser(Ticket), chunks)


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk(tool_call_chunks=[TOOL_CALL]), chunk(reason="tool_calls")],
        [
            AIMessage(
                "",
                tool_calls=[{"name": "f", "args": {"title": "a"}, "id": "1"}],
                response_metadata={"finish_reason": "tool_calls"},
            )
        ],
    ],
    ids=["chunks", "message"],
)
def test_a_tool_call_is_read(stream: Any, chunks: list[Any]) -> None:
    """The answer may stand in a tool call, in pieces or whole."""
    assert stream(SafePartialParser(Ticket), chunks)[-1] == Ticket(title="a")


def test_an_empty_output_is_an_error(stream: Any) -> None:
    """Nothing at all is no answer."""
    with pytest.raises(LangChainNoJSONFoundError) as caught:
        stream(SafePartialParser(Ticket), [])

    assert str(caught.value) == (
        "the output is empty (finish_reason=None), expected an object"
    )


# ----------------------------------------------------------------- whole outputs


async def test_whole_outputs_are_read_in_every_way() -> None:
    """`parse`, `invoke` and their relatives agree."""
    parser, text, ticket = (
        SafePartialParser(Ticket),
        '{"title": "a"}',
        Ticket(title="a"),
    )
    result = [ChatGeneration(message=AIMessage(text))]

    assert parser.parse(text) == ticket
    assert await parser.aparse(text) == ticket
    assert parser.parse_result(result) == ticket
    assert await parser.aparse_result(result) == ticket
    assert parser.invoke(text) == ticket
    assert await parser.ainvoke(AIMessage(text)) == ticket


async def test_nothing_hops_to_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asynchronous methods parse where they are."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a thread was asked for")

    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", refuse)
    parser = SafePartialParser()

    assert await parser.ainvoke("[1]") == [1]
    assert await parser.aparse("[1]") == [1]
    assert [item async for item in parser.atransform(achunks(["[1]"]))][-1] == [1]


async def test_batches_work() -> None:
    """The inherited batch methods give a value or an error for each input."""
    parser = SafePartialParser(Ticket)
    inputs: list[Any] = ['{"title": "a"}', AIMessage('{"title": "b')]
    values = parser.batch(inputs, return_exceptions=True)

    assert values[0] == Ticket(title="a")
    assert isinstance(values[1], TruncatedOutputError)
    assert (await parser.abatch(inputs[:1])) == [Ticket(title="a")]
    with pytest.raises(TruncatedOutputError):
        parser.batch(inputs)


@pytest.mark.parametrize(
    ("text", "snapshot"),
    [
        ("", None),
        ("Sure: ", None),
        ('{"title": "a', {"title": "a"}),
        ('{"title": "a", "count": 1', {"title": "a"}),
        ('{"title": "a", "count": 1}', {"title": "a", "count": 1}),
    ],
)
async def test_a_partial_result_is_a_snapshot(text: str, snapshot: Any) -> None:
    """`partial=True` gives what there is, or None, and never the schema's type."""
    parser = SafePartialParser(Ticket)
    result = [Generation(text=text)]

    assert plain([parser.parse_result(result, partial=True)]) == [snapshot]
    found: Any = await parser.aparse_result(result, partial=True)
    assert type(found) is (type(None) if snapshot is None else Partial[Ticket])


def test_a_partial_result_may_already_be_wrong() -> None:
    """What can no longer become valid raises, partial or not."""
    with pytest.raises(MalformedOutputError):
        SafePartialParser().parse_result([Generation(text='{"a" 1')], partial=True)


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": "No"}),
        AIMessage("", response_metadata={"stop_reason": "refusal"}),
    ],
    ids=["text", "reason"],
)
def test_a_partial_result_may_be_refused(message: AIMessage) -> None:
    """A refusal raises, partial or not."""
    with pytest.raises(LangChainRefusedOutputError) as caught:
        SafePartialParser().parse_result(
            [ChatGeneration(message=message)], partial=True
        )

    assert caught.value.raw_message is message


def test_a_message_that_was_cut_raises() -> None:
    """The finish reason of a whole message names the cause."""
    message = AIMessage("[1, 2", response_metadata={"stop_reason": "max_tokens"})
    with pytest.raises(TruncatedOutputError) as caught:
        SafePartialParser().invoke(message)

    assert caught.value.finish_reason == "max_tokens"


# ----------------------------------------------------------------------- options


@pytest.mark.parametrize(
    "parser",
    [
        SafePartialParser(Ticket),
        SafePartialParser(schema=Ticket),
        SafePartialParser(pydantic_object=Ticket),
        SafePartialParser[Ticket](Ticket),
    ],
    ids=["positional", "schema", "pydantic_object", "subscript"],
)
def test_the_schema_is_given_as_one_likes(parser: SafePartialParser[Any]) -> None:
    """It drops in for LangChain's parsers under their keyword."""
    assert parser.invoke('{"title": "a"}') == Ticket(title="a")
    assert parser.pydantic_object is Ticket


def test_a_json_schema_is_a_schema() -> None:
    """A dict is validated, and its value stays plain."""
    parser = SafePartialParser(SCHEMA)

    assert parser.invoke('{"title": "a"}') == {"title": "a"}
    with pytest.raises(SchemaMismatchError):
        parser.invoke("{}")


def test_two_schemas_are_one_too_many() -> None:
    """The schema comes under one name only."""
    with pytest.raises(ValueError) as caught:
        SafePartialParser(Ticket, pydantic_object=Ticket)
    assert str(caught.value) == "give either `schema` or `pydantic_object`, not both"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"polcy": FixPolicy.STRICT}, "polcy\n  Extra inputs are not permitted"),
        ({"root": "tree"}, "`root` must be 'auto', 'object', 'array' or 'scalar'"),
        ({"watch": ["rows"]}, "a path pattern is a JSON Pointer"),
        ({"watch": "/rows"}, "patterns must be a collection of strings"),
        ({"policy": "strict"}, "instance of FixPolicy"),
        ({"limits": 3}, "instance of Limits"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    """A wrong option is an error when the parser is made, not at the first answer."""
    with pytest.raises(ValidationError) as caught:
        SafePartialParser(**options)
    assert words in str(caught.value)


def test_the_options_reach_the_core() -> None:
    """The policy, the limits and the root are those of the core."""
    fenced = '```json\n{"a": 1}\n```'
    commented = '{"a": 1 // one\n}'
    comments = FixPolicy.SYNTAX_SAFE.with_(FixKind.COMMENT)

    assert SafePartialParser().invoke(fenced) == {"a": 1}
    with pytest.raises(PartialOutputError):
        SafePartialParser(policy=FixPolicy.STRICT).invoke(fenced)
    assert SafePartialParser(policy=comments).invoke(commented) == {"a": 1}
    with pytest.raises(LimitExceededError):
        SafePartialParser(limits=Limits(max_depth=1)).invoke("[[1]]")
    with pytest.raises(SchemaMismatchError):
        SafePartialParser(root="array").invoke(fenced)


@pytest.mark.parametrize(
    ("parser", "shown"),
    [
        (SafePartialParser(), "SafePartialParser()"),
        (SafePartialParser(Ticket), "SafePartialParser(Ticket)"),
        (SafePartialParser(list[int]), "SafePartialParser(list[int])"),
        (
            SafePartialParser(Ticket, root="object", watch=None, name="tickets"),
            "SafePartialParser(Ticket, watch=None, root='object', name='tickets')",
        ),
    ],
    ids=str,
)
def test_the_repr_shows_what_was_chosen(
    parser: SafePartialParser[Any], shown: str
) -> None:
    """The schema and the options that differ from the defaults."""
    assert repr(parser) == str(parser) == shown


# ------------------------------------------------------------------- as a runnable


def test_it_describes_itself() -> None:
    """Types, names and schemas are what LangChain asks for."""
    parser = SafePartialParser(Ticket)

    assert parser.OutputType is Ticket
    assert parser.get_output_jsonschema()["title"] == "Ticket"
    assert parser.get_name() == "SafePartialParser"
    assert SafePartialParser(name="tickets").get_name() == "tickets"
    assert parser._type == "safe_partial_parser"
    assert SafePartialParser().OutputType is Any
    assert SafePartialParser(SCHEMA).OutputType is Any


def test_instructions_ask_for_one_document() -> None:
    """The prompt asks for one document, and shows the schema when there is one."""
    asked = SafePartialParser().get_format_instructions()
    with_schema = SafePartialParser(Ticket).get_format_instructions()

    assert asked.startswith("Answer with one JSON document and nothing else")
    assert with_schema.startswith(asked)
    assert '"required":["title"]' in with_schema


def test_it_can_be_copied_and_pickled() -> None:
    """Copies are equal and work; LangChain's own format has no place for a class."""
    parser = SafePartialParser(Ticket, limits=Limits(max_depth=3))

    for made in (copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        assert made == parser
        assert made.invoke('{"title": "a"}') == Ticket(title="a")
    assert '"not_implemented"' in dumps(parser)


def test_fields_can_be_configured() -> None:
    """A runnable's configurable fields work on the options."""
    field = ConfigurableField(id="policy")
    parser = SafePartialParser(Ticket).configurable_fields(policy=field)
    strict = parser.with_config(configurable={"policy": FixPolicy.STRICT})

    assert parser.invoke('Sure: {"title": "a"}') == Ticket(title="a")
    with pytest.raises(PartialOutputError):
        strict.invoke('Sure: {"title": "a"}')


def test_one_parser_serves_many_streams() -> None:
    """A parser has no state: streams may interleave, and threads may share it."""
    parser = SafePartialParser()
    streams = [parser.transform(iter([f"[{n}", "]"])) for n in range(5)]
    rounds = list(zip(*streams, strict=True))

    def read(number: int) -> Any:
        return list(parser.transform(iter([f'{{"n": {number}', "}"])))[-1]

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(read, range(100)))

    assert rounds[-1] == ([0], [1], [2], [3], [4])
    assert values == [{"n": number} for number in range(100)]


# ------------------------------------------------------------------------- callbacks


class Recorder(BaseCallbackHandler):
    """Notes what LangChain says about the runs of parsers."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Any]] = []
        self.parsers: set[UUID] = set()

    def on_chain_start(self, *_: Any, run_id: UUID, **about: Any) -> None:
        if about.get("run_type") == "parser":
            self.parsers.add(run_id)
            self.notes.append(("start", about["name"]))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        if run_id in self.parsers:
            self.notes.append(("end", outputs))

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        if run_id in self.parsers:
            self.notes.append(("error", type(error)))

    def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
        self.notes.append((name, data))


async def test_callbacks_see_the_run(say: Any) -> None:
    """A run of type parser starts and ends with the final value, sync and async."""
    chain = say('{"title": "a', '"}') | SafePartialParser(Ticket)
    expected = [("start", "SafePartialParser"), ("end", Ticket(title="a"))]
    sync, asynchronous = Recorder(), Recorder()
    list(chain.stream("go", {"callbacks": [sync]}))
    _ = [item async for item in chain.astream("go", {"callbacks": [asynchronous]})]

    assert sync.notes == expected
    assert asynchronous.notes == expected


def test_callbacks_see_the_error(say: Any) -> None:
    """A cut answer ends the run with our error."""
    recorder = Recorder()
    chain = say('{"title": "a', reason="length") | SafePartialParser(Ticket)
    with pytest.raises(TruncatedOutputError):
        list(chain.stream("go", {"callbacks": [recorder]}))

    assert recorder.notes[1:] == [("error", TruncatedOutputError)]


def test_callbacks_see_the_end_of_an_abandoned_run(say: Any) -> None:
    """A run that is closed ends as well, with what had been taken from it."""
    recorder = Recorder()
    chain = say('{"title": "a', "b", '"}') | SafePartialParser(Ticket)
    stream = chain.stream("go", {"callbacks": [recorder]})
    next(stream)
    next(stream)
    stream.close()

    start, end = recorder.notes
    assert start == ("start", "SafePartialParser")
    assert end[0] == "end"
    assert plain([end[1]]) == [{"title": "a"}]


async def test_events_carry_the_stream(say: Any) -> None:
    """`astream_events` shows a snapshot that grows, then settles, then the value."""
    chain = say('{"title": "a', '"}') | SafePartialParser(Ticket)
    shown = [
        event["data"]["chunk"]
        async for event in chain.astream_events("go", version="v2")
        if event["event"] == "on_parser_stream"
    ]

    assert plain(shown[:-1]) == [{"title": "a"}, {"title": "a"}]
    assert shown[-1] == Ticket(title="a")


def settled(*path: Any, value: Any, offset: int) -> tuple[str, Any]:
    """What a handler sees of a watched value."""
    return "field_settled", {"path": path, "value": value, "offset": offset}


async def test_watched_values_become_custom_events(say: Any) -> None:
    """Each watched value is reported once, as it settles, sync and async."""
    texts = ['{"rows": [{"a": 1}', ', {"a": 2}], "b": 3}']
    chain = say(*texts) | SafePartialParser(watch=["/rows/*/a"])
    expected = [
        settled("rows", 0, "a", value=1, offset=17),
        settled("rows", 1, "a", value=2, offset=27),
    ]
    recorder = Recorder()
    list(chain.stream("go", {"callbacks": [recorder]}))
    events = [
        (event["name"], event["data"])
        async for event in chain.astream_events("go", version="v2")
        if event["event"] == "on_custom_event"
    ]

    assert recorder.notes[1:-1] == expected
    assert events == expected


def test_nothing_is_watched_by_default(say: Any) -> None:
    """Without `watch` no custom events are sent."""
    recorder = Recorder()
    chain = say('{"a": 1}') | SafePartialParser()
    list(chain.stream("go", {"callbacks": [recorder]}))

    assert [name for name, _ in recorder.notes] == ["start", "end"]


def test_a_generator_in_place_of_a_model(stream: Any) -> None:
    """Whatever yields text may stand before the parser."""

    def model(_: Iterator[Any]) -> Iterator[str]:
        yield from ["[1, ", "2]"]

    chain = RunnableGenerator(model) | SafePartialParser(list[int])

    assert chain.invoke("go") == [1, 2]
    assert list(chain.stream("go")) == [[1], [1, 2], [1, 2]]
