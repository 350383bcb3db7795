"""Findings in SARIF 2.1.0, which code scanning of several forges reads.

Facts (SARIF 2.1.0, OASIS): ``version`` and ``runs`` are required, of a run its tool, of a driver its name, of
a result its message. In texts of messages braces are doubled (3.11.5) and brackets take a backslash (3.11.6),
or they would be placeholders and links. Columns count what ``columnKind`` says; addresses are URI references,
relative to a base by its name (3.4).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from allotment import __version__
from allotment.cli.forms.checked import Checked
from allotment.cli.forms.files import named
from allotment.cli.rules import RULES
from allotment.cli.shared import safe
from allotment.errors import Finding

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
HOME: Final = "https://github.com/allotment/allotment"
BASE: Final = "%SRCROOT%"
IN_MESSAGE: Final = {
    ord("{"): "{{",
    ord("}"): "}}",
    ord("["): "\\[",
    ord("]"): "\\]",
    ord("\\"): "\\\\",
}


def as_sarif(checked: Checked, folder: Path) -> str:
    """One run with every finding, and the meaning of each rule that they name; files from ``folder``."""
    rules = sorted({finding.rule for finding in checked.findings})
    places = {rule: index for index, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "allot",
                "fullName": "Allotment check",
                "semanticVersion": __version__,
                "informationUri": HOME,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"description": {"text": "The folder that the check was started in."}}},
        "results": [_result(finding, places, folder) for finding in checked.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(rule: str) -> dict[str, Any]:
    meaning = _text(RULES[rule])
    return {
        "id": rule,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": meaning},
        "help": {"text": f"{meaning} Each result says what to do about it, where that is known."},
        "helpUri": f"{HOME}#readme",
    }


def _result(finding: Finding, places: Mapping[str, int], folder: Path) -> dict[str, Any]:
    hint = f" ({finding.hint})" if finding.hint else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": str(finding.severity),
        "message": {"text": _text(finding.message + hint)},
        "locations": [{"physicalLocation": _location(finding, folder)}],
    }


def _location(finding: Finding, folder: Path) -> dict[str, Any]:
    file = named(finding.position.file, folder)
    if not file.is_inside:
        return {"artifactLocation": {"uri": "file://" + _percent(file.path)}, "region": _region(finding)}
    return {
        "artifactLocation": {"uri": _percent(file.path), "uriBaseId": BASE},
        **({"region": _region(finding)} if file.is_file else {}),
    }


def _region(finding: Finding) -> dict[str, int]:
    return {"startLine": finding.position.line, "startColumn": finding.position.column}


def _percent(path: str) -> str:
    """A path as a URI reference: everything but plain letters, digits and slashes by its bytes."""
    return quote(path.encode("utf-8", "surrogateescape"))


def _text(text: str) -> str:
    return safe(text).translate(IN_MESSAGE)
