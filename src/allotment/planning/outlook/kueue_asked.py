"""Kueue's model asked about a cluster: of what waits there, of what was never sent, and of each queue.

Where Workloads or queues of others cannot be seen nothing is told, for those decide. A cluster may hold
objects that break the model; then there is a note and no answer, for what is recorded stands without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.desk import ODD
from allotment.kubernetes.cluster.kueue_sent import with_job
from allotment.kubernetes.cluster.kueue_state import Scene, scene_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.follow import Followed, State, parts_in
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.kueue_jobs import PRIORITY
from allotment.kubernetes.render.names import lane_class
from allotment.planning.outlook.kueue import outlook, outlooks
from allotment.planning.outlook.sending import taken_for_none, to_be_sent, unseen
from allotment.planning.outlook.values import NOTHING_SAID, Outlook, Said, SaidOfQueues
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository

NEEDED: Final = (
    kinds.CLUSTER_QUEUE, kinds.COHORT, kinds.LOCAL_QUEUE, kinds.FLAVOR, kinds.WORKLOAD
)  # fmt: skip
OVER: Final = frozenset({State.FINISHED, State.FAILED, State.ABSENT, State.PAUSED})


def next_of(snapshot: Snapshot, found: Followed, platform: Platform | None = None) -> Said:
    """What becomes of what waits of a campaign, a fleet or a gang; nothing where nothing of it waits."""
    if found.state in OVER or not snapshot.of(kinds.CLUSTER_QUEUE):
        return NOTHING_SAID
    keys = [
        f"{each['metadata'].get('namespace') or ''}/{each['metadata']['name']}"
        for part in parts_in(snapshot, found.namespace, found.name)
        for each in ([part.wished] if part.is_job else part.unfinished)
        if each is not None
    ]
    return _asked(snapshot, keys, platform) if keys else NOTHING_SAID


def next_of_unsent(
    snapshot: Snapshot, name: str, repository: Repository, platform: Platform, team: Team
) -> Said:
    """What would become of a campaign or a gang that was never sent, once it was."""
    if platform.scheduler not in {"kueue", "both"} or not snapshot.of(kinds.CLUSTER_QUEUE):
        return NOTHING_SAID
    sending = to_be_sent(name, repository, platform, team)
    if sending is None:
        return NOTHING_SAID
    priority = _priority(snapshot, sending.job, platform)
    sent, key = with_job(snapshot, sending.job, sending.templates, priority)
    return replace(_asked(sent, [key], platform), unsent=True)


def next_of_queues(snapshot: Snapshot) -> SaidOfQueues:
    """Who waits in each queue, and what becomes of them."""
    if not snapshot.of(kinds.CLUSTER_QUEUE):
        return SaidOfQueues({})
    told: dict[str, Mapping[str, tuple[Outlook, ...]]] = {}

    def ask(scene: Scene) -> Sequence[Outlook]:
        told["queues"] = outlooks(scene)
        return [each for queue in told["queues"].values() for each in queue]

    said = _modelled(snapshot, ask, None)
    return SaidOfQueues(told.get("queues", {}), said.version, said.model, said.notes)


def _asked(snapshot: Snapshot, keys: Sequence[str], platform: Platform | None) -> Said:
    def ask(scene: Scene) -> Sequence[Outlook]:
        return [each for key in keys if (each := outlook(scene, key)) is not None]

    return _modelled(snapshot, ask, platform)


def _modelled(
    snapshot: Snapshot, ask: Callable[[Scene], Sequence[Outlook]], platform: Platform | None
) -> Said:
    hidden = unseen(snapshot, NEEDED)
    if hidden:
        return Said(notes=(f"what Kueue would do next is not told: {hidden}",))
    try:
        scene = scene_of(snapshot, platform)
        found = tuple(ask(scene))
    except ODD as error:
        words = f"something on this cluster is not as Kueue's API has it ({type(error).__name__}: {error})"
        return Said(notes=(f"what Kueue would do next is not told: {words}",))
    if not found:
        return NOTHING_SAID
    return Said(found, scene.version, scene.model, (*taken_for_none(snapshot, NEEDED), *scene.notes))


def _priority(snapshot: Snapshot, job: Object, platform: Platform) -> int:
    name = str((job["metadata"].get("labels") or {}).get(PRIORITY) or "")
    found = snapshot.named(kinds.WORKLOAD_PRIORITY, name)
    if found is not None and isinstance(found.get("value"), int):
        return int(found["value"])
    return next((lane.value for each, lane in platform.lanes.items() if lane_class(each) == name), 0)
