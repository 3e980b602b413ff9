"""What is skipped around a document, and recorded: words, blanks, fences, reasoning.

`Skipping` holds the state of the framing between two chunks and reads what is no
document. The framing, which looks for documents, is built on it.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from ._grammar import SPACES
from ._markers import (
    BLANK,
    BOM,
    CLOSING_TAGS,
    FENCE_TICKS,
    FOREIGN_TAGS,
    JSON_TAGS,
    LONGEST_FENCE,
    LONGEST_FENCE_TAG,
    LONGEST_GAP,
    LONGEST_TAG,
    REASONING_TAGS,
    SCALAR_STARTS,
    TAG_STARTS,
    after_separator,
    fence,
    find_tag,
    root_in_fence,
    root_in_fence_part,
    tick_run,
)
from ._scanner import Scanner
from ._schema import RootKind, describe_kinds
from .errors import LimitExceededError, MalformedOutputError
from .fixes import Fix, FixKind, FixPolicy
from .limits import Limits

SEARCH: Final = 0
REASONING: Final = 1
FOREIGN: Final = 2
HIDDEN: Final = 3
CANDIDATE: Final = 4
CITATION: Final = 5
COMMIT: Final = 6
TICKS: Final = 7


class Segment:
    """A stretch of text outside the document."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: FixKind, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end


class Skipping:
    """Reads what is no document.

    Attributes:
        segments: What was skipped so far on this side of the root.
        whole: A document of another kind with which the text begins, if it is
            complete.
        words_after_whole: More than blanks and fences stood behind it.
        cites: It is a list of numbers in words, which may only cite sources.
        malformed: What looked like an object that breaks the grammar, if anything.
    """

    __slots__ = (
        "_after",
        "_at_start",
        "_before",
        "_candidate",
        "_candidate_base",
        "_candidate_in_words",
        "_candidate_text",
        "_close_tag",
        "_depth",
        "_fence_open",
        "_fence_ticks",
        "_has_words",
        "_held",
        "_held_at",
        "_hidden",
        "_hides_root",
        "_judge_first",
        "_kinds",
        "_limits",
        "_line_has_words",
        "_policy",
        "_rescanned",
        "_root",
        "_run",
        "_scalar_starts",
        "_state",
        "cites",
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
        self._before = ""
        self._fence_open = False
        self._fence_ticks = FENCE_TICKS
        self._close_tag = ""
        self._depth = 0
        self._hidden = "{}"
        self._hides_root = False
        self._run = 0
        self._scalar_starts = SCALAR_STARTS
        if policy.permits(FixKind.PYTHON_LITERAL):
            self._scalar_starts += "TFN"
        if policy.permits(FixKind.SINGLE_QUOTED_STRING):
            self._scalar_starts += "'"
        self._has_words = False
        self._line_has_words = False
        self._candidate_in_words = False
        self._rescanned = 0
        self._candidate: Scanner | None = None
        self._candidate_text: list[str] = []
        self._candidate_base = 0
        self._root: tuple[Any, int, int] | None = None
        self.segments: list[Segment] = []
        self.whole: tuple[Scanner, int, int] | None = None
        self.words_after_whole = False
        self.cites = False
        self.malformed: MalformedOutputError | None = None
        self.repeats: list[tuple[int, str]] = []

    # ------------------------------------------------------------ words and blanks

    def _hold(self, chunk: str, pos: int, base: int) -> int:
        self._held = chunk[pos:]
        self._held_at = base + pos
        return -1

    def _blanks(self, chunk: str, pos: int, stop: int, base: int) -> None:
        self._run += stop - pos
        beyond = 0 if self._after else self._run - self._limits.max_whitespace_run
        # What comes before the limit is judged first, so that chunking never matters.
        text = chunk[pos : stop - max(beyond, 0)]
        if "\n" in text:
            self._line_has_words = False
        if text.strip(SPACES):
            self._unusual_blanks(text, base + pos)
        if beyond > 0:
            self._run_away(base + stop - beyond)

    def _unusual_blanks(self, text: str, offset: int) -> None:
        for at, char in enumerate(text, offset):
            if char in SPACES:
                continue
            kind = FixKind.UNUSUAL_WHITESPACE
            if self.segments and self.segments[-1].kind is FixKind.PROSE:
                kind = FixKind.PROSE
            if char == BOM and at == 0:
                kind = FixKind.BYTE_ORDER_MARK
            self._segment(kind, at, at + 1)

    def _blanks_in_words(self, text: str, offset: int) -> None:
        """Apply the limit to white space between words."""
        longest = self._limits.max_whitespace_run
        if self._after or len(text) <= longest:
            return
        found = re.search(f"[{re.escape(BLANK)}]{{{longest + 1}}}", text)
        if found is not None:
            self._run_away(offset + found.end() - 1)

    def _run_away(self, last: int) -> NoReturn:
        """Fail for white space that goes on behind the last offset permitted."""
        raise LimitExceededError(
            limit="max_whitespace_run",
            maximum=self._limits.max_whitespace_run,
            offset=last + 1,
        )

    def _judge(self, chunk: str, pos: int, base: int) -> bool:
        """Judge the first character after the root (R6); True when it must wait."""
        char = chunk[pos]
        if char in '}]"':
            self._lost_field(char, base + pos)
        if char in ",:":
            found = after_separator(chunk, pos)
            assert found is not None
            following = found[1]
            gap = found.end() - pos - (1 if following is None else 2)
            # Behind so much white space no field is lost.
            if gap <= LONGEST_GAP:
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
        if kind is FixKind.PROSE:
            self._has_words = True
            if self.whole is not None:
                self.words_after_whole = True
        last = self.segments[-1] if self.segments else None
        # Words on both sides of a document that may be the answer stay apart.
        apart = (
            last is not None
            and self.whole is not None
            and (last.end <= self.whole[1] < end)
        )
        if (
            last is not None
            and last.kind is kind
            and kind is FixKind.PROSE
            and not apart
        ):
            last.end = end
            return
        self.segments.append(Segment(kind, start, end))

    def _prose_character(self, pos: int, base: int) -> int:
        self._run = 0
        self._line_has_words = True
        self._judge_first = False
        self._at_start = False
        if self._state == HIDDEN:
            return pos
        self._segment(FixKind.PROSE, base + pos, base + pos + 1)
        return pos + 1

    @property
    def _is_scalar_only(self) -> bool:
        return len(self._kinds) == 1 and "scalar" in self._kinds

    # ---------------------------------------------------------- fences and tags

    def _ticks(self, chunk: str, pos: int, base: int) -> int:
        found = fence(chunk, pos)
        assert found is not None
        ticks, tag = found[1], found[2]
        if len(ticks) > LONGEST_FENCE:
            return self._skip_ticks(chunk, pos, base)
        if found.end() == len(chunk) and len(tag) < LONGEST_FENCE_TAG:
            return self._hold(chunk, pos, base)
        tag = tag.lower()
        if len(ticks) < FENCE_TICKS:
            self._at_start = False
            self._judge_first = False
            self._segment(FixKind.PROSE, base + pos, base + found.end(1))
            return found.end(1)
        if tag in FOREIGN_TAGS and self._at_start:
            # The text begins with this fence: a root right in it is the answer.
            if root_in_fence_part(chunk, found.end()):
                return self._hold(chunk, pos, base)
            if root_in_fence(chunk, found.end()):
                return self._open_fence(base + pos, ticks, "", len(tag)) - base
        return self._open_fence(base + pos, ticks, tag, len(tag)) - base

    def _skip_ticks(self, chunk: str, pos: int, base: int) -> int:
        """Take a run of backticks that is too long for a fence for words."""
        self._at_start = False
        self._judge_first = False
        stop = tick_run(chunk, pos).end()  # type: ignore[union-attr]  # matches nothing too
        if stop > pos:
            self._segment(FixKind.PROSE, base + pos, base + stop)
        self._state = TICKS if stop == len(chunk) else SEARCH
        return stop

    def _open_fence(self, start: int, ticks: str, tag: str, tag_length: int) -> int:
        """Open or close a fence; returns the offset behind its line's tag."""
        stop = start + len(ticks) + tag_length
        self._judge_first = False
        self._run = 0
        self._segment(FixKind.CODE_FENCE, start, stop)
        if self._fence_open and not tag_length:
            self._fence_open = False
            return stop
        self._fence_open = True
        self._fence_ticks = len(ticks)
        if tag in FOREIGN_TAGS:
            self._state = FOREIGN
            self._at_start = False
        elif tag in JSON_TAGS and not self._after:
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
        text = chunk[pos : pos + LONGEST_TAG].lower()
        for length in range(len(text), 1, -1):
            part = text[:length]
            if part in REASONING_TAGS or part in CLOSING_TAGS:
                return part
        if pos + len(text) == len(chunk) and text in TAG_STARTS and text != "[":
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
        if tag in CLOSING_TAGS:
            self._end_of_headless_reasoning(base + pos, base + stop)
            return stop
        self._close_tag = REASONING_TAGS[tag]
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
        self._has_words = False
        self.whole = None
        self.malformed = None
        self._at_start = True

    def _skip_reasoning(self, chunk: str, pos: int, base: int) -> int:
        close = self._close_tag
        stop = find_tag(close, chunk, pos)
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
