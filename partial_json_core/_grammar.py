"""The JSON grammar (RFC 8259) as tables: states, expressions, and their names.

Nothing here reads anything; `_tokens` and `_scanner` do.
"""

from __future__ import annotations

import re
from typing import Any, Final

VALUE: Final = 0
FIRST_ELEMENT: Final = 1
NEXT_ELEMENT: Final = 2
FIRST_KEY: Final = 3
NEXT_KEY: Final = 4
COLON: Final = 5
AFTER: Final = 6
FULL: Final = 7
NUMBER: Final = 8
NAME: Final = 9
COMMENT: Final = 10
KEY: Final = 11
STRING: Final = 12
DONE: Final = 13

# What a state waits for, as error sentences name it.
EXPECTED: Final = {
    VALUE: "a value",
    FIRST_ELEMENT: "a value or `]`",
    NEXT_ELEMENT: "a value",
    FIRST_KEY: "a key or `}`",
    NEXT_KEY: "a key",
    COLON: "`:`",
    FULL: "a value",
    NUMBER: "the rest of a number",
    NAME: "the rest of a key",
    COMMENT: "the end of a comment",
    KEY: "the rest of a key",
    STRING: "the rest of a string",
}
VALUE_STATES: Final = frozenset({VALUE, NEXT_ELEMENT, FULL, NUMBER, STRING})

# What a value begins with, literals aside.
VALUE_STARTS: Final = '"-0123456789{['
SPACES: Final = " \t\n\r"
# White space that is not JSON's: it carries no data between tokens.
UNUSUAL_SPACES: Final = (
    "\x0b\x0c\x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
spaces: Final = re.compile(r"[ \t\n\r]+").match
# Up to what needs a look; a surrogate in a Python string is half a character.
plain_run: Final = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*').match
single_quoted_run: Final = re.compile(r"[^'\"\\\x00-\x1f\ud800-\udfff]*").match
SURROGATES: Final = ("\ud800", "\udfff")
number: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?=[^-+.0-9eE])"
).match
name_part: Final = re.compile(r"[\w$]*").match
name_start: Final = re.compile(r"[^\W\d]|\$").match
hex_digits: Final = re.compile(r"[0-9a-fA-F]{1,4}").match
low_surrogate: Final = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}").match
low_surrogate_part: Final = re.compile(
    r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?"
).fullmatch

ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
LITERALS: Final[dict[str, tuple[str, Any]]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}
PYTHON_LITERALS: Final[dict[str, tuple[str, Any]]] = {
    "T": ("True", True),
    "F": ("False", False),
    "N": ("None", None),
}
JSON_SPELLING: Final = {"True": "true", "False": "false", "None": "null"}

# The number grammar by the character: what a part of a number may go on with.
DIGITS: Final = "0123456789"
MINUS, ZERO, INT, DOT, FRACTION, E, SIGN, EXPONENT = range(8)
NUMBER_NEXT: Final[tuple[dict[str, int], ...]] = (
    {"0": ZERO, **dict.fromkeys("123456789", INT)},
    {".": DOT, "e": E, "E": E},
    {**dict.fromkeys(DIGITS, INT), ".": DOT, "e": E, "E": E},
    dict.fromkeys(DIGITS, FRACTION),
    {**dict.fromkeys(DIGITS, FRACTION), "e": E, "E": E},
    {**dict.fromkeys(DIGITS, EXPONENT), "+": SIGN, "-": SIGN},
    dict.fromkeys(DIGITS, EXPONENT),
    dict.fromkeys(DIGITS, EXPONENT),
)
NUMBER_COMPLETE: Final = frozenset({ZERO, INT, FRACTION, EXPONENT})


def describe(char: str) -> str:
    if char == "`":
        return "a backtick"
    return f"`{char}`" if char.isprintable() else repr(char)
