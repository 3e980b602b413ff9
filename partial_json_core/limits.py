"""Ceilings on what is read, so that a runaway model costs a bounded amount."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

# pydantic's JSON reader (jiter) stops at 200 levels, so a deeper document could be
# read here and still never become a value.
DEEPEST: Final = 200
# CPython converts at most 4300 decimal digits to int by default (CVE-2020-10735).
LONGEST_NUMBER: Final = 4300


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a parser reads before it raises `LimitExceededError`.

    Attributes:
        max_chars: Characters of the whole output, prose and reasoning included.
        max_depth: Open containers at one time; at most 200.
        max_number_chars: Characters of one number; at most 4300.
        max_whitespace_run: White space in a row outside strings, up to the end of the
            root.
        max_idle_chunks: Chunks before the root begins, empty ones included.
        max_string_chars: Characters of one key or string as written (escapes count in
            full), or None for no limit of its own.
        max_repeat: Characters as written for which one string may repeat a pattern of
            at most 32 characters, or None to allow any repetition.

    Raises:
        ValueError: A limit is not positive, or above what it may be at most.
    """

    # 1 MiB is above 128,000 tokens of 4 characters, the largest output that
    # providers offer, twice over.
    max_chars: int = 1_048_576
    # RFC 8259 section 9 lets a parser set a limit; schemas of real use stay below 20.
    max_depth: int = 100
    # 1000 digits hold any key or hash written as a number (RSA-3072: 925 digits).
    max_number_chars: int = 1_000
    # Constrained decoding that runs away writes white space for ever; the deepest
    # allowed indentation (100 levels of 8) stays below.
    max_whitespace_run: int = 1_000
    # Above the largest output of a provider (128,000 tokens) at one token a chunk.
    max_idle_chunks: int = 200_000
    # Long strings are legitimate (files, pages); max_chars bounds them already.
    max_string_chars: int | None = None
    # 16,384 tokens of 4 characters, a common output ceiling: a string that repeated
    # itself for so long has nothing new to say.
    max_repeat: int | None = 65_536

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ValueError(f"`{field.name}` must be at least 1, got {value!r}")
        for name, ceiling in (
            ("max_depth", DEEPEST),
            ("max_number_chars", LONGEST_NUMBER),
        ):
            if getattr(self, name) > ceiling:
                raise ValueError(
                    f"`{name}` must be at most {ceiling}, got {getattr(self, name)!r}"
                )
