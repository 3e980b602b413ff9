r"""Characters to a tree: one JSON document (RFC 8259), in chunks of any size.

How the machine works. `Scanner.feed` gets the text from the first character of the root
on and consumes it once. Between two calls it keeps a state, a stack of open containers
(`_tree.Frame`) and, when a chunk ended inside an escape, a literal or before a
character that decides, those few characters (`_pending`; at most 12), which are put in
front of the next chunk. Nothing else is looked at twice.

    state           has read                    what may come next
    VALUE           ``:``, or nothing yet       a value
    FIRST_ELEMENT   ``[``                       a value or ``]``
    NEXT_ELEMENT    ``,`` in an array           a value; ``]`` is a fix
    FIRST_KEY       ``{``                       a key or ``}``
    NEXT_KEY        ``,`` in an object          a key; ``}`` is a fix
    COLON           a key                       ``:``
    AFTER           a value                     ``,`` or the closing bracket
    NUMBER          a part of a number          the rest, or any other character
    NAME            a part of an unquoted key   the rest, or any other character
    COMMENT         ``//`` or ``/*``            anything up to its end
    KEY             a part of a key             the rest of the string
    STRING          a part of a string value    the rest of the string
    DONE            the root                    nothing: the framing goes on

White space may come in every state above NUMBER, and comments where the policy permits.
A value settles at the character that delimits it: a string at its closing quote, a
literal at its last letter, a container at its bracket, a number before the character
after it.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any, Final, NoReturn

from ._tree import Frame, attach, detach, dict_set, list_append, unshare
from .errors import (
    DuplicateKeyError,
    LimitExceededError,
    MalformedOutputError,
    PartialOutputError,
)
from .events import Completed, Event, FieldSettled, FixApplied, TextDelta
from .fixes import Fix, FixKind, FixPolicy
from .limits import Limits
from .partial import UNSET, PartialDict, PartialList, PartialStr
from .paths import EVERYTHING, Path, PatternNode, Segment
from .report import ReportWarning, WarningKind

VALUE: Final = 0
FIRST_ELEMENT: Final = 1
NEXT_ELEMENT: Final = 2
FIRST_KEY: Final = 3
NEXT_KEY: Final = 4
COLON: Final = 5
AFTER: Final = 6
NUMBER: Final = 7
NAME: Final = 8
COMMENT: Final = 9
KEY: Final = 10
STRING: Final = 11
DONE: Final = 12

# What a state waits for, as error sentences name it.
_EXPECTED: Final = {
    VALUE: "a value",
    FIRST_ELEMENT: "a value or `]`",
    NEXT_ELEMENT: "a value",
    FIRST_KEY: "a key or `}`",
    NEXT_KEY: "a key",
    COLON: "`:`",
    NUMBER: "the rest of a number",
    NAME: "the rest of a key",
    COMMENT: "the end of a comment",
    KEY: "the rest of a key",
    STRING: "the rest of a string",
}
_VALUE_STATES: Final = frozenset({VALUE, NEXT_ELEMENT, NUMBER, STRING})

SPACES: Final = " \t\n\r"
# White space that is not JSON's: it carries no data between tokens.
UNUSUAL_SPACES: Final = (
    "\x0b\x0c\x85\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
_space: Final = re.compile(r"[ \t\n\r]+").match
_run: Final = re.compile(r'[^"\\\x00-\x1f]*').match
_single_run: Final = re.compile(r"[^'\"\\\x00-\x1f]*").match
# A string without escapes that ends in the chunk: the common case, in one match.
_simple_string: Final = re.compile(r'"([^"\\\x00-\x1f]*)"').match
_number: Final = re.compile(
    r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?=[^-+.0-9eE])"
).match
_name: Final = re.compile(r"[\w$]*").match
_name_start: Final = re.compile(r"[^\W\d]|\$").match
_hex: Final = re.compile(r"[0-9a-fA-F]{1,4}").match
_low_surrogate: Final = re.compile(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}").match
_low_surrogate_part: Final = re.compile(
    r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?"
).fullmatch

_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_LITERALS: Final[dict[str, tuple[str, Any]]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}
_PYTHON_LITERALS: Final[dict[str, tuple[str, Any]]] = {
    "T": ("True", True),
    "F": ("False", False),
    "N": ("None", None),
}
_JSON_SPELLING: Final = {"True": "true", "False": "false", "None": "null"}

# The number grammar by the character: what a part of a number may go on with.
_DIGITS: Final = "0123456789"
_MINUS, _ZERO, _INT, _DOT, _FRACTION, _E, _SIGN, _EXPONENT = range(8)
_NUMBER_NEXT: Final[tuple[dict[str, int], ...]] = (
    {"0": _ZERO, **dict.fromkeys("123456789", _INT)},
    {".": _DOT, "e": _E, "E": _E},
    {**dict.fromkeys(_DIGITS, _INT), ".": _DOT, "e": _E, "E": _E},
    dict.fromkeys(_DIGITS, _FRACTION),
    {**dict.fromkeys(_DIGITS, _FRACTION), "e": _E, "E": _E},
    {**dict.fromkeys(_DIGITS, _EXPONENT), "+": _SIGN, "-": _SIGN},
    dict.fromkeys(_DIGITS, _EXPONENT),
    dict.fromkeys(_DIGITS, _EXPONENT),
)
_NUMBER_COMPLETE: Final = frozenset({_ZERO, _INT, _FRACTION, _EXPONENT})

_LONGEST_PATTERN: Final = 32
# One str object per distinct key saves a third of the memory of many records; keys
# beyond this many are not worth remembering (they are data, not names).
_REMEMBERED_KEYS: Final = 512


class Scanner:
    """Reads one document.

    Attributes:
        changed: A snapshot would show more than the last one did.
        fixes: The fixes inside the root, in document order.
        warnings: The warnings inside the root.
        settled_at: Offsets at which the fields of a root object settled.
        settled_count: Values that have settled.
        root: The root value once it has settled.
    """

    __slots__ = (
        "_base",
        "_blank",
        "_check_at",
        "_comma",
        "_comment",
        "_exposed",
        "_first_check",
        "_frames",
        "_keys",
        "_limits",
        "_literals",
        "_node",
        "_pending",
        "_phase",
        "_policy",
        "_quote",
        "_resume",
        "_shown",
        "_state",
        "_string_start",
        "_suspect",
        "_text",
        "_watch",
        "changed",
        "fixes",
        "root",
        "settled_at",
        "settled_count",
        "warnings",
    )

    def __init__(
        self,
        policy: FixPolicy,
        limits: Limits,
        watch: PatternNode | None = EVERYTHING,
        node: Any = None,
    ) -> None:
        self._policy = policy
        self._limits = limits
        self._watch = watch
        self._node = node
        self._state = VALUE
        self._frames: list[Frame] = []
        self._pending = ""
        self._base = 0
        self._blank = 0
        self._comma = -1
        self._text = ""
        self._quote = '"'
        self._shown = 0
        self._string_start = 0
        self._suspect: tuple[int, int] | None = None
        self._phase = _MINUS
        self._resume = VALUE
        self._comment: list[str] = []
        self._exposed = False
        self._keys: dict[str, str] = {}
        self._literals = (
            {**_LITERALS, **_PYTHON_LITERALS}
            if policy.permits(FixKind.PYTHON_LITERAL)
            else _LITERALS
        )
        self._first_check = min(
            limits.max_repeat or (1 << 62), (limits.max_string_chars or (1 << 62)) + 1
        )
        self._check_at = self._first_check
        self.changed = False
        self.fixes: list[Fix] = []
        self.warnings: list[ReportWarning] = []
        self.settled_at: dict[str, int] = {}
        self.settled_count = 0
        self.root: Any = UNSET

    # ------------------------------------------------------------------ reading

    def feed(  # noqa: C901, PLR0912, PLR0915 - the hot loop, see the comment
        self, chunk: str, base: int, events: list[Event]
    ) -> int:
        """Read a chunk, and append to `events` what it caused.

        Args:
            chunk: Text that follows what was fed before.
            base: The offset of its first character in the stream.
            events: The list to append to.

        Returns:
            -1 while the root is open; when it has closed, how many characters of
            `chunk` belong to it.
        """
        state = self._state
        frames = self._frames
        if self._exposed:
            self._exposed = False
            if frames:
                unshare(frames)
                if state == STRING:
                    detach(frames[-1])
        held = 0
        if self._pending:
            held = len(self._pending)
            chunk = self._pending + chunk
            base -= held
            self._pending = ""
        self._base = base
        # One loop over the tokens, with what is common inline and what is rare in a
        # method. Measured on CPython 3.11: a method for each kind of token costs 30 %
        # more a chunk, attributes in place of these locals 20 %.
        frame = frames[-1] if frames else None
        blank = self._blank
        pos = 0
        end = len(chunk)
        while pos < end:
            if state >= KEY:
                if state == DONE:
                    break
                if state == STRING and pos == 0:
                    # Most chunks lie within one string.
                    run = _run if self._quote == '"' else _single_run
                    if run(chunk).end() == end:  # type: ignore[union-attr]  # matches nothing too
                        text = self._text
                        if len(text) + end < self._check_at:
                            self._text = ""
                            text += chunk
                            self._text = text
                            self.changed = True
                            self._shown = len(text)
                            if frame is None:
                                self._show_root(chunk, events)
                            elif frame.watch is not None:
                                self._show(frame, chunk, events)
                            return -1
                self._state = state
                try:
                    pos = self._read_string(chunk, pos, events)
                finally:
                    # Also when it failed: what was read before is an event too.
                    if state == STRING:
                        self._flush_text(events)
                if self._quote:
                    break
                if state == KEY:
                    self._take_key(frame, self._text, self._string_start)
                    self._text = ""
                    state = COLON
                    continue
                value: Any = self._text
                self._text = ""
                self._end_string(value)
                state = AFTER
            else:
                char = chunk[pos]
                if char in SPACES:
                    if state < NUMBER:
                        stop = pos + 1
                        if stop < end and chunk[stop] in SPACES:
                            stop = _space(chunk, stop).end()  # type: ignore[union-attr]  # it begins with white space
                        blank += stop - pos
                        if blank > self._limits.max_whitespace_run:
                            self._state = state
                            self._limit(
                                "max_whitespace_run",
                                base + stop - blank + self._limits.max_whitespace_run,
                            )
                        pos = stop
                        continue
                blank = 0
                if state == AFTER:
                    if char == ",":
                        self._comma = base + pos
                        state = NEXT_KEY if frame.is_object else NEXT_ELEMENT  # type: ignore[union-attr]  # AFTER has a frame
                        pos += 1
                        continue
                    if char == frame.close:  # type: ignore[union-attr]  # as above
                        pos += 1
                        state = self._close_container(base + pos, events)
                        frame = frames[-1] if frames else None
                        continue
                    state, pos = self._other(chunk, pos, state, events)
                    continue
                if state <= NEXT_ELEMENT:
                    if char == '"':
                        found = _simple_string(chunk, pos)
                        if found is None or found.end() - pos > self._first_check:
                            self._open_string(base + pos, STRING)
                            state = STRING
                            pos += 1
                            continue
                        value = found[1]
                        pos = found.end()
                        if not value:
                            pass
                        elif frame is None:
                            self._show_root(value, events)
                        elif frame.watch is not None:
                            self._show(frame, value, events)
                    elif char in "-0123456789":
                        found = _number(chunk, pos)
                        if found is None or found.end() - pos > (
                            self._limits.max_number_chars
                        ):
                            self._string_start = base + pos
                            self._text = char
                            self._phase = (
                                _MINUS if char == "-" else _ZERO if char == "0" else _INT
                            )
                            state = NUMBER
                            pos += 1
                            continue
                        pos = found.end()
                        digits = found[0]
                        if found[1] is None and found[2] is None:
                            value = int(digits)
                        else:
                            self._state = VALUE
                            value = self._float(digits, base + pos - len(digits))
                    elif char == "{" or char == "[":
                        self._state = state
                        state = self._open_container(char, base + pos)
                        frame = frames[-1]
                        pos += 1
                        continue
                    elif char in self._literals:
                        self._state = state
                        literal, value = self._literals[char]
                        if not chunk.startswith(literal, pos):
                            self._part_of_literal(chunk, pos, literal)
                            break
                        if char in _PYTHON_LITERALS:
                            self._fix(
                                FixKind.PYTHON_LITERAL,
                                base + pos,
                                literal,
                                _JSON_SPELLING[literal],
                                events,
                            )
                        pos += len(literal)
                    elif char == "]" and state != VALUE:
                        if state == NEXT_ELEMENT:
                            self._state = state
                            self._trailing_comma(char, base + pos, events)
                        pos += 1
                        state = self._close_container(base + pos, events)
                        frame = frames[-1] if frames else None
                        continue
                    else:
                        state, pos = self._other(chunk, pos, state, events)
                        continue
                    state = AFTER
                elif state == COLON:
                    if char == ":":
                        state = VALUE
                        pos += 1
                    else:
                        state, pos = self._other(chunk, pos, state, events)
                    continue
                elif state <= NEXT_KEY:
                    if char == '"':
                        found = _simple_string(chunk, pos)
                        if found is None or found.end() - pos > self._first_check:
                            self._open_string(base + pos, KEY)
                            state = KEY
                            pos += 1
                            continue
                        self._take_key(frame, found[1], base + pos)
                        pos = found.end()
                        state = COLON
                    elif char == "}":
                        if state == NEXT_KEY:
                            self._state = state
                            self._trailing_comma(char, base + pos, events)
                        pos += 1
                        state = self._close_container(base + pos, events)
                        frame = frames[-1] if frames else None
                    else:
                        state, pos = self._other(chunk, pos, state, events)
                    continue
                elif state == NUMBER:
                    pos = self._read_number(chunk, pos)
                    if pos == end:
                        break
                    self._state = state
                    value = self._end_number()
                    state = AFTER
                else:
                    state, pos = self._other(chunk, pos, state, events)
                    continue
            # A scalar has settled.
            self.changed = True
            self.settled_count += 1
            offset = base + pos
            if frame is None:
                state = self._settle_root(value, offset, events)
                break
            if frame.is_object:
                segment = frame.segment
                dict_set(frame.container, segment, value)
                if len(frames) == 1:
                    self.settled_at[segment] = offset  # type: ignore[index]  # an object's segment is a str
            else:
                segment = len(frame.container)
                list_append(frame.container, value)
            watch = frame.watch
            if watch is not None:
                if watch is EVERYTHING:
                    events.append(FieldSettled((*frame.path, segment), value, offset))
                else:
                    self._settled_event(frame, segment, value, offset, events)
        self._state = state
        self._blank = blank
        return pos - held if state == DONE else -1

    def _other(
        self, chunk: str, pos: int, state: int, events: list[Event]
    ) -> tuple[int, int]:
        """Read what is not plain JSON: comments, odd white space, opt-in fixes."""
        char = chunk[pos]
        offset = self._base + pos
        self._state = state
        if state == COMMENT:
            return self._read_comment(chunk, pos, events)
        if state == NAME:
            return self._read_name(chunk, pos, events)
        if char in UNUSUAL_SPACES and self._policy.permits(FixKind.UNUSUAL_WHITESPACE):
            self._fix(FixKind.UNUSUAL_WHITESPACE, offset, char, " ", events)
            return state, pos + 1
        if char == "/" and self._policy.permits(FixKind.COMMENT):
            return self._open_comment(chunk, pos)
        if state in (FIRST_KEY, NEXT_KEY):
            if char == "'" and self._policy.permits(FixKind.SINGLE_QUOTED_STRING):
                self._open_single(offset, KEY, events)
                return KEY, pos + 1
            if _name_start(char) and self._policy.permits(FixKind.UNQUOTED_KEY):
                self._string_start = offset
                self._text = ""
                return self._read_name(chunk, pos, events)
        if (
            state <= NEXT_ELEMENT
            and char == "'"
            and self._policy.permits(FixKind.SINGLE_QUOTED_STRING)
        ):
            self._open_single(offset, STRING, events)
            return STRING, pos + 1
        self._unexpected(char, offset)

    # ------------------------------------------------------------------ strings

    def _open_string(self, offset: int, state: int) -> None:
        self._string_start = offset
        self._quote = '"'
        self._text = ""
        self._shown = 0
        self._suspect = None
        self._check_at = self._first_check
        if state == STRING and self._frames:
            self.changed = True
            frame = self._frames[-1]
            if not frame.is_object:
                frame.segment = len(frame.container)

    def _open_single(self, offset: int, state: int, events: list[Event]) -> None:
        self._open_string(offset, state)
        self._quote = "'"
        self._fix(FixKind.SINGLE_QUOTED_STRING, offset, "'", '"', events)

    def _read_string(self, chunk: str, pos: int, events: list[Event]) -> int:
        """Read to the closing quote (then `_quote` is empty) or to the chunk's end."""
        # The local is the only reference to the text, so that it grows in place.
        text = self._text
        self._text = ""
        run = _run if self._quote == '"' else _single_run
        end = len(chunk)
        while True:
            stop = run(chunk, pos).end()  # type: ignore[union-attr]  # matches nothing too
            while len(text) + stop - pos >= self._check_at:
                cut = pos + self._check_at - len(text)
                text += chunk[pos:cut]
                pos = cut
                self._text = text
                self._check_length(text, self._base + pos)
                self._text = ""
            text += chunk[pos:stop]
            if stop == end:
                self._text = text
                return end
            char = chunk[stop]
            if char == self._quote:
                self._text = text
                if char == "'":
                    self._fix_quote(self._base + stop, events)
                self._quote = ""
                return stop + 1
            self._text = text
            if char == "\\":
                decoded, pos = self._escape(chunk, stop, events)
                if pos < 0:
                    self._pending = chunk[stop:]
                    return end
                if decoded in "\b\f" and self._suspect is None:
                    self._suspect = (len(text), self._base + stop)
            else:
                self._raw_character(char, self._base + stop, events)
                decoded, pos = char, stop + 1
            self._text = ""
            text += decoded
            if len(text) >= self._check_at:
                self._text = text
                self._check_length(text, self._base + pos)
                self._text = ""

    def _escape(self, chunk: str, pos: int, events: list[Event]) -> tuple[str, int]:
        """Decode the escape at `pos`; the position is -1 when it is not whole yet."""
        if pos + 1 == len(chunk):
            return "", -1
        char = chunk[pos + 1]
        if char in _ESCAPES:
            return _ESCAPES[char], pos + 2
        if char == "'" and self._quote == "'":
            self._fix(
                FixKind.SINGLE_QUOTED_STRING, self._base + pos, "\\'", "'", events
            )
            return "'", pos + 2
        if char != "u":
            self._bad_escape(pos, f"the escape {chunk[pos : pos + 2]!r}")
        digits = _hex(chunk, pos + 2)
        length = len(digits[0]) if digits else 0
        if length < 4:  # noqa: PLR2004 - RFC 8259 section 7: four hex digits
            if pos + 2 + length < len(chunk):
                self._bad_escape(pos, r"a `\u` escape without four hex digits")
            return "", -1
        code = int(chunk[pos + 2 : pos + 6], 16)
        if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - the surrogates
            return self._surrogate_pair(chunk, pos, code)
        return chr(code), pos + 6

    def _surrogate_pair(self, chunk: str, pos: int, high: int) -> tuple[str, int]:
        following = chunk[pos + 6 : pos + 12]
        if high <= 0xDBFF:  # noqa: PLR2004 - a high surrogate
            if _low_surrogate(following):
                low = int(following[2:], 16)
                code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                return chr(code), pos + 12
            if _low_surrogate_part(following):
                return "", -1
        self._bad_escape(pos, "a lone surrogate")

    def _bad_escape(self, pos: int, found: str) -> NoReturn:
        self._fail(
            MalformedOutputError(
                expected="an escape of RFC 8259", found=found, offset=self._base + pos
            )
        )

    def _raw_character(self, char: str, offset: int, events: list[Event]) -> None:
        """A control character, or a double quote in a single-quoted string."""
        escaped = json.dumps(char)[1:-1]
        if char == '"':
            self._fix(FixKind.SINGLE_QUOTED_STRING, offset, char, escaped, events)
            return
        if not self._policy.permits(FixKind.RAW_CONTROL_CHARACTER):
            self._fail(
                MalformedOutputError(
                    expected="an escaped character",
                    found=f"the control character {char!r}",
                    offset=offset,
                    available_fix=FixKind.RAW_CONTROL_CHARACTER,
                )
            )
        self._fix(FixKind.RAW_CONTROL_CHARACTER, offset, char, escaped, events)

    def _fix_quote(self, offset: int, events: list[Event]) -> None:
        self._fix(FixKind.SINGLE_QUOTED_STRING, offset, "'", '"', events)

    def _check_length(self, text: str, offset: int) -> None:
        length = len(text)
        longest = self._limits.max_string_chars
        if longest is not None and length > longest:
            self._limit("max_string_chars", offset - 1)
        repeat = self._limits.max_repeat
        if repeat is not None and length >= repeat and length % repeat == 0:
            tail = text[-repeat:]
            for period in range(1, min(_LONGEST_PATTERN, repeat - 1) + 1):
                if tail.endswith(tail[:period]) and tail[period:] == tail[:-period]:
                    self._limit("max_repeat", offset - 1)
        step = repeat or (1 << 62)
        self._check_at = (length // step + 1) * step
        if longest is not None:
            self._check_at = min(self._check_at, longest + 1)

    def _flush_text(self, events: list[Event]) -> None:
        """Report the characters of an open string value that were not yet."""
        text = self._text[self._shown :] if self._shown else self._text
        if not text:
            return
        self.changed = True
        self._shown += len(text)
        frame = self._frames[-1] if self._frames else None
        if frame is None:
            self._show_root(text, events)
        elif frame.watch is not None:
            self._show(frame, text, events)

    def _show_root(self, text: str, events: list[Event]) -> None:
        if self._watch is not None and self._watch.selected:
            events.append(TextDelta((), text))

    def _show(self, frame: Frame, text: str, events: list[Event]) -> None:
        segment = frame.segment if frame.is_object else len(frame.container)
        watch = frame.watch
        if watch is not EVERYTHING:
            watch = watch.child(segment)  # type: ignore[union-attr]  # the caller looked
        if watch is not None and watch.selected:
            events.append(TextDelta((*frame.path, segment), text))

    def _end_string(self, text: str) -> None:
        """Warn of an escape that is more likely a path or LaTeX (it is legal)."""
        if self._suspect is None:
            return
        index, offset = self._suspect
        self._suspect = None
        following = text[index + 1 : index + 2]
        if following.isascii() and following.isalpha():
            self.warnings.append(
                ReportWarning(
                    WarningKind.CONTROL_ESCAPE,
                    self.path(),
                    offset,
                    r"`\b` or `\f` before a letter is a control character",
                )
            )

    # --------------------------------------------------------------------- keys

    def _take_key(self, frame: Frame | None, key: str, offset: int) -> None:
        assert frame is not None  # noqa: S101 - keys stand in objects
        keys = self._keys
        if key in keys:
            key = keys[key]
        elif len(keys) < _REMEMBERED_KEYS:
            keys[key] = key
        frame.segment = key
        if key in frame.container:
            self._state = VALUE
            self._fail(DuplicateKeyError(key=key, offset=offset))

    def _read_name(
        self, chunk: str, pos: int, events: list[Event]
    ) -> tuple[int, int]:
        stop = _name(chunk, pos).end()  # type: ignore[union-attr]  # matches nothing too
        self._text += chunk[pos:stop]
        if stop == len(chunk):
            return NAME, stop
        name = self._text
        self._fix(
            FixKind.UNQUOTED_KEY, self._string_start, name, json.dumps(name), events
        )
        self._take_key(self._frames[-1], name, self._string_start)
        self._text = ""
        return COLON, stop

    # ------------------------------------------------------ numbers and literals

    def _read_number(self, chunk: str, pos: int) -> int:
        phase = self._phase
        stop = pos
        end = len(chunk)
        while stop < end:
            following = _NUMBER_NEXT[phase].get(chunk[stop])
            if following is None:
                break
            phase = following
            stop += 1
        self._phase = phase
        longest = self._limits.max_number_chars
        if len(self._text) + stop - pos > longest:
            self._state = NUMBER
            self._limit("max_number_chars", self._string_start + longest)
        self._text += chunk[pos:stop]
        if stop < end and phase not in _NUMBER_COMPLETE:
            self._state = NUMBER
            self._unexpected(chunk[stop], self._base + stop)
        return stop

    def _end_number(self) -> Any:
        digits = self._text
        self._text = ""
        if digits.lstrip("-").isdigit():
            return int(digits)
        return self._float(digits, self._string_start)

    def _float(self, digits: str, offset: int) -> float:
        value = float(digits)
        if isinf(value):
            self._fail(
                MalformedOutputError(
                    expected="a number that a float can hold",
                    found="one that overflows to infinity",
                    offset=offset,
                )
            )
        return value

    def _part_of_literal(self, chunk: str, pos: int, literal: str) -> None:
        """Keep a part of a literal at the chunk's end, or fail at what is no part."""
        for index, char in enumerate(chunk[pos : pos + len(literal)]):
            if char != literal[index]:
                if self._state <= NEXT_ELEMENT:
                    self._state = VALUE
                self._fail(
                    MalformedOutputError(
                        expected=f"`{literal}`",
                        found=_describe(chunk[pos + index]),
                        offset=self._base + pos + index,
                        available_fix=None,
                    )
                )
        self._pending = chunk[pos:]

    # --------------------------------------------------------------- containers

    def _open_container(self, char: str, offset: int) -> int:
        frames = self._frames
        if len(frames) >= self._limits.max_depth:
            self._limit("max_depth", offset)
        container = PartialDict() if char == "{" else PartialList()
        path: Path = ()
        watch = self._watch
        node = self._node
        if frames:
            parent = frames[-1]
            watch = parent.watch
            node = parent.node
            if not parent.is_object:
                parent.segment = len(parent.container)
                list_append(parent.container, container)
            else:
                dict_set(parent.container, parent.segment, container)  # type: ignore[arg-type]  # an object's segment is a str
            if watch is not None:
                path = (*parent.path, parent.segment)
                watch = watch.child(parent.segment)
            if node is not None:
                node = node.child(parent.segment)
        frames.append(Frame(container, path, watch, node))
        self.changed = True
        return FIRST_KEY if char == "{" else FIRST_ELEMENT

    def _close_container(self, offset: int, events: list[Event]) -> int:
        frame = self._frames.pop()
        container = frame.container
        container.is_open = False
        self.changed = True
        self.settled_count += 1
        if frame.watch is not None and frame.watch.selected:
            events.append(FieldSettled(frame.path, container, offset))
        if not self._frames:
            self.root = container
            events.append(Completed(offset))
            return DONE
        if len(self._frames) == 1 and self._frames[0].is_object:
            self.settled_at[self._frames[0].segment] = offset  # type: ignore[index]  # an object's segment is a str
        return AFTER

    def _settle_root(self, value: Any, offset: int, events: list[Event]) -> int:
        self.root = value
        if self._watch is not None and self._watch.selected:
            events.append(FieldSettled((), value, offset))
        events.append(Completed(offset))
        return DONE

    def _settled_event(
        self,
        frame: Frame,
        segment: Segment,
        value: Any,
        offset: int,
        events: list[Event],
    ) -> None:
        watch = frame.watch.child(segment)  # type: ignore[union-attr]  # the caller looked
        if watch is not None and watch.selected:
            events.append(FieldSettled((*frame.path, segment), value, offset))

    def _trailing_comma(self, char: str, offset: int, events: list[Event]) -> None:
        if not self._policy.permits(FixKind.TRAILING_COMMA):
            self._fail(
                MalformedOutputError(
                    expected=_EXPECTED[self._state],
                    found=f"{_describe(char)} after a comma",
                    offset=offset,
                    available_fix=FixKind.TRAILING_COMMA,
                )
            )
        self._fix(FixKind.TRAILING_COMMA, self._comma, ",", "", events)

    # ----------------------------------------------------------------- comments

    def _open_comment(self, chunk: str, pos: int) -> tuple[int, int]:
        opener = chunk[pos : pos + 2]
        if opener == "/":
            self._pending = opener
            return self._state, len(chunk)
        if opener not in ("//", "/*"):
            self._unexpected("/", self._base + pos)
        self._resume = self._state
        self._comment = [opener]
        self._string_start = self._base + pos
        return COMMENT, pos + 2

    def _read_comment(
        self, chunk: str, pos: int, events: list[Event]
    ) -> tuple[int, int]:
        is_line = self._comment[0] == "//"
        stop = chunk.find("\n" if is_line else "*/", pos)
        if stop < 0:
            # A `*` at the end may be half of the closing `*/`.
            keep = 1 if not is_line and chunk.endswith("*") else 0
            self._comment.append(chunk[pos : len(chunk) - keep])
            self._pending = chunk[len(chunk) - keep :]
            return COMMENT, len(chunk)
        if not is_line:
            stop += 2
        self._comment.append(chunk[pos:stop])
        removed = "".join(self._comment)
        self._fix(FixKind.COMMENT, self._string_start, removed, " ", events)
        self._comment = []
        return self._resume, stop

    # ------------------------------------------------------------------- errors

    def _fix(
        self,
        kind: FixKind,
        offset: int,
        removed: str,
        inserted: str,
        events: list[Event],
    ) -> None:
        if self._state == STRING:
            self._flush_text(events)
        fix = Fix(kind, offset, removed, inserted)
        self.fixes.append(fix)
        events.append(FixApplied(fix))

    def _unexpected(self, char: str, offset: int) -> NoReturn:
        self._fail(
            MalformedOutputError(
                expected=self.expected(),
                found=_describe(char),
                offset=offset,
                available_fix=self._available_fix(char),
            )
        )

    def _available_fix(self, char: str) -> FixKind | None:
        state = self._state
        kind: FixKind | None = None
        if state >= NUMBER:
            return None
        if char == "/":
            kind = FixKind.COMMENT
        elif char in UNUSUAL_SPACES:
            kind = FixKind.UNUSUAL_WHITESPACE
        elif char == "'" and state != COLON and state != AFTER:
            kind = FixKind.SINGLE_QUOTED_STRING
        elif state in (FIRST_KEY, NEXT_KEY) and _name_start(char):
            kind = FixKind.UNQUOTED_KEY
        elif state <= NEXT_ELEMENT and char in _PYTHON_LITERALS:
            kind = FixKind.PYTHON_LITERAL
        return None if kind is None or self._policy.permits(kind) else kind

    def _limit(self, name: str, offset: int) -> NoReturn:
        """Fail for the character at `offset`, which has been read."""
        self._fail(
            LimitExceededError(
                limit=name, maximum=getattr(self._limits, name), offset=offset + 1
            )
        )

    def _fail(self, err: PartialOutputError) -> NoReturn:
        err.path = self.path()
        raise err

    # -------------------------------------------------------------------- views

    @property
    def is_done(self) -> bool:
        """Whether the root has closed."""
        return self._state == DONE

    @property
    def is_bare_number(self) -> bool:
        """Whether the root is a number that only the end of the text delimits."""
        return (
            self._state == NUMBER
            and not self._frames
            and self._phase in _NUMBER_COMPLETE
        )

    def end_bare_number(self) -> None:
        """Settle a root number at the end of the text."""
        value = self._end_number()
        self.settled_count += 1
        self._state = self._settle_root(value, 0, [])

    def path(self) -> Path:
        """The innermost open path."""
        state = self._resume if self._state == COMMENT else self._state
        frames = self._frames
        if not frames:
            return ()
        segments = [frame.segment for frame in frames[:-1]]
        if state in _VALUE_STATES or self._is_in_literal():
            last = frames[-1]
            segments.append(last.segment if last.is_object else len(last.container))
        return tuple(segments)

    def _is_in_literal(self) -> bool:
        return self._state <= NEXT_ELEMENT and self._pending[:1].isalpha()

    def expected(self) -> str:
        """What would come next, in words."""
        state = self._resume if self._state == COMMENT else self._state
        if self._state == COMMENT:
            return _EXPECTED[COMMENT]
        if self._is_in_literal():
            return "the rest of a literal"
        if state in (KEY, STRING) and self._pending:
            return "the rest of an escape"
        if state == AFTER and self._frames:
            return f"`,` or `{self._frames[-1].close}`"
        return _EXPECTED.get(state, "nothing")

    def snapshot(self) -> Any:
        """Return what there is; see `_tree` for how it stays as it is."""
        self.changed = False
        if self.root is not UNSET:
            if isinstance(self.root, str):
                return PartialStr(self.root, is_open=False)
            return self.root
        if not self._frames:
            return PartialStr(self._text) if self._state == STRING else UNSET
        if self._state == STRING and not self._exposed:
            attach(self._frames[-1], self._text)
        self._exposed = True
        return self._frames[0].container

    def open_frames(self) -> list[Frame]:
        """The stack of open containers, root first, without an open string."""
        if self._exposed:
            self._exposed = False
            if self._frames:
                unshare(self._frames)
                detach(self._frames[-1])
        return self._frames


def _describe(char: str) -> str:
    if char == "`":
        return "a backtick"
    return f"`{char}`" if char.isprintable() else repr(char)
