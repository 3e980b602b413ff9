"""A zoo of types, each with JSON texts that it takes and that it refuses.

The models that the guard is tested with are put together from these at random.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    HttpUrl,
    Json,
    PlainValidator,
    RootModel,
    SecretStr,
    StrictInt,
    StringConstraints,
    Tag,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import PydanticOmit, PydanticUseDefault, core_schema
from typing_extensions import TypeAliasType, TypedDict


class Color(enum.Enum):
    RED = "red"
    REDDISH = "reddish"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Lenient(str, enum.Enum):
    YES = "yes"

    @classmethod
    def _missing_(cls, value: object) -> Lenient | None:
        return cls.YES if value == "oui" else None


class Inner(BaseModel):
    n: int
    s: str = "x"


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    n: int
    day: dt.date | None = None


class Allowing(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    n: int = 0


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(le=9)]


class Dog(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["dog"]
    name: str


class Tree(BaseModel):
    v: int
    kids: list[Tree] = []
    next: Tree | None = None


class Between(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def _order(self) -> Between:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class Reader(BaseModel):
    a: int
    b: int

    @field_validator("b")
    @classmethod
    def _b(cls, value: int, info: ValidationInfo) -> int:
        if value < info.data.get("a", 100):
            raise ValueError("b is below a")
        return value


class Unwrapping(BaseModel):
    n: int

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, value: Any) -> Any:
        return value["inner"] if isinstance(value, dict) and "inner" in value else value


class Aliased(BaseModel):
    one: int = Field(alias="ONE")
    two: int = Field(0, validation_alias=AliasChoices("TWO", "zwei"))
    three: int = Field(0, validation_alias=AliasPath("deep", 0))


class ByName(BaseModel):
    model_config = ConfigDict(validate_by_name=True, extra="forbid")
    one: int = Field(alias="ONE")


class Texts(BaseModel):
    model_config = ConfigDict(str_max_length=3, str_to_upper=True)
    t: str
    u: Annotated[str, Field(max_length=5)] = ""


class Custom(BaseModel):
    n: int

    def __init__(self, **data: Any) -> None:
        super().__init__(n=len(data))


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


class Names(RootModel[list[str]]):
    pass


class OneName(RootModel[Annotated[list[str], Field(max_length=1)]]):
    pass


class Renamed(BaseModel):
    model_config = ConfigDict(str_max_length=9)
    kind: Literal["a"] = Field(alias="Kind")
    text: str = ""


class Other(BaseModel):
    kind: Literal["b"] = Field(alias="Kind")
    rows: Annotated[list[int], Field(max_length=1)] = []


class First(BaseModel):
    kind: Literal[1]


class Second(BaseModel):
    kind: Literal[2]


@pydantic_dataclass
class Checked:
    n: int
    hidden: int = dataclasses.field(default=0, init=False)

    @model_validator(mode="after")
    def _small(self) -> Checked:
        if self.n > 9:
            raise ValueError("too large")
        return self


@pydantic_dataclass
class Prepared:
    n: int

    @model_validator(mode="before")
    @classmethod
    def _take(cls, value: Any) -> Any:
        return value


class Forgiving:
    """An int of which an error becomes 0."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        return core_schema.with_default_schema(
            core_schema.list_schema(core_schema.int_schema()),
            default=[],
            on_error="default",
        )


class Informed(BaseModel):
    first: int
    inner: Inner

    @field_validator("inner")
    @classmethod
    def _inner(cls, value: Inner, info: ValidationInfo) -> Inner:
        if value.n < info.data.get("first", 0):
            raise ValueError("inner is below first")
        return value


Nested = TypeAliasType("Nested", "int | list[Nested]")
Word = TypeAliasType("Word", Annotated[str, Field(max_length=30)])


class Words(BaseModel):
    model_config = ConfigDict(str_max_length=3)
    one: Word
    both: dict[str, Word] = {}
    tree: Nested = 0


ONE_OR_TWO = (
    Annotated[list[int], Field(max_length=1)]
    | Annotated[list[str], Field(max_length=2)]
)


class Table(RootModel[dict[str, Inner]]):
    pass


def _even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


def _omit_odd(value: int) -> int:
    if value % 2:
        raise PydanticOmit
    return value


def _default_for_none(value: Any) -> Any:
    if value is None:
        raise PydanticUseDefault
    return value


def _forgive(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValueError:
        return -1


def _kind(value: Any) -> str:
    return "obj" if isinstance(value, dict) else "num"


def _break(_value: Any) -> Any:
    raise RuntimeError("a fault of the validator's own")


# Each type with texts: whether one is valid is pydantic's business.
ZOO: dict[str, tuple[Any, list[str]]] = {
    "str": (str, ['"a"', '""', "1", "null", "[]"]),
    "long": (
        Annotated[str, Field(max_length=3)],
        ['"abc"', '"abcd"', r'"\u00e4b\n"', r'"\u00e4b\n\ud83d\ude00"', "3"],
    ),
    "stripped": (
        Annotated[str, StringConstraints(max_length=2, strip_whitespace=True)],
        ['"ab   "', '"abc"', '"   "'],
    ),
    "pattern": (
        Annotated[str, StringConstraints(pattern="^a+$")],
        ['"aa"', '"ab"', "{}"],
    ),
    "int": (int, ["1", "-0", "1.0", '"3"', '"x"', "1.5", "true", "null", "{}"]),
    "strict": (StrictInt, ["1", '"1"', "1.0"]),
    "big": (int, ["123456789012345678901234567890", "1e2", "1e-2"]),
    "float": (float, ["1", "1.5", '"2"', "1e300", "false", "[1]"]),
    "bool": (bool, ["true", "1", '"yes"', '"maybe"', "2"]),
    "none": (None, ["null", "0"]),
    "any": (Any, ["1", '{"a": [1]}', "[null]", '"x"']),
    "bounded": (
        Annotated[int, Field(gt=0, lt=10, multiple_of=2)],
        ["2", "3", "0", "12", '"4"'],
    ),
    "decimal": (
        Annotated[Decimal, Field(max_digits=4, decimal_places=2)],
        ["1.10", '"1.10"', "1.234", '"x"', "{}"],
    ),
    "date": (dt.date, ['"2024-02-29"', '"2023-02-29"', "0", '"null"', "[]"]),
    "datetime": (dt.datetime, ['"2024-02-29T12:00:00Z"', '"nope"', "1700000000"]),
    "time": (dt.time, ['"12:00"', '"25:00"']),
    "timedelta": (dt.timedelta, ['"PT1H"', "3.5", '"?"', "{}"]),
    "uuid": (uuid.UUID, ['"12345678-1234-5678-1234-567812345678"', '"no"']),
    "url": (HttpUrl, ['"https://example.org"', '"no"']),
    "secret": (SecretStr, ['"s"', "1"]),
    "bytes": (bytes, ['"b"', "1", "[1]"]),
    "json": (Json[list[int]], ['"[1]"', '"[\\"x\\"]"', '"["', "[1]"]),
    "literal": (
        Literal["refund", "re", "other"],
        [
            '"re"',
            '"refund"',
            '"ref"',
            '"Refund"',
            '"otherwise"',
            r'"\u0072e"',
            "1",
            "[]",
        ],
    ),
    "mixed_literal": (
        Literal["a", 1, None],
        ['"a"', "1", "null", '"b"', '"1"', "true"],
    ),
    "enum": (Color, ['"red"', '"reddish"', '"redd"', '"blues"', "1", "{}"]),
    "level": (Level, ["1", '"1"', "3", '"x"']),
    "lenient": (Lenient, ['"yes"', '"oui"', '"non"']),
    "literal_enum": (Literal[Color.RED], ['"red"', '"blue"']),
    "optional": (int | None, ["null", "1", '"x"', "[]"]),
    "list": (list[int], ["[1, 2]", '[1, "x"]', "{}", '"[1]"', "[]"]),
    "short": (
        Annotated[list[int], Field(max_length=2, min_length=1)],
        ["[1]", "[1, 2, 3]", "[]", "[1, 2,]", '["x", 1, 2]'],
    ),
    "strs": (list[str], ['["a", "b"]', '["a", 1]']),
    "set": (Annotated[set[int], Field(max_length=2)], ["[1, 1, 1]", "[1, 2, 3]", "{}"]),
    "frozenset": (frozenset[str], ['["a"]', '[["a"]]']),
    "tuple": (tuple[int, str], ['[1, "a"]', "[1]", '[1, "a", 2]', '["x", "a"]', "{}"]),
    "tuples": (
        Annotated[tuple[int, ...], Field(max_length=2)],
        ["[]", "[1, 2]", "[1, 2, 3]"],
    ),
    "empty_tuple": (tuple[()], ["[]", "[1]"]),
    "dict": (dict[str, int], ['{"a": 1}', '{"a": "x"}', "[]", "{}"]),
    "int_keys": (
        Annotated[dict[int, int], Field(max_length=1)],
        ['{"1": 1}', '{"x": 1}', '{"1": 1, "01": 2}', '{"1": 1, "2": 2}'],
    ),
    "few": (
        Annotated[dict[str, int], Field(max_length=1)],
        ['{"a": 1}', '{"a": 1, "b": 2}'],
    ),
    "enum_keys": (dict[Color, int], ['{"red": 1}', '{"green": 1}']),
    "inner": (
        Inner,
        ['{"n": 1}', '{"n": "x"}', '{"s": "y"}', "{}", "[]", "3", '{"n": 1, "q": [2]}'],
    ),
    "inner_list": (
        list[Inner],
        ['[{"n": 1}, {"n": 2, "s": "z"}]', '[{"n": 1}, {}]', '[{"n": null}]', "[3]"],
    ),
    "inner_dict": (dict[str, Inner], ['{"a": {"n": 1}}', '{"a": {"s": "y"}}']),
    "strict_model": (
        Strict,
        [
            '{"n": 1}',
            '{"n": "1"}',
            '{"n": 1, "day": "2024-01-01"}',
            '{"n": 1, "more": 2}',
        ],
    ),
    "allowing": (Allowing, ['{"n": 1, "x": 2}', '{"x": "y"}', '{"x": {}}']),
    "tagged": (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        [
            '{"kind": "cat", "lives": 9}',
            '{"lives": 10, "kind": "cat"}',
            '{"kind": "dog", "name": "x", "y": 1}',
            '{"y": 1, "kind": "dog", "name": "x"}',
            '{"kind": "cow"}',
            '{"kind": "c"}',
            '{"kind": 1}',
            "{}",
            '{"lives": "x", "kind": "cat"}',
            '{"kind": "dog", "name": {}}',
        ],
    ),
    "called": (
        Annotated[
            Annotated[Inner, Tag("obj")] | Annotated[int, Tag("num")],
            Discriminator(_kind),
        ],
        ["1", '{"n": 1}', '{"n": "x"}', '"x"'],
    ),
    "union": (
        Cat | Dog | int,
        [
            '{"kind": "cat", "lives": 3}',
            '{"kind": "dog", "name": "x"}',
            '{"kind": "dog", "lives": 3}',
            "3",
            '"x"',
            "[]",
            '{"kind": "cow", "x": 1}',
            '{"lives": "x", "z": 1}',
        ],
    ),
    "shapes": (
        list[int] | dict[str, int] | str,
        ["[1]", '["x"]', '{"a": 1}', '{"a": "x"}', '"s"', "1", "[1, []]", '{"a": []}'],
    ),
    "nested_union": (
        list[Cat | Inner] | Inner,
        [
            '[{"n": 1}]',
            '[{"lives": 1, "kind": "cat"}, {"n": "x"}]',
            '{"n": 1}',
            '[{"n": []}]',
            '{"n": {}}',
        ],
    ),
    "tree": (
        Tree,
        [
            '{"v": 1, "kids": [{"v": 2}, {"v": 3, "kids": []}]}',
            '{"v": 1, "kids": [{"v": "x"}]}',
            '{"v": 1, "kids": [{}]}',
            '{"v": 1, "next": {"v": 2, "next": null}}',
            '{"v": 1, "next": {"v": 2, "next": 3}}',
        ],
    ),
    "between": (
        Between,
        ['{"low": 1, "high": 2}', '{"high": 1, "low": 2}', '{"low": 1}'],
    ),
    "reader": (Reader, ['{"a": 1, "b": 2}', '{"b": 2, "a": 3}', '{"a": 1, "b": "x"}']),
    "unwrapping": (
        Unwrapping,
        [
            '{"n": 1}',
            '{"n": "x", "inner": {"n": 1}}',
            '{"inner": {"n": "x"}}',
            '{"n": []}',
        ],
    ),
    "aliased": (
        Aliased,
        [
            '{"ONE": 1}',
            '{"one": 1}',
            '{"ONE": "x"}',
            '{"ONE": 1, "zwei": "x", "TWO": 2}',
            '{"ONE": 1, "TWO": "x", "zwei": 2}',
            '{"ONE": 1, "deep": [3]}',
            '{"ONE": 1, "deep": ["x"]}',
            '{"ONE": 1, "deep": {}}',
        ],
    ),
    "by_name": (
        ByName,
        ['{"ONE": 1}', '{"one": 1}', '{"one": "x", "ONE": 1}', '{"two": 1}'],
    ),
    "texts": (
        Texts,
        [
            '{"t": "abc"}',
            '{"t": "abcd"}',
            '{"t": "a", "u": "abcde"}',
            '{"t": "a", "u": "abcdef"}',
        ],
    ),
    "custom": (Custom, ['{"n": "x"}', '{"a": []}', "[]"]),
    "point": (Point, ['{"x": 1}', '{"x": "y"}', "[1]", '{"x": 1, "z": 2}', "{}"]),
    "movie": (Movie, ['{"title": "x"}', '{"year": "y"}', "[]", "{}"]),
    "one_name": (OneName, ['["a"]', '["a", "b"]', "{}"]),
    "bounded_union": (
        ONE_OR_TWO,
        ["[1]", "[1, 2]", '["a", "b", "c"]', '["a", 1]', "[]"],
    ),
    "deep_bounded_union": (
        dict[str, ONE_OR_TWO] | int,
        ['{"a": [1]}', '{"a": ["x", "y", "z"]}', '{"a": [1, "x"]}', '{"a": [{}]}', "1"],
    ),
    "model_union": (
        Inner | Between | Other,
        [
            '{"low": 1, "high": 2}',
            '{"n": {"a": 1}}',
            '{"low": [], "n": []}',
            '{"Kind": "b", "rows": [1, 2]}',
            '{"rows": [1, 2], "n": "x", "low": {}}',
        ],
    ),
    "renamed_tag": (
        Annotated[Renamed | Other, Field(discriminator="kind")],
        [
            '{"Kind": "a"}',
            '{"Kind": "a", "text": "0123456789"}',
            '{"kind": "a"}',
            '{"Kind": "b", "rows": [1, 2]}',
            '{"rows": [1, 2], "Kind": "b"}',
            '{"Kind": "c"}',
        ],
    ),
    "tag_in_union": (
        Annotated[Renamed | Other, Field(discriminator="kind")] | list[int],
        [
            '{"Kind": "a"}',
            '{"Kind": "b", "rows": ["x"]}',
            '{"Kind": "x"}',
            "[1]",
            '["x"]',
        ],
    ),
    "number_tag": (
        Annotated[First | Second, Field(discriminator="kind")],
        ['{"kind": 1}', '{"kind": 3}', '{"kind": "1"}'],
    ),
    "checked": (Checked, ['{"n": 1}', '{"n": 10}', '{"n": 1, "hidden": 2}', "[1]"]),
    "prepared": (Prepared, ['{"n": 1}', '{"n": "x"}']),
    "forgiving": (Forgiving, ["[1]", '["x"]', "{}", '"x"']),
    "informed": (
        Informed,
        [
            '{"first": 1, "inner": {"n": 2}}',
            '{"first": 3, "inner": {"n": 2}}',
            '{"first": 1, "inner": {"n": "x"}}',
        ],
    ),
    "nested_alias": (Nested, ["1", "[1, [2, [3]]]", '[1, ["x"]]', "{}"]),
    "words": (
        Words,
        [
            '{"one": "abcdef"}',
            '{"one": "abc", "both": {"a": "abcdef"}}',
            '{"one": "a", "tree": [[1], "x"]}',
        ],
    ),
    "names": (Names, ['["a"]', "[1]", "{}", "3"]),
    "table": (Table, ['{"a": {"n": 1}}', '{"a": {"n": "x"}}', "[]"]),
    "after": (Annotated[int, AfterValidator(_even)], ["2", "3", '"x"', "{}"]),
    "after_list": (
        Annotated[list[int], AfterValidator(lambda v: v or _break(v))],
        ["[1]", '["x"]'],
    ),
    "before": (
        Annotated[int, BeforeValidator(lambda v: len(v) if isinstance(v, list) else v)],
        ["[1, 2]", "1", '"x"', "{}"],
    ),
    "plain": (Annotated[int, PlainValidator(lambda v: v)], ["{}", '"x"']),
    "wrap": (Annotated[list[int], WrapValidator(_forgive)], ['["x"]', "{}", "[1]"]),
    "omitting": (
        Annotated[list[Annotated[int, AfterValidator(_omit_odd)]], Field(max_length=1)],
        ["[1, 3, 2]", "[2, 4]", "[1]"],
    ),
    "broken": (Annotated[int, AfterValidator(_break)], ['"x"', "[]"]),
}
"""Types by name, with texts."""

DEFAULTED: dict[str, Callable[[], Any]] = {
    "with_default": lambda: Annotated[int, BeforeValidator(_default_for_none)],
}
