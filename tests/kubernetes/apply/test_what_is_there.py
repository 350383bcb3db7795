"""Whether what is rendered is there already, told without asking: values, owners, amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.apply.fields import owned_part
from allotment.kubernetes.apply.same import is_there
from allotment.kubernetes.kinds import CONFIG_MAP, JOB, kind_of
from allotment.kubernetes.render.context import context_for
from allotment.kubernetes.render.repository_objects import repository_objects
from allotment.platform.model import SCHEDULERS
from allotment.quantities import parse_bytes
from allotment.repository.model import Window
from tests.kubernetes.apply.stage import SPACE, Stage, campaign, refusals, repository
from tests.kubernetes.stored import Case


def applied(stage: Stage, value: Any) -> Any:
    return stage.client.apply(value, manager="allotment")


@cache
def everything(scheduler: str) -> tuple[Stage, list[tuple[Any, Any]]]:
    """Every object of the example, and as it is after it was applied."""
    stage = Stage(scheduler)
    found = []
    for value in Case("cluster", scheduler).rendered().objects:
        metadata = {**value["metadata"], "namespace": SPACE}
        if kind_of(value).api_version.startswith("scheduling.k8s.io"):
            continue
        found.append(({**value, "metadata": metadata}, applied(stage, {**value, "metadata": metadata})))
    return stage, found


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_was_applied_is_there(scheduler: str) -> None:
    stage, pairs = everything(scheduler)
    assert len(pairs) > 10
    for value, live in pairs:
        assert is_there(value, live), value["metadata"]["name"]
        assert (
            applied(stage, owned_part(live))["metadata"]["resourceVersion"]
            == live["metadata"]["resourceVersion"]
        )


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all plain values."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if (*path, key) not in {
                ("apiVersion",),
                ("kind",),
                ("metadata", "name"),
                ("metadata", "namespace"),
            }:
                yield from leaves(each, (*path, key))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from leaves(each, (*path, place))
    else:
        yield path


def changed(value: Any, path: tuple[Any, ...], *, drop: bool) -> Any:
    """The value with another leaf, or without it."""
    if not path:
        return 4711 if isinstance(value, int) and not isinstance(value, bool) else f"other-{value}"
    first, rest = path[0], path[1:]
    if isinstance(value, list):
        if drop and not rest:
            return [each for place, each in enumerate(value) if place != first]
        return [
            changed(each, rest, drop=drop) if place == first else each for place, each in enumerate(value)
        ]
    if drop and not rest:
        return {key: each for key, each in value.items() if key != first}
    return {**value, first: changed(value[first], rest, drop=drop)}


@given(data=st.data(), scheduler=st.sampled_from(SCHEDULERS), drop=st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_change_of_any_value_is_seen(data: st.DataObject, scheduler: str, drop: bool) -> None:
    value, live = data.draw(st.sampled_from(everything(scheduler)[1]))
    path = data.draw(st.sampled_from(list(leaves(value))))
    frozen = value["kind"] in {"ResourceClaimTemplate", "ResourceClaim"}
    if drop and frozen and path[0] == "spec":
        return  # what never changes has a name for each content
    assert not is_there(changed(value, path, drop=drop), live), path


def test_amounts_are_compared_as_amounts() -> None:
    stage = Stage()
    pod = {
        "name": "c",
        "image": "x@sha256:" + "1" * 64,
        "resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}},
    }
    template = {"spec": {"restartPolicy": "Never", "containers": [pod]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "n", "namespace": SPACE}}
    live = applied(stage, {**job, "spec": {"template": template}})
    other = {**pod, "resources": {"requests": {"cpu": 1.5, "memory": str(parse_bytes("1Gi"))}}}
    assert is_there(
        {**job, "spec": {"template": {"spec": {**template["spec"], "containers": [other]}}}}, live
    )


def test_what_others_add_is_theirs() -> None:
    stage = Stage()
    stage.apply(campaign())
    change = {"metadata": {"labels": {"cost": "books"}, "annotations": {"seen": "yes"}}}
    for kind, name in ((JOB, "a"), (CONFIG_MAP, "a-settings"), (CONFIG_MAP, "a-volumes")):
        stage.client.patch(kind, name, SPACE, change, manager="accounting")
    assert stage.apply(campaign()).is_nothing
    assert stage.job()["metadata"]["labels"]["cost"] == "books"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_was_rendered_and_applied_by_hand_is_taken_over(scheduler: str) -> None:
    stage = Stage(scheduler)
    context = context_for(stage.platform, stage.platform.teams["library"])
    rendered = repository_objects(context, repository(campaign()), {}).objects
    for value in rendered:
        stage.client.create(value, manager="kubectl-client-side-apply")
    stage.kueue()
    uid = stage.job()["metadata"]["uid"]
    assert stage.apply(campaign()).is_fine
    assert stage.job()["metadata"]["uid"] == uid
    assert stage.apply(campaign()).is_nothing


def test_what_another_changed_of_ours_is_refused_by_name() -> None:
    stage = Stage()
    stage.apply(campaign())
    other = {"data": {"settings.json": "{}"}}
    stage.client.patch(CONFIG_MAP, "a-settings", SPACE, other, manager="kubectl-edit")
    told = refusals(stage.apply(campaign(window=Window(1, 3))))
    assert "`kubectl-edit` owns .data.settings.json" in told
    assert stage.job()["spec"]["parallelism"] == 8


def test_what_another_took_away_of_ours_is_put_back() -> None:
    stage = Stage()
    stage.apply(campaign())
    stage.client.patch(JOB, "a", SPACE, {"metadata": {"labels": {"allotment/campaign": None}}}, manager="k")
    assert stage.apply(campaign()).is_fine
    assert stage.job()["metadata"]["labels"]["allotment/campaign"] == "a"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_job_that_somebody_has_touched_is_there_as_it_was(scheduler: str) -> None:
    stage = Stage(scheduler)
    stage.apply(campaign())
    touched = {"metadata": {"annotations": {"allotment/touched": "1796040000"}}}
    stage.client.patch(JOB, "a", SPACE, touched, manager="kubectl-annotate")
    assert stage.apply(campaign()).is_nothing
