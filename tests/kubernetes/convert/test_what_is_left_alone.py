"""Counts that cannot become claims stay, with the reason; and what else there is to know is said."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from allotment.errors import FindingsError
from allotment.kubernetes.convert import Asked, Verdict, convert

CLAIMS = Asked((1, 36))


def _pod(limits: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    resources = more.pop("resources", {"limits": limits or {"nvidia.com/gpu": 1}})
    container = {"name": "main", "image": "i", "resources": resources}
    metadata = more.pop("metadata", {"name": "p"})
    spec = {"containers": [container], **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (_pod({"nvidia.com/gpu.shared": 1}), "replicas of shared cards"),
        (_pod({"nvidia.com/mig-1g.10gb.shared": 1}), "replicas of shared cards"),
        (_pod({"nvidia.com/gpu": 1, "nvidia.com/gpucores": 30}), "a card that is counted a part of one"),
        (_pod({"nvidia.com/gpu": 1}, nodeSelector={"nvidia.com/gpu.replicas": "4"}), "in replicas"),
        (_pod({"nvidia.com/gpu": 33}), "at most 32 devices"),
        (_pod({"nvidia.com/gpu": "1.5"}), "no whole number"),
        (_pod(resources={"requests": {"nvidia.com/gpu": 1}}), "without a limit"),
        (
            _pod(resources={"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}}),
            "request and limit of `nvidia.com/gpu` differ",
        ),
        (_pod(nodeName="node-7"), "passes the scheduler by"),
        (_pod({"nvidia.com/mig-1g.10gb": 1}, schedulerName="kai-scheduler"), "KAI"),
        (_pod(metadata={"name": "p", "annotations": {"gpu-memory": "2000"}}), "`gpu-memory: 2000`"),
        (_pod({"huawei.com/npu": 1}), "not known which devices"),
    ],
)
def test_a_count_that_cannot_become_a_claim_stays(value: dict[str, Any], words: str) -> None:
    text = yaml.safe_dump(value)
    done = convert(text, "pod.yaml", CLAIMS)
    assert done.text == text
    assert not done.is_whole
    assert words in " ".join(done.outcomes[0].kept)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (_pod(schedulerName="volcano"), "`schedulerName: volcano` stays"),
        (_pod(nodeSelector={"nvidia.com/gpu.count": "8"}), "`nvidia.com/gpu.count` stays"),
        (_pod(nodeSelector={"cloud.google.com/gke-accelerator": "nvidia-l4"}), "it is about nodes"),
        (_pod(metadata={"name": "p", "labels": {"kueue.x-k8s.io/queue-name": "q"}}), "deviceClassMappings"),
    ],
)
def test_what_stays_beside_a_claim_is_said(value: dict[str, Any], words: str) -> None:
    done = convert(yaml.safe_dump(value), "pod.yaml", CLAIMS)
    assert done.outcomes[0].verdict is Verdict.CONVERTED
    assert words in " ".join(done.outcomes[0].notes)


def test_a_count_of_nothing_stays() -> None:
    done = convert(yaml.safe_dump(_pod({"nvidia.com/gpu": 0})), "pod.yaml", CLAIMS)
    assert not done.is_changed
    assert done.outcomes[0].verdict is Verdict.NOTED


@pytest.mark.parametrize(
    ("version", "verdict"),
    [((1, 33), Verdict.KEPT), ((1, 34), Verdict.HONOURED), ((1, 37), Verdict.HONOURED)],
)
def test_counts_are_honoured_from_a_version_on(version: tuple[int, int], verdict: Verdict) -> None:
    done = convert(yaml.safe_dump(_pod()), "pod.yaml", Asked(version, as_claims=False))
    assert done.outcomes[0].verdict is verdict


def test_claims_begin_with_a_version() -> None:
    done = convert(yaml.safe_dump(_pod()), "pod.yaml", Asked((1, 33)))
    assert "begin with Kubernetes 1.34" in done.outcomes[0].kept[0]


def test_a_profile_needs_a_class_of_its_own() -> None:
    text = yaml.safe_dump(_pod({"nvidia.com/mig-1g.10gb.me": 1}))
    (made,) = convert(text, "pod.yaml", Asked((1, 36), as_claims=False)).classes
    assert made.extended_resource_name == "nvidia.com/mig-1g.10gb.me"
    assert "'1g.10gb+me'" in made.selectors[-1]


def test_a_product_that_is_a_slice_is_claimed_as_one() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}
    done = convert(yaml.safe_dump(_pod(nodeSelector=labels)), "pod.yaml", CLAIMS)
    template, pod = yaml.safe_load_all(done.text)
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == "mig.nvidia.com"
    assert "== '1g.5gb'" in request["exactly"]["selectors"][0]["cel"]["expression"]
    assert "nodeSelector" not in pod["spec"]


def test_slices_that_are_counted_as_cards_are_no_cards_to_a_class() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}
    done = convert(yaml.safe_dump(_pod(nodeSelector=labels)), "pod.yaml", Asked((1, 37), as_claims=False))
    assert "under the name of cards" in done.outcomes[0].kept[0]


def test_two_resources_of_one_class_share_a_quota() -> None:
    limits = {"nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-2g.20gb": 1}
    pod = _pod(limits, metadata={"name": "p", "labels": {"kueue.x-k8s.io/queue-name": "q"}})
    notes = " ".join(convert(yaml.safe_dump(pod), "pod.yaml", CLAIMS).outcomes[0].notes)
    assert notes.count("deviceClassMappings") == 2
    assert "share one quota" in notes


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {nvidia.com/gpu: 1}\nb: *x\n",
        "kind: Pod\nkind: Pod\nlimits: {nvidia.com/gpu: 1}\n",
    ],
)
def test_a_text_that_cannot_be_edited_is_left_alone_aloud(text: str) -> None:
    done = convert(text, "a.yaml", CLAIMS)
    assert done.text == text
    assert "it may count GPUs" in done.outcomes[0].kept[0]


def test_a_template_of_helm_is_told_to_be_rendered_first() -> None:
    text = "kind: Pod\n---\n{{- if .Values.gpu }}\nname: p\n{{- end }}\n"
    with pytest.raises(FindingsError, match=r"pod.yaml:3:\d+ error yaml-syntax: .*render it first"):
        convert(text, "pod.yaml", CLAIMS)


def test_names_that_are_taken_are_not_taken_again() -> None:
    taken = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "p-gpu"},
    }
    text = yaml.safe_dump_all([taken, _pod(), _pod()])
    names = [
        each["spec"]["resourceClaims"][0]["resourceClaimTemplateName"]
        for each in yaml.safe_load_all(convert(text, "a.yaml", CLAIMS).text)
        if each["kind"] == "Pod"
    ]
    assert names == ["p-gpu-2", "p-gpu-3"]
