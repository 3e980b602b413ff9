"""What `PartialParser.feed` returns: past facts, in document order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from .fixes import Fix
from .paths import Path


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Characters were added to an open string value.

    Attributes:
        path: Where the string stands.
        text: The new characters, decoded. All deltas of a path joined are the string.
    """

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class FieldSettled:
    """A value is final: nothing that may still come can change it.

    Attributes:
        path: Where the value stands. Children come before their parents.
        value: The value; containers are read-only.
        offset: Characters of the stream up to and including the value's last one.
    """

    path: Path
    value: Any
    offset: int


@dataclass(frozen=True, slots=True)
class FixApplied:
    """A syntax-safe fix was applied."""

    fix: Fix


@dataclass(frozen=True, slots=True)
class Completed:
    """The root closed.

    Attributes:
        offset: Characters of the stream up to and including the root's last one.
    """

    offset: int


Event: TypeAlias = TextDelta | FieldSettled | FixApplied | Completed
