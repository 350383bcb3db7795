"""What must always hold of server-side apply, on made-up objects, appliers and editors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.testing.field_sets import read_fields, write_fields
from allotment.kubernetes.testing.ownership import (
    APPLY,
    UPDATE,
    Applied,
    ConflictsError,
    Manager,
    Owners,
    after_apply,
    after_update,
    read_owners,
    write_owners,
)
from allotment.kubernetes.testing.schemas import Schema, Schemas
from allotment.kubernetes.testing.typed import fields_of, merge

TEXT = {"type": "string"}
SCHEMA = Schema(
    {
        "type": "object",
        "properties": {
            "data": {"type": "object", "additionalProperties": TEXT},
            "whole": {"type": "object", "additionalProperties": TEXT, "x-kubernetes-map-type": "atomic"},
            "order": {"type": "array", "items": TEXT},
            "marks": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
            "parts": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "properties": {"name": TEXT, "image": TEXT, "size": {"type": "integer"}},
                },
            },
        },
    },
    Schemas({}),
    custom=True,
)
NAMES = ("a", "b", "c", "d", "e")
QUIETLY = settings(deadline=None)  # other work on the machine is no fault of a test
VALUES = st.sampled_from(("1", "2"))


def configs(names: tuple[str, ...] = NAMES, *, shares: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that name only these keys; nobody owns a list without items."""
    parts = st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(names)}, optional={"image": VALUES, "size": st.integers(0, 2)}
        ),
        unique_by=lambda part: str(part["name"]),
        min_size=1,
        max_size=4,
    )
    common = {
        "data": st.dictionaries(st.sampled_from(names), VALUES, min_size=1, max_size=3),
        "marks": st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=3),
        "parts": parts,
    }
    atomic = {
        "whole": st.dictionaries(VALUES, VALUES, min_size=1),
        "order": st.lists(VALUES, min_size=1, max_size=2),
    }
    return st.fixed_dictionaries({}, optional={**common, **(atomic if shares else {})})


def applied(
    live: dict[str, Any], config: dict[str, Any], owners: Owners, who: str, *, force: bool = True
) -> Applied:
    return after_apply(live, config, owners, Manager(who, APPLY, "v1"), SCHEMA, now="t", force=force)


def attempted(live: dict[str, Any], config: dict[str, Any], owners: Owners) -> Applied | ConflictsError:
    try:
        return applied(live, config, owners, "one", force=False)
    except ConflictsError as error:
        return error


def unordered(value: Any) -> Any:
    """The object as it is whatever the order of its sets and mappings by key."""
    named = {name: each for name, each in value.items() if each not in ({}, []) and name != "metadata"}
    for name in ("marks", "parts"):
        if name in named:
            named[name] = sorted(named[name], key=lambda each: json.dumps(each, sort_keys=True))
    return named


@QUIETLY
@given(configs(), configs(), configs())
def test_applying_the_same_again_changes_nothing(first: Any, other: Any, config: Any) -> None:
    one = applied({}, first, {}, "one")
    two = applied(one.value, other, one.owners, "two")
    done = applied(two.value, config, two.owners, "one")
    again = applied(done.value, config, done.owners, "one", force=False)
    assert not again.is_changed
    assert (again.value, dict(again.owners)) == (done.value, dict(done.owners))


@QUIETLY
@given(configs(), configs(), configs())
def test_what_another_owns_stays_unless_it_is_taken_by_force(first: Any, second: Any, third: Any) -> None:
    one = applied({}, first, {}, "one")
    two = applied(one.value, second, one.owners, "two")
    before = {manager: entry.fields for manager, entry in two.owners.items() if manager.name == "two"}
    done = attempted(two.value, third, two.owners)
    if isinstance(done, ConflictsError):
        assert {manager.name for manager in done.owned} == {"two"}
        return
    assert {
        manager: entry.fields for manager, entry in done.owners.items() if manager.name == "two"
    } == before
    held = fields_of(done.value, SCHEMA)
    assert all(fields <= held for fields in before.values())


@QUIETLY
@given(configs(("a", "b"), shares=False), configs(("c", "d", "e"), shares=False))
def test_the_order_of_appliers_of_other_fields_does_not_matter(first: Any, second: Any) -> None:
    ends = []
    for order in ((("one", first), ("two", second)), (("two", second), ("one", first))):
        live: dict[str, Any] = {}
        owners: Owners = {}
        for who, config in order:
            done = applied(live, config, owners, who, force=False)
            live, owners = done.value, done.owners
        ends.append((unordered(live), {manager: entry.fields for manager, entry in owners.items()}))
    assert ends[0] == ends[1]


@QUIETLY
@given(configs(), configs())
def test_applying_nothing_gives_up_what_only_oneself_owned(first: Any, second: Any) -> None:
    one = applied({}, first, {}, "one")
    two = applied(one.value, second, one.owners, "two")
    done = applied(two.value, {}, two.owners, "one", force=False)
    assert unordered(done.value) == unordered(second)
    assert all(manager.name != "one" for manager in done.owners)


@QUIETLY
@given(configs(), configs(), configs())
def test_no_conflict_is_told_where_the_values_are_the_same(first: Any, second: Any, edited: Any) -> None:
    one = applied({}, first, {}, "one")
    changed = merge(one.value, edited, SCHEMA)
    owners = after_update(one.value, changed, one.owners, Manager("editor", UPDATE, "v1"), SCHEMA, now="t")
    done = attempted(changed, second, owners)
    if isinstance(done, ConflictsError):
        assert set(done.owned) == {Manager("editor", UPDATE, "v1")}
        assert merge(changed, second, SCHEMA) != changed
        return
    assert all(entry.fields for entry in done.owners.values())


@QUIETLY
@given(configs(), configs())
def test_owners_are_read_as_they_are_written(first: Any, second: Any) -> None:
    one = applied({}, first, {}, "one")
    two = applied(one.value, second, one.owners, "two")
    written = write_owners(two.owners)
    assert read_owners({"managedFields": json.loads(json.dumps(written))}) == two.owners


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"f:data": {"f:k": {}}}, {("f:data", "f:k")}),
        ({"f:data": {".": {}, "f:k": {}}}, {("f:data",), ("f:data", "f:k")}),
        ({"f:marks": {'v:"a"': {}}}, {("f:marks", 'v:"a"')}),
    ],
)
def test_field_sets_have_the_published_form(fields: Any, paths: set[tuple[str, ...]]) -> None:
    assert read_fields(fields) == paths
    assert write_fields(frozenset(paths)) == fields
