"""KAI's own test cases as states, and how they go on from round to round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.scheduling.kai import Action, Memory, Plugins, Settings, Spreading, Ties
from allotment.scheduling.kai.cycle import act
from allotment.scheduling.kai.session import Session
from allotment.scheduling.state.claimed_devices import Allocation, Claim, DeviceOfNode
from allotment.scheduling.state.nodes import ClusterNode, Topology
from allotment.scheduling.state.pod_groups import (
    ALLOCATED,
    DEFAULT,
    GroupPod,
    PodGroup,
    PodRequest,
    PodStatus,
    SubGroup,
    Together,
)
from allotment.scheduling.state.share_queues import Allotted, ShareQueue
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State

Raw = Mapping[str, Any]
NOW = 1_000_000_000.0
NAME_LABEL = "kai.scheduler/type"
DRIVER = "nvidia.com/gpu"


def state_of(case: Raw) -> State:
    """The cluster of a case."""
    templates = {
        claim
        for job in case["jobs"]
        for task in job["tasks"]
        for claim in (task.get("resource_claim_templates") or {}).values()
    }
    devices, claims, classes = _devices(case.get("dra") or {})
    claims = {name: replace(claim, template=name in templates) for name, claim in claims.items()}
    return State(
        nodes={name: _node(name, raw) for name, raw in case["nodes"].items()},
        topologies={
            raw["name"]: Topology(raw["name"], tuple(level["node_label"] for level in raw["levels"]))
            for raw in case.get("topologies") or ()
        },
        share_queues={raw["name"]: _queue(raw) for raw in (*case["departments"], *case["queues"])},
        pod_groups=Shelf({raw["name"]: _group(raw) for raw in case["jobs"]}),
        devices=devices,
        device_classes=classes,
        claims=claims,
    )


def settings_of(case: Raw) -> Settings:
    """What KAI's test fixture runs a case with."""
    stated = any("StalenessGracePeriod" in tweak for tweak in case.get("session_tweaks") or ())
    settings = Settings(
        actions=tuple(Action(name) for name in case["actions"]),
        relocations=None,
        signatures=False,
        grace=60.0 if stated else 0.0,
    )
    tiers = (case.get("scheduler_conf") or {}).get("Tiers") or ()
    plugins = {plugin["Name"]: plugin.get("Arguments", {}) for tier in tiers for plugin in tier["Plugins"]}
    return _with_plugins(settings, plugins) if plugins else settings


def _with_plugins(settings: Settings, plugins: Mapping[str, Mapping[str, str]]) -> Settings:
    packs = {"gpupack": Spreading.PACK, "gpuspread": Spreading.SPREAD}
    placed = plugins.get("nodeplacement", {})
    return replace(
        settings,
        plugins=Plugins(
            fairness="proportion" in plugins,
            order="priority" in plugins,
            predicates="predicates" in plugins,
            minimum_runtime="minruntime" in plugins,
            topology="topology" in plugins,
            availability="nodeavailability" in plugins,
            sharing_order="gpusharingorder" in plugins,
            resource_type="resourcetype" in plugins,
            gpus=next((packs[name] for name in plugins if name in packs), None),
            placement="nodeplacement" in plugins,
        ),
        gpu_placement=Spreading(placed.get("gpu", "binpack")),
        cpu_placement=Spreading(placed.get("cpu", "binpack")),
    )


def _node(name: str, raw: Raw) -> ClusterNode:
    strategy = raw.get("mig_strategy", "")
    labels = {
        "nvidia.com/gpu.count": str(raw["gpus"]),
        "nvidia.com/gpu.memory": str(raw["gpu_memory_mib"]),
        "node-role.kubernetes.io/mig-enabled": str(bool(strategy)).lower(),
        "nvidia.com/mig.strategy": strategy,
        NAME_LABEL: name,
        **(raw.get("labels") or {}),
    }
    amounts = {
        "cpu": int(raw["cpu_cores"] * 1000),
        "memory": int(raw["memory_bytes"]),
        "nvidia.com/gpu": 0 if strategy == "mixed" else raw["gpus"],
        "pods": raw["max_pods"],
        **(raw.get("mig_instances") or {}),
    }
    return ClusterNode(name, labels, amounts)


def _queue(raw: Raw) -> ShareQueue:
    return ShareQueue(
        name=raw["name"],
        parent=raw["parent"] or None,
        priority=raw["priority"],
        created=raw["creation_index"],
        cpu=_allotted(raw["cpu_milli"]),
        memory=_allotted(raw["memory_mb"]),
        gpu=_allotted(raw["gpu"]),
        reclaim_min_runtime=raw.get("reclaim_min_runtime_s"),
    )


def _allotted(raw: Raw) -> Allotted:
    return Allotted(raw["quota"], raw["limit"], raw["over_quota_weight"])


def _group(raw: Raw) -> PodGroup:
    pods = tuple(_pod(raw, task) for task in raw["tasks"])
    return PodGroup(
        name=raw["name"],
        namespace=raw.get("namespace", ""),
        queue=raw["queue"],
        pods=pods,
        tree=_tree(raw),
        priority=raw["priority"],
        preemptible=raw["preemptible"],
        created=NOW - raw["age_minutes"] * 60,
        started=NOW - 60 if any(pod.status in ALLOCATED for pod in pods) else None,
        stale_since=None if raw.get("stale_for_s") is None else NOW - raw["stale_for_s"],
        delay=raw.get("preemption_delay_s"),
        grace=raw.get("staleness_grace_period_s"),
    )


def _tree(raw: Raw) -> SubGroup:
    """The group's tree; pods that name no sub-group make one of their own, which needs all of them."""
    root = raw["root_sub_group_set"]
    tree = SubGroup() if root is None else _sub_group(root)
    if all(task.get("sub_group") for task in raw["tasks"]) or any(
        child.name == DEFAULT for child in tree.children
    ):
        return tree
    return replace(tree, children=(*tree.children, SubGroup(DEFAULT, len(raw["tasks"]), leaf=True)))


def _sub_group(raw: Raw) -> SubGroup:
    constraint = raw.get("topology_constraint")
    together = None
    if constraint:
        together = Together(
            constraint["Topology"], constraint.get("RequiredLevel"), constraint.get("PreferredLevel")
        )
    if raw["kind"] == "podset":
        return SubGroup(raw["name"], raw["min_available"], leaf=True, together=together)
    children = tuple(_sub_group(child) for child in raw["children"])
    return SubGroup(raw["name"], raw.get("min_sub_group"), children, together=together)


def _pod(job: Raw, raw: Raw) -> GroupPod:
    asked = job["task_request"]
    fraction = asked.get("gpu_fraction", 0.0)
    mig = tuple((raw.get("mig_instances") or {}).items())
    request = PodRequest(
        cpu=(asked.get("cpu_cores") or 0) * 1000.0,
        memory=float(asked.get("memory_bytes") or 0),
        gpus=int(raw.get("gpus", asked.get("gpus", 0))) if not fraction else 0,
        fraction=fraction,
        gpu_memory=asked.get("gpu_memory_mib", 0),
        devices=asked.get("gpu_fraction_num_devices", 1),
        mig=mig,
    )
    groups = tuple(raw.get("gpu_groups") or ())
    if fraction and raw.get("node"):  # the fixture makes up GPUs for those that name too few
        groups += tuple(f"{raw['id']}+{number}" for number in range(len(groups), request.devices))
    names = raw.get("node_affinity_in")
    affinity = None
    if names:
        affinity = NodeSelector((NodeSelectorTerm((Requirement(NAME_LABEL, "In", tuple(names)),)),))
    return GroupPod(
        id=raw["id"],
        status=PodStatus(raw["status"]),
        node=raw.get("node"),
        gpu_groups=groups,
        leaf=raw.get("sub_group") or DEFAULT,
        request=request,
        claims=(
            *(raw.get("resource_claim_names") or ()),
            *(raw.get("resource_claim_templates") or {}).values(),
        ),
        affinity=affinity,
        order=raw.get("task_priority_label"),
        legacy_mig=bool(raw.get("legacy_mig")),
    )


def _devices(raw: Raw) -> tuple[tuple[DeviceOfNode, ...], dict[str, Claim], frozenset[str]]:
    """Devices in slices, claims, and classes; a class of the fixture selects every device."""
    classes = frozenset(raw.get("device_classes") or ())
    devices: list[DeviceOfNode] = []
    for each in raw.get("resource_slices") or ():
        names = [f"{each['Name']}.{number}" for number in range(each["Count"])]
        devices += [DeviceOfNode(each["NodeName"], DRIVER, each["NodeName"], name, classes) for name in names]
    claims = {each["Name"]: _claim(each, devices) for each in raw.get("resource_claims") or ()}
    return tuple(devices), claims, classes


def _claim(raw: Raw, devices: list[DeviceOfNode]) -> Claim:
    status = raw.get("ClaimStatus") or {}
    results = (((status.get("Allocation") or {}).get("Devices")) or {}).get("Results") or ()
    keys = [_key(result, devices) for result in results]
    allocation = Allocation(keys[0][0], tuple(key for _, key in keys)) if keys else None
    users = tuple(each.get("Name", "") for each in status.get("ReservedFor") or ())
    return Claim(
        name=raw["Name"],
        device_class=raw["DeviceClassName"],
        count=raw["Count"],
        labels=raw.get("Labels") or {},
        allocation=allocation,
        reserved_for=users,
    )


def _key(result: Raw, devices: list[DeviceOfNode]) -> tuple[str, str]:
    pool, name = result["Pool"], result["Device"]
    found = next(
        (each for each in devices if each.pool == pool and each.name.rpartition(".")[2] == str(name)), None
    )
    return (pool, found.key) if found else (pool, f"{DRIVER}/{pool}/{name}")


def passes(case: Raw, ties: Ties = Ties.FIRST_USED) -> Iterator[tuple[Action, Session]]:
    """A case of a single pass, after each of its actions."""
    settings = settings_of(case)
    session = Session(state_of(case), Memory(settings), NOW, ties)
    for action in settings.actions:
        act(session, action)
        yield action, session


def rounds(case: Raw, ties: Ties = Ties.FIRST_USED) -> Iterator[tuple[Session, Session]]:
    """A case of several rounds: each as it was opened, and as it ended.

    Between rounds what is being bound runs, what leaves has left and waits anew, and what is in line waits.
    """
    settings = settings_of(case)
    deleted = {job["name"] for job in case["jobs"] if job.get("deleted_in_test")}
    state = state_of(case)
    while True:
        opened = Session(state, Memory(settings), NOW, ties)
        session = Session(state, Memory(settings), NOW, ties)
        for action in settings.actions:
            act(session, action)
        yield opened, session
        state = _afterwards(state, session, deleted)


def _afterwards(state: State, session: Session, deleted: set[str]) -> State:
    changes: dict[str, PodGroup | None] = {}
    for key, group in state.pod_groups.items():
        pods = {}
        for pod in group.pods:
            task = session.groups[key].tasks[pod.id]
            status, node, groups = task.status, task.node, task.gpu_groups
            if status is PodStatus.PIPELINED or (status is PodStatus.RELEASING and key not in deleted):
                status, node, groups = PodStatus.PENDING, None, pod.gpu_groups
            elif status is PodStatus.BINDING:
                status = PodStatus.RUNNING
            pods[pod.id] = replace(pod, status=status, node=node, gpu_groups=groups)
        running = any(pod.status in ALLOCATED for pod in pods.values())
        changes[key] = replace(group.with_pods(pods), started=NOW - 60 if running else None)
    claims = dict(session.claims.claims)
    return replace(state.with_pod_groups(changes), claims=claims)
