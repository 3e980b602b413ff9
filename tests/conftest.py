"""Fixtures for all tests: chunked texts, shared data, and no network but loopback."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts
from support import CUTS

_ROOT = Path(__file__).parent.parent


@pytest.fixture(params=list(CUTS))
def chunked(request: pytest.FixtureRequest) -> Callable[[str], list[str]]:
    """A way of cutting a text into chunks; a test that asks for it runs with each."""
    cut: Callable[[str], list[str]] = CUTS[request.param]
    return cut


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of other people's recorded data, which is not part of the project."""
    folder = Path(os.environ.get("PARTIAL_JSON_SHARED", _ROOT.parent / "shared"))
    if not (folder / "cases").is_dir():
        pytest.skip(f"no shared data in {folder.name!r}: set PARTIAL_JSON_SHARED")
    return folder


@pytest.fixture(autouse=True)
def _only_loopback() -> None:
    """Refuse connections to anything but this machine."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
