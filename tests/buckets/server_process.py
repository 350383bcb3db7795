"""A server in a process of its own: it says its port, and ends when its input does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def served_by(
    module: str, *arguments: str, environ: Mapping[str, str] | None = None, quiet: bool = False
) -> Iterator[str]:
    """The address of a server that a module is; ``quiet`` leaves out what it says on standard error."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        env=environ,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(30)
