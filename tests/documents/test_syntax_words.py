"""What libyaml cannot read is told in our words, at the place where the fault is."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.documents import scan_text
from allotment.documents.syntax import FAULTS


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a:\n\tb: 2\n", "2:1", "a tab stands"),
        ("a: 1\n\tb: 2\n", "2:1", "a tab stands"),
        ("a: b: c\n", "1:5", "a key cannot stand here"),
        ("a: 1\n  b: 2\n", "2:3", "a key cannot stand here"),
        ("a:b\nc: d\n", "1:2", "the space is missing"),
        ("a: 1\nb\nc: 2\n", "2:1", "neither `key: value`"),
        ('a: "x\nb: 1\n', "1:4", "never closed"),
        ("a: 'x\n---\n", "1:4", "not closed before"),
        ("a: [x, y\nb: 1\n", "1:4", "the list that opens here"),
        ("a: {x: 1\nb: 1\n", "1:4", "the mapping that opens here"),
        ("a:\n  b: 1\n c: 2\n", "3:2", "a key was expected"),
        ("a:\n  - x\n  b: y\n", "3:3", "an item of the list"),
        ("a: *.example.org\n", "1:4", "cannot begin with `*`"),
        ("a: & b\n", "1:4", "cannot begin with `&`"),
        ("a: @x\n", "1:4", "cannot begin with `@`"),
        ("a: %x\n", "1:4", "cannot begin with `%`"),
        ('a: "\\q"\n', "1:5", "this one does not exist"),
        ("a: >40Gi\n", "1:4", "no comparison"),
        ("a: - b\n", "1:4", "a list cannot begin here"),
        ("a: ]\n", "1:4", "a value was expected"),
        ("a: 1\n...\nb: 2\n", "3:1", "after the end"),
        ("%YAML 2.0\n---\na: 1\n", "1:1", "this version of YAML"),
        ("a: !x!y z\n", "1:4", "cannot begin with `!`"),
        ("å: 1\x00\n", "1:5", "U+0000"),
    ],
)
def test_faults_of_syntax(text: str, place: str, words: str) -> None:
    document, (finding,) = scan_text(text, name="x.yaml")
    assert document is None
    assert f"{finding.position.line}:{finding.position.column}" == place
    assert words in finding.message
    assert finding.hint


LIBYAML = ("while scanning", "while parsing", "did not find", "could not find", "are not allowed", "found ")


@given(st.text(alphabet="ab1:-[]{},'\"#&*!|>%@`?\n \t\\.~", max_size=30))
def test_any_text_is_read_or_told_of_in_our_own_words(text: str) -> None:
    _, findings = scan_text(text, name="x.yaml")
    for finding in findings:
        assert not any(words in finding.message for words in LIBYAML), finding
        assert finding.hint


def test_every_sentence_of_the_table_is_whole() -> None:
    for fault in FAULTS.values():
        assert fault.message[0] in string.ascii_lowercase + "`"
        assert not fault.message.endswith(".")
        assert fault.hint
