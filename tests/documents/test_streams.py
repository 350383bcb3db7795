"""Several documents in a file, and JSON: values, places, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allotment.documents.source import Limits
from allotment.documents.stream import scan_stream, scan_stream_bytes

TWO = """\
# a comment
---
kind: A
spec: {count: 1}
---
---
kind: B
spec:
  count: "2"
"""


def test_every_document_knows_its_places_in_the_whole_file() -> None:
    documents, findings = scan_stream_bytes(TWO.encode(), name="two.yaml")
    assert findings == []
    assert [document.value["kind"] for document in documents] == ["A", "B"]
    places = [str(document.position(("spec", "count"))) for document in documents]
    assert places == ["two.yaml:4:15", "two.yaml:9:10"]
    assert str(documents[1].position(("kind",), key=True)) == "two.yaml:7:1"


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_json_is_read_and_has_places(indent: int | str | None) -> None:
    text = json.dumps({"kind": "List", "items": [{"a": "å\n"}, {"b": 1e3}]}, indent=indent)
    documents, findings = scan_stream_bytes(text.encode(), name="x.json")
    assert findings == []
    assert documents[0].value == {"kind": "List", "items": [{"a": "å\n"}, {"b": 1000.0}]}
    offset = text.index('"å') if '"å' in text else text.index('"\\u00e5')
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    assert str(documents[0].position(("items", 0, "a"))) == f"x.json:{line}:{column}"


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ("", "file-empty", "f:1:1"),
        ("# nothing\n---\n", "file-empty", "f:1:1"),
        ("a: 1\n---\nb: [\n", "yaml-syntax", "f:4:1"),
        ("a: 1\n---\nb: &x 1\nc: *x\n", "yaml-anchor", "f:3:4"),
        ("a: 1\n---\nb: !!str 1\n", "yaml-tag", "f:3:4"),
        ("a: 1\n---\nb: 1\nb: 2\n", "duplicate-key", "f:4:1"),
        ('{"a": 1,\n "a": 2}', "duplicate-key", "f:2:2"),
        ("a: 1\n---\n" + "[" * 70 + "]" * 70, "nested-too-deep", "f:3:65"),
        ('{"a": ' + "[" * 70 + "]" * 70 + "}", "nested-too-deep", "f:1:70"),
    ],
)
def test_what_is_refused_in_any_document(text: str, rule: str, place: str) -> None:
    _, findings = scan_stream_bytes(text.encode(), name="f")
    assert (findings[0].rule, str(findings[0].position)) == (rule, place)


def test_a_fault_in_one_document_leaves_the_others() -> None:
    documents, findings = scan_stream_bytes(b"a: 1\n---\nb: *x\n---\nc: 1\n", name="f")
    assert [document.value for document in documents] == [{"a": 1}, {"c": 1}]
    assert [finding.rule for finding in findings] == ["yaml-anchor"]


def test_json_that_only_python_reads_has_the_file_as_its_place() -> None:
    text = '{"a": "\\ud83d\\ude00"}'
    documents, findings = scan_stream_bytes(text.encode(), name="f.json")
    assert findings == []
    assert documents[0].value == {"a": "\U0001f600"}
    assert str(documents[0].position(("a",))).startswith("f.json:1:")


def test_a_file_that_is_not_there_or_too_large(tmp_path: Path) -> None:
    (missing,) = scan_stream(tmp_path / "no", name="no")[1]
    assert missing.rule == "file-unreadable"
    assert missing.hint.startswith("is the name right?")
    (tmp_path / "large").write_text("a: 1\n" * 10)
    _, findings = scan_stream(tmp_path / "large", name="large", limits=Limits(bytes=10))
    assert findings[0].rule == "file-too-large"
