"""Pages that lie in a folder of an S3 bucket: over a server that fails, killed and taken up."""

from __future__ import annotations

import io
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from allotment.buckets.bucket import Bucket
from allotment.buckets.opening import open_bucket
from tests.buckets.fault_proxy import FaultProxy, seeded
from tests.buckets.moto_server import KEYS, make_bucket
from tests.running.engine.harness import Repository, eventually

PAGES = 12


def png(width: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (width, 3)).save(file, format="PNG")
    return file.getvalue()


@dataclass
class Stored:
    """A repository whose pages and results are in one bucket of a server that fails now and then."""

    repository: Repository
    bucket: Bucket
    proxy: FaultProxy

    def put(self, volume: str, name: str, data: bytes) -> None:
        self.bucket.create(f"scans/{volume}/{name}", data)

    def manifest(self, volume: str) -> dict[str, object]:
        keys = [entry.key for entry in self.bucket.list("results/")]
        (key,) = [key for key in keys if key.endswith(f"/{volume}/manifest.json")]
        manifest: dict[str, object] = json.loads(self.bucket.read(key))
        return manifest

    def texts(self, volume: str) -> list[bytes]:
        """What the step made of each page, in order."""
        keys = sorted(entry.key for entry in self.bucket.list("results/"))
        wanted = [key for key in keys if f"/{volume}/pages/" in key and re.search(r"\d\.\w+\.txt$", key)]
        return [self.bucket.read(key) for key in wanted]


@contextmanager
def stored(root: Path, server: str, *volumes: str, chance: float = 0.0, seed: int = 1) -> Iterator[Stored]:
    name = f"b{uuid.uuid4().hex}"
    make_bucket(server, name)
    bucket = open_bucket(f"s3://{name}", root, options={"endpoint": server, "allow_http": True}, environ=KEYS)
    proxy = FaultProxy(server, seeded(seed, chance))
    with proxy.serving() as endpoint:
        lines = (
            f"bucket: s3://{name}/results\n"
            f"bucket_options: {{endpoint: '{endpoint}', allow_http: true, timeout: 10s}}\n"
            f"sources: {{buckets: ['s3://{name}/scans']}}\n"
        )
        repository = Repository(root, volumes=0, seconds=0.05, bucket=lines, variables=KEYS).write()
        listed = "".join(
            f"  - {{id: {volume}, folder: 's3://{name}/scans/{volume}'}}\n" for volume in volumes
        )
        (root / "campaigns" / "c.yaml").write_text(f"pipeline: tally\nwindow: 2\nvolumes:\n{listed}")
        yield Stored(repository, bucket, proxy)


def killed_after(repository: Repository, pages: int) -> None:
    """A run that is killed when it has begun so many pages."""
    engine = repository.start("run", "c", "--plain")
    try:
        assert eventually(lambda: len(repository.executions()) >= pages, seconds=60)
    finally:
        engine.kill()
        engine.wait()
    assert eventually(lambda: not repository.processes())


@pytest.mark.parametrize("seed", range(2))
def test_a_run_from_a_failing_bucket_that_is_killed_goes_on_where_it_was(
    tmp_path: Path, s3_server: str, seed: int
) -> None:
    with stored(tmp_path, s3_server, "v0", "v1", chance=0.1, seed=seed) as world:
        for volume in ("v0", "v1"):
            for page in range(1, PAGES + 1):
                world.put(volume, f"page {page}.png", png(page))
        repository = world.repository
        assert repository.allot("check", "--strict").returncode == 0
        killed_after(repository, 6)
        ended = repository.allot("run", "c", "--plain")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "2 of 2 volumes complete" in ended.stdout
        for volume in ("v0", "v1"):
            assert world.texts(volume) == [png(page) * 3 for page in range(1, PAGES + 1)]
            assert world.manifest(volume)["counts"] == {"pages": PAGES, "done": PAGES, "failed": 0}
        assert repository.repeated() <= 2
        assert repository.allot("run", "c", "--plain").returncode == 0


def test_pages_are_the_objects_right_in_the_folder_in_the_order_of_a_reader(
    tmp_path: Path, s3_server: str
) -> None:
    with stored(tmp_path, s3_server, "v0") as world:
        for name in ("10.png", "9.png", "deeper/1.png", ".hidden.png"):
            world.put("v0", name, png(3))
        world.put("v0", "åäö 11.png", png(4))
        ended = world.repository.allot("run", "c", "--plain")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        pages = world.manifest("v0")["pages"]
        assert isinstance(pages, list)
        assert [page["source"]["name"] for page in pages] == ["9.png", "10.png", "åäö 11.png"]
        assert [page.get("failed") for page in pages] == [None, None, None]


def test_an_object_that_changed_between_two_runs_is_one_clear_failure(tmp_path: Path, s3_server: str) -> None:
    with stored(tmp_path, s3_server, "v0") as world:
        for page in range(1, PAGES + 1):
            world.put("v0", f"{page}.png", png(page))
        repository = world.repository
        killed_after(repository, 3)
        world.put("v0", "0.png", png(100))
        ended = repository.allot("run", "c", "--plain")
        assert ended.returncode == 1
        assert "Traceback" not in ended.stdout + ended.stderr
        assert ended.stdout.count("v0: ") == 1, ended.stdout
        assert "0.png" in ended.stdout or "changed" in ended.stdout


@pytest.mark.parametrize(
    ("volume", "said"),
    [("empty", "has no object that could be a page"), ("../results", "folder-escapes")],
)
def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path, s3_server: str, volume: str, said: str) -> None:
    with stored(tmp_path, s3_server, "v0") as world:
        campaign = tmp_path / "campaigns" / "c.yaml"
        campaign.write_text(campaign.read_text().replace("scans/v0", f"scans/{volume}"))
        ended = world.repository.allot("run", "c", "--plain")
        assert ended.returncode == 1
        assert said in ended.stdout + ended.stderr
