"""Rules on one slice as it is written: its version, its pool's words, what it holds at all.

These look at the file's own words too, since a slice that cannot be read may still say something odd.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from allotment.devices.lint.seen import SeenSlice, evidence, subject
from allotment.devices.versions import GROUP, NESTED, NEWEST
from allotment.errors import Severity

_OLDER = (NESTED, "v1beta2")


def old_version(each: SeenSlice) -> None:
    """A version that is going away."""
    if each.version in _OLDER:
        (each.place / "apiVersion").found(
            "old-version",
            f"the slice is of {GROUP}/{each.version}; {NEWEST} is there since Kubernetes 1.34",
            "update the driver, or what this file was written with",
            severity=Severity.NOTE,
            evidence=(f"apiVersion {GROUP}/{each.version}",),
        )


def no_generation(each: SeenSlice) -> None:
    """A pool that counts no generations."""
    pool = each.raw.get("pool")
    if isinstance(pool, dict) and pool.get("generation") is None:
        (each.spec / "pool").found(
            "no-generation",
            f"pool `{pool.get('name')}` does not say its generation, and counts as generation 0",
            "the driver should count it up with every change, so that old slices are seen to be old",
            severity=Severity.NOTE,
            evidence=(f"pool: {_written(pool)}",),
        )


def nothing_published(each: SeenSlice) -> None:
    """A slice of nothing."""
    if each.raw.get("devices") or each.raw.get("sharedCounters"):
        return
    said = "devices: null" if "devices" in each.raw and each.raw["devices"] is None else "no devices"
    each.spec.found(
        "nothing-published",
        f"driver `{each.raw.get('driver')}` publishes a slice without devices and without counters",
        "the driver has found nothing: see its log on the node",
        severity=Severity.WARNING,
        evidence=(said,),
    )


def bare_nested_devices(each: SeenSlice) -> None:
    """Devices of v1beta1 with nothing under ``basic``, in a slice that cannot be read."""
    if each.slice is not None or each.version != NESTED:
        return
    devices = [one for one in each.raw.get("devices") or () if isinstance(one, dict)]
    bare = [str(one.get("name")) for one in devices if not one.get("basic")]
    if bare:
        (each.spec / "devices" / 0).found(
            "bare-device",
            f"{subject(bare)}: neither attributes nor capacity are published: no selector can choose it",
            "the driver should say at least what kind of device it is",
            severity=Severity.NOTE,
            evidence=evidence([f"{name}: basic is empty" for name in bare]),
        )


SLICE_RULES = (old_version, no_generation, nothing_published, bare_nested_devices)


def _written(pool: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in _sorted(pool))


def _sorted(pool: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((key, pool[key]) for key in sorted(pool, key=str))
