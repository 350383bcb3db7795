"""Which of the roles that `allot render --platform-objects` prints lets somebody do a thing."""

from __future__ import annotations

from allotment.kubernetes.client.asked import Target


def role_for(verb: str, target: Target) -> str:
    """The role as a person would look for it; nothing where no role of ours lets anybody do it."""
    from allotment.kubernetes.render.names import ROOT
    from allotment.kubernetes.rights import CLUSTER_ROLE, ROLE

    places = ((f"Role `{ROOT}-apply`", ROLE), (f"ClusterRole `{ROOT}-read`", CLUSTER_ROLE))
    for role, rules in places:
        for group, resources, verbs in rules:
            if group == target.group and target.resource in resources and verb in verbs:
                return role
    return ""
