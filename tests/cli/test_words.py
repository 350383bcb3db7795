"""Phrases for counts, spans, rates and moments; and text from outside made harmless."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from allotment.cli.shared import called, safe
from allotment.cli.words import clock, rate, span
from allotment.errors import WorldError, in_one_line


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1.0, "0 s"),
        (0.04, "0 s"),
        (4.26, "4.3 s"),
        (59.4, "1 min"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (3885.7, "1 h 5 min"),
        (18_720, "5 h 12 min"),
        (273_600, "3 d 4 h"),
    ],
)
def test_spans(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (WorldError("there is no such bucket"), "there is no such bucket"),
        (WorldError("there is none", remedy="make it"), "there is none; make it"),
        (WorldError("it is\n  gone.", "s3://a", "make it"), "s3://a: it is gone; make it"),
        (ValueError("one\n two"), "one two"),
    ],
)
def test_what_went_wrong_is_told_from_what_to_do_on_one_line_too(error: Exception, words: str) -> None:
    assert in_one_line(error) == words


@pytest.mark.parametrize(
    ("pages", "words"), [(None, ""), (0.0, ""), (0.05, "3.0 pages/min"), (12.0, "12.0 pages/s")]
)
def test_rates(pages: float | None, words: str) -> None:
    assert rate(pages) == words


def test_a_moment_of_another_day_has_its_date() -> None:
    assert len(clock(0.0, 0.0)) == len("00:00:00")
    assert len(clock(0.0, 10 * 86_400)) == len("1970-01-01 00:00")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain åäö 日本", "plain åäö 日本"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("two\nlines", "two\\x0alines"),
        ("left\u202eright", "left\\u202eright"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_text_from_outside_cannot_steer_the_terminal(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    ("root", "options", "words"),
    [
        (".", {}, "allot results"),
        ("/a b", {}, "allot results -C '/a b'"),
        (
            ".",
            {"platform": Path("x.yaml"), "team": "archive"},
            "allot results --platform x.yaml --team archive",
        ),
        (".", {"platform": None, "team": None}, "allot results"),
    ],
)
def test_a_command_is_named_with_the_options_that_it_needs(
    root: str, options: dict[str, object], words: str
) -> None:
    context = click.Context(click.Command("status"))
    context.params = dict(options)
    with context:
        assert called("results", Path(root)) == words
