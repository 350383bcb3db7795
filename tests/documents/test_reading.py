"""Files and texts become plain values, within limits, whatever their encoding and line ends."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from allotment.documents import Limits, read_document, read_text, scan_text
from allotment.errors import FindingsError, WorldError

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**12), 10**12),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abcdåé😀", max_size=3), inner)
    ),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_a_document_holds_what_was_written(value: object, flow: bool) -> None:
    """Everything that JSON can hold comes back, in block and in flow style, as another writer writes it."""
    text = yaml.safe_dump(value, allow_unicode=False, default_flow_style=flow)
    document, findings = scan_text(text, name="x.yaml")
    assert findings == []
    assert document is not None
    assert document.value == value


def test_byte_order_mark_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes("\ufeffname: å😀\r\nlist:\r\n  - one\r\n  - two: 2\r\n".encode())
    document = read_document(path, name="x.yaml")
    assert document.value == {"name": "å😀", "list": ["one", {"two": 2}]}
    assert str(document.position(("name",))) == "x.yaml:1:7"
    assert str(document.position(("list", 1, "two"))) == "x.yaml:4:10"


def test_of_a_key_that_is_there_twice_the_first_counts_and_both_lines_are_told() -> None:
    document, (finding,) = scan_text("a: 1\nb: 2\na: 3\n", name="x.yaml")
    assert document is not None
    assert document.value == {"a": 1, "b": 2}
    assert str(finding) == (
        "x.yaml:3:1 error duplicate-key: the key `a` is on line 1 and again on line 3 (keep one of them)"
    )


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x\n", "a: &x [*x]\n", "a: !!str 1\n", "a: ! 1\n"])
def test_anchors_aliases_and_tags_are_refused(text: str) -> None:
    document, findings = scan_text(text, name="x.yaml")
    assert document is None
    assert {finding.rule for finding in findings} <= {"yaml-anchor", "yaml-tag"}


def test_signs_of_anchors_inside_texts_are_none() -> None:
    text = "a: this & that!\nb: 'https://h.se/?a=1&b=2!'\nc: x&y\nd: [a&b, '!x']\n"
    assert read_text(text, name="x.yaml").value == {
        "a": "this & that!",
        "b": "https://h.se/?a=1&b=2!",
        "c": "x&y",
        "d": ["a&b", "!x"],
    }


def test_a_few_lines_cannot_stand_for_gigabytes() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    document, findings = scan_text("\n".join(lines), name="x.yaml")
    assert document is None
    assert findings[0].rule == "yaml-anchor"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_ends_early(opening: str) -> None:
    document, (finding,) = scan_text(opening * 200_000, name="x.yaml")
    assert document is None
    assert finding.rule == "nested-too-deep"


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    with pytest.raises(FindingsError, match="not-a-file"):
        read_document(path, name="pipe.yaml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match="not-a-file"):
        read_document(tmp_path, name="x.yaml")


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match="no such file"):
        read_document(tmp_path / "x.yaml", name="x.yaml")


def test_the_limit_on_bytes_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: 12345\n")
    assert read_document(path, name="x.yaml", limits=Limits(bytes=9)).value == {"a": 12345}
    with pytest.raises(FindingsError, match="file-too-large"):
        read_document(path, name="x.yaml", limits=Limits(bytes=8))


def test_the_limit_on_lines_and_items_is_told_at_once() -> None:
    limits = Limits(items=10)
    assert read_text("a: [" + "1," * 8 + "]\n", name="x.yaml", limits=limits).value == {"a": [1] * 8}
    with pytest.raises(FindingsError, match="more than 10 lines and items"):
        read_text("a: [" + "1," * 9 + "]\n", name="x.yaml", limits=limits)


def test_of_very_many_anchors_or_doubled_keys_the_first_are_told() -> None:
    assert len(scan_text("- &a x\n" * 5000, name="x.yaml")[1]) == 100
    assert len(scan_text("a: 1\n" * 5000, name="x.yaml")[1]) == 100


def test_pyyaml_without_libyaml_is_said_in_clear_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    with pytest.raises(WorldError, match="without libyaml"):
        read_text("a: 1\n", name="x.yaml")


def test_reading_raises_what_scanning_hands_back() -> None:
    with pytest.raises(FindingsError) as caught:
        read_text("a: 1\na: 2\n", name="x.yaml")
    assert [finding.rule for finding in caught.value.findings] == ["duplicate-key"]
