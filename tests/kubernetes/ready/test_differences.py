"""When a live object is not what was rendered, and when it only looks so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.kubernetes.ready.differing import differences, same
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.ready.clusters import platform_of


def value(spec: Any, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", **metadata}, "spec": spec}


@pytest.mark.parametrize(
    ("wanted", "live"),
    [
        ("4", 4),
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("600s", "10m0s"),
        (4, 4.0),
        ({}, None),
        ([], None),
        ("", None),
        (False, None),
        (0, None),
        (None, {}),
    ],
)
def test_it_means_the_same(wanted: Any, live: Any) -> None:
    assert same(wanted, live)
    assert differences(value({"a": wanted}), value({"a": live})) == ()


@pytest.mark.parametrize(
    ("wanted", "live"),
    [
        ("4", "5"),
        (True, None),
        ("None", None),
        ("600s", "6m"),
        ({"a": 1}, "a"),
        ("0", None),
    ],
)
def test_it_means_something_else(wanted: Any, live: Any) -> None:
    assert not same(wanted, live)
    (found,) = differences(value({"a": wanted}), value({"a": live}))
    assert found.path.startswith("spec.a")


@pytest.mark.parametrize(
    ("wanted", "live", "told"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "spec.a.b is 2, and should be 1"),
        ({"l": [{"name": "x", "v": 1}]}, {"l": [{"name": "y"}, {"name": "x", "v": 2}]}, "spec.l[x].v is 2"),
        ({"l": [{"name": "x"}]}, {"l": []}, "spec.l[x] is nothing"),
        ({"l": [1, 2]}, {"l": [2, 1]}, "spec.l[0] is 2, and should be 1"),
        ({"l": [1]}, {"l": [1, 2]}, "spec.l is [1, 2], and should be [1]"),
        ({}, {"more": "x"}, "spec.more is x, of which the platform's file says nothing"),
        ({"l": [{"name": "x"}]}, {"l": [{"name": "x", "more": 1}]}, "spec.l[x].more is 1, of which"),
    ],
)
def test_the_field_is_named(wanted: Any, live: Any, told: str) -> None:
    assert any(str(each).startswith(told) for each in differences(value(wanted), value(live)))


@pytest.mark.parametrize(
    "extra",
    [
        {"matchPolicy": "Equivalent"},
        {"scope": "*"},
        {"objectSelector": {}},
        {"globalDefault": False},
        {"x": None},
    ],
)
def test_what_a_server_fills_in_is_no_difference(extra: dict[str, Any]) -> None:
    assert differences(value({"a": 1}), value({"a": 1, **extra})) == ()


def test_labels_of_others_are_theirs() -> None:
    wanted = value({}, labels={"allotment/team": "a"})
    live = value({}, labels={"allotment/team": "a", "kubernetes.io/metadata.name": "x", "cost": "7"})
    assert differences(wanted, live) == ()
    ours = value({}, labels={"allotment/team": "a", "allotment/old": "b"})
    assert [str(each) for each in differences(wanted, ours)] == [
        "metadata.labels.allotment/old is b, of which the platform's file says nothing"
    ]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_object_is_like_itself(scheduler: str) -> None:
    for each in render_platform(platform_of(scheduler)).objects:
        assert differences(each, each) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON, JSON)
def test_any_two_values_can_be_held_against_each_other(wanted: Any, live: Any) -> None:
    assert differences(value(wanted), value(wanted)) == ()
    for each in differences(value(wanted), value(live)):
        assert str(each)
