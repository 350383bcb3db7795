"""Whether the cluster has what the platform's file becomes: missing, different (with the field), too much.

What `allot render --platform-objects` prints is held against what is live, kind by kind. An object that bears
our label and is not rendered is one of a team or lane that the file has no longer: its quota still counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes import kinds
from allotment.kubernetes.kinds import Kind, Object, kind_of
from allotment.kubernetes.ready.differing import Difference, differences
from allotment.kubernetes.ready.seen import MOST_SHOWN, Seen, listed
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.names import MANAGED_BY
from allotment.kubernetes.render.platform import render_platform
from allotment.pictures.counts import counted
from allotment.platform.model import Platform

APPLY: Final = "allot render --platform-objects | kubectl apply --server-side -f -"
WEAKENING: Final = frozenset({"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
"""Kinds of which a field beside ours takes something back that ours hold."""

FROZEN: Final[Mapping[Kind, tuple[str, ...]]] = {
    kinds.PRIORITY_CLASS: ("value", "preemptionPolicy"),
    kinds.ROLE_BINDING: ("roleRef",),
    kinds.CLUSTER_ROLE_BINDING: ("roleRef",),
}
"""Fields that a server refuses to change in an object that is there (as Kubernetes validates them)."""

SHARED_NAMES: Final = frozenset({"Queue", "Topology"})

GROUPS: Final[Mapping[str, tuple[Kind, ...]]] = {
    "namespaces": (kinds.NAMESPACE,),
    "roles": (kinds.ROLE, kinds.ROLE_BINDING, kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING),
    "classes": (kinds.DEVICE_CLASS,),
    "priorities": (kinds.PRIORITY_CLASS, kinds.WORKLOAD_PRIORITY),
    "queues": (
        kinds.FLAVOR,
        kinds.COHORT,
        kinds.CLUSTER_QUEUE,
        kinds.LOCAL_QUEUE,
        kinds.KAI_QUEUE,
        kinds.KUEUE_TOPOLOGY,
        kinds.KAI_TOPOLOGY,
    ),
    "admission": (kinds.ADMISSION_POLICY, kinds.ADMISSION_BINDING),
}


def held_against(group: str) -> Callable[[Seen], Iterator[Answer]]:
    """The check of one group of kinds."""

    def check(seen: Seen) -> Iterator[Answer]:
        wanted: dict[Kind, list[Object]] = {kind: [] for kind in GROUPS[group]}
        for value in render_platform(seen.platform).objects:
            if (kind := kind_of(value)) in wanted:
                wanted[kind].append(value)
        well: list[str] = []
        lacking: dict[Kind, list[str]] = {}
        for kind, objects in wanted.items():
            if seen.can_tell(kind):
                here = _of_teams(seen, objects)
                found = [*_of_kind(seen, group, kind, here)]
                missing = [_name(each) for each in here if _live(seen, kind, each) is None]
                lacking |= {kind: missing} if missing else {}
                yield from found
                yield from _too_much(seen, group, kind, {_name(each) for each in objects})
                well += [_counted(len(here), kind)] if here and not found and not missing else []
        if lacking:
            yield problem(group, _not_there(lacking), APPLY)
        if well:
            yield fine(group, f"as the platform's file has it: {listed(well, len(GROUPS[group]))}")

    return check


def kinds_of(platform: Platform) -> frozenset[Kind]:
    """The kinds that a platform's objects are of."""
    return frozenset(map(kind_of, render_platform(platform).objects))


def _of_teams(seen: Seen, objects: Sequence[Object]) -> list[Object]:
    """Those that are no namespace, or in none, of a team that nobody asked for."""
    known = {None, *(namespace_of(team) for team in seen.teams)}
    return [each for each in objects if _namespace(each) in known]


def _namespace(value: Object) -> str | None:
    """The namespace that an object is in, or is; None for one of the cluster."""
    metadata = value["metadata"]
    return str(metadata["name"]) if value["kind"] == "Namespace" else metadata.get("namespace")


def _of_kind(seen: Seen, check: str, kind: Kind, wanted: Sequence[Object]) -> Iterator[Answer]:
    for each in wanted:
        live = _live(seen, kind, each)
        if live is not None:
            yield from _differing(check, kind, each, differences(each, live))


def _live(seen: Seen, kind: Kind, wanted: Object) -> Object | None:
    return seen.snapshot.named(kind, wanted["metadata"]["name"], wanted["metadata"].get("namespace"))


def _not_there(lacking: Mapping[Kind, Sequence[str]]) -> str:
    """``1 Role is not there: a``, ``2 Roles and 1 RoleBinding are not there: a, b; c``."""
    count = sum(map(len, lacking.values()))
    *most, last = [_counted(len(names), kind) for kind, names in lacking.items()]
    counted = f"{', '.join(most)} and {last}" if most else last
    shown = "; ".join(listed(names) for names in lacking.values())
    return f"{counted} {'is' if count == 1 else 'are'} not there: {shown}"


def _differing(check: str, kind: Kind, value: Object, found: Sequence[Difference]) -> Iterator[Answer]:
    name = f"{kind.name} {_name(value)}"
    for each in sorted(found, key=lambda each: (each.is_extra, each.path))[:MOST_SHOWN]:
        if each.is_extra and kind.name not in WEAKENING:
            yield note(check, f"{name}: {each}", "take it away, or leave it if it is meant")
        else:
            yield problem(check, f"{name}: {each}", _mending(kind, value, each))
    if len(found) > MOST_SHOWN:
        yield problem(check, f"{name}: and {len(found) - MOST_SHOWN} fields more", APPLY)


def _mending(kind: Kind, value: Object, found: Difference) -> str:
    """How a field is mended: a server changes some of no object that is there."""
    if found.path.partition(".")[0] not in FROZEN.get(kind, ()):
        return APPLY
    place = f" -n {value['metadata']['namespace']}" if kind.is_namespaced else ""
    name = value["metadata"]["name"]
    return f"it cannot be changed in place: `kubectl delete{place} {kind.shown} {name}` first, then {APPLY}"


def _too_much(seen: Seen, check: str, kind: Kind, wanted: set[str]) -> Iterator[Answer]:
    """Objects with our label that the file does not have any more; a team's own are not the platform's."""
    extra = [
        _name(each)
        for each in seen.snapshot.of(kind)
        if not kind.is_namespaced and _is_ours(each) and _name(each) not in wanted
    ]
    if extra:
        words = (
            f"{counted(len(extra), kind.name)} of ours that the platform's file does not have: "
            f"{listed(extra)}"
        )
        yield note(check, words, f"see what it is for, then `kubectl delete {kind.shown} NAME`")


def _is_ours(value: Object) -> bool:
    labels = value["metadata"].get("labels") or {}
    return MANAGED_BY.items() <= labels.items()


def _counted(number: int, kind: Kind) -> str:
    """``2 ClusterQueues``; a kind that two groups have with its group."""
    return counted(number, kind.name) + (f" of {kind.group}" if kind.name in SHARED_NAMES else "")


def _name(value: Object) -> str:
    metadata = value["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
