"""A whole text that is plain JSON, read by pydantic's JSON reader.

This is a shortcut of `loads` and decides nothing: what it is not sure of, it leaves to
the parser. It takes a text only when that is one RFC 8259 document and nothing else,
with no duplicate key, within all limits; for such a text the parser would report
nothing and give the same value.
"""

from __future__ import annotations

import re
from math import isinf
from typing import Any, Final

from pydantic_core import from_json

from ._schema import Schema
from .errors import SchemaMismatchError
from .finish import FinishReason, RawFinishReason
from .limits import Limits

_SPACES: Final = " \t\n\r"
_run_of_numbers: Final = re.compile(r"[-+.0-9eE]*").match
_run_of_spaces: Final = re.compile(r"[ \t\n\r]*").match
_WINDOW: Final = 64


def read_plain(
    text: str, schema: Schema, limits: Limits, finish_reason: RawFinishReason
) -> tuple[Any, bool]:
    """Read a plain document.

    Returns:
        The final value and True, or None and False when the parser has to decide.
    """
    reason = FinishReason.parse(finish_reason)
    if not reason.is_normal or not 1 < len(text) <= limits.max_chars:
        return None, False
    stripped = text.strip(_SPACES)
    if stripped[:1] not in ("{", "[") or _has_long_run(text, limits):
        return None, False
    kind = "object" if stripped[0] == "{" else "array"
    if kind not in schema.kinds:
        return None, False
    try:
        # Half the time of json.loads; it refuses lone surrogates, as we do.
        value = from_json(stripped, allow_inf_nan=False)
    except ValueError:
        return None, False
    if not _is_sound(stripped, value, limits):
        return None, False
    try:
        return schema.validate(stripped, value), True
    except SchemaMismatchError:
        # The parser raises it again, with the report.
        return None, False


def _is_sound(text: str, value: Any, limits: Limits) -> bool:
    """Whether the depth is within the limit, no key stands twice, no float overflows.

    Each key has one colon. If the text has no more of those than the tree has keys,
    then none was lost to a duplicate.
    """
    keys = 0
    level = [value]
    for _ in range(limits.max_depth):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is dict:
                keys += len(item)
                below += [v for v in item.values() if type(v) in _LOOKED_AT]
            elif kind is list:
                below += [v for v in item if type(v) in _LOOKED_AT]
            elif isinf(item):
                return False
        if not below:
            return text.count(":") == keys or _count_keys(text) == keys
        level = below
    return False


_LOOKED_AT: Final = frozenset({dict, list, float})
_strings: Final = re.compile(r'"(?:[^"\\]|\\.)*"([ \t\n\r]*:)?').finditer


def _count_keys(text: str) -> int:
    return sum(1 for found in _strings(text) if found[1])


def _has_long_run(text: str, limits: Limits) -> bool:
    """Whether a number, white space or a repetition may go beyond its limit.

    A run longer than n covers a multiple of n, so only those places are looked at.
    """
    if limits.max_string_chars is not None and len(text) > limits.max_string_chars:
        return True
    for step, run in (
        (limits.max_whitespace_run, _run_of_spaces),
        (limits.max_number_chars, _run_of_numbers),
    ):
        # Half the step: a run that reaches both of two neighbours is long enough to
        # doubt, and a shorter one is within the limit.
        half = max(step // 2, 1)
        for pos in range(half, len(text), half):
            if run(text, pos).end() - pos >= half:  # type: ignore[union-attr]  # matches nothing too
                return True
    return _may_repeat(text, limits.max_repeat)


def _may_repeat(text: str, longest: int | None) -> bool:
    if longest is None or len(text) <= longest:
        return False
    half = max(longest // 2, 1)
    for pos in range(half, len(text), half):
        window = text[pos : pos + _WINDOW]
        if window[_WINDOW // 2 :] in text[pos : pos + _WINDOW - 1]:
            return True
    return False
