"""Promises about the repository itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ["partial_json_core", "langchain_partial", "llamaindex_partial"]
FRAMEWORKS = ["langchain_core", "llama_index", "jsonschema", "rich", "openai"]


def test_the_core_loads_no_framework() -> None:
    """Importing the core loads neither framework nor any extra."""
    code = (
        "import sys, partial_json_core; "
        f"sys.exit(', '.join(n for n in {FRAMEWORKS!r} if n in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT)

    assert done.returncode == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_types_ship(package: str) -> None:
    """Each package tells type checkers that it is typed."""
    assert (ROOT / package / "py.typed").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_exports_are_sorted(package: str) -> None:
    """`__all__` is a literal in the order that the linter keeps."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    targets = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and "__all__" in ast.unparse(node)
    ]

    assert len(targets) == 1
    assert isinstance(targets[0].value, ast.List)


def test_every_test_says_what_it_shows() -> None:
    """Each test has a docstring."""
    silent = [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]

    assert silent == []
