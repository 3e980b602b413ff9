"""The final value: built from the text of the document, never from the tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ._hints import SEVERAL
from ._schema import RootKind, Schema, describe_kinds
from .errors import InvariantError, SchemaMismatchError
from .fixes import Fix


def fixed_text(text: str, start: int, fixes: Sequence[Fix]) -> str:
    """Apply fixes to the text of a document.

    Args:
        text: The document as it came.
        start: Its offset in the stream.
        fixes: The fixes inside it, and perhaps behind it.
    """
    out = []
    pos = 0
    # A comma that turned out to trail stands before fixes made since.
    for fix in sorted(fixes, key=lambda fix: fix.offset):
        at = fix.offset - start
        if at >= len(text):
            break
        out.append(text[pos:at])
        out.append(fix.inserted)
        pos = at + len(fix.removed)
    out.append(text[pos:])
    return "".join(out)


def read_document(text: str, tree: Any, schema: Schema) -> Any:
    """Return the final value of a whole document.

    Args:
        text: The document, plain JSON.
        tree: What the scanner made of it.
        schema: What it has to be.

    Raises:
        SchemaMismatchError: It is not what the schema asks for; without its offset.
        InvariantError: Text and tree differ.
    """
    try:
        value = json.loads(text)
    except ValueError as err:
        raise InvariantError(detail="the fixed text is not JSON") from err
    if value != tree:
        raise InvariantError(detail="the tree differs from the text")
    kind = kind_of(value)
    if kind not in schema.kinds:
        raise wrong_root(kind, schema.kinds, 0)
    return schema.validate(text, value)


def wrong_root(
    kind: RootKind, kinds: frozenset[RootKind], offset: int
) -> SchemaMismatchError:
    """The error of a root of the wrong kind."""
    return SchemaMismatchError(
        errors=[
            {
                "type": "root_type",
                "loc": (),
                "msg": f"root is {kind}, expected {describe_kinds(kinds)}",
            }
        ],
        offset=offset,
        hint=SEVERAL if kind == "array" else "",
    )


def kind_of(value: Any) -> RootKind:
    """The kind of a root."""
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "scalar"
