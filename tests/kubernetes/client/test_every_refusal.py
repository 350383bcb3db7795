"""Every refusal of a cluster: its sentence, its remedy, and whose fault it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client, Reply
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.custom_kinds import KUEUE
from allotment.kubernetes.testing.permissions import Permissions, Rule
from allotment.kubernetes.testing.transport import FakeTransport

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "letters", "namespace": "team-a"}}


class Answering:
    """A transport that answers always the same."""

    name = "blue"

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.reply = Reply(status, headers or {}, data)

    def sleep(self, seconds: float) -> None: ...

    def send(self, *_: Any) -> Reply:
        return self.reply

    def stream(self, *_: Any) -> tuple[Reply, Iterator[bytes]]:
        return self.reply, iter(self.reply.body.splitlines(keepends=True))


def refused(status: int, body: Any, headers: Mapping[str, str] | None = None) -> ApiError:
    """What is raised when a Job is applied and answered so."""
    client = Client(Answering(status, body, headers), jitter=lambda: 0.0)
    with pytest.raises(ApiError) as caught:
        client.apply(JOB, manager="allotment")
    return caught.value


def status(code: int, reason: str, message: str, **details: Any) -> dict[str, Any]:
    told = {"kind": "Status", "code": code, "message": message, "details": details}
    return {**told, "reason": reason} if reason else told


def cause(field: str, message: str, reason: str = "FieldValueInvalid") -> dict[str, str]:
    return {"field": field, "message": message, "reason": reason}


ABOUT = {"name": "letters", "group": "batch", "kind": "jobs"}
THE_JOB = "the Job `letters` of namespace `team-a`"
WHO = 'jobs.batch is forbidden: User "ada" cannot'
CASES: dict[str, tuple[dict[str, Any], str, str, int]] = {
    "not known": (status(401, "Unauthorized", "no"), "it does not know who asks", "log in again", 3),
    "not allowed": (
        status(403, "Forbidden", f'{WHO} patch resource "jobs" in API group "batch"', **ABOUT),
        "`ada` may not patch jobs.batch in namespace `team-a`",
        "the Role `allotment-apply` of `allot render --platform-objects` allows it to the group",
        1,
    ),
    "nobody asks": (
        status(403, "Forbidden", 'jobs.batch is forbidden: User "system:anonymous" cannot patch resource'),
        "`system:anonymous` may not patch jobs.batch",
        "the context says not who asks",
        1,
    ),
    "a namespace goes": (
        status(
            403, "Forbidden", "jobs is forbidden: unable",
            causes=[cause("metadata.namespace", "is being terminated", "NamespaceTerminating")], **ABOUT,
        ),
        f"{THE_JOB} cannot be written: its namespace is being deleted",
        "kubectl get namespace team-a",
        1,
    ),
    "a policy": (
        status(
            422, "Invalid", "jobs.batch \"letters\" is forbidden: ValidatingAdmissionPolicy 'allotment' with "
            "binding 'b' denied request: the queue is not the team's", causes=[{"message": "x"}], **ABOUT,
        ),
        f"{THE_JOB} was refused by the admission policy `allotment`: the queue is not the team's",
        "change what it names",
        1,
    ),
    "a webhook": (
        status(403, "Forbidden", 'admission webhook "vjob.kb.io" denied the request: spec.parallelism: no'),
        f"{THE_JOB} was refused by the admission webhook `vjob.kb.io`: spec.parallelism: no",
        "change what it names",
        1,
    ),
    "a webhook that asks otherwise": (
        status(400, "BadRequest", 'admission webhook "x" denied the request: no'),
        "admission webhook `x`: no",
        "change what it names",
        1,
    ),
    "a quota": (
        status(403, "Forbidden", 'jobs.batch "letters" is forbidden: exceeded quota: q, used: 1', **ABOUT),
        f"{THE_JOB} was refused: exceeded quota: q, used: 1",
        "whoever runs the cluster",
        1,
    ),
    "no namespace": (
        status(404, "NotFound", 'namespaces "team-a" not found', name="team-a", kind="namespaces"),
        "there is no namespace `team-a`",
        "allot render --platform-objects",
        1,
    ),
    "no kind": (
        status(404, "NotFound", "the server could not find the requested resource"),
        "it does not serve jobs.batch of batch/v1",
        "kubectl api-resources --api-group=batch",
        3,
    ),
    "owned": (
        status(
            409, "Conflict", "Apply failed with 2 conflicts",
            causes=[
                cause(".spec.suspend", 'conflict with "kueue" using batch/v1', "FieldManagerConflict"),
                cause(".spec.parallelism", 'conflict with "kueue"', "FieldManagerConflict"),
            ],
        ),
        f"{THE_JOB} has fields that others own: `kueue` owns .spec.suspend, .spec.parallelism",
        "leave these fields to them",
        1,
    ),
    "changed": (
        status(409, "Conflict", "Operation cannot be fulfilled: the object has been modified", **ABOUT),
        f"{THE_JOB} was changed by somebody else meanwhile",
        "nothing was written",
        1,
    ),
    "there": (
        status(409, "AlreadyExists", 'jobs.batch "letters" already exists', **ABOUT),
        f"{THE_JOB} is there already",
        "look at it",
        1,
    ),
    "gone on": (status(410, "Expired", "too old"), "changed faster than it could be read", "again", 3),
    "too large": (
        status(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
        f"{THE_JOB} is too large, with",
        "split the campaign",
        1,
    ),
    "not valid": (
        status(
            422, "Invalid", "Job.batch is invalid",
            causes=[cause("spec.completions", "Invalid value: 8:\n no"), cause("spec.x", "Required value")],
            **ABOUT,
        ),
        f"{THE_JOB} is not valid:\n  spec.completions: Invalid value: 8: no\n  spec.x: Required value",
        "mend what is named",
        1,
    ),
    "not read": (
        status(400, "BadRequest", 'strict decoding error: unknown field "spec.foo"'),
        f'{THE_JOB} was refused as it stands: strict decoding error: unknown field "spec.foo"',
        "versions.kubernetes",
        1,
    ),
    "not read by an apply": (
        status(500, "", "failed to create typed patch object: .spec.foo: field not declared in schema"),
        "was refused as it stands: failed to create typed patch object",
        "versions.kubernetes",
        1,
    ),
    "busy": (
        status(429, "TooManyRequests", "later"),
        "it has too much to do and asks to wait for 2 s (4 tries)",
        "later",
        3,
    ),
    "webhook down": (
        status(
            500, "InternalError", 'Internal error occurred: failed calling webhook "mjob.kb.io": failed to '
            'call webhook: Post "https://x": dial tcp: connection refused',
        ),
        f"{THE_JOB} waits on the webhook `mjob.kb.io`, which does not answer: failed to call",
        "kueue-system",
        3,
    ),
    "slow store": (
        status(500, "InternalError", "Internal error occurred: etcdserver: request timed out"),
        "it failed within, with 500: Internal error occurred: etcdserver: request timed out (4 tries)",
        "later",
        3,
    ),
    "shutting down": (status(503, "ServiceUnavailable", "bye"), "failed within, with 503: bye", "later", 3),
    "wrong method": (status(405, "MethodNotAllowed", "no"), "was refused as it stands: no", "release", 1),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_is_one_sentence_and_a_remedy(case: str) -> None:
    body, what, remedy, exit_code = CASES[case]
    headers = {"retry-after": "2"} if body["code"] == 429 else {}
    error = refused(body["code"], body, headers)
    assert what in error.what
    assert remedy in error.remedy
    assert error.exit_code == exit_code
    assert (error.where, error.status, error.message) == ("cluster blue", body["code"], body["message"])


@pytest.mark.parametrize(
    ("message", "path", "what", "remedy"),
    [
        (
            'conversion webhook for kueue.x-k8s.io/v1beta1, Kind=Workload failed: Post "https://x": refused',
            kinds.WORKLOAD.path("team-a"),
            "waits on the webhook that converts kueue.x-k8s.io/v1beta1, Kind=Workload, which does not answer",
            "kueue-system",
        ),
        (
            'Get "https://10.0.0.1:10250/containerLogs/team-a/p/work": dial tcp: connection refused',
            kinds.POD.path("team-a", "p", "log"),
            "the node of the Pod `p` of namespace `team-a` does not give its log: Get",
            "kubectl get nodes",
        ),
        ("etcd is gone", kinds.JOB.path("team-a"), "it failed within, with 500: etcd is gone", "later"),
    ],
)
def test_a_read_that_fails_is_tried_again_and_told_by_what_is_down(
    message: str, path: str, what: str, remedy: str
) -> None:
    client = Client(Answering(500, status(500, "", message)), jitter=lambda: 0.0)
    with pytest.raises(ApiError) as caught:
        list(client.lines(path, {}))
    assert what in caught.value.what
    assert "(4 tries)" in caught.value.what
    assert remedy in caught.value.remedy
    assert caught.value.exit_code == 3


def test_a_conflict_names_managers_and_their_fields() -> None:
    error = refused(409, CASES["owned"][0])
    assert error.is_conflict
    assert error.causes == (("kueue", ".spec.suspend"), ("kueue", ".spec.parallelism"))
    assert refused(422, CASES["not valid"][0]).causes[1] == ("spec.x", "Required value")
    assert not refused(409, CASES["changed"][0]).is_conflict


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (kinds.WORKLOAD, "Kueue is not installed, or older than 0.17"),
        (kinds.KAI_QUEUE, "KAI is not installed, or older than 0.10"),
        (kinds.TAINT_RULE, "Kubernetes is older than 1.34, or the feature is off"),
        (kinds.GANG_WORKLOADS[0], "gangs of this version are off"),
    ],
)
def test_a_kind_that_is_not_served_is_told_by_what_would_serve_it(kind: kinds.Kind, why: str) -> None:
    with pytest.raises(ApiError, match=why) as caught:
        Client(FakeTransport(FakeApiServer())).listed(kind)
    assert (caught.value.status, caught.value.exit_code, caught.value.is_absence) == (404, 3, False)
    assert kind.api_version in caught.value.what


@pytest.mark.parametrize(
    ("kind", "namespace", "remedy"),
    [
        (kinds.JOB, "team-a", "the Role `allotment-apply`"),
        (kinds.JOB, None, "in its namespace alone: name a team with --team"),
        (kinds.NODE, None, "the ClusterRole `allotment-read`"),
        (kinds.CLUSTER_QUEUE, None, "the ClusterRole `allotment-read`"),
        (kinds.SECRET, "team-a", "no role of a team allows it"),
    ],
)
def test_whoever_may_not_is_told_which_role_would_let_them(
    kind: kinds.Kind, namespace: str | None, remedy: str
) -> None:
    server = FakeApiServer(permissions=Permissions("ada", rules=()), kinds=KUEUE)
    with pytest.raises(ApiError, match=f"`ada` may not list {kind.shown}") as caught:
        Client(FakeTransport(server)).listed(kind, namespace)
    assert remedy in caught.value.remedy


def test_a_log_needs_leave_of_its_own() -> None:
    server = FakeApiServer(permissions=Permissions("ada", rules=(Rule(("",), ("pods",), ("*",)),)))
    with pytest.raises(ApiError, match="`ada` may not get pods/log in namespace `team-a`") as caught:
        list(Client(FakeTransport(server)).log("p", "team-a"))
    assert "the Role `allotment-apply`" in caught.value.remedy


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["message", "details", "causes", "kind", "name", "field", "code"]), inner
    ),
    max_leaves=12,
)  # fmt: skip


@example(409, {"reason": "Conflict", "details": []})
@given(
    code=st.sampled_from(
        [301, 400, 401, 403, 404, 405, 409, 410, 413, 415, 418, 422, 429, 500, 502, 503, 504]
    ),
    body=st.binary(max_size=40)
    | JSON
    | st.builds(
        lambda reason, details: {"reason": reason, "details": details},
        st.sampled_from(["Conflict", "NotFound", "Forbidden", "Invalid", 7]),
        JSON | st.fixed_dictionaries({"name": JSON, "kind": JSON, "causes": JSON | st.lists(JSON)}),
    ),
)
def test_whatever_comes_is_told_and_nothing_breaks(code: int, body: Any) -> None:
    error = refused(code, body)
    assert error.what
    assert error.remedy
    assert error.exit_code in {1, 3}
    assert str(error)
