"""Objects that are half empty or of other types break nothing, and no cause is told without evidence."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.follow import Followed, State, follow
from tests.kubernetes.follow.told import NAMES, NAMESPACE, situation

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", "x", 0, -3, [], {}, [None], [[]], {"a": 1}, True, 1.5, "0-", "9" * 30]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a value."""
    found = [path] if path else []
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        found += places(child, (*path, key))
    return found


def changed(value: Any, path: tuple[Any, ...], junk: Any, *, deleted: bool) -> None:
    """Delete what is at the place, or put something else there; nothing where the place is gone."""
    for key in path[:-1]:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return
    try:
        if deleted:
            del value[path[-1]]
        else:
            value[path[-1]] = copy.deepcopy(junk)
    except (KeyError, IndexError, TypeError):
        return


def held(found: tuple[Followed, ...]) -> None:
    """What holds of whatever is told."""
    for each in found:
        assert each.sentence
        assert isinstance(each.state, State)
        for cause in each.causes:
            assert cause.evidence
            assert cause.sentence


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_fields_at_random_are_deleted_or_spoiled(name: str, data: st.DataObject) -> None:
    snapshot = situation(name)
    objects = copy.deepcopy(list(snapshot.objects))
    for _ in range(data.draw(st.integers(1, 8))):
        chosen = objects[data.draw(st.integers(0, len(objects) - 1))]
        every = places(chosen)
        if every:
            path = every[data.draw(st.integers(0, len(every) - 1))]
            changed(chosen, path, data.draw(JUNK), deleted=data.draw(st.booleans()))
    held(follow(replace(snapshot, objects=tuple(objects)), NAMESPACE, ("letters", "maps")))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_objects_at_random_are_left_out(name: str, data: st.DataObject) -> None:
    snapshot = situation(name)
    kept = data.draw(st.lists(st.booleans(), min_size=len(snapshot.objects), max_size=len(snapshot.objects)))
    objects = tuple(each for each, keep in zip(snapshot.objects, kept, strict=True) if keep)
    held(follow(replace(snapshot, objects=objects), NAMESPACE))


@pytest.mark.parametrize("name", NAMES)
def test_a_job_alone_claims_no_cause_that_only_others_show(name: str) -> None:
    snapshot = situation(name)
    alone = tuple(each for each in snapshot.objects if each["kind"] in {"Job", "Deployment"})
    bare = [{**each, "status": {}} for each in alone]
    for found in follow(replace(snapshot, objects=tuple(bare)), NAMESPACE):
        held((found,))
        assert found.state in {State.WAITING, State.PAUSED, State.NEVER}
        assert found.root is not None
        allowed = {"unknown", "no-workload", "just-sent", "paused", "no-kueue", "window-of-nothing"}
        assert found.root.kind in allowed
