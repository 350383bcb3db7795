"""Everything that an archive's server may do to a page, in one run: a right page, or one finding each."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pytest
from PIL import Image

from tests.running.engine.harness import Repository
from tests.running.sources.archive import Answer, Archive, answer, cut, endless, redirect
from tests.running.sources.test_run_from_the_web import campaign, manifests


def png(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("1", (width, height)).save(file, format="PNG")
    return file.getvalue()


REFUSED: Mapping[str, tuple[Answer, str]] = {
    "endless": (endless(b"HTTP/1.1 200 OK\r\n\r\n", bytes(2**20)), "larger than 64 MiB"),
    "claims-much": (answer(b"x", length=10**15), "larger than 64 MiB"),
    "bomb": (answer(png(15_000, 15_000)), "pixels"),
    "no-image": (answer(b"<html>no</html>"), "it is no image: a web page"),
    "in-a-circle": (redirect("/in-a-circle.png"), "leads in a circle"),
    "metadata": (redirect("http://169.254.169.254/latest"), "does not let pages come from"),
    "a-file": (redirect("file:///etc/passwd"), "is neither an https nor an http address"),
    "gone": (answer(status="410 Gone"), "410 (Gone)"),
}
"""What will never be a page: the volume is complete without it."""
FOR_NOW: Mapping[str, tuple[Answer, str]] = {
    "cut-short": (cut(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + png(9, 9)), "it was cut short"),
    "no-http": (cut(b"\x16\x03\x01 what is this\r\n\r\n"), "does not speak HTTP"),
}
"""What may be one later: the volume fails, and a retry makes it whole."""


@pytest.fixture
def repository(archive: Archive, tmp_path: Path) -> Repository:
    repository = Repository(tmp_path, volumes=0, defaults={"retries": 0}).write()
    with (tmp_path / "platform.yaml").open("a") as platform:
        platform.write(f"sources: {{hosts: ['{archive.host}'], private: [127.0.0.0/8]}}\n")
    return repository


def test_each_trap_is_one_finding_and_holds_up_nothing(archive: Archive, repository: Repository) -> None:
    traps = {**REFUSED, **FOR_NOW}
    archive.answers = {f"/{name}.png": behave for name, (behave, _) in traps.items()}
    archive.default = answer(png(9, 9))
    good = archive.url("/good.png")
    campaign(
        repository,
        *(f"{{id: {name}, images: ['{good}', '{archive.url(f'/{name}.png')}', '{good}']}}" for name in traps),
    )
    path = repository.root / "campaigns" / "c.yaml"
    path.write_text(f"pack: {len(traps)}\n{path.read_text()}")
    ended = repository.allot("run", "c", "--plain")
    assert ended.returncode == 1, ended.stderr
    told = ended.stdout.splitlines()
    for name, (_, words) in traps.items():
        failures = [line for line in told if f"c/{name}/" in line and "page failed" in line]
        assert len(failures) == 1, (name, failures)
        assert words in failures[0]
    counts = {volume: manifest["counts"] for volume, manifest in manifests(repository).items()}
    assert counts == {name: {"pages": 3, "done": 2, "failed": 1} for name in REFUSED}
    logs = "".join(log.read_text() for log in (repository.root / "state").rglob("*.log"))
    assert "Traceback" not in ended.stdout + ended.stderr + logs
    assert not any("169.254" in asked.headers.get("host", "") for asked in archive.asked)
    for name in FOR_NOW:
        archive.answers.pop(f"/{name}.png")
    assert repository.allot("retry", "c").returncode == 0
    assert repository.allot("run", "c", "--plain").returncode == 0
    assert {manifests(repository)[name]["counts"]["done"] for name in FOR_NOW} == {3}
