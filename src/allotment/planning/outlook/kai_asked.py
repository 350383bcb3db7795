"""KAI's model asked about a cluster: of what waits there, of what was never sent, and of each queue.

Where queues, pods or groups of others cannot be seen nothing is told, for those decide. What is bound and not
yet written into pods is seen by nobody but KAI; objects that break the model make a note and no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.desk import ODD
from allotment.kubernetes.cluster.kai_pods import group_of
from allotment.kubernetes.cluster.kai_sent import with_job_of_kai
from allotment.kubernetes.cluster.kai_state import KaiScene, kai_scene_of, kai_version
from allotment.kubernetes.cluster.reading import NOT_SERVED
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.follow import Followed, State, parts_in
from allotment.kubernetes.kinds import Kind, Object
from allotment.kubernetes.render.names import lane_class
from allotment.planning.outlook.kai import kai_outlooks, kai_outlooks_of_queues
from allotment.planning.outlook.sending import taken_for_none, to_be_sent, unseen
from allotment.planning.outlook.values import KAI, Next, Outlook, Said, SaidOfQueues
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository

MODEL: Final = "0.17"
NEEDED: Final = (kinds.KAI_QUEUE, kinds.KAI_POD_GROUP, kinds.POD, kinds.NODE)
OVER: Final = frozenset({State.FINISHED, State.FAILED, State.ABSENT, State.PAUSED})
TAKEN: Final[Mapping[Kind, str]] = {
    kinds.KAI_SHARD: "KAI's settings were not read: they are taken as it is installed",
    kinds.PRIORITY_CLASS: "priorities were not read: all but KAI's own are taken to be that of `train`",
}
NOTHING: Final = Said(scheduler=KAI)
NOT_SEEN: Final = (
    "KAI has told it to wait; unless that has changed since, something that was not seen holds what it needs"
)
AFTER_KUEUE: Final = "KAI sees its pods once Kueue has admitted it"


def kai_next_of(snapshot: Snapshot, found: Followed) -> Said:
    """What becomes of the pods of a campaign, a fleet or a gang that wait, or would be evicted."""
    if found.state in OVER or not snapshot.of(kinds.KAI_QUEUE):
        return NOTHING
    keys = [_key(each) for part in parts_in(snapshot, found.namespace, found.name) for each in part.groups]
    return _asked(snapshot, keys) if keys else NOTHING


def kai_next_of_unsent(
    snapshot: Snapshot, name: str, repository: Repository, platform: Platform, team: Team
) -> Said:
    """What would become of a campaign or a gang that was never sent, once it was."""
    if platform.scheduler not in {"kai", "both"} or not snapshot.of(kinds.KAI_QUEUE):
        return NOTHING
    sending = to_be_sent(name, repository, platform, team)
    if sending is None:
        return NOTHING
    priorities = {lane_class(each): lane.value for each, lane in platform.lanes.items()}
    try:
        sent, key = with_job_of_kai(snapshot, sending.job, sending.templates, priorities)
    except ODD as error:
        return _broken(error)
    said = replace(_asked(sent, [key]), unsent=True)
    if platform.scheduler == "both" and said.outlooks:
        said = replace(said, notes=(AFTER_KUEUE, *said.notes))
    return said


def kai_next_of_queues(snapshot: Snapshot) -> SaidOfQueues:
    """Who waits in each queue, and what becomes of them."""
    if not snapshot.of(kinds.KAI_QUEUE):
        return SaidOfQueues({}, scheduler=KAI)
    queue_of: dict[str, str] = {}

    def ask(scene: KaiScene) -> Sequence[Outlook]:
        told = kai_outlooks_of_queues(scene)
        queue_of.update((each.workload, name) for name, line in told.items() for each in line)
        return [each for line in told.values() for each in line]

    said = _modelled(snapshot, ask)
    queues = {
        name: tuple(each for each in said.outlooks if queue_of[each.workload] == name)
        for name in dict.fromkeys(queue_of.values())
    }
    return SaidOfQueues(queues if said.outlooks else {}, said.version, said.model, said.notes, KAI)


def _asked(snapshot: Snapshot, keys: Sequence[str]) -> Said:
    return _modelled(snapshot, lambda scene: kai_outlooks(scene, keys))


def _modelled(snapshot: Snapshot, ask: Callable[[KaiScene], Sequence[Outlook]]) -> Said:
    hidden = unseen(snapshot, NEEDED)
    if hidden:
        return replace(NOTHING, notes=(f"what KAI would do next is not told: {hidden}",))
    if not snapshot.of(kinds.NODE):
        return NOTHING
    try:
        scene = kai_scene_of(snapshot)
        found, version = tuple(ask(scene)), kai_version(snapshot)
    except ODD as error:
        return _broken(error)
    if not found:
        return NOTHING
    refused = set(_refused(snapshot))
    found = tuple(
        replace(each, notes=(NOT_SEEN, *each.notes)) if _is_news(each, refused) else each for each in found
    )
    notes = (*taken_for_none(snapshot, NEEDED), *_taken(snapshot), *scene.notes)
    return Said(found, version, MODEL, notes, scheduler=KAI)


def _taken(snapshot: Snapshot) -> Iterator[str]:
    """What had to be taken for granted."""
    for kind, words in TAKEN.items():
        why = snapshot.lacks(kind)
        if why is not None and not why.startswith(NOT_SERVED):
            yield f"{words} ({kind.shown} are {why})"


def _key(value: Object) -> str:
    return f"{value['metadata'].get('namespace') or ''}/{value['metadata']['name']}"


def _refused(snapshot: Snapshot) -> Iterator[str]:
    """The groups that KAI has told that they cannot be scheduled, or promised a place that others have."""
    for each in snapshot.of(kinds.KAI_POD_GROUP):
        told = (each.get("status") or {}).get("schedulingConditions") or ()
        if any(condition.get("status") == "True" for condition in told):
            yield _key(each)
    for pod in snapshot.of(kinds.POD):
        is_promised = bool((pod.get("status") or {}).get("nominatedNodeName"))
        if is_promised and not (pod.get("spec") or {}).get("nodeName"):
            yield group_of(pod)


def _is_news(found: Outlook, refused: Collection[str]) -> bool:
    """Whether KAI has said something else of it than the model does."""
    return found.next is Next.STARTS and found.cycle == 1 and found.workload in refused


def _broken(error: Exception) -> Said:
    words = f"something on this cluster is not as KAI's API has it ({type(error).__name__}: {error})"
    return replace(NOTHING, notes=(f"what KAI would do next is not told: {words}",))
