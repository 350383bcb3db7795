"""Who asks the fake server, and what they may do: a table, or the roles among objects.

    Permissions("ada", ("allotment:team-a",), of_roles(rendered.objects, "ada", ("allotment:team-a",)))
    Permissions("ada", ("allotment:team-a",), is_by_roles=True)  # those that the server holds at the time

Without one, all is allowed. A refusal is told in the words of a server that authorizes by RBAC. Facts:
Kubernetes' documentation, "Using RBAC Authorization" and "Authorization Overview".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.kubernetes.testing.answers import RequestError
from allotment.kubernetes.testing.asked import Request
from allotment.kubernetes.testing.bodies import Place

_EVERYONE: Final = ("system:authenticated",)
_OPEN: Final = ("/api", "/apis", "/healthz", "/livez", "/openapi", "/readyz", "/version")
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True)
class Rule:
    """One rule: ``*`` is all. ``namespace`` is where it holds, None for the whole cluster."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    namespace: str | None = None
    names: tuple[str, ...] = ()
    by: str = ""

    def allows(self, verb: str, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether it lets this be done."""
        where = self.namespace is None or self.namespace == namespace
        which = not self.names or name in self.names
        asked = ((verb, self.verbs), (group, self.groups), (resource, self.resources))
        return where and which and all({"*", each} & set(known) for each, known in asked)

    def told(self) -> dict[str, Any]:
        """As a review tells it."""
        found: dict[str, Any] = {
            "verbs": list(self.verbs),
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
        }
        return {**found, "resourceNames": list(self.names)} if self.names else found


@dataclass(frozen=True)
class Permissions:
    """Who asks, and the rules that hold for them."""

    user: str = "admin"
    groups: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = (Rule(("*",), ("*",), ("*",)),)
    is_by_roles: bool = False

    def under(self, objects: Iterable[Mapping[str, Any]]) -> Permissions:
        """The same person under roles and bindings as they are now, where these count."""
        if not self.is_by_roles:
            return self
        return replace(self, rules=of_roles(objects, self.user, self.groups))

    @property
    def all_groups(self) -> list[str]:
        """The groups, with the one that everybody is in."""
        return list(dict.fromkeys((*self.groups, *_EVERYONE)))

    def rule(self, verb: str, group: str, resource: str, namespace: str, name: str) -> Rule | None:
        """The rule by which it is allowed."""
        return next(
            (each for each in self.rules if each.allows(verb, group, resource, namespace, name)), None
        )

    def check_path(self, path: str) -> None:
        """Refuse a path that is no resource's and not for everybody."""
        is_open = any(path == each or path.startswith(f"{each}/") for each in _OPEN)
        is_whole = any("*" in rule.verbs and "*" in rule.resources for rule in self.rules)
        if not is_open and not is_whole:
            raise RequestError(
                403, "Forbidden", f'forbidden: User "{self.user}" cannot get path "{path}"', {}
            )

    def check(self, place: Place, request: Request, *, is_new: bool) -> None:
        """Refuse what is not allowed; an apply to what is not there creates."""
        verb = verb_of(place, request)
        for each in (verb, "create") if request.is_apply and is_new else (verb,):
            self._check(each, place)

    def _check(self, verb: str, place: Place) -> None:
        resource, group = place.resource.plural, place.resource.group
        asked = f"{resource}/{place.subresource}" if place.subresource else resource
        is_namespace = (group, resource) == ("", "namespaces")
        within = place.name if is_namespace else place.namespace  # a namespace is in itself
        if self.rule(verb, group, asked, within, place.name) is not None:
            return
        where = f'in the namespace "{place.namespace}"' if place.namespace else "at the cluster scope"
        named = f'{place.resource.shown} "{place.name}"' if place.name else place.resource.shown
        what = f'{verb} resource "{asked}" in API group "{group}" {where}'
        about = {"name": place.name, "group": group, "kind": resource}
        raise RequestError(
            403,
            "Forbidden",
            f'{named} is forbidden: User "{self.user}" cannot {what}',
            {key: value for key, value in about.items() if value},
        )


def verb_of(place: Place, request: Request) -> str:
    """What is done, as roles name it."""
    if request.method == "GET":
        if request.flag("watch"):
            return "watch"
        return "get" if place.name else "list"
    if request.method == "DELETE":
        return "delete" if place.name else "deletecollection"
    return _VERBS.get(request.method, request.method.lower())


def of_roles(objects: Iterable[Mapping[str, Any]], user: str, groups: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules that roles and their bindings among the objects give to a user."""
    known = list(objects)
    roles = {_key(each): each for each in known if each["kind"] in {"Role", "ClusterRole"}}
    return tuple(rule for each in known if _binds(each, user, groups) for rule in _rules(each, roles))


def _key(role: Mapping[str, Any]) -> tuple[str, str, str]:
    metadata = role["metadata"]
    return role["kind"], metadata.get("namespace", ""), metadata["name"]


def _binds(value: Mapping[str, Any], user: str, groups: Sequence[str]) -> bool:
    if value["kind"] not in {"RoleBinding", "ClusterRoleBinding"}:
        return False
    meant = {("User", user), *(("Group", each) for each in (*groups, *_EVERYONE))}
    return any((each["kind"], each["name"]) in meant for each in value.get("subjects") or ())


def _rules(
    binding: Mapping[str, Any], roles: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> Iterator[Rule]:
    kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
    namespace = binding["metadata"].get("namespace", "")
    role = roles.get((kind, namespace if kind == "Role" else "", name))
    by = f'RBAC: allowed by {binding["kind"]} "{binding["metadata"]["name"]}" of {kind} "{name}"'
    for rule in (role or {}).get("rules") or ():
        yield Rule(
            tuple(rule.get("apiGroups") or ()),
            tuple(rule.get("resources") or ()),
            tuple(rule["verbs"]),
            namespace or None,
            tuple(rule.get("resourceNames") or ()),
            by,
        )
