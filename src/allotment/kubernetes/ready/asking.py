"""The thin edge: what the checks look at, asked of a live server.

Lists are of few kinds, and of namespaces only the teams' and those of the schedulers. Nothing is written. Of
a secret only the names of its keys are kept. What is forbidden is remembered as such. Facts:
``authorization.k8s.io/v1`` and ``authentication.k8s.io/v1``, which every identity may ask about itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster import Missing, Snapshot
from allotment.kubernetes.follow.fields import at, items, mapping, text
from allotment.kubernetes.kinds import Kind, Object
from allotment.kubernetes.ready.kueue_config import NAME as KUEUE_CONFIG
from allotment.kubernetes.ready.rights import rights_of
from allotment.kubernetes.ready.seen import (
    KAI_NAMESPACE,
    KUEUE_NAMESPACE,
    NOT_SERVED,
    Right,
    Secret,
    Seen,
)
from allotment.kubernetes.ready.trying import tried, tried_job
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.names import MANAGED_BY
from allotment.platform.model import Platform, Team

FORBIDDEN: Final = "forbidden"
OURS: Final = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
MAY_I: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
WHO_AM_I: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

OF_CLUSTER: Final = (
    kinds.NODE,
    kinds.SLICE,
    kinds.DEVICE_CLASS,
    kinds.PRIORITY_CLASS,
    kinds.ADMISSION_POLICY,
    kinds.ADMISSION_BINDING,
    kinds.CLUSTER_QUEUE,
    kinds.KAI_QUEUE,
)
"""With the queues of both schedulers: those of an earlier one still count."""

OURS_OF_CLUSTER: Final = (kinds.NAMESPACE, kinds.CLUSTER_ROLE, kinds.CLUSTER_ROLE_BINDING)
OF_TEAMS: Final = (kinds.RESOURCE_QUOTA, kinds.LIMIT_RANGE)
OURS_OF_TEAMS: Final = (kinds.ROLE, kinds.ROLE_BINDING)
OF_KUEUE: Final = (kinds.COHORT, kinds.FLAVOR, kinds.KUEUE_TOPOLOGY, kinds.WORKLOAD_PRIORITY)
OF_KAI: Final = (kinds.KAI_TOPOLOGY, kinds.KAI_SHARD)


def look(client: Client, platform: Platform, teams: Sequence[Team], *, now: Callable[[], float]) -> Seen:
    """Everything that the checks want to know of the cluster."""
    version, served = client.raw("/version"), _served(client)
    reader = _Reader(client)
    for kind, namespace, labels in _wanted(platform, teams):
        reader.read(kind, namespace, labels)
    namespaces = [namespace_of(team) for team in teams]
    if reader.lacks(kinds.NAMESPACE):
        reader.read_instead(kinds.NAMESPACE, namespaces)
    if platform.scheduler in {"kueue", "both"}:
        reader.read_one(kinds.CONFIG_MAP, KUEUE_CONFIG, KUEUE_NAMESPACE)
    kept, skew = tried(client, namespaces, now)
    with_kueue = platform.scheduler in {"kueue", "both"}
    webhook = tried_job(client, teams, platform.images) if with_kueue else None
    number = re.match(r"v?(\d+)\.(\d+)", str(version.get("gitVersion", "")))
    snapshot = Snapshot(
        time=now(),
        objects=tuple(reader.objects),
        name=client.name,
        version=f"{number[1]}.{number[2]}" if number else "",
        missing=tuple(sorted(set(reader.missing))),
    )
    return Seen(
        platform=platform,
        teams=tuple(teams),
        snapshot=snapshot,
        served=served,
        identity=_identity(client),
        rights=_rights(client, platform, teams),
        kept=kept,
        secrets={team.name: found for team in teams if (found := _secret(client, team)) is not None},
        skew=skew,
        webhook=webhook,
    )


def _wanted(platform: Platform, teams: Sequence[Team]) -> Iterator[tuple[Kind, str | None, str]]:
    """The lists to read: kind, namespace, labels."""
    yield from ((kind, None, "") for kind in OF_CLUSTER)
    yield from ((kind, None, OURS) for kind in OURS_OF_CLUSTER)
    names = [namespace_of(team) for team in teams]
    yield from ((kind, name, "") for kind in OF_TEAMS for name in names)
    yield from ((kind, name, OURS) for kind in OURS_OF_TEAMS for name in names)
    if platform.scheduler in {"kueue", "both"}:
        yield from ((kind, None, "") for kind in OF_KUEUE)
        yield from ((kinds.LOCAL_QUEUE, name, "") for name in names)
        yield from ((kind, KUEUE_NAMESPACE, "") for kind in (kinds.DEPLOYMENT, kinds.POD))
    if platform.scheduler in {"kai", "both"}:
        yield from ((kind, None, "") for kind in OF_KAI)
        yield kinds.POD, KAI_NAMESPACE, ""


@dataclass(slots=True)
class _Reader:
    """What has been read, and what could not be."""

    client: Client
    objects: list[Object] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)

    def read(self, kind: Kind, namespace: str | None, labels: str) -> None:
        """All objects of a kind."""
        self._keep(kind, lambda: self.client.listed(kind, namespace, labels=labels))

    def read_one(self, kind: Kind, name: str, namespace: str | None = None) -> None:
        """One object, where there is one."""
        self._keep(kind, lambda: filter(None, (self.client.get(kind, name, namespace),)))

    def read_instead(self, kind: Kind, names: Sequence[str]) -> None:
        """One by one what may not be listed; what may not be read either is missing still."""
        self.missing = [each for each in self.missing if each.kind != kind]
        for name in names:
            self.read_one(kind, name)

    def lacks(self, kind: Kind) -> bool:
        """Whether a kind could not be read."""
        return any(each.kind == kind for each in self.missing)

    def _keep(self, kind: Kind, read: Callable[[], Iterable[Object]]) -> None:
        try:
            self.objects += read()
        except ApiError as error:
            if error.status not in {403, 404}:
                raise
            self.missing.append(Missing(kind, FORBIDDEN if error.status == 403 else NOT_SERVED))


def _served(client: Client) -> frozenset[str] | None:
    try:
        told = client.raw("/apis")
    except ApiError as error:
        if error.status != 403:
            raise
        return None
    return frozenset(
        text(each, "groupVersion") for group in items(told, "groups") for each in items(group, "versions")
    )


def _identity(client: Client) -> str:
    question = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    return text(_answered(client, WHO_AM_I, question), "status", "userInfo", "username")


def _rights(client: Client, platform: Platform, teams: Sequence[Team]) -> Mapping[Right, bool] | None:
    """Each right once; None where the server answers no such question."""
    found: dict[Right, bool] = {}
    for right in dict.fromkeys(
        each for team in teams for part in rights_of(platform, team).values() for each in part
    ):
        resource, _, subresource = right.resource.partition("/")
        asked = {
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "verb": right.verb,
            "namespace": right.namespace,
        }
        question = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {key: value for key, value in asked.items() if value}},
        }
        answer = _answered(client, MAY_I, question)
        if answer is None:
            return None
        found[right] = at(answer, "status", "allowed") is True
    return found


def _answered(client: Client, path: str, question: Object) -> Object | None:
    """The answer to a question about oneself; None where the server does not answer it."""
    try:
        return client.ask(path, question)
    except ApiError as error:
        if error.status not in {403, 404, 405}:
            raise
        return None


def _secret(client: Client, team: Team) -> Secret | None:
    """The names of a secret's keys; the values are let go at once."""
    if team.secret is None:
        return None
    try:
        found = client.get(kinds.SECRET, team.secret, namespace_of(team))
    except ApiError as error:
        if error.status != 403:
            raise
        return Secret(why_not="this identity may not look at secrets, as it should be")
    if found is None:
        return Secret(is_there=False)
    return Secret(frozenset(mapping(found, "data")))
