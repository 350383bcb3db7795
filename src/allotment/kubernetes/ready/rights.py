"""Which rights each command needs of the cluster, and which of them this identity has not.

The table is the one place where they stand: what is asked of the server (SelfSubjectAccessReview) and what
the platform's Roles give are held against it. Rights of the cluster are for reading only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes.ready.seen import Right, Seen, listed
from allotment.kubernetes.render.context import namespace_of
from allotment.platform.model import Platform, Team

CHECK: Final = "rights"
READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "delete", "get", "list", "patch")
Needed = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Group, resource, verbs."""

ANY: Final = frozenset({"default", "kueue", "kai", "both"})
KUEUE: Final = frozenset({"kueue", "both"})
KAI: Final = frozenset({"kai", "both"})

IN_NAMESPACE: Final[Mapping[str, tuple[tuple[frozenset[str], Needed], ...]]] = {
    "apply": (
        (
            ANY,
            (
                ("", "configmaps", WRITE),
                ("", "services", WRITE),
                ("apps", "deployments", WRITE),
                ("batch", "jobs", WRITE),
                ("resource.k8s.io", "resourceclaims", WRITE),
                ("resource.k8s.io", "resourceclaimtemplates", WRITE),
                ("coordination.k8s.io", "leases", ("create", "get", "update")),
            ),
        ),
        (
            KUEUE,
            (
                ("kueue.x-k8s.io", "localqueues", ("get", "list")),
                ("kueue.x-k8s.io", "workloads", ("list", "patch")),
            ),
        ),
    ),
    "status, logs and why": (
        (
            ANY,
            (
                ("", "pods", READ),
                ("", "pods/log", ("get",)),
                ("", "events", ("list", "watch")),
                ("batch", "jobs", READ),
                ("resource.k8s.io", "resourceclaims", ("list",)),
            ),
        ),
        (KUEUE, (("kueue.x-k8s.io", "workloads", ("list", "watch")),)),
        (KAI, (("scheduling.run.ai", "podgroups", ("list", "watch")),)),
    ),
    "operate": (
        (
            KUEUE,
            (
                ("batch", "jobs", ("list", "patch", "watch")),
                ("kueue.x-k8s.io", "workloads", ("list", "watch")),
            ),
        ),
    ),
}
IN_CLUSTER: Final[Mapping[str, tuple[tuple[frozenset[str], Needed], ...]]] = {
    "devices, plan and why": (
        (
            ANY,
            (
                ("", "nodes", ("list",)),
                ("resource.k8s.io", "deviceclasses", ("get", "list")),
                ("resource.k8s.io", "resourceslices", ("list",)),
            ),
        ),
    ),
    "queues": (
        (KUEUE, tuple(("kueue.x-k8s.io", each, ("get", "list")) for each in ("clusterqueues", "cohorts"))),
        (KUEUE, (("kueue.x-k8s.io", "resourceflavors", ("list",)),)),
        (KAI, (("scheduling.run.ai", "queues", ("list",)),)),
    ),
}
NOT_NEEDED_TO_WORK: Final = frozenset({"devices, plan and why", "queues"})
"""What explains and plans: campaigns run without it."""


def rights_of(platform: Platform, team: Team) -> Mapping[str, tuple[Right, ...]]:
    """What whoever works for a team needs, by what it is for."""
    found: dict[str, tuple[Right, ...]] = {}
    for table, namespace in ((IN_NAMESPACE, namespace_of(team)), (IN_CLUSTER, "")):
        for purpose, parts in table.items():
            needed = [each for schedulers, part in parts if platform.scheduler in schedulers for each in part]
            rights = (Right(group, what, verb, namespace) for group, what, verbs in needed for verb in verbs)
            found[purpose] = tuple(dict.fromkeys(rights))
    return {purpose: rights for purpose, rights in found.items() if rights}


def rights(seen: Seen) -> Iterator[Answer]:
    """Which rights are missing, by what they are for."""
    if seen.rights is None:
        return
    who = f"`{seen.identity}`" if seen.identity else "this identity"
    for team in seen.teams:
        missing = _missing(seen, team)
        for purpose, found in missing.items():
            words = (
                f"{who} may not {listed([_words(*each) for each in found.items()])}, which {purpose} needs"
            )
            say = note if purpose in NOT_NEEDED_TO_WORK else problem
            yield say(CHECK, words, _remedy(team))
        if not missing:
            yield fine(
                CHECK, f"{who} may do what applying, following and planning for team {team.name} needs"
            )


def _missing(seen: Seen, team: Team) -> Mapping[str, Mapping[tuple[str, str], tuple[str, ...]]]:
    """The verbs that are refused, by purpose and resource; a right that was not asked for is not missing."""
    answers = seen.rights or {}
    found: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {}
    for purpose, needed in rights_of(seen.platform, team).items():
        verbs: dict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
        for right in needed:
            if answers.get(right) is False:
                what = f"{right.resource}.{right.group}" if right.group else right.resource
                verbs[what, right.namespace] += (right.verb,)
        if verbs:
            found[purpose] = dict(verbs)
    return found


def _words(what: tuple[str, str], verbs: tuple[str, ...]) -> str:
    """``create and patch jobs.batch in archive``."""
    resource, namespace = what
    said = verbs[0] if len(verbs) == 1 else f"{', '.join(verbs[:-1])} and {verbs[-1]}"
    return f"{said} {resource}" + (f" in {namespace}" if namespace else "")


def _remedy(team: Team) -> str:
    return (
        f"be in the group `allotment:{team.name}`, which the platform's Roles are bound to "
        "(`allot render --platform-objects`)"
    )
