"""Plain scalars: the core schema of YAML 1.2 is read, and what YAML 1.1 reads otherwise is called a trap."""

from __future__ import annotations

import datetime
import math

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from allotment.documents.scalars import is_trap, may_not_be_text, read_old, read_plain, readings

NUMBER_LIKE = st.text(alphabet="0123456789.-+_:eExobTZ ainfNIl~", max_size=12)
WORDS = st.sampled_from(["yes", "No", "ON", "off", "true", "False", "NULL", "~", "", "y", "n", "nope", "<<"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("12", 12),
        ("-3", -3),
        ("0012345", 12345),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        (".5", 0.5),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("1:20", "1:20"),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
        ("R0001203", "R0001203"),
        ("1890-letters", "1890-letters"),
        ("9" * 65, "9" * 65),
    ],
)
def test_the_core_schema_is_read(text: str, value: object) -> None:
    assert read_plain(text) == value
    assert type(read_plain(text)) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "0012345",
        "1:20",
        "yes",
        "No",
        "on",
        "OFF",
        "0o7",
        "1e3",
        "2024-01-01",
        "1_000",
        "0b11",
        ".inf",
        ".nan",
        "<<",
    ],
)
def test_what_readers_disagree_on_is_a_trap(text: str) -> None:
    assert is_trap(text)


@pytest.mark.parametrize(
    "text", ["12", "true", "~", "", "1.5", "R1", "y", "n", "1890-letters", "0", "-1", "0x1F"]
)
def test_what_readers_agree_on_is_none(text: str) -> None:
    assert not is_trap(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0012345", "the number 12345 by YAML 1.2 and the number 5349 by YAML 1.1"),
        ("1:20", "text by YAML 1.2 and the number 80 by YAML 1.1"),
        ("no", "text by YAML 1.2 and false by YAML 1.1"),
        ("1890-05-01", "text by YAML 1.2 and the date 1890-05-01 by YAML 1.1"),
        ("1e3", "the number 1000.0 by YAML 1.2 and text by YAML 1.1"),
        ("1.10", "the number 1.1"),
        ("~", "nothing"),
        (".inf", "the number inf"),
    ],
)
def test_both_readings_are_told(text: str, words: str) -> None:
    assert readings(text) == words


@given(st.one_of(NUMBER_LIKE, WORDS))
@example("0o7")
@example("1:20")
@example("0b1")
@example("-0x_F")
@example("1_0.5e+3")
@example("-12:30:45.5")
@example("2024-13-45")
@example("0x_")
@example("._")
def test_the_old_reading_is_what_pyyaml_reads(text: str) -> None:
    """Ours is compared with PyYAML's own resolver and constructor for every text that is one plain scalar."""
    if text == "<<":
        return
    loader = yaml.SafeLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    try:
        theirs = loader.construct_object(yaml.ScalarNode(tag, text))
    except ValueError:  # a form of a number or date without a value: such a text is nothing to anybody
        return
    if isinstance(theirs, datetime.datetime):
        theirs = theirs.date()
    ours = read_old(text)
    if isinstance(theirs, float) and math.isnan(theirs):
        assert isinstance(ours, float)
        assert math.isnan(ours)
    elif isinstance(theirs, datetime.date):
        assert isinstance(ours, datetime.date)
    else:
        assert (type(ours), ours) == (type(theirs), theirs)


@given(st.one_of(NUMBER_LIKE, WORDS, st.text(max_size=8)))
def test_the_quick_look_misses_nothing(text: str) -> None:
    if not may_not_be_text(text):
        assert read_plain(text) == text
        assert yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False)) in {  # type: ignore[no-untyped-call]
            "tag:yaml.org,2002:str",
            "tag:yaml.org,2002:value",
            "tag:yaml.org,2002:yaml",
        }
