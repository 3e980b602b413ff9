"""The guard against pydantic's own verdict, on a zoo of types (`tests/zoo.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)
from support import split
from zoo import (
    ZOO,
    Aliased,
    Allowing,
    Between,
    Cat,
    Color,
    Dog,
    Inner,
    Table,
    Tree,
    Unwrapping,
)

from partial_json_core import (
    UNSET,
    FieldSettled,
    PartialOutputError,
    PartialParser,
    SchemaMismatchError,
    TextDelta,
)

# The verdict of pydantic: a value, a list of errors, or a fault of a validator's own.
VALUE, ERRORS, FAULT = "value", "errors", "fault"


def pydantics(schema: Any, text: str) -> tuple[str, Any]:
    # A trailing comma is a fix of ours.
    plain = text.replace(",]", "]")
    try:
        return VALUE, TypeAdapter(schema).validate_json(plain)
    except ValidationError as err:
        return ERRORS, err.errors(include_url=False)
    except RuntimeError as err:
        return FAULT, err


def ours(schema: Any, text: str, size: int, **options: Any) -> tuple[str, Any]:
    parser = PartialParser(schema, **options)
    try:
        for start in range(0, len(text), size):
            parser.feed(text[start : start + size])
            look_at(parser.snapshot())
        return VALUE, parser.close("stop")
    except SchemaMismatchError as err:
        return ERRORS, err
    except RuntimeError as err:
        return FAULT, err


def look_at(snapshot: Any) -> None:
    """Every way of looking at a snapshot; none may fail."""
    repr(snapshot)
    if hasattr(snapshot, "model_dump_json"):
        snapshot.model_dump()
        snapshot.model_dump_json()
        assert snapshot == snapshot  # noqa: PLR0124 - that is the point


def listed(errors: Any) -> set[Any]:
    return {(entry["type"], tuple(entry["loc"])) for entry in errors}


def assert_same_verdict(schema: Any, text: str) -> None:
    kind, theirs = pydantics(schema, text)
    results = [ours(schema, text, size) for size in (1, 3, len(text) or 1)]
    results.append(ours(schema, text, 1, early=False))
    results.append(ours(schema, text, 1, early=["/*", "/*/*"]))
    results.append(ours(schema, text, 3, early=["/*/*/*"]))

    for found, outcome in results:
        if kind == FAULT:
            # Something else may be wrong before the fault.
            assert found in (FAULT, ERRORS)
            continue
        assert found == kind, f"{text}: {outcome!r}, pydantic says {theirs!r}"
        if kind == VALUE:
            assert outcome == theirs
            continue
        found_errors = listed(outcome.errors)
        # An array that is too long may hold wrong elements as well, and pydantic names
        # the one or the other.
        if not any(
            name in ("too_long", "root_type")
            for name, _ in found_errors | listed(theirs)
        ):
            assert found_errors <= listed(theirs)
    places = {
        (type(err), err.path, err.offset)
        for found, err in results[:3]
        if found == ERRORS
    }
    assert len(places) <= 1


def singles() -> Iterator[Any]:
    for name, (schema, texts) in ZOO.items():
        for index, text in enumerate(texts):
            yield pytest.param(schema, text, id=f"{name}-{index}")


@pytest.mark.parametrize(("schema", "text"), list(singles()))
def test_a_field_is_judged_as_pydantic_judges_it(schema: Any, text: str) -> None:
    """For each type and text the verdict, its errors and its place are pydantic's."""
    model = create_model("Holder", x=(schema, ...))
    assert_same_verdict(model, f'{{"x": {text}, "after": 1}}')


@pytest.mark.parametrize(
    ("schema", "text"), [case for case in singles() if case.values[1][0] in "[{"]
)
def test_a_root_is_judged_as_pydantic_judges_it(schema: Any, text: str) -> None:
    """The same holds where the type is the root."""
    assert_same_verdict(schema, text)


WRAPPED = {
    "plain": lambda schema: schema,
    "list": lambda schema: list[schema],
    "dict": lambda schema: dict[str, schema],
    "optional": lambda schema: Optional[schema],  # noqa: UP045 - forward references too
}


@st.composite
def models_with_texts(draw: st.DrawFn) -> tuple[type[BaseModel], str]:
    """A model of zoo fields, and a text that is nearly one of its documents."""
    names = draw(
        st.lists(st.sampled_from(list(ZOO)), min_size=1, max_size=4, unique=True)
    )
    extra = draw(st.sampled_from(["ignore", "forbid", "allow"]))
    fields: dict[str, Any] = {}
    items = []
    for name in names:
        form = draw(st.sampled_from([*WRAPPED, "union"]))
        schema, texts = ZOO[name]
        if form == "union":
            other, more = ZOO[draw(st.sampled_from(list(ZOO)))]
            schema, texts = Union[schema, other], [*texts, *more]  # noqa: UP007 - None too
        else:
            schema = WRAPPED[form](schema)
        default = draw(st.sampled_from([..., None]))
        fields[f"f_{name}"] = (schema, default)
        if draw(st.integers(0, 9)) == 0:
            continue
        text = draw(st.sampled_from(texts))
        if form == "list":
            text = f"[{', '.join([text, *draw(st.lists(st.sampled_from(texts), max_size=2))])}]"
        elif form == "dict":
            text = f'{{"k": {text}}}'
        items.append(f'"f_{name}": {text}')
    if draw(st.integers(0, 9)) == 0:
        items.append('"zzz": [1]')
    model = create_model("Model", __config__=ConfigDict(extra=extra), **fields)
    return model, f"{{{', '.join(draw(st.permutations(items)))}}}"


@settings(max_examples=300, deadline=None)
@given(models_with_texts())
def test_g4_the_guard_is_sound(case: tuple[type[BaseModel], str]) -> None:
    """No prefix of a valid document raises, and an invalid one raises in time."""
    assert_same_verdict(*case)


# ------------------------------------------------------------- the earliest character


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 0


class Holder(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int = 0
    name: Annotated[str, Field(max_length=3)] = ""
    color: Color = Color.RED
    choice: Literal["refund", "reject"] = "refund"
    few: Annotated[list[int], Field(max_length=2)] = []
    pair: tuple[int, str] = (0, "")
    inner: Inner | None = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    either: Cat | Dog | None = None
    between: Between | None = None
    unwrapping: Unwrapping | None = None


# The first character that proves it stands behind the mark.
EARLIEST = {
    "wrong container": '{"number": ^{"a": 1}}',
    "array for an object": '{"inner": ^[1]}',
    "unknown key": '{^"nmber": 1}',
    "literal": '{"choice": "re^turn"}',
    "literal, first character": '{"choice": "^x"}',
    "literal, too long": '{"choice": "refund^s"}',
    "literal, escaped": '{"choice": "\\u007^8"}',
    "enum": '{"color": "re^ally"}',
    "max_length": '{"name": "abc^d and more"}',
    "max_length, escaped": '{"name": "ab\\u00e9\\u00e^9"}',
    "max_items": '{"few": [1, 2, ^3, 4]}',
    "tuple": '{"pair": [1, "a", ^{}]}',
    "element": '{"few": ["x"^, 1]}',
    "scalar": '{"number": "x"^, "name": "a"}',
    "nested model": '{"inner": {"s": "y"}^, "number": 1}',
    "nested validator": '{"between": {"low": 2, "high": 1}^}',
    "root": '{"number": 1, "pair": [1]^}',
    "unknown tag": '{"pet": {"kind": "c^ow", "name": 1}}',
    "field of a tag": '{"pet": {"kind": "cat", "lives": 10^}}',
    "field before its tag": '{"pet": {"lives": 10, "kind": "cat"^}}',
    "unknown key of a tag": '{"pet": {"kind": "dog", ^"lives": 3}}',
    "union": '{"either": {"kind": "c^ow"}}',
    "union, two reasons": '{"either": {"kind": "dog", ^"lives": 3}}',
}


@pytest.mark.parametrize("rule", list(EARLIEST))
def test_the_verdict_comes_at_the_character_that_proves_it(rule: str) -> None:
    """Each rule speaks at its character, in any chunking, and says what is unread."""
    marked = EARLIEST[rule]
    text = marked.replace("^", "")
    place = marked.index("^")
    for size in (1, 3, len(text)):
        parser = PartialParser(Holder)
        with pytest.raises(SchemaMismatchError) as caught:
            for start in range(0, len(text), size):
                parser.feed(text[start : start + size])
        err = caught.value
        assert err.offset == place
        assert err.early
        assert err.errors
        assert err.report.unread == err.report.chars - place
    kind, errors = pydantics(Holder, text)
    assert kind == ERRORS
    assert listed(err.errors) <= listed(errors) or rule in (
        "max_length",
        "tuple",
        "union",
        "union, two reasons",
        "unknown tag",
    )


def test_what_is_not_understood_is_left_to_the_end() -> None:
    """A model with a before-validator may still become valid inside."""
    parser = PartialParser(Holder)
    parser.feed('{"unwrapping": {"n": "x", "inner": {"n": 1}}')
    assert parser.feed("}")
    assert parser.close("stop").unwrapping == Unwrapping(n=1)


ROWS = '{"a": "no", "b": "nope", "rows": [{"n": "never"}, {"n": 1}]}'


class Rows(BaseModel):
    a: int
    b: int
    rows: list[Inner]


@pytest.mark.parametrize(
    ("early", "stops_behind"),
    [
        (True, '"no"'),
        (["/a"], '"no"'),
        (["/*"], '"no"'),
        (["/b"], '"nope"'),
        (["/rows/*/n"], '"never"'),
        (["/rows/*"], '"never"}'),
        (["/rows"], "]"),
        ([""], "]}"),
    ],
)
def test_only_the_chosen_paths_are_judged_early(early: Any, stops_behind: str) -> None:
    """`early` says what is judged while it is written."""
    parser = PartialParser(Rows, early=early)
    with pytest.raises(SchemaMismatchError) as caught:
        for char in ROWS:
            parser.feed(char)

    assert caught.value.early
    assert caught.value.offset == ROWS.index(stops_behind) + len(stops_behind)


@pytest.mark.parametrize(
    "pattern",
    ["/c", "/A", "/rows/n", "/rows/*/m", "/a/x", "/", "/rows/first", "/rows/*/n/0"],
)
@pytest.mark.parametrize("option", ["early", "watch", "checks"])
def test_a_path_that_the_schema_cannot_have_is_refused(
    pattern: str, option: str
) -> None:
    """A misspelt pattern would select nothing, and nobody would know."""
    patterns: Any = {pattern: print} if option == "checks" else [pattern]
    with pytest.raises(ValueError, match="the schema has no '"):
        PartialParser(Rows, **{option: patterns})


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        (Rows, "/rows/*/n"),
        (Rows, "/rows/0"),
        (Rows, "/*/*/n"),
        (Rows, ""),
        (Holder, "/pet/lives"),
        (Holder, "/pet/name"),
        (Holder, "/either/name"),
        (Unwrapping, "/anything"),
        (Table, "/any/n"),
        (Allowing, "/extra"),
        (Aliased, "/ONE"),
        (Aliased, "/zwei"),
        (Aliased, "/deep/0"),
        (Tree, "/kids/*/kids/*/v"),
        (None, "/whatever/*"),
        ({"type": "object"}, "/whatever"),
    ],
)
def test_a_path_that_the_schema_may_have_is_taken(schema: Any, pattern: str) -> None:
    """Unions, keys that are data, extra keys and aliases leave a path open."""
    PartialParser(schema, watch=iter([pattern]), early=(p for p in [pattern]))


@pytest.mark.parametrize("early", [False, []])
def test_what_is_not_judged_early_is_judged_at_the_end(early: Any) -> None:
    """Without early verdicts `close` raises with all of pydantic's errors."""
    parser = PartialParser(Rows, early=early)
    parser.feed(ROWS)
    with pytest.raises(SchemaMismatchError) as caught:
        parser.close("stop")

    assert not caught.value.early
    assert [e["loc"] for e in caught.value.errors] == [("a",), ("b",), ("rows", 0, "n")]


def test_a_validator_with_a_fault_fails_at_the_end() -> None:
    """An exception that is no verdict comes out where pydantic would raise it."""
    schema, _ = ZOO["broken"]
    parser = PartialParser(create_model("Broken", x=(schema, ...)))
    parser.feed('{"x": 1')
    with pytest.raises(RuntimeError, match="own"):
        parser.feed("}")


@settings(max_examples=60, deadline=None)
@given(models_with_texts(), st.data())
def test_g1_with_a_schema_events_do_not_depend_on_chunks(
    case: tuple[type[BaseModel], str], data: st.DataObject
) -> None:
    """Events, converted values and the error are the same however a text is cut."""
    model, text = case
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))

    assert story(model, split(text, places)) == story(model, [text])


def story(model: Any, chunks: list[str]) -> list[Any]:
    parser = PartialParser(model)
    events: list[Any] = []
    try:
        for chunk in chunks:
            events += parser.feed(chunk)
    except PartialOutputError as err:
        events += err.events
        events.append(
            (
                type(err),
                err.path,
                err.offset,
                listed(err.errors) if isinstance(err, SchemaMismatchError) else None,
            )
        )
    except RuntimeError as err:
        return [str(err)]
    told: list[Any] = []
    for event in events:
        if (
            isinstance(event, TextDelta)
            and told
            and isinstance(told[-1], TextDelta)
            and told[-1].path == event.path
        ):
            told[-1] = TextDelta(event.path, told[-1].text + event.text)
        elif isinstance(event, FieldSettled):
            told.append((event.path, repr(event.value), event.offset))
        else:
            told.append(event)
    return told


def test_settled_values_are_converted_in_events() -> None:
    """`FieldSettled` carries what the schema made of a value, instances included."""
    parser = PartialParser(Holder)
    events = parser.feed('{"color": "red", "inner": {"n": "3"}}')
    settled = {
        event.path: event.value for event in events if isinstance(event, FieldSettled)
    }

    assert settled["color",] is Color.RED
    assert settled["inner", "n"] == 3
    assert settled["inner",] == Inner(n=3)
    assert settled[()] == Holder(color=Color.RED, inner=Inner(n=3))


def test_a_recursive_model_costs_nothing_until_it_is_read() -> None:
    """Places are compiled as a document goes down, and shared."""
    deep = '{"v": 1, "next": ' * 40 + '{"v": 1}' + "}" * 40
    parser = PartialParser(Tree)
    for char in deep:
        parser.feed(char)
    tree = parser.close("stop")

    assert tree == Tree.model_validate_json(deep)


def test_the_configuration_of_a_model_reaches_its_fields() -> None:
    """Limits of `ConfigDict` are judged as those of `Field`, and do not leak out."""

    class Outer(BaseModel):
        model_config = ConfigDict(str_max_length=2, strict=True)
        text: str = ""
        number: int = 0
        inner: Inner | None = None

    assert_same_verdict(Outer, '{"text": "abc"}')
    assert_same_verdict(Outer, '{"number": "3"}')
    assert_same_verdict(Outer, '{"inner": {"n": "3", "s": "a long text"}}')


def test_nothing_is_shown_before_the_root() -> None:
    """Words before the root show nothing."""
    parser = PartialParser(Inner)
    parser.feed("Here you are: ")

    assert parser.snapshot() is UNSET
