"""What a preparation made: into the bucket whole or not at all, out of it as it was, whatever happens."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.buckets.bucket import BucketUnavailable, Entry
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import NO_PATIENCE, PatientBucket
from allotment.running.endings import PermanentFailureError, VolumeFailedError
from allotment.running.objects import dump
from allotment.running.prepare import cache
from allotment.running.prepare.cache import Made, fetch, read_made, store
from allotment.running.prepare.machine import bring, cache_folder, is_prepared

RECIPE = RecipeKeys("team", "read", "0123456789ab")
KEYS = RECIPE.prepared


def patient(bucket: MemoryBucket | Dying) -> PatientBucket:
    return PatientBucket(bucket, sleep=lambda _: None, patience=NO_PATIENCE)


class Killed(BaseException):
    """The process was killed at this operation."""


class Dying:
    """A bucket over another one; at one operation the process dies, before or after it took place."""

    def __init__(self, inner: MemoryBucket, at: int, *, after: bool) -> None:
        self.inner, self.left, self.after = inner, at, after

    def _count(self) -> bool:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Killed
        return self.left == 0

    def create(self, key: str, data: bytes) -> None:
        dies = self._count()
        self.inner.create(key, data)
        if dies:
            raise Killed

    def read(self, key: str, most: int | None = None) -> bytes:
        if self._count():
            raise Killed
        return self.inner.read(key, most)

    def exists(self, key: str) -> bool:
        return self.inner.exists(key)

    def list(self, prefix: str) -> Iterator[Entry]:
        if self._count():
            raise Killed
        return self.inner.list(prefix)

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        return self.inner.list_folders(prefix)


def fill(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    folder.mkdir(exist_ok=True)
    return folder


def read_back(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


FILES = {"model.bin": b"x" * 25, "deep/er/vocabulary.txt": b"a b c", ".hidden": b"", "same": b"x" * 25}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "PART_BYTES", 10)


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    folder = fill(tmp_path / "made", FILES)
    (folder / "model.bin").chmod(0o755)
    (folder / "link").symlink_to("model.bin")
    bucket = MemoryBucket()
    made = store(patient(bucket), KEYS, folder, measured={"at": 1.0})
    assert read_made(patient(bucket), KEYS) == made
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    fetch(patient(bucket), KEYS, made, fetched)
    assert read_back(fetched) == {**FILES, "link": FILES["model.bin"]}
    assert os.access(fetched / "model.bin", os.X_OK)
    assert not (fetched / "same").stat().st_mode & 0o222
    assert len(list(bucket.list(KEYS.parts))) == 3, "like parts are kept once"


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_kill_at_any_operation_is_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    tmp = tmp_path_factory.mktemp("kill")
    bucket, folder = MemoryBucket(), fill(tmp / "made", FILES)
    for place in range(data.draw(st.integers(1, 4))):
        at, after = data.draw(st.integers(1, 12)), data.draw(st.booleans())
        try:
            store(patient(Dying(bucket, at, after=after)), KEYS, folder, measured={"at": place})
        except Killed:
            made = read_made(patient(bucket), KEYS)
            assert made is None or len(made.files) == len(FILES), "the marker comes last"
    made = store(patient(bucket), KEYS, folder, measured={"at": 99})
    cache_here, brought = tmp / "cache", False
    for place in range(data.draw(st.integers(1, 3))):
        try:
            dying = Dying(bucket, data.draw(st.integers(1, 9)), after=data.draw(st.booleans()))
            here = bring(patient(dying), RECIPE, cache_here)
        except Killed:
            assert is_prepared(patient(bucket), RECIPE, cache_here) == brought
        else:
            brought = True
            assert read_back(here) == FILES, place
    here = bring(patient(bucket), RECIPE, cache_here)
    assert read_back(here) == FILES
    assert is_prepared(patient(bucket), RECIPE, cache_here)
    assert made == read_made(patient(bucket), KEYS)


def test_of_two_that_make_different_files_the_first_counts_for_both(tmp_path: Path) -> None:
    bucket = MemoryBucket()
    first = store(patient(bucket), KEYS, fill(tmp_path / "one", {"a": b"1"}), measured={})
    second = store(patient(bucket), KEYS, fill(tmp_path / "two", {"a": b"2"}), measured={})
    assert second == first
    assert read_back(bring(patient(bucket), RECIPE, tmp_path / "cache")) == {"a": b"1"}


def test_an_empty_folder_is_an_answer_too(tmp_path: Path) -> None:
    bucket = MemoryBucket()
    assert store(patient(bucket), KEYS, fill(tmp_path / "none", {}), measured={}) == Made(())
    assert read_back(bring(patient(bucket), RECIPE, tmp_path / "cache")) == {}


@pytest.mark.parametrize("odd", ["out", "pipe", "folder-link", "dangling"])
def test_what_cannot_be_kept_is_refused(tmp_path: Path, odd: str) -> None:
    folder = fill(tmp_path / "made", {"a/b": b"1"})
    if odd == "pipe":
        os.mkfifo(folder / "p")
    else:
        targets = {"out": "/etc/passwd", "folder-link": "a", "dangling": "nowhere"}
        (folder / "l").symlink_to(targets[odd])
    with pytest.raises(PermanentFailureError):
        store(patient(MemoryBucket()), KEYS, folder, measured={})


@pytest.mark.parametrize("path", ["../up", "/etc/passwd", "a//b", "", "a/./b", "a\0b"])
def test_a_marker_that_leads_out_of_its_folder_is_refused(tmp_path: Path, path: str) -> None:
    bucket = MemoryBucket()
    entry = {"executable": False, "parts": [], "path": path, "size": 0}
    bucket.create(KEYS.marker, dump({"format_version": 1, "files": [entry]}))
    with pytest.raises(PermanentFailureError, match="damaged"):
        bring(patient(bucket), RECIPE, tmp_path)
    assert not (tmp_path.parent / "up").exists()


@pytest.mark.parametrize(
    "marker", [b"{", b"[]", b'{"format_version":1}', b'{"format_version":1,"files":[{}]}']
)
def test_a_damaged_marker_is_told_in_words(marker: bytes) -> None:
    bucket = MemoryBucket()
    bucket.create(KEYS.marker, marker)
    with pytest.raises(PermanentFailureError, match="damaged or of a later version"):
        read_made(patient(bucket), KEYS)
    assert not is_prepared(patient(bucket), RECIPE, Path())


def test_parts_that_are_gone_or_changed_are_not_taken(tmp_path: Path) -> None:
    bucket = MemoryBucket()
    made = store(patient(bucket), KEYS, fill(tmp_path / "made", {"a": b"1"}), measured={})
    other = MemoryBucket()
    other.create(KEYS.marker, bucket.read(KEYS.marker))
    with pytest.raises(VolumeFailedError, match="is gone"):
        bring(patient(other), RECIPE, tmp_path / "cache")
    other.create(KEYS.part(made.files[0].parts[0]), b"2")
    with pytest.raises(PermanentFailureError, match="damaged"):
        bring(patient(other), RECIPE, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("a"))[1:]


def test_a_bucket_that_fails_is_told_as_such(tmp_path: Path) -> None:
    class Down(MemoryBucket):
        def read(self, key: str, most: int | None = None) -> bytes:
            raise BucketUnavailable("no answer", key)

    with pytest.raises(BucketUnavailable):
        is_prepared(patient(Down()), RECIPE, tmp_path)


def test_nothing_prepared_and_no_room_are_told_in_words(tmp_path: Path) -> None:
    bucket = MemoryBucket()
    with pytest.raises(VolumeFailedError, match="not prepared yet"):
        bring(patient(bucket), RECIPE, tmp_path)
    store(patient(bucket), KEYS, fill(tmp_path / "made", {"a": b"1"}), measured={})
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(VolumeFailedError, match="ALLOT_CACHE"):
        bring(patient(bucket), RECIPE, tmp_path / "cache")


def test_large_files_are_never_whole_in_memory(tmp_path: Path) -> None:
    rng = random.Random(1)
    data = rng.randbytes(1000)
    bucket = MemoryBucket()
    made = store(patient(bucket), KEYS, fill(tmp_path / "made", {"a": data}), measured={})
    assert (made.size, len(made.files[0].parts)) == (1000, 100)
    assert max(entry.size for entry in bucket.list(KEYS.parts)) == 10
    assert read_back(bring(patient(bucket), RECIPE, tmp_path / "cache")) == {"a": data}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"ALLOT_CACHE": "/a"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/allotment")),
        ({}, Path("~/.cache/allotment").expanduser()),
    ],
)
def test_where_the_cache_is(environ: dict[str, str], expected: Path) -> None:
    assert cache_folder(environ) == expected


@pytest.mark.parametrize(
    ("spoil", "reason", "words"),
    [
        (lambda folder: folder.rmdir(), "prepare-odd", "took away the folder"),
        (
            lambda folder: (folder.rmdir(), folder.symlink_to("/etc")),
            "prepare-escapes",
            "put a link in the place",
        ),
        (lambda folder: (folder.rmdir(), folder.write_text("")), "prepare-odd", "took away the folder"),
    ],
)
def test_a_folder_that_is_no_longer_there_is_no_empty_one(
    tmp_path: Path, spoil: Callable[[Path], object], reason: str, words: str
) -> None:
    bucket, folder = MemoryBucket(), tmp_path / "prepared"
    folder.mkdir()
    spoil(folder)
    with pytest.raises(PermanentFailureError, match=words) as caught:
        store(patient(bucket), KEYS, folder, measured={})
    assert caught.value.reason == reason
    assert bucket.objects == {}


def test_empty_folders_are_not_kept_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "deep" / "empty").mkdir(parents=True)
    (tmp_path / "file").write_text("x")
    store(patient(MemoryBucket()), KEYS, tmp_path, measured={})
    assert [record.getMessage() for record in caplog.records] == [
        "prepare left an empty folder, which is not kept: deep/empty"
    ]


def test_a_cache_folder_is_the_same_from_every_folder() -> None:
    assert cache_folder({"ALLOT_CACHE": "caches"}) == Path.cwd() / "caches"
