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
    COMMIT      the root begins here
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from ._scanner import SPACES, UNUSUAL_SPACES, Scanner
from ._schema import RootKind
from .errors import (
    AmbiguousOutputError,
    LimitExceededError,
    MalformedOutputError,
    ParseError,
)
from .fixes import Fix, FixKind, FixPolicy
from .limits import Limits

SEARCH: Final = 0
REASONING: Final = 1
FOREIGN: Final = 2
HIDDEN: Final = 3
CANDIDATE: Final = 4
CITATION: Final = 5
COMMIT: Final = 6

BOM: Final = "\ufeff"
_BLANK: Final = SPACES + UNUSUAL_SPACES
_blank: Final = re.compile(f"[{re.escape(_BLANK)}]*").match
_interesting: Final = re.compile(r"[{\[`<\u25c1]").search

# Tags of reasoning blocks: DeepSeek, Qwen and many others write <think>, Anthropic
# prompts <thinking>, Seed <seed:think>, Magistral [THINK], Kimi ◁think▷.
_TAG_NAMES: Final = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "reason"),
    *("reflection", "analysis", "scratchpad", "seed:think", "antthinking"),
    "inner_monologue",
)
_REASONING_TAGS: Final[dict[str, str]] = {
    **{f"<{name}>": f"</{name}>" for name in _TAG_NAMES},
    "[think]": "[/think]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
}
_CLOSING_TAGS: Final = frozenset(_REASONING_TAGS.values())
_TAG_STARTS: Final = frozenset(
    tag[:length]
    for tag in (*_REASONING_TAGS, *_CLOSING_TAGS)
    for length in range(1, len(tag))
)
_LONGEST_TAG: Final = max(map(len, (*_REASONING_TAGS, *_CLOSING_TAGS)))

_fence: Final = re.compile(r"(`+)([\w+#.-]*)").match
_FENCE_TICKS: Final = 3
_LONGEST_FENCE_TAG: Final = 40
_JSON_TAGS: Final = frozenset({"json", "jsonc", "json5", "jsonl"})
# JavaScript is left out: JSON is a part of it, and models tag answers so.
_FOREIGN_TAGS: Final = frozenset(
    {
        *("python", "py", "python3", "bash", "sh", "shell", "zsh", "console", "diff"),
        *("powershell", "cmd", "bat", "yaml", "yml", "toml", "ini", "xml", "html"),
        *("css", "scss", "sql", "csv", "c", "cpp", "c++", "cs", "csharp", "java"),
        *("kotlin", "scala", "go", "rust", "rs", "ruby", "rb", "php", "perl", "lua"),
        *("r", "julia", "swift", "dart", "haskell", "elixir", "erlang", "clojure"),
        *("dockerfile", "makefile", "cmake", "graphql", "proto", "protobuf", "mermaid"),
        *("latex", "tex", "markdown", "md", "nginx", "terraform", "hcl", "vb", "tsx"),
        *("jsx", "ts", "typescript", "http", "log", "svg"),
    }
)

_PYTHON_LITERALS: Final = ("True", "False", "None")
_WORDS: Final = ("true", "false", "null", *_PYTHON_LITERALS)
_LITERAL: Final = "|".join(_WORDS)
_object_start: Final = re.compile(r"\{([\s\ufeff\u200b-\u200d\u2060]*)(.)?", re.S).match
_array_start: Final = re.compile(
    r"\[([\s\ufeff\u200b-\u200d\u2060]*)(?:(" + _LITERAL + r")|(.))?", re.S
).match
_LITERAL_STARTS: Final = frozenset(
    word[:length]
    for word in _WORDS
    for length in range(1, len(word) + 1)
)
_key_like: Final = re.compile(r"\{[\s\ufeff]*[\w$]+[\s\ufeff]*(.)?", re.S).match
# How far a `{` is followed to see whether an unquoted key stands after it.
_LONGEST_NAME: Final = 64
_QUOTES: Final = "'\u2018\u2019\u201c\u201d`"
_after_separator: Final = re.compile(r"[,:]\s*(.)?", re.S).match
_hidden_root: Final = re.compile(r"[{\[]\s*[\"{\[]").search
_root_in_fence: Final = re.compile(
    r"\s*(?:\{\s*[\"}]|\[\s*[\"\[\]{0-9tfn-])", re.ASCII
).match
_root_in_fence_part: Final = re.compile(r"\s*(?:[{\[]\s*)?", re.ASCII).fullmatch
_DIGITS: Final = "0123456789"
_SCALAR_STARTS: Final = '"-tfn' + _DIGITS
_citation: Final = re.compile(r"[0-9, \t\n\r]*").match

# Reading failed candidates again from their second character on may cost this many
# times the characters read so far; beyond it the search goes on where one failed.
_RESCANS: Final = 8


class Segment:
    """A stretch of text outside the document."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: FixKind, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end


class Framing:
    """Finds the root, and then judges what follows it.

    Attributes:
        segments: What was skipped so far on this side of the root.
        whole: A document of another kind with which the text begins, if it is
            complete.
        words_after_whole: More than blanks and fences stood behind it.
        malformed: What looked like an object that breaks the grammar, if anything.
    """

    __slots__ = (
        "_after",
        "_at_start",
        "_rescanned",
        "_candidate",
        "_candidate_base",
        "_candidate_text",
        "_close_tag",
        "_depth",
        "_fence_open",
        "_fence_ticks",
        "_held",
        "_held_at",
        "_hidden",
        "_hides_root",
        "_kinds",
        "_judge_first",
        "_limits",
        "_policy",
        "_root",
        "_run",
        "_scalar_starts",
        "_scan_kind",
        "_state",
        "malformed",
        "repeats",
        "segments",
        "whole",
        "words_after_whole",
    )

    def __init__(
        self, kinds: frozenset[RootKind], policy: FixPolicy, limits: Limits
    ) -> None:
        self._kinds = kinds
        self._policy = policy
        self._limits = limits
        self._state = SEARCH
        self._held = ""
        self._held_at = 0
        self._after = False
        self._judge_first = False
        self._at_start = True
        self._fence_open = False
        self._fence_ticks = _FENCE_TICKS
        self._close_tag = ""
        self._depth = 0
        self._hidden = "{}"
        self._hides_root = False
        self._run = 0
        self._scalar_starts = _SCALAR_STARTS
        if policy.permits(FixKind.PYTHON_LITERAL):
            self._scalar_starts += "TFN"
        if policy.permits(FixKind.SINGLE_QUOTED_STRING):
            self._scalar_starts += "'"
        self._rescanned = 0
        self._candidate: Scanner | None = None
        self._candidate_text: list[str] = []
        self._candidate_base = 0
        self._scan_kind: RootKind = "object"
        self._root: tuple[Any, int, int] | None = None
        self.segments: list[Segment] = []
        self.whole: tuple[Scanner, int, int] | None = None
        self.words_after_whole = False
        self.malformed: MalformedOutputError | None = None
        self.repeats: list[tuple[int, int]] = []

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
        end = len(chunk)
        while pos < end:
            state = self._state
            if state == SEARCH:
                pos, root = self._search(chunk, pos, base)
                if root >= 0:
                    return base + root
            elif state == REASONING:
                pos = self._skip_reasoning(chunk, pos, base)
            elif state == FOREIGN:
                pos = self._skip_foreign(chunk, pos, base)
            elif state == HIDDEN:
                pos = self._skip_hidden(chunk, pos, base)
            elif state == CITATION:
                pos = self._read_citation(chunk, pos, base)
                if self._state == COMMIT:
                    return self._candidate_base
            else:
                chunk, pos, base = self._read_candidate(chunk, pos, base)
                end = len(chunk)
            if pos < 0:
                return -1
        return -1

    def begin_after(self, value: Any, start: int, end: int) -> None:
        """Turn to what follows the root."""
        self._after = True
        self._judge_first = True
        self._root = (value, start, end)
        self._state = SEARCH
        self._at_start = False
        self.segments = []
        if not isinstance(value, dict | list):
            self._kinds = frozenset({"scalar"})

    def _hold(self, chunk: str, pos: int, base: int) -> int:
        self._held = chunk[pos:]
        self._held_at = base + pos
        return -1

    # ------------------------------------------------------------------- search

    def _search(self, chunk: str, pos: int, base: int) -> tuple[int, int]:
        """Read words up to what may be more; the second item is the root's place."""
        found = _interesting(chunk, pos)
        stop = found.start() if found else len(chunk)
        stop = self._words(chunk, pos, stop, base)
        if stop < 0:
            return -1, -1
        if self._state == COMMIT:
            return stop, stop
        if self._state != SEARCH or stop == len(chunk):
            return stop, -1
        char = chunk[stop]
        if self._is_scalar_only and not self._after and char == "{":
            return stop, stop
        if char == "{":
            return self._object(chunk, stop, base)
        if char == "[":
            return self._array(chunk, stop, base)
        if char == "`":
            return self._ticks(chunk, stop, base), -1
        return self._tag(chunk, stop, base), -1

    def _words(self, chunk: str, pos: int, stop: int, base: int) -> int:
        """Take blanks and prose; returns where it got to, or -1 when it must wait."""
        while pos < stop:
            blank = _blank(chunk, pos, stop).end()  # type: ignore[union-attr]  # matches nothing too
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
                self._state = COMMIT
                return pos
            if self._at_start and self._starts_candidate(chunk, pos, base):
                return pos
            self._at_start = False
            # White space at the end of prose belongs to it only if words follow.
            words = len(chunk[pos:stop].rstrip(SPACES))
            self._segment(FixKind.PROSE, base + pos, base + pos + words)
            pos += words
        return pos

    def _blanks(self, chunk: str, pos: int, stop: int, base: int) -> None:
        self._run += stop - pos
        longest = self._limits.max_whitespace_run
        if not self._after and self._run > longest:
            raise LimitExceededError(
                limit="max_whitespace_run",
                maximum=longest,
                offset=base + stop - self._run + longest + 1,
            )
        text = chunk[pos:stop]
        if text.strip(SPACES):
            for index, char in enumerate(text):
                if char in SPACES:
                    continue
                at = base + pos + index
                kind = FixKind.UNUSUAL_WHITESPACE
                if self.segments and self.segments[-1].kind is FixKind.PROSE:
                    kind = FixKind.PROSE
                if char == BOM and at == 0:
                    kind = FixKind.BYTE_ORDER_MARK
                self._segment(kind, at, at + 1)

    def _judge(self, chunk: str, pos: int, base: int) -> bool:
        """Judge the first character after the root (R6); True when it must wait."""
        char = chunk[pos]
        if char in "}]\"":
            self._lost_field(char, base + pos)
        if char in ",:":
            found = _after_separator(chunk, pos)
            following = found[1] if found else None
            if following is None:
                return True
            if following in '"{[0123456789':
                self._lost_field(char, base + pos)
        self._judge_first = False
        return False

    def _lost_field(self, char: str, offset: int) -> NoReturn:
        raise MalformedOutputError(
            expected="the end of the output",
            found=f"`{char}` after the root",
            offset=offset,
        )

    def _segment(self, kind: FixKind, start: int, end: int) -> None:
        """Record skipped text, or fail when the policy does not permit to skip it."""
        words = kind is FixKind.PROSE and self._is_scalar_only
        if words or not self._policy.permits(kind):
            raise MalformedOutputError(
                expected="the end of the output"
                if self._after
                else f"{describe_kinds(self._kinds)} and nothing else",
                found="text outside the document"
                if kind is FixKind.PROSE
                else kind.value.replace("_", " "),
                offset=start,
                available_fix=None if words else kind,
            )
        if self.whole is not None and kind is FixKind.PROSE:
            self.words_after_whole = True
        last = self.segments[-1] if self.segments else None
        # Words on both sides of a document that may be the answer stay apart.
        apart = last is not None and self.whole is not None and (
            last.end <= self.whole[1] < end
        )
        if last is not None and last.kind is kind and kind is FixKind.PROSE and not apart:
            last.end = end
            return
        self.segments.append(Segment(kind, start, end))

    # --------------------------------------------------------------- containers

    def _object(self, chunk: str, pos: int, base: int) -> tuple[int, int]:
        found = _object_start(chunk, pos)
        following = found[2] if found else None
        if following is None:
            return self._wait_for_root(chunk, pos, base)
        first = self._at_start and not self._after
        if "object" not in self._kinds:
            if first and following in '"}':
                return self._begin_candidate(chunk, pos, base, "object")
            return self._prose_character(pos, base), -1
        if following in '"}':
            return self._root_at(chunk, pos, base, "object")
        looks = self._looks_like_key(chunk, pos, following)
        if looks is None:
            return self._wait_for_root(chunk, pos, base)
        if not looks or self._after:
            return self._prose_character(pos, base), -1
        if first or self._opt_in_key(following):
            # The text begins with it: the scanner names what is wrong, at once.
            return pos, pos
        self._hide(chunk, pos, base, "{}", following)
        return self._prose_character(pos, base), -1

    def _array(self, chunk: str, pos: int, base: int) -> tuple[int, int]:
        tag = self._tag_state(chunk, pos)
        if tag != "no":
            return self._tag(chunk, pos, base), -1
        found = _array_start(chunk, pos)
        literal, following = (found[2], found[3]) if found else (None, None)
        if literal is None and following is None:
            return self._wait_for_root(chunk, pos, base)
        if literal is None and following in tuple("tfnTFN"):
            rest = chunk[found.start(3) :] if found else ""
            if rest in _LITERAL_STARTS:
                return self._wait_for_root(chunk, pos, base)
        first = self._at_start and not self._after
        python = literal in _PYTHON_LITERALS
        plausible = not python and (
            literal is not None or (following or "") in '"{[-0123456789]'
        )
        if "array" not in self._kinds:
            if first and plausible:
                return self._begin_candidate(chunk, pos, base, "array")
            return self._prose_character(pos, base), -1
        if plausible and self._may_be_citation(following or ""):
            self._begin_candidate(chunk, pos, base, "array")
            self._state = CITATION
            return pos, -1
        if plausible:
            return self._root_at(chunk, pos, base, "array")
        if self._after or not (python or following in tuple(_QUOTES)):
            return self._prose_character(pos, base), -1
        kind = FixKind.PYTHON_LITERAL if python else FixKind.SINGLE_QUOTED_STRING
        if first or self._policy.permits(kind):
            # The text begins with it: the scanner names what is wrong, at once.
            return pos, pos
        self._hide(chunk, pos, base, "[]", literal[0] if literal else following or "")
        return self._prose_character(pos, base), -1

    def _may_be_citation(self, following: str) -> bool:
        return (
            "object" in self._kinds
            and not self._after
            and self._has_words
            and following in _DIGITS
        )

    def _read_citation(self, chunk: str, pos: int, base: int) -> int:
        """Take `[3]` for words; anything but whole numbers makes it the root."""
        inside = pos if self._candidate_text else pos + 1
        stop = _citation(chunk, inside).end()  # type: ignore[union-attr]  # matches nothing too
        self._candidate_text.append(chunk[pos:stop])
        if stop == len(chunk):
            return stop
        if chunk[stop] != "]":
            self._state = COMMIT
            return stop
        scanner = self._candidate
        assert scanner is not None  # noqa: S101 - the state says so
        text = "".join(self._candidate_text) + "]"
        try:
            scanner.feed(text, self._candidate_base, [])
        except ParseError:
            self._state = COMMIT
            return stop
        self._candidate_text = []
        self._state = SEARCH
        end = base + stop + 1
        if self.whole is None:
            self.whole = (scanner, self._candidate_base, end)
        else:
            self._segment(FixKind.PROSE, self._candidate_base, end)
        return stop + 1

    def _opt_in_key(self, following: str) -> bool:
        if following == "'":
            return self._policy.permits(FixKind.SINGLE_QUOTED_STRING)
        if following == "/":
            return self._policy.permits(FixKind.COMMENT)
        return following.isalpha() and self._policy.permits(FixKind.UNQUOTED_KEY)

    def _looks_like_key(self, chunk: str, pos: int, following: str) -> bool | None:
        """Whether `{` opens an object that breaks the grammar; None for wait."""
        if following in _QUOTES or following == "{" or following == "/":
            return True
        found = _key_like(chunk, pos)
        if found is None:
            return False
        if found[1] is None:
            return None if len(chunk) - pos <= _LONGEST_NAME else False
        return found[1] == ":"

    def _hide(self, chunk: str, pos: int, base: int, pair: str, found: str) -> None:
        """Let no root begin in what looks like a document that breaks the grammar."""
        self._hidden = pair
        self._depth = 0
        self._state = HIDDEN
        if self.malformed is None:
            index = chunk.index(found, pos + 1) if found else pos
            self.malformed = MalformedOutputError(
                expected="a key or `}`" if pair == "{}" else "a value or `]`",
                found=f"`{found}`" if found != "`" else "a backtick",
                offset=base + index,
                available_fix=self._hidden_fix(found),
            )

    def _hidden_fix(self, found: str) -> FixKind | None:
        if found == "'":
            return FixKind.SINGLE_QUOTED_STRING
        if found == "/":
            return FixKind.COMMENT
        if self._hidden == "[]":
            return FixKind.PYTHON_LITERAL if found.isalpha() else None
        return FixKind.UNQUOTED_KEY if found.isalpha() else None

    def _skip_hidden(self, chunk: str, pos: int, base: int) -> int:
        opener, closer = self._hidden
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

    def _prose_character(self, pos: int, base: int) -> int:
        self._run = 0
        self._judge_first = False
        self._at_start = False
        if self._state == HIDDEN:
            return pos
        self._segment(FixKind.PROSE, base + pos, base + pos + 1)
        return pos + 1

    def _wait_for_root(self, chunk: str, pos: int, base: int) -> tuple[int, int]:
        blanks = len(chunk) - pos - 1
        longest = self._limits.max_whitespace_run
        if blanks > longest + _LONGEST_NAME:
            raise LimitExceededError(
                limit="max_whitespace_run",
                maximum=longest,
                offset=base + pos + longest + 2,
            )
        return self._hold(chunk, pos, base), -1

    def _root_at(
        self, chunk: str, pos: int, base: int, kind: RootKind
    ) -> tuple[int, int]:
        if not self._after:
            return pos, pos
        self._judge_first = False
        return self._begin_candidate(chunk, pos, base, kind)

    @property
    def _is_scalar_only(self) -> bool:
        return len(self._kinds) == 1 and "scalar" in self._kinds

    @property
    def _has_words(self) -> bool:
        return any(segment.kind is FixKind.PROSE for segment in self.segments)

    # --------------------------------------------------------------- candidates

    def _starts_candidate(self, chunk: str, pos: int, base: int) -> bool:
        """Whether the text begins with a scalar, which must then be all of it."""
        if self._after or chunk[pos] not in self._scalar_starts or self._has_words:
            return False
        self._begin_candidate(chunk, pos, base, "scalar")
        return True

    def _begin_candidate(
        self, chunk: str, pos: int, base: int, kind: RootKind
    ) -> tuple[int, int]:
        self._candidate = Scanner(self._policy, self._limits, None)
        self._candidate_text = []
        self._candidate_base = base + pos
        self._scan_kind = kind
        self._state = CANDIDATE
        self._at_start = False
        return pos, -1

    def _read_candidate(self, chunk: str, pos: int, base: int) -> tuple[str, int, int]:
        """Read on in a candidate; returns the text, place and base to go on with."""
        scanner = self._candidate
        assert scanner is not None  # noqa: S101 - the state says so
        text = chunk[pos:] if pos else chunk
        try:
            used = scanner.feed(text, base + pos, [])
        except ParseError as err:
            return self._fail_candidate(text, base + pos, err)
        if used < 0:
            self._candidate_text.append(text)
            return text, len(text), base + pos
        self._candidate_text.append(text[:used])
        self._state = SEARCH
        self._end_candidate(scanner, base + pos + used)
        return chunk, pos + used, base

    def _fail_candidate(
        self, text: str, base: int, err: ParseError
    ) -> tuple[str, int, int]:
        """Take a failed candidate for words: search on behind its first character."""
        if isinstance(err, LimitExceededError) and not self._after:
            raise err
        again = "".join(self._candidate_text) + text
        start = self._candidate_base
        self._candidate = None
        self._candidate_text = []
        self._state = SEARCH
        length = max(min(err.offset - start, len(again)), 1)
        self._rescanned += length
        # Judged by the offset alone, so that chunking never matters.
        skipped = length if self._rescanned > _RESCANS * err.offset else 1
        self._segment(FixKind.PROSE, start, start + skipped)
        return again, skipped, start

    def _end_candidate(self, scanner: Scanner, end: int) -> None:
        start = self._candidate_base
        if not self._after:
            # Whether it is prose is decided by what follows: nothing, or a root.
            self.whole = (scanner, start, end)
            self.words_after_whole = False
            self._hides_root = isinstance(scanner.root, str) and bool(
                _hidden_root("".join(self._candidate_text))
            )
            return
        assert self._root is not None  # noqa: S101 - set by begin_after
        value = self._root[0]
        if _is_citation(scanner.root) and isinstance(value, dict):
            self._segment(FixKind.PROSE, start, end)
            return
        if not _same(value, scanner.root):
            self._ambiguous(end)
        if not self._policy.permits(FixKind.REPEATED_DOCUMENT):
            self._ambiguous(end)
        self.repeats.append((start, end))
        self.segments.append(Segment(FixKind.REPEATED_DOCUMENT, start, end))

    def _ambiguous(self, end: int) -> NoReturn:
        assert self._root is not None  # noqa: S101 - set by begin_after
        _, start, stop = self._root
        raise AmbiguousOutputError(
            spans=((start, stop), (self._candidate_base, end)), offset=stop
        )

    # ---------------------------------------------------------- fences and tags

    def _ticks(self, chunk: str, pos: int, base: int) -> int:
        found = _fence(chunk, pos)
        assert found is not None  # noqa: S101 - a backtick stands there
        ticks, tag = found[1], found[2]
        if found.end() == len(chunk) and len(tag) < _LONGEST_FENCE_TAG:
            return self._hold(chunk, pos, base)
        tag = tag.lower()
        if len(ticks) < _FENCE_TICKS:
            self._at_start = False
            self._judge_first = False
            self._segment(FixKind.PROSE, base + pos, base + found.end(1))
            return found.end(1)
        if tag in _FOREIGN_TAGS and self._at_start:
            # The text begins with this fence: a root right in it is the answer.
            if _root_in_fence_part(chunk, found.end()):
                return self._wait_for_root(chunk, pos, base)[0]
            if _root_in_fence(chunk, found.end()):
                return self._open_fence(chunk, pos, base, ticks, "", len(tag))
        return self._open_fence(chunk, pos, base, ticks, tag, len(tag))

    def _open_fence(  # noqa: PLR0913 - what a fence line consists of
        self, chunk: str, pos: int, base: int, ticks: str, tag: str, tag_length: int
    ) -> int:
        stop = pos + len(ticks) + tag_length
        self._judge_first = False
        self._run = 0
        self._segment(FixKind.CODE_FENCE, base + pos, base + stop)
        if self._fence_open and not tag_length:
            self._fence_open = False
            return stop
        self._fence_open = True
        self._fence_ticks = len(ticks)
        if tag in _FOREIGN_TAGS:
            self._state = FOREIGN
            self._at_start = False
        elif tag in _JSON_TAGS and not self._after:
            self._at_start = True
        return stop

    def _skip_foreign(self, chunk: str, pos: int, base: int) -> int:
        fence = "`" * self._fence_ticks
        stop = chunk.find(fence, pos)
        if stop < 0:
            tail = len(chunk) - len(chunk.rstrip("`"))
            keep = len(chunk) - min(tail, len(fence) - 1)
            keep = max(keep, pos)
            if keep > pos:
                self._segment(FixKind.PROSE, base + pos, base + keep)
            if keep < len(chunk):
                return self._hold(chunk, keep, base)
            return keep
        if stop > pos:
            self._segment(FixKind.PROSE, base + pos, base + stop)
        self._segment(FixKind.CODE_FENCE, base + stop, base + stop + len(fence))
        self._state = SEARCH
        self._fence_open = False
        return stop + len(fence)

    def _tag_state(self, chunk: str, pos: int) -> str:
        """Whether a reasoning tag stands at `pos`: its text, "no" or "wait"."""
        text = chunk[pos : pos + _LONGEST_TAG].lower()
        for length in range(len(text), 1, -1):
            part = text[:length]
            if part in _REASONING_TAGS or part in _CLOSING_TAGS:
                return part
        if pos + len(text) == len(chunk) and text in _TAG_STARTS and text != "[":
            return "wait"
        return "no"

    def _tag(self, chunk: str, pos: int, base: int) -> int:
        tag = self._tag_state(chunk, pos)
        if tag == "wait":
            return self._hold(chunk, pos, base)
        if tag == "no":
            return self._prose_character(pos, base)
        stop = pos + len(tag)
        self._judge_first = False
        self._run = 0
        if tag in _CLOSING_TAGS:
            self._end_of_headless_reasoning(base + pos, base + stop)
            return stop
        self._close_tag = _REASONING_TAGS[tag]
        self._state = REASONING
        self.segments.append(Segment(FixKind.REASONING, base + pos, base + stop))
        self._permit_reasoning(base + pos)
        return stop

    def _permit_reasoning(self, offset: int) -> None:
        if not self._policy.permits(FixKind.REASONING):
            raise MalformedOutputError(
                expected=f"{describe_kinds(self._kinds)} and nothing else",
                found="a reasoning block",
                offset=offset,
                available_fix=FixKind.REASONING,
            )

    def _end_of_headless_reasoning(self, tag: int, end: int) -> None:
        """A closing tag without an opening one: all before it was reasoning."""
        self._permit_reasoning(tag)
        if self._after:
            self._segment(FixKind.PROSE, tag, end)
            return
        start = min([tag, *(segment.start for segment in self.segments)])
        if self.whole is not None:
            start = min(start, self.whole[1])
        self.segments = [Segment(FixKind.REASONING, start, end)]
        self.whole = None
        self.malformed = None
        self._at_start = True

    def _skip_reasoning(self, chunk: str, pos: int, base: int) -> int:
        close = self._close_tag
        stop = chunk.lower().find(close, pos) if chunk.isascii() else _find(
            close, chunk, pos
        )
        segment = self.segments[-1]
        if stop < 0:
            keep = len(chunk)
            for length in range(min(len(close) - 1, len(chunk) - pos), 0, -1):
                if chunk[-length:].lower() == close[:length]:
                    keep -= length
                    break
            segment.end = base + keep
            return self._hold(chunk, keep, base) if keep < len(chunk) else keep
        stop += len(close)
        segment.end = base + stop
        self._state = SEARCH
        self._close_tag = ""
        if not self._after and not self._has_words:
            self._at_start = True
        return stop

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
        rest = self._held[1:].strip(_BLANK)
        if not rest:
            return True
        if self._held[0] == "[":
            return rest in _LITERAL_STARTS
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

    def fixes(self, text: str, base: int) -> list[Fix]:
        """The segments as fixes.

        Args:
            text: The text that holds them.
            base: The offset of its first character in the stream.
        """
        made = []
        for segment in self.segments:
            removed = text[segment.start - base : segment.end - base]
            if removed.strip():
                inserted = ""
            elif segment.kind is FixKind.UNUSUAL_WHITESPACE:
                inserted = " "
            else:
                inserted = ""
            made.append(Fix(segment.kind, segment.start, removed, inserted))
        return made


def _find(close: str, chunk: str, pos: int) -> int:
    found = re.compile(re.escape(close), re.IGNORECASE).search(chunk, pos)
    return found.start() if found else -1


def _is_citation(value: Any) -> bool:
    """Whether a document is `[3]` or `[1, 2]`, which words cite sources with."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, int) for item in value)
    )


def _same(first: Any, second: Any) -> bool:
    """Whether two documents are equal, numbers by their type as well."""
    return bool(first == second) and (
        json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    )


def describe_kinds(kinds: frozenset[RootKind]) -> str:
    """Name the kinds that a root may have, for a sentence."""
    names = {"object": "an object", "array": "an array", "scalar": "a scalar"}
    listed = [names[kind] for kind in ("object", "array", "scalar") if kind in kinds]
    return "a JSON document" if len(listed) == len(names) else " or ".join(listed)
