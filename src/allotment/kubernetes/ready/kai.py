"""Whether KAI runs and its queues let work through: nine numbers each, parents, and no second quota.

A number that a queue of KAI's leaves out is none, and none allows nothing: one missing ``memory`` holds every
pod of the team back. Beside Kueue no queue of KAI's may limit anything. Facts: KAI 0.17
(``scheduling.run.ai/v2``, ``kai.scheduler/v1`` SchedulingShard); without ``update-pod-eviction-condition`` a
pod that is evicted is a failed one to its Job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import at, items, mapping, name, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.objects import APPLY
from allotment.kubernetes.ready.seen import KAI_NAMESPACE, Seen, conditions, listed
from allotment.kubernetes.render.platform.kai import NO_LIMIT, TEAMS
from allotment.pictures.counts import counted

CHECK: Final = "kai"
QUEUES: Final = "kai's queues"
RESOURCES: Final = ("cpu", "memory", "gpu")
NUMBERS: Final = ("quota", "overQuotaWeight", "limit")
PARTS: Final = ("kai-scheduler", "binder", "pod-grouper")
"""What KAI cannot do without, by how the names of its pods begin."""
CONDITION: Final = "update-pod-eviction-condition"
SHARD: Final = "default"


def kai(seen: Seen) -> Iterator[Answer]:
    """Whether it is there, and runs as the platform needs it."""
    if not seen.with_kai:
        return
    if not seen.serves(kinds.KAI_QUEUE) or (
        seen.served is not None and kinds.KAI_QUEUE.api_version not in seen.served
    ):
        words = f"the cluster does not serve {kinds.KAI_QUEUE.api_version}: KAI is not there"
        yield problem(CHECK, words, "install KAI 0.17 or later, or write another `scheduler`")
        return
    pods = seen.snapshot.of(kinds.POD, KAI_NAMESPACE)
    yield from _running(pods)
    yield from _condition(seen, pods)


def _running(pods: tuple[Object, ...]) -> Iterator[Answer]:
    if not pods:
        yield note(CHECK, f"whether KAI runs cannot be told: no pods of {KAI_NAMESPACE} could be read")
        return
    ready = [name(pod) for pod in pods if _is_ready(pod)]
    absent = [part for part in PARTS if not any(each.startswith(part) for each in ready)]
    if absent:
        words = f"no ready pod of KAI's {listed(absent)} in {KAI_NAMESPACE}: nothing of it is placed"
        yield problem(CHECK, words, f"kubectl -n {KAI_NAMESPACE} get pods")
    else:
        yield fine(CHECK, f"KAI runs: {counted(len(ready), 'pod')} ready in {KAI_NAMESPACE}")


def _is_ready(pod: Object) -> bool:
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions(pod))


def _condition(seen: Seen, pods: tuple[Object, ...]) -> Iterator[Answer]:
    """Whether an eviction is told from a failure."""
    shard = seen.snapshot.named(kinds.KAI_SHARD, SHARD)
    said = str(at(shard, "spec", "args", CONDITION)).lower() == "true"
    given = [each for pod in pods for each in _arguments(pod) if CONDITION in each]
    is_on = said or any(not each.endswith("=false") for each in given)
    becomes = "each reclaim of KAI's uses up a retry of its volume"
    remedy = f'SchedulingShard {SHARD}: `spec: {{args: {{{CONDITION}: "true"}}}}`'
    if is_on:
        yield fine(CHECK, f"evictions are told from failures ({CONDITION})")
    elif shard is not None or any(map(_arguments, pods)):
        yield problem(CHECK, f"{CONDITION} is not set: {becomes}", remedy)
    else:
        words = f"whether {CONDITION} is set cannot be told: SchedulingShards could not be read"
        yield note(CHECK, f"{words}; without it {becomes}", remedy)
    if "spread" in mapping(shard, "spec", "placementStrategy").values():
        words = f"SchedulingShard {SHARD} spreads pods, which switches consolidation off"
        yield note(CHECK, words, "placementStrategy: {gpu: binpack, cpu: binpack}, if cards come in parts")


def _arguments(pod: Object) -> list[str]:
    containers = items(pod, "spec", "containers") if name(pod).startswith(PARTS[0]) else ()
    return [str(word) for each in containers for key in ("command", "args") for word in each.get(key) or ()]


def queues(seen: Seen) -> Iterator[Answer]:
    """Whether every queue from a team's upwards has all its numbers, a parent, and is a leaf."""
    if not seen.with_kai or not seen.can_tell(kinds.KAI_QUEUE):
        return
    live = {name(each): each for each in seen.snapshot.of(kinds.KAI_QUEUE)}
    parents = {text(each, "spec", "parentQueue") for each in live.values()}
    faults: list[Answer] = []
    looked: set[str] = set()
    for team in seen.teams:
        if team.name in parents:
            words = f"queue {team.name} has queues below it, and only one without any runs jobs"
            faults.append(problem(QUEUES, words, "give those another parent"))
        queue = team.name
        while queue in live and queue not in looked:
            looked.add(queue)
            faults += _numbers(seen, queue, live[queue])
            parent = text(live[queue], "spec", "parentQueue")
            if parent and parent not in live:
                words = f"queue {queue} says parentQueue: {parent}, and there is none"
                faults.append(problem(QUEUES, words, APPLY))
            queue = parent
    yield from faults
    if looked and not faults:
        meaning = ", and none limits anything beside Kueue" if seen.with_kueue else ""
        shown = sorted(looked - {TEAMS})
        yield fine(
            QUEUES, f"{counted(len(shown), 'queue')} with all nine numbers, below a parent with them{meaning}"
        )


def _numbers(seen: Seen, queue: str, live: Object) -> Iterator[Answer]:
    resources = mapping(live, "spec", "resources")
    absent = [
        f"{resource}.{number}"
        for resource in RESOURCES
        for number in NUMBERS
        if _number(resources, resource, number) is None
    ]
    if absent:
        words = f"queue {queue} does not say {listed(absent, 9)}, which is no default but nothing"
        yield problem(QUEUES, f"{words}: pods wait for ever", APPLY)
    if not seen.with_kueue:
        return
    limits = [
        f"{resource}.{number} {_number(resources, resource, number):g}"
        for resource in RESOURCES
        for number in ("quota", "limit")
        if _number(resources, resource, number) not in {None, NO_LIMIT}
    ]
    if limits:
        words = f"queue {queue} has {listed(limits, 6)}: two layers of quota must never both hold"
        yield problem(QUEUES, f"{words}, and Kueue's does", "write -1 for each")


def _number(resources: Mapping[str, Any], resource: str, number: str) -> float | None:
    value = at(resources, resource, number)
    return value if isinstance(value, int | float) else None
