"""An object's body as it comes in: never more than it may be, never more slowly than a network can be.

What an answer says of its length is a claim: a server that claims ten terabytes makes whoever reserves room
for them end at once. So a body is taken piece by piece, counted, and compared with the claim at the end. And
a body that drips for hours is an outage like any other: after the time limit of an answer, so many bytes a
second must have come.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from allotment.buckets.bucket import BucketUnavailable, too_large

if TYPE_CHECKING:
    from obstore.store import S3Store

MOST_BYTES = 5 << 30
SLOWEST_BYTES = 64 << 10
PIECE_BYTES = 1


def read_body(
    store: S3Store,
    key: str,
    where: str,
    *,
    most: int,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[bytes, bool]:
    """The bytes of an object, and whether the answer has an entity tag, as every one of an object store has.

    ``seconds`` is what any answer may take. Raises `ObjectRefused` for more than ``most`` bytes, and
    `BucketUnavailable` for a body that is too slow or cut off; failures of obstore come through.
    """
    import obstore

    began = clock()
    answer = obstore.get(store, key)
    claimed = answer.meta["size"]
    if claimed > most:
        raise too_large(key, most)
    parts, received = [], 0
    for part in answer.stream(min_chunk_size=PIECE_BYTES):
        data = bytes(part)
        received += len(data)
        parts.append(data)
        if received > most:
            raise too_large(key, most)
        spent = clock() - began
        if received < claimed and spent > seconds + received / SLOWEST_BYTES:
            raise BucketUnavailable(
                f"it came too slowly: {received:,} of {claimed:,} bytes in {spent:.0f} s",
                where,
                "`timeout` in the platform's `bucket_options` is how long we wait",
            )
    if received != claimed:
        raise BucketUnavailable(f"it broke off after {received:,} of {claimed:,} bytes", where)
    return b"".join(parts), answer.meta["e_tag"] is not None
