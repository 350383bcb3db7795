"""`allot convert`: what it prints in each form, where it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from allotment.cli import allot

COUNTS = """\
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - name: main   # the only one
    resources:
      limits:
        nvidia.com/gpu: 1
"""
SHARED = COUNTS.replace("nvidia.com/gpu", "nvidia.com/gpu.shared")
NOTHING = "# a comment\nkind:   ConfigMap\n\n---\n"


def _convert(*arguments: str, given: str = COUNTS) -> Result:
    return CliRunner().invoke(allot, ["convert", *arguments], input=given, standalone_mode=False)


def test_a_diff_has_a_reason_beside_each_run_of_lines() -> None:
    result = _convert("-")
    assert result.return_value == 0
    assert "+    resourceClaims" not in result.stdout
    assert "-        nvidia.com/gpu: 1" in result.stdout
    assert "# `nvidia.com/gpu: 1` counted cards of container `main`" in result.stdout
    assert "stdin:1:1 Pod p: converted" in result.stdout
    assert "\x1b" not in result.stdout


def test_yaml_is_the_whole_stream_and_words_are_beside_it() -> None:
    result = _convert("-o", "yaml", "-")
    assert result.stdout.startswith("apiVersion: resource.k8s.io/v1\n")
    assert "  - name: main   # the only one\n" in result.stdout
    assert "Pod p: converted" in result.stderr


def test_json_has_each_line_with_its_reasons() -> None:
    value = json.loads(_convert("-o", "json", "-").stdout)
    assert value["format_version"] == 1
    (file,) = value["files"]
    assert file["objects"][0]["verdict"] == "converted"
    removed = [each for each in file["changes"] if each["sign"] == "-"]
    assert [each["line"] for each in removed] == [9, 10]
    assert all(each["reasons"] for each in file["changes"])


def test_what_was_left_alone_ends_with_1() -> None:
    result = _convert("-o", "yaml", "-", given=SHARED)
    assert result.return_value == 1
    assert result.stdout == SHARED


def test_what_counts_nothing_is_given_back(tmp_path: Path) -> None:
    out = tmp_path / "out.yaml"
    result = _convert("-o", "yaml", "--out", str(out), "-", given=NOTHING)
    assert result.return_value == 0
    assert out.read_bytes() == NOTHING.encode()
    assert "nothing counts GPUs" in result.stderr


def test_several_files_are_one_stream(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(COUNTS, encoding="utf-8")
    result = _convert("-o", "yaml", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"))
    assert result.stdout.count("\n---\n") == 3


def test_a_count_can_stay_a_count() -> None:
    result = _convert("--as", "extended-resource", "--kubernetes", "v1.37.2", "-")
    assert result.return_value == 0
    assert "Kubernetes 1.37 honours the count" in result.stdout
    assert "extendedResourceName: nvidia.com/gpu" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--kubernetes", "new", "-"], "no version of Kubernetes"), ([], "Missing parameter")],
)
def test_a_wrong_call_is_refused(arguments: list[str], words: str) -> None:
    assert words in str(getattr(_convert(*arguments).exception, "what", _convert(*arguments).exception))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert _convert(str(tmp_path / "none.yaml")).exception is not None


def test_text_from_a_file_cannot_steer_the_terminal() -> None:
    given = COUNTS.replace("the only one", "\x85 \u202e")
    assert "\u202e" not in _convert("-", given=given).stdout
