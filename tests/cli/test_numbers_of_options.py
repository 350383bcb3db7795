"""Options that are numbers take numbers: ``nan`` and ``inf`` are refused with the range."""

from __future__ import annotations

import pytest

from allotment.cli import invoke


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0", "many"])
@pytest.mark.parametrize(
    "words",
    [("compare", "--days"), ("simulate", "--trace", "x", "--days"), ("simulate", "--trace", "x", "--size")],
    ids=" ".join,
)
def test_what_is_no_number_in_the_range_is_refused(
    words: tuple[str, ...], value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([*words, value]) == 2
    assert "Invalid value" in capsys.readouterr().err
