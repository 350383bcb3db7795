"""`allot render`: one stream that is the same every time, what was given up on standard error, exit codes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from allotment.cli import invoke

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CLUSTER = ["--platform", "cluster.yaml", "--team", "archive"]


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / "cluster")
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)


def test_it_is_the_same_bytes_every_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert invoke(["render", *CLUSTER]) == 0
    first = capsys.readouterr().out
    assert invoke(["render", *CLUSTER, "--out", str(tmp_path / "all.yaml")]) == 0
    assert (tmp_path / "all.yaml").read_text() == first
    assert capsys.readouterr().out == ""


def test_notes_are_on_standard_error_and_in_comments(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["render", *CLUSTER]) == 0
    shown = capsys.readouterr()
    told = [line for line in shown.err.splitlines() if line.startswith("note: ")]
    assert [f"# {line}" for line in told] == [line for line in shown.out.splitlines() if line.startswith("#")]
    assert any("`preemptible: false` is given up" in line for line in told)


def test_names_choose_and_a_pipeline_comes_with_its_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["render", "all-checksums", *CLUSTER]) == 0
    objects = list(yaml.safe_load_all(capsys.readouterr().out))
    names = [(each["kind"], each["metadata"]["name"]) for each in objects if each is not None]
    assert [name for name in names if name[0] == "Job"] == [("Job", "all-checksums")]
    assert next(name for _, name in names if name.startswith("pipeline-")).startswith("pipeline-checksums-")
    assert not [name for name in names if name[0].startswith("ResourceClaim")]


def test_the_scheduler_is_the_platforms_unless_another_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["render", "church-books", *CLUSTER]) == 0
    assert "kueue.x-k8s.io/queue-name: archive" in capsys.readouterr().out
    assert invoke(["render", "church-books", *CLUSTER, "--scheduler", "kai"]) == 0
    out = capsys.readouterr().out
    assert "kueue.x-k8s.io" not in out
    assert "kai.scheduler/queue: archive" in out


def test_what_the_cluster_needs_is_made_of_the_platforms_file_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke(["render", "--platform-objects", "--platform", "cluster.yaml"]) == 0
    out = capsys.readouterr().out
    assert "#     resources:\n#       deviceClassMappings:" in out
    kinds = {each["kind"] for each in yaml.safe_load_all(out) if each is not None}
    assert {"ClusterQueue", "LocalQueue", "Namespace", "DeviceClass", "ValidatingAdmissionPolicy"} <= kinds
    assert invoke(["render", "church-books", "--platform-objects", "--platform", "cluster.yaml"]) == 2


@pytest.mark.parametrize("file", ["engine: local\n", None])
def test_a_platform_of_this_machine_has_no_objects(
    file: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if file is not None:
        (tmp_path / "platform.yaml").write_text(file)
    assert invoke(["render", "--platform-objects"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "which is this machine alone, and no cluster needs anything for it" in shown.err


def test_a_platforms_file_that_is_not_there_is_told_where_one_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["render", "--platform-objects", "--platform", "nowhere.yaml"]) == 2
    assert "examples/cluster/cluster.yaml is one of a cluster to begin with" in capsys.readouterr().err


def test_a_broken_repository_renders_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(EXAMPLES / "cluster", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipelines/checksums.yaml").write_text("gpu: {memory: lots}\nsteps: [{step: checksum}]\n")
    assert invoke(["render", *CLUSTER, "--out", "out.yaml"]) == 1
    assert not (tmp_path / "out.yaml").exists()
    assert "pipelines/checksums.yaml:1:" in capsys.readouterr().err


def test_an_empty_folder_and_an_unknown_name_are_wrong_calls(tmp_path: Path) -> None:
    assert invoke(["render", *CLUSTER, "nonsense"]) == 2
    assert invoke(["render", "-C", str(tmp_path), "--platform", "cluster.yaml", "--team", "archive"]) == 2


def test_this_machines_own_repository_renders_with_a_placeholder_and_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["init", str(tmp_path / "new")]) == 0
    capsys.readouterr()
    assert invoke(["render", "-C", str(tmp_path / "new")]) == 0
    shown = capsys.readouterr()
    assert "image: placeholder.invalid/no-image@sha256:" in shown.out
    assert "warning: pipelines/read: no image is named" in shown.err


def test_nothing_is_wrong_with_the_example() -> None:
    assert invoke(["check", *CLUSTER]) == 0
