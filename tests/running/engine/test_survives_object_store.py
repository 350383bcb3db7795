"""The same over an S3 server that fails in every way: 500, 503, cut connections, drips, lost answers.

Figures, outputs and manifests are those of an undisturbed run into a folder.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from allotment.buckets.bucket import Bucket
from allotment.buckets.opening import open_bucket
from tests.buckets.fault_proxy import Fault, FaultProxy, seeded
from tests.buckets.moto_server import KEYS, make_bucket
from tests.buckets.tiny_s3 import TinyS3
from tests.running.engine.harness import Repository
from tests.running.engine.test_survives import killed_and_restarted

VOLUMES, PAGES = 3, 15
CHANCE = 0.15


@dataclass
class Distant(Repository):
    """A repository whose bucket is an object store; looked into past the faults."""

    inside: Bucket | None = None

    def results(self) -> dict[str, bytes]:
        assert self.inside is not None
        return {entry.key: self.inside.read(entry.key) for entry in self.inside.list("")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("undisturbed"), volumes=VOLUMES, pages=PAGES).write()
    ended = repository.allot("run", "c", "--plain")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return repository


def platform(endpoint: str, bucket: str) -> str:
    return f"bucket: {bucket}\nbucket_options: {{endpoint: '{endpoint}', allow_http: true, timeout: 10s}}\n"


@contextmanager
def distant(root: Path, server: str, seed: int) -> Iterator[tuple[Distant, FaultProxy]]:
    """A repository whose bucket is reached through a proxy that misbehaves."""
    name = f"b{uuid.uuid4().hex}"
    make_bucket(server, name)
    proxy = FaultProxy(server, seeded(seed, CHANCE))
    with proxy.serving() as endpoint:
        inside = open_bucket(
            f"s3://{name}/results", root, options={"endpoint": server, "allow_http": True}, environ=KEYS
        )
        lines = platform(endpoint, f"s3://{name}/results")
        yield Distant(root, VOLUMES, PAGES, bucket=lines, variables=KEYS, inside=inside), proxy


@pytest.mark.parametrize("seed", range(3))
def test_a_campaign_over_a_failing_store_that_is_killed_at_random_instants(
    tmp_path: Path, s3_server: str, undisturbed: Repository, seed: int
) -> None:
    with distant(tmp_path, s3_server, seed) as (repository, proxy):
        killed_and_restarted(repository, undisturbed, seed)
        assert all(proxy.met[fault] for fault in Fault)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_forty_campaigns_over_a_failing_store(
    tmp_path: Path, s3_server: str, undisturbed: Repository, seed: int
) -> None:
    with distant(tmp_path, s3_server, seed) as (repository, _):
        killed_and_restarted(repository, undisturbed, seed)


def test_credentials_are_in_no_file_and_no_output(tmp_path: Path, s3_server: str) -> None:
    with distant(tmp_path, s3_server, 7) as (repository, _):
        repository.write()
        ended = [
            repository.allot(*words) for words in (("run", "c", "--plain"), ("status",), ("results", "c"))
        ]
        assert [done.returncode for done in ended] == [0, 0, 0], ended
        assert "s3://" in ended[2].stdout
        texts = [done.stdout + done.stderr for done in ended]
        texts += [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
        texts += [data.decode(errors="replace") for data in repository.results().values()]
        assert not any(secret in text for text in texts for secret in KEYS.values())


def test_a_server_that_writes_over_is_refused_before_anything_starts(tmp_path: Path) -> None:
    store = TinyS3(heeds=False)
    with store.serving() as endpoint:
        lines = platform(endpoint, "s3://bucket")
        repository = Repository(tmp_path, 1, 1, bucket=lines, variables=KEYS).write()
        ended = repository.allot("run", "c", "--plain")
    assert ended.returncode == 3
    assert "s3://bucket: this bucket writes over what is there" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert all("/_probe/" in key for key in store.objects)
    assert repository.executions() == []


@pytest.mark.parametrize("command", ["status", "run"])
@pytest.mark.parametrize(
    "case",
    [
        (None, KEYS, "there is no such bucket"),
        ("http://127.0.0.1:1", KEYS, "nobody answers at the bucket's endpoint"),
        (None, {"AWS_EC2_METADATA_DISABLED": "true"}, "there are no credentials for the bucket"),
        (None, {**KEYS, "AWS_CA_BUNDLE": "/none.pem"}, "the certificate cannot be read"),
    ],
)
def test_a_bucket_that_cannot_be_reached_is_told_in_words(
    tmp_path: Path, s3_server: str, command: str, case: tuple[str | None, dict[str, str], str]
) -> None:
    endpoint, variables, words = case
    lines = platform(endpoint or s3_server, "s3://not-there")
    own = {"HOME": str(tmp_path), "AWS_ACCESS_KEY_ID": "", **variables}
    repository = Repository(tmp_path, 1, 1, bucket=lines, variables=own).write()
    ended = repository.allot(command, "c")
    assert ended.returncode == 3
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
