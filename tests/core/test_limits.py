from __future__ import annotations

from typing import Any

import pytest

from partial_json_core import Limits


def test_the_defaults_are_those_documented() -> None:
    """The default ceilings are the documented ones."""
    limits = Limits()

    assert (limits.max_chars, limits.max_depth) == (1_048_576, 100)
    assert (limits.max_number_chars, limits.max_whitespace_run) == (1_000, 1_000)
    assert limits.max_string_chars is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_chars": 0}, "`max_chars` must be at least 1, got 0"),
        ({"max_repeat": -1}, "`max_repeat` must be at least 1, got -1"),
        ({"max_depth": 201}, "`max_depth` must be at most 200, got 201"),
        (
            {"max_number_chars": 4301},
            "`max_number_chars` must be at most 4300, got 4301",
        ),
        ({"max_depth": "many"}, "`max_depth` must be at least 1, got 'many'"),
    ],
)
def test_an_impossible_limit_is_refused(options: Any, message: str) -> None:
    """A limit that cannot be kept is refused when it is made."""
    with pytest.raises(ValueError) as caught:
        Limits(**options)

    assert str(caught.value) == message
