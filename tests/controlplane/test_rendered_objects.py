"""A real API server takes every rendered object to the letter, from those who may send it and nobody else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from allotment.kubernetes.apply import Report, Wish, World, apply
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import DEVICE_CLASS, Object, kind_of
from allotment.kubernetes.render.context import context_for
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.model import SCHEDULERS
from allotment.platform.need import Need
from allotment.repository.model import Gang
from tests.controlplane.components import MINOR
from tests.controlplane.conftest import MEMBERS, needs
from tests.controlplane.installing import FOREIGN, define_kueue, installed, known
from tests.controlplane.plane import Plane, Settings
from tests.kubernetes.apply.stage import IMAGE, PLATFORM, SERVED_GPU, TEAM, repository, verbs
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


@pytest.fixture
def as_library(with_gangs: Plane) -> Iterator[Client]:
    """A plane with the objects of a platform, and the class of devices that a gang claims."""
    client = with_gangs.client()
    driver = {"cel": {"expression": f"device.driver == '{SERVED_GPU}'"}}
    device_class = {
        "apiVersion": DEVICE_CLASS.api_version,
        "kind": "DeviceClass",
        "spec": {"selectors": [driver]},
    }
    classes = [{**device_class, "metadata": {"name": SERVED_GPU}}]
    with installed(client, [*render_platform(PLATFORM, "default").objects, *classes]):
        yield with_gangs.client("library")


def test_a_gang_with_its_objects_is_applied_though_one_cannot_be_tried_before_the_other(
    as_library: Client,
) -> None:
    platform = replace(PLATFORM, versions=replace(PLATFORM.versions, kubernetes=MINOR))
    context = context_for(platform, TEAM, gang_objects=True)
    wish = Wish(repository(Gang("g", 2, 2, image=IMAGE, gpu=Need())), "here")

    def sent(*, dry_run: bool = False) -> Report:
        world = World("somebody", time.time, time.sleep)
        return apply(as_library, context, wish, world, dry_run=dry_run)

    try:
        for report in (sent(dry_run=True), sent()):
            assert verbs(report)["gangs/g"] == "created", report
        assert sent().is_nothing
    finally:
        apply(
            as_library,
            context,
            replace(wish, repository=repository(), prune=True),
            World("somebody", time.time, time.sleep),
        )


def _refusal(client: Client, value: Object) -> str | None:
    try:
        client.apply(value, manager="allotment", dry_run=value["kind"] not in LOOKED_UP)
    except ApiError as error:
        return str(error)
    return None
