"""Who may apply: an identity of the team's group, in a namespace that says it is the team's."""

from __future__ import annotations

import pytest

from allotment.errors import AllotmentError
from allotment.kubernetes.kinds import NAMESPACE
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing.permissions import Permissions, of_roles
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.apply.stage import SPACE, Stage, campaign, verbs


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_the_roles_that_are_rendered_are_enough(scheduler: str) -> None:
    stage = Stage(scheduler)
    groups = ("allotment:library",)
    rules = of_roles(render_platform(stage.platform).objects, "ada", groups)
    stage.server.permissions = Permissions("ada", groups, rules)
    assert verbs(stage.apply(campaign()))["campaigns/a"] == "created"
    assert stage.apply(campaign()).is_nothing


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_whoever_is_not_in_the_group_is_told_who_may(scheduler: str) -> None:
    stage = Stage(scheduler)
    before = stage.state()
    rules = of_roles(render_platform(stage.platform).objects, "bob", ("allotment:other",))
    stage.server.permissions = Permissions("bob", ("allotment:other",), rules)
    with pytest.raises(AllotmentError, match="group `allotment:library` may"):
        stage.apply(campaign())
    stage.server.permissions = Permissions()
    assert stage.state() == before


@pytest.mark.parametrize(
    ("label", "told"), [("other", "is of team `other`"), (None, "does not say whose it is")]
)
def test_a_namespace_of_another_team_is_refused(label: str | None, told: str) -> None:
    stage = Stage()
    change = {"metadata": {"labels": {"allotment/team": label}}}
    stage.client.patch(NAMESPACE, SPACE, None, change, manager="admin")
    with pytest.raises(AllotmentError, match=told):
        stage.apply(campaign())
    assert stage.writes() == []


def test_a_namespace_that_is_not_there_is_told() -> None:
    with pytest.raises(AllotmentError, match="there is no namespace `books`"):
        Stage(has_platform=False).apply(campaign())
