"""What a scene looks up: results in the bucket, files in folders, and nothing that stops it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allotment.buckets.keys import RecipeKeys, events_object
from allotment.buckets.memory import MemoryBucket
from allotment.errors import WorldError
from allotment.events.event import Event
from allotment.planning.scenes import looking
from allotment.planning.scenes.looking import look
from allotment.planning.scenes.pages import pages_of
from allotment.platform.model import Platform, Sources, Team
from allotment.repository import load_repository
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
    bucket.objects[own.volume("one").manifest] = json.dumps(manifest([on(H100, 100)] * 3)).encode()
    for page in ("0001", "0002"):
        bucket.objects[own.volume("two").record(page)] = b"{}"
        bucket.objects[own.volume("two").pages + f"{page}.ocr.txt"] = b"text"
    loaded = Event("model.loaded", 1.8e9, "archive", "letters", "one", data={"seconds": 12.5})
    bucket.objects[events_object("archive", "letters", "w", 1)] = f"{loaded.to_line()}\n".encode()
    known = look(found, TEAM, bucket)
    assert known.complete == {own.recipe: frozenset({"one"})}
    assert known.begun == {(own.recipe, "two"): 2}
    assert known.loads == {own.recipe: (12.5,)}
    assert len(known.figures[own.recipe].volumes[0].pages) == 3


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
    assert len(known.complete[own.recipe]) == 10
    assert known.failed == {own.recipe: frozenset({"one"})}
    assert known.counts[own.recipe] == tuple(range(40, 50))
    assert [each.volume for each in known.figures[own.recipe].volumes] == ["other-0", "other-3", "other-6"]
    assert any("wait for `allot retry`" in note for note in known.notes)


def test_results_of_an_earlier_platform_are_complete(tmp_path: Path) -> None:
    found, bucket = files(tmp_path), MemoryBucket()
    bucket.objects["archive/read/two/manifest.json"] = b"{}"
    assert look(found, TEAM, bucket).complete == {keys(found).recipe: frozenset({"two"})}
