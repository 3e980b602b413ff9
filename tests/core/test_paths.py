from __future__ import annotations

from typing import Any

import pytest

from partial_json_core import format_path
from partial_json_core.paths import EVERYTHING, compile_patterns, parse_pointer


@pytest.mark.parametrize(
    ("path", "printed"),
    [
        ((), "$"),
        (("rows", 2, "amount"), "$.rows[2].amount"),
        (("a b", ""), "$['a b']['']"),
        (("k" * 50,), "$." + "k" * 40 + "…"),
        (("d",) * 20, "$" + ".d" * 8 + "…" + ".d" * 8),
    ],
)
def test_a_path_prints_as_json_path(path: Any, printed: str) -> None:
    """Paths print as JSONPath, long ones shortened."""
    if path and path[0].startswith("k"):
        printed = "$['" + "k" * 40 + "…']"
    assert format_path(path) == printed


def selected(patterns: Any, path: tuple[Any, ...]) -> bool:
    node = compile_patterns(patterns)
    for segment in path:
        node = None if node is None else node.child(segment)
    return node is not None and node.selected


@pytest.mark.parametrize(
    ("patterns", "path", "is_selected"),
    [
        (None, ("any", 3), True),
        ((), (), False),
        ([""], (), True),
        ([""], ("a",), False),
        (["/rows/*/amount"], ("rows", 7, "amount"), True),
        (["/rows/*/amount"], ("rows", 7), False),
        (["/rows/*/amount"], ("rows", 7, "id"), False),
        (["/rows/0", "/rows/*"], ("rows", 0), True),
        (["/a/b", "/*/c"], ("a", "c"), True),
        (["/a/b", "/*/c"], ("z", "c"), True),
        (["/a/b", "/*/*/d"], ("a", "b", "d"), True),
        (["/a/*/x", "/*/b/y"], ("a", "b", "y"), True),
        (["/a/*/x", "/*/*/y"], ("a", "q", "y"), True),
        (["/a~1b/c~0d"], ("a/b", "c~d"), True),
    ],
)
def test_a_pattern_selects_paths(
    patterns: Any, path: tuple[Any, ...], is_selected: bool
) -> None:
    """A pattern is a JSON Pointer with `*` for one segment."""
    assert selected(patterns, path) is is_selected


def test_everything_is_one_node() -> None:
    """Selecting all costs one node, however deep the document is."""
    assert compile_patterns(None) is EVERYTHING
    assert EVERYTHING.child("a") is EVERYTHING


def test_a_pattern_that_is_no_pointer_is_refused() -> None:
    """A pattern without a slash says how to write it."""
    with pytest.raises(ValueError, match="start it with '/'"):
        compile_patterns(["rows"])
    with pytest.raises(ValueError, match="must be a collection"):
        compile_patterns("/rows")
    assert parse_pointer("/a/b") == ["a", "b"]
