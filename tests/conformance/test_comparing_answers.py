"""Recorded answers of an API server are compared with tokens bound where they are seen first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.apiserver import difference, is_left_out

OBJECT = {"metadata": {"name": "a", "uid": "<UID1>", "creationTimestamp": "<TIME>"}}


def found(uid: str = "u-1", **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z"}, **more}


def test_a_token_is_what_it_was_first_seen_to_be() -> None:
    bound: dict[str, str] = {}
    assert difference(OBJECT, found(), bound) == ""
    assert bound == {"<UID1>": "u-1"}
    assert difference(OBJECT, found("u-2"), bound) == ".metadata.uid: '<UID1>', not 'u-2'"


@pytest.mark.parametrize(("how", "told"), [("", ".data: nothing, not {}"), ("subset", ""), ("contains", "")])
def test_more_than_was_recorded_is_a_difference_unless_a_part_is_asked_for(how: str, told: str) -> None:
    assert difference(OBJECT, found(data={}), {}, how) == told


def test_a_token_inside_a_text_is_bound_too() -> None:
    bound: dict[str, str] = {}
    assert difference("uid <UID1> of a", "uid u-1 of a", bound) == ""
    assert bound == {"<UID1>": "u-1"}


def test_cases_are_left_out_by_the_start_of_their_names() -> None:
    assert is_left_out("priority_class")
    assert not is_left_out("ssa_create")
