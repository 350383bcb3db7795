"""Options of the test run: a folder of other systems' answers to compare with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--data",
        type=Path,
        default=None,
        help="a folder with cases and answers to compare with (default: $ALLOT_CONFORMANCE; none: skipped)",
    )


@pytest.fixture(scope="session")
def data_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of cases; tests that need it are skipped where it is not given."""
    named = request.config.getoption("--data") or os.environ.get("ALLOT_CONFORMANCE")
    if not named:
        pytest.skip("no folder of cases: name one with --data or in ALLOT_CONFORMANCE")
    return Path(named)
