from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, RootModel
from typing_extensions import TypedDict

from partial_json_core import SchemaMismatchError, compile_schema, loads


class Model(BaseModel):
    a: int = Field(alias="A")


class Node(BaseModel):
    below: list[Node] = []


@dataclass
class Data:
    a: int


class Typed(TypedDict):
    a: int


class Pair(NamedTuple):
    a: int
    b: int


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Color(Enum):
    RED = "red"


OBJ, ARR, SCA = "object", "array", "scalar"
KINDS: list[tuple[Any, set[str]]] = [
    (None, {OBJ, ARR, SCA}),
    (Any, {OBJ, ARR, SCA}),
    (Model, {OBJ}),
    (Node, {OBJ}),
    (Data, {OBJ}),
    (Typed, {OBJ}),
    (dict[str, int], {OBJ}),
    (list[Model], {ARR}),
    (tuple[int, str], {ARR}),
    (set[int], {ARR}),
    (Pair, {ARR}),
    (int, {SCA}),
    (Color, {SCA}),
    (Literal["a", 1], {SCA}),
    (Model | None, {OBJ, SCA}),
    (Model | list[int], {OBJ, ARR}),
    (Annotated[Cat | Dog, Field(discriminator="kind")], {OBJ}),
    (RootModel[list[int]], {ARR}),
    (Annotated[list[int], AfterValidator(len)], {ARR}),
    (Annotated[list[int], BeforeValidator(list)], {OBJ, ARR, SCA}),
    ({"type": "object"}, {OBJ}),
    ({"type": ["array", "null"]}, {ARR, SCA}),
    ({"properties": {}}, {OBJ}),
    ({}, {OBJ, ARR, SCA}),
]


@pytest.mark.parametrize(
    ("schema", "kinds"), KINDS, ids=[str(s)[:40] for s, _ in KINDS]
)
def test_the_schema_tells_what_the_root_may_be(schema: Any, kinds: set[str]) -> None:
    """The kinds of the root are read off the schema, all of them when unsure."""
    assert compile_schema(schema).kinds == kinds


def test_the_caller_may_say_what_the_root_is() -> None:
    """`root` narrows the kinds and leaves the compiled schema as it is."""
    assert compile_schema(list[int] | Model, "array").kinds == {"array"}
    assert compile_schema(list[int] | Model).kinds == {"object", "array"}
    with pytest.raises(ValueError, match="`root` must be 'auto', 'object'"):
        compile_schema(None, "list")  # type: ignore[arg-type]  # what is tested


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (Model, '{"A": 1}', Model(A=1)),
        (Data, '{"a": 1}', Data(1)),
        (Typed, '{"a": 1}', {"a": 1}),
        (list[int], '["1", 2]', [1, 2]),
        (RootModel[list[int]], "[1]", RootModel[list[int]]([1])),
        (Model | None, "null", None),
        (int, " 5 ", 5),
        (Color, '"red"', Color.RED),
        (Node, '{"below": [{}]}', Node(below=[Node()])),
        ({"type": "object", "required": ["a"]}, '{"a": 1}', {"a": 1}),
    ],
)
def test_any_schema_gives_its_type(schema: Any, text: str, value: Any) -> None:
    """Models, dataclasses, typed dicts, plain types and JSON Schema dicts work."""
    assert loads(text, schema) == value


def test_a_json_schema_names_what_does_not_match() -> None:
    """A JSON Schema dict is judged by the jsonschema library, path and rule named."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    with pytest.raises(SchemaMismatchError) as caught:
        loads('{"a": "x"}', schema)

    assert caught.value.path == ("a",)
    assert caught.value.errors[0]["type"] == "type"
    assert "does not match `type` of the schema [type]" in str(caught.value)


def test_a_json_schema_without_its_library_names_the_extra() -> None:
    """Without jsonschema, a dict schema says which extra to install."""
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'jsonschema':\n"
        "            raise ModuleNotFoundError('gone', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from partial_json_core import PartialParser\n"
        "try: PartialParser({'type': 'object'})\n"
        "except ModuleNotFoundError as err: print(err)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, text=True
    )

    assert "pip install 'partial-json-core[jsonschema]'" in done.stdout + done.stderr


def test_a_broken_json_schema_is_refused() -> None:
    """A dict that is no JSON Schema is refused when the parser is made."""
    with pytest.raises(Exception, match="is not valid under any of the given schemas"):
        compile_schema({"type": "objekt"})


def test_what_is_no_schema_is_refused_with_a_sentence() -> None:
    """An object that is no type, and a pydantic.v1 model, are refused."""
    with pytest.raises(TypeError, match="is no schema: give a pydantic model"):
        compile_schema(object())
    fake = type("Old", (), {"__module__": "pydantic.v1.main"})
    with pytest.raises(TypeError, match=r"`Old` is a pydantic\.v1 model"):
        compile_schema(fake)


def test_a_schema_is_compiled_once() -> None:
    """Equal types share their compiled schema, and a compiled one is taken as it is."""
    assert compile_schema(Model) is compile_schema(Model)
    compiled = compile_schema({"type": "object"})
    assert compile_schema(compiled) is compiled
    unhashable = Annotated[int, Field(json_schema_extra={"a": 1})]
    assert compile_schema(unhashable).kinds == {"scalar"}
