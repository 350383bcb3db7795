"""A snapshot as a file: a YAML List of API objects, sorted, always the same bytes.

``kubectl`` reads it as any other List. What no List has stands before the objects: the format's version, the
time, the cluster's name and version, and what could not be read. Whoever reads a file of a later version
must be told so, and a file without these is the List that ``kubectl get … -o yaml`` prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from allotment.kubernetes.cluster.block_yaml import block_yaml
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot, key_of

FORMAT_VERSION: Final = 1
HEADER: Final = (
    "apiVersion", "kind", "format_version", "time", "cluster", "kubernetes", "missing", "partly", "notes"
)  # fmt: skip


def snapshot_text(snapshot: Snapshot) -> str:
    """The file of a snapshot."""
    head: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "List",
        "format_version": FORMAT_VERSION,
        "time": time_text(snapshot.time) if snapshot.is_dated else "",
        "cluster": snapshot.name,
        "kubernetes": snapshot.version,
        "missing": _kinds(snapshot.missing),
        "partly": _kinds(snapshot.partly),
        "notes": list(snapshot.notes),
    }
    told = [block_yaml({key: head[key]}) for key in HEADER if head[key] not in ("", [])]
    return "".join([*told, block_yaml({"items": sorted(snapshot.objects, key=key_of)})])


def time_text(moment: float) -> str:
    """A Unix time as Kubernetes writes it, with parts of a second where it has any."""
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


def time_of(text: str) -> float | None:
    """The Unix time of such a text; None where it is none, or names no time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment.timestamp()


def _kinds(missing: Sequence[Missing]) -> list[Mapping[str, str]]:
    return [
        {"apiVersion": each.kind.api_version, "kind": each.kind.name, "why": each.why}
        for each in sorted(missing)
    ]
