"""Tokens that one look does not settle: what a chunk cut, and what is rare.

`TokenReader` holds the state of one document between two chunks, and reads strings with
escapes, numbers and literals that a chunk cut, comments and opt-in fixes. The scanner,
which reads structure and whole tokens, is built on it.
"""

from __future__ import annotations

import json
from math import isinf
from typing import Any, Final, NoReturn

from ._grammar import (
    AFTER,
    COLON,
    COMMENT,
    ESCAPES,
    EXPECTED,
    FIRST_KEY,
    KEY,
    LITERALS,
    MINUS,
    NAME,
    NEXT_ELEMENT,
    NEXT_KEY,
    NUMBER,
    NUMBER_COMPLETE,
    NUMBER_NEXT,
    PYTHON_LITERALS,
    STRING,
    SURROGATES,
    UNUSUAL_SPACES,
    VALUE,
    VALUE_STATES,
    describe,
    hex_digits,
    low_surrogate,
    low_surrogate_part,
    name_part,
    name_start,
    plain_run,
    single_quoted_run,
)
from ._guard import Place, Rule
from ._judging import Judging
from ._tree import Frame
from .errors import (
    DuplicateKeyError,
    LimitExceededError,
    MalformedOutputError,
    PartialOutputError,
)
from .events import Event, FixApplied, TextDelta
from .fixes import Fix, FixKind, FixPolicy
from .limits import Limits
from .partial import UNSET
from .paths import EVERYTHING, Path, PatternNode
from .report import ReportWarning, WarningKind

_LONGEST_PATTERN: Final = 32
# One str object per distinct key saves a third of the memory of many records; keys
# beyond this many are not worth remembering (they are data, not names).
_REMEMBERED_KEYS: Final = 512
_UNLIMITED: Final = 1 << 62


class TokenReader(Judging):
    """Reads the parts of one document.

    Attributes:
        changed: A snapshot would show more than the last one did.
        fixes: The fixes inside the root, in document order.
        warnings: The warnings inside the root.
        settled_at: Offsets at which the fields of a root object settled.
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
        "_max_blank",
        "_max_number",
        "_pending",
        "_phase",
        "_place",
        "_policy",
        "_quote",
        "_resume",
        "_rule",
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
        "warnings",
    )

    def __init__(
        self,
        policy: FixPolicy,
        limits: Limits,
        watch: PatternNode | None = EVERYTHING,
        place: Place | None = None,
    ) -> None:
        self._policy = policy
        self._limits = limits
        self._watch = watch
        self._place = place
        self._rule: Rule | None = None
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
        self._phase = MINUS
        self._resume = VALUE
        self._comment: list[str] = []
        self._exposed = False
        self._keys: dict[str, str] = {}
        self._literals = (
            {**LITERALS, **PYTHON_LITERALS}
            if policy.permits(FixKind.PYTHON_LITERAL)
            else LITERALS
        )
        self._first_check = min(
            limits.max_repeat or _UNLIMITED, (limits.max_string_chars or _UNLIMITED) + 1
        )
        self._check_at = self._first_check
        self._max_blank = limits.max_whitespace_run
        self._max_number = limits.max_number_chars
        self.changed = False
        self.fixes: list[Fix] = []
        self.warnings: list[ReportWarning] = []
        self.settled_at: dict[str, int] = {}
        self.root: Any = UNSET

    # ------------------------------------------------------------------ strings

    def _open_string(self, offset: int, state: int) -> None:
        self._string_start = offset
        self._quote = '"'
        self._text = ""
        self._shown = 0
        self._suspect = None
        self._check_at = self._first_check
        self._rule = None
        if state == STRING and self._frames:
            self.changed = True
            frame = self._frames[-1]
            if not frame.is_object:
                frame.segment = len(frame.container)
            if frame.child is not None and frame.child.rule is not None:
                self._rule = frame.child.rule
                self._check_at = min(self._check_at, self._rule.next_check(0))

    def _open_single(self, offset: int, state: int, events: list[Event]) -> None:
        self._open_string(offset, state)
        self._quote = "'"
        self._fix(FixKind.SINGLE_QUOTED_STRING, offset, "'", '"', events)

    def _read_string(self, chunk: str, pos: int, events: list[Event]) -> int:
        """Read to the closing quote (then `_quote` is empty) or to the chunk's end."""
        # The local is the only reference to the text, so that it grows in place.
        text = self._text
        self._text = ""
        run = plain_run if self._quote == '"' else single_quoted_run
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
        if char in ESCAPES:
            return ESCAPES[char], pos + 2
        if char == "'" and self._quote == "'":
            self._fix(
                FixKind.SINGLE_QUOTED_STRING, self._base + pos, "\\'", "'", events
            )
            return "'", pos + 2
        if char != "u":
            self._bad_escape(pos, f"the escape {chunk[pos : pos + 2]!r}")
        digits = hex_digits(chunk, pos + 2)
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
            if low_surrogate(following):
                low = int(following[2:6], 16)
                code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
                return chr(code), pos + 12
            if low_surrogate_part(following):
                return "", -1
        return self._bad_escape(pos, "a lone surrogate")

    def _bad_escape(self, pos: int, found: str) -> NoReturn:
        self._fail(
            MalformedOutputError(
                expected="an escape of RFC 8259", found=found, offset=self._base + pos
            )
        )

    def _raw_character(self, char: str, offset: int, events: list[Event]) -> None:
        """A control character, or a double quote in a single-quoted string."""
        if SURROGATES[0] <= char <= SURROGATES[1]:
            self._fail(
                MalformedOutputError(
                    expected="a whole character",
                    found="a lone surrogate",
                    offset=offset,
                )
            )
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
        if self._rule is not None and self._rule.broken_at(text) >= 0:
            self._break_rule(text, offset - 1)
        longest = self._limits.max_string_chars
        if longest is not None and length > longest:
            self._limit("max_string_chars", offset - 1)
        repeat = self._limits.max_repeat
        if repeat is not None and length >= repeat and length % repeat == 0:
            tail = text[-repeat:]
            for period in range(1, min(_LONGEST_PATTERN, repeat - 1) + 1):
                if tail.endswith(tail[:period]) and tail[period:] == tail[:-period]:
                    self._limit("max_repeat", offset - 1)
        step = repeat or _UNLIMITED
        self._check_at = (length // step + 1) * step
        if longest is not None:
            self._check_at = min(self._check_at, longest + 1)
        if self._rule is not None:
            self._check_at = min(
                self._check_at, max(self._rule.next_check(length), length + 1)
            )

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

    def _end_suspect(self, text: str) -> None:
        """Warn of an escape that is more likely a path or LaTeX (it is legal)."""
        assert self._suspect is not None
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
        assert frame is not None
        keys = self._keys
        if key in keys:
            key = keys[key]
        elif len(keys) < _REMEMBERED_KEYS:
            keys[key] = key
        frame.segment = key
        if key in frame.container:
            self._state = VALUE
            self._fail(DuplicateKeyError(key=key, offset=offset))
        if frame.node is not None:
            self._judge_key(frame, frame.node, offset)

    def _read_name(self, chunk: str, pos: int, events: list[Event]) -> tuple[int, int]:
        stop = name_part(chunk, pos).end()  # type: ignore[union-attr]  # matches nothing too
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
            following = NUMBER_NEXT[phase].get(chunk[stop])
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
        if stop < end and phase not in NUMBER_COMPLETE:
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
                        found=describe(chunk[pos + index]),
                        offset=self._base + pos + index,
                        available_fix=None,
                    )
                )
        self._pending = chunk[pos:]

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
                found=describe(char),
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
        elif char == "'" and state not in (COLON, AFTER):
            kind = FixKind.SINGLE_QUOTED_STRING
        elif state in (FIRST_KEY, NEXT_KEY) and name_start(char):
            kind = FixKind.UNQUOTED_KEY
        elif state <= NEXT_ELEMENT and char in PYTHON_LITERALS:
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

    # --------------------------------------------------------------------- place

    def path(self) -> Path:
        """The innermost open path."""
        state = self._resume if self._state == COMMENT else self._state
        frames = self._frames
        if not frames:
            return ()
        segments = [frame.segment for frame in frames[:-1]]
        if state in VALUE_STATES or self._is_in_literal():
            last = frames[-1]
            shown = last.container.open_segment
            if last.is_object:
                segments.append(last.segment)
            else:
                # An open string that a snapshot shows is an element already.
                segments.append(len(last.container) if shown is None else shown)
        return tuple(segments)

    def _is_in_literal(self) -> bool:
        return self._state <= NEXT_ELEMENT and self._pending[:1].isalpha()

    def expected(self) -> str:
        """What would come next, in words."""
        state = self._resume if self._state == COMMENT else self._state
        if self._state == COMMENT:
            return EXPECTED[COMMENT]
        if self._is_in_literal():
            return "the rest of a literal"
        if state in (KEY, STRING) and self._pending:
            return "the rest of an escape"
        if state == AFTER and self._frames:
            return f"`,` or `{self._frames[-1].close}`"
        return EXPECTED.get(state, "nothing")
