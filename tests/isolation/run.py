"""Checks in fresh virtual environments, against the built wheel.

    python tests/isolation/run.py plugins   # each plugin without the other's framework
    python tests/isolation/run.py wheel     # the tests, with the source out of the way

Exits with 1 at the first check that fails.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]

# What a plugin's user must be able to do, and what must fail with the extra's name.
WORKS = {
    "langchain": (
        "from langchain_partial import SafePartialParser; "
        "assert SafePartialParser().invoke('{\"a\": 1}') == {'a': 1}"
    ),
    "llamaindex": "import llamaindex_partial, partial_json_core",
}
REFUSED = {
    "langchain": ("llamaindex_partial", "partial-json-core[llamaindex]"),
    "llamaindex": ("langchain_partial", "partial-json-core[langchain]"),
}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command and keep what it prints."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        check=False,
        capture_output=True,
        text=True,
    )


def must(*command: str | Path, cwd: Path) -> str:
    """Run a command that has to succeed."""
    done = run(*command, cwd=cwd)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{done.stderr}\nfailed: {command[-1]}")
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel."""
    must(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "-w",
        folder,
        ROOT,
        cwd=folder,
    )
    return next(folder.glob("*.whl"))


def environment(folder: Path) -> Path:
    """Make a virtual environment; returns its Python."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path, cwd: Path) -> None:
    """Install requirements."""
    must(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *what,
        cwd=cwd,
    )


def check_plugin(extra: str, wheel: Path, folder: Path) -> None:
    """One plugin works with its own extra, and the other one names its own."""
    python = environment(folder / extra)
    install(python, f"{wheel}[{extra}]", cwd=folder)
    must(python, "-c", WORKS[extra], cwd=folder)
    package, named = REFUSED[extra]
    done = run(python, "-c", f"import {package}", cwd=folder)
    if done.returncode == 0 or named not in done.stderr:
        sys.exit(f"import {package} without its framework should name {named}")
    print(f"{extra}: works alone, and {package} names its extra")


def check_wheel(wheel: Path, folder: Path) -> None:
    """The tests pass against the installed wheel."""
    python = environment(folder / "wheel")
    install(python, wheel, "-r", ROOT / "requirements" / "test.txt", cwd=folder)
    shutil.copytree(
        ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("conformance")
    )
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(ROOT / "pyproject.toml", folder)
    suites = ["tests/core", "tests/langchain"]
    print(
        must(
            python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *suites, cwd=folder
        )
    )


def main() -> None:
    """Run what is asked for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        if "plugins" in sys.argv[1:]:
            for extra in WORKS:
                check_plugin(extra, wheel, folder)
        if "wheel" in sys.argv[1:]:
            check_wheel(wheel, folder)


if __name__ == "__main__":
    main()
