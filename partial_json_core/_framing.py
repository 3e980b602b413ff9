"""Where in a model's text the JSON is.

Before the root: prose, reasoning blocks and code fences are skipped, each as a segment
that becomes a fix; after it, the words that follow are searched for a second document.
The rules are R5 and R6 of the documentation ("Reading rules").

How it works. `Framing.feed` consumes text until it finds the root, and returns where
that begins. When the end of a chunk leaves a decision open (a half tag, a ``{`` whose
next character has not come) those few characters are held and put in front of the next
chunk, so that chunking never matters.

    state       what is being read
    SEARCH      words; a root, a fence or a reasoning block may begin
    REASONING   a reasoning block, up to its closing tag
    FOREIGN     a fence of another language, up to its closing fence
    HIDDEN      braces that look like an object but are none: no root begins in them
    CANDIDATE   a document that may turn out to be prose, read by a scanner of its own
    CITATION    ``[`` and digits in words: a citation, unless it is all there is
    TICKS       a run of backticks that is too long for a fence
    COMMIT      the root begins here
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from ._grammar import SPACES, name_part, name_start
from ._markers import (
    ARRAY_STARTS,
    BLANK,
    COMMENTS,
    DIGITS,
    ELEMENT_STARTS,
    FOREIGN_ELEMENTS,
    LARGEST_CITED,
    LITERAL_STARTS,
    LONGEST_ELEMENT,
    LONGEST_NAME,
    PYTHON_LITERALS,
    QUOTES,
    RESCANS,
    WINDOW,
    array_start,
    bare_key,
    blanks,
    citation,
    hidden_root,
    interesting,
    is_quoted,
    object_start,
)
from ._scanner import Scanner
from ._schema import RootKind
from ._skipping import (
    CANDIDATE,
    CITATION,
    COMMIT,
    FOREIGN,
    HIDDEN,
    REASONING,
    SEARCH,
    TICKS,
    Segment,
    Skipping,
)
from .errors import (
    AmbiguousOutputError,
    LimitExceededError,
    MalformedOutputError,
    ParseError,
)
from .fixes import FixKind

# The fix that reads what begins like this.
_FIXES: Final = {
    "'": FixKind.SINGLE_QUOTED_STRING,
    "/": FixKind.COMMENT,
    **dict.fromkeys(COMMENTS, FixKind.COMMENT),
    **dict.fromkeys(PYTHON_LITERALS, FixKind.PYTHON_LITERAL),
}


class Framing(Skipping):
    """Finds the root, and then judges what follows it; see `Skipping`."""

    __slots__ = ()

    # ------------------------------------------------------------------ feeding

    def feed(self, chunk: str, base: int) -> int:
        """Consume text outside the document.

        Args:
            chunk: The text that follows.
            base: The offset of its first character in the stream.

        Returns:
            The offset in the stream at which the root begins, or -1. It may lie
            before `base`: then the held characters belong to the root.
        """
        if self._held:
            chunk, base = self._held + chunk, self._held_at
            self._held = ""
        pos = 0
        while 0 <= pos < len(chunk) and self._state != COMMIT:
            if self._state == CANDIDATE:
                chunk, pos, base = self._read_candidate(chunk, pos, base)
            else:
                pos = self._step(chunk, pos, base)
        seen = len(chunk) - len(self._held)
        self._before = chunk[seen - 1] if seen else self._before
        return self._candidate_base if self._state == COMMIT else -1

    def _step(self, chunk: str, pos: int, base: int) -> int:
        """Go on in the state that is; -1 when the rest of the chunk is held."""
        if self._state == SEARCH:
            return self._search(chunk, pos, base)
        if self._state == REASONING:
            return self._skip_reasoning(chunk, pos, base)
        if self._state == FOREIGN:
            return self._skip_foreign(chunk, pos, base)
        if self._state == HIDDEN:
            return self._skip_hidden(chunk, pos, base)
        if self._state == TICKS:
            return self._skip_ticks(chunk, pos, base)
        return self._read_citation(chunk, pos, base)

    def _commit(self, pos: int, base: int) -> int:
        """Begin the root."""
        self._state = COMMIT
        self._candidate_base = base + pos
        return pos

    def begin_after(self, value: Any, start: int, end: int) -> None:
        """Turn to what follows the root."""
        self._after = True
        self._judge_first = True
        self._root = (value, start, end)
        self._state = SEARCH
        self._at_start = False
        self._before = ""
        self.segments = []
        self._has_words = False
        self._line_has_words = True
        if not isinstance(value, dict | list):
            self._kinds = frozenset({"scalar"})

    # ------------------------------------------------------------------- search

    def _search(self, chunk: str, pos: int, base: int) -> int:
        """Read words up to what may be more."""
        found = interesting(chunk, pos)
        stop = found.start() if found else len(chunk)
        stop = self._words(chunk, pos, stop, base)
        if stop < 0 or stop == len(chunk) or self._state != SEARCH:
            return stop
        char = chunk[stop]
        if char in "{[":
            return self._bracket(chunk, stop, base)
        if char == "`":
            return self._ticks(chunk, stop, base)
        return self._tag(chunk, stop, base)

    def _words(self, chunk: str, pos: int, stop: int, base: int) -> int:
        """Take blanks and prose; returns where it got to, or -1 when it must wait."""
        while pos < stop:
            blank = blanks(chunk, pos, stop).end()  # type: ignore[union-attr]  # matches nothing too
            if blank > pos:
                self._blanks(chunk, pos, blank, base)
                pos = blank
                continue
            self._run = 0
            if self._judge_first:
                wait = self._judge(chunk, pos, base)
                if wait:
                    return self._hold(chunk, pos, base)
            if self._is_scalar_only and not self._after:
                return self._commit(pos, base)
            if self._at_start and self._starts_candidate(chunk, pos, base):
                return pos
            self._at_start = False
            # White space at the end of prose belongs to it only if words follow.
            text = chunk[pos:stop].rstrip(BLANK)
            last_line = text.rsplit("\n", 1)[-1]
            self._line_has_words = bool(last_line.strip(BLANK))
            self._segment(FixKind.PROSE, base + pos, base + pos + len(text))
            self._blanks_in_words(text, base + pos)
            pos += len(text)
        return pos

    # --------------------------------------------------------------- containers

    def _bracket(self, chunk: str, pos: int, base: int) -> int:
        quoted = is_quoted(chunk, pos, chunk[pos - 1] if pos else self._before)
        if quoted is None:
            return self._hold(chunk, pos, base)
        if quoted:
            return self._prose_character(pos, base)
        if chunk[pos] == "{":
            return self._object(chunk, pos, base)
        return self._array(chunk, pos, base)

    def _object(self, chunk: str, pos: int, base: int) -> int:
        if self._is_scalar_only and not self._after:
            return self._commit(pos, base)
        found = object_start(chunk, pos)
        assert found is not None
        following = found[2]
        if len(found[1]) > self._limits.max_whitespace_run:
            return self._runaway(pos, base, "object")
        if following is None:
            return self._hold(chunk, pos, base)
        if following not in '"}':
            return self._foreign_object(chunk, pos, base, found.end(1))
        if "object" in self._kinds:
            return self._root_at(pos, base)
        return self._other_kind(pos, base)

    def _other_kind(self, pos: int, base: int) -> int:
        """Take a document that the schema cannot mean for words, if any follow."""
        if self._at_start and not self._after:
            return self._begin_candidate(pos, base)
        return self._prose_character(pos, base)

    def _foreign_object(self, chunk: str, pos: int, base: int, key: int) -> int:
        """Take `{` with another key than a string for words, or for an error."""
        window = chunk[key : key + LONGEST_NAME]
        looks = _is_foreign_key(window)
        if looks is None:
            return self._hold(chunk, pos, base)
        if not looks or self._after:
            return self._prose_character(pos, base)
        if "object" in self._kinds and (self._at_start or self._opt_in_key(window)):
            # The text begins with it: the scanner names what is wrong, at once.
            return self._commit(pos, base)
        fix = FixKind.UNQUOTED_KEY if window[0].isalpha() else _FIXES.get(window[0])
        self._note("a key or `}`", window[0], base + key, fix)
        return self._hide(pos, base, "{}")

    def _array(self, chunk: str, pos: int, base: int) -> int:
        if self._tag_state(chunk, pos) != "no":
            return self._tag(chunk, pos, base)
        found = array_start(chunk, pos)
        assert found is not None
        start = found[2] or found[3]
        if len(found[1]) > self._limits.max_whitespace_run:
            return self._runaway(pos, base, "array")
        if start is None:
            return self._hold(chunk, pos, base)
        text = chunk[found.end(1) : found.end(1) + LONGEST_ELEMENT]
        if found.end(1) + len(text) == len(chunk) and text in ELEMENT_STARTS:
            return self._hold(chunk, pos, base)
        if start in ARRAY_STARTS:
            return self._plausible_array(start, pos, base)
        foreign = _foreign_element(text)
        if not foreign or self._after:
            return self._prose_character(pos, base)
        if "array" in self._kinds and self._names_array(foreign):
            # The text begins with it: the scanner names what is wrong, at once.
            return self._commit(pos, base)
        fix = _FIXES.get(foreign)
        self._note("a value or `]`", foreign[0], base + found.end(1), fix)
        return self._hide(pos, base, "[]")

    def _names_array(self, foreign: str) -> bool:
        """Whether the scanner shall read an array that begins with `foreign`."""
        if foreign in PYTHON_LITERALS:
            return self._at_start or self._policy.permits(FixKind.PYTHON_LITERAL)
        if foreign in QUOTES:
            return self._at_start or self._policy.permits(FixKind.SINGLE_QUOTED_STRING)
        return foreign in COMMENTS and self._policy.permits(FixKind.COMMENT)

    def _runaway(self, pos: int, base: int, kind: RootKind) -> int:
        """Let the scanner name white space without end behind a bracket."""
        if kind in self._kinds and not self._after:
            return self._commit(pos, base)
        return self._prose_character(pos, base)

    def _plausible_array(self, start: str, pos: int, base: int) -> int:
        if "array" not in self._kinds:
            return self._other_kind(pos, base)
        if self._may_be_citation(start):
            self._begin_candidate(pos, base)
            self._state = CITATION
            return pos
        return self._root_at(pos, base)

    def _may_be_citation(self, start: str) -> bool:
        return (
            "object" in self._kinds
            and not self._after
            and self._has_words
            and not self._fence_open
            and start in DIGITS
        )

    def _read_citation(self, chunk: str, pos: int, base: int) -> int:
        """Take `[3]` for words; anything but whole numbers makes it the root."""
        inside = pos if self._candidate_text else pos + 1
        stop = citation(chunk, inside).end()  # type: ignore[union-attr]  # matches nothing too
        self._candidate_text.append(chunk[pos:stop])
        if stop == len(chunk):
            return stop
        if chunk[stop] != "]":
            return self._commit(0, self._candidate_base)
        scanner = self._candidate
        assert scanner is not None
        text = "".join(self._candidate_text) + "]"
        try:
            scanner.feed(text, self._candidate_base, [])
        except ParseError:
            return self._commit(0, self._candidate_base)
        if not self._cites(scanner.root):
            return self._commit(0, self._candidate_base)
        self._candidate_text = []
        self._state = SEARCH
        end = base + stop + 1
        if self.whole is None:
            self.whole = (scanner, self._candidate_base, end)
            self.cites = True
        else:
            self._segment(FixKind.PROSE, self._candidate_base, end)
        return stop + 1

    def _opt_in_key(self, window: str) -> bool:
        """Whether the policy permits the scanner to read this key."""
        if window[0] == "'":
            return self._policy.permits(FixKind.SINGLE_QUOTED_STRING)
        comment = self._policy.permits(FixKind.COMMENT)
        if window[0] == "/":
            return comment
        if not name_start(window) or not self._policy.permits(FixKind.UNQUOTED_KEY):
            return False
        following = window[name_part(window).end() :].lstrip(BLANK)  # type: ignore[union-attr]  # matches nothing too
        return following.startswith(":") or (comment and following.startswith("/"))

    def _hide(self, pos: int, base: int, pair: str) -> int:
        """Let no root begin in what looks like a document and cannot be the answer."""
        self._hidden = pair
        self._depth = 0
        self._state = HIDDEN
        return self._prose_character(pos, base)

    def _note(
        self, expected: str, found: str, offset: int, fix: FixKind | None
    ) -> None:
        """Keep what breaks the grammar of a document that words hold."""
        if self.malformed is None:
            self.malformed = MalformedOutputError(
                expected=expected,
                found=f"`{found}`" if found != "`" else "a backtick",
                offset=offset,
                available_fix=fix,
            )

    def _skip_hidden(self, chunk: str, pos: int, base: int) -> int:
        opener, closer = self._hidden[0], self._hidden[1]
        for stop in range(pos, len(chunk)):
            char = chunk[stop]
            if char == opener:
                self._depth += 1
            elif char == closer:
                self._depth -= 1
                if self._depth <= 0:
                    self._state = SEARCH
                    self._segment(FixKind.PROSE, base + pos, base + stop + 1)
                    return stop + 1
        self._segment(FixKind.PROSE, base + pos, base + len(chunk))
        return len(chunk)

    def _root_at(self, pos: int, base: int) -> int:
        if not self._after:
            return self._commit(pos, base)
        self._judge_first = False
        return self._begin_candidate(pos, base)

    # --------------------------------------------------------------- candidates

    def _starts_candidate(self, chunk: str, pos: int, base: int) -> bool:
        """Whether the text begins with a scalar, which must then be all of it."""
        if self._after or chunk[pos] not in self._scalar_starts or self._has_words:
            return False
        self._begin_candidate(pos, base)
        return True

    def _begin_candidate(self, pos: int, base: int) -> int:
        self._candidate = Scanner(self._policy, self._limits, None)
        self._candidate_text = []
        self._candidate_base = base + pos
        self._candidate_in_words = self._line_has_words
        self._state = CANDIDATE
        self._at_start = False
        return pos

    def _read_candidate(self, chunk: str, pos: int, base: int) -> tuple[str, int, int]:
        """Read on in a candidate; returns the text, place and base to go on with."""
        scanner = self._candidate
        assert scanner is not None
        start = pos
        while pos < len(chunk):
            # In windows: a chunk may hold thousands of candidates.
            window = chunk[pos : pos + WINDOW]
            try:
                used = scanner.feed(window, base + pos, [])
            except ParseError as err:
                return self._fail_candidate(chunk, start, base, err)
            if used >= 0:
                pos += used
                self._candidate_text.append(chunk[start:pos])
                self._state = SEARCH
                self._end_candidate(scanner, base + pos)
                return chunk, pos, base
            pos += len(window)
        self._candidate_text.append(chunk[start:])
        return chunk, pos, base

    def _fail_candidate(
        self, chunk: str, pos: int, base: int, err: ParseError
    ) -> tuple[str, int, int]:
        """Take a failed candidate for words: search on behind its first character.

        Args:
            chunk: Text with the end of the candidate.
            pos: Where the candidate goes on in it.
            base: The offset of its first character in the stream.
            err: Why it failed.
        """
        if isinstance(err, LimitExceededError) and not self._after:
            raise err
        start = self._candidate_base
        if self._candidate_text:
            chunk, pos, base = "".join([*self._candidate_text, chunk[pos:]]), 0, start
        self._candidate = None
        self._candidate_text = []
        self._state = SEARCH
        length = max(min(err.offset - start, len(chunk) - pos), 1)
        self._rescanned += length
        # Judged by the offset alone, so that chunking never matters.
        skipped = length if self._rescanned > RESCANS * err.offset else 1
        self._segment(FixKind.PROSE, start, start + skipped)
        return chunk, pos + skipped, base

    def _end_candidate(self, scanner: Scanner, end: int) -> None:
        start = self._candidate_base
        if not self._after:
            # One before it was words, so this one is not the whole text.
            is_second = self.whole is not None
            self.take_whole_for_words(start)
            # Whether it is prose is decided by what follows: nothing, or a root.
            self.whole = (scanner, start, end)
            self.cites = False
            self.words_after_whole = is_second
            self._hides_root = isinstance(scanner.root, str) and bool(
                hidden_root("".join(self._candidate_text))
            )
            return
        assert self._root is not None
        value = self._root[0]
        if isinstance(value, dict) and self._cites(scanner.root):
            self._segment(FixKind.PROSE, start, end)
            return
        if not _same(value, scanner.root):
            self._ambiguous(end)
        if not self._policy.permits(FixKind.REPEATED_DOCUMENT):
            raise MalformedOutputError(
                expected="the end of the output",
                found="the document once more",
                offset=start,
                available_fix=FixKind.REPEATED_DOCUMENT,
            )
        self.repeats.append((start, "".join(self._candidate_text)))
        self.segments.append(Segment(FixKind.REPEATED_DOCUMENT, start, end))

    def _cites(self, value: Any) -> bool:
        """Whether a list of numbers cites: several do so in a line of words only."""
        is_alone = self._fence_open or not self._candidate_in_words
        return _is_citation(value) and (len(value) == 1 or not is_alone)

    def _ambiguous(self, end: int) -> NoReturn:
        assert self._root is not None
        _, start, stop = self._root
        raise AmbiguousOutputError(
            spans=((start, stop), (self._candidate_base, end)), offset=stop
        )

    # ------------------------------------------------------------------- ending

    @property
    def is_reasoning(self) -> bool:
        """Whether a reasoning block is still open."""
        return self._state == REASONING

    @property
    def has_root_prefix(self) -> bool:
        """Whether what was read last may be the beginning of a root."""
        if self._state in (CANDIDATE, CITATION):
            return True
        if not self._held or self._held[0] not in "{[":
            return False
        rest = self._held[1:].strip(BLANK)
        if not rest:
            return True
        if self._held[0] == "[":
            return rest in LITERAL_STARTS
        return self._policy.permits(FixKind.UNQUOTED_KEY)

    @property
    def holds_object(self) -> bool:
        """Whether the held beginning of a root is that of an object."""
        return self._held.startswith("{")

    @property
    def candidate_start(self) -> int:
        """Where the document that may be prose begins."""
        return self._candidate_base

    @property
    def candidate(self) -> Scanner | None:
        """The document that is being read and may turn out to be prose."""
        return self._candidate if self._state == CANDIDATE else None

    def finish(self, end: int) -> None:
        """Take what is held for words: nothing more comes.

        Raises:
            AmbiguousOutputError: A second document is still open: whether it repeats
                the first cannot be known.
        """
        if self._after and self._state == CANDIDATE:
            self._ambiguous(end)
        if self._held:
            held, at = self._held, self._held_at
            self._held = ""
            kind = FixKind.PROSE
            if held.startswith("```") and self._state == SEARCH:
                kind = FixKind.CODE_FENCE
            if self._state == REASONING:
                self.segments[-1].end = at + len(held)
            else:
                self._segment(kind, at, at + len(held.rstrip(SPACES)))

    def take_whole_for_words(self, root: int) -> None:
        """A root has begun: the document of another kind before it was prose.

        Args:
            root: Where the root begins.

        Raises:
            MalformedOutputError: The policy does not permit prose.
            AmbiguousOutputError: It was a quotation in which a root may begin.
        """
        if self.whole is None:
            return
        _, start, end = self.whole
        self.whole = None
        if self._hides_root:
            raise AmbiguousOutputError(spans=((start, end), (root, root)), offset=start)
        before = [item for item in self.segments if item.start < start]
        after = self.segments[len(before) :]
        self.segments = before
        self._segment(FixKind.PROSE, start, end)
        for item in after:
            if item.kind is FixKind.PROSE:
                self._segment(item.kind, item.start, item.end)
            else:
                self.segments.append(item)


def _is_foreign_key(window: str) -> bool | None:
    """Whether a key of another notation than JSON's begins; None for wait.

    Args:
        window: The text behind `{` and white space, as far as it is looked at.
    """
    if window[0] in QUOTES or window[0] in "{/":
        return True
    found = bare_key(window)
    if found is None:
        return False
    if found[2] is None or (found[2] == "/" and found.end() == len(window)):
        return None if len(window) < LONGEST_NAME else False
    return found[2] in (":", *COMMENTS)


def _foreign_element(text: str) -> str:
    """What an array of another notation than JSON's begins with, or nothing."""
    return next(filter(text.startswith, FOREIGN_ELEMENTS), "")


def _is_citation(value: Any) -> bool:
    """Whether a document is `[3]` or `[1, 2]`, which words cite sources with.

    One number of any size, or several small ones.
    """
    if not isinstance(value, list) or not value:
        return False
    highest = LARGEST_CITED if len(value) > 1 else None
    return all(
        type(item) is int and item >= 0 and (highest is None or item <= highest)
        for item in value
    )


def _same(first: Any, second: Any) -> bool:
    """Whether two documents are equal, numbers by their type as well."""
    return bool(first == second) and (
        json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    )
