"""A whole text that is plain JSON, read by pydantic's JSON reader.

This is a shortcut of `loads` and decides nothing: what it is not sure of, it leaves to
the parser. It takes a text only when that is one RFC 8259 document and nothing else,
with no duplicate key, within all limits; for such a text the parser would report
nothing and give the same value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
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
    then none was lost to a duplicate. Brackets are counted as well: once that many
    containers are found, nothing below them needs a look.
    """
    if _may_overflow(text):
        return False
    keys = 0
    structure = text.encode().translate(None, delete=_NOT_STRUCTURE)
    colons = structure.count(b":")
    left = len(structure) - colons
    level = [value]
    for _ in range(limits.max_depth):
        dicts = [item for item in level if type(item) is dict]
        lists: list[Any] = []
        if len(dicts) < len(level):
            lists = [item for item in level if type(item) is list]
        keys += sum(map(len, dicts))
        left -= len(level)
        if left:
            below = chain(
                chain.from_iterable(map(_values, dicts)), chain.from_iterable(lists)
            )
            level = [item for item in below if type(item) in _CONTAINERS]
        if not left or not level:
            return colons == keys or _count_keys(text) == keys
    return False


_CONTAINERS: Final = frozenset({dict, list})
# Deleting all else and counting is twice as fast as counting three characters.
_NOT_STRUCTURE: Final = bytes(byte for byte in range(256) if byte not in b"{[:")
_values: Final = dict.values
# A float overflows with an exponent of three digits, or with three hundred digits.
_large_exponent: Final = re.compile(r"e\+?[0-9]{3}").search
_MOST_DIGITS: Final = 300


def _may_overflow(text: str) -> bool:
    if "E" in text and _large_exponent(text.replace("E", "e")):
        return True
    return bool(_large_exponent(text)) or _has_run(text, _NUMBERS, _MOST_DIGITS)


_strings: Final = re.compile(r'"(?:[^"\\]|\\.)*"([ \t\n\r]*:)?').finditer


def _count_keys(text: str) -> int:
    return sum(1 for found in _strings(text) if found[1])


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
    if longest is None or len(text) <= longest:
        return False
    half = max(longest // 2, 1)
    for pos in range(half, len(text), half):
        window = text[pos : pos + _WINDOW]
        if window[_WINDOW // 2 :] in text[pos : pos + _WINDOW - 1]:
            return True
    return False
