"""The whole way: a platform that names a host, a campaign of manifests and images, `allot run`, results."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.running.engine.harness import Repository, eventually
from tests.running.sources.archive import Archive, answer, redirect

SHAPES = Path(__file__).parent / "shapes"


def png(width: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (width, 3)).save(file, format="PNG")
    return file.getvalue()


@pytest.fixture
def repository(archive: Archive, tmp_path: Path) -> Repository:
    """A repository whose platform lets pages come from the archive and from a folder as an object store."""
    repository = Repository(tmp_path, volumes=0, defaults={"retries": 0}).write()
    with (tmp_path / "platform.yaml").open("a") as platform:
        platform.write(
            "sources:\n"
            f"  template: {archive.host}/{{ref}}/manifest\n"
            f"  hosts: ['{archive.host}']\n"
            "  private: [127.0.0.0/8]\n"
            f"  buckets: ['file://{tmp_path}/store']\n"
        )
    return repository


def campaign(repository: Repository, *volumes: str) -> None:
    lines = "".join(f"  - {volume}\n" for volume in volumes)
    (repository.root / "campaigns" / "c.yaml").write_text(f"pipeline: tally\nvolumes:\n{lines}")


def manifests(repository: Repository) -> dict[str, Any]:
    return {path.parent.name: json.loads(path.read_text()) for path in repository.root.rglob("manifest.json")}


def test_volumes_of_every_source_run_to_their_end(archive: Archive, repository: Repository) -> None:
    names = ("national-library-2", "monastery-2", "museum-3", "state-archive-3")
    for name in names:
        text = (SHAPES / f"{name}.json").read_text()
        for base in ("https://archive.test", "http://archive.test"):
            text = text.replace(base, archive.host)
        archive.answers[f"/{name}/manifest"] = answer(text.encode(), media_type="application/ld+json")
    archive.default = answer(png(3))
    (repository.root / "store" / "s").mkdir(parents=True)
    for page in ("1.png", "2.png"):
        (repository.root / "store" / "s" / page).write_bytes(png(int(page[0])))
    campaign(
        repository,
        "national-library-2",
        *(f"{{id: {name}, manifest: '{archive.url(f'/{name}/manifest')}'}}" for name in names[1:]),
        f"{{id: listed, images: ['{archive.url('/1.png')}', '{archive.url('/2.png')}']}}",
        f"{{id: stored, folder: 'file://{repository.root}/store/s'}}",
    )
    checked = repository.allot("check", "--strict")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    ended = repository.allot("run", "c")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "6 of 6 volumes complete, 14 pages in this run" in ended.stdout
    counts = {volume: manifest["counts"]["done"] for volume, manifest in manifests(repository).items()}
    assert counts == {
        "listed": 2,
        "monastery-2": 3,
        "museum-3": 2,
        "national-library-2": 3,
        "state-archive-3": 2,
        "stored": 2,
    }


def test_a_host_that_is_not_named_is_refused_at_its_volume_before_anything_starts(
    archive: Archive, repository: Repository
) -> None:
    campaign(repository, "{id: a, manifest: 'https://evil.example.org/m'}")
    for command in (("check",), ("run", "c")):
        ended = repository.allot(*command)
        assert ended.returncode == 1
        assert "campaigns/c.yaml:3:23" in ended.stdout + ended.stderr
        assert "host-not-allowed" in ended.stdout + ended.stderr
    assert archive.asked == []


def test_what_an_archive_does_wrong_is_one_sentence_and_no_traceback(
    archive: Archive, repository: Repository
) -> None:
    archive.answers["/gone/manifest"] = answer(status="404 Not Found")
    archive.answers["/trap/manifest"] = redirect("http://169.254.169.254/latest/meta-data/")
    archive.answers["/page/manifest"] = answer(b"<html>Log in</html>", media_type="text/html")
    archive.answers["/1.png"] = answer(png(1))
    campaign(
        repository,
        *("gone", "trap", "page"),
        f"{{id: some, images: ['{archive.url('/1.png')}', '{archive.url('/2.png')}']}}",
    )
    ended = repository.allot("run", "c")
    assert ended.returncode == 1
    assert "it is not there: the server answers 404 (Not Found)" in ended.stdout
    assert "the platform does not let pages come from `http://169.254.169.254`" in ended.stdout
    assert "it is no JSON: it is a web page or XML" in ended.stdout
    assert manifests(repository)["some"]["counts"] == {"pages": 2, "done": 1, "failed": 1}
    shown = repository.allot("results", "c").stdout
    assert f"could not be read: 0002 ({archive.url('/2.png')}): " in shown
    assert "why: the manifest cannot be fetched: " in shown
    logs = "".join(path.read_text() for path in (repository.root / "state").rglob("*.log"))
    assert "Traceback" not in ended.stdout + ended.stderr + logs


def test_an_outage_of_an_archive_leaves_no_hole_and_a_retry_makes_the_volume_whole(
    archive: Archive, repository: Repository
) -> None:
    archive.answers["/1.png"] = archive.answers["/3.png"] = answer(png(1))
    archive.answers["/2.png"] = answer(status="503 Service Unavailable")
    addresses = ", ".join(f"'{archive.url(f'/{number}.png')}'" for number in (1, 2, 3))
    campaign(repository, f"{{id: some, images: [{addresses}]}}")
    ended = repository.allot("run", "c")
    assert ended.returncode == 1
    assert "its source could not be reached: " in ended.stdout
    assert "allot retry c, then allot run c" in ended.stdout
    assert manifests(repository) == {}
    archive.answers["/2.png"] = answer(png(2))
    assert repository.allot("retry", "c").stdout == "1 volume will be tried again: allot run c\n"
    assert repository.allot("run", "c").returncode == 0
    assert manifests(repository)["some"]["counts"] == {"pages": 3, "done": 3, "failed": 0}


def test_between_two_tries_of_a_source_that_is_out_of_reach_its_pause_is_shown(
    archive: Archive, repository: Repository
) -> None:
    platform = repository.root / "platform.yaml"
    platform.write_text(platform.read_text().replace("retries: 0", "retries: 1"))
    archive.answers["/m"] = answer(status="503 Service Unavailable", retry_after="3600")
    campaign(repository, f"{{id: some, manifest: '{archive.url('/m')}'}}")
    engine = repository.start("run", "c")
    try:
        output = repository.root / "output.log"
        assert eventually(lambda: "; next try in " in output.read_text(), seconds=30.0), output.read_text()
        assert eventually(lambda: "next try in " in repository.allot("status", "c").stdout, seconds=30.0)
        assert repository.allot("stop", "c").returncode == 0
        assert engine.wait(30) == 130
    finally:
        engine.kill()
