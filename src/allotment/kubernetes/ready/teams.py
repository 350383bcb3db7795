"""Whether a team's namespace takes the team's pods: its credentials, and what else limits it there.

A ResourceQuota that limits cores or memory makes the server refuse every pod that does not say how much it
wants; what is rendered says memory where the pipeline does, and never a limit of cores. Facts: ``core/v1``
ResourceQuota and LimitRange (a ``max`` is also the default limit); quota of claims is written
``count/resourceclaims.resource.k8s.io`` and ``CLASS.deviceclass.resource.k8s.io/devices``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import items, mapping
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.seen import Seen, listed
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.pods import CREDENTIALS
from allotment.platform.model import Team
from allotment.quantities import format_gi
from allotment.quantities.quantity import QuantityError, parse_exact

CREDENTIAL: Final = "credentials"
LIMITS: Final = "limits"
NEVER_SAID: Final = frozenset({"limits.cpu", "limits.ephemeral-storage", "requests.ephemeral-storage"})
SOMETIMES_SAID: Final[Mapping[str, str]] = {
    "cpu": "resources: {cpu}",
    "requests.cpu": "resources: {cpu}",
    "memory": "resources: {memory}",
    "requests.memory": "resources: {memory}",
    "limits.memory": "resources: {memory}",
}
WRITTEN: Final = frozenset(
    {
        "pods",
        "count/pods",
        "configmaps",
        "count/configmaps",
        "count/jobs.batch",
        "count/resourceclaims.resource.k8s.io",
        "count/resourceclaimtemplates.resource.k8s.io",
    }
)
"""What is counted of which campaigns make some."""
CLAIMS: Final = "count/resourceclaims.resource.k8s.io"
OF_CLASS: Final = ".deviceclass.resource.k8s.io/devices"


def credentials(seen: Seen) -> Iterator[Answer]:
    """Whether each team's secret is there with its key, as far as one may look."""
    for team in seen.teams:
        where = f"secret `{team.secret}` of namespace {namespace_of(team)}"
        found = (seen.secrets or {}).get(team.name)
        if team.secret is None:
            if "://" in seen.platform.bucket:
                words = (
                    f"team {team.name} names no secret: its pods reach the bucket only by a role of their own"
                )
                yield note(CREDENTIAL, words, f"set `teams.{team.name}.secret`")
        elif found is None or found.why_not:
            why = found.why_not if found is not None else "nobody was asked"
            words = f"whether {where} is there cannot be told: {why}"
            yield note(CREDENTIAL, words, "without it pods wait in ContainerCreating: let its owner look")
        elif not found.is_there:
            create = f"kubectl -n {namespace_of(team)} create secret generic {team.secret}"
            remedy = f"{create} --from-file={CREDENTIALS}=FILE"
            yield problem(CREDENTIAL, f"there is no {where}: pods cannot start", remedy)
        elif CREDENTIALS not in found.keys:
            words = f"{where} has no key `{CREDENTIALS}` (it has {listed(sorted(found.keys)) or 'none'})"
            yield problem(CREDENTIAL, words, f"put AWS's file of credentials there, as `{CREDENTIALS}`")
        else:
            yield fine(CREDENTIAL, f"{where} has the key `{CREDENTIALS}`")


def namespaces(seen: Seen) -> Iterator[Answer]:
    """Whether a namespace is going, which takes no new object."""
    for team in seen.teams:
        live = seen.snapshot.named(kinds.NAMESPACE, namespace_of(team))
        if live is not None and live["metadata"].get("deletionTimestamp"):
            words = f"namespace {namespace_of(team)} is being deleted, and takes nothing new"
            yield problem(
                "namespaces", words, "wait until it is gone, then apply the platform's objects again"
            )


def limits(seen: Seen) -> Iterator[Answer]:
    """What of a namespace's quotas and limits would refuse pods of ours."""
    for team in seen.teams:
        namespace = namespace_of(team)
        ranges = seen.snapshot.of(kinds.LIMIT_RANGE, namespace)
        found = [*_quotas(seen, team, _defaults(ranges)), *_ranges(seen, namespace, ranges)]
        yield from found
        if not found and seen.can_tell(kinds.RESOURCE_QUOTA) and seen.can_tell(kinds.LIMIT_RANGE):
            yield fine(LIMITS, f"no quota or limit of namespace {namespace} is in the way of pods")


def _quotas(seen: Seen, team: Team, defaults: frozenset[str]) -> Iterator[Answer]:
    default = "or add a LimitRange with a default for it"
    for quota in seen.snapshot.of(kinds.RESOURCE_QUOTA, namespace_of(team)):
        where = f"ResourceQuota {quota['metadata']['name']} of {namespace_of(team)}"
        used = mapping(quota, "status", "used")
        for name, hard in sorted(mapping(quota, "spec", "hard").items()):
            if name in NEVER_SAID and name not in defaults:
                words = f"{where} limits {name}, which no pod of ours says: every one is refused"
                yield problem(LIMITS, words, f"take it out, {default}")
            elif name in SOMETIMES_SAID and name not in defaults:
                words = (
                    f"{where} limits {name}: pods of pipelines without `{SOMETIMES_SAID[name]}` are refused"
                )
                yield note(
                    LIMITS, words, "say it in every pipeline, or add a LimitRange with a default for it"
                )
            yield from _counted(team, where, name, str(hard), str(used.get(name, "0")))


def _counted(team: Team, where: str, name: str, hard: str, used: str) -> Iterator[Answer]:
    most, taken = _amount(hard), _amount(used)
    is_card = name == CLAIMS or name.endswith(OF_CLASS)
    if most is None or taken is None or not (name in WRITTEN or is_card):
        return
    if taken >= most:
        yield problem(LIMITS, f"{where} has nothing of {name} left ({used} of {hard})", "raise it, or wait")
    elif is_card and team.queue.quota is not None and most < math.floor(team.queue.quota):
        words = f"{where} allows {hard} {name}, fewer than the {team.queue.quota:g} cards of the team's quota"
        yield note(LIMITS, words, "raise it to the queue's limit: queues hold the teams apart")


def _defaults(ranges: tuple[Object, ...]) -> frozenset[str]:
    """What a LimitRange gives to containers that say nothing, as quotas call it."""
    found: set[str] = set()
    for each in _limits_of(ranges, "Container"):
        limits = {**mapping(each, "max"), **mapping(each, "default")}
        requests = {**limits, **mapping(each, "min"), **mapping(each, "defaultRequest")}
        found |= {f"limits.{name}" for name in limits} | {f"requests.{name}" for name in requests}
        found |= set(requests)
    return frozenset(found)


def _ranges(seen: Seen, namespace: str, ranges: tuple[Object, ...]) -> Iterator[Answer]:
    """Sizes of the platform that no container of the namespace may have."""
    for each in _limits_of(ranges, "Container", "Pod"):
        for name, text in mapping(each, "max").items():
            most = _amount(text)
            for size_name, size in seen.platform.sizes.items():
                asked = {"cpu": size.resources.cpu, "memory": size.resources.memory}.get(name)
                if most is not None and asked is not None and asked > most:
                    shown = format_gi(int(asked)) if name == "memory" else f"{asked:g}"
                    words = f"size `{size_name}` asks for {shown} of {name}, and a LimitRange of {namespace}"
                    remedy = "raise the LimitRange, or make the size smaller"
                    yield problem(LIMITS, f"{words} allows {text}", remedy)
        for name, text in mapping(each, "maxLimitRequestRatio").items():
            words = f"a LimitRange of {namespace} wants a limit of {name} of at most {text} times its request"
            yield note(LIMITS, words, "pods of ours have no limit of cores")


def _limits_of(ranges: tuple[Object, ...], *sorts: str) -> Iterator[Mapping[str, Any]]:
    for each in ranges:
        yield from (limit for limit in items(each, "spec", "limits") if limit.get("type") in sorts)


def _amount(text: Any) -> float | None:
    try:
        return float(parse_exact(str(text)))
    except QuantityError:
        return None
