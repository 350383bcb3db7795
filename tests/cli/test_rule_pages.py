"""Every rule on devices and on needs has a page of a minute, and `allot explain` shows it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from allotment.cli import invoke
from allotment.cli.rule_pages import SECTIONS, folders, rule_page
from allotment.cli.rules import RULES
from allotment.devices.finding_rules import RULES as DEVICE_RULES
from allotment.devices.lint.rules import RULES as LINT_RULES
from allotment.errors import EXIT_FINE, EXIT_USAGE
from allotment.needs.rules import RULES as NEED_RULES

ROOT = Path(__file__).parent.parent.parent
MOST_WORDS = 230  # read aloud, about a minute and a half; read silently, less than one


@pytest.mark.parametrize("rule", sorted({**DEVICE_RULES, **LINT_RULES, **NEED_RULES}))
def test_every_rule_has_a_page_of_a_minute(rule: str) -> None:
    page = rule_page(rule)
    assert page is not None
    lines = page.splitlines()
    assert lines[0] == f"# {rule}"
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == list(SECTIONS)
    assert len(page.split()) <= MOST_WORDS
    for section in re.split(r"^#+ .*$", page, flags=re.MULTILINE)[1:]:
        assert section.strip()
    assert max(map(len, lines)) <= 110


def test_every_page_is_of_a_rule() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert pages - RULES.keys() == set()


def test_the_pages_go_into_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"docs/rules": "allotment/rule_pages"}
    assert [folder.name for folder in folders()] == ["rule_pages", "rules"]


def test_explain_shows_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "no-memory"]) == EXIT_FINE
    assert capsys.readouterr().out.rstrip() == (rule_page("no-memory") or "").rstrip()


def test_a_rule_without_a_page_is_explained_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "yaml-tab"]) == EXIT_FINE
    assert RULES["yaml-tab"] in capsys.readouterr().out


def test_explain_without_a_rule_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain"]) == EXIT_FINE
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:] if line[:1].strip()}
    assert listed == set(RULES)


def test_an_unknown_rule_is_refused_with_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "no-memry"]) == EXIT_USAGE
    assert "did you mean `no-memory`?" in capsys.readouterr().err
