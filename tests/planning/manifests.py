"""Manifests as workers leave them, with figures that a test chooses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from allotment.buckets.keys import RecipeKeys
from allotment.buckets.memory import MemoryBucket

H100 = "NVIDIA H100 80GB HBM3"
L4 = "NVIDIA L4"
KEYS = RecipeKeys("team", "read", "0123456789ab")


def page(seconds: float = 1.0, wait: float = 0.0, **measured: Any) -> dict[str, Any]:
    """One page's measured values."""
    return {"attempt": 1, "seconds": seconds, "wait_seconds": wait, **measured}


def on(
    card: str, peak: int, *, seconds: float = 1.0, wait: float = 0.0, by: str = "process"
) -> dict[str, Any]:
    """One page on a card."""
    return page(seconds, wait, card=card, peak_device_memory_bytes=peak, device_memory_told_by=by)


def manifest(pages: Sequence[Mapping[str, Any]], *, failed: int = 0, **measured: Any) -> dict[str, Any]:
    """A manifest of these pages."""
    return {
        "format_version": 1,
        "counts": {"pages": len(pages) + failed, "done": len(pages), "failed": failed},
        "measured": {
            "at": 1_780_000_000.0,
            "pages": {f"{number:04d}": dict(each) for number, each in enumerate(pages, 1)},
            **measured,
        },
    }


def bucket_with(volumes: Mapping[str, Mapping[str, Any] | bytes]) -> MemoryBucket:
    """A bucket with these manifests."""
    bucket = MemoryBucket()
    for volume, value in volumes.items():
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        bucket.objects[KEYS.volume(volume).manifest] = data
    return bucket
