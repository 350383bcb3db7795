"""What always holds, tried on made-up manifests in every style of YAML: once is enough, the rest stays."""

from __future__ import annotations

import copy
import json
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from allotment.kubernetes.convert import Asked, Verdict, convert

CLAIMS = Asked((1, 36))
GPUS = ("nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "amd.com/gpu")
WORDS = (
    *("apiVersion", "kind", "items", "metadata", "labels", "name", "spec", "containers", "initContainers"),
    *("resources", "limits", "requests", "claims", "resourceClaims", "nodeSelector", "affinity", "env"),
    *("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", "key", "values"),
    *("matchExpressions", "operator", "tolerations", "nvidia.com/gpu", "nvidia.com/gpu.product"),
)
PLAIN = st.dictionaries(st.sampled_from(["cpu", "memory", "example.com/nic"]), st.integers(1, 9), max_size=2)
LABELS = st.dictionaries(
    st.sampled_from(["zone", "nvidia.com/gpu.product", "nvidia.com/gpu.present", "nvidia.com/gpu.count"]),
    st.sampled_from(["NVIDIA-L4", "true", "8"]),
    max_size=3,
)


@st.composite
def pods(draw: st.DrawFn, *, counting: bool) -> dict[str, Any]:
    """The spec of a pod; each of its containers may count."""

    def container(name: str) -> dict[str, Any]:
        made: dict[str, Any] = {"name": name, "image": "i"}
        counts = (
            draw(st.dictionaries(st.sampled_from(GPUS), st.integers(1, 3), max_size=2)) if counting else {}
        )
        limits = {**draw(PLAIN), **counts}
        if limits:
            made["resources"] = {"limits": limits}
            if draw(st.booleans()):
                made["resources"]["requests"] = dict(limits)
        return draw(st.permutations(list(made.items())).map(dict))

    spec: dict[str, Any] = {"containers": [container(f"c{n}") for n in range(draw(st.integers(1, 2)))]}
    if draw(st.booleans()):
        spec["initContainers"] = [container("first")]
    if labels := draw(LABELS):
        spec["nodeSelector"] = labels
    return draw(st.permutations(list(spec.items())).map(dict))


@st.composite
def texts(draw: st.DrawFn, *, counting: bool) -> str:
    """A stream of one or two objects, in some style."""
    objects: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{n}"},
            "spec": draw(pods(counting=counting)),
        }
        for n in range(draw(st.integers(1, 2)))
    ]
    if draw(st.booleans()):
        objects = [{"apiVersion": "v1", "kind": "List", "items": objects}]
    if draw(st.booleans()):
        return "---\n".join(
            json.dumps(each, indent=draw(st.sampled_from([None, 1, 4]))) + "\n" for each in objects
        )
    style = draw(st.sampled_from([None, False, True]))
    indent = draw(st.sampled_from([2, 3, 4]))
    text: str = yaml.safe_dump_all(
        objects, default_flow_style=style, indent=indent, sort_keys=False, width=60
    )
    if draw(st.booleans()):
        text = "".join(f"{line}  # said\n" for line in text.splitlines())
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text.rstrip() if draw(st.booleans()) else text


@given(texts(counting=True))
def test_everything_counted_is_claimed_and_the_rest_is_as_it_was(text: str) -> None:
    done = convert(text, "a.yaml", CLAIMS)
    assert all(each.verdict is Verdict.CONVERTED and not each.kept for each in done.outcomes)
    before, after = _pods(text), _pods(done.text)
    assert [_rest(each) for each in after] == [_rest(each) for each in before]
    assert not any(
        gpu in json.dumps(after) for gpu in ('"amd.com/gpu"', '"nvidia.com/mig', '"nvidia.com/gpu"')
    )
    assert all(change.reasons for change in done.changes if change.sign != " ")


@given(texts(counting=True))
def test_as_many_devices_are_claimed_as_were_counted(text: str) -> None:
    done = convert(text, "a.yaml", CLAIMS)
    made = [each for each in _objects(done.text) if each["kind"] == "ResourceClaimTemplate"]
    claimed = sum(
        request["exactly"]["count"]
        for each in made
        for request in each["spec"]["spec"]["devices"]["requests"]
    )
    assert claimed == sum(_counted(each) for each in _pods(text))


@given(texts(counting=True))
def test_once_is_enough(text: str) -> None:
    once = convert(text, "a.yaml", CLAIMS).text
    assert convert(once, "a.yaml", CLAIMS).text == once


@given(texts(counting=False))
def test_what_counts_nothing_is_given_back_byte_for_byte(text: str) -> None:
    done = convert(text, "a.yaml", CLAIMS)
    assert done.text == text
    assert not done.is_changed


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "nvidia.com/gpu", "In"]),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)
        ),
        max_leaves=12,
    )
)
def test_what_is_no_manifest_is_no_defect_of_ours(value: object) -> None:
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    given_spec = value if isinstance(value, dict) else {"affinity": value, "nodeSelector": value}
    spec = {"containers": [container, value], **given_spec}
    for each in ({"apiVersion": "v1", "kind": "Pod", "metadata": value, "spec": spec}, value):
        text = json.dumps(each)
        once = convert(text, "a.yaml", CLAIMS).text
        assert convert(once, "a.yaml", CLAIMS).text == once


def _objects(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for document in yaml.safe_load_all(text):
        found += document["items"] if document["kind"] == "List" else [document]
    return found


def _pods(text: str) -> list[dict[str, Any]]:
    return [each for each in _objects(text) if each["kind"] == "Pod"]


def _counted(pod: dict[str, Any]) -> int:
    """The most of the init container and of the sum of the others, for each resource."""
    total = 0
    for gpu in GPUS:
        first, others = (
            [each.get("resources", {}).get("limits", {}).get(gpu, 0) for each in pod["spec"].get(key, [])]
            for key in ("initContainers", "containers")
        )
        total += max(max(first, default=0), sum(others))
    return total


def _rest(pod: dict[str, Any]) -> dict[str, Any]:
    pod = copy.deepcopy(pod)
    spec = pod["spec"]
    spec.pop("resourceClaims", None)
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        resources = container.pop("resources", {})
        kept = {
            part: {key: value for key, value in resources.get(part, {}).items() if key not in GPUS}
            for part in ("limits", "requests")
        }
        container["resources"] = {part: said for part, said in kept.items() if said}
    labels = spec.pop("nodeSelector", {})
    spec["nodeSelector"] = {
        key: value for key, value in labels.items() if "product" not in key and "present" not in key
    }
    return pod
