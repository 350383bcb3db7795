"""The digest of a recipe: stable, blind to the order of keys, and different for whatever changes a page."""

from __future__ import annotations

import hashlib

import pytest

from allotment.platform.need import Need
from allotment.repository.model import Pipeline, StepCall
from allotment.repository.recipe import recipe_digest, recipe_of

STEPS = (StepCall("ocr", {"b": 1, "a": "å"}), StepCall("checksum"))


def test_the_digest_is_that_of_canonical_json() -> None:
    text = (
        '{"image":null,"prepare":null,"steps":'
        '[{"settings":{"a":"å","b":1},"step":"ocr"},{"settings":{},"step":"checksum"}]}'
    )
    assert recipe_digest(None, None, STEPS) == hashlib.sha256(text.encode()).hexdigest()[:12]


def test_the_order_of_keys_and_the_need_do_not_count() -> None:
    turned = (StepCall("ocr", {"a": "å", "b": 1}), StepCall("checksum", {}))
    assert recipe_digest(None, None, turned) == recipe_digest(None, None, STEPS)
    assert recipe_of(Pipeline("a", STEPS)) == recipe_of(
        Pipeline("b", STEPS, gpu=Need(count=2), max_seconds=1)
    )


@pytest.mark.parametrize(
    "other",
    [
        ("x@sha256:0", None, STEPS),
        (None, StepCall("fetch"), STEPS),
        (None, None, STEPS[::-1]),
        (None, None, (StepCall("ocr", {"b": 2, "a": "å"}), StepCall("checksum"))),
    ],
)
def test_whatever_changes_a_page_changes_the_digest(
    other: tuple[str | None, StepCall | None, tuple[StepCall, ...]],
) -> None:
    assert recipe_digest(*other) != recipe_digest(None, None, STEPS)
