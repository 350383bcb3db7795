"""What tests share: a folder of other systems' answers to compare with, and one S3 server a test run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.buckets.moto_server import moto


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


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The address of an S3 server on the loopback address, for all tests of this process."""
    with moto() as endpoint:
        yield endpoint
