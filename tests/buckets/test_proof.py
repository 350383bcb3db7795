"""A bucket that writes over what is there is found out before anything is written that matters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.buckets.bucket import BucketRefused, BucketUnavailable, Entry
from allotment.buckets.faulty import Fault, FaultyBucket
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import Patience
from allotment.buckets.opening import open_bucket
from allotment.buckets.proof import prove
from tests.buckets.fault_proxy import FaultProxy, seeded
from tests.buckets.moto_server import KEYS
from tests.buckets.tiny_s3 import TinyS3

QUICK = Patience(tries=30, first=0.0)


class Liar(MemoryBucket):
    def create(self, key: str, data: bytes) -> None:
        self.objects[key] = data


class Forgetful(MemoryBucket):
    def create(self, key: str, data: bytes) -> None:
        super().create(key, data)
        self.objects[key] = b"something else"


def test_an_honest_bucket_passes_as_often_as_one_likes() -> None:
    bucket = MemoryBucket()
    for _ in range(3):
        prove(bucket, "team", "here")
    assert list(bucket.objects) == ["team/_probe/proof-1/probe"], "one object is left, however often"


def test_a_bucket_that_was_mended_is_proved_anew_and_one_that_broke_is_found_out() -> None:
    liar = Liar()
    for _ in range(2):
        with pytest.raises(BucketRefused, match="writes over"):
            prove(liar, "team", "here")
    honest = MemoryBucket(liar.objects)
    prove(honest, "team", "here")
    assert sorted(honest.objects) == ["team/_probe/proof-1/probe", "team/_probe/proof-2/probe"]
    with pytest.raises(BucketRefused, match="writes over"):
        prove(Liar(honest.objects), "team", "here")


def test_when_every_kept_key_is_spoilt_there_are_others() -> None:
    bucket = MemoryBucket({f"team/_probe/proof-{number}/probe": b"x" for number in range(1, 10)})
    prove(bucket, "team", "here")
    assert len(bucket.objects) == 10


class Loser(MemoryBucket):
    def create(self, key: str, data: bytes) -> None:
        """Say that it is written."""


class Cutter(MemoryBucket):
    def create(self, key: str, data: bytes) -> None:
        super().create(key, data[: len(data) // 2])


class Unlisted(MemoryBucket):
    def list(self, prefix: str) -> Iterator[Entry]:
        return iter(())


@pytest.mark.parametrize(
    ("bucket", "why"),
    [
        (Liar(), "writes over what is there"),
        (Forgetful(), "gives back something else"),
        (Loser(), "says that it has written, and has nothing there a moment later"),
        (Cutter(), "gives back something else"),
        (Unlisted(), "does not list what was written"),
    ],
)
def test_one_that_lies_is_refused_with_what_it_does(bucket: MemoryBucket, why: str) -> None:
    with pytest.raises(BucketRefused, match=f"s3://here: this bucket {why}"):
        prove(bucket, "team", "s3://here")


def test_one_that_is_away_is_neither() -> None:
    away = FaultyBucket(MemoryBucket(), lambda *_: Fault.FAILS)
    with pytest.raises(BucketUnavailable):
        prove(away, "team", "here", sleep=lambda _: None, patience=QUICK)


@pytest.mark.parametrize("heeds", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_a_server_is_judged_rightly_however_badly_it_answers(seed: int, *, heeds: bool) -> None:
    with TinyS3(heeds=heeds).serving() as upstream:
        with FaultProxy(upstream, seeded(seed, 0.4)).serving() as endpoint:
            options: dict[str, str | bool] = {"endpoint": endpoint, "allow_http": True}
            bucket = open_bucket("s3://bucket", Path("/nowhere"), options=options, environ=KEYS)
            if heeds:
                prove(bucket, "team", "here", sleep=lambda _: None, patience=QUICK)
            else:
                with pytest.raises(BucketRefused, match="writes over"):
                    prove(bucket, "team", "here", sleep=lambda _: None, patience=QUICK)
