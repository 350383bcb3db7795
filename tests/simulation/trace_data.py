"""Where the traces lie for the tests that need real ones: a folder of the environment, and none of ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("ALLOT_TRACES", "")
needs_traces = pytest.mark.skipif(not FOLDER, reason="the folder of traces is given as ALLOT_TRACES")


def folder() -> Path:
    return Path(FOLDER)
