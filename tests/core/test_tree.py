from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partial_json_core import PartialParser, _scanner, _tree

leaves = st.none() | st.integers() | st.text(max_size=8)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=20,
)
roots = st.lists(trees) | st.dictionaries(st.text(max_size=3), trees)


def keeping(document: str, size: int, what: str) -> list[tuple[Any, str]]:
    """Read a document and keep snapshots, with how they looked at the time."""
    parser = PartialParser()
    kept: list[tuple[Any, str]] = []
    held: Any = None
    for pos in range(0, len(document), size):
        parser.feed(document[pos : pos + size])
        held = parser.snapshot()
        if what == "child":
            while isinstance(held, dict | list) and len(held):
                held = list(held.values() if isinstance(held, dict) else held)[-1]
        if what == "every" or (what in ("third", "child") and pos % 3 == 0):
            kept.append((held, repr(held)))
    assert repr(parser.close("stop")) == repr(json.loads(document))
    return kept


@pytest.mark.parametrize("exact", [True, False], ids=["counted", "always-kept"])
@pytest.mark.parametrize("what", ["every", "third", "latest", "child"])
@given(root=roots, size=st.integers(1, 9))
def test_a_kept_snapshot_never_changes(
    what: str, exact: bool, root: Any, size: int
) -> None:
    """Whatever is kept of a snapshot stays as it was when it was taken."""
    with pytest.MonkeyPatch.context() as patch:
        if not exact:
            for module in (_scanner, _tree):
                patch.setattr(module, "getrefcount", _tree._always_kept)
        for snapshot, then in keeping(json.dumps(root), size, what):
            assert repr(snapshot) == then


def test_a_snapshot_that_nobody_kept_is_not_copied() -> None:
    """The root container stays the same object while nobody holds it."""
    parser = PartialParser()
    parser.feed('{"a": [1, "x')
    first = id(parser.snapshot())
    for _ in range(5):
        parser.feed("y")
        assert id(parser.snapshot()) == first


def test_holding_the_latest_snapshot_takes_turns() -> None:
    """Who holds one snapshot at a time sees two containers in turns."""
    parser = PartialParser()
    parser.feed('{"a": [1, "x')
    held = parser.snapshot()
    seen = {id(held)}
    for _ in range(6):
        parser.feed("y, z")
        held = parser.snapshot()
        seen.add(id(held))

    assert len(seen) == 2
    assert held == {"a": [1, "x" + "y, z" * 6]}
