"""Claims on devices, as KAI counts them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.scheduling.kai import Bound, Memory, Ties, Waits, decide
from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.session import Session
from allotment.scheduling.state.claimed_devices import Claim, DeviceOfNode
from allotment.scheduling.state.pod_groups import GroupPod, PodGroup, PodRequest, flat
from allotment.scheduling.state.state import State
from tests.scheduling.kai.kai_world import NOW, cluster, node, queue

CPU = PodRequest(cpu=1000, memory=1e9)
LABEL = {"kai.scheduler/queue": "a"}


def claimed(*claims: Claim, pods: tuple[tuple[str, ...], ...], gpus: int = 4) -> State:
    """A node whose GPUs come from claims, and a job whose pods use these."""
    names = frozenset({"gpu.example.com", "nic.example.com"})
    devices = [DeviceOfNode("n1", "gpu.example.com", "n1", f"{number}", names) for number in range(gpus)]
    group = PodGroup(
        "j",
        "a",
        tuple(GroupPod(f"j-{number}", request=CPU, claims=used) for number, used in enumerate(pods)),
        tree=flat(1),
    )
    state = cluster([node("n1", 0)], [queue("a", 2)], [group])
    by_name = {claim.name: claim for claim in claims}
    return replace(state, devices=tuple(devices), device_classes=names, claims=by_name)


def placed(state: State) -> list[Bound]:
    return [each for each in decide(state, Memory(), NOW)[0] if isinstance(each, Bound)]


def test_a_claim_gets_devices_of_its_node() -> None:
    state = claimed(Claim("c", "gpu.example.com", 2, LABEL), pods=(("c",),))
    (bound,) = placed(state)
    assert bound.claims == {"c": ("gpu.example.com/n1/0", "gpu.example.com/n1/1")}


def test_a_shared_claim_counts_once_per_pod_in_quota_and_once_on_its_node() -> None:
    state = claimed(Claim("c", "gpu.example.com", 2, LABEL), pods=(("c",), ("c",)))
    session = Session(state, Memory(), NOW, Ties.FIRST_USED)
    assert session.accounts["a"].asked[GPU] == 4
    assert len(placed(state)) == 2


@pytest.mark.parametrize("labels", [{}, {"kai.scheduler/queue": "b"}])
def test_a_shared_claim_must_name_its_queue(labels: dict[str, str]) -> None:
    state = claimed(Claim("c", "gpu.example.com", 1, labels), pods=(("c",),))
    decisions, _ = decide(state, Memory(), NOW)
    assert [type(each) for each in decisions] == [Waits]
    assert "queue label" in decisions[0].message  # type: ignore[union-attr]
    template = replace(state, claims={"c": replace(state.claims["c"], template=True)})
    assert len(placed(template)) == 1


def test_what_is_no_gpu_does_not_count() -> None:
    state = claimed(Claim("c", "nic.example.com", 3), pods=(("c",),))
    session = Session(state, Memory(), NOW, Ties.FIRST_USED)
    assert session.accounts["a"].asked[GPU] == 0


@pytest.mark.parametrize(("resource", "counted"), [("example.com/gpu", 2), ("example.com/nic", 0)])
def test_extended_resources_count_by_their_name(resource: str, counted: int) -> None:
    claim = Claim("c", "gpu.example.com", 2, template=True, extended=resource)
    state = claimed(claim, pods=(("c",),))
    session = Session(state, Memory(), NOW, Ties.FIRST_USED)
    assert session.accounts["a"].asked[GPU] == counted
    assert len(placed(state)) == 1


def test_an_extended_resource_of_a_device_plugin_claims_nothing() -> None:
    claim = Claim("c", "gpu.example.com", 2, template=True, extended="example.com/nic")
    state = claimed(claim, pods=(("c",),))
    spec = state.nodes["n1"]
    with_plugin = replace(spec, allocatable={**spec.allocatable, "example.com/nic": 2})
    (bound,) = placed(replace(state, nodes={"n1": with_plugin}))
    assert bound.claims == {}


def test_parts_of_gpus_do_not_go_where_gpus_are_claimed() -> None:
    half = PodRequest(cpu=1000, memory=1e9, fraction=0.5)
    state = claimed(pods=((),))
    group = state.pod_groups["j"]
    asking = state.with_pod_groups({"j": replace(group, pods=(replace(group.pods[0], request=half),))})
    decisions, _ = decide(asking, Memory(), NOW)
    assert "not yet supported on DRA-only nodes" in str(decisions)
