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
    FULL            ``,`` in an array that the  a value, if the schema permits it after
                    schema says is full         all; ``]`` is a fix
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

from typing import Any, Final

from ._grammar import (
    AFTER,
    COLON,
    COMMENT,
    DONE,
    EXPECTED,
    FIRST_ELEMENT,
    FIRST_KEY,
    FULL,
    INT,
    JSON_SPELLING,
    KEY,
    MINUS,
    NAME,
    NEXT_ELEMENT,
    NEXT_KEY,
    NUMBER,
    NUMBER_COMPLETE,
    PYTHON_LITERALS,
    SPACES,
    STRING,
    UNUSUAL_SPACES,
    VALUE,
    VALUE_STARTS,
    ZERO,
    describe,
    name_start,
    number,
    plain_run,
    spaces,
)
from ._tokens import TokenReader
from ._tree import (
    CHILD_REFERENCES,
    ROOT_REFERENCES,
    Frame,
    attach,
    detach,
    dict_set,
    getrefcount,
    list_append,
    remove_open,
    renew,
)
from .errors import MalformedOutputError
from .events import Completed, Event, FieldSettled, TextDelta
from .fixes import FixKind
from .partial import UNSET, PartialDict, PartialList, PartialStr
from .paths import EVERYTHING, Path

_make: Final = tuple.__new__


class Scanner(TokenReader):
    """Reads one document; see `TokenReader` for its attributes."""

    __slots__ = ()

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
                expected = ROOT_REFERENCES
                for kept in frames:
                    if getrefcount(kept.container) > expected:
                        renew(frames, frames.index(kept))
                        break
                    expected = CHILD_REFERENCES
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
        # more a chunk, attributes in place of these locals 20 %, and making an event
        # by its class instead of by tuple.__new__ 5 %.
        frame = frames[-1] if frames else None
        blank = self._blank
        pos = 0
        end = len(chunk)
        while pos < end:
            if state >= KEY:
                if state == DONE:
                    break
                stop = plain_run(chunk, pos).end()  # type: ignore[union-attr]  # matches nothing too
                text = self._text
                if (
                    self._quote == '"'
                    and (stop == end or chunk[stop] == '"')
                    and len(text) + stop - pos < self._check_at
                ):
                    if stop > pos:
                        piece = chunk[pos:stop]
                        # `text` is the only reference, so that it grows in place.
                        self._text = ""
                        text += piece
                        if state == STRING:
                            self.changed = True
                            self._shown += len(piece)
                            if frame is None:
                                self._show_root(piece, events)
                            elif frame.watch is EVERYTHING:
                                path = (*frame.path, frame.segment)
                                events.append(_make(TextDelta, (path, piece)))
                            elif frame.watch is not None:
                                self._show(frame, piece, events)
                    if stop == end:
                        self._text = text
                        break
                    pos = stop + 1
                else:
                    self._state = state
                    try:
                        pos = self._read_string(chunk, pos, events)
                    finally:
                        # Also when it failed: what was read before is an event too.
                        if state == STRING:
                            self._flush_text(events)
                    if self._quote:
                        break
                    self._quote = '"'
                    text = self._text
                self._text = ""
                if state == KEY:
                    self._take_key(frame, text, self._string_start)
                    state = COLON
                    continue
                value: Any = text
                if self._suspect is not None:
                    self._end_suspect(text)
                state = AFTER
            else:
                char = chunk[pos]
                if state < NUMBER and char in SPACES:
                    stop = pos + 1
                    if stop < end and chunk[stop] in SPACES:
                        stop = spaces(chunk, stop).end()  # type: ignore[union-attr]  # it begins with white space
                    blank += stop - pos
                    if blank > self._max_blank:
                        self._state = state
                        beyond = base + stop - blank + self._max_blank
                        self._limit("max_whitespace_run", beyond)
                    pos = stop
                    continue
                blank = 0
                if state == AFTER:
                    if char == ",":
                        self._comma = base + pos
                        if frame.is_object:  # type: ignore[union-attr]  # AFTER has a frame
                            state = NEXT_KEY
                        elif frame.node is None:  # type: ignore[union-attr]  # as above
                            state = NEXT_ELEMENT
                        else:
                            state = self._next_element(frame)  # type: ignore[arg-type]  # as above
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
                        stop = plain_run(chunk, pos + 1).end()  # type: ignore[union-attr]  # matches nothing too
                        if (
                            stop == end
                            or chunk[stop] != '"'
                            or stop - pos > self._first_check
                        ):
                            self._open_string(base + pos, STRING)
                            state = STRING
                            pos += 1
                            continue
                        value = chunk[pos + 1 : stop]
                        pos = stop + 1
                        if not value:
                            pass
                        elif frame is None:
                            self._show_root(value, events)
                        elif frame.watch is not None:
                            self._show(frame, value, events)
                    elif char in "-0123456789":
                        found = number(chunk, pos)
                        if found is None or found.end() - pos > self._max_number:
                            self._string_start = base + pos
                            self._text = char
                            self._phase = (
                                MINUS if char == "-" else ZERO if char == "0" else INT
                            )
                            state = NUMBER
                            pos += 1
                            continue
                        pos = found.end()
                        digits = found[0]
                        if found.lastindex is None:
                            value = int(digits)
                        else:
                            self._state = VALUE
                            value = self._float(digits, base + pos - len(digits))
                    elif char in "{[":
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
                        if char in PYTHON_LITERALS:
                            self._fix(
                                FixKind.PYTHON_LITERAL,
                                base + pos,
                                literal,
                                JSON_SPELLING[literal],
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
                        stop = plain_run(chunk, pos + 1).end()  # type: ignore[union-attr]  # matches nothing too
                        if (
                            stop == end
                            or chunk[stop] != '"'
                            or stop - pos > self._first_check
                        ):
                            self._open_string(base + pos, KEY)
                            state = KEY
                            pos += 1
                            continue
                        self._take_key(frame, chunk[pos + 1 : stop], base + pos)
                        pos = stop + 1
                        state = COLON
                        if pos < end and chunk[pos] == ":":
                            state = VALUE
                            pos += 1
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
                    frame = frames[-1] if frames else None
                    continue
            # A scalar has settled.
            self.changed = True
            offset = base + pos
            if frame is None:
                state = self._settle_root(value, offset, events)
                break
            shown = value
            if frame.child is not None and type(value) is not frame.child.exact:
                self._state = state
                shown = self._judge(frame, value, offset, events)
            if frame.is_object:
                segment = frame.segment
                dict_set(frame.container, segment, value)
                if frame.settled_at is not None:
                    frame.settled_at[segment] = offset
            else:
                segment = len(frame.container)
                list_append(frame.container, value)
            watch = frame.watch
            if watch is not None:
                path = (*frame.path, segment)
                if watch is EVERYTHING:
                    events.append(_make(FieldSettled, (path, shown, offset)))
                else:
                    found_watch = watch.child(segment)
                    if found_watch is not None and found_watch.selected:
                        events.append(FieldSettled(path, shown, offset))
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
        if state == FULL:
            return self._leave_full(char, pos, events)
        if state in (FIRST_KEY, NEXT_KEY):
            if char == "'" and self._policy.permits(FixKind.SINGLE_QUOTED_STRING):
                self._open_single(offset, KEY, events)
                return KEY, pos + 1
            if name_start(char) and self._policy.permits(FixKind.UNQUOTED_KEY):
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
        return self._unexpected(char, offset)

    def _leave_full(self, char: str, pos: int, events: list[Event]) -> tuple[int, int]:
        """Read what follows a comma in an array that the schema says is full."""
        offset = self._base + pos
        if char == "]":
            self._trailing_comma(char, offset, events)
            return self._close_container(offset + 1, events), pos + 1
        if char in VALUE_STARTS or char in self._literals:
            self._overflow(self._frames[-1], offset)
        return NEXT_ELEMENT, pos

    # --------------------------------------------------------------- containers

    def _open_container(self, char: str, offset: int) -> int:
        frames = self._frames
        if len(frames) >= self._limits.max_depth:
            self._limit("max_depth", offset)
        container = PartialDict() if char == "{" else PartialList()
        path: Path = ()
        watch = self._watch
        settled_at = None
        if frames:
            parent = frames[-1]
            watch = parent.watch
            if not parent.is_object:
                parent.segment = len(parent.container)
                list_append(parent.container, container)
            else:
                dict_set(parent.container, parent.segment, container)
            if watch is not None:
                path = (*parent.path, parent.segment)
                watch = watch.child(parent.segment)
            node = self._open_node(parent.child, char, offset)
        else:
            if char == "{":
                settled_at = self.settled_at
            node = self._open_node(self._place, char, offset)
        frame = Frame(container, path, watch, node, settled_at)
        if node is not None and char == "[":
            frame.child = self._element(frame, node, 0)
        frames.append(frame)
        self.changed = True
        return FIRST_KEY if char == "{" else FIRST_ELEMENT

    def _close_container(self, offset: int, events: list[Event]) -> int:
        frame = self._frames.pop()
        container = frame.container
        container.is_open = False
        self.changed = True
        shown = container
        if frame.node is not None and self._frames:
            shown = self._judge_container(frame, offset)
        if frame.watch is not None and frame.watch.selected:
            events.append(FieldSettled(frame.path, shown, offset))
        if not self._frames:
            self.root = container
            events.append(Completed(offset))
            return DONE
        parent = self._frames[-1]
        if parent.settled_at is not None:
            parent.settled_at[parent.segment] = offset
        return AFTER

    def _settle_root(self, value: Any, offset: int, events: list[Event]) -> int:
        self.root = value
        if self._watch is not None and self._watch.selected:
            events.append(FieldSettled((), value, offset))
        events.append(Completed(offset))
        return DONE

    def _trailing_comma(self, char: str, offset: int, events: list[Event]) -> None:
        if not self._policy.permits(FixKind.TRAILING_COMMA):
            self._fail(
                MalformedOutputError(
                    expected=EXPECTED[self._state],
                    found=f"{describe(char)} after a comma",
                    offset=offset,
                    available_fix=FixKind.TRAILING_COMMA,
                )
            )
        self._fix(FixKind.TRAILING_COMMA, self._comma, ",", "", events)

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
            and self._phase in NUMBER_COMPLETE
        )

    def end_bare_number(self) -> None:
        """Settle a root number at the end of the text."""
        value = self._end_number()
        self._state = self._settle_root(value, 0, [])

    def snapshot(self) -> Any:
        """Return what there is; see `_tree` for how it stays as it is."""
        self.changed = False
        frames = self._frames
        if frames:
            if not self._exposed:
                self._exposed = True
                if self._state == STRING:
                    attach(frames[-1], self._text)
            return frames[0].container
        if self.root is UNSET:
            return PartialStr(self._text) if self._state == STRING else UNSET
        if isinstance(self.root, str):
            return PartialStr(self.root, is_open=False)
        return self.root

    def settled_entries(self) -> dict[str, Any]:
        """The entries of an open root object that have settled."""
        if not self._frames:
            return {}
        root = self._frames[0].container
        return {key: root[key] for key in self.settled_at}

    def open_frames(self) -> list[Frame]:
        """The stack of open containers, root first, without an open string."""
        if self._exposed:
            self._exposed = False
            if self._frames:
                renew(self._frames, 0)
        if self._state == STRING and self._frames:
            remove_open(self._frames[-1])
        return self._frames
