"""`Partial`: what a stream with a schema shows."""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
import enum
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar, get_type_hints

import pytest
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    SecretStr,
    StringConstraints,
)
from typing_extensions import TypedDict

from partial_json_core import (
    UNSET,
    FieldState,
    NotSettledError,
    Partial,
    PartialDict,
    PartialParser,
    SchemaMismatchError,
    field_state,
    iter_partial,
)

Cut = Callable[[str], list[str]]
T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    price: Decimal = Decimal(0)


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Tags(RootModel[list[str]]):
    pass


class Order(BaseModel):
    note: str = ""
    color: Color | None = None
    day: dt.date | None = None
    items: list[Item] = []
    first: Item | None = None
    by_name: dict[str, Item] = {}
    pair: tuple[int, Item] | None = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    either: Cat | Dog | None = None
    tags: Tags | None = None
    colors: list[Color] = []
    anything: Any = None
    count: int = 0


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Box(BaseModel, Generic[T]):
    content: T


@dataclasses.dataclass
class Point:
    x: int
    label: str = ""


class Movie(TypedDict, total=False):
    title: str
    year: int


class Address(BaseModel):
    """Fields that are also names of methods."""

    state: str
    settled: bool = False


def seen(text: str, schema: Any = Order, **options: Any) -> Any:
    parser = PartialParser(schema, **options)
    parser.feed(text)
    return parser.snapshot()


# ------------------------------------------------------------------------ attributes


def test_a_partial_is_typed_and_is_not_the_model(chunked: Cut) -> None:
    """Settled fields are converted, open text is shown, and nobody takes it for a model."""
    parser = PartialParser(Order)
    for chunk in chunked(
        '{"color": "red", "day": "2024-02-29", "count": "3", "note": "op'
    ):
        parser.feed(chunk)
    partial = parser.snapshot()

    assert partial.color is Color.RED
    assert partial.day == dt.date(2024, 2, 29)
    assert partial.count == 3
    assert partial.note == "op"
    assert partial.items is UNSET
    assert not partial.items
    assert not isinstance(partial, Order)
    assert isinstance(partial, Partial)
    assert isinstance(partial, Partial[Order])
    assert not isinstance(partial, Partial[Item])


OPEN_TEXTS = {
    "str": (str, True),
    "optional str": (str | None, True),
    "bounded str": (Annotated[str, Field(max_length=9)], True),
    "any": (Any, True),
    "stripped": (Annotated[str, StringConstraints(strip_whitespace=True)], False),
    "lower": (Annotated[str, StringConstraints(to_lower=True)], False),
    "enum": (Color, False),
    "literal": (Literal["red"], False),
    "date": (dt.date, False),
    "decimal": (Decimal, False),
    "secret": (SecretStr, False),
    "number": (int, False),
    "union": (int | str, False),
}


@pytest.mark.parametrize("name", list(OPEN_TEXTS))
def test_open_text_is_shown_only_where_it_will_stand(name: str) -> None:
    """An open string never appears where its value will be something else."""
    schema, is_shown = OPEN_TEXTS[name]

    class Holder(BaseModel):
        x: schema  # type: ignore[valid-type]  # made for the test

    start = {"date": "20", "decimal": "1"}.get(name, "re")
    partial = seen(f'{{"x": "{start}', Holder)
    assert partial.x == (start if is_shown else UNSET)
    assert partial.state("x") is FieldState.OPEN


def test_open_containers_are_partials_of_their_own() -> None:
    """Nested models, lists, dicts and tuples are typed while they are open."""
    first = seen('{"first": {"name": "a", "price": 1.5').first
    assert isinstance(first, Partial[Item])
    assert first.name == "a"
    assert first.price is UNSET

    items = seen('{"items": [{"name": "a"}, {"name": "b').items
    assert items[0] == Item(name="a")
    assert isinstance(items[-1], Partial[Item])
    assert items[1].name == "b"
    assert len(items) == 2
    assert items[:1] == [Item(name="a")]
    assert [item.name for item in items] == ["a", "b"]
    with pytest.raises(IndexError):
        items[2]

    by_name = seen('{"by_name": {"x": {"name": "a"}, "y": {').by_name
    assert by_name["x"] == Item(name="a")
    assert isinstance(by_name["y"], Partial[Item])
    assert list(by_name) == ["x", "y"]
    with pytest.raises(KeyError):
        by_name["z"]

    pair = seen('{"pair": [1, {"name": "a').pair
    assert pair[0] == 1
    assert pair[1].name == "a"


def test_settled_containers_are_the_final_values() -> None:
    """A container that has closed is what the model will hold."""
    partial = seen(
        '{"items": [{"name": "a"}], "by_name": {"x": {"name": "b"}}, '
        '"pair": [1, {"name": "c"}], "tags": ["t"], "colors": ["red"], "count": 1'
    )
    assert partial.items == [Item(name="a")]
    assert type(partial.items) is list
    assert partial.by_name == {"x": Item(name="b")}
    assert type(partial.by_name) is dict
    assert partial.pair == (1, Item(name="c"))
    assert partial.tags == Tags(["t"])
    assert partial.colors == [Color.RED]


def test_elements_that_show_nothing_yet_are_not_counted() -> None:
    """An open string in a list of enums, or in a dict of them, is no element."""
    colors = seen('{"colors": ["red", "bl').colors
    assert len(colors) == 1
    assert list(colors) == [Color.RED]

    class Holder(BaseModel):
        colors: dict[str, Color]

    mapping = seen('{"colors": {"a": "red", "b": "bl', Holder).colors
    assert mapping == {"a": Color.RED}
    assert len(mapping) == 1


def test_a_discriminated_union_is_typed_from_its_tag_on() -> None:
    """Before the tag an object shows itself, after it the choice."""
    before = seen('{"pet": {"name": "Tom"').pet
    assert type(before) is PartialDict
    after = seen('{"pet": {"name": "Tom", "kind": "cat"').pet
    assert isinstance(after, Partial[Cat])
    assert after.name == "Tom"
    assert type(seen('{"pet": {"kind": "ca').pet) is PartialDict


def test_a_plain_union_shows_itself_until_it_has_settled() -> None:
    """Which branch it is, is known at the end of a value."""
    assert seen('{"either": {"kind": "dog", "name": "R').either == {
        "kind": "dog",
        "name": "R",
    }
    assert seen('{"either": {"kind": "dog", "name": "R"}').either == Dog(
        kind="dog", name="R"
    )


def test_root_models_show_their_value() -> None:
    """A `RootModel` has the attribute `root`, and becomes itself when it has closed."""
    partial = seen('{"tags": ["a", "b').tags
    assert isinstance(partial, Partial[Tags])
    assert partial.root == ["a", "b"]
    assert partial.model_dump() == ["a", "b"]
    assert repr(partial) == "Partial[Tags](root=['a', 'b'])"
    assert seen('["a', Tags).root == ["a"]


def test_other_kinds_of_schema() -> None:
    """Dataclasses, TypedDicts, generics, recursive models and plain types are typed."""
    assert seen('{"x": 1, "label": "l', Point).label == "l"
    assert isinstance(seen('{"x": 1', Point), Partial[Point])
    movie = seen('{"title": "M', Movie)
    assert movie.title == movie["title"] == "M"
    assert seen('{"content": "c', Box[str]).content == "c"
    node = seen('{"value": 1, "children": [{"value": 2, "children": [{"value": 3', Node)
    assert node.children[0].children[0].state("value") is FieldState.ABSENT
    rows = seen('[{"name": "a"}, {"name": "b', list[Item])
    assert isinstance(rows, Partial[list[Item]])
    assert rows[0] == Item(name="a")
    assert rows[1].name == "b"
    table = seen('{"k": {"name": "a', dict[str, Item])
    assert isinstance(table, Partial[dict[str, Item]])
    assert table["k"].name == "a"
    assert seen('{"value": 1, "x": [', {"type": "object"}) == {"value": 1, "x": []}


def test_names_follow_the_model_and_input_the_alias() -> None:
    """Attributes have the model's names; `state` takes them and the keys."""

    class Aliased(BaseModel):
        model_config = ConfigDict(validate_by_name=True)
        one: int = Field(alias="ONE")
        two: str = Field("", validation_alias=AliasChoices("TWO", "zwei"))

    partial = seen('{"ONE": 1, "zwei": "z', Aliased)
    assert partial.one == 1
    assert partial.two == "z"
    assert partial.state("one") is FieldState.SETTLED
    assert partial.state("two") is FieldState.OPEN
    assert partial.model_dump() == {"one": 1, "two": "z"}
    assert partial.model_dump(by_alias=True) == {"ONE": 1, "TWO": "z"}
    assert seen('{"one": 2, ', Aliased).one == 2


def test_extra_keys_are_shown_where_the_model_keeps_them() -> None:
    """With `extra="allow"` other keys are attributes too."""

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int = 0

    partial = seen('{"a": 1, "b": "x', Open)
    assert partial.model_dump() == {"a": 1}
    assert seen('{"a": 1, "b": "x", ', Open).b == "x"
    with pytest.raises(AttributeError):
        _ = seen('{"b": 1, ', Order).b


def test_an_unknown_field_is_named_with_the_known_ones() -> None:
    """A misspelt attribute says what there is."""
    with pytest.raises(
        AttributeError,
        match=r"`Partial.Item.` has no field `nam`; its fields: name, price",
    ):
        _ = seen('{"name": "a', Item).nam
    with pytest.raises(KeyError):
        seen('{"name": "a', Item)["nam"]


# ------------------------------------------------------------------ state and settled


def test_the_state_of_a_path_at_any_depth() -> None:
    """`state` follows names, keys and indexes, as arguments or as one tuple."""
    partial = seen(
        '{"note": "n", "items": [{"name": "a"}, {"name": "b", "price": 1, "x": ['
    )
    assert partial.state() is FieldState.OPEN
    assert partial.state("note") is FieldState.SETTLED
    assert partial.state("items") is FieldState.OPEN
    assert partial.state("items", 0) is FieldState.SETTLED
    assert partial.state(("items", 1, "name")) is FieldState.SETTLED
    assert partial.state("items", -1) is FieldState.OPEN
    assert partial.state("items", 2, "name") is FieldState.ABSENT
    assert partial.state("items", 1, "x") is FieldState.OPEN
    assert partial.state("count") is FieldState.ABSENT
    assert partial.state("nothing", "here") is FieldState.ABSENT
    assert partial.items.state(1, "name") is FieldState.SETTLED
    assert field_state(partial, "note") is FieldState.SETTLED
    assert field_state(seen('{"tags": ["a'), "tags", "root", 0) is FieldState.OPEN
    assert (
        field_state(seen('{"pet": {"kind": "cat", "name": "T'), "pet", "name")
        is FieldState.OPEN
    )
    assert (
        field_state(seen('{"by_name": {"k": {"name": "T'), "by_name", "k", "name")
        is FieldState.OPEN
    )
    assert field_state(PartialDict(), "a") is FieldState.ABSENT
    final = Order(items=[Item(name="a")])
    assert field_state(final) is FieldState.SETTLED
    assert field_state(final, "items", 0, "name") is FieldState.SETTLED
    assert field_state(final, "items", 1) is FieldState.ABSENT
    assert field_state({"a": [1]}, "a", 0) is FieldState.SETTLED
    assert field_state(UNSET) is FieldState.ABSENT


def test_settled_gives_settled_fields_only() -> None:
    """`settled.field` is the value or `NotSettledError`, never a prefix."""
    partial = seen('{"color": "red", "note": "op')
    assert partial.settled.color is Color.RED
    assert partial.settled["color"] is Color.RED
    with pytest.raises(NotSettledError, match=r"`\$\.note` is open, not settled"):
        _ = partial.settled.note
    with pytest.raises(NotSettledError, match=r"`\$\.count` is absent"):
        _ = partial.settled.count
    with pytest.raises(AttributeError, match="no field `nope`"):
        _ = partial.settled.nope
    assert repr(partial.settled) == "<settled: color>"


def test_a_field_hides_a_method_of_its_name() -> None:
    """Fields named `state` or `settled` are fields; `field_state` still works."""
    partial = seen('{"state": "Ohio", ', Address)
    assert partial.state == "Ohio"
    assert partial.settled is UNSET
    assert field_state(partial, "state") is FieldState.SETTLED
    assert partial.model_dump() == {"state": "Ohio"}


# --------------------------------------------------------------- what objects can do


def test_dumping_gives_what_there_is() -> None:
    """`model_dump` leaves out what is absent and converts what is nested."""
    partial = seen(
        '{"day": "2024-02-29", "color": "red", "items": [{"name": "a", "price": "1.50"}, {"name": "b'
    )
    assert partial.model_dump() == {
        "day": dt.date(2024, 2, 29),
        "color": Color.RED,
        "items": [{"name": "a", "price": Decimal("1.50")}, {"name": "b"}],
    }
    assert partial.model_dump(mode="json") == {
        "day": "2024-02-29",
        "color": "red",
        "items": [{"name": "a", "price": "1.50"}, {"name": "b"}],
    }
    assert partial.model_dump_json().startswith('{"color":"red","day":"2024-02-29"')
    assert dict(partial)["color"] is Color.RED


def test_repr_marks_what_is_open_and_what_is_absent() -> None:
    """Open text ends with dots, hidden open text is dots, absent fields are UNSET."""
    text = repr(seen('{"name": "ab', Item))
    assert text == "Partial[Item](name='ab'..., price=UNSET)"
    assert repr(seen('{"price": "1', Item)) == "Partial[Item](name=UNSET, price=...)"
    assert repr(seen('{"content": {"a": "b', Box[dict[str, str]])) == (
        "Partial[Box[dict[str, str]]](content={'a': 'b'})"
    )


def test_equality_is_of_type_content_and_state() -> None:
    """Equal partials show the same in the same state, of the same type."""
    assert seen('{"name": "a') == seen('{"name": "a')
    assert seen('{"name": "a', Item) == seen('{ "name": "a', Item)
    assert seen('{"name": "a', Item) != seen('{"name": "a"', Item)
    assert seen('{"name": "a"', Item) != seen('{"name": "a"', Box[Any])
    assert seen('{"name": "a"', Item) != {"name": "a"}
    assert seen('{"items": [', Order).items == []
    assert seen('{"by_name": {', Order).by_name == {}
    with pytest.raises(TypeError, match="unhashable"):
        hash(seen('{"', Item))


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (Order, '{"note": "n", "items": [{"name": "a"}, {"name": "b'),
        (Item, '{"name": "a"'),
        (list[Item], '[{"name": "a"}, {"name": "b'),
        (Tags, '["a'),
        (Point, '{"x": 1'),
    ],
)
def test_a_partial_survives_pickle_and_copy(schema: Any, text: str) -> None:
    """Pickled and copied partials are equal, with their states."""
    partial = seen(text, schema)
    again = pickle.loads(pickle.dumps(partial))

    assert again == partial
    assert repr(again) == repr(partial)
    assert copy.copy(partial) is partial
    assert copy.deepcopy(partial) is partial


def test_a_nested_view_pickles_as_plain_values() -> None:
    """A view without a type of its own keeps what it shows."""
    items = seen('{"items": [{"name": "a"}, {"name": "b').items
    assert pickle.loads(pickle.dumps(items)) == [
        {"name": "a", "price": Decimal(0)},
        {"name": "b"},
    ]


def test_a_partial_is_read_only() -> None:
    """Nothing can be set or deleted, and partials cannot be added."""
    partial = seen('{"name": "a', Item)
    with pytest.raises(TypeError, match="read-only"):
        partial.name = "b"
    with pytest.raises(TypeError, match="read-only"):
        del partial.name
    with pytest.raises(TypeError):
        partial + partial


def test_a_partial_never_changes(chunked: Cut) -> None:
    """What was seen of a partial stays so while the parser goes on."""
    text = '{"note": "some text", "items": [{"name": "abc", "price": "1.5"}, {"name": "d"}], "day": "2024-02-29"}'
    parser = PartialParser(Order)
    kept = []
    for chunk in chunked(text):
        parser.feed(chunk)
        snapshot = parser.snapshot()
        if snapshot is not UNSET:
            kept.append((snapshot, repr(snapshot), snapshot.model_dump_json()))

    assert all((repr(s), s.model_dump_json()) == (r, j) for s, r, j in kept)


def test_converted_values_are_made_once() -> None:
    """The same settled value is the same object in each snapshot."""
    parser = PartialParser(Order)
    parser.feed('{"day": "2024-02-29", "first": {"name": "a"}, "note": "')
    first, day = parser.snapshot().first, parser.snapshot().day
    parser.feed("more text")

    assert parser.snapshot().first is first
    assert parser.snapshot().day is day


def test_values_that_are_not_judged_are_shown_all_the_same() -> None:
    """With `early=False` settled values are converted where they can be."""
    partial = seen(
        '{"day": "2024-02-29", "count": "x", "first": {"name": 1}, ', early=False
    )
    assert partial.day == dt.date(2024, 2, 29)
    assert partial.count == "x"
    assert partial.first == {"name": 1}
    with pytest.raises(SchemaMismatchError):
        seen('{"count": "x", ')


# --------------------------------------------------------------------------- typing


def hinted(partial: Partial[Item] | Item, rows: Partial[list[Item]]) -> Partial[T]:
    raise NotImplementedError


def test_partial_is_a_type_hint() -> None:
    """`Partial[Model]` works in annotations, in unions and with type variables."""
    hints = get_type_hints(hinted)
    assert hints["partial"] == Partial[Item] | Item
    assert hints["rows"] is Partial[list[Item]]
    assert Partial[Item] is Partial[Item]
    assert Partial[Item].__name__ == "Partial[Item]"
    assert Partial["Item"].__args__


def test_names_are_offered_for_completion() -> None:
    """`dir` lists the fields."""
    assert {"name", "price", "state"} <= set(dir(seen('{"', Item)))


def test_the_driver_yields_partials_and_then_the_model() -> None:
    """A stream is of `Partial[Model]`, its last item the model."""
    *shown, last = iter_partial(['{"name": "a', 'b", "pr', 'ice": 1}'], Item)
    assert [repr(item) for item in shown] == [
        "Partial[Item](name='a'..., price=UNSET)",
        "Partial[Item](name='ab', price=UNSET)",
        "Partial[Item](name='ab', price=Decimal('1'))",
    ]
    assert last == Item(name="ab", price=Decimal(1))
