from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from partial_json_core import (
    UNSET,
    Completed,
    DuplicateKeyError,
    FieldSettled,
    FixApplied,
    FixKind,
    FixPolicy,
    LimitExceededError,
    Limits,
    MalformedOutputError,
    PartialOutputError,
    TextDelta,
)
from partial_json_core._scanner import Scanner
from partial_json_core.paths import EVERYTHING, compile_patterns

Cut = Callable[[str], list[str]]
EVERY_FIX = FixPolicy(frozenset(FixKind))


def scan(
    chunks: list[str],
    policy: FixPolicy = FixPolicy.SYNTAX_SAFE,
    limits: Limits | None = None,
    watch: Any = EVERYTHING,
) -> tuple[Scanner, list[Any]]:
    """Read chunks with a snapshot after each."""
    scanner = Scanner(policy, limits or Limits(), watch)
    events: list[Any] = []
    base = 0
    for chunk in chunks:
        scanner.feed(chunk, base, events)
        scanner.snapshot()
        base += len(chunk)
    return scanner, events


DOCUMENTS = [
    "{}",
    "[]",
    ' \t\n\r{"a" : [ ] , "b" :{ } }',
    '{"a": {"b": [1, -2, 0, -0, 3.5, 1e5, 2E-2, -0.0]}}',
    "[true, false, null]",
    r'["\"\\\/\b\f\n\r\t", "\u00e9\u4f60", "\ud83d\ude00 \uD83D\uDE00"]',
    '["\U0001f600 é 你", "", "a"]',
    "[12345678901234567890123456789]",
    '{"": 1, " ": 2, "a.b": 3}',
    '{"k\\u00e9y\\n": {"x": "y"}}',
    "[[[[[[]]]]]]",
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_reads_as_json_loads_reads_it(document: str, chunked: Cut) -> None:
    """Plain JSON becomes what json.loads makes of it."""
    scanner, events = scan(chunked(document.lstrip()))

    assert scanner.is_done
    assert repr(scanner.root) == repr(json.loads(document))
    assert events[-1] == Completed(len(document.lstrip()))


def merged(events: list[Any]) -> list[Any]:
    out: list[Any] = []
    for event in events:
        last = out[-1] if out else None
        if type(event) is TextDelta and type(last) is TextDelta:
            out[-1] = TextDelta(last.path, last.text + event.text)
        else:
            out.append(event)
    return out


def test_events_come_in_document_order(chunked: Cut) -> None:
    """Text, settled values with their offsets, children first, then the end."""
    _, events = scan(chunked('{"a": ["x\\n", 12], "b": ""}'))

    assert merged(events) == [
        TextDelta(("a", 0), "x\n"),
        FieldSettled(("a", 0), "x\n", 12),
        FieldSettled(("a", 1), 12, 16),
        FieldSettled(("a",), ["x\n", 12], 17),
        FieldSettled(("b",), "", 26),
        FieldSettled((), {"a": ["x\n", 12], "b": ""}, 27),
        Completed(27),
    ]


@pytest.mark.parametrize(
    ("patterns", "paths"),
    [
        ([], []),
        ([""], [()]),
        (["/a/*"], [("a", 0), ("a", 1)]),
        (["/b/c", "/a"], [("a",), ("b", "c")]),
    ],
)
def test_only_watched_paths_become_events(
    patterns: list[str], paths: list[Any], chunked: Cut
) -> None:
    """Patterns choose which settled values and which text become events."""
    document = '{"a": ["x", 1], "b": {"c": "yz", "d": [2]}}'
    _, events = scan(chunked(document), watch=compile_patterns(patterns))

    assert [e.path for e in events if type(e) is FieldSettled] == paths
    assert {e.path for e in events if type(e) is TextDelta} <= set(paths)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a', {}),
        ('{"a": 12', {}),
        ('{"a": -', {}),
        ('{"a": tru', {}),
        ('{"a": "x\\', {"a": "x"}),
        ('{"a": "x\\u00e', {"a": "x"}),
        ('{"a": "x\\ud83d', {"a": "x"}),
        ('{"a": "x\\ud83d\\ude', {"a": "x"}),
        ('{"a": "', {"a": ""}),
        ('["', [""]),
        ("[1,", [1]),
        ("[1, 2", [1]),
        ('[1, {"b"', [1, {}]),
    ],
)
def test_a_snapshot_shows_what_is_certain(text: str, shown: Any, chunked: Cut) -> None:
    """Half a number, literal, key or escape is not shown, open text is."""
    scanner, _ = scan(chunked(text))

    assert scanner.snapshot() == shown


def test_changed_tells_whether_there_is_more_to_show() -> None:
    """A chunk that only a later one completes changes nothing."""
    scanner = Scanner(FixPolicy.SYNTAX_SAFE, Limits())
    told = []
    for chunk in ['{"a"', ": 1", "2", ", ", '"b', '": "', "x", "\\", "n", '"', "}"]:
        scanner.feed(chunk, 0, [])
        told.append(scanner.changed)
        scanner.snapshot()

    assert told == [
        True,
        False,
        False,
        True,
        False,
        True,
        True,
        False,
        True,
        True,
        True,
    ]


MALFORMED = [
    ("{]", "a key or `}`", "`]`", (), 1),
    ("{1: 2}", "a key or `}`", "`1`", (), 1),
    ('{"a" 1}', "`:`", "`1`", (), 5),
    ('{"a": }', "a value", "`}`", ("a",), 6),
    ('{"a": 1 "b"', "`,` or `}`", '`"`', (), 8),
    ('{"a": 1,, ', "a key", "`,`", (), 8),
    ("[1 2", "`,` or `]`", "`2`", (), 3),
    ("[,", "a value or `]`", "`,`", (), 1),
    ("[1,,", "a value", "`,`", (1,), 3),
    ("[01", "`,` or `]`", "`1`", (), 2),
    ("[-a", "the rest of a number", "`a`", (0,), 2),
    ("[1.x", "the rest of a number", "`x`", (0,), 3),
    ("[1e+ ", "the rest of a number", "` `", (0,), 4),
    ("[1.5.", "`,` or `]`", "`.`", (), 4),
    ("[--1", "the rest of a number", "`-`", (0,), 2),
    ("[trux", "`true`", "`x`", (0,), 4),
    ("[nul]", "`null`", "`]`", (0,), 4),
    ('{"a": fals}', "`false`", "`}`", ("a",), 10),
    (
        "[1e400]",
        "a number that a float can hold",
        "one that overflows to infinity",
        (0,),
        1,
    ),
    (
        "[-1.5e999]",
        "a number that a float can hold",
        "one that overflows to infinity",
        (0,),
        1,
    ),
    (r'["a\q', "an escape of RFC 8259", r"the escape '\\q'", (0,), 3),
    (
        r'["\u12G',
        "an escape of RFC 8259",
        r"a `\u` escape without four hex digits",
        (0,),
        2,
    ),
    (r'["\udc00', "an escape of RFC 8259", "a lone surrogate", (0,), 2),
    (r'["\ud800x', "an escape of RFC 8259", "a lone surrogate", (0,), 2),
    (r'["\ud800\n', "an escape of RFC 8259", "a lone surrogate", (0,), 2),
    (r'["\ud800\ud801', "an escape of RFC 8259", "a lone surrogate", (0,), 2),
    ("[NaN", "a value or `]`", "`N`", (), 1),
    ("[\x00", "a value or `]`", "'\\x00'", (), 1),
    ('{"a": `', "a value", "a backtick", ("a",), 6),
]


@pytest.mark.parametrize(
    ("text", "expected", "found", "path", "offset"),
    MALFORMED,
    ids=[text for text, *_ in MALFORMED],
)
def test_a_broken_document_fails_at_the_character_that_proves_it(
    text: str, expected: str, found: str, path: Any, offset: int, chunked: Cut
) -> None:
    """The error names what was expected, what came, the path and the offset."""
    with pytest.raises(MalformedOutputError) as caught:
        scan(chunked(text))

    err = caught.value
    assert (err.expected, err.found) == (expected, found)
    assert (err.path, err.offset) == (path, offset)


def test_the_place_is_known_before_the_text_goes_on() -> None:
    """The error comes with the character that proves it, not later."""
    scanner, _ = scan(['{"a": 1 '])
    with pytest.raises(MalformedOutputError):
        scanner.feed("x", 8, [])


def test_a_duplicate_key_is_an_error_at_the_second(chunked: Cut) -> None:
    """Two values under one key cannot both be meant."""
    with pytest.raises(DuplicateKeyError) as caught:
        scan(chunked('{"a": {"b": 1, "c": 2, "b": 1}}'))

    assert caught.value.key == "b"
    assert caught.value.path == ("a", "b")
    assert caught.value.offset == 23


FIXES: list[tuple[FixKind, str, Any, list[tuple[int, str, str]]]] = [
    (FixKind.TRAILING_COMMA, "[1, ]", [1], [(2, ",", "")]),
    (FixKind.TRAILING_COMMA, '{"a": 1 , }', {"a": 1}, [(8, ",", "")]),
    (
        FixKind.RAW_CONTROL_CHARACTER,
        '["a\n\tb\x01"]',
        ["a\n\tb\x01"],
        [(3, "\n", "\\n"), (4, "\t", "\\t"), (6, "\x01", "\\u0001")],
    ),
    (
        FixKind.UNUSUAL_WHITESPACE,
        '{\u00a0"a"\u3000:\ufeff1\u200b}',
        {"a": 1},
        [
            (1, "\u00a0", " "),
            (5, "\u3000", " "),
            (7, "\ufeff", " "),
            (9, "\u200b", " "),
        ],
    ),
    (
        FixKind.COMMENT,
        '{"a": 1, // one\n"b": /* two * / */ 2}',
        {"a": 1, "b": 2},
        [(9, "// one", " "), (21, "/* two * / */", " ")],
    ),
    (
        FixKind.SINGLE_QUOTED_STRING,
        """{'a"': 'it\\'s'}""",
        {'a"': "it's"},
        [
            *[(1, "'", '"'), (3, '"', '\\"'), (4, "'", '"'), (7, "'", '"')],
            *[(10, "\\'", "'"), (13, "'", '"')],
        ],
    ),
    (
        FixKind.UNQUOTED_KEY,
        "{a_1: 1, $b :2}",
        {"a_1": 1, "$b": 2},
        [(1, "a_1", '"a_1"'), (9, "$b", '"$b"')],
    ),
    (
        FixKind.PYTHON_LITERAL,
        '[True, False, {"a": None}]',
        [True, False, {"a": None}],
        [(1, "True", "true"), (7, "False", "false"), (20, "None", "null")],
    ),
]
FIX_IDS = [f"{kind.value}-{text[:6]}" for kind, text, *_ in FIXES]


@pytest.mark.parametrize(("kind", "text", "value", "applied"), FIXES, ids=FIX_IDS)
def test_a_permitted_fix_is_applied_and_reported(
    kind: FixKind, text: str, value: Any, applied: Any, chunked: Cut
) -> None:
    """Each application is an event, and no value changes."""
    scanner, events = scan(chunked(text), policy=FixPolicy.STRICT.with_(kind))

    assert repr(scanner.root) == repr(value)
    assert [(f.offset, f.removed, f.inserted) for f in scanner.fixes] == applied
    assert {fix.kind for fix in scanner.fixes} == {kind}
    assert [e.fix for e in events if type(e) is FixApplied] == scanner.fixes


@pytest.mark.parametrize(("kind", "text", "value", "applied"), FIXES, ids=FIX_IDS)
def test_a_fix_that_is_not_permitted_is_named(
    kind: FixKind, text: str, value: Any, applied: Any, chunked: Cut
) -> None:
    """The error tells which fix would have read the text."""
    with pytest.raises(MalformedOutputError) as caught:
        scan(chunked(text), policy=FixPolicy.STRICT)

    assert caught.value.available_fix is kind


@pytest.mark.parametrize(
    ("text", "offset"),
    [("{'a': 'it's'}", 10), ("[1 / 2]", 3), ("{a b: 1}", 3), ("[/x", 1)],
)
def test_an_opt_in_fix_has_one_reading_or_none(
    text: str, offset: int, chunked: Cut
) -> None:
    """What can be read in two ways is an error under every policy."""
    with pytest.raises(MalformedOutputError) as caught:
        scan(chunked(text), policy=EVERY_FIX)

    assert caught.value.offset == offset
    assert caught.value.available_fix is None


LIMITS = [
    ("max_depth", 2, "[[[", (0,), 3),
    ("max_depth", 2, '{"a": {"b": {', ("a", "b"), 13),
    ("max_number_chars", 3, "[1234]", (0,), 5),
    ("max_number_chars", 3, "[-1.55555", (0,), 5),
    ("max_whitespace_run", 4, "[1,     2]", (1,), 8),
    ("max_whitespace_run", 4, '{"a" \n \n : 1}', (), 9),
    ("max_string_chars", 3, '["abcd', (0,), 6),
    ("max_string_chars", 3, '["abcd"]', (0,), 6),
    ("max_string_chars", 3, '{"abcde": 1}', (), 6),
    ("max_string_chars", 3, r'["\u0041\u0042\u0043\u0044"]', (0,), 26),
    ("max_repeat", 8, '["abababababab', (0,), 10),
    ("max_repeat", 8, '["xaaaaaaaaaaaaaaaaaaaa', (0,), 18),
    ("max_repeat", 8, r'["\n\n\n\n\n\n\n\n\n', (0,), 18),
]


@pytest.mark.parametrize(
    ("name", "maximum", "text", "path", "offset"),
    LIMITS,
    ids=[f"{name}-{text[:9]}" for name, _, text, *_ in LIMITS],
)
def test_a_limit_stops_at_the_character_beyond(
    name: str, maximum: int, text: str, path: Any, offset: int, chunked: Cut
) -> None:
    """The error counts the characters read, the one beyond included."""
    with pytest.raises(LimitExceededError) as caught:
        scan(chunked(text), limits=Limits(**{name: maximum}))  # type: ignore[arg-type]

    err = caught.value
    assert (err.limit, err.maximum) == (name, maximum)
    assert (err.path, err.offset) == (path, offset)


@pytest.mark.parametrize(
    ("name", "maximum", "text"),
    [
        ("max_depth", 2, "[[1]]"),
        ("max_number_chars", 3, "[123, -12, 1.5]"),
        ("max_whitespace_run", 4, "[1,    2,\n\n\n\n3]"),
        ("max_string_chars", 3, '["abc", "\\u0041\\u0042\\u0043"]'),
        ("max_repeat", 8, '["abcdefghijklmnopqrstuvwxyz", "aaaaaaa"]'),
        ("max_repeat", 8, '["abcabcaXabcabcaX"]'),
    ],
)
def test_a_limit_permits_what_is_within(
    name: str, maximum: int, text: str, chunked: Cut
) -> None:
    """A document at its limit is read."""
    scanner, _ = scan(chunked(text), limits=Limits(**{name: maximum}))  # type: ignore[arg-type]

    assert scanner.root == json.loads(text)


def test_text_before_a_failure_is_an_event(chunked: Cut) -> None:
    """What was read before an error is reported however the text was cut."""
    scanner = Scanner(FixPolicy.SYNTAX_SAFE, Limits())
    events: list[Any] = []
    base = 0
    with pytest.raises(PartialOutputError):
        for chunk in chunked('["ab\\q'):
            scanner.feed(chunk, base, events)
            base += len(chunk)

    assert merged(events) == [TextDelta((0,), "ab")]


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        (r'{"p": "D:\fonts"}', [(("p",), 9)]),
        (r'["\frac{1}{2} \beta"]', [((0,), 2)]),
        (r'["a\f", "\b 1", "\t\n"]', []),
    ],
)
def test_a_control_escape_before_a_letter_is_a_warning(
    text: str, warned: Any, chunked: Cut
) -> None:
    r"""A legal `\f` or `\b` that looks like a path or LaTeX is kept and warned of."""
    scanner, _ = scan(chunked(text))

    assert scanner.root == json.loads(text)
    assert [(w.path, w.offset) for w in scanner.warnings] == warned
    assert all("control character in" in str(w) for w in scanner.warnings)


@pytest.mark.parametrize(
    ("text", "expected", "path"),
    [
        ("{", "a key or `}`", ()),
        ('{"a', "the rest of a key", ()),
        ('{"a"', "`:`", ()),
        ('{"a":', "a value", ("a",)),
        ('{"a": 1', "the rest of a number", ("a",)),
        ('{"a": nul', "the rest of a literal", ("a",)),
        ('{"a": "x', "the rest of a string", ("a",)),
        ('{"a": "x\\u0', "the rest of an escape", ("a",)),
        ('{"a": "x"', "`,` or `}`", ()),
        ('{"a": "x",', "a key", ()),
        ("[[1], [", "a value or `]`", (1,)),
        ("[[1], 2,", "a value", (2,)),
        ("[tru", "the rest of a literal", (0,)),
        ("{b", "the rest of a key", ()),
        ("[ /* x", "the end of a comment", ()),
        ("{'a': 'x", "the rest of a string", ("a",)),
    ],
)
def test_an_open_document_says_what_would_come(
    text: str, expected: str, path: Any, chunked: Cut
) -> None:
    """The scanner knows its innermost open path and what it waits for."""
    scanner, _ = scan(chunked(text), policy=EVERY_FIX)

    assert (scanner.expected(), scanner.path()) == (expected, path)
    assert not scanner.is_done


@pytest.mark.parametrize(
    ("text", "value"),
    [('"a\\n"', "a\n"), ("true ", True), ("null", None), ("12 ", 12), ("-1.5\n", -1.5)],
)
def test_a_root_may_be_a_scalar(text: str, value: Any, chunked: Cut) -> None:
    """A scalar root settles like any other value."""
    scanner, events = scan(chunked(text))

    assert scanner.is_done
    assert scanner.root == value
    assert FieldSettled((), value, len(text.rstrip())) in events


def test_a_bare_number_waits_for_the_end() -> None:
    """A root number is complete only when the text is."""
    scanner, _ = scan(["12"])
    assert scanner.root is UNSET
    assert scanner.is_bare_number
    scanner.end_bare_number()

    assert scanner.root == 12


class Node:
    """A schema node that records where it was asked, and its own place."""

    label = ()
    exact = None
    rule = None

    def __init__(self, path: tuple[Any, ...], asked: list[Any]) -> None:
        self.path = path
        self.asked = asked

    def open(self, bracket: str) -> Node | None:
        self.asked.append((*self.path, bracket))
        return self

    def child(self, segment: Any, _container: Any) -> Node | None:
        return Node((*self.path, segment), self.asked) if segment != "b" else None

    def is_full(self, _container: Any) -> bool:
        return False

    def close(self, container: Any) -> Any:
        return len(container)


def test_each_open_container_carries_its_schema_node(chunked: Cut) -> None:
    """The node of a container comes from its parent's, and none stays none."""
    asked: list[Any] = []
    place: Any = Node((), asked)
    scanner = Scanner(FixPolicy.SYNTAX_SAFE, Limits(), None, place)
    base = 0
    for chunk in chunked('{"a": [{}, []], "b": {"c": {}}}'):
        scanner.feed(chunk, base, [])
        base += len(chunk)

    assert asked == [("{",), ("a", "["), ("a", 0, "{"), ("a", 1, "[")]
    assert scanner.root.converted == {"a": 2}
    assert scanner.root["a"].converted == {0: 0, 1: 0}
