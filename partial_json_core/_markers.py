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

fence: Final = re.compile(r"(`+)([\w+#.-]*)").match
FENCE_TICKS: Final = 3
# A longer run of backticks is an ornament.
LONGEST_FENCE: Final = 32
tick_run: Final = re.compile(r"`*").match
LONGEST_FENCE_TAG: Final = 40
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
object_start: Final = re.compile(
    r"\{([\s\ufeff\u200b-\u200d\u2060]*)(.)?", re.DOTALL
).match
array_start: Final = re.compile(
    r"\[([\s\ufeff\u200b-\u200d\u2060]*)(?:(" + LITERAL + r")|(.))?", re.DOTALL
).match
LITERAL_STARTS: Final = frozenset(
    word[:length] for word in WORDS for length in range(1, len(word) + 1)
)
LONGEST_LITERAL: Final = max(map(len, WORDS))
key_like: Final = re.compile(r"\{[\s\ufeff]*[\w$]+[\s\ufeff]*(.)?", re.DOTALL).match
# What an array of another notation begins with, where it is no plain word: a comment,
# an elision, a number that JSON has not. `[Note]` and `[/INST]` are words.
FOREIGN_ELEMENTS: Final = ("//", "/*", "...", "NaN", "Infinity", "+")
FOREIGN_STARTS: Final = frozenset(
    text[:length] for text in FOREIGN_ELEMENTS for length in range(1, len(text))
)
LONGEST_FOREIGN: Final = max(map(len, FOREIGN_ELEMENTS))
# A key of another notation than a plain name: it hides what it holds.
loose_key: Final = re.compile(
    r"\{[\s\ufeff]*[\w$][\w$.-]*[\s\ufeff]*(.)?", re.DOTALL
).match
# How far a `{` is followed to see whether an unquoted key stands after it.
LONGEST_NAME: Final = 64
QUOTES: Final = "'\u2018\u2019\u201c\u201d`"
after_separator: Final = re.compile(r"[,:]\s*(.)?", re.DOTALL).match
# How far a separator behind the root is followed to see what it separates.
LONGEST_GAP: Final = 1000
hidden_root: Final = re.compile(r"[{\[]\s*[\"{\[]").search
root_in_fence: Final = re.compile(
    r"\s*(?:\{\s*[\"}]|\[\s*[\"\[\]{0-9tfn-])", re.ASCII
).match
root_in_fence_part: Final = re.compile(r"\s*(?:[{\[]\s*)?", re.ASCII).fullmatch
ARRAY_STARTS: Final = frozenset('"{[-]0123456789') | {"true", "false", "null"}
PYTHON_STARTS: Final = frozenset(QUOTES) | frozenset(PYTHON_LITERALS)
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
