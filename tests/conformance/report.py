"""The results as a table for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor
from textwrap import wrap
from typing import Any

import click

from allotment.cli.columns import Column, table
from tests.conformance.comparing import Compared
from tests.conformance.floors import Known
from tests.conformance.results import Count, Results, SuiteResult

NAMED = 10
LINE = 100


def rate(value: float) -> str:
    """Cut, not rounded: only what agrees throughout is 100 %."""
    return f"{value:.0f}%" if value == int(value) else f"{floor(value * 100) / 100:.2f}%"


def lines(results: Results, failures: int, width: int | None) -> Iterator[str]:
    """Everything but the last line; ``failures`` is how many differences are shown in full."""
    if results.suites:
        yield from _table(results, width)
    differences = [(each, *pair) for each in results.suites for pair in each.differences]
    new = [(each, compared) for each, compared, known in differences if known is None]
    for each, compared, known in sorted(differences, key=lambda entry: entry[2] is not None)[:failures]:
        yield from _in_full(each, compared, known)
    if differences:
        yield ""
    if new and failures < len(differences):
        yield f"{len(new)} not known to differ (--failures N shows N of them in full):"
        yield from (f"  {each.suite.name} {one.feature}: {one.case}" for each, one in new[:NAMED])
        if len(new) > NAMED:
            yield f"  … and {len(new) - NAMED} more"
    reasons = dict.fromkeys((each.suite.name, known) for each, _, known in differences if known)
    yield from (f"known to differ: {suite} {known.case}: {known.reason}" for suite, known in reasons)
    yield from (
        f"agrees now, take it out of conformance.toml: {each.suite.name} {known.case}"
        for each in results.suites
        for known in each.gone
    )
    yield from _about_the_folder(results)
    for each in results.suites:
        if each.below:
            fault = f"{each.suite.name} is below its floor: {rate(each.held.rate)}, not {rate(each.floor)}"
            yield click.style(fault, fg="red")


def last_line(results: Results) -> str:
    """How many agree."""
    return f"{results.all.passed} of {results.all.total} agree"


def _table(results: Results, width: int | None) -> list[str]:
    columns = (
        Column("suite", paint=lambda _, piece: click.style(piece, bold=True)),
        Column("feature", least=12),
        Column("pass", right=True),
        Column("fail", right=True, paint=_red_unless("0")),
        Column("rate", right=True, paint=_red_unless("100%")),
        Column("floor", right=True),
    )
    head, *rows = table(columns, (row for each in results.suites for row in _rows(each)), width)
    return [click.style(head, bold=True), *rows]


def _red_unless(right: str) -> Any:
    return lambda text, piece: piece if text in {right, ""} else click.style(piece, fg="red")


def _rows(each: SuiteResult) -> Iterator[tuple[str, ...]]:
    yield (each.suite.name, "all", *_numbers(each.all), rate(each.floor))
    if len(each.features) > 1:
        yield from (("", name, *_numbers(count), "") for name, count in each.features.items())


def _numbers(count: Count) -> tuple[str, str, str]:
    return str(count.passed), str(count.failed), rate(count.rate)


def _in_full(each: SuiteResult, compared: Compared, known: Known | None) -> Iterator[str]:
    yield ""
    yield click.style(f"{each.suite.name} {compared.feature}: {compared.case}", bold=True)
    if known:
        yield f"  known     {known.reason}"
    yield f"  expected  {compared.expected}"
    yield f"  found     {compared.found}"


def _about_the_folder(results: Results) -> Iterator[str]:
    if results.absent or results.unread:
        yield ""
    yield from _names("not in the folder", results.absent)
    yield from _names("not read by this version", results.unread)


def _names(words: str, names: Sequence[str]) -> list[str]:
    text = f"{words}: {', '.join(names)}"
    return wrap(text, LINE, subsequent_indent="  ", break_on_hyphens=False) if names else []


def as_json(results: Results) -> dict[str, Any]:
    """The same, whole."""
    return {
        "agree": results.all.passed,
        "of": results.all.total,
        "exit": results.exit_code,
        "suites": [
            {
                "suite": each.suite.name,
                **_counts(each.all),
                "floor": each.floor,
                "below": each.below,
                "features": {name: _counts(count) for name, count in each.features.items()},
                "differences": [_difference(*pair) for pair in each.differences],
                "gone": [known.case for known in each.gone],
            }
            for each in results.suites
        ],
        "absent": list(results.absent),
        "unread": list(results.unread),
    }


def _counts(count: Count) -> dict[str, Any]:
    return {"pass": count.passed, "fail": count.failed, "rate": count.rate}


def _difference(compared: Compared, known: Known | None) -> dict[str, Any]:
    told = {
        "case": compared.case,
        "feature": compared.feature,
        "expected": compared.expected,
        "found": compared.found,
    }
    return told | ({"known": known.reason} if known else {})
