from __future__ import annotations

import pytest

from partial_json_core import Fix, FixKind, FixPolicy


def test_the_default_permits_what_carries_no_data() -> None:
    """The default policy permits all but the opt-in fixes."""
    refused = {kind for kind in FixKind if not FixPolicy.SYNTAX_SAFE.permits(kind)}

    assert refused == {
        FixKind.COMMENT,
        FixKind.SINGLE_QUOTED_STRING,
        FixKind.UNQUOTED_KEY,
        FixKind.PYTHON_LITERAL,
    }


def test_the_strict_policy_permits_nothing() -> None:
    """The strict policy permits no fix."""
    assert not any(FixPolicy.STRICT.permits(kind) for kind in FixKind)


def test_a_policy_is_changed_by_making_another() -> None:
    """`with_` and `without` leave the policy as it is, and take names too."""
    policy = FixPolicy.SYNTAX_SAFE.with_("comment").without(FixKind.PROSE)

    assert policy.permits(FixKind.COMMENT)
    assert not policy.permits(FixKind.PROSE)
    assert not FixPolicy.SYNTAX_SAFE.permits(FixKind.COMMENT)
    assert policy.with_(FixKind.PROSE).without("comment") == FixPolicy.SYNTAX_SAFE


def test_an_unknown_fix_is_refused() -> None:
    """A name that is no fix is an error."""
    with pytest.raises(ValueError, match="close_brackets"):
        FixPolicy.STRICT.with_("close_brackets")


def test_a_policy_prints_its_name() -> None:
    """The two named policies print as such, others list their kinds."""
    assert repr(FixPolicy.SYNTAX_SAFE) == "FixPolicy.SYNTAX_SAFE"
    assert repr(FixPolicy.STRICT) == "FixPolicy.STRICT"
    assert repr(FixPolicy.STRICT.with_("prose", "comment")) == (
        "FixPolicy(comment, prose)"
    )


def test_a_fix_prints_an_excerpt() -> None:
    """A fix shows at most 40 characters of what it removed."""
    assert repr(Fix(FixKind.PROSE, 3, "x" * 50)) == (
        f"Fix(prose, offset=3, removed={'x' * 40 + '…'!r}, inserted='')"
    )
    assert repr(Fix(FixKind.TRAILING_COMMA, 3, ",")) == (
        "Fix(trailing_comma, offset=3, removed=',', inserted='')"
    )
