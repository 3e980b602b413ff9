from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from partial_json_core import (
    UNSET,
    FieldState,
    PartialDict,
    PartialList,
    PartialParser,
    PartialStr,
)

TEXT = '{"a": {"b": [1, "ab'


def snapshot(text: str = TEXT) -> Any:
    parser = PartialParser()
    parser.feed(text)
    return parser.snapshot()


def test_a_snapshot_is_a_dict_like_any_other() -> None:
    """It prints, compares and dumps as the dict that it shows."""
    shown = snapshot()

    assert isinstance(shown, dict)
    assert repr(shown) == "{'a': {'b': [1, 'ab']}}"
    assert shown == {"a": {"b": [1, "ab"]}}
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ((), FieldState.OPEN),
        (("a",), FieldState.OPEN),
        (("a", "b", 0), FieldState.SETTLED),
        (("a", "b", 1), FieldState.OPEN),
        (("a", "b", -1), FieldState.OPEN),
        (("a", "b", -2), FieldState.SETTLED),
        (("a", "b", 2), FieldState.ABSENT),
        (("c",), FieldState.ABSENT),
        (("a", "b", 0, "x"), FieldState.ABSENT),
        (("a", "b", 1, 0), FieldState.ABSENT),
        (("a", "b", True), FieldState.ABSENT),
    ],
)
def test_a_path_has_a_state(path: Any, state: FieldState) -> None:
    """A value is absent, open or settled."""
    assert snapshot().state(*path) is state
    assert snapshot().state(path) is state


def test_all_of_a_settled_container_has_settled() -> None:
    """Below a container that has closed everything has settled."""
    shown = snapshot('{"a": {"b": [1, "ab"]}, "c": "')

    assert shown.state("a") is FieldState.SETTLED
    assert shown["a"].state("b", 1) is FieldState.SETTLED
    assert shown["a"]["b"].state() is FieldState.SETTLED
    assert shown.state("c") is FieldState.OPEN


def test_a_snapshot_is_read_only() -> None:
    """Changing a snapshot is refused, with the way to do it."""
    shown = snapshot()
    attempts: list[Any] = [
        lambda: shown.update(x=1),
        lambda: shown.pop("a"),
        lambda: shown.__setitem__("x", 1),
        lambda: shown["a"]["b"].append(1),
        lambda: shown["a"]["b"].__iadd__([1]),
    ]
    for attempt in attempts:
        with pytest.raises(TypeError, match="read-only: copy it with"):
            attempt()
    assert type(shown.copy()) is dict
    assert type(shown["a"]["b"].copy()) is list


def test_snapshots_cannot_be_added() -> None:
    """Frameworks that add what a stream yields take the last item instead."""
    with pytest.raises(TypeError, match="replace each other"):
        PartialList([1]) + [2]  # noqa: RUF005 - the operator is what is tested
    with pytest.raises(TypeError, match="replace each other"):
        PartialStr("a") + "b"
    assert not hasattr(PartialDict(), "__add__")


def test_pickle_and_copy_keep_the_state() -> None:
    """A copied snapshot knows what was open."""
    shown = snapshot()
    for again in (pickle.loads(pickle.dumps(shown)), copy.deepcopy(shown)):
        assert again == shown
        assert again.state("a", "b", 1) is FieldState.OPEN
        assert again.state("a", "b", 0) is FieldState.SETTLED


def test_a_root_string_is_marked() -> None:
    """A root string is a str that knows whether it is open."""
    parser = PartialParser(root="scalar")
    parser.feed('"ab')
    shown = parser.snapshot()
    parser.feed('c"')

    assert shown == "ab"
    assert shown.state() is FieldState.OPEN
    assert shown.state(0) is FieldState.ABSENT
    assert parser.snapshot().state() is FieldState.SETTLED
    assert pickle.loads(pickle.dumps(shown)).is_open is True


def test_unset_is_falsy_and_not_none() -> None:
    """Nothing yet is not the same as null."""
    assert not UNSET
    assert UNSET is not None
    assert repr(UNSET) == "UNSET"
    assert PartialParser().snapshot() is UNSET
