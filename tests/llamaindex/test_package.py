"""Tests of the package `llamaindex_partial`, which holds its import guard so far."""

from __future__ import annotations

import subprocess
import sys

import pytest

GUARD = """
import sys
sys.modules[{hidden!r}] = None
try:
    import llamaindex_partial
except ModuleNotFoundError as err:
    print(err)
"""


@pytest.mark.parametrize("hidden", ["llama_index.core", "llama_index"])
def test_a_missing_framework_names_the_extra(hidden: str) -> None:
    """Without the framework the import says what to install."""
    done = subprocess.run(
        [sys.executable, "-c", GUARD.format(hidden=hidden)],
        capture_output=True,
        check=True,
        text=True,
    )

    assert "pip install 'partial-json-core[llamaindex]'" in done.stdout
