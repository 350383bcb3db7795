"""`allot check -o github` and `-o sarif`: what their readers need, whatever files are called or hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli import invoke
from allotment.cli.forms.checked import Checked
from allotment.cli.forms.github import as_github
from allotment.cli.forms.sarif import as_sarif
from allotment.cli.rules import RULES
from allotment.errors import Finding, Position, Severity

COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*)(?:,[a-z]+=[^,:\r\n]*)*)::([^\r\n]*)")
HERE = Path("/srv/repository")


def checked(*findings: Finding) -> Checked:
    return Checked(findings, 1, 1, 1, 0, 0, 2, "built in")


def finding(file: str = "campaigns/a.yaml", message: str = "it is wrong", **more: Any) -> Finding:
    return Finding(Position(file, 3, 7), "unknown-key", message, **more)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (
            finding(hint="mend it"),
            "::error file=campaigns/a.yaml,line=3,col=7,title=unknown-key::it is wrong (mend it)",
        ),
        (
            finding(severity=Severity.WARNING),
            "::warning file=campaigns/a.yaml,line=3,col=7,title=unknown-key::it is wrong",
        ),
        (
            finding(severity=Severity.NOTE),
            "::notice file=campaigns/a.yaml,line=3,col=7,title=unknown-key::it is wrong",
        ),
        (
            finding("campaigns/a,b:50%.yaml", "50%: a\r\nb, c"),
            "::error file=campaigns/a%2Cb%3A50%25.yaml,line=3,col=7,title=unknown-key::50%25: a%0D%0Ab, c",
        ),
        (
            finding("campaigns/a\nb.yaml", "\x1b[31m::error ::y"),
            "::error file=campaigns/a%0Ab.yaml,line=3,col=7,title=unknown-key::\\x1b[31m::error ::y",
        ),
        (
            finding(f"{HERE}/campaigns/a.yaml"),
            "::error file=campaigns/a.yaml,line=3,col=7,title=unknown-key::it is wrong",
        ),
        (
            finding("/etc/allotment/platform.yaml"),
            "::error file=/etc/allotment/platform.yaml,line=3,col=7,title=unknown-key::it is wrong",
        ),
    ],
)
def test_a_finding_is_a_workflow_command(found: Finding, line: str) -> None:
    command, closing = as_github(checked(found), HERE).splitlines()
    assert command == line
    assert COMMAND.fullmatch(command)
    assert closing.endswith("1 pipeline and 1 campaign are right (1 volume)")


def test_a_finding_about_the_whole_folder_stands_at_no_file(tmp_path: Path) -> None:
    about = Finding(Position("."), "unknown-key", "it is wrong", severity=Severity.NOTE)
    assert as_github(checked(about), tmp_path).startswith("::notice title=unknown-key::it is wrong\n")
    (result,) = json.loads(as_sarif(checked(about), tmp_path))["runs"][0]["results"]
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": ".", "uriBaseId": "%SRCROOT%"}}}
    ]


@given(st.text(), st.text(), st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_no_text_makes_a_second_command(message: str, hint: str, file: str) -> None:
    said = as_github(checked(finding(f"campaigns/{file}", message, hint=hint)), HERE)
    first, _, rest = said.partition("\n")
    assert COMMAND.fullmatch(first)
    assert not rest.startswith("::")
    assert "\n" not in rest


def driver_and_results(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the schema of SARIF 2.1.0 requires, and its parts."""
    value = json.loads(text)
    assert value["version"] == "2.1.0"
    (run,) = value["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "allot"
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    for rule in driver["rules"]:
        assert rule["id"] in RULES
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        assert re.fullmatch(r"[A-Za-z0-9._~/%:-]+", artifact["uri"])
        assert artifact.get("uriBaseId", "%SRCROOT%") in run["originalUriBaseIds"]
        region = location["physicalLocation"].get("region", {"startLine": 1, "startColumn": 1})
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
    return driver, run["results"]


@pytest.mark.parametrize(
    ("file", "uri", "is_inside"),
    [
        ("campaigns/a.yaml", "campaigns/a.yaml", True),
        ("campaigns/å b:c%.yaml", "campaigns/%C3%A5%20b%3Ac%25.yaml", True),
        ("a:b.yaml", "a%3Ab.yaml", True),
        (f"{HERE}/platform.yaml", "platform.yaml", True),
        ("/etc/allotment/platform.yaml", "file:///etc/allotment/platform.yaml", False),
        ("../elsewhere/platform.yaml", "file:///srv/elsewhere/platform.yaml", False),
        ("campaigns/\udcff.yaml", "campaigns/%FF.yaml", True),
    ],
)
def test_files_are_uris_from_the_folder_of_the_check(file: str, uri: str, *, is_inside: bool) -> None:
    _, (result,) = driver_and_results(as_sarif(checked(finding(file)), HERE))
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == ({"uri": uri, "uriBaseId": "%SRCROOT%"} if is_inside else {"uri": uri})


def test_text_is_no_placeholder_link_or_control_character() -> None:
    _, (result,) = driver_and_results(
        as_sarif(checked(finding(message="{0} [here](https://x.example) \\ \x1b\u202e")), HERE)
    )
    assert result["message"]["text"] == r"{{0}} \[here\](https://x.example) \\ \\x1b\\u202e"


@given(st.text(min_size=1).filter(lambda text: "\0" not in text), st.text(min_size=1))
def test_sarif_keeps_every_name_and_is_plain_ascii(file: str, message: str) -> None:
    text = as_sarif(checked(finding(f"campaigns/x{file}x", message)), HERE)
    assert text.isascii()
    _, (result,) = driver_and_results(text)
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    if "/" not in file:
        assert unquote(artifact["uri"]) == f"campaigns/x{file}x"


def test_both_forms_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/read.yaml").write_text("steps: [{step: ocr}]\nwindw: 1\n")
    monkeypatch.chdir(tmp_path)
    assert invoke(["check", "-o", "github"]) == 1
    out = capsys.readouterr().out
    assert (
        "::error file=pipelines/read.yaml,line=2,col=1,title=unknown-key::there is no key `windw` here" in out
    )
    assert invoke(["check", "-o", "sarif", "--out", "found.sarif"]) == 1
    driver, results = driver_and_results((tmp_path / "found.sarif").read_text())
    assert [rule["id"] for rule in driver["rules"]] == sorted({result["ruleId"] for result in results})
    assert "unknown-key" in {result["ruleId"] for result in results}
