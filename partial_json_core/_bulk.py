"""A whole text that is plain JSON, read by the standard library's C scanner.

This is a shortcut of `loads` and decides nothing: what it is not sure of, it leaves to
the parser. It takes a text only when that is one RFC 8259 document and nothing else,
with no duplicate key, within all limits; for such a text the parser would report
nothing and give the same value.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any, Final

from ._schema import Schema
from .errors import SchemaMismatchError
from .finish import FinishReason, RawFinishReason
from .limits import Limits

_SPACES: Final = " \t\n\r"
_run_of_numbers: Final = re.compile(r"[-+.0-9eE]*").match
_run_of_spaces: Final = re.compile(r"[ \t\n\r]*").match
_WINDOW: Final = 64


class _DoubtError(Exception):
    """The text needs the parser."""


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise _DoubtError
    return value


def _no_constant(name: str) -> float:
    raise _DoubtError(name)


_decode: Final = json.JSONDecoder(
    parse_float=_finite, parse_constant=_no_constant
).raw_decode


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
        value, end = _decode(stripped)
    except (ValueError, RecursionError, _DoubtError):
        return None, False
    if end != len(stripped) or not _is_sound(stripped, value, limits):
        return None, False
    try:
        return schema.validate(stripped, value), True
    except SchemaMismatchError:
        # The parser raises it again, with the report.
        return None, False


def _is_sound(text: str, value: Any, limits: Limits) -> bool:
    """Whether the depth is within the limit and no key stands twice.

    Each key has one colon, behind its quote or behind white space. If the text has no
    more of those than the tree has keys, then none was lost to a duplicate.
    """
    keys = 0
    level = [value]
    depth = 0
    while level:
        depth += 1
        if depth > limits.max_depth:
            return False
        below: list[Any] = []
        for container in level:
            if type(container) is dict:
                keys += len(container)
                below += [v for v in container.values() if type(v) in _CONTAINERS]
            else:
                below += [v for v in container if type(v) in _CONTAINERS]
        level = below
    colons = text.count('":') + sum(text.count(space + ":") for space in _SPACES)
    if colons != keys:
        return _count_keys(text) == keys
    # A lone surrogate is an error of ours, and the C scanner keeps it.
    return not _may_hold_surrogate(text)


_CONTAINERS: Final = frozenset({dict, list})
_key: Final = re.compile(r'"(?:[^"\\]|\\.)*"([ \t\n\r]*:)?', re.DOTALL).finditer


def _count_keys(text: str) -> int:
    if _may_hold_surrogate(text):
        return -1
    return sum(1 for found in _key(text) if found[1])


def _may_hold_surrogate(text: str) -> bool:
    return "\\ud" in text or "\\uD" in text


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
