"""The package as it is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

GUARD = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
try:
    import langchain_partial
except ModuleNotFoundError as err:
    print(err)
"""
MISSING = {
    "langchain_core": "langchain_partial needs langchain-core: "
    "pip install 'partial-json-core[langchain]'",
    "langchain_core.version": "No module named 'langchain_core.version'",
}


@pytest.mark.parametrize(("hidden", "said"), MISSING.items())
def test_a_missing_framework_names_the_extra(hidden: str, said: str) -> None:
    """The guard speaks of the extra for the framework only."""
    done = subprocess.run(
        [sys.executable, "-c", GUARD.format(hidden=hidden)],
        capture_output=True,
        check=True,
        text=True,
    )

    assert done.stdout.strip() == said


def test_the_public_names_are_pinned() -> None:
    """A new public name is a decision."""
    import langchain_partial

    assert langchain_partial.__all__ == [
        "ElementStream",
        "LangChainAmbiguousOutputError",
        "LangChainContentFilteredError",
        "LangChainDuplicateKeyError",
        "LangChainMalformedOutputError",
        "LangChainNoJSONFoundError",
        "LangChainRefusedOutputError",
        "LangChainSchemaMismatchError",
        "PartialToolCall",
        "PartialToolCalls",
        "Rejected",
        "RetryWithFeedback",
        "SafePartialParser",
        "SafePartialToolsParser",
        "SafeToolCall",
        "SettledField",
        "SettledFields",
        "safe_structured_output",
        "translate",
    ]


def test_the_agents_name_their_extra() -> None:
    """Without langchain the module of the agents says what to install."""
    code = (
        "import sys; sys.modules['langchain'] = None\n"
        "try:\n    import langchain_partial.agents\n"
        "except ModuleNotFoundError as err:\n    print(err)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert "pip install 'partial-json-core[agents]'" in done.stdout
