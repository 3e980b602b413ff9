"""What frames a document in a model's text: reasoning tags, fences, look-alikes.

Nothing here reads anything; `_skipping` and `_framing` do.
"""

from __future__ import annotations

import re
from typing import Final

from ._grammar import SPACES, UNUSUAL_SPACES

BOM: Final = "\ufeff"
BLANK: Final = SPACES + UNUSUAL_SPACES
blanks: Final = re.compile(f"[{re.escape(BLANK)}]*").match
interesting: Final = re.compile(r"[{\[`<\u25c1]").search

# Tags of reasoning blocks: DeepSeek, Qwen and many others write <think>, Anthropic
# prompts <thinking>, Seed <seed:think>, Magistral [THINK], Kimi ◁think▷.
TAG_NAMES: Final = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "reason"),
    *("reflection", "analysis", "scratchpad", "seed:think", "antthinking"),
    "inner_monologue",
)
REASONING_TAGS: Final[dict[str, str]] = {
    **{f"<{name}>": f"</{name}>" for name in TAG_NAMES},
    "[think]": "[/think]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
}
CLOSING_TAGS: Final = frozenset(REASONING_TAGS.values())
TAG_STARTS: Final = frozenset(
    tag[:length]
    for tag in (*REASONING_TAGS, *CLOSING_TAGS)
    for length in range(1, len(tag))
)
LONGEST_TAG: Final = max(map(len, (*REASONING_TAGS, *CLOSING_TAGS)))

LONGEST_FENCE_TAG: Final = 40
fence: Final = re.compile(rf"(`+)([\w+#.-]{{0,{LONGEST_FENCE_TAG}}})").match
FENCE_TICKS: Final = 3
# A longer run of backticks is an ornament.
LONGEST_FENCE: Final = 32
tick_run: Final = re.compile(r"`*").match
JSON_TAGS: Final = frozenset({"json", "jsonc", "json5", "jsonl"})
# JavaScript is left out: JSON is a part of it, and models tag answers so.
FOREIGN_TAGS: Final = frozenset(
    {
        *("python", "py", "python3", "bash", "sh", "shell", "zsh", "console", "diff"),
        *("powershell", "cmd", "bat", "yaml", "yml", "toml", "ini", "xml", "html"),
        *("css", "scss", "sql", "csv", "c", "cpp", "c++", "cs", "csharp", "java"),
        *("kotlin", "scala", "go", "rust", "rs", "ruby", "rb", "php", "perl", "lua"),
        *("r", "julia", "swift", "dart", "haskell", "elixir", "erlang", "clojure"),
        *("dockerfile", "makefile", "cmake", "graphql", "proto", "protobuf", "mermaid"),
        *("latex", "tex", "markdown", "md", "nginx", "terraform", "hcl", "vb", "tsx"),
        *("jsx", "ts", "typescript", "http", "log", "svg"),
    }
)

PYTHON_LITERALS: Final = ("True", "False", "None")
WORDS: Final = ("true", "false", "null", *PYTHON_LITERALS)
LITERAL: Final = "|".join(WORDS)
_blank: Final = f"[{re.escape(BLANK)}]*"
object_start: Final = re.compile(rf"\{{({_blank})(.)?", re.DOTALL).match
array_start: Final = re.compile(rf"\[({_blank})(?:({LITERAL})|(.))?", re.DOTALL).match
LITERAL_STARTS: Final = frozenset(
    word[:length] for word in WORDS for length in range(1, len(word) + 1)
)
QUOTES: Final = "'\u2018\u2019\u201c\u201d`"
# What an array of another notation begins with, where it is no plain word. `[Note]` and
# `[/INST]` are words.
COMMENTS: Final = ("//", "/*")
FOREIGN_ELEMENTS: Final = (
    *PYTHON_LITERALS,
    *QUOTES,
    *COMMENTS,
    "...",
    "NaN",
    "Infinity",
    "+",
)
# What needs another character before it is known: a literal, one of these.
ELEMENT_STARTS: Final = frozenset(
    word[:length]
    for word in (*WORDS, *FOREIGN_ELEMENTS)
    for length in range(1, len(word))
)
LONGEST_ELEMENT: Final = max(map(len, (*WORDS, *FOREIGN_ELEMENTS)))
# A key without quotes, and what follows it: `name:`, `name-2:`, `name /* why */:`.
bare_key: Final = re.compile(rf"([\w$][\w$.-]*){_blank}(:|/[/*]?|.)?", re.DOTALL).match
# How far a `{` is followed to see whether such a key stands behind it.
LONGEST_NAME: Final = 64
_closing_quote: Final = re.compile(r"[{}\[\]](['\"`\u2019\u201d])(.)?", re.DOTALL).match
_OPENING_QUOTES: Final = {"\u2019": "\u2018", "\u201d": "\u201c"}
_BEHIND_QUOTED: Final = BLANK + ".,:;!?)"
_bracket: Final = re.compile(r"[{}\[\]]").finditer
after_separator: Final = re.compile(r"[,:]\s*(.)?", re.DOTALL).match
# How far white space is followed to see what stands behind it: a separator behind the
# root, a fence.
LONGEST_GAP: Final = 1000
hidden_root: Final = re.compile(r"[{\[]\s*[\"{\[]").search
_gap: Final = rf"\s{{0,{LONGEST_GAP}}}"
root_in_fence: Final = re.compile(
    rf"{_gap}(?:\{{{_gap}[\"}}]|\[{_gap}[\"\[\]{{0-9tfn-])", re.ASCII
).match
root_in_fence_part: Final = re.compile(rf"{_gap}(?:[{{\[]{_gap})?", re.ASCII).fullmatch
ARRAY_STARTS: Final = frozenset('"{[-]0123456789') | {"true", "false", "null"}
DIGITS: Final = "0123456789"
SCALAR_STARTS: Final = '"-tfn' + DIGITS
# Several numbers in brackets cite sources when they are small; larger ones are data.
LARGEST_CITED: Final = 99
citation: Final = re.compile(r"[0-9, \t\n\r]*").match

# Reading failed candidates again from their second character on may cost this many
# times the characters read so far; beyond it the search goes on where one failed.
RESCANS: Final = 8
# How much of a chunk a candidate gets at a time.
WINDOW: Final = 4096


_searches: Final = {
    tag: re.compile(re.escape(tag), re.IGNORECASE).search for tag in CLOSING_TAGS
}


def find_tag(close: str, chunk: str, pos: int) -> int:
    found = _searches[close](chunk, pos)
    return found.start() if found else -1


def is_quoted(chunk: str, pos: int, before: str) -> bool | None:
    """Whether words only name a bracket, as in `{` or '['; None for wait.

    Args:
        chunk: Text with the bracket.
        pos: Where it stands.
        before: The character before it.
    """
    found = _closing_quote(chunk, pos)
    if found is None or _OPENING_QUOTES.get(found[1], found[1]) != before:
        return False
    return None if found[2] is None else found[2] in _BEHIND_QUOTED


def open_brackets(text: str, opened: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The closing brackets that words still wait for.

    Args:
        text: The words.
        opened: What the words before them waited for, outermost first.
    """
    closers = list(opened)
    for found in _bracket(text):
        at, char = found.start(), found[0]
        quote = _closing_quote(text, at)
        # Words close a quotation here, as in "it opens with [".
        if quote is not None and (quote[2] is None or quote[2] in _BEHIND_QUOTED):
            continue
        if char in "{[":
            closers.append("}" if char == "{" else "]")
        elif closers and closers[-1] == char:
            closers.pop()
    return tuple(closers)
