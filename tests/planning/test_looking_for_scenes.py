"""What a scene looks up: results in the bucket, files in folders, and nothing that stops it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allotment.buckets.keys import RecipeKeys
from allotment.buckets.memory import MemoryBucket
from allotment.errors import WorldError
from allotment.planning.scenes import looking
from allotment.planning.scenes.looking import look, look_beside
from allotment.planning.scenes.pages import pages_of
from allotment.platform.model import Platform, Sources, Team
from allotment.repository import load_repository
from allotment.repository.measured import FILE, Measured, PageSeconds, written
from allotment.repository.model import Repository
from allotment.repository.recipe import recipe_of
from tests.planning.manifests import H100, manifest, on

TEAM = Team("archive")
CAMPAIGN = """
pipeline: read
volumes:
  - {id: one, folder: scans/one}
  - {id: two, folder: scans/two}
  - {id: three, images: ["https://x.org/1.jpg", "https://x.org/2.jpg"]}
"""


def files(root: Path) -> Repository:
    (root / "pipelines").mkdir(parents=True)
    (root / "pipelines/read.yaml").write_text("steps: [{step: checksum}]\n")
    (root / "campaigns").mkdir()
    (root / "campaigns/letters.yaml").write_text(CAMPAIGN)
    for name, count in (("one", 3), ("two", 5)):
        folder = root / "scans" / name
        folder.mkdir(parents=True)
        for number in range(count):
            (folder / f"{number}.jpg").write_bytes(b"x")
    (root / "scans/one/.hidden").write_bytes(b"x")
    return load_repository(root, Platform(sources=Sources(hosts=("x.org",)))).checked()


def keys(found: Repository) -> RecipeKeys:
    return RecipeKeys("archive", "read", recipe_of(found.pipelines["read"]))


def test_pages_are_counted_where_they_are_at_hand(tmp_path: Path) -> None:
    found = files(tmp_path)
    known = look(found, TEAM, None)
    volumes = found.campaigns["letters"].volumes
    assert [pages_of(volume, known) for volume in volumes] == [3, 5, 2]
    assert known.figures == {}


def test_a_folder_that_is_gone_is_told_and_not_counted(tmp_path: Path) -> None:
    found = files(tmp_path)
    for path in (tmp_path / "scans/two").iterdir():
        path.unlink()
    (tmp_path / "scans/two").rmdir()
    known = look(found, TEAM, None)
    assert pages_of(found.campaigns["letters"].volumes[1], known) == 0
    assert known.notes == ("1 folders of volumes could not be counted",)


def test_complete_volumes_done_pages_and_loads_are_read(tmp_path: Path) -> None:
    found = files(tmp_path)
    own, bucket = keys(found), MemoryBucket()
    done = manifest([on(H100, 100)] * 3, load_seconds=12.5, host="node-1")
    bucket.objects[own.volume("one").manifest] = json.dumps(done).encode()
    for page in ("0001", "0002"):
        bucket.objects[own.volume("two").record(page)] = b"{}"
        bucket.objects[own.volume("two").pages + f"{page}.ocr.txt"] = b"text"
    known = look(found, TEAM, bucket)
    assert known.complete == {"read": frozenset({"one"})}
    assert known.begun == {("read", "two"): 2}
    (volume,) = known.figures[own.recipe].volumes
    assert (len(volume.pages), volume.load, volume.host) == (3, 12.5, "node-1")


def test_what_another_campaign_measured_of_a_recipe_is_known(tmp_path: Path) -> None:
    found = files(tmp_path)
    (tmp_path / "campaigns/maps.yaml").write_text(
        "pipeline: read\nvolumes: [{id: four, folder: scans/two}]\n"
    )
    found = load_repository(tmp_path, Platform(sources=Sources(hosts=("x.org",)))).checked()
    own, bucket = keys(found), MemoryBucket()
    bucket.objects[own.volume("four").manifest] = json.dumps(
        manifest([on(H100, 100)], load_seconds=12.5)
    ).encode()
    bucket.objects[own.volume("four").complete_mark(1, 0)] = b""
    alone, both = (look(found, TEAM, bucket, names) for names in (["letters"], []))
    assert alone.figures == both.figures
    assert alone.figures[own.recipe].volumes[0].load == 12.5


def test_pipelines_that_do_the_same_share_measurements_and_not_results(tmp_path: Path) -> None:
    files(tmp_path)
    (tmp_path / "pipelines/again.yaml").write_text((tmp_path / "pipelines/read.yaml").read_text())
    (tmp_path / "campaigns/again.yaml").write_text(CAMPAIGN.replace("pipeline: read", "pipeline: again"))
    found = load_repository(tmp_path, Platform(sources=Sources(hosts=("x.org",)))).checked()
    own, bucket = keys(found), MemoryBucket()
    done = json.dumps(manifest([on(H100, 100)], load_seconds=12.5)).encode()
    bucket.objects[own.volume("one").manifest] = done
    bucket.objects[own.volume("one").complete_mark(3, 0)] = b""
    known = look(found, TEAM, bucket)
    assert known.complete == {"read": frozenset({"one"}), "again": frozenset()}
    assert (len(known.figures[own.recipe].volumes), known.counts[own.recipe]) == (1, (3,))


def test_of_others_only_what_their_files_tell_is_looked_at(tmp_path: Path) -> None:
    mine, theirs = files(tmp_path / "mine"), files(tmp_path / "theirs")
    seconds = PageSeconds(3.0, 9.0, 30.0)
    entry = Measured(
        "read", keys(theirs).recipe, "L4", 2**30, 0.9, 4, 400, seconds, 0.25, "2026-05-31T12:00:00Z"
    )
    (tmp_path / "theirs" / FILE).write_text(written([entry]))
    known = look_beside(look(mine, TEAM, MemoryBucket()), [(theirs, Team("museum"))])
    (other,) = known.beside.values()
    assert (len(other.measured.entries), len(other.pages), other.figures) == (1, 2, {})


def test_only_what_is_named_is_looked_at(tmp_path: Path) -> None:
    found = files(tmp_path)
    known = look(found, TEAM, MemoryBucket(), ["other"])
    assert (known.figures, known.pages) == ({}, {})


class Broken(MemoryBucket):
    """A bucket that cannot be read."""

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        raise WorldError(f"nobody answers for {prefix}")


def test_a_bucket_that_cannot_be_read_is_a_note(tmp_path: Path) -> None:
    found = files(tmp_path)
    known = look(found, TEAM, Broken())
    assert known.figures == {}
    assert len(known.pages) == 2
    assert "the bucket could not be read" in known.notes[0]
    with pytest.raises(WorldError):
        Broken().list_folders("x/")


def test_marks_tell_of_all_volumes_and_manifests_of_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MOST_READ", 3)
    found = files(tmp_path)
    own, bucket = keys(found), MemoryBucket()
    for number in range(10):
        volume = own.volume(f"other-{number}")
        bucket.objects[volume.manifest] = json.dumps(manifest([on(H100, 100)])).encode()
        bucket.objects[volume.complete_mark(40 + number, 0)] = b""
    bucket.objects[own.volume("one").failed_mark(3)] = b""
    known = look(found, TEAM, bucket)
    assert len(known.complete["read"]) == 10
    assert known.failed == {"read": frozenset({"one"})}
    assert known.counts[own.recipe] == tuple(range(40, 50))
    assert [each.volume for each in known.figures[own.recipe].volumes] == ["other-0", "other-3", "other-6"]
    assert any("waits for `allot retry`" in note for note in known.notes)


def test_results_of_an_earlier_platform_are_complete(tmp_path: Path) -> None:
    found, bucket = files(tmp_path), MemoryBucket()
    bucket.objects["archive/read/two/manifest.json"] = b"{}"
    assert look(found, TEAM, bucket).complete == {"read": frozenset({"two"})}
