"""What a server says about itself: its version, its health, the groups and resources that it serves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from allotment.kubernetes.testing.answers import Answer
from allotment.kubernetes.testing.asked import Request
from allotment.kubernetes.testing.resources import Resource

_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_CUSTOM_VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_STATUS_VERBS: Final = ("get", "patch", "update")


def answer(request: Request, resources: Sequence[Resource], version: str) -> Answer | None:
    """The answer to a question about the server, or None where it is about objects."""
    path = request.path.rstrip("/")
    if path in {"/healthz", "/livez", "/readyz"}:
        return Answer(200, "ok", {"Content-Type": "text/plain"})
    if path == "/version":
        major, minor = version.split(".")[:2]
        return Answer(
            200, {"major": major, "minor": minor, "gitVersion": f"v{version}.0", "platform": "linux/amd64"}
        )
    if path == "/api":
        return Answer(200, {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
    if path == "/apis":
        groups = sorted({each.group for each in resources if each.group})
        return Answer(
            200,
            {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [_group(each, resources) for each in groups],
            },
        )
    steps = path.split("/")[1:]
    if steps[:1] == ["apis"] and len(steps) == 2 and any(each.group == steps[1] for each in resources):
        return Answer(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(steps[1], resources)})
    served = _served(steps, resources)
    return None if not served else Answer(200, _listed("/".join(steps[1:]), served))


def _served(steps: list[str], resources: Sequence[Resource]) -> list[Resource]:
    if steps == ["api", "v1"]:
        return [each for each in resources if not each.group]
    if steps[:1] == ["apis"] and len(steps) == 3:
        return [each for each in resources if [each.group, each.version] == steps[1:]]
    return []


def _group(name: str, resources: Iterable[Resource]) -> dict[str, Any]:
    versions = sorted({each.version for each in resources if each.group == name})
    told = [{"groupVersion": f"{name}/{each}", "version": each} for each in versions]
    return {"name": name, "versions": told, "preferredVersion": told[0]}


def _listed(group_version: str, served: Iterable[Resource]) -> dict[str, Any]:
    listed = []
    for each in served:
        common = {"namespaced": each.is_namespaced, "kind": each.kind}
        verbs = list(_VERBS if each.schema is None else _CUSTOM_VERBS)
        listed.append({"name": each.plural, "singularName": each.kind.lower(), **common, "verbs": verbs})
        if each.has_status:
            listed.append(
                {
                    "name": f"{each.plural}/status",
                    "singularName": "",
                    **common,
                    "verbs": list(_STATUS_VERBS),
                }
            )
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": listed}
