"""A scene has what would be rendered, on the queues that there would be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.known_classes import CLASSES, CPU_DRIVER
from allotment.devices.nodes import Node
from allotment.devices.read_objects import read_template  # noqa: F401
from allotment.devices.slices import Device, Pool, ResourceSlice
from allotment.devices.world import World
from allotment.errors import AllotmentError
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.render import render
from allotment.planning.plan.courses import Course
from allotment.planning.plan.risks import variants
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Choices, Known, Maturity, Place, Scene, Source
from allotment.platform.model import Platform, Queue
from allotment.repository.measured import Measured, MeasuredFile, PageSeconds
from allotment.repository.model import Repository
from allotment.repository.recipe import recipe_of
from allotment.simulation.distributions import through
from allotment.simulation.draws import Draws
from allotment.simulation.run_times import Basis
from allotment.simulation.setting import Scheduler
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Kind, Work
from tests.planning.scene_files import (
    ARCHIVE,
    CAMPAIGN,
    IMAGE,
    LABORATORY,
    PIPELINE,
    cluster,
    described,
    platform,
    repository,
)

GANG = f"image: {IMAGE}\ncommand: [train]\nworkers: 3\nmin: 2\ngpu: {{}}\nduration: 2h\npriority: service\n"
FLEET = f"image: {IMAGE}\ncommand: [serve]\nreplicas: {{min: 1, max: 3}}\ngpu: {{}}\npriority: service\n"
PROCESSORS = tuple(Device(f"cpu-{number}") for number in range(2))
ALL = [str(each) for each in Scheduler]


def scene(found: Repository, scheduler: str = "kueue", fleet: str = "2 nodes of 4 x A100-80") -> Scene:
    return scene_for(found, platform(), ARCHIVE, described(fleet), scheduler=scheduler)


def named(found: Scene, name: str) -> Work:
    return next(work for work in found.works if work.name == name)


def test_campaigns_fleets_and_gangs_are_works(tmp_path: Path) -> None:
    found = repository(tmp_path, gangs_train=GANG, fleets_serve=FLEET)
    shown = scene(found, "kai")
    assert [work.name for work in shown.planned] == ["letters", "serve", "train"]
    letters, serve, train = (named(shown, name) for name in ("letters", "serve", "train"))
    assert (letters.kind, letters.most, letters.least) == (Kind.CAMPAIGN, 4, 1)
    assert [unit.name for unit in letters.units] == ["a", "R1", "R2", "R3"]
    assert [unit.pages for unit in letters.units] == [2, 0, 0, 0]
    assert letters.recipe == recipe_of(found.pipelines["read"])
    assert (serve.kind, serve.most, serve.preemptible, serve.priority) == (Kind.FLEET, 1, False, 90)
    assert (train.kind, train.most, train.least, train.preemptible) == (Kind.GANG, 3, 2, False)
    assert train.units[0].seconds == 7200


def test_works_of_one_apply_come_one_after_the_other(tmp_path: Path) -> None:
    found = repository(tmp_path, gangs_train=GANG, fleets_serve=FLEET)
    shown = scene(found, "kai")
    assert [(work.name, work.arrival) for work in shown.works] == [
        ("letters", 0),
        ("serve", 0.1),
        ("train", 0.2),
    ]
    told = {each.subject: each for each in shown.assumptions}
    assert told["works are sent one by one"].source is Source.GUESS
    assert told["a Job's next pod, after one has ended"].source is Source.PUBLISHED
    alone = {each.subject for each in scene(repository(tmp_path / "alone"), "kai").assumptions}
    assert "works are sent one by one" not in alone


@pytest.mark.parametrize("scheduler", ALL)
def test_what_is_claimed_is_what_is_rendered(tmp_path: Path, scheduler: str) -> None:
    found = repository(tmp_path)
    rendered = render(
        found, platform(), ARCHIVE, scheduler="default" if scheduler == "simple" else scheduler
    ).objects
    of_claims = [each for each in rendered if each["kind"] == "ResourceClaimTemplate"]
    templates = world_of(Snapshot(0.0, tuple(of_claims))).world.templates
    asked = named(scene(found, scheduler), "letters").ask
    assert [each.spec for each in asked.claims] == [each.spec for each in templates]
    assert asked.gpus == 1


def test_quota_is_charged_as_kueue_charges_it(tmp_path: Path) -> None:
    two = f"{PIPELINE}gpu: {{count: 2}}\nresources: {{cpu: 4, memory: 1Gi}}\n"
    asked = named(scene(repository(tmp_path, pipelines_read=two)), "letters").ask
    assert asked.charges == {"gpus": 2, "cpu": 4000, "memory": 2**30}
    assert asked.gpus == 2


def test_what_kueue_would_put_aside_says_why(tmp_path: Path) -> None:
    much = f"{PIPELINE}gpu: {{memory: 200Gi}}\n"
    asked = named(scene(repository(tmp_path, pipelines_read=much)), "letters").ask
    assert "0 device(s) match in the cluster but 1 requested" in asked.fault


def test_the_queues_are_those_that_the_platforms_file_becomes(tmp_path: Path) -> None:
    found = repository(tmp_path)
    kueue, kai, both = (scene(found, each).setting for each in ("kueue", "kai", "both"))
    quota = kueue.state.cluster_queues["archive"].groups[0].quotas["allotment", "gpus"]
    assert (quota.nominal, quota.borrowing) == (2, 2)
    assert not kueue.state.share_queues
    assert kai.state.share_queues["archive"].gpu.quota == 2
    assert kai.kai.reclaim_min_runtime == 600
    assert both.state.cluster_queues["archive"].groups == kueue.state.cluster_queues["archive"].groups
    assert both.state.share_queues["archive"].gpu.quota == -1
    assert kai.teams["laboratory"].weight == 3
    assert (kueue.window is None, kai.window is None) == (False, True)


def test_hosts_without_node_objects_hold_any_number_of_pods(tmp_path: Path) -> None:
    found = repository(tmp_path)
    shown = scene(found)
    assert [each.allocatable["pods"] for each in shown.setting.state.nodes.values()] == [10**6, 10**6]
    assert "cores and memory of nodes" in {each.subject for each in shown.assumptions}
    bounded = scene_for(found, platform(), ARCHIVE, cluster()).setting.state.nodes
    assert [each.allocatable["pods"] for each in bounded.values()] == [110, 110]


@pytest.mark.parametrize("scheduler", ALL)
@pytest.mark.parametrize(
    "second",
    [{}, {"node-2": Node("node-2", unschedulable=True)}, {"node-2": Node("node-2", ready=False)}],
    ids=["no Node object", "cordoned", "not ready"],
)
def test_nothing_is_placed_on_a_node_that_no_pod_starts_on(
    tmp_path: Path, scheduler: str, second: dict[str, Node]
) -> None:
    place = described("2 nodes of 2 x A100-80")
    world = replace(place.world, nodes={"node-1": Node("node-1"), **second})
    found = scene_for(
        repository(tmp_path), platform(), ARCHIVE, replace(place, world=world), scheduler=scheduler
    )
    outcome = simulate(found.setting, found.works, found.run_times, Draws(1), until=7 * 86_400)
    assert {span.node for span in outcome.spans} == {"node-1"}


def test_only_what_is_named_is_planned_and_what_is_suspended_is_left_out(tmp_path: Path) -> None:
    found = repository(tmp_path, campaigns_maps=CAMPAIGN, campaigns_held=f"{CAMPAIGN}suspend: true\n")
    assert [work.name for work in scene(found).works] == ["letters", "maps"]
    assert any("campaigns/held" in note for note in scene(found).notes)
    one = scene_for(found, platform(), ARCHIVE, described(), names=["maps"])
    assert [work.name for work in one.works] == ["maps"]


def test_what_the_bucket_has_is_done(tmp_path: Path) -> None:
    found = repository(tmp_path)
    known = Known(complete={"read": frozenset({"R1"})}, begun={("read", "a"): 1, ("read", "R3"): 17})
    shown = scene_for(found, platform(), ARCHIVE, described(), known=known)
    assert [(each.name, each.pages, each.done) for each in named(shown, "letters").units] == [
        ("a", 2, 1),
        ("R2", 0, 0),
        ("R3", 0, 17),
    ]
    everything = Known(complete={"read": frozenset({"a", "R1", "R2"})}, failed={"read": frozenset({"R3"})})
    assert scene_for(found, platform(), ARCHIVE, described(), known=everything).works == ()


def test_a_pack_stays_a_pack_when_one_of_its_volumes_is_complete(tmp_path: Path) -> None:
    found = repository(tmp_path, campaigns_letters=f"{CAMPAIGN}pack: 2\n")
    known = Known(complete={"read": frozenset({"R1", "R2", "R3"})})
    (work,) = scene_for(found, platform(), ARCHIVE, described(), known=known).works
    assert [(each.name, each.pages, each.done) for each in work.units] == [("a", 2, 0), ("R1", 1, 1)]
    assert work.most == 1


def test_parts_of_cards_make_nodes_count_their_cards(tmp_path: Path) -> None:
    part = f"{PIPELINE}gpu: {{sharing: fraction, share: 0.25}}\n"
    found = repository(
        tmp_path,
        pipelines_part=part,
        campaigns_parts=CAMPAIGN.replace("read", "part"),
        pipelines_read=f"{PIPELINE}gpu: {{memory: 60Gi}}\n",
    )
    shown = scene(found, "kai", "1 nodes of 4 x A100-80, 1 nodes of 2 x L4")
    nodes, whole, parts = shown.setting.state.nodes, named(shown, "letters").ask, named(shown, "parts").ask
    assert [each.allocatable["nvidia.com/gpu"] for each in nodes.values()] == [4, 2]
    assert nodes["node-2"].labels["nvidia.com/gpu.product"] == "NVIDIA-L4"
    assert shown.setting.card_of_node == {"node-1": "A100-80", "node-2": "L4"}
    assert (parts.request.fraction, parts.gpus) == (0.25, 0.25)
    assert (whole.claims, whole.request.gpus) == ((), 1)
    assert whole.affinity is not None
    assert whole.affinity.terms[0].match_fields[0].values == ("node-1",)
    claimed = scene(found, "kueue", "1 nodes of 4 x A100-80")
    assert named(claimed, "letters").ask.claims
    assert not shown.setting.state.published or not shown.setting.state.published.slices


@pytest.mark.parametrize(
    ("gpu", "fleet", "gpus"),
    [
        ("{}", "1 x A100-80", 1),
        ("{count: 2}", "4 x A100-80", 2),
        ("{sharing: mig, memory: 9Gi}", "1 x A100-80 mig=1g.10gb*7", 1 / 8),
        ("{sharing: mig, memory: 30Gi}", "1 x A100-80 mig=3g.40gb*2", 4 / 8),
        ("{sharing: time-slicing}", "1 x A100-80", 1 / 4),
    ],
)
def test_a_pod_counts_as_the_part_of_a_card_that_it_has(
    tmp_path: Path, gpu: str, fleet: str, gpus: float
) -> None:
    found = repository(tmp_path, pipelines_read=f"{PIPELINE}gpu: {gpu}\n")
    assert named(scene(found, "default", fleet), "letters").ask.gpus == pytest.approx(gpus)


def test_pods_are_kept_together_where_kai_keeps_them(tmp_path: Path) -> None:
    found = repository(tmp_path, pipelines_read=f"{PIPELINE}gpu: {{}}\ntopology: {{require: rack}}\n")
    together = named(scene(found, "kai"), "letters").together
    assert together is not None
    assert (together.topology, together.required) == ("allotment", "example.org/rack")
    assert named(scene(found, "kueue"), "letters").together is None
    labels = {each.labels["example.org/rack"] for each in scene(found).setting.state.nodes.values()}
    assert labels == {"described"}


def test_two_teams_may_call_their_campaigns_alike(tmp_path: Path) -> None:
    ours, theirs = repository(tmp_path / "a"), repository(tmp_path / "b")
    found = scene_for(ours, platform(), ARCHIVE, described(), beside=[(theirs, LABORATORY)])
    assert [(work.name, work.team, work.planned) for work in found.works] == [
        ("letters", "archive", True),
        ("letters of laboratory", "laboratory", False),
    ]


def test_each_pipeline_of_one_recipe_is_estimated_as_its_own_file_says(tmp_path: Path) -> None:
    quick, slow = (
        f"{PIPELINE}gpu: {{}}\nestimate: {{page: {page}s, pages: {pages}}}\n"
        for page, pages in ((2, 10), (20, 500))
    )
    ours = repository(
        tmp_path / "a",
        pipelines_read=quick,
        pipelines_slow=slow,
        campaigns_maps=CAMPAIGN.replace("pipeline: read", "pipeline: slow"),
    )
    theirs = repository(tmp_path / "b", pipelines_read=slow)
    found = scene_for(ours, platform(), ARCHIVE, described(), beside=[(theirs, LABORATORY)])
    middles = {
        work.name: (found.run_times.of(work.recipe, "A100-80").page, found.run_times.pages[work.recipe])
        for work in found.works
    }
    assert middles == {
        "letters": (through(2, 0.95, 5), through(10, 0.95, 25)),
        "maps": (through(20, 0.95, 50), through(500, 0.95, 1250)),
        "letters of laboratory": (through(20, 0.95, 50), through(500, 0.95, 1250)),
    }
    told = {each.subject for each in found.assumptions}
    assert {"a page of read on A100-80", "a page of read of laboratory on A100-80"} <= told


def test_what_anybody_measured_of_a_recipe_holds_for_it(tmp_path: Path) -> None:
    ours, theirs = repository(tmp_path / "a"), repository(tmp_path / "b")
    recipe = recipe_of(theirs.pipelines["read"])
    seconds = PageSeconds(3.0, 9.0, 30.0)
    entry = Measured("read", recipe, "A100-80", 2**30, 0.9, 4, 400, seconds, 0.0, "2026-05-31T12:00:00Z")
    known = Known(beside={theirs.root: Known(measured=MeasuredFile(entries=(entry,)))})
    found = scene_for(ours, platform(), ARCHIVE, described(), known=known, beside=[(theirs, LABORATORY)])
    assert {found.run_times.of(work.recipe, "A100-80").basis for work in found.works} == {Basis.MEASURED}


def test_a_scene_says_how_finished_is_what_it_relies_on(tmp_path: Path) -> None:
    shared = f"{PIPELINE}gpu: {{sharing: time-slicing}}\n"
    found = repository(tmp_path, pipelines_read=shared, gangs_train=GANG)
    told = {each.subject: each for each in scene(found, "default").assumptions}
    assert told["gangs"].maturity is Maturity.ALPHA
    assert any(each.maturity is Maturity.ALPHA for each in told.values())
    kueue = {each.subject: each for each in scene(found).assumptions}
    assert kueue["Kueue's admissions"].source is Source.PUBLISHED
    assert kueue["windows that grow"].maturity is Maturity.BETA


def test_of_images_nothing_is_said_where_none_is_pulled(tmp_path: Path) -> None:
    with_image, without = (
        scene(repository(tmp_path / name, pipelines_read=f"{image}steps: [{{step: ocr}}]\ngpu: {{}}\n"))
        for name, image in (("a", f"image: {IMAGE}\n"), ("b", ""))
    )
    told = [
        [each.subject for each in shown.assumptions if "image" in each.subject]
        + [each.words for each in variants(shown, 1e6, Course(1, {})) if "to start" in each.words]
        for shown in (with_image, without)
    ]
    assert told == [
        ["pulling an image that a node lacks", "images, models and pods take three times as long to start"],
        ["models and pods take three times as long to start"],
    ]


def test_paces_that_somebody_chose_are_stated(tmp_path: Path) -> None:
    found = repository(tmp_path)
    slow = Choices(replace(Choices().pace, image_pull=600.0), window=False)
    shown = scene_for(found, platform(), ARCHIVE, described(), choices=slow)
    told = {each.subject: each for each in shown.assumptions}
    assert told["pulling an image that a node lacks"].source is Source.SET
    assert told["starting a pod"].source is Source.GUESS
    assert told["starting a pod"].source is Source.GUESS
    assert shown.setting.window is None


@pytest.mark.parametrize(
    ("changes", "scheduler"),
    [
        ({"scheduler": "both"}, Scheduler.BOTH),
        ({"engine": "local", "scheduler": "kueue"}, Scheduler.KAI),
        ({"engine": "local", "teams": Platform().teams}, Scheduler.DEFAULT),
    ],
)
def test_who_decides_is_whom_the_platform_has(
    tmp_path: Path, changes: dict[str, object], scheduler: Scheduler
) -> None:
    told = platform(**changes)
    team = next(iter(told.teams.values()))
    found = repository(tmp_path)
    assert scene_for(found, told, team, described()).setting.scheduler is scheduler


def test_a_need_that_cannot_be_had_is_an_error(tmp_path: Path) -> None:
    wrong = f"{PIPELINE}gpu: {{memory: 20Gi, card: nothing}}\n"
    with pytest.raises(AllotmentError):
        scene(repository(tmp_path, pipelines_read=wrong))


@pytest.mark.parametrize("scheduler", ALL)
def test_a_scene_can_be_simulated(tmp_path: Path, scheduler: str) -> None:
    part = f"{PIPELINE}gpu: {{memory: 20Gi}}\nestimate: {{page: 2s, pages: 10}}\n"
    shown = scene(repository(tmp_path, pipelines_read=part, gangs_train=GANG), scheduler)
    outcome = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 86_400.0)
    ends = {each.work: each for each in outcome.ends}
    assert ends["letters"].complete == 4
    assert ends["letters"].finished is not None


def test_this_machine_has_its_own_processors_and_pulls_no_image(tmp_path: Path) -> None:
    here = World(
        (ResourceSlice("vm-cpu", CPU_DRIVER, Pool("vm"), node_name="vm", devices=PROCESSORS),),
        {each.name: each for each in CLASSES},
        "vm",
        memory_bytes=8 * 2**30,
    )
    found = repository(tmp_path, pipelines_read=f"{PIPELINE}estimate: {{page: 10s}}\n")
    told = platform(engine="local", teams={"archive": replace(ARCHIVE, queue=Queue())})
    shown = scene_for(found, told, ARCHIVE, Place(here, "this machine", is_here=True))
    (machine,) = shown.setting.state.nodes.values()
    assert (machine.allocatable["cpu"], machine.allocatable["memory"]) == (2000, 8 * 2**30)
    assert (shown.works[0].image, shown.works[0].ask.request.cpu) == ("", 1000.0)
    assert (shown.setting.pace.job_sync, shown.setting.pace.sending) == (0, 0)
    outcome = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 86_400.0)
    moments = [each.bound for each in outcome.spans]
    running = [sum(each.bound <= at < each.ended for each in outcome.spans) for at in moments]
    assert max(running) == 2
