"""A whole text that is plain JSON, read by pydantic's JSON reader.

This is a shortcut of `loads` and decides nothing: what it is not sure of, it leaves to
the parser. It takes a text only when that is one RFC 8259 document and nothing else,
with no duplicate key, within all limits; for such a text the parser would report
nothing and give the same value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from math import isinf
from typing import Any, Final, TypeAlias

from pydantic_core import from_json

from ._schema import Schema
from .errors import SchemaMismatchError
from .finish import FinishReason, RawFinishReason
from .limits import Limits

_SPACES: Final = " \t\n\r"
# A run of more characters than n has so many places that are multiples of an eighth of
# n. A kind of run has two expressions: so many in a sample, and as many as there are.
_SAMPLES: Final = 8
Run: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]
_NUMBERS: Final = (
    re.compile(r"[-+.0-9eE]{8}").search,
    re.compile(r"[-+.0-9eE]*").match,
)
_BLANKS: Final = (
    re.compile(r"[ \t\n\r]{8}").search,
    re.compile(r"[ \t\n\r]*").match,
)
_LONGEST_PATTERN: Final = 32


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
    except (ValueError, TypeError):
        # A TypeError is a lone surrogate in the text itself.
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

    Brackets are counted as well: once that many containers are found, nothing below
    them needs a look.
    """
    structure = text.encode().translate(None, delete=_NOT_STRUCTURE)
    colons = structure.count(b":")
    commas = structure.count(b",")
    if _may_overflow(text, commas) and _has_infinity(value):
        return False
    keys = 0
    left = len(structure) - colons - commas
    level = [value]
    for _ in range(limits.max_depth):
        dicts = [item for item in level if type(item) is dict]
        lists: list[Any] = []
        if len(dicts) < len(level):
            lists = [item for item in level if type(item) is list]
        keys += sum(map(len, dicts))
        left -= len(level)
        if left:
            level = [item for item in _below(dicts, lists) if type(item) in _CONTAINERS]
        if not left or not level:
            return _has_keys(text, colons, keys)
    return False


_CONTAINERS: Final = frozenset({dict, list})
# Deleting all else and counting is twice as fast as counting four characters.
_NOT_STRUCTURE: Final = bytes(byte for byte in range(256) if byte not in b"{[:,")
_values: Final = dict.values


def _below(dicts: list[Any], lists: list[Any]) -> Iterator[Any]:
    """What stands in containers."""
    return chain(chain.from_iterable(map(_values, dicts)), chain.from_iterable(lists))


def _has_keys(text: str, colons: int, keys: int) -> bool:
    """Whether the text has no more keys than the tree: none was lost to a duplicate.

    Each key has one colon, and a quote before it. Strings may hold colons too, and more
    of them than there are keys is a doubt that the exact count resolves.
    """
    if colons == keys:
        return True
    if text.count('":') == keys and not _spaced_colon(text):
        return True
    return sum(1 for found in _strings(text) if found[1]) == keys


_spaced_colon: Final = re.compile(r'"[ \t\n\r]+:').search
_strings: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"([ \t\n\r]*:)?').finditer

# A float overflows with an exponent of three digits, or with three hundred digits.
_large_exponent: Final = re.compile(r"e\+?[0-9]{3}").search
_MOST_DIGITS: Final = 300
# So many characters are searched in the time in which one value is looked at.
_CHARS_A_VALUE: Final = 40


def _may_overflow(text: str, commas: int) -> bool:
    if commas * _CHARS_A_VALUE < len(text):
        return True
    if "E" in text and _large_exponent(text.replace("E", "e")):
        return True
    return bool(_large_exponent(text)) or _has_run(text, _NUMBERS, _MOST_DIGITS)


def _has_infinity(value: Any) -> bool:
    """Whether a float overflowed."""
    level = [value]
    while level:
        dicts = [item for item in level if type(item) is dict]
        lists = [item for item in level if type(item) is list]
        level = [item for item in _below(dicts, lists) if type(item) in _LOOKED_AT]
        if any(type(item) is float and isinf(item) for item in level):
            return True
        level = [item for item in level if type(item) is not float]
    return False


_LOOKED_AT: Final = frozenset({dict, list, float})


def _has_long_run(text: str, limits: Limits) -> bool:
    """Whether a number, white space or a repetition may go beyond its limit."""
    if limits.max_string_chars is not None and len(text) > limits.max_string_chars:
        return True
    for step, run in (
        (limits.max_whitespace_run, _BLANKS),
        (limits.max_number_chars, _NUMBERS),
    ):
        if _has_run(text, run, step):
            return True
    return _may_repeat(text, limits.max_repeat)


def _has_run(text: str, run: Run, longest: int) -> bool:
    """Whether a run may be longer than `longest` characters."""
    one_of, whole = run
    # Every so many characters are enough to rule nearly all texts out.
    stride = longest // _SAMPLES
    if stride and not one_of(text[::stride]):
        return False
    # Half of it: a run that reaches both of two neighbours is long enough to doubt,
    # and a shorter one is within the limit.
    half = max(longest // 2, 1)
    return any(
        whole(text, pos).end() - pos >= half for pos in range(half, len(text), half)
    )


def _may_repeat(text: str, longest: int | None) -> bool:
    """Whether a stretch may repeat one short pattern for too long."""
    if longest is None or len(text) <= longest:
        return False
    half = max(longest // 2, 1)
    # Such a stretch fills the space between two multiples of half its length.
    for pos in range(0, len(text) - half + 1, half):
        window = text[pos : pos + half]
        for period in range(1, min(_LONGEST_PATTERN, half - 1) + 1):
            if window.startswith(window[period : 2 * period]) and (
                window[period:] == window[:-period]
            ):
                return True
    return half == 1
