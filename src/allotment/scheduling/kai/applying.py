"""What the decisions make of the state: what the binder and the owners of pods do about them.

A pod that is evicted stops first, and keeps its place until then; its owner makes another one in its stead,
which waits. What is only promised a place waits on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from allotment.scheduling.kai.decisions import Bound, Decision, Evicted
from allotment.scheduling.state.claimed_devices import Allocation, Claim
from allotment.scheduling.state.pod_groups import GroupPod, PodGroup, PodStatus
from allotment.scheduling.state.state import State


def applied(state: State, decisions: Iterable[Decision]) -> State:
    """The state in which the decisions are carried out: who got a place runs, who was evicted stops."""
    changes: dict[str, dict[str, GroupPod]] = {}
    claims = dict(state.claims)
    for each in decisions:
        if not isinstance(each, Bound | Evicted):
            continue
        pods = changes.setdefault(each.group, {})
        known = pods.get(each.pod) or _pod(state.pod_groups[each.group], each.pod)
        if isinstance(each, Bound):
            pods[each.pod] = replace(
                known, status=PodStatus.RUNNING, node=each.node, gpu_groups=each.gpu_groups
            )
            _give(claims, known, each)
        elif known.node is not None:
            pods[each.pod] = replace(known, status=PodStatus.RELEASING)
    groups: dict[str, PodGroup | None] = {
        key: state.pod_groups[key].with_pods(pods) for key, pods in changes.items()
    }
    return replace(state.with_pod_groups(groups), claims=claims)


def stopped(state: State, made_anew: Collection[str], now: float) -> State:
    """The state in which all pods that were to stop are gone; these are made anew by their owners."""
    claims = dict(state.claims)
    groups: dict[str, PodGroup | None] = {}
    for key, group in state.pod_groups.items():
        going = [pod for pod in group.pods if pod.status is PodStatus.RELEASING]
        if not going:
            continue
        for pod in going:
            _take(claims, pod)
        kept = (
            replace(pod, status=PodStatus.PENDING, node=None, gpu_groups=(), created=now)
            if pod.status is PodStatus.RELEASING
            else pod
            for pod in group.pods
            if pod.status is not PodStatus.RELEASING or pod.id in made_anew
        )
        groups[key] = replace(group, pods=tuple(kept))
    return replace(state.with_pod_groups(groups), claims=claims)


def ended(state: State, keys: Iterable[str]) -> State:
    """The state without these groups, and with what they held free."""
    claims = dict(state.claims)
    gone: dict[str, PodGroup | None] = {}
    for key in keys:
        for pod in state.pod_groups[key].pods:
            _take(claims, pod)
        gone[key] = None
    return replace(state.with_pod_groups(gone), claims=claims)


def _pod(group: PodGroup, name: str) -> GroupPod:
    return next(pod for pod in group.pods if pod.id == name)


def _give(claims: dict[str, Claim], pod: GroupPod, bound: Bound) -> None:
    for name in pod.claims:
        claim = claims.get(name)
        if claim is None:
            continue
        devices = bound.claims.get(name, ())
        given = Allocation(bound.node, devices) if devices else claim.allocation
        users = tuple(dict.fromkeys((*claim.reserved_for, pod.id)))
        claims[name] = replace(claim, allocation=given, reserved_for=users)


def _take(claims: dict[str, Claim], pod: GroupPod) -> None:
    for name in pod.claims:
        claim = claims.get(name)
        if claim is None:
            continue
        users = tuple(user for user in claim.reserved_for if user != pod.id)
        claims[name] = replace(claim, reserved_for=users, allocation=claim.allocation if users else None)
