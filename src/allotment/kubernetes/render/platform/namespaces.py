"""A namespace for each team: restricted pods, who may write, and a reminder of the team's credentials.

Whoever applies for a team is in the group ``allotment:TEAM`` and may write what is rendered, in the team's
namespace and nowhere else; of the cluster they may read what is needed to say why something waits. Nobody may
write a quota, a queue or a secret. Secrets are never rendered: only their names stand in the platform's file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from allotment.errors import AllotmentError
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.names import ROOT, labels_of
from allotment.kubernetes.render.pods import CREDENTIALS
from allotment.kubernetes.render.rendered import Note, Object, Rendered
from allotment.kubernetes.rights import CLUSTER_ROLE, ROLE
from allotment.platform.model import Platform, Team

RBAC: Final = "rbac.authorization.k8s.io"


def namespace_objects(platform: Platform) -> Rendered:
    """Namespaces, who may do what in them, and what has to be put there by hand."""
    _look_at_sharing(platform)
    objects: list[Object] = [_reader()]
    notes: list[Note] = []
    for team in platform.teams.values():
        objects += _of_team(team)
        notes += _credentials(platform, team)
    return Rendered(tuple(objects), tuple(notes))


def _look_at_sharing(platform: Platform) -> None:
    """Refuse two teams in one namespace: a namespace says whose queue its work may use."""
    owners: dict[str, str] = {}
    for team in platform.teams.values():
        other = owners.setdefault(namespace_of(team), team.name)
        if other != team.name:
            raise AllotmentError(
                f"teams `{other}` and `{team.name}` have one namespace, `{namespace_of(team)}`, by which "
                "nobody could tell their queues and secrets apart",
                remedy=f"give each a namespace of its own: `teams.{team.name}.namespace`",
            )


def _of_team(team: Team) -> Iterator[Object]:
    namespace, labels = namespace_of(team), labels_of(team=team.name)
    restricted = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("audit", "enforce", "warn")}
    yield {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": {**labels, **restricted}},
    }
    metadata = {"name": f"{ROOT}-apply", "namespace": namespace, "labels": labels}
    yield {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [_rule(*each) for each in ROLE],
    }
    yield _binding("RoleBinding", "Role", metadata, team)
    cluster = {"name": f"{ROOT}-read-{team.name}", "labels": labels}
    yield _binding("ClusterRoleBinding", "ClusterRole", cluster, team, role=f"{ROOT}-read")


def _reader() -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"{ROOT}-read", "labels": labels_of()},
        "rules": [_rule(*each) for each in CLUSTER_ROLE],
    }


def _binding(
    kind: str, role_kind: str, metadata: dict[str, Any], team: Team, *, role: str | None = None
) -> Object:
    group = {"apiGroup": RBAC, "kind": "Group", "name": f"{ROOT}:{team.name}"}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": dict(metadata),
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": role or metadata["name"]},
        "subjects": [group],
    }


def _rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _credentials(platform: Platform, team: Team) -> Iterator[Note]:
    about = f"team {team.name}"
    if team.secret is not None:
        words = (
            f"its pods read the bucket's credentials from the secret `{team.secret}` of namespace "
            f"{namespace_of(team)}, key `{CREDENTIALS}`: AWS's file of credentials"
        )
        yield Note(about, words, "secrets are never rendered: create it, with keys for its prefix alone")
    elif "://" in platform.bucket:
        words = "it names no secret, so its pods reach the bucket only by a role that they have"
        yield Note(about, words, f"set `teams.{team.name}.secret`, one for each team")
