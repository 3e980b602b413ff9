"""Likely reasons for a schema error: the wrong shapes that models are known for.

A hint is a guess for people. It changes no verdict and no value, and it names keys of
the schema or of the document, and no values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ._guard import Fields, Place
from .errors import shorten

_SCHEMA_WORDS: Final = frozenset({"$schema", "$defs", "$ref", "properties"})
_ENUM_ERRORS: Final = frozenset({"literal_error", "enum", "union_tag_invalid"})
_quoted: Final = re.compile(r"'([^']*)'").findall

SCHEMA_ECHO: Final = (
    "the model returned a JSON Schema instead of an instance of it: ask for the "
    "values, and show an example"
)
SEVERAL: Final = "for several answers, use a list of the type as the schema"
JSON_STRING: Final = (
    "the value was sent as a JSON string: annotate the field with pydantic's Json "
    "to accept that"
)
NULL_TEXT: Final = "the model wrote the text, and not JSON's null"
NO_DEFAULT: Final = (
    "the field may be null and yet has to be there: give it `= None` to let the model "
    "leave it out"
)


def find_hint(
    errors: Sequence[Mapping[str, Any]], root: Any, place: Place | None
) -> str:
    """Return a likely reason for a mismatch, or an empty string.

    Args:
        errors: What pydantic says.
        root: What has come of the document.
        place: What the schema says about the root.
    """
    first = errors[0] if errors else {}
    fields = place.object if place is not None else None
    known = fields.known if isinstance(fields, Fields) else frozenset()
    if isinstance(root, Mapping):
        if _SCHEMA_WORDS.intersection(root) - known or _is_schema_key(first, known):
            return SCHEMA_ECHO
        if wrapper := _wrapper(errors, root, known):
            return (
                f"the answer stands inside the key {shorten(wrapper)}: ask for its "
                f"fields at the top"
            )
    kind = first.get("type", "")
    value = first.get("input")
    if isinstance(value, str):
        if kind in _ENUM_ERRORS and (member := _other_case(first, value)):
            return f"the schema writes it {member!r}: mind the letter case"
        if value.strip()[:1] in ("[", "{") and kind.endswith(
            ("_type", "_attributes_type")
        ):
            return JSON_STRING
        if value in ("null", "None") and kind != "string_type":
            return NULL_TEXT
    if kind == "missing" and isinstance(fields, Fields):
        field = (
            fields.fields.get(str(first["loc"][-1])) if len(first["loc"]) == 1 else None
        )
        if field is not None and field.place is not None and field.place.is_nullable:
            return NO_DEFAULT
    return ""


def _is_schema_key(error: Mapping[str, Any], known: frozenset[str]) -> bool:
    """Whether an unknown key is one of JSON Schema's."""
    if error.get("type") != "extra_forbidden" or len(error["loc"]) != 1:
        return False
    return error["loc"][0] in _SCHEMA_WORDS - known


def _wrapper(
    errors: Sequence[Mapping[str, Any]], root: Mapping[str, Any], known: frozenset[str]
) -> str:
    """The only key of an object whose value has the fields that are missing."""
    if len(root) != 1 or not any(error.get("type") == "missing" for error in errors):
        return ""
    key, value = next(iter(root.items()))
    if key in known or not isinstance(value, Mapping) or not known.intersection(value):
        return ""
    return str(key)


def _other_case(error: Mapping[str, Any], value: str) -> str:
    context = error.get("ctx", {})
    expected = context.get("expected", context.get("expected_tags", ""))
    folded = value.casefold()
    for member in _quoted(str(expected)):
        if folded and member.casefold().startswith(folded):
            return str(member)
    return ""
