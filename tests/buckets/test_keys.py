from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.buckets import keys
from allotment.buckets.keys import NameRefused, RecipeKeys

RECIPE = RecipeKeys("team", "read", "0123456789ab")
VOLUME = RECIPE.volume("R0001203")
BASE = "team/read/0123456789ab/R0001203/"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (VOLUME.manifest, BASE + "manifest.json"),
        (VOLUME.record("0001"), BASE + "pages/0001.json"),
        (VOLUME.output("0001", "ocr.alto.xml"), BASE + "pages/0001.ocr.alto.xml"),
        (VOLUME.refusal("0001"), BASE + "pages/0001.refused.json"),
        (VOLUME.refusal("0001", 2), BASE + "pages/0001.refused-2.json"),
        (VOLUME.attempt(12), BASE + "attempts/12.json"),
        (VOLUME.attempt_end(12), BASE + "attempts/12.end.json"),
        (VOLUME.lease(3), BASE + "leases/3.json"),
        (RECIPE.cache, "team/read/0123456789ab/cache/"),
        (keys.events_object("team", "letters", "w-1", 7), "team/events/letters/w-1-00000007.jsonl"),
    ],
)
def test_where_things_lie(key: str, expected: str) -> None:
    assert key == expected


BAD_NAMES = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "/a",
    "a\\b",
    ".hidden",
    "a.",
    "-a",
    "a b",
    "å",
    "a\n",
    "a#1",
    "%41",
    "x" * 129,
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_leave_its_folder_is_refused(name: str) -> None:
    for attempt in (
        lambda: RecipeKeys(name, "read", "0123456789ab"),
        lambda: RecipeKeys("team", name, "0123456789ab"),
        lambda: RecipeKeys("team", "read", name),
        lambda: RECIPE.volume(name),
        lambda: keys.events_prefix("team", name),
    ):
        with pytest.raises(NameRefused, match="cannot be the name of"):
            attempt()


def test_names_that_the_bucket_keeps_are_refused() -> None:
    with pytest.raises(NameRefused, match="keeps for itself"):
        RecipeKeys("team", "events", "0123456789ab")
    with pytest.raises(NameRefused, match="keeps for itself"):
        RECIPE.volume("cache")


@pytest.mark.parametrize("label", ["refused", "refused-2", "a.b", "", "a/b", "x" * 65])
def test_labels_that_would_look_like_something_else_are_refused(label: str) -> None:
    with pytest.raises(NameRefused):
        keys.check_label(label)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".txt", "txt.", "a#1", "x" * 129])
def test_output_names_are_checked(name: str) -> None:
    with pytest.raises(NameRefused):
        keys.check_output(name)


def test_foreign_objects_are_nothing_of_ours() -> None:
    assert keys.parse_attempt(VOLUME.attempts + "1.json", VOLUME.attempts) == (1, False)
    assert keys.parse_attempt(VOLUME.attempts + "1.end.json", VOLUME.attempts) == (1, True)
    assert keys.parse_attempt(VOLUME.attempts + "x.json", VOLUME.attempts) is None
    assert keys.parse_lease(VOLUME.leases + "12.json", VOLUME.leases) == 12
    assert keys.parse_lease(VOLUME.leases + "12.json.swp", VOLUME.leases) is None
    assert keys.parse_record(VOLUME.record("0012"), VOLUME.pages) == "0012"
    assert keys.parse_record(VOLUME.output("0012", "ocr.json"), VOLUME.pages) is None
    assert keys.parse_refusal(VOLUME.refusal("0012"), VOLUME.pages) == ("0012", 1)
    assert keys.parse_refusal(VOLUME.refusal("0012", 3), VOLUME.pages) == ("0012", 3)
    assert keys.parse_refusal(VOLUME.record("0012"), VOLUME.pages) is None
    assert keys.parse_output(VOLUME.output("0012", "ocr.txt"), VOLUME.pages) == ("0012", "ocr.txt")
    assert keys.parse_output(VOLUME.pages + "notes", VOLUME.pages) is None


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_accepted_name_ever_leaves_its_prefix(volume: str, output: str) -> None:
    try:
        key = RECIPE.volume(volume).output("0001", f"{keys.check_label('ocr')}.{keys.check_output(output)}")
    except NameRefused:
        return
    assert re.fullmatch(r"team/read/0123456789ab/[^/]+/pages/0001\.ocr\.[^/]+", key)
    assert not {"", ".", ".."} & set(key.split("/"))


@pytest.mark.parametrize("volume", ["v", "v.1", "v.1.2", "R0001234", "a-b_c.9.9.9"])
def test_marks_and_merged_events_are_read_as_they_were_written(volume: str) -> None:
    recipe = RecipeKeys("team", "pipeline", "0123456789ab")
    of = recipe.volume(volume)
    assert keys.parse_mark(of.complete_mark(12, 3), recipe.index) == ("complete", volume, 12, 3)
    assert keys.parse_mark(of.failed_mark(7), recipe.index) == ("failed", volume, 7, 0)
    assert keys.parse_mark(of.retried_mark(8), recipe.index) == ("retried", volume, 8, 0)
    assert keys.parse_mark(recipe.index + "other/x.1", recipe.index) is None
    with pytest.raises(NameRefused):
        recipe.volume("_index")
    prefix = keys.events_prefix("team", "c")
    writer = "node-00000003-00000004"
    for key, first, last in (
        (keys.events_object("team", "c", writer, 5), 5, 5),
        (keys.merged_events_object("team", "c", writer, 0, 31), 0, 31),
    ):
        assert keys.parse_events_object(key, prefix) == (writer, first, last)
