"""`allot convert`: what it prints in each form, where it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from allotment.cli import allot
from allotment.cli.commands import convert
from allotment.errors import FindingsError

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


@pytest.mark.parametrize("width", [80, 120])
def test_at_a_terminal_no_line_is_wider_than_it(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "terminal_width", lambda: width)
    result = _convert("-")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert "-        nvidia.com/gpu: 1" in lines
    place = lines.index("-        nvidia.com/gpu: 1")
    assert any(line.startswith("# `nvidia.com/gpu: 1` counted cards") for line in lines[place - 5 : place])


def test_a_reason_is_said_once_of_lines_that_share_it() -> None:
    reasons = [line.partition("  # ")[2] for line in _convert("-").stdout.splitlines() if "  # " in line]
    assert '"' not in reasons
    assert len(set(reasons)) == len(reasons)


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


CLUSTER = """\
engine: kubernetes
scheduler: SCHEDULER
teams:
  archive: {namespace: scans}
  laboratory: {namespace: lab}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: server
  namespace: lab
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      containers:
      - name: main
        image: registry.example.org/server:1.2
        resources: {limits: {nvidia.com/gpu: 1}}
"""
KUEUES = "the label `kueue.x-k8s.io/queue-name: laboratory` (in metadata.labels)"
KAIS = "the label `kai.scheduler/queue: laboratory` (in metadata.labels and spec.template.metadata.labels)"
DIGEST = "by digest (NAME@sha256:…), and `registry.example.org/server:1.2` is not"


@pytest.mark.parametrize(
    ("scheduler", "namespace", "told"),
    [
        ("kueue", "lab", {KUEUES, DIGEST}),
        ("kai", "lab", {KAIS, "needs `schedulerName: kai-scheduler`", DIGEST}),
        ("default", "lab", {DIGEST}),
        ("kueue", "elsewhere", set()),
    ],
)
@pytest.mark.parametrize("by_option", [True, False])
def test_what_a_teams_namespace_asks_for_besides_is_told(
    scheduler: str,
    namespace: str,
    told: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    by_option: bool,
) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER.replace("SCHEDULER", scheduler))
    monkeypatch.chdir(tmp_path)
    if not by_option:
        monkeypatch.setenv("ALLOT_PLATFORM", str(path))
    given = DEPLOYMENT.replace("namespace: lab", f"namespace: {namespace}")
    result = _convert("-", *(["--platform", str(path)] if by_option else []), given=given)
    assert result.return_value == 0
    for words in (KUEUES, KAIS, "needs `schedulerName", DIGEST):
        assert (words in result.stdout) == any(words in each for each in told)


@pytest.mark.parametrize(
    ("kind", "place"),
    [("Job", "metadata.labels"), ("StatefulSet", "spec.template.metadata.labels")],
)
def test_the_label_is_asked_for_where_the_cluster_looks(kind: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER.replace("SCHEDULER", "kueue"))
    group = "batch/v1" if kind == "Job" else "apps/v1"
    given = DEPLOYMENT.replace("Deployment", kind).replace("apps/v1", group)
    assert f"(in {place})" in _convert("-", "--platform", str(path), given=given).stdout
    queue = "\n    kueue.x-k8s.io/queue-name: laboratory"
    if kind == "Job":
        given = given.replace("  namespace: lab", f"  namespace: lab\n  labels:{queue}")
    else:
        given = given.replace(
            "{labels: {app: server}}", f"\n      labels:\n    {queue[1:]}\n        app: server"
        )
    assert "needs the label" not in _convert("-", "--platform", str(path), given=given).stdout


def test_a_platform_that_cannot_be_read_is_in_the_way_only_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("engine: [")
    monkeypatch.setenv("ALLOT_PLATFORM", str(path))
    assert _convert("-").return_value == 0
    assert isinstance(_convert("-", "--platform", str(path)).exception, FindingsError)
