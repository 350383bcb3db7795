"""Results of an earlier platform in the same bucket: a volume that is complete there is not done again.

Facts (that platform's layout): a volume's results lie under ``<namespace>/<pipeline>/<volume>/``, and its
``manifest.json`` is written last. There is no digest of the recipe in it, because a pipeline's id stood for
one recipe for ever. Nothing is ever written there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from allotment.buckets.apart import in_parallel
from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import check_name

LEGACY: Final = "legacy"
AT_ONCE: Final = 16


def legacy_folder(namespace: str, pipeline: str, volume: str = "") -> str:
    """Where an earlier platform's results of a pipeline lie, or those of one of its volumes."""
    folder = f"{check_name(namespace, 'namespace')}/{check_name(pipeline, 'pipeline')}/"
    return f"{folder}{check_name(volume, 'volume')}/" if volume else folder


def legacy_results(bucket: Bucket, namespace: str, pipeline: str, volumes: Collection[str]) -> frozenset[str]:
    """Which of the volumes are complete there: one list, and a look at each that has a folder."""
    present = sorted(set(bucket.list_folders(legacy_folder(namespace, pipeline))) & set(volumes))
    if not present:
        return frozenset()
    manifests = [f"{legacy_folder(namespace, pipeline, volume)}manifest.json" for volume in present]
    complete = in_parallel(bucket.exists, manifests, min(AT_ONCE, len(present)))
    return frozenset(volume for volume, there in zip(present, complete, strict=True) if there)
