"""What a server refuses, warns of and takes: fields, types, names, versions, and how each is told."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.answers import Answer

MAPS = "/api/v1/namespaces/team/configmaps"
JOBS = "/apis/batch/v1/namespaces/team/jobs"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaims"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/team/leases"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
TWICE = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: '1'\n  k: '2'\n"


@pytest.fixture
def server() -> FakeApiServer:
    server = FakeApiServer()
    server.add_namespace("team")
    return server


def job(**spec: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}
    return {"metadata": {"name": "j"}, "spec": {"template": {"spec": pod}, **spec}}


def causes(answer: Answer) -> set[tuple[str, str]]:
    return {(each["field"], each["reason"]) for each in answer.body["details"]["causes"]}


@pytest.mark.parametrize(
    ("level", "status", "warned"), [("Strict", 400, 0), ("Warn", 201, 1), ("Ignore", 201, 0)]
)
def test_a_field_that_is_unknown_is_told_as_the_request_asks(
    server: FakeApiServer, level: str, status: int, warned: int
) -> None:
    answer = server.request(
        "POST", MAPS, {"fieldValidation": level}, body={"metadata": {"name": "a"}, "dta": {}}
    )
    assert (answer.status, len(answer.warnings)) == (status, warned)
    if status == 400:
        assert answer.body["message"].endswith('strict decoding error: unknown field "dta"')


@pytest.mark.parametrize(
    ("level", "status", "warned"), [("Strict", 400, 0), ("Warn", 201, 1), ("Ignore", 201, 0)]
)
def test_a_key_that_is_twice_in_an_apply_is_told_as_the_request_asks(
    server: FakeApiServer, level: str, status: int, warned: int
) -> None:
    answer = server.request(
        "PATCH", f"{MAPS}/a", {"fieldManager": "m", "fieldValidation": level}, APPLY, TWICE
    )
    assert (answer.status, len(answer.warnings)) == (status, warned)


def test_times_in_yaml_stay_texts(server: FakeApiServer) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {day: '2026-01-01'}\n"
    text = body.replace(b"data: {day: '2026-01-01'}", b"metadata: {name: a, annotations: {day: 2026-01-01}}")
    answer = server.request("PATCH", f"{MAPS}/a", {"fieldManager": "m"}, APPLY, text)
    assert answer.body["metadata"]["annotations"] == {"day": "2026-01-01"}


@pytest.mark.parametrize(
    ("path", "body", "place", "reason"),
    [
        (MAPS, {"metadata": {"name": "A"}}, "metadata.name", "FieldValueInvalid"),
        (MAPS, {"metadata": {"name": "a"}, "data": {"a b": "1"}}, "data[a b]", "FieldValueInvalid"),
        (MAPS, {"metadata": {"name": "a"}, "data": {"k": "x" * (2**20 + 1)}}, "[]", "FieldValueTooLong"),
        (JOBS, job(completionMode="Indexed", parallelism=2), "spec.completions", "FieldValueRequired"),
        (JOBS, job(backoffLimitPerIndex=1), "spec.backoffLimitPerIndex", "FieldValueInvalid"),
        (JOBS, job(parallelism=-1), "spec.parallelism", "FieldValueInvalid"),
        (CLAIMS, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "gpu"}]}}},
         "spec.devices.requests[0]", "FieldValueRequired"),
        (LEASES, {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}},
         "spec.leaseDurationSeconds", "FieldValueInvalid"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_with_its_place(
    server: FakeApiServer, path: str, body: Any, place: str, reason: str
) -> None:
    answer = server.request("POST", path, body=body)
    assert answer.status == 422
    assert (place, reason) in causes(answer)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        (
            MAPS,
            {"metadata": {"name": "a"}, "data": {"k": 1}},
            "number into Go struct field ConfigMap.data of type string",
        ),
        (JOBS, job(parallelism="two"), "string into Go struct field JobSpec.spec.parallelism of type int32"),
        (LEASES, {"metadata": {"name": "l"}, "spec": {"renewTime": "now"}}, 'parsing time "now"'),
    ],
)
def test_what_has_another_type_is_no_object(server: FakeApiServer, path: str, body: Any, words: str) -> None:
    answer = server.request("POST", path, body=body)
    assert answer.status == 400
    assert words in answer.body["message"]


def test_a_lease_is_taken_by_whoever_has_its_present_version(server: FakeApiServer) -> None:
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}}
    first = server.request("POST", LEASES, body=lease).body
    taken = {**first, "spec": {**first["spec"], "holderIdentity": "b"}}
    late = {**first, "spec": {**first["spec"], "holderIdentity": "c"}}
    assert server.request("PUT", f"{LEASES}/l", body=taken).status == 200
    assert server.request("PUT", f"{LEASES}/l", body=late).status == 409
    assert server.request("GET", f"{LEASES}/l").body["spec"]["holderIdentity"] == "b"


def test_a_dry_run_is_answered_as_the_real_one_and_leaves_nothing(server: FakeApiServer) -> None:
    tried = server.request("POST", JOBS, {"dryRun": "All"}, body=job())
    assert (tried.status, tried.body["spec"]["backoffLimit"]) == (201, 6)
    assert "resourceVersion" not in tried.body["metadata"]
    assert server.request("GET", f"{JOBS}/j").status == 404


@pytest.mark.parametrize(("amount", "kept"), [("1000m", "1"), ("1024Mi", "1Gi"), ("0.5", "500m")])
def test_amounts_are_kept_in_one_form(server: FakeApiServer, amount: str, kept: str) -> None:
    body = job()
    body["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "limits": {"example.com/x": "1", "memory": amount}
    }
    answer = server.request("POST", JOBS, body=body)
    container = answer.body["spec"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"]["memory"] == kept


@pytest.mark.parametrize(("version", "kept"), [("1.35", False), ("1.36", True)])
def test_fields_of_devices_whose_gate_is_off_are_dropped_without_a_word(version: str, *, kept: bool) -> None:
    server = FakeApiServer(version)
    body = {"metadata": {"name": "gpu-x"}, "spec": {"extendedResourceName": "example.org/x"}}
    asked = {"fieldValidation": "Strict"}
    answer = server.request("POST", "/apis/resource.k8s.io/v1/deviceclasses", asked, body=body)
    assert (answer.status, answer.warnings) == (201, [])
    assert ("extendedResourceName" in answer.body["spec"]) is kept
