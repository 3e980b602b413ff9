"""Compiles what pydantic made of a type (its core schema) into places.

A field's own schema, with the configuration of its model and the shared definitions,
makes its validator, so field validators run as they do in the whole. Places are
compiled and validators are built when they are first needed, once a schema.

What is judged early is a closed list: the schema types named here. Any other, and any
that could make the rest irrelevant (a validator that runs before or around the rest, a
custom ``__init__``, an error that becomes a default), has no nodes: nothing inside it
is judged; if its verdict depends on the value alone it is judged as a whole.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from pydantic_core import SchemaValidator, ValidationError, to_json

from ._guard import (
    UNJUDGED,
    WRONG,
    Elements,
    Entries,
    Field,
    Fields,
    LengthRule,
    Mismatch,
    Place,
    PrefixRule,
    plain_errors,
)
from ._unions import Choice, Tagged, Union, Wrapped, common_rule
from ._views import PartialItems, PartialMapping, fields_view, root_view

CoreSchema = Mapping[str, Any]

_EXACT: Final[Mapping[str, type]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "none": type(None),
}
# What a schema of an exact type may hold without having more to say.
_SILENT: Final = frozenset(
    {"type", "strict", "metadata", "ref", "serialization", "allow_inf_nan"}
)
_STR_CONFIG: Final = (
    "str_max_length",
    "str_min_length",
    "str_strip_whitespace",
    "str_to_lower",
    "str_to_upper",
)
# Schemas of which neither an object nor an array is ever valid JSON input.
_SCALARS: Final = frozenset(
    {
        *("none", "bool", "int", "float", "decimal", "str", "bytes", "date", "time"),
        *("datetime", "timedelta", "literal", "url", "multi-host-url", "uuid"),
        *("complex", "json"),
    }
)
# Schemas that hand their input on: the key under which the next one stands.
_TRANSPARENT: Final[Mapping[str, str]] = {
    "nullable": "schema",
    "default": "schema",
    "json-or-python": "json_schema",
    "function-after": "schema",
    "definitions": "schema",
}
# Schemas that hand an error of what they hold on, dropped elements included.
_PASS_ON: Final = frozenset(
    {
        *("nullable", "default", "json-or-python", "lax-or-strict", "chain"),
        *("definitions", "union", "tagged-union", "model", "dataclass"),
    }
)
# Schemas that take no notice of the configuration around them.
_OWN_CONFIG: Final = frozenset({"model", "dataclass", "enum"})
# Schemas whose fields bring their own `info.data`.
_OWN_DATA: Final = frozenset({"model-fields", "typed-dict", "dataclass-args"})
_NESTED: Final = (
    *("schema", "json_schema", "lax_schema", "strict_schema"),
    *("items_schema", "keys_schema", "values_schema", "choices", "steps"),
)


class CoreValidator:
    """The verdict of pydantic on one value, standing alone.

    Attributes:
        title: What pydantic calls it in ``loc``.
        is_sure: The verdict depends on nothing but the value.
    """

    __slots__ = ("_build", "_validator", "is_sure")

    def __init__(self, build: Callable[[], SchemaValidator], *, is_sure: bool) -> None:
        self._build = build
        self._validator: SchemaValidator | None = None
        self.is_sure = is_sure

    @property
    def title(self) -> str:
        """Its name in ``loc``."""
        return self._built().title

    def _built(self) -> SchemaValidator:
        if self._validator is None:
            self._validator = self._build()
        return self._validator

    def __call__(self, value: Any) -> Any:
        """Return the converted value; see `Validator`."""
        if not self.is_sure:
            return UNJUDGED
        try:
            return (self._validator or self._built()).validate_json(to_json(value))
        except ValidationError as err:
            raise Mismatch(plain_errors(err)) from err
        except Exception:  # noqa: BLE001 - a validator's own fault; `close` raises it
            return UNJUDGED


class Compiler:
    """Compiles one core schema.

    Args:
        schema: The core schema.
    """

    __slots__ = ("_by_ref", "_definitions", "_sure", "root")

    def __init__(self, schema: CoreSchema) -> None:
        self._definitions: dict[str, CoreSchema] = {}
        self._by_ref: dict[str, Place] = {}
        self._sure: dict[str, bool] = {}
        self.root = self.place(schema, {})

    def place(self, schema: CoreSchema, config: Mapping[str, Any]) -> Place:
        """Return the place of a value of `schema` inside a model with `config`."""
        while schema["type"] == "definitions":
            self.define(schema)
            schema = schema["schema"]
        if schema["type"] == "definition-ref":
            ref = schema["schema_ref"]
            known = self._by_ref.get(ref)
            if known is None:
                known = self._by_ref[ref] = Place()
                self._fill(known, self._definitions[ref], config)
            return known
        place = Place()
        self._fill(place, schema, config)
        return place

    def define(self, schema: CoreSchema) -> None:
        """Take the definitions of a schema of that name."""
        for item in schema["definitions"]:
            self._definitions[item["ref"]] = item

    def later(
        self, schema: CoreSchema | None, config: Mapping[str, Any]
    ) -> Callable[[], Place | None]:
        """Compile when it is asked for, once."""
        if schema is None:
            return _nothing
        return _Later(self, schema, config)

    def _fill(
        self, place: Place, schema: CoreSchema, config: Mapping[str, Any]
    ) -> None:
        validator = CoreValidator(
            partial(self.build, schema, config),
            is_sure=self.is_sure(schema, set())
            and self._can_stand_alone(schema, config),
        )
        place.validator = validator
        _Filler(self, place, config).look(schema, is_whole=True)

    def build(self, schema: CoreSchema, config: Mapping[str, Any]) -> SchemaValidator:
        refs: set[str] = set()
        self._collect_refs(schema, refs)
        if refs:
            schema = {
                "type": "definitions",
                "schema": schema,
                "definitions": [
                    # A schema that is its own definition stands there once.
                    self._definitions[ref]
                    for ref in sorted(refs)
                    if self._definitions[ref] is not schema
                ],
            }
            if schema["schema"].get("ref") in refs:
                schema["definitions"].append(schema["schema"])
                schema["schema"] = {
                    "type": "definition-ref",
                    "schema_ref": schema["schema"]["ref"],
                }
        # With the title of the model each of its fields would have that name.
        config = {key: item for key, item in config.items() if key != "title"}
        return SchemaValidator(schema, config or None)  # type: ignore[arg-type]  # a CoreSchema

    def _can_stand_alone(self, schema: CoreSchema, config: Mapping[str, Any]) -> bool:
        """Whether the definitions take no notice of the configuration.

        In the whole they have that of the root, and here that of the model.
        """
        if config.keys() <= {"title"}:
            return True
        refs: set[str] = set()
        self._collect_refs(schema, refs)
        return all(self._definitions[ref]["type"] in _OWN_CONFIG for ref in refs)

    def _collect_refs(self, value: Any, refs: set[str]) -> None:
        """All definitions that a schema needs, those of definitions included."""
        pending = [value]
        seen: set[int] = set()
        while pending:
            item = pending.pop()
            if id(item) in seen:
                continue
            if isinstance(item, dict):
                seen.add(id(item))
                ref = str(item.get("schema_ref"))
                if item.get("type") == "definition-ref" and ref not in refs:
                    refs.add(ref)
                    pending.append(self._definitions[ref])
                pending.extend(
                    below
                    for key, below in item.items()
                    if key not in ("metadata", "serialization", "default")
                )
            elif isinstance(item, list | tuple):
                seen.add(id(item))
                pending.extend(item)

    def is_sure(self, schema: CoreSchema, seen: set[str]) -> bool:
        """Whether the verdict on a value depends on nothing outside it.

        A function that takes the validation info may read the fields before it.
        """
        kind = schema["type"]
        if kind in _OWN_DATA:
            return True
        if kind == "definition-ref":
            ref = schema["schema_ref"]
            if ref in seen:
                return True
            return self.is_sure(self._definitions[ref], seen | {ref})
        function = schema.get("function")
        if isinstance(function, Mapping) and function.get("type") == "with-info":
            return False
        if kind == "default" and schema.get("on_error", "raise") == "omit":
            return False
        return all(self.is_sure(inner, seen) for inner in _inner_schemas(schema))

    def may_omit(self, schema: CoreSchema, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an element of this schema may be dropped (`PydanticOmit`)."""
        kind = schema["type"]
        if kind.startswith("function-") or schema.get("on_error") == "omit":
            return True
        if kind == "definition-ref":
            ref = schema["schema_ref"]
            return ref not in seen and self.may_omit(
                self._definitions[ref], seen | {ref}
            )
        if kind == "model" and schema.get("custom_init"):
            return True
        if kind not in _PASS_ON:
            return False
        return any(self.may_omit(inner, seen) for inner in _inner_schemas(schema))


def _inner_schemas(schema: CoreSchema) -> Iterator[CoreSchema]:
    """The schemas that stand directly inside one."""
    for key in _NESTED:
        below = schema.get(key)
        if isinstance(below, Mapping) and "type" not in below:
            below = list(below.values())
        for item in below if isinstance(below, list) else [below]:
            inner = item[0] if isinstance(item, tuple) else item
            if isinstance(inner, Mapping):
                yield inner


class _Later:
    """A place that is compiled when it is first asked for."""

    __slots__ = ("_compiler", "_config", "_place", "_schema")

    def __init__(
        self, compiler: Compiler, schema: CoreSchema, config: Mapping[str, Any]
    ) -> None:
        self._compiler = compiler
        self._schema = schema
        self._config = config
        self._place: Place | None = None

    def __call__(self) -> Place:
        if self._place is None:
            self._place = self._compiler.place(self._schema, self._config)
        return self._place


def _items(node: Any, container: Any) -> Any:
    return PartialItems(node, container)


def _entries(node: Any, container: Any) -> Any:
    return PartialMapping(node, container)


def _nothing() -> None:
    return None


class _Filler:
    """Fills in one place from the schemas that its value passes through."""

    __slots__ = ("_compiler", "_config", "_place")

    def __init__(
        self, compiler: Compiler, place: Place, config: Mapping[str, Any]
    ) -> None:
        self._compiler = compiler
        self._place = place
        self._config = config

    def look(self, schema: CoreSchema, *, is_whole: bool) -> None:
        """Read a schema.

        Args:
            schema: The schema that gets the input.
            is_whole: Its output is the final value of the place.
        """
        kind = schema["type"]
        if kind in _TRANSPARENT:
            self._pass_on(kind, schema, is_whole=is_whole)
        elif kind == "definition-ref":
            self._refer(schema, is_whole=is_whole)
        elif kind in _HANDLERS:
            self._place.object = self._place.array = WRONG
            _HANDLERS[kind](self, schema, is_whole=is_whole)
        elif kind in _SCALARS:
            self._place.object = self._place.array = WRONG
            if is_whole and kind in _EXACT and _SILENT.issuperset(schema):
                self._place.exact = _EXACT[kind]

    def _pass_on(self, kind: str, schema: CoreSchema, *, is_whole: bool) -> None:
        if kind == "nullable":
            self._place.is_nullable = is_whole
        if kind == "default" and schema.get("on_error", "raise") != "raise":
            return
        if kind == "definitions":
            self._compiler.define(schema)
        inner = schema[_TRANSPARENT[kind]]
        self.look(inner, is_whole=is_whole and kind != "function-after")

    def _refer(self, schema: CoreSchema, *, is_whole: bool) -> None:
        place = self._place
        target = self._compiler.place(schema, {})
        place.object, place.array = target.object, target.array
        place.rule = target.rule
        if is_whole:
            place.exact, place.shows_text = target.exact, target.shows_text
            place.is_nullable = place.is_nullable or target.is_nullable

    def _lax_or_strict(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        self._place.object = self._place.array = None
        strict = schema.get("strict", self._config.get("strict", False))
        mode = "strict_schema" if strict else "lax_schema"
        self.look(schema[mode], is_whole=False)

    def _chain(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        self._place.object = self._place.array = None
        self.look(schema["steps"][0], is_whole=False)

    # -------------------------------------------------------------- scalars

    def _any(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        self._place.object = self._place.array = None
        self._place.shows_text = is_whole

    def _str(self, schema: CoreSchema, *, is_whole: bool) -> None:
        place = self._place
        config = self._config
        strips = schema.get("strip_whitespace", config.get("str_strip_whitespace"))
        longest = schema.get("max_length", config.get("str_max_length"))
        if longest is not None and not strips:
            place.rule = LengthRule(longest)
        if not is_whole:
            return
        changes = any(
            schema.get(key, config.get(f"str_{key}"))
            for key in ("to_lower", "to_upper")
        )
        place.shows_text = not strips and not changes
        if _SILENT.issuperset(schema) and not any(map(config.get, _STR_CONFIG)):
            place.exact = str

    def _literal(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        expected = schema["expected"]
        if all(type(item) in (str, int, bool, type(None)) for item in expected):
            texts = [item for item in expected if isinstance(item, str)]
            self._place.rule = PrefixRule(texts)

    def _enum(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        missing = schema["cls"]._missing_.__func__
        if missing is not enum.Enum._missing_.__func__ or schema.get("missing"):  # type: ignore[attr-defined]
            self._place.object = self._place.array = None
            return
        values = [getattr(item, "value", None) for item in schema["members"]]
        texts = [value for value in values if type(value) is str]
        if schema.get("sub_type") in (None, "str") and len(texts) == len(values):
            self._place.rule = PrefixRule(texts)

    # --------------------------------------------------------------- arrays

    def _list(self, schema: CoreSchema, *, is_whole: bool) -> None:
        items = schema.get("items_schema")
        may_omit = items is not None and self._compiler.may_omit(items)
        self._place.array = Elements(
            self._place,
            (),
            self._compiler.later(items, self._config),
            longest=schema.get("max_length"),
            may_omit=may_omit,
            overflow_error=partial(_too_long, "List"),
            is_plain=is_whole and self._is_plain(schema, items),
            view=_items,
        )

    def _set(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        # Equal elements count once, so its length is known at the end.
        items = schema.get("items_schema")
        self._place.array = Elements(
            self._place,
            (),
            self._compiler.later(items, self._config),
            view=_items,
        )

    _frozenset = _set

    def _tuple(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        items = schema["items_schema"]
        variadic = schema.get("variadic_item_index")
        longest = schema.get("max_length")
        later = self._compiler.later
        if variadic is None:
            longest = len(items)
            prefix, rest = items, None
        else:
            # Where the part after the variable one begins is known at the end.
            prefix = items[:variadic]
            rest = items[variadic] if variadic == len(items) - 1 else None
        self._place.array = Elements(
            self._place,
            [later(item, self._config) for item in prefix],
            later(rest, self._config),
            longest=longest,
            may_omit=any(map(self._compiler.may_omit, items)),
            overflow_error=partial(_too_long, "Tuple"),
            view=_items,
        )

    def _is_plain(self, schema: CoreSchema, inner: CoreSchema | None) -> bool:
        """Whether a container is converted when what is in it is."""
        return (
            inner is not None
            and not self._compiler.may_omit(inner)
            and schema.get("min_length") is None
            and self._compiler.is_sure(inner, set())
        )

    # -------------------------------------------------------------- objects

    def _dict(self, schema: CoreSchema, *, is_whole: bool) -> None:
        keys = schema.get("keys_schema", {"type": "any"})
        values = schema.get("values_schema")
        is_str = keys["type"] == "str" and _SILENT.issuperset(keys)
        is_str = is_str and not any(map(self._config.get, _STR_CONFIG))
        compiler = self._compiler
        judge = None
        if keys["type"] != "any" and not is_str and compiler.is_sure(keys, set()):
            alone = {"type": "dict", "keys_schema": keys}
            judge = CoreValidator(
                partial(compiler.build, alone, self._config),
                is_sure=True,
            )
        self._place.object = Entries(
            self._place,
            compiler.later(values, self._config),
            key=judge,
            # Keys that become equal count once.
            longest=schema.get("max_length")
            if is_str and (values is None or not compiler.may_omit(values))
            else None,
            overflow_error=partial(_too_long, "Dictionary"),
            is_plain=is_whole and is_str and self._is_plain(schema, values),
            view=_entries,
        )

    def _model(self, schema: CoreSchema, *, is_whole: bool) -> None:
        place = self._place
        if schema.get("custom_init"):
            place.object = place.array = None
            return
        inner = schema["schema"]
        config = schema.get("config", {})
        if schema.get("root_model"):
            target = self._compiler.place(inner, config)
            place.rule = target.rule
            view = root_view(schema["cls"])
            place.object = Wrapped.around(place, target.object, target, view)
            place.array = Wrapped.around(place, target.array, target, view)
            return
        while inner["type"] == "function-after":
            inner = inner["schema"]
        if inner["type"] != "model-fields":
            place.object = None
            return
        self._named(inner, config, schema["cls"], is_whole=is_whole)

    def _dataclass(self, schema: CoreSchema, *, is_whole: bool) -> None:
        inner = schema["schema"]
        while inner["type"] == "function-after":
            inner = inner["schema"]
        if inner["type"] != "dataclass-args":
            self._place.object = None
            return
        config = schema.get("config", {})
        self._named(inner, config, schema["cls"], is_whole=is_whole)

    def _typed_dict(self, schema: CoreSchema, *, is_whole: bool) -> None:
        config = schema.get("config", self._config)
        self._named(schema, config, schema.get("cls"), is_whole=is_whole)

    def _model_fields(self, schema: CoreSchema, *, is_whole: bool) -> None:
        self._named(schema, self._config, None, is_whole=is_whole)

    def _named(
        self,
        schema: CoreSchema,
        config: Mapping[str, Any],
        cls: type | None,
        *,
        is_whole: bool,  # noqa: ARG002 - a handler
    ) -> None:
        """An object with named fields."""
        later = self._compiler.later
        listed = schema["fields"]
        pairs = (
            listed.items()
            if isinstance(listed, Mapping)
            else [(item["name"], item) for item in listed]
        )
        fields = []
        known: set[str] = set()
        for name, item in pairs:
            keys, heads = _input_keys(name, item.get("validation_alias"), config)
            known |= heads
            if item.get("init") is False or item.get("init_only"):
                keys = ()
            fields.append(Field(name, keys, later(item["schema"], config)))
        known |= {field.name for field in fields if not field.keys}
        extra = schema.get("extra_behavior", config.get("extra_fields_behavior"))
        self._place.object = Fields(
            self._place,
            fields,
            known=frozenset(known),
            extra=later(schema.get("extras_schema"), config)
            if extra == "allow"
            else None,
            extra_error=partial(_extra_forbidden, schema["type"])
            if extra == "forbid"
            else None,
            ignores_extra=extra in (None, "ignore"),
            view=fields_view(cls),
        )

    # --------------------------------------------------------------- unions

    def _union(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        place = self._place
        choices = []
        for item in schema["choices"]:
            inner, label = item if isinstance(item, tuple) else (item, None)
            choices.append(Choice(self._compiler.place(inner, self._config), label))
        place.rule = common_rule([choice.place.rule for choice in choices])
        custom = schema.get("custom_error_type") is not None
        for bracket, name in (("{", "object"), ("[", "array")):
            source = None if custom else _union_source(place, choices, bracket, name)
            setattr(place, name, source)

    def _tagged_union(self, schema: CoreSchema, *, is_whole: bool) -> None:  # noqa: ARG002 - a handler
        key = schema["discriminator"]
        choices = schema["choices"]
        place = self._place
        if isinstance(key, list) and len(key) == 1 and isinstance(key[0], list):
            key = key[0]
        if isinstance(key, list) and len(key) == 1:
            key = key[0]
        tags = {getattr(tag, "value", tag): item for tag, item in choices.items()}
        if (
            not isinstance(key, str)
            or schema.get("custom_error_type") is not None
            or not all(type(tag) is str for tag in tags)
        ):
            place.object = None
            return
        later = self._compiler.later
        place.object = Tagged(
            place, key, {tag: later(item, self._config) for tag, item in tags.items()}
        )


_HANDLERS: Final[Mapping[str, Callable[..., None]]] = {
    name: getattr(_Filler, "_" + name.replace("-", "_"))
    for name in (
        *("any", "str", "literal", "enum", "lax-or-strict", "chain"),
        *("list", "set", "frozenset", "tuple", "dict"),
        *("model", "dataclass", "typed-dict", "model-fields"),
        *("union", "tagged-union"),
    )
}


def _union_source(place: Place, choices: list[Choice], bracket: str, name: str) -> Any:
    """What a union says about one kind of container."""
    sources = [getattr(choice.place, name) for choice in choices]
    if any(source is None for source in sources):
        return None
    if all(source is WRONG for source in sources):
        return WRONG
    return Union(place, choices, bracket)


def _input_keys(
    name: str, alias: Any, config: Mapping[str, Any]
) -> tuple[tuple[str, ...], set[str]]:
    """The keys under which the input of a field may stand.

    Returns:
        The keys, the first that is there wins; none when the first choice is no plain
        key. And the top-level keys that the field may read.
    """
    if alias is None or not config.get("validate_by_alias", True):
        paths = [[name]]
    elif isinstance(alias, str):
        paths = [[alias]]
    elif alias and isinstance(alias[0], list):
        paths = list(alias)
    else:
        paths = [alias]
    by_name = config.get("validate_by_name", config.get("populate_by_name", False))
    if by_name and [name] not in paths:
        paths.append([name])
    heads = {path[0] for path in paths}
    if len(paths[0]) > 1:
        return (), heads
    return tuple(path[0] for path in paths if len(path) == 1), heads


def known_error(
    kind: str, loc: tuple[str | int, ...], value: Any, context: dict[str, Any]
) -> dict[str, Any]:
    """An error as pydantic would list it."""
    made = ValidationError.from_exception_data(
        "", [{"type": kind, "loc": loc, "input": value, "ctx": context}]
    )
    return plain_errors(made)[0]


def _too_long(field_type: str, longest: int, container: Any) -> dict[str, Any]:
    context = {
        "field_type": field_type,
        "max_length": longest,
        "actual_length": longest + 1,
    }
    return known_error("too_long", (), container, context)


def _extra_forbidden(kind: str, key: str) -> dict[str, Any]:
    name = (
        "unexpected_keyword_argument" if kind == "dataclass-args" else "extra_forbidden"
    )
    error = known_error(name, (key,), None, {})
    # Its value has not come yet.
    del error["input"]
    return error
