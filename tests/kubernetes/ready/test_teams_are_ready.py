"""Whether teams may do what they have to, and their namespaces take their pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.answers import State
from allotment.kubernetes.ready import Right, Secret
from allotment.kubernetes.ready.rights import rights_of
from allotment.platform.model import Size
from allotment.platform.need import Resources
from tests.kubernetes.ready.alterations import (
    FINE,
    NOTE,
    PROBLEM,
    Alter,
    Case,
    chain,
    limit_range,
    platform,
    quota,
    told,
)
from tests.kubernetes.ready.clusters import (
    answers,
    platform_of,
    said,
    seen_of,
    with_more,
)

CASES: list[Case] = [
    (
        "default",
        "credentials",
        lambda seen: replace(seen, secrets={"archive": Secret(is_there=False)}),
        PROBLEM,
        "there is no secret `archive-bucket` of namespace archive: pods cannot start",
    ),
    (
        "default",
        "credentials",
        lambda seen: replace(seen, secrets={"archive": Secret(frozenset({"keys"}))}),
        PROBLEM,
        "has no key `credentials` (it has keys)",
    ),
    (
        "default",
        "credentials",
        lambda seen: replace(seen, secrets={"archive": Secret(why_not="it is forbidden")}),
        NOTE,
        "cannot be told: it is forbidden",
    ),
    (
        "default",
        "credentials",
        lambda seen: replace(seen, teams=(replace(seen.teams[0], secret=None),)),
        NOTE,
        "team archive names no secret: its pods reach the bucket only by a role",
    ),
    (
        "default",
        "limits",
        quota(limits__cpu="64"),
        PROBLEM,
        "ResourceQuota q of archive limits limits.cpu, which no pod of ours says:",
    ),
    (
        "default",
        "limits",
        quota(requests__memory="64Gi"),
        NOTE,
        "pods of pipelines without `resources: {memory}` are refused",
    ),
    (
        "default",
        "limits",
        quota(count_resourceclaims__resource__k8s__io="2"),
        NOTE,
        "allows 2 count/resourceclaims.resource.k8s.io, fewer than the 4 cards",
    ),
    ("default", "limits", quota(pods="0"), PROBLEM, "has nothing of pods left (0 of 0)"),
    (
        "default",
        "limits",
        chain(quota(limits__cpu="64"), lambda seen: with_more(seen, limit_range(default={"cpu": "4"}))),
        FINE,
        "no quota or limit of namespace archive",
    ),
    (
        "default",
        "limits",
        chain(
            platform(sizes={"big": Size(resources=Resources(memory=64 << 30))}),
            lambda seen: with_more(seen, limit_range(max={"memory": "32Gi"})),
        ),
        PROBLEM,
        "size `big` asks for 64.00Gi of memory, and a LimitRange of archive allows 32Gi",
    ),
    (
        "default",
        "limits",
        lambda seen: with_more(seen, limit_range(maxLimitRequestRatio={"cpu": "2"})),
        NOTE,
        "wants a limit of cpu of at most 2 times its request",
    ),
]


@pytest.mark.parametrize(("scheduler", "check", "alter", "state", "words"), CASES)
def test_it_is_told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    told(scheduler, check, alter, state, words)


def test_missing_rights_are_told_by_what_they_are_for() -> None:
    seen = seen_of("kueue")
    (team,) = seen.teams
    granted = {right: True for part in rights_of(seen.platform, team).values() for right in part}
    whole = replace(seen, rights=granted, identity="ada")
    assert said(answers(whole, "rights")).startswith("fine `ada` may do what")
    denied = {
        **granted,
        Right("batch", "jobs", "create", "archive"): False,
        Right("batch", "jobs", "patch", "archive"): False,
        Right("", "nodes", "list"): False,
    }
    text = said(answers(replace(whole, rights=denied), "rights"))
    assert "problem `ada` may not create and patch jobs.batch in archive, which apply needs" in text
    assert "problem `ada` may not patch jobs.batch in archive, which operate needs" in text
    assert "note `ada` may not list nodes, which devices, plan and why needs" in text
    assert "be in the group `allotment:archive`" in text


@pytest.mark.parametrize(
    ("scheduler", "lacks"), [("default", "kueue.x-k8s.io"), ("kueue", "scheduling.run.ai")]
)
def test_rights_of_schedulers_that_are_not_there_are_not_asked_for(scheduler: str, lacks: str) -> None:
    platform = platform_of(scheduler)
    found = rights_of(platform, platform.teams["archive"])
    assert all(right.group != lacks for part in found.values() for right in part)
