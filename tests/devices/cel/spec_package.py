"""The tests of CEL's specification, as npm's ``@bufbuild/cel-spec`` publishes them, fetched when they are
run.

They are kept in the user's cache. Without npm, node or a network whoever asks for them is skipped, but not
where ``CI`` is ``true``: there they must run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

PACKAGE = "@bufbuild/cel-spec"
VERSION = "0.6.1"
PARTS = ("conformance", "parsing", "checking", "comprehension")
DEADLINE = 300
_DUMP = (
    "const [, folder, ...parts] = process.argv;"
    "const read = async (part) => [part, (await import(`${folder}/${part}.js`)).tests];"
    "Promise.all(parts.map(read)).then((all) => console.log(JSON.stringify(Object.fromEntries(all))));"
)


def spec_tests() -> Mapping[str, Any]:
    """The published tests by part: trees of ``suites`` and ``tests``."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "allotment-tests"
    kept = cache / f"cel-spec-{VERSION}.json"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            fresh = Path(folder) / kept.name
            fresh.write_text(_fetched(Path(folder)))
            fresh.replace(kept)
    found: dict[str, Any] = json.loads(kept.read_text())
    return found


def cases(suite: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tests of a suite and of those within it, with their names."""
    for number, test in enumerate(suite.get("tests", ())):
        yield f"{prefix}{test['original'].get('name') or number}", test
    for inner in suite.get("suites", ()):
        yield from cases(inner, f"{prefix}{inner['name']}/")


def _fetched(folder: Path) -> str:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        _unavailable("npm and node are not here")
    _run([npm, "pack", "--fetch-retries=1", "--pack-destination", str(folder), f"{PACKAGE}@{VERSION}"])
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    data = folder / "package" / "dist" / "esm" / "testdata"
    return _run([node, "--input-type=module", "--eval", _DUMP, "--", data.as_uri(), *PARTS])


def _run(words: list[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE, check=True)
    except subprocess.SubprocessError as error:
        output = getattr(error, "stderr", None) or str(error)
        _unavailable(f"{PACKAGE}@{VERSION} cannot be had: {output.strip()[-300:]}")
    return done.stdout


def _unavailable(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
