"""Whether this identity may apply for the team: the namespace says whose it is, the server who may write.

Facts: the platform's file gives each team a namespace with the label ``allotment/team``, and lets the group
``allotment:TEAM`` write in it and nowhere else. ``SelfSubjectAccessReview`` of ``authorization.k8s.io`` is
the server's own answer, and every identity may ask it.
"""

from __future__ import annotations

from typing import Final

from allotment.errors import AllotmentError
from allotment.kubernetes.apply.groups import labels
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import NAMESPACE
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.names import ROOT, TEAM_LABEL

REVIEW: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
PLATFORM_OBJECTS: Final = "`allot render --platform-objects | kubectl apply -f -`"


def hold_to_team(client: Client, context: Context) -> None:
    """Raise AllotmentError, in which nothing was sent, unless the identity may write for the team."""
    _look_at_namespace(client, context)
    _look_at_rights(client, context)


def _look_at_namespace(client: Client, context: Context) -> None:
    namespace, team = context.namespace, context.team.name
    try:
        found = client.get(NAMESPACE, namespace)
    except ApiError as error:
        if error.status == 403:
            raise AllotmentError(
                f"this identity may not look at namespace `{namespace}`, which is that of team `{team}`",
                where=client.name,
                remedy=_who(context),
            ) from None
        raise
    if found is None:
        raise AllotmentError(
            f"there is no namespace `{namespace}`, which is that of team `{team}`",
            where=client.name,
            remedy=f"whoever runs the cluster creates it: {PLATFORM_OBJECTS}",
        )
    owner = labels(found).get(TEAM_LABEL)
    if owner != team:
        words = f"is of team `{owner}`" if owner else f"does not say whose it is (label {TEAM_LABEL})"
        raise AllotmentError(
            f"namespace `{namespace}` {words}, and this repository is of team `{team}`",
            where=client.name,
            remedy=f"name the right context with --cluster, or have the platform applied: {PLATFORM_OBJECTS}",
        )


def _look_at_rights(client: Client, context: Context) -> None:
    asked = {"namespace": context.namespace, "verb": "create", "group": "batch", "resource": "jobs"}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": asked},
    }
    answer = client.ask(REVIEW, review)
    status = answer.get("status") or {}
    if status.get("allowed"):
        return
    why = f": {status['reason']}" if status.get("reason") else ""
    raise AllotmentError(
        f"this identity may not write in namespace `{context.namespace}` of team `{context.team.name}`{why}",
        where=client.name,
        remedy=_who(context),
    )


def _who(context: Context) -> str:
    return (
        f"the group `{ROOT}:{context.team.name}` may, by the Role `{ROOT}-apply`: take an identity of it, or "
        "let whoever runs the cluster add this one"
    )
