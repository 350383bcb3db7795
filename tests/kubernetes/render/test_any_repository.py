"""Whatever a repository says, what is rendered has every name once, and no webhook refuses a Job of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.kueue_jobs import creation_faults
from allotment.kubernetes.render import Rendered, render, to_stream
from allotment.platform.model import SCHEDULERS, Lane, Platform, Queue, Team
from allotment.platform.need import Need, Resources
from allotment.repository.model import (
    Campaign,
    EnvironmentVariable,
    Fleet,
    FolderSource,
    Gang,
    ManifestSource,
    Pipeline,
    ReferenceSource,
    Replicas,
    Repository,
    StepCall,
    Topology,
    Volume,
    Window,
)

LABELS = st.from_regex(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
NEEDS = st.none() | st.builds(
    Need,
    count=st.integers(1, 4),
    sharing=st.sampled_from((("whole",), ("mig",), ("mig", "whole"), ("time-slicing",))),
    fallback=st.sampled_from(((), (Need(cpu=2),), (Need(count=2),))),
)
RESOURCES = st.builds(
    Resources,
    cpu=st.none() | st.sampled_from((0.25, 1.0, 3.5)),
    memory=st.none() | st.integers(1, 1 << 40),
    workdir=st.none() | st.integers(1, 1 << 40),
)
TOPOLOGIES = st.none() | st.builds(Topology, st.sampled_from(("require", "prefer")), st.just("rack"))
LANES = st.sampled_from(("a", "b"))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SOURCES = (
    st.builds(FolderSource, TEXT)
    | st.builds(ManifestSource, TEXT)
    | st.builds(ReferenceSource, TEXT, st.just("https://a.se/{ref}"))
)
ENVIRONMENT = st.sampled_from(
    ((), (EnvironmentVariable("A", "1"), EnvironmentVariable("B", None, "secret", "key")))
)


@st.composite
def repositories(draw: st.DrawFn) -> Repository:
    """Pipelines, campaigns over them, fleets and gangs, all of different names."""
    names = draw(st.lists(LABELS, min_size=3, max_size=6, unique=True))
    pipeline = Pipeline(
        names[0][:50],
        (StepCall("ocr", draw(st.dictionaries(TEXT, TEXT, max_size=2))),),
        gpu=draw(NEEDS),
        resources=draw(RESOURCES),
        env=draw(ENVIRONMENT),
        topology=draw(TOPOLOGIES),
        prepare=draw(st.none() | st.just(StepCall("command"))),
    )
    sources = draw(st.lists(SOURCES, min_size=1, max_size=5))
    volumes = tuple(Volume(f"v{place}", source) for place, source in enumerate(sources))
    least = draw(st.integers(1, 9))
    campaigns = {
        name: Campaign(
            name, pipeline.id, volumes, Window(least, least + 2), draw(st.sampled_from(("a", "b")))
        )
        for name in names[2:]
    }
    fleet = Fleet(names[0], replicas=Replicas(1, 3), gpu=draw(NEEDS), priority="a", topology=draw(TOPOLOGIES))
    gang = Gang(
        names[1], 4, draw(st.integers(1, 4)), gpu=draw(NEEDS), priority="b", topology=draw(TOPOLOGIES)
    )
    return Repository(Path(), {pipeline.id: pipeline}, campaigns, {fleet.name: fleet}, {gang.name: gang})


@given(repository=repositories(), scheduler=st.sampled_from(SCHEDULERS), gang_objects=st.booleans())
@settings(max_examples=60, deadline=None)
def test_names_are_there_once_and_nothing_is_refused(
    repository: Repository, scheduler: str, gang_objects: bool
) -> None:
    platform = Platform(lanes={"a": Lane(1), "b": Lane(2, False)}, bucket="s3://results")
    team = Team("library", queue=Queue(2), secret="keys")

    def once() -> Rendered:
        return render(repository, platform, team, scheduler=scheduler, gang_objects=gang_objects)

    found = once()
    stream = to_stream(found)
    assert stream == to_stream(once())
    assert [each for each in yaml.load_all(stream, Loader=yaml.CSafeLoader) if each] == list(found.objects)
    names = [(each["kind"], each["metadata"]["name"]) for each in found.objects]
    assert len(set(names)) == len(names)
    for each in found.objects:
        if each["kind"] == "Job":
            job: Any = each
            assert list(creation_faults(job)) == []
            assert len(f"{job['metadata']['name']}-{job['spec'].get('completions', 1) - 1}") <= 63
