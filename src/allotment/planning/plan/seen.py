"""What a plan was made from, by digest, and what of it has moved since.

Of a cluster's objects only what decides where work runs counts: that a heartbeat or one more finished pod
changes nothing is why their status is left out, but for what admits, ends or takes away work. Devices count
one by one, so that it can be said which card is gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from allotment.devices.slices import ResourceSlice
from allotment.devices.world import World
from allotment.kubernetes import kinds
from allotment.kubernetes.apply.steps import Activate, Apply, Step
from allotment.kubernetes.apply.steps import Plan as Sending
from allotment.kubernetes.cluster.reading import NOT_SERVED
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import Kind, Object
from allotment.planning.plan.plan import Seen
from allotment.platform.model import Platform
from allotment.repository.files import CAMPAIGNS, FLEETS, GANGS, PIPELINES, SUFFIX
from allotment.repository.measured import FILE as MEASURED
from allotment.repository.model import Repository

DIGITS: Final = 16
_DECIDING: Final = frozenset(
    {"Complete", "Failed", "Finished", "QuotaReserved", "Admitted", "Evicted", "Ready"}
)
_KINDS: Final[tuple[tuple[Kind, str], ...]] = (
    (kinds.DEVICE_CLASS, "device class"),
    (kinds.CLUSTER_QUEUE, "queue"),
    (kinds.LOCAL_QUEUE, "local queue"),
    (kinds.KAI_QUEUE, "queue"),
    (kinds.COHORT, "cohort"),
    (kinds.FLAVOR, "flavor"),
    (kinds.PRIORITY_CLASS, "priority class"),
    (kinds.WORKLOAD_PRIORITY, "priority class of workloads"),
    (kinds.WORKLOAD, "workload"),
    (kinds.JOB, "job"),
    (kinds.DEPLOYMENT, "deployment"),
)


def digest(value: Any) -> str:
    """A short digest of a value by all that it holds, the same in every process."""
    text = json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _plain(value: Any) -> Any:
    """The value as plain data; what has no order is put in one."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.compare}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Set):
        return sorted(map(str, map(_plain, value)))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    return value if isinstance(value, bool | int | float | None) else str(value)


def files_seen(repository: Repository) -> dict[str, str]:
    """The repository's files that were planned with, by their paths in it."""
    named: tuple[tuple[str, Iterable[str]], ...] = (
        (CAMPAIGNS, repository.campaigns),
        (PIPELINES, repository.pipelines),
        (FLEETS, repository.fleets),
        (GANGS, repository.gangs),
    )
    paths = [f"{kind}/{name}{SUFFIX}" for kind, names in named for name in names]
    return {path: _of_file(repository.root / path) for path in sorted([*paths, MEASURED])}


def platform_seen(platform: Platform) -> dict[str, str]:
    """The platform as it was read, from wherever."""
    return {"the platform": digest(platform)}


def world_seen(world: World, snapshot: Snapshot | None) -> dict[str, str]:
    """The parts of a world: its nodes and cards, and a cluster's queues and workloads."""
    found = dict(_published(world))
    if snapshot is None:
        return found | {f"node {name}": digest(node) for name, node in world.nodes.items()}
    found |= {f"node {_name(each)}": digest(_node(each)) for each in snapshot.of(kinds.NODE)}
    for kind, word in _KINDS:
        found |= {f"{word} {_name(each)}": digest(_decides(each)) for each in snapshot.of(kind)}
    return found


def steps_seen(sending: Sending) -> dict[str, str]:
    """What an apply would send, group by group; groups of which nothing is sent are left out."""
    found = {}
    for group in sending.groups:
        steps = [_step(each) for each in group.steps if not (isinstance(each, Apply) and each.is_done)]
        if steps and not group.refusals:
            found[group.group] = digest(steps)
    return found


def moved(planned: Seen, now: Seen, unread: Collection[str] = ()) -> tuple[str, ...]:
    """What is no longer as it was planned with, a sentence each.

    ``unread`` are parts of the world, by their first words, of which not all could be read this time: of
    these only what was read both times is held against each other.
    """
    there = {key for key in planned.world.keys() | now.world.keys() if not _is_of(key, unread)}
    there |= planned.world.keys() & now.world.keys()
    before, after = ({key: each[key] for key in each if key in there} for each in (planned.world, now.world))
    return (
        *_moved(planned.files, now.files),
        *_moved(planned.platform, now.platform),
        *_moved(before, after),
    )


def unread_of(snapshot: Snapshot) -> frozenset[str]:
    """Which parts of a cluster could not be read, or not all of them."""
    words = dict((*_KINDS, (kinds.NODE, "node"), (kinds.SLICE, "card")))
    found = (*snapshot.missing, *snapshot.partly)
    return frozenset(words[each.kind] for each in found if each.kind in words and each.why != NOT_SERVED)


def _is_of(key: str, words: Collection[str]) -> bool:
    return any(key.startswith(f"{each} ") for each in words)


def moved_steps(planned: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """What would now be sent otherwise than was planned."""
    words = {
        "new": "would be sent now, and was not planned",
        "gone": "was planned, and is not to be sent any more",
        "changed": "would be sent otherwise than was planned",
    }
    return tuple(_told(planned, now, words))


def _moved(planned: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    return _told(planned, now, {"new": "is new", "gone": "is gone", "changed": "has changed"})


def _told(planned: Mapping[str, str], now: Mapping[str, str], words: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(planned.keys() | now.keys()):
        if name not in planned:
            yield f"{name} {words['new']}"
        elif name not in now:
            yield f"{name} {words['gone']}"
        elif planned[name] != now[name]:
            yield f"{name} {words['changed']}"


def _of_file(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
    except OSError:
        return "none"


def _published(world: World) -> Iterator[tuple[str, str]]:
    for each in world.slices:
        yield from _devices(each)
    for name, found in world.classes.items():
        yield f"device class {name}", digest(found)


def _devices(published: ResourceSlice) -> Iterator[tuple[str, str]]:
    where = published.node_name or published.pool.name
    for device in published.devices:
        yield f"card {device.name} of {where} ({published.driver})", digest(device)
    if published.shared_counters:
        yield (
            f"counters of {where} ({published.driver}, {published.pool.name})",
            digest(published.shared_counters),
        )


def _step(step: Step) -> list[Any]:
    what = step.value if isinstance(step, Apply) else None
    by = step.manager if isinstance(step, Apply) else step.active if isinstance(step, Activate) else None
    return [type(step).__name__, step.name, by, what]


def _node(value: Object) -> Any:
    spec, status = value.get("spec") or {}, value.get("status") or {}
    return [
        value["metadata"].get("labels"),
        spec.get("taints"),
        spec.get("unschedulable"),
        status.get("allocatable"),
        list(_conditions(status, {"Ready"})),
    ]


def _decides(value: Object) -> Any:
    """What of an object decides where work runs."""
    status = value.get("status") or {}
    rest = {key: each for key, each in value.items() if key not in {"metadata", "status", "apiVersion"}}
    labels = value["metadata"].get("labels")
    admission = status.get("admission") if value["kind"] == kinds.WORKLOAD.name else None
    conditions = list(_conditions(status, _DECIDING)) if _is_work(value) else []
    return [rest, labels if _is_work(value) else None, admission, conditions]


def _is_work(value: Object) -> bool:
    return value["kind"] in {kinds.WORKLOAD.name, kinds.JOB.name}


def _conditions(status: Mapping[str, Any], wanted: Iterable[str]) -> Iterator[tuple[str, str]]:
    for each in status.get("conditions") or ():
        if each.get("type") in wanted:
            yield each["type"], each.get("status", "")


def _name(value: Object) -> str:
    metadata = value["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
