"""Changes to a cluster that is ready, each of which a check must tell."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from allotment.answers import State
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster import Missing
from allotment.kubernetes.ready import Seen
from tests.kubernetes.ready.clusters import (
    answers,
    changed,
    configuration_of,
    quota_of,
    said,
    seen_of,
    with_more,
    without,
)

Alter = Callable[[Seen], Seen]
Case = tuple[str, str, Alter, State, str]
"""Scheduler, check, change, how it stands then, words of what is said."""


def at(value: dict[str, Any], *path: Any) -> Any:
    for key in path:
        value = value[key]
    return value


def setting(kind: str, name: str, value: Any, *path: Any) -> Alter:
    """The cluster with a field of an object set, or taken away where the value is ``...``."""

    def change(found: dict[str, Any]) -> None:
        holder = at(found, *path[:-1])
        if value is ...:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value

    return lambda seen: changed(seen, kind, name, change)


def version(text: str) -> Alter:
    return lambda seen: replace(seen, snapshot=replace(seen.snapshot, version=text))


def instead(kind: str, name: str, value: dict[str, Any]) -> Alter:
    return lambda seen: with_more(without(seen, kind, name), value)


def configured(**changes: Any) -> Alter:
    return lambda seen: instead(
        "ConfigMap", "kueue-manager-config", configuration_of(seen.platform, **changes)
    )(seen)


def quota(**hard: str) -> Alter:
    names = {key.replace("__", ".").replace("_", "/", 1): value for key, value in hard.items()}
    return lambda seen: with_more(seen, quota_of(names))


def limit_range(**limit: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "r", "namespace": "archive"},
        "spec": {"limits": [{"type": "Container", **limit}]},
    }


def platform(**changes: Any) -> Alter:
    return lambda seen: replace(seen, platform=replace(seen.platform, **changes))


def chain(*alters: Alter) -> Alter:
    def alter(seen: Seen) -> Seen:
        for each in alters:
            seen = each(seen)
        return seen

    return alter


def lacking(*found: kinds.Kind, why: str = "forbidden") -> Alter:
    missing = tuple(Missing(each, why) for each in found)
    names = {each.name for each in found}

    def alter(seen: Seen) -> Seen:
        objects = tuple(each for each in seen.snapshot.objects if each["kind"] not in names)
        return replace(seen, snapshot=replace(seen.snapshot, objects=objects, missing=missing))

    return alter


TAINT = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
PROBLEM, NOTE, FINE = State.PROBLEM, State.NOTE, State.FINE


def told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    """What a check says of the changed cluster holds the words; each problem has a remedy."""
    before = seen_of(scheduler)
    kept = deepcopy(before)
    found = answers(alter(before), check)
    assert words in said([each for each in found if each.state is state]), said(found)
    assert before == kept, "nothing is changed by looking"
    assert all(each.remedy for each in found if each.state is PROBLEM)
