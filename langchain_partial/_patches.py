"""JSON Patch (RFC 6902) from what changed, without comparing anything.

Between two snapshots a container only gains entries, and only its last entry may have
been open. So the operations are read off the spine of open containers: what is behind
the known count is new, and the last known entry may have grown.
"""

from __future__ import annotations

from typing import Any

from partial_json_core import UNSET, PartialDict, PartialList

from ._reader import Reader

Operation = dict[str, Any]


class Patches:
    """The operations that lead from each snapshot to the next.

    Args:
        reader: What is being read.

    Applied in order to None, the operations up to a snapshot give that snapshot.
    """

    __slots__ = ("_is_begun", "_reader", "_spine", "_text")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._is_begun = False
        # For each container that was open: how many entries are known.
        self._spine: list[int] = []
        self._text: str | None = None

    def news(self) -> list[Operation] | None:
        """The operations since the last call, or None when there are none."""
        if not self._reader.has_changed:
            return None
        raw = self._reader.plain()
        if raw is UNSET:
            return None
        return self.to(raw) or None

    def last(self) -> list[Operation] | None:
        """The operations that still lead to the final document."""
        raw = self._reader.plain()
        # A scalar is known to be the document at the end only.
        return self.news() if self._is_begun else self.to(raw)

    def to(self, raw: Any) -> list[Operation]:
        """Return the operations that lead to a snapshot.

        Args:
            raw: An untyped snapshot, or the final value as plain JSON.
        """
        if self._is_begun and isinstance(raw, dict | list):
            operations = self._grow(raw)
        else:
            self._is_begun = True
            operations = [{"op": "replace", "path": "", "value": plain(raw)}]
        self._remember(raw)
        return operations

    def _grow(self, raw: Any) -> list[Operation]:
        container, pointer = raw, ""
        levels: list[list[Operation]] = []
        for depth, known in enumerate(self._spine):
            operations: list[Operation] = []
            levels.append(operations)
            entries = _entries(container, max(known - 1, 0))
            is_last = depth + 1 == len(self._spine)
            for index, (key, found) in enumerate(entries):
                path = f"{pointer}/{_escape(key)}"
                if index or not known:
                    added = plain(found)
                    operations.append({"op": "add", "path": path, "value": added})
                elif is_last and self._text is not None and found != self._text:
                    operations.append({"op": "replace", "path": path, "value": found})
            if is_last or not entries:
                break
            key, container = entries[0]
            pointer = f"{pointer}/{_escape(key)}"
        # In document order: what is further in came first.
        return [operation for level in reversed(levels) for operation in level]

    def _remember(self, raw: Any) -> None:
        self._spine = []
        self._text = raw if isinstance(raw, str) else None
        while isinstance(raw, PartialDict | PartialList) and raw.is_open:
            self._spine.append(len(raw))
            if not raw:
                return
            key, raw_last = _entries(raw, len(raw) - 1)[0]
            if raw.open_segment == key:
                self._text = raw_last
                return
            raw = raw_last


def _entries(container: Any, start: int) -> list[tuple[Any, Any]]:
    """The entries of a container from a position on."""
    if isinstance(container, list):
        return list(enumerate(container[start:], start))
    count = len(container) - start
    last: list[tuple[Any, Any]] = []
    for key in reversed(container):
        if len(last) == count:
            break
        last.append((key, container[key]))
    last.reverse()
    return last


def plain(value: Any) -> Any:
    """A copy without provisional types."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _escape(key: Any) -> str:
    """A segment of a JSON Pointer (RFC 6901)."""
    return str(key).replace("~", "~0").replace("/", "~1")
