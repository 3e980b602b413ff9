"""The tool calls of a stream, from the raw fragments of its chunks.

LangChain builds `tool_calls` of a chunk with a parser that closes what is open, so a
cut call looks whole there. What is read here are the fragments as they came
(`tool_call_chunks`), and of a whole message the arguments as text where the provider
sends text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from pydantic_core import to_json

# Enough to know arguments that say nothing.
_HEAD: Final = 16


class Fragment(NamedTuple):
    """A part of one call.

    Attributes:
        index: The place of the call, or None.
        id: Its id, or None.
        name: The name of the tool, or None.
        args: A part of its arguments.
        is_whole: The arguments came parsed, and nobody knows their text.
    """

    index: Any
    id: str | None
    name: str | None
    args: str
    is_whole: bool = False


def fragments(message: BaseMessage) -> Sequence[Fragment]:
    """The parts of calls that a chunk or a message carries, in order."""
    if isinstance(message, AIMessageChunk):
        if not message.tool_call_chunks:
            return ()
        return [
            Fragment(
                part.get("index"),
                part.get("id"),
                part.get("name"),
                part.get("args") or "",
            )
            for part in message.tool_call_chunks
        ]
    if isinstance(message, AIMessage):
        return tuple(_whole_calls(message))
    return ()


def _whole_calls(message: AIMessage) -> Iterator[Fragment]:
    raw = message.additional_kwargs.get("tool_calls")
    if isinstance(raw, list) and all(map(_is_raw_call, raw)) and raw:
        for position, call in enumerate(raw):
            function = call["function"]
            yield Fragment(
                position, call.get("id"), function.get("name"), function["arguments"]
            )
        return
    # Whoever made the dicts may have closed them: a provider, or LangChain where it
    # streamed behind an ``invoke``.
    position = 0
    for parsed in message.tool_calls:
        text = to_json(parsed["args"]).decode()
        yield Fragment(position, parsed.get("id"), parsed["name"], text, is_whole=True)
        position += 1
    for invalid in message.invalid_tool_calls:
        yield Fragment(
            position, invalid.get("id"), invalid.get("name"), invalid.get("args") or ""
        )
        position += 1


def _is_raw_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, Mapping) else None
    return isinstance(function, Mapping) and isinstance(function.get("arguments"), str)


class Call:
    """One tool call while it is read.

    Attributes:
        number: Its place among the calls of the stream.
        id: Its id, or None.
        name: The name of the tool, or an empty string until it comes.
        is_whole: The arguments came parsed, and nobody knows their text.
        length: How many characters of arguments came.
        head: The first of them.
    """

    __slots__ = ("head", "id", "index", "is_whole", "length", "name", "number")

    def __init__(self, number: int, fragment: Fragment) -> None:
        self.number = number
        self.index = fragment.index
        self.id = fragment.id
        self.name = fragment.name or ""
        self.is_whole = fragment.is_whole
        self.length = 0
        self.head = ""

    def takes(self, fragment: Fragment) -> bool:
        """Whether a fragment may belong to this call."""
        if fragment.id and self.id and fragment.id != self.id:
            return False
        if fragment.index is None or self.index is None:
            return True
        return bool(fragment.index == self.index)


class Calls:
    """Which fragment belongs to which call.

    A new id on the same index is a new call (some servers give every call the index
    0); a fragment without index and id goes on with the last call.
    """

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    def assign(self, parts: Iterable[Fragment]) -> Iterator[tuple[Call, Fragment]]:
        """Yield each fragment with its call."""
        for part in parts:
            call = self._find(part)
            if call is None:
                call = Call(len(self._calls), part)
                self._calls.append(call)
            else:
                call.id = call.id or part.id
                call.name = call.name or part.name or ""
            if call.length < _HEAD:
                call.head += part.args[:_HEAD]
            call.length += len(part.args)
            yield call, part

    def _find(self, part: Fragment) -> Call | None:
        if part.index is None and part.id:
            same = [call for call in self._calls if call.id == part.id]
            return same[-1] if same else None
        if part.index is None:
            # A name without index and id begins a call, unless that has no name yet.
            last = self._calls[-1] if self._calls else None
            return None if last is None or (part.name and last.name) else last
        for call in reversed(self._calls):
            if call.index == part.index:
                return call if call.takes(part) else None
        return None
