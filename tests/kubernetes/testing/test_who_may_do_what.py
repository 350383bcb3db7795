"""A fake server that is told who asks: reviews of oneself, refusals in a server's words, rules by roles."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.permissions import Permissions, Rule, of_roles
from allotment.kubernetes.testing.transport import FakeTransport

REVIEWS = "/apis/authorization.k8s.io/v1"
VIEWER = Permissions(
    "viewer",
    ("readers",),
    (
        Rule(("",), ("configmaps",), ("get", "list", "watch", "patch"), "team-a"),
        Rule(("batch",), ("jobs",), ("*",), "team-a", names=("mine",)),
        Rule(("",), ("nodes",), ("list",)),
    ),
)


def server_of(permissions: Permissions | None = VIEWER) -> FakeApiServer:
    server = FakeApiServer(permissions=permissions)
    server.add_namespace("team-a")
    return server


@pytest.mark.parametrize(
    ("asked", "is_allowed"),
    [
        (("get", "", "configmaps", "team-a", "x"), True),
        (("get", "", "configmaps", "team-b", "x"), False),
        (("delete", "", "configmaps", "team-a", "x"), False),
        (("delete", "batch", "jobs", "team-a", "mine"), True),
        (("delete", "batch", "jobs", "team-a", "other"), False),
        (("list", "", "nodes", "", ""), True),
        (("list", "", "nodes", "team-a", ""), True),
        (("get", "", "pods/log", "team-a", "x"), False),
    ],
)
def test_a_review_says_whether_something_may_be_done(asked: tuple[str, ...], is_allowed: bool) -> None:
    verb, group, resource, namespace, name = asked
    resource, _, sub = resource.partition("/")
    about = {"group": group, "resource": resource, "subresource": sub, "namespace": namespace, "name": name}
    review = {"spec": {"resourceAttributes": {"verb": verb, **about}}}
    answer = Client(FakeTransport(server_of())).ask(f"{REVIEWS}/selfsubjectaccessreviews", review)
    assert answer["status"]["allowed"] is is_allowed
    assert answer["spec"] == review["spec"]


def test_a_review_says_who_asks() -> None:
    told = Client(FakeTransport(server_of())).ask("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert told["status"]["userInfo"] == {"username": "viewer", "groups": ["readers", "system:authenticated"]}


def test_a_review_says_what_may_be_done_here() -> None:
    client = Client(FakeTransport(server_of()))
    told = client.ask(f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": "team-b"}})
    assert [rule["resources"] for rule in told["status"]["resourceRules"]] == [["nodes"]]


def test_without_permissions_all_is_allowed() -> None:
    client = Client(FakeTransport(server_of(None)))
    review = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}}
    assert client.ask(f"{REVIEWS}/selfsubjectaccessreviews", review)["status"]["allowed"]


IN_TEAM = 'in the namespace "team-a"'
REFUSED = [
    ("DELETE", "/api/v1/namespaces/team-a/configmaps/x", 'configmaps "x"',
     f'delete resource "configmaps" in API group "" {IN_TEAM}'),
    ("POST", "/apis/batch/v1/namespaces/team-a/jobs", "jobs.batch",
     f'create resource "jobs" in API group "batch" {IN_TEAM}'),
    ("GET", "/apis/resource.k8s.io/v1/resourceslices", "resourceslices.resource.k8s.io",
     'list resource "resourceslices" in API group "resource.k8s.io" at the cluster scope'),
    ("GET", "/api/v1/namespaces/team-a/pods/p/log", 'pods "p"',
     f'get resource "pods/log" in API group "" {IN_TEAM}'),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "what", "cannot"), REFUSED)
def test_what_is_not_allowed_is_refused_in_a_servers_words(
    method: str, path: str, what: str, cannot: str
) -> None:
    answer = server_of().request(method, path, body={"metadata": {"name": "x"}})
    said = f'{what} is forbidden: User "viewer" cannot {cannot}'
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (403, "Forbidden", said)


def test_a_path_of_no_resource_is_for_those_who_may_do_all() -> None:
    answer = server_of().request("GET", "/metrics")
    assert (answer.status, answer.body["message"]) == (
        403,
        'forbidden: User "viewer" cannot get path "/metrics"',
    )
    assert server_of().request("GET", "/version").status == 200


def test_an_apply_to_what_is_not_there_needs_leave_to_create() -> None:
    server, value = server_of(), {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "1"}}
    client = Client(FakeTransport(server))
    with pytest.raises(ApiError, match="`viewer` may not create configmaps in namespace `team-a`"):
        client.apply({**value, "metadata": {"name": "x", "namespace": "team-a"}}, manager="allotment")
    made = {**value, "metadata": {"name": "x"}}
    assert server.play("POST", "/api/v1/namespaces/team-a/configmaps", body=made).status == 201
    client.apply({**value, "metadata": {"name": "x", "namespace": "team-a"}}, manager="allotment")


def test_roles_and_bindings_make_the_rules_that_they_give() -> None:
    def binding(
        kind: str, role_kind: str, role: str, subject: dict[str, str], **where: str
    ) -> dict[str, Any]:
        return {
            "kind": kind,
            "metadata": {"name": "b", **where},
            "roleRef": {"kind": role_kind, "name": role},
            "subjects": [subject],
        }

    def role(kind: str, name: str, verb: str, **where: str) -> dict[str, Any]:
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": [verb]}]
        return {"kind": kind, "metadata": {"name": name, **where}, "rules": rules}

    team = {"kind": "Group", "name": "allotment:a"}
    objects = [
        role("Role", "r", "list", namespace="team-a"),
        role("Role", "r", "delete", namespace="team-b"),
        role("ClusterRole", "c", "watch"),
        binding("RoleBinding", "Role", "r", team, namespace="team-a"),
        binding("RoleBinding", "ClusterRole", "c", {"kind": "User", "name": "ada"}, namespace="team-b"),
        binding("ClusterRoleBinding", "ClusterRole", "c", {"kind": "Group", "name": "others"}),
    ]
    rules = of_roles(objects, "ada", ("allotment:a",))
    assert [(rule.verbs, rule.namespace) for rule in rules] == [(("list",), "team-a"), (("watch",), "team-b")]


def test_an_object_can_be_looked_for_without_leave_to_list() -> None:
    client = Client(FakeTransport(server_of()))
    assert client.get(kinds.CONFIG_MAP, "x", "team-a") is None


def test_roles_that_the_server_holds_count_from_the_next_request_on() -> None:
    people = {"v": Permissions("viewer", is_by_roles=True), "a": Permissions("admin", ("system:masters",))}
    server = FakeApiServer(tokens=people)
    server.add_namespace("team-a")
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a"
    maps = "/api/v1/namespaces/team-a/configmaps"

    def as_(token: str, method: str, path: str, body: Any = b"") -> int:
        return server.request(method, path, headers={"Authorization": f"Bearer {token}"}, body=body).status

    assert as_("v", "GET", maps) == 403
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
    assert as_("a", "POST", f"{rbac}/roles", {"metadata": {"name": "r"}, "rules": rules}) == 201
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    subject = {"kind": "User", "name": "viewer", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "r"}, "roleRef": reference, "subjects": [subject]}
    assert as_("a", "POST", f"{rbac}/rolebindings", binding) == 201
    assert as_("v", "GET", maps) == 200
    assert as_("nobody", "GET", maps) == as_("nobody", "GET", "/healthz") == 401
