"""Proof that a bucket keeps its one promise: what is there is never written over.

Some servers take ``If-None-Match`` and do not heed it; npm's `s3rver` is one. Two workers of one volume would
then overwrite each other's pages and leases without anybody noticing, so such a bucket is found out before
anything is written that matters. Nothing here deletes, so the proof leaves one small object behind, and the
next proof is that this one cannot be written over: a further one is left only by a bucket that failed.
"""

from __future__ import annotations

import secrets
import time

from allotment.buckets.bucket import (
    Bucket,
    BucketRefused,
    Conflict,
    KeyExists,
    KeyMissing,
    ObjectRefused,
)
from allotment.buckets.keys import probe_key
from allotment.buckets.once import Patience, PatientBucket, Sleep, again

AT_THE_START = Patience(tries=6, first=0.25, longest=4.0)
"""Somebody waits to see the run begin, and a wrong address should be told soon."""
MOST_KEPT = 9
FIRST = b"the first\n"
SECOND = b"the second, which a bucket must refuse\n"
LIES = (
    "this bucket writes over what is there although it is told not to: results could be lost without a word"
)
LOSES = "this bucket says that it has written, and has nothing there a moment later"
CHANGES = "this bucket gives back something else than what was written into it"
FORGETS = "this bucket does not list what was written into it a moment ago"
REMEDY = "use a server that heeds `If-None-Match: *` on PUT, as S3 does since November 2024"
NO_STORE = "use a server that keeps what it is given; see to `endpoint` in the platform's `bucket_options`"
NO_LISTS = "use a server whose lists are up to date"


def prove(
    bucket: Bucket,
    team: str,
    where: str,
    *,
    sleep: Sleep = time.sleep,
    patience: Patience = AT_THE_START,
) -> None:
    """Write a key of its own twice; raises `BucketRefused` unless the second time is refused."""
    patient = PatientBucket(bucket, sleep=sleep, patience=patience)
    key = _first(patient, team)
    try:
        again(lambda: bucket.create(key, SECOND), sleep=sleep, patience=patience)
        refused = False
    except KeyExists:
        refused = True
    there = _there(patient, key)
    if there is None:
        raise BucketRefused(LOSES, where, NO_STORE)
    if there == SECOND or not refused:
        raise BucketRefused(LIES if there == SECOND else CHANGES, where, REMEDY)
    if there != FIRST:
        raise BucketRefused(CHANGES, where, NO_STORE)
    if not any(entry.key == key for entry in patient.list(key.rpartition("/")[0] + "/")):
        raise BucketRefused(FORGETS, where, NO_LISTS)


def _first(bucket: PatientBucket, team: str) -> str:
    """The key under which the first of the two lies, written now or by an earlier proof."""
    for number in range(1, MOST_KEPT + 1):
        key = probe_key(team, f"proof-{number}")
        try:
            bucket.put(key, FIRST)
        except Conflict:  # it was written over, by this bucket as it was once
            continue
        return key
    key = probe_key(team, secrets.token_hex(16))
    bucket.put(key, FIRST)
    return key


def _there(bucket: PatientBucket, key: str) -> bytes | None:
    """What is there of the two writes, or None; what is too large to be one of them is something else."""
    try:
        return bucket.read(key, len(SECOND))
    except KeyMissing:
        return None
    except ObjectRefused:
        return b""
