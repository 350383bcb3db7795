"""Questions about oneself: who am I, may I do this, what may I do here. Nothing of them is kept.

Facts: Kubernetes' API reference, "SelfSubjectReview", "SelfSubjectAccessReview" and "SelfSubjectRulesReview".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import Answer, RequestError
from allotment.kubernetes.testing.asked import Request
from allotment.kubernetes.testing.permissions import Permissions, Rule

Body = Mapping[str, Any]


def answer(request: Request, permissions: Permissions) -> Answer | None:
    """The answer to such a question, or None where it is about something else."""
    found = _REVIEWS.get(request.path)
    if found is None:
        return None
    if request.method != "POST":
        text = "the server does not allow this method on the requested resource"
        raise RequestError(405, "MethodNotAllowed", text, {})
    kind, tell = found
    body = json.loads(request.body or b"{}")
    version = request.path.split("/")[2]
    said = {"kind": kind, "apiVersion": f"{version}/v1", "metadata": {}}
    spec = {"spec": body["spec"]} if "spec" in body else {}
    return Answer(201, {**said, **spec, "status": tell(body.get("spec") or {}, permissions)})


def _who(_: Body, permissions: Permissions) -> dict[str, Any]:
    return {"userInfo": {"username": permissions.user, "groups": permissions.all_groups}}


def _access(spec: Body, permissions: Permissions) -> dict[str, Any]:
    asked = spec.get("resourceAttributes")
    if asked is None:
        try:
            permissions.check_path((spec.get("nonResourceAttributes") or {}).get("path", ""))
        except RequestError:
            return {"allowed": False}
        return {"allowed": True}
    resource, sub = asked.get("resource", ""), asked.get("subresource", "")
    parts = (asked.get(each, "") for each in ("namespace", "name"))
    full = f"{resource}/{sub}" if sub else resource
    rule = permissions.rule(asked.get("verb", ""), asked.get("group", ""), full, *parts)
    if rule is None:
        return {"allowed": False}
    return {"allowed": True, **({"reason": rule.by} if rule.by else {})}


def _rules(spec: Body, permissions: Permissions) -> dict[str, Any]:
    def holds(rule: Rule) -> bool:
        return rule.namespace in {None, spec.get("namespace", "")}

    listed = [rule.told() for rule in permissions.rules if holds(rule)]
    return {"resourceRules": listed, "nonResourceRules": [], "incomplete": False}


_AUTHORIZATION: Final = "/apis/authorization.k8s.io/v1"
_REVIEWS: Final[Mapping[str, tuple[str, Callable[[Body, Permissions], dict[str, Any]]]]] = {
    "/apis/authentication.k8s.io/v1/selfsubjectreviews": ("SelfSubjectReview", _who),
    f"{_AUTHORIZATION}/selfsubjectaccessreviews": ("SelfSubjectAccessReview", _access),
    f"{_AUTHORIZATION}/selfsubjectrulesreviews": ("SelfSubjectRulesReview", _rules),
}
