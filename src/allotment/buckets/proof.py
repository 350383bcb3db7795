"""Proof that a bucket keeps its one promise: what is there is never written over.

Some servers take ``If-None-Match`` and do not heed it; npm's `s3rver` is one. Two workers of one volume would
then overwrite each other's pages and leases without anybody noticing, so such a bucket is found out before
anything is written that matters. The proof leaves one small object behind each time: nothing here deletes.
"""

from __future__ import annotations

import secrets
import time

from allotment.buckets.bucket import Bucket, BucketRefused, KeyExists
from allotment.buckets.keys import probe_key
from allotment.buckets.once import Patience, PatientBucket, Sleep, again

AT_THE_START = Patience(tries=6, first=0.25, longest=4.0)
"""Somebody waits to see the run begin, and a wrong address should be told soon."""
FIRST = b"the first\n"
SECOND = b"the second, which a bucket must refuse\n"
LIES = (
    "this bucket writes over what is there although it is told not to: results could be lost without a word"
)
FORGETS = "this bucket does not give back what was written into it a moment ago"
REMEDY = "use a server that heeds `If-None-Match: *` on PUT, as S3 does since November 2024"


def prove(
    bucket: Bucket,
    team: str,
    where: str,
    *,
    unique: str | None = None,
    sleep: Sleep = time.sleep,
    patience: Patience = AT_THE_START,
) -> None:
    """Write a key of its own twice; raises `BucketRefused` unless the second time is refused."""
    key = probe_key(team, unique or secrets.token_hex(16))
    patient = PatientBucket(bucket, sleep=sleep, patience=patience)
    patient.put(key, FIRST)
    try:
        again(lambda: bucket.create(key, SECOND), sleep=sleep, patience=patience)
    except KeyExists:
        if patient.read(key) != FIRST:
            raise BucketRefused(LIES, where, REMEDY) from None
        if not any(entry.key == key for entry in patient.list(key.rpartition("/")[0] + "/")):
            raise BucketRefused(FORGETS, where, "use a server whose lists are up to date") from None
        return
    raise BucketRefused(LIES, where, REMEDY)
