"""Scans that nobody here made: pages of an archive, read by the starter's pipeline to the end.

The source package of `htrflow` 0.2.6 (National Archives of Sweden, EUPL-1.2) carries a letter of 1882,
court minutes of the 18th century and a church record. It is taken from the package index when this runs,
with pip and by its digest, into the user's cache; nothing of it is kept in this repository. Handwriting of
that age is beyond the `ocr` step, so what is shown is that large, stained, real pages go all the way, not
that the text is right.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

import pytest
from PIL import Image

from allotment.running.page import Page
from allotment.running.steps import StepContext
from allotment.running.steps.ocr import create
from allotment.starter.write import write_starter
from tests.running.ocr.alto_rules import checked_alto, strings

pytestmark = pytest.mark.network

PACKAGE = "htrflow-0.2.6.tar.gz"
SHA256 = "6b27ba964af39ce9d401870357fb727e476da1877dcfb8c53a781b85eee39a9d"
REQUIREMENT = f"htrflow==0.2.6 --hash=sha256:{SHA256}\n"
VOLUMES = {
    "letters": "docs/examples/*.jpg",
    "court-minutes": "examples/images/pages/*.jpg",
}


@pytest.fixture(scope="session")
def package() -> Path:
    """The source package, from the cache or from the package index."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "allotment-tests"
    kept = cache / PACKAGE
    if not kept.is_file() or digest(kept) != SHA256:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            download(Path(folder)).replace(kept)
    assert digest(kept) == SHA256
    return kept


def download(folder: Path) -> Path:
    (folder / "requirement.txt").write_text(REQUIREMENT)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    how = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", "requirement.txt"]
    ended = subprocess.run([*pip, *how], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return folder / PACKAGE


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="session")
def scans(package: Path) -> dict[str, dict[str, bytes]]:
    """The scans by volume and file name."""
    found: dict[str, dict[str, bytes]] = {volume: {} for volume in VOLUMES}
    with tarfile.open(package) as archive:
        for member in archive:
            name = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            for volume, pattern in VOLUMES.items():
                content = archive.extractfile(member) if member.isreg() and name.match(pattern) else None
                if content is not None:
                    found[volume][name.name] = content.read()
    return found


def test_the_package_holds_the_scans(scans: dict[str, dict[str, bytes]]) -> None:
    assert {volume: len(pages) for volume, pages in scans.items()} == {"letters": 3, "court-minutes": 3}
    sizes = [Image.open(io.BytesIO(page)).size for pages in scans.values() for page in pages.values()]
    assert max(width * height for width, height in sizes) > 30_000_000


def test_the_ocr_step_finds_lines_on_every_page(scans: dict[str, dict[str, bytes]]) -> None:
    step = create({"min_confidence": 0.3}, StepContext())
    for pages in scans.values():
        for number, (name, data) in enumerate(sorted(pages.items()), start=1):
            outputs = step(Page("archive", number, f"{number:04d}", name, data, "image/jpeg"), {})
            words = strings(checked_alto(outputs["alto.xml"]))
            assert len(words) > 10, name
            assert outputs["txt"].decode().split() == words


@pytest.fixture
def repository(tmp_path: Path, scans: dict[str, dict[str, bytes]]) -> Path:
    """The starter repository with a campaign over the scans, as the README tells a person to add one."""
    root = tmp_path / "campaigns"
    write_starter(root)
    lines = ["pipeline: read", "window: 2", "volumes:"]
    for volume, pages in scans.items():
        folder = root / "scans" / volume
        folder.mkdir()
        for name, data in pages.items():
            (folder / name).write_bytes(data)
        lines.append(f"  - {{id: {volume}, folder: scans/{volume}}}")
    (root / "campaigns/archive.yaml").write_text("\n".join(lines) + "\n")
    return root


def allot(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ALLOT_LEDGER": str(root.parent / "ledger")}
    environment.pop("ALLOT_PLATFORM", None)
    return subprocess.run(
        [sys.executable, "-m", "allotment.cli", *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def results_of(root: Path) -> dict[str, bytes]:
    """Everything under the volumes' folders that counts as a result, by its key."""
    return {
        str(path.relative_to(root / "results")): path.read_bytes()
        for path in sorted((root / "results").rglob("*"))
        if path.is_file() and ("pages" in path.parts or path.name == "manifest.json")
    }


def test_a_campaign_over_the_scans_runs_to_the_end_and_is_not_done_twice(
    repository: Path, scans: dict[str, dict[str, bytes]]
) -> None:
    checked = allot(repository, "check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    ran = allot(repository, "run", "campaigns/archive.yaml")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    results = results_of(repository)
    for volume, pages in scans.items():
        manifest = [key for key in results if key.endswith(f"/{volume}/manifest.json")]
        assert len(manifest) == 1
        assert json.loads(results[manifest[0]])
        for number in range(1, len(pages) + 1):
            page = manifest[0].removesuffix("manifest.json") + f"pages/{number:04d}"
            assert json.loads(results[f"{page}.json"])
            assert strings(checked_alto(results[f"{page}.ocr.alto.xml"]))
            assert results[f"{page}.ocr.txt"]
    again = allot(repository, "run", "campaigns/archive.yaml")
    assert again.returncode == 0, again.stdout + again.stderr
    assert results_of(repository) == results
