"""A real API server takes every rendered object to the letter, from those who may send it and nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import Object, kind_of
from allotment.platform.model import SCHEDULERS
from tests.controlplane.components import MINOR
from tests.controlplane.conftest import MEMBERS, needs
from tests.controlplane.installing import FOREIGN, define_kueue, installed, known
from tests.controlplane.plane import Plane, Settings
from tests.kubernetes.stored import TEAMS, Case

GATES = {"1.36": ("GenericWorkload", "GangScheduling"), "1.37": ("GenericWorkload",)}
SERVED = {"1.36": "scheduling.k8s.io/v1alpha2", "1.37": "scheduling.k8s.io/v1beta1"}
CASES = [(example, scheduler) for example in TEAMS for scheduler in SCHEDULERS]
LOOKED_UP = {"Workload"}
"""Kinds that have to be there in earnest before a server takes, even for show, what names them."""


@pytest.fixture(scope="module")
def with_gangs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A plane with the alpha kinds of gangs, and with Kueue's kinds."""
    needs("etcd", "kubernetes", "kueue")
    plane = Plane(tmp_path_factory.mktemp("gangs"), Settings(GATES[MINOR], (SERVED[MINOR],), MEMBERS))
    plane.start()
    try:
        define_kueue(plane)
        yield plane
    finally:
        plane.stop()


@pytest.mark.parametrize(("example", "scheduler"), CASES)
def test_a_member_of_the_team_may_send_every_object(example: str, scheduler: str, with_gangs: Plane) -> None:
    platform = Case(example, scheduler, of_platform=True, version=MINOR).rendered()
    rendered = Case(example, scheduler, version=MINOR).rendered()
    member = with_gangs.client(TEAMS[example])
    with installed(with_gangs.client(), platform.objects):
        refused = [told for each in known(rendered.objects) if (told := _refusal(member, each))]
        for each in rendered.objects:
            if each["kind"] in LOOKED_UP:
                member.delete(kind_of(each), each["metadata"]["name"], each["metadata"]["namespace"])
    assert refused == []
    assert {each["apiVersion"] for each in rendered.objects if each not in known(rendered.objects)} <= {
        f"{group}{version}" for group in FOREIGN for version in ("v1", "v2", "v1alpha1", "v2alpha2")
    }


@pytest.mark.parametrize("example", TEAMS)
def test_kueues_own_webhooks_take_every_object(example: str, with_kueue: Plane) -> None:
    platform = Case(example, "kueue", of_platform=True).rendered()
    member = with_kueue.client(TEAMS[example])
    with installed(with_kueue.client(), platform.objects):
        refused = [_refusal(member, each) for each in Case(example, "kueue").rendered().objects]
    assert [each for each in refused if each] == []


def _refusal(client: Client, value: Object) -> str | None:
    try:
        client.apply(value, manager="allotment", dry_run=value["kind"] not in LOOKED_UP)
    except ApiError as error:
        return str(error)
    return None
