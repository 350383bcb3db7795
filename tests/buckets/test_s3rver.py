"""npm's s3rver takes `If-None-Match` and does not heed it: a published server that must be refused."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.buckets.bucket import BucketRefused
from allotment.buckets.once import Patience
from allotment.buckets.opening import open_bucket
from allotment.buckets.proof import prove

PACKAGE = "s3rver@3.7.1"
DEADLINE = 60.0
KEYS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}


@pytest.fixture(scope="module")
def installed() -> Path:
    """The server's program, installed into a cache."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("npm is not here")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "allotment-tests" / "s3rver"
    program = cache / "node_modules" / ".bin" / "s3rver"
    if not program.exists():
        cache.mkdir(parents=True, exist_ok=True)
        words = [
            npm,
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
            str(cache),
            PACKAGE,
        ]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            pytest.skip(f"npm could not install {PACKAGE}: {done.stderr.strip()[-200:]}")
    return program


@pytest.fixture
def s3rver(installed: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a running server with a bucket `books`."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [
        str(installed),
        "-d",
        str(tmp_path),
        "-a",
        "127.0.0.1",
        "-p",
        str(port),
        "--configure-bucket",
        "books",
    ]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("s3rver did not start")


@pytest.mark.network
def test_it_is_refused(s3rver: str) -> None:
    options: dict[str, str | bool] = {"endpoint": s3rver, "allow_http": True}
    bucket = open_bucket("s3://books/results", Path("/nowhere"), options=options, environ=KEYS)
    with pytest.raises(BucketRefused, match="writes over what is there"):
        prove(bucket, "team", "s3://books/results", sleep=lambda _: None, patience=Patience(tries=3))
