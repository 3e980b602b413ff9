from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from partial_json_core import (
    AmbiguousOutputError,
    ContentFilteredError,
    FixKind,
    FixPolicy,
    LimitExceededError,
    Limits,
    MalformedOutputError,
    NoJSONFoundError,
    PartialOutputError,
    PartialParser,
    SchemaMismatchError,
    TruncatedOutputError,
    loads,
)

Cut = Callable[[str], list[str]]
EVERY_FIX = FixPolicy(frozenset(FixKind))


def read(chunks: list[str], reason: str = "stop", **options: Any) -> tuple[Any, Any]:
    """Read chunks; returns the value and the fixes as (kind, removed)."""
    parser = PartialParser(**options)
    for chunk in chunks:
        parser.feed(chunk)
    value = parser.close(reason)
    return value, [(fix.kind.value, fix.removed) for fix in parser.report.fixes]


SKIPPED = [
    ("words", 'Here it is: {"a": 1}', [("prose", "Here it is:")]),
    ("more words", 'One, two.\n\n Three {"a": 1}', [("prose", "One, two.\n\n Three")]),
    (
        "curly",
        'For {name} and {on foot}: {"a": 1}',
        [("prose", "For {name} and {on foot}:")],
    ),
    ("citation", 'See [3], it is {"a": 1}', [("prose", "See [3], it is")]),
    (
        "open bracket",
        'It opens with "A, [": {"a": 1}',
        [("prose", 'It opens with "A, [":')],
    ),
    ("lone brace", 'a { b {"a": 1}', [("prose", "a { b")]),
    ("inline code", 'My `best`: {"a": 1}', [("prose", "My `best`:")]),
    ("bom", '\ufeff{"a": 1}', [("byte_order_mark", "\ufeff")]),
    ("nbsp", '\u00a0{"a": 1}', [("unusual_whitespace", "\u00a0")]),
    ("blank", ' \n\t{"a": 1}\n', []),
    ("nbsp in words", 'a\u00a0b \u00a0{"a": 1}', [("prose", "a\u00a0b \u00a0")]),
    (
        "fence",
        '```json\n{"a": 1}\n```',
        [("code_fence", "```json"), ("code_fence", "```")],
    ),
    ("bare fence", '```{"a": 1}```', [("code_fence", "```"), ("code_fence", "```")]),
    ("open fence", '```JSON5\n{"a": 1}', [("code_fence", "```JSON5")]),
    (
        "long fence",
        '````\n{"a": 1}\n````',
        [("code_fence", "````"), ("code_fence", "````")],
    ),
    ("stray fence", '{"a": 1}\n```', [("code_fence", "```")]),
    (
        "first fence, any tag",
        '```python\n{"a": 1}\n```',
        [("code_fence", "```python"), ("code_fence", "```")],
    ),
    (
        "javascript",
        'So:\n```javascript\n{"a": 1}\n```',
        [("prose", "So:"), ("code_fence", "```javascript"), ("code_fence", "```")],
    ),
    (
        "other language",
        'I ran:\n```python\nx = {"b": 2}\n```\n{"a": 1}',
        [
            ("prose", "I ran:"),
            ("code_fence", "```python"),
            ("prose", '\nx = {"b": 2}\n'),
            ("code_fence", "```"),
        ],
    ),
    (
        "first fence of another language",
        '```python\nx = {"b": `2`}\n```\n{"a": 1}',
        [
            ("code_fence", "```python"),
            ("prose", '\nx = {"b": `2`}\n'),
            ("code_fence", "```"),
        ],
    ),
    (
        "two fences",
        '```\nread\n```\n```json\n{"a": 1}\n```',
        [
            ("code_fence", "```"),
            ("prose", "read"),
            ("code_fence", "```"),
            ("code_fence", "```json"),
            ("code_fence", "```"),
        ],
    ),
    ("words after", '{"a": 1}\nThat is all [1].', [("prose", "That is all [1].")]),
    ("lone punctuation", '{"a": 1};', [("prose", ";")]),
    ("comma and a word", '{"a": 1}, and so on', [("prose", ", and so on")]),
    ("colon at the end", '{"a": 1}:', [("prose", ":")]),
    ("comma at the end", '{"a": 1} , ', [("prose", ",")]),
    ("curly after", '{"a": 1} as {name}', [("prose", "as {name}")]),
    ("python after", "{\"a\": 1} as {'k': 2}", [("prose", "as {'k': 2}")]),
    ("open candidate dies", '{"a": 1} as {"k" 2}', [("prose", 'as {"k" 2}')]),
    (
        "tag that is none",
        '<p> {"a": 1} </p> a < b',
        [("prose", "<p>"), ("prose", "</p> a < b")],
    ),
    ("half a tag", '{"a": 1} <thin', [("prose", "<thin")]),
    ("half a fence", '{"a": 1} ``', [("prose", "``")]),
]


@pytest.mark.parametrize(
    ("text", "fixes"),
    [(text, fixes) for _, text, fixes in SKIPPED],
    ids=[name for name, *_ in SKIPPED],
)
def test_what_surrounds_the_document_is_skipped_and_reported(
    text: str, fixes: Any, chunked: Cut
) -> None:
    """Words, fences and odd blanks around the root are fixes, in document order."""
    assert read(chunked(text), root="object") == ({"a": 1}, fixes)


def test_a_citation_is_words_without_a_schema_too(chunked: Cut) -> None:
    """`[3]` in words before an object is prose, whichever roots are allowed."""
    fixes = [("prose", "As [3], [1, 2]\n say:")]

    assert read(chunked('As [3], [1, 2]\n say: {"a": 1}')) == ({"a": 1}, fixes)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("So: [1, 2, 3]", [1, 2, 3]),
        ("So: [1, 2, 3].", [1, 2, 3]),
        ("```\n[1, 2]\n```", [1, 2]),
        ("[1, 2] it is", [1, 2]),
        ("So: [1, 2.5]", [1, 2.5]),
        ('So: [1, "x"]', [1, "x"]),
        ("So: [1, ]", [1]),
    ],
)
def test_whole_numbers_may_be_the_answer(text: str, value: Any, chunked: Cut) -> None:
    """An array of whole numbers is the answer when it is all there is."""
    assert read(chunked(text))[0] == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("As [1] shows, the record is: ", "stop"),
        ("As [1] shows, the record is: ", "length"),
        ("As [1]", "length"),
        ("Totals: [100, 200]. Corrected: [100, 250].", "stop"),
        ("x [1] y [2] z", "stop"),
    ],
)
def test_a_citation_is_no_answer(text: str, reason: str, chunked: Cut) -> None:
    """Numbers in words before an object that never came are not taken for it."""
    errors = (NoJSONFoundError, AmbiguousOutputError)
    with pytest.raises(TruncatedOutputError if reason == "length" else errors):
        read(chunked(text), reason)


def test_a_cut_of_words_with_a_citation_is_loud() -> None:
    """Cut an answer with a citation before its object anywhere: nothing comes out."""
    text = 'As source [1] shows, the record is: {"payee": "Ann", "amount": 5}'
    for end in range(len(text)):
        with pytest.raises(PartialOutputError):
            read([text[:end]], "length")

    assert read([text])[0] == {"payee": "Ann", "amount": 5}


@pytest.mark.parametrize(
    "text",
    [
        'Answer:\n```json\n[1, 2]\n```\nMeta:\n```json\n{"a": 1}\n```',
        '{"a": 1}\n[1, 2, 3]',
        '{"a": 1}\n```json\n[1, 2]\n```',
        'ids: [1001, 2002, 3003]\n{"a": 1}',
    ],
)
def test_a_list_of_its_own_is_no_citation(text: str, chunked: Cut) -> None:
    """Several numbers cite in a line of words only, and never in a fence of their own."""
    with pytest.raises(AmbiguousOutputError):
        read(chunked(text))


def test_references_are_citations(chunked: Cut) -> None:
    """A list of references behind an object is no document."""
    text = '{"a": 1}\n\nSources:\n[1] Smith, 2020\n[2] Jones, see [1, 3]'
    assert read(chunked(text))[0] == {"a": 1}


@pytest.mark.parametrize("second", ["[true]", "[-1]", "[100, 250]", "[1.0]", "[null]"])
def test_data_behind_an_object_is_no_citation(second: str, chunked: Cut) -> None:
    """Only one number, or several small ones, cite; other arrays are documents."""
    with pytest.raises(AmbiguousOutputError):
        read(chunked('{"a": 1} and ' + second))

    assert read(chunked('{"a": 1} as [3], [128] and [1, 2] say'))[0] == {"a": 1}


def test_a_lone_surrogate_is_an_error(chunked: Cut) -> None:
    """Half a character in the text itself is refused, in values, keys and `loads`."""
    for text in ('["\udce9"]', '{"a\ud83d": 1}', '{"a": "x\ude00y"}'):
        with pytest.raises(MalformedOutputError, match="a lone surrogate") as caught:
            read(chunked(text))
        with pytest.raises(MalformedOutputError) as whole:
            loads(text)
        assert whole.value.offset == caught.value.offset
        assert str(whole.value).encode()
    with pytest.raises(NoJSONFoundError) as words:
        read(chunked("\ud83d words"))
    assert str(words.value).encode()


@pytest.mark.parametrize("text", ["So: [1", "So: [1, 2", "So: [1, 2.", "So: [1, x]"])
def test_broken_whole_numbers_are_loud(text: str, chunked: Cut) -> None:
    """An array that is cut or broken in words is an error."""
    with pytest.raises(PartialOutputError):
        read(chunked(text))


TAGS = [
    ("<think>", "</think>"),
    ("<THINK>", "</Think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
]


@pytest.mark.parametrize(("opening", "closing"), TAGS, ids=[o for o, _ in TAGS])
def test_a_reasoning_block_is_skipped_whole(
    opening: str, closing: str, chunked: Cut
) -> None:
    """Documents and half tags in a reasoning block count for nothing."""
    block = f'{opening}İ {{"b": 2}} </thin [x] ```{closing}'
    fixes = [("reasoning", block)]

    assert read(chunked(f'{block}\n{{"a": 1}}')) == ({"a": 1}, fixes)


def test_words_before_a_closing_tag_are_reasoning(chunked: Cut) -> None:
    """A template may have written the opening tag."""
    text = 'I add the two.</think> {"a": 1}'
    fixes = [("reasoning", "I add the two.</think>")]

    assert read(chunked(text)) == ({"a": 1}, fixes)


def test_a_tag_in_a_string_is_data(chunked: Cut) -> None:
    """Inside the root nothing is framing."""
    text = '{"a": "<think>x</think> ```json {} [3]"}'

    assert read(chunked(text)) == ({"a": "<think>x</think> ```json {} [3]"}, [])


def test_reasoning_behind_the_root_is_skipped(chunked: Cut) -> None:
    """A reasoning block after the root may hold other documents."""
    text = '{"a": 1}<think>or {"a": 2}?</think> bye</think>'
    value, fixes = read(chunked(text))

    assert value == {"a": 1}
    assert [kind for kind, _ in fixes] == ["reasoning", "prose"]


@pytest.mark.parametrize(
    ("text", "reason", "error"),
    [
        ('<think>{"a": 1}', "stop", NoJSONFoundError),
        ('<think>{"a": 1}</thi', "length", TruncatedOutputError),
        ('```python\n{x}\n{"a": 1}', "stop", NoJSONFoundError),
        ('I ran ```bash\n{"a": 1}``', "stop", NoJSONFoundError),
        ("```json\n```", "stop", NoJSONFoundError),
        ("```py", "stop", NoJSONFoundError),
        ("nothing here", "stop", NoJSONFoundError),
        ("nothing here", "length", TruncatedOutputError),
        ("", "stop", NoJSONFoundError),
        ("", "length", TruncatedOutputError),
        (" \n", "stop", NoJSONFoundError),
        ("for {name", "stop", NoJSONFoundError),
        ("So: {", "stop", TruncatedOutputError),
        ("So: { \n", "stop", TruncatedOutputError),
        ("So: [", "stop", TruncatedOutputError),
        ("So: [fal", "stop", TruncatedOutputError),
        ("So: [x", "stop", NoJSONFoundError),
    ],
)
def test_a_text_without_a_document_is_loud(
    text: str, reason: str, error: type[Exception], chunked: Cut
) -> None:
    """No root means an error, and a cut one when the reason or the text says so."""
    with pytest.raises(error) as caught:
        read(chunked(text), reason)

    assert type(caught.value) is error
    assert caught.value.offset == len(text)  # type: ignore[attr-defined]  # ours


FAILING = [
    ("single quotes", "{'a': {\"b\": 1}, 'c': 2}", 1, FixKind.SINGLE_QUOTED_STRING),
    ("bare key", '{a: {"b": 1}}', 1, FixKind.UNQUOTED_KEY),
    ("comment", '{// x\n"a": 1}', 1, FixKind.COMMENT),
    ("double brace", '{{"a": 1}}', 1, None),
    ("curly quotes", "{\u201ca\u201d: 1}", 1, None),
    (
        "quotes in words",
        "So: {'a': {\"b\": 1}, 'c': 2}",
        5,
        FixKind.SINGLE_QUOTED_STRING,
    ),
    ("key in words", 'So: {a: {"b": 1}, c: 2}', 5, FixKind.UNQUOTED_KEY),
    ("comment in words", 'So: {/* x */ "a": {"b": 1}}', 5, FixKind.COMMENT),
    ("list in words", "So: ['a', {\"b\": 1}]", 5, FixKind.SINGLE_QUOTED_STRING),
    ("literal in words", 'So: [None, {"b": 1}]', 5, FixKind.PYTHON_LITERAL),
    ("list", "['a', {\"b\": 1}]", 1, FixKind.SINGLE_QUOTED_STRING),
    ("literal", '[True, {"b": 1}]', 1, FixKind.PYTHON_LITERAL),
    ("backtick", "So: {`a`: 1}", 5, None),
    ("comment in a list", '[ // rows\n{"a": 1}, // b\n]', 2, FixKind.COMMENT),
    ("comments in a list", "[/*c*/[1]/*c*/]", 1, FixKind.COMMENT),
    ("not a number", '[NaN, {"a": 1}]', 1, None),
    ("infinity", '[Infinity, {"a": 1}]', 1, None),
    ("elision", '[..., {"a": 1}, ...]', 1, None),
    ("plus", '[+1, {"a": 1}]', 1, None),
    ("dashed key", '{a-b: {"c": 1}}', 1, FixKind.UNQUOTED_KEY),
    ("dotted key in words", 'So {a.b : {"c": 1}}', 4, FixKind.UNQUOTED_KEY),
    ("comment behind a key", '{x/*c*/: {"b": 1}}', 1, FixKind.UNQUOTED_KEY),
    ("key and odd space", 'So {x\u200b: {"b": 1}}', 4, FixKind.UNQUOTED_KEY),
]


@pytest.mark.parametrize(
    ("text", "offset", "fix"),
    [row[1:] for row in FAILING],
    ids=[row[0] for row in FAILING],
)
def test_a_broken_document_hides_what_it_holds(
    text: str, offset: int, fix: FixKind | None, chunked: Cut
) -> None:
    """No part of a document that breaks the grammar becomes the answer, cut or not."""
    for end in range(offset + 1, len(text) + 1):
        with pytest.raises(PartialOutputError):
            read(chunked(text[:end]))
    with pytest.raises(MalformedOutputError) as caught:
        read(chunked(text))

    assert (caught.value.offset, caught.value.available_fix) == (offset, fix)


PARTS = [
    ("undefined", '[undefined, {"a": 1}, 2]'),
    ("bytes", '[b"x", {"a": 1}, b"y"]'),
    ("hash", '[# rows\n{"a": 1},\n{"a": 2}]'),
    ("tuples", '[(1, 2), {"a": 1}]'),
    ("assignment", '{a=1, {"b": 2}}'),
    ("numbered", '{(1): {"a": 1}}'),
    ("in words", 'The rows: [row(1), {"a": 1}]'),
]


@pytest.mark.parametrize("reason", [None, "length", "error", "never heard of"])
@pytest.mark.parametrize("text", [row[1] for row in PARTS], ids=[r[0] for r in PARTS])
def test_a_part_of_what_words_open_is_no_answer(
    text: str, reason: str | None, chunked: Cut
) -> None:
    """Behind an open bracket in words a document counts only at a normal end."""
    for end in range(1, len(text) + 1):
        with pytest.raises(PartialOutputError):
            read(chunked(text[:end]), reason)


def test_the_cut_of_a_part_says_what_is_missing(chunked: Cut) -> None:
    """The error names the bracket, and salvage gives the part."""
    with pytest.raises(TruncatedOutputError) as caught:
        read(chunked('[row, {"a": 1}'), "length")

    assert "expected the `]` of a bracket that words opened" in str(caught.value)
    assert caught.value.salvage().value == {"a": 1}


def test_a_filtered_part_is_filtered(chunked: Cut) -> None:
    """A filter is the cause, also where a bracket of words is open."""
    with pytest.raises(ContentFilteredError):
        read(chunked('[row, {"a": 1}'), "content_filter")


def test_a_part_does_not_satisfy() -> None:
    """Nothing is stopped early inside a bracket of words."""
    parser = PartialParser()
    parser.feed('[row, {"a": 1} ')

    assert not parser.satisfied


BRACKETED = [
    ("note", '[Note: {"a": 1} as asked]'),
    ("nested", '[Note {x [y {"a": 1} z] z} z]'),
    ("crossed", '[Note {x {"a": 1} so ] }]'),
    ("quoted", 'It opens with `{` and not with "[" {"a": 1}'),
    ("typographic", 'It opens with \u2018{\u2019, \u201c[\u201d: {"a": 1}'),
    ("at the end", "A '[' {\"a\": 1} and a `{`"),
    ("slash", '{and/or} {"a": 1}'),
    ("closing only", 'a } ] {"a": 1}'),
]


@pytest.mark.parametrize(
    "text", [row[1] for row in BRACKETED], ids=[row[0] for row in BRACKETED]
)
def test_brackets_of_words_refuse_no_whole_answer(text: str, chunked: Cut) -> None:
    """Brackets that words close, and brackets that words name, are words."""
    assert read(chunked(text), None)[0] == {"a": 1}


def test_an_open_bracket_of_words_is_no_cut(chunked: Cut) -> None:
    """At a normal end, words may leave a bracket open."""
    assert read(chunked('Sorry :[ here: {"a": 1}'))[0] == {"a": 1}


def test_a_document_behind_a_broken_one_counts(chunked: Cut) -> None:
    """Once its braces are closed, a broken document is words."""
    text = "Not {'a': {'b': 1}} but {\"a\": 1}"

    assert read(chunked(text))[0] == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1}",
        "{a: 1}",
        "{/* x */ 'a': 1}",
        "So: {'a': 1}",
        "So: {a: 1}",
        "So: {/* x */ a: 1}",
        "So: {a /* x */ : 1}",
        "So: {a\u2060: 1}",
    ],
)
def test_a_permitted_fix_begins_a_document(text: str, chunked: Cut) -> None:
    """What an opt-in fix reads is a document anywhere."""
    assert read(chunked(text), policy=EVERY_FIX)[0] == {"a": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("So: ['a']", ["a"]),
        ("So: [None]", [None]),
        ("So: [ // none\n]", []),
        ("So: {_x: 1}", {"_x": 1}),
        ("So: {$: 1}", {"$": 1}),
        ("[True]", [True]),
        ("'a'", "a"),
        ("None", None),
    ],
)
def test_a_permitted_fix_begins_other_roots(
    text: str, value: Any, chunked: Cut
) -> None:
    """Opt-in fixes read lists and scalars as well."""
    assert read(chunked(text), policy=EVERY_FIX)[0] == value


LOST = ['{"a": 1}}', '{"a": 1} ]', '{"a": 1}"b"', '{"a": 1}, "b": 2', '{"a": 1} ,{']
LOST += ['{"a": 1}: [', '{"a": 1},\n 5', "[1], 2", "[[1]]]"]


@pytest.mark.parametrize("text", LOST)
def test_structure_behind_the_root_is_an_error(text: str, chunked: Cut) -> None:
    """A bracket or a quote behind the root means that a field would be lost."""
    with pytest.raises(MalformedOutputError, match="after the root in") as caught:
        read(chunked(text))

    assert caught.value.expected == "the end of the output"


def test_a_repeated_document_is_a_fix(chunked: Cut) -> None:
    """The same document again is reported."""
    value, fixes = read(chunked('{"a": 1}\n{"a":1} {"a": 1 }'))

    assert value == {"a": 1}
    assert [kind for kind, _ in fixes] == ["repeated_document"] * 2


DIFFERENT = [
    ('{"a": 1} or {"a": 2}', ((0, 8), (12, 20))),
    ('{"a": 1}{"a": 1.0}', ((0, 8), (8, 18))),
    ('{"a": 1} {"a": true}', ((0, 8), (9, 20))),
    ('{"a": 1} {"a": ', ((0, 8), (9, 15))),
    ("[1] [2]", ((0, 3), (4, 7))),
    ('{"a": 1} ["x"]', ((0, 8), (9, 14))),
    ('[] {"a": 1}', ((0, 2), (3, 11))),
    ('{"a": 1} {"x {"b": 2}', ((0, 8), (13, 21))),
]


@pytest.mark.parametrize(("text", "spans"), DIFFERENT, ids=[t for t, _ in DIFFERENT])
def test_two_different_documents_are_ambiguous(
    text: str, spans: Any, chunked: Cut
) -> None:
    """A second document, different or cut, is an error with both places."""
    with pytest.raises(AmbiguousOutputError) as caught:
        read(chunked(text))

    assert caught.value.spans == spans
    assert caught.value.offset == spans[0][1]


def test_a_quotation_may_hide_a_document(chunked: Cut) -> None:
    """A root behind a quotation in which another may begin is ambiguous."""
    with pytest.raises(AmbiguousOutputError) as caught:
        read(chunked('"As {"a": 1} {"b": 2}'), root="object")

    assert caught.value.spans == ((0, 6), (13, 13))


def test_a_repeated_document_needs_its_fix(chunked: Cut) -> None:
    """Without the fix a repetition is an error that names it."""
    policy = FixPolicy.SYNTAX_SAFE.without(FixKind.REPEATED_DOCUMENT)
    with pytest.raises(MalformedOutputError, match="REPEATED_DOCUMENT") as caught:
        read(chunked('{"a": 1} {"a": 1}'), policy=policy)
    assert caught.value.offset == 9


MISMATCHES = [
    ("object", '[{"a": 1}]', "root is array, expected an object", 0),
    ("object", '```json\n["x"]\n```', "root is array, expected an object", 8),
    ("object", 'So:\n```json\n["x"]\n```', "root is array, expected an object", 12),
    ("object", "null", "root is scalar, expected an object", 0),
    ("object", ' "{}" ', "root is scalar, expected an object", 1),
    ("object", "12", "root is scalar, expected an object", 0),
    ("array", '{"a": 1}', "root is object, expected an array", 0),
    ("scalar", '{"a": 1}', "root is object, expected a scalar", 0),
]


@pytest.mark.parametrize(
    ("root", "text", "message", "offset"), MISMATCHES, ids=[m[1] for m in MISMATCHES]
)
def test_a_document_of_another_kind_is_a_schema_error(
    root: Any, text: str, message: str, offset: int, chunked: Cut
) -> None:
    """A text that is one document of the wrong kind is not called prose."""
    with pytest.raises(SchemaMismatchError) as caught:
        read(chunked(text), root=root)

    assert caught.value.errors[0]["msg"] == message
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("root", "text", "value"),
    [
        ("object", '[3] says {"a": 1}', {"a": 1}),
        ("object", '["x" {"a": 1}', {"a": 1}),
        ("object", '"quoted" {"a": 1}', {"a": 1}),
        ("object", '12 of {"a": 1}', {"a": 1}),
        ("object", 'true, {"a": 1}', {"a": 1}),
        ("object", '- {"a": 1}', {"a": 1}),
        ("array", '{"a": 1} not [2]', [2]),
        ("array", '{"a": x} [2]', [2]),
        ("array", 'by [name] [null, "[/think]"]', [None, "[/think]"]),
    ],
)
def test_the_other_kind_before_a_root_is_prose(
    root: Any, text: str, value: Any, chunked: Cut
) -> None:
    """A document of another kind is words when one of the right kind follows."""
    got, fixes = read(chunked(text), root=root)

    assert got == value
    assert [kind for kind, _ in fixes] == ["prose"]


@pytest.mark.parametrize(
    ("text", "reason", "value"),
    [
        ("12", "stop", 12),
        (" -1.5e3\n", "stop", -1500.0),
        ('"a"', None, "a"),
        ("```\ntrue\n```", None, True),
        ("<think>so</think>null", None, None),
        ("\ufeff12", "stop", 12),
    ],
)
def test_a_scalar_is_the_whole_text(
    text: str, reason: Any, value: Any, chunked: Cut
) -> None:
    """A scalar root may have blanks, a fence and reasoning around it, no words."""
    assert read(chunked(text), reason, root="scalar")[0] == value
    assert read(chunked(text), reason)[0] == value


@pytest.mark.parametrize("text", ["12 apples", "it is 12", '"a" b', "`12`", "<b>1"])
def test_a_scalar_among_words_is_refused(text: str, chunked: Cut) -> None:
    """A scalar among words is no answer."""
    with pytest.raises(MalformedOutputError):
        read(chunked(text), root="scalar")
    with pytest.raises(NoJSONFoundError):
        read(chunked(text))


@pytest.mark.parametrize("text", ["12", "-", '"a', "tr", "1."])
def test_a_cut_scalar_is_truncated(text: str, chunked: Cut) -> None:
    """A scalar that may go on is cut, unless it is a number and the end is normal."""
    for root in ("scalar", "auto"):
        with pytest.raises(TruncatedOutputError):
            read(chunked(text), "length", root=root)


STRICT = [
    ('So: {"a": 1}', 0, FixKind.PROSE),
    ('{"a": 1} done', 9, FixKind.PROSE),
    ('[1] {"a": 1}', 0, FixKind.PROSE),
    ('```json\n{"a": 1}\n```', 0, FixKind.CODE_FENCE),
    ('{"a": 1}\n```', 9, FixKind.CODE_FENCE),
    ('<think></think>{"a": 1}', 0, FixKind.REASONING),
    ('x</think>{"a": 1}', 0, FixKind.PROSE),
    ('</think>{"a": 1}', 0, FixKind.REASONING),
    ('\ufeff{"a": 1}', 0, FixKind.BYTE_ORDER_MARK),
    ('\u00a0{"a": 1}', 0, FixKind.UNUSUAL_WHITESPACE),
]


@pytest.mark.parametrize(
    ("text", "offset", "fix"), STRICT, ids=[text for text, *_ in STRICT]
)
def test_the_strict_policy_permits_nothing_around(
    text: str, offset: int, fix: FixKind, chunked: Cut
) -> None:
    """Without fixes the document is the whole text, and the error names the fix."""
    with pytest.raises(MalformedOutputError) as caught:
        read(chunked(text), root="object", policy=FixPolicy.STRICT)

    assert (caught.value.offset, caught.value.available_fix) == (offset, fix)


@pytest.mark.parametrize("text", ["As [3] shows", "As [3]", "As [1, 2]"])
@pytest.mark.parametrize("reason", [None, "length", "error", "never heard of"])
def test_numbers_in_words_need_a_normal_end(
    text: str, reason: str | None, chunked: Cut
) -> None:
    """Whole numbers in brackets are no answer of an output that may have been cut."""
    with pytest.raises(PartialOutputError):
        read(chunked(text), reason)


@pytest.mark.parametrize(
    "text",
    [
        "true <think>x</think> false",
        "```\ntrue\n```\n```\ntrue\n```",
        '"a"\n```json\n"b"\n```',
        "null\n```json\n1\n```",
    ],
)
def test_two_scalars_are_no_answer(text: str, chunked: Cut) -> None:
    """A scalar with another one beside it is not the whole text."""
    with pytest.raises(PartialOutputError):
        read(chunked(text))


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("x" + " " * 9, 6),
        ("{" + " " * 99, 6),
        ("[" + " " * 99 + "x", 6),
        (" \n \n \n", 5),
        ("a" + " " * 5 + 'b {"a": 1}', 6),
        ("a  \u00a0  b", 6),
        ("a {" + " " * 5 + "b}", 8),
    ],
)
def test_white_space_before_the_root_is_limited(
    text: str, offset: int, chunked: Cut
) -> None:
    """White space that runs away before the root is stopped."""
    with pytest.raises(LimitExceededError) as caught:
        read(chunked(text), limits=Limits(max_whitespace_run=4))

    assert caught.value.limit == "max_whitespace_run"
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("\u00a0" * 9, MalformedOutputError),
        (" " * 9 + "\u00a0", LimitExceededError),
        ("  \u00a0" + " " * 9, MalformedOutputError),
    ],
)
def test_what_comes_first_is_named(
    text: str, error: type[PartialOutputError], chunked: Cut
) -> None:
    """Of a limit and of what the policy keeps, the first one in the text is the error."""
    with pytest.raises(error):
        read(
            chunked(text + "{}"),
            limits=Limits(max_whitespace_run=4),
            policy=FixPolicy.STRICT,
        )


LONG = [
    ("name", "{" + "x" * 70 + ': {"a": 1}} {"b": 1}'),
    ("name of 64", "{" + "x" * 64 + ': {"a": 1}}'),
    ("name of 63", "{" + "x" * 63 + ': {"a": 1}}'),
    ("name and blanks", "{x" + " " * 80 + ': {"a": 1}}'),
    ("fence tag", "```" + "x" * 60 + '\n{"a": 1}\n```'),
    ("fence tag of 40", "```" + "x" * 40 + '\n{"a": 1}\n```'),
    ("foreign fence", "```python\n" + " " * 1200 + '{"a": 1}\n```'),
    ("blanks behind a bracket", "see {" + " " * 1200 + '"a": 1}'),
    ("root and a quotation", '{"a": 1}{"'),
    ("root and a bracket", '[1]["'),
    ("blanks in words", "see" + " " * 1200 + 'it {"a": 1}'),
]


@pytest.mark.parametrize("text", [row[1] for row in LONG], ids=[r[0] for r in LONG])
def test_what_is_long_around_the_root_is_read_alike(text: str, chunked: Cut) -> None:
    """However far the framing has to look ahead, chunking changes nothing."""

    def outcome(chunks: list[str]) -> Any:
        try:
            return read(chunks)
        except PartialOutputError as err:
            return type(err), err.path, err.offset, str(err)

    assert outcome(chunked(text)) == outcome([text])


def test_white_space_behind_the_root_is_not(chunked: Cut) -> None:
    """A document that is whole is not refused for what does not follow."""
    limits = Limits(max_whitespace_run=4)

    assert read(chunked('{"a": 1}' + " " * 99), limits=limits)[0] == {"a": 1}


def test_a_separator_behind_the_root_is_followed_for_a_while(chunked: Cut) -> None:
    """A field behind a separator is lost; behind a thousand blanks it is words."""
    with pytest.raises(MalformedOutputError):
        read(chunked('{"a": 1},' + " " * 900 + '"b"'))

    assert read(chunked('{"a": 1},' + " " * 1100 + '"b"'))[0] == {"a": 1}


@pytest.mark.parametrize("count", [33, 100])
def test_a_long_run_of_backticks_is_an_ornament(count: int, chunked: Cut) -> None:
    """A run that is too long for a fence is words, and so is a tag behind it."""
    text = "`" * count + 'python {"a": 1}'

    assert read(chunked(text)) == ({"a": 1}, [("prose", "`" * count + "python")])


def test_many_small_candidates_in_one_chunk(chunked: Cut) -> None:
    """Candidates that end or fail far from the end of a chunk leave the rest alone."""
    text = '{"a": 1} ' + '[1] [2, 3] {"b" c} ' * 30 + "z" * 5000 + ' {"a": 1} done'
    value, fixes = read(chunked(text), root="object")

    assert value == {"a": 1}
    assert ("repeated_document", '{"a": 1}') in fixes


def test_a_limit_holds_in_what_may_be_prose(chunked: Cut) -> None:
    """Limits hold while it is open whether a text begins with its document."""
    with pytest.raises(LimitExceededError):
        read(chunked("[[[["), root="object", limits=Limits(max_depth=2))


def test_second_documents_are_found_within_a_budget() -> None:
    """Words that look like documents over and over cost a bounded amount."""
    text = '{"a": 1} ' + '{"' * 400

    with pytest.raises(AmbiguousOutputError):
        read([text])
    assert read([text + " x" * 10 + '" x'])[0] == {"a": 1}
