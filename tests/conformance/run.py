"""Run langchain-core's own parser tests with `SafePartialParser` in place of its parsers.

    python tests/conformance/run.py [--allow-missing] [--verbose]

The tests are in the source distribution of the installed version, which is fetched
once into ``.conformance``. Exits with 1 when a test fails that is not a known
difference, when a known difference has gone, and when the tests cannot be fetched.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CACHE: Final = ROOT / ".conformance"
PAGE: Final = ROOT / "docs" / "langchain-core-tests.md"
FOLDER: Final = "tests/unit_tests/output_parsers"
FILES: Final = ("test_json.py", "test_pydantic_parser.py", "test_refusal.py")

# Tests in these files that are about other things than the two parsers.
NOT_ABOUT_PARSERS: Final = (
    "test_parse_partial_json",
    "test_parse_non_dict_json_output",
    "test_with_structured_output",
    "test_tool_parser",
    "ToolsParser",
)

_CLOSING: Final = "asserts that an object which never ends is closed in silence"
_DIGITS: Final = "asserts that a number is shown before its last digit has come"
_DICT: Final = "with `pydantic_object` the value is the model, not a dict"
_V1: Final = "models of `pydantic.v1` are not taken"
_MESSAGE: Final = "asserts the words of the message, which hold the whole output"
DIFFERENCES: Final[dict[str, str]] = {
    "test_parse_json[11]": _CLOSING,
    "test_parse_json[14]": _CLOSING,
    "test_partial_text_json_output_parser_with_json_code_block": _DIGITS,
    "test_json_parser_chaining[ForecastV2]": _DICT,
    "test_json_parser_chaining[ForecastV1]": _V1,
    "test_pydantic_parser_chaining[ForecastV1]": _V1,
    "test_pydantic_parser_validation[ForecastV1]": _V1,
    "test_format_instructions[ForecastV1]": _V1,
    "test_pydantic_output_parser_fail": _MESSAGE,
}


class NotFetchedError(Exception):
    """The source distribution could not be fetched."""


def main() -> int:
    """Fetch, run, compare, tell."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--allow-missing", action="store_true")
    options.add_argument("--verbose", action="store_true")
    asked = options.parse_args()
    try:
        folder = fetch(version("langchain-core"))
    except NotFetchedError as err:
        print(f"the tests of langchain-core could not be fetched: {err}")
        return 0 if asked.allow_missing else 1
    outcomes = run(folder, verbose=asked.verbose)
    complaints = compare(outcomes) + undocumented()
    passed = sum(outcome == "passed" for outcome in outcomes.values())
    print(
        f"{folder.name}: {passed} of {len(outcomes)} tests pass, "
        f"{len(DIFFERENCES)} known differences"
    )
    for complaint in complaints:
        print(f"  {complaint}")
    return 1 if complaints or not outcomes else 0


def fetch(release: str) -> Path:
    """Return the folder of the unpacked source distribution.

    Raises:
        NotFetchedError: pip did not deliver it.
    """
    folder = CACHE / f"langchain_core-{release}"
    if (folder / FOLDER).is_dir():
        return folder
    CACHE.mkdir(exist_ok=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--no-binary=:all:"),
            *("--dest", str(CACHE), f"langchain-core=={release}"),
        ],
        capture_output=True,
        check=False,
        text=True,
    )
    archive = CACHE / f"{folder.name}.tar.gz"
    if not archive.is_file():
        lines = done.stderr.strip().splitlines() or [
            f"pip exited with {done.returncode}"
        ]
        raise NotFetchedError(lines[-1])
    with tarfile.open(archive) as packed:
        packed.extractall(CACHE, filter="data")
    return folder


def run(folder: Path, *, verbose: bool) -> dict[str, str]:
    """Run the tests in a process of their own; returns the outcome of each."""
    target = CACHE / "outcomes.json"
    target.unlink(missing_ok=True)
    settings = CACHE / "pytest.ini"
    settings.write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
    paths = [str(Path(__file__).parent), str(ROOT), str(folder)]
    skipped = " and ".join(f"not {name}" for name in NOT_ABOUT_PARSERS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--noconftest", "-c"),
            *(str(settings), "--rootdir", str(folder), "-p", "substitute"),
            *("-p", "no:cacheprovider", "-k", skipped),
            *(f"{FOLDER}/{name}" for name in FILES),
        ],
        capture_output=not verbose,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "CONFORMANCE_OUTCOMES": str(target),
            "PYTHONPATH": os.pathsep.join(paths),
        },
        text=True,
    )
    if not target.is_file():
        print(done.stdout, done.stderr, sep="\n")
        return {}
    outcomes: dict[str, str] = json.loads(target.read_text(encoding="utf-8"))
    return outcomes


def compare(outcomes: dict[str, str]) -> list[str]:
    """Name each test that fails or passes against expectation."""
    failed = {name for name, outcome in outcomes.items() if outcome != "passed"}
    # langchain-core defines no `pydantic.v1` case there.
    known = {
        name
        for name in DIFFERENCES
        if sys.version_info < (3, 14) or "ForecastV1" not in name
    }
    return [
        *(f"{name}: fails" for name in sorted(failed - known)),
        *(
            f"{name}: no longer fails ({DIFFERENCES[name]})"
            for name in sorted(known - failed)
        ),
    ]


def undocumented() -> list[str]:
    """Name each difference that the page does not list with its reason."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [
        f"{name}: not listed in {PAGE.name}"
        for name, reason in DIFFERENCES.items()
        if f"| `{name}` | {reason} |" not in lines
    ]


if __name__ == "__main__":
    sys.exit(main())
