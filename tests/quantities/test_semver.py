from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.quantities.semver import Semver, SemverError

RISING = [
    *("1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"),
    *("1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0", "2.0.0"),
]


def test_versions_rise_as_the_specification_says() -> None:
    for one, other in pairwise(map(Semver.parse, RISING)):
        assert one < other
        assert one.compare(other) == -1
        assert other.compare(one) == 1


def test_build_metadata_does_not_count() -> None:
    assert Semver.parse("1.2.3+a") == Semver.parse("1.2.3+b")
    assert str(Semver.parse("1.2.3-rc.1+b")) == "1.2.3-rc.1+b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Version string empty"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("1.02.3", 'Minor number must not contain leading zeroes "02"'),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.x", 'Invalid character(s) found in patch number "x"'),
    ],
)
def test_what_is_no_version(text: str, message: str) -> None:
    with pytest.raises(SemverError) as caught:
        Semver.parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "version"), [("v1", "1.0.0"), ("1.2", "1.2.0"), ("01.02.03", "1.2.3"), ("v1.2.3-rc", "1.2.3-rc")]
)
def test_normalizing_forgives(text: str, version: str) -> None:
    assert Semver.normalize(text) == Semver.parse(version)


def test_normalizing_does_not_forgive_everything() -> None:
    with pytest.raises(SemverError, match="short version cannot contain PreRelease/Build meta data"):
        Semver.normalize("1-alpha")


@given(st.tuples(*[st.integers(0, 99)] * 3), st.tuples(*[st.integers(0, 99)] * 3))
def test_released_versions_compare_by_their_numbers(
    one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    first, second = Semver.parse(".".join(map(str, one))), Semver.parse(".".join(map(str, other)))
    assert (first < second) is (one < other)
    assert (first == second) is (one == other)
