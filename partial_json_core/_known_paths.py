"""Whether a schema can have a path: a misspelt pattern would select nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ._guard import Elements, Entries, Fields, Marker, Place
from ._unions import Tagged, Union, Wrapped
from .paths import parse_pointer

_WILDCARD: Final = "*"


def check_patterns(patterns: Iterable[str], place: Place | None) -> None:
    """Refuse patterns that the schema cannot have.

    Args:
        patterns: JSON Pointer patterns.
        place: What the schema says about the root, or None when nothing is known.

    Raises:
        ValueError: A pattern selects nothing, whatever the document.
    """
    for pattern in patterns:
        segments = parse_pointer(pattern)
        if all(segment == _WILDCARD for segment in segments):
            # Whatever there is at this depth.
            continue
        missing = _missing(place, segments, "")
        if missing is not None:
            above, known = missing
            has = f"has {', '.join(known)}" if known else "has nothing below it"
            raise ValueError(
                f"the schema has no {pattern!r}: {above or 'the root'} {has}"
            )


def _missing(
    place: Place | None, segments: list[str], above: str
) -> tuple[str, list[str]] | None:
    """Where a path leaves the schema, and what there is; None when it may not."""
    if place is None or not segments:
        return None
    segment, rest = segments[0], segments[1:]
    found: tuple[str, list[str]] = (above, [])
    for source in _sources(place):
        if source is None:
            return None
        below = _below(source, segment)
        if not below:
            found = (above, [*found[1], *_names(source)])
        for inner in below:
            missing = _missing(inner, rest, f"{above}/{segment}")
            if missing is None:
                return None
            found = missing
    return found


def _sources(place: Place) -> list[Any]:
    """What an object and an array at a place are; None for unknown."""
    pending: list[Any] = [place.object, place.array]
    found: list[Any] = []
    while pending:
        source = pending.pop()
        if isinstance(source, Marker):
            continue
        if isinstance(source, Wrapped):
            pending.append(source.inner)
        elif isinstance(source, Tagged):
            pending += map(source.choose, source.choices)
        elif isinstance(source, Union):
            for choice in source.choices:
                pending += [choice.place.object, choice.place.array]
        else:
            found.append(source)
    return found


def _below(source: Any, segment: str) -> list[Place | None]:
    """The places that a segment may name."""
    if isinstance(source, Fields):
        if segment == _WILDCARD:
            return [None]
        for field in source.fields.values():
            if segment in field.keys:
                return [field.place]
        if segment in source.known or source.keeps_extra:
            return [source.extra_place]
        return []
    if isinstance(source, Elements):
        if segment == _WILDCARD or segment.isdigit():
            index = int(segment) if segment.isdigit() else 0
            return [source.child(index, ())]
        return []
    return [source.value_place] if isinstance(source, Entries) else [None]


def _names(source: Any) -> list[str]:
    if isinstance(source, Fields):
        return [
            field.keys[0] if field.keys else field.name
            for field in source.fields.values()
        ]
    return ["elements: `*` or an index"] if isinstance(source, Elements) else []
