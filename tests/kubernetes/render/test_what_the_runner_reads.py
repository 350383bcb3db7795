"""What is rendered for a pod is an assignment that the runner takes, from several files and with secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from allotment.kubernetes.render import render
from allotment.kubernetes.render.documents import WORKDIR
from allotment.kubernetes.render.pods import ASSIGNMENT
from allotment.platform.model import Platform, Sources, Team
from allotment.repository import load_repository
from allotment.running.__main__ import _asked, _of_files
from allotment.running.assignment import AssignmentError
from allotment.running.reading_assignment import read_assignment

PIPELINE = """
image: registry.example.org/read@sha256:{digest}
gpu: {{memory: 20Gi}}
env:
  MODEL: small
  HUB_KEY: {{secret: hub, key: token}}
steps:
  - {{step: ocr, settings: {{language: swedish}}}}
""".format(digest="ab" * 32)
CAMPAIGN = """
pipeline: read
window: {min: 2, max: 3}
pack: 2
volumes:
  - {id: a, manifest: "https://iiif.example.org/a/manifest.json"}
  - {id: b, images: ["https://iiif.example.org/1.jpg"]}
  - {id: c, manifest: "https://iiif.example.org/c/manifest.json"}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for kind, name, text in (("pipelines", "read", PIPELINE), ("campaigns", "letters", CAMPAIGN)):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def objects_of(root: Path) -> dict[tuple[str, str], Any]:

    platform = Platform(sources=Sources(hosts=("iiif.example.org",)), bucket="s3://results")
    repository = load_repository(root, platform).checked()
    rendered = render(repository, platform, Team("library", secret="keys"))
    return {(each["kind"], each["metadata"]["name"]): each for each in rendered.objects}


def files_of(root: Path, folder: Path) -> list[Path]:
    """The files that the pod's command names, with what its ConfigMaps hold."""
    found = objects_of(root)
    pod = found["Job", "letters"]["spec"]["template"]["spec"]
    (assignment,) = [volume for volume in pod["volumes"] if volume["name"] == "assignment"]
    for source in assignment["projected"]["sources"]:
        (item,) = source["configMap"]["items"]
        data = found["ConfigMap", source["configMap"]["name"]]["data"]
        (folder / item["path"]).write_text(data[item["key"]], encoding="utf-8")
    command = pod["containers"][0]["command"]
    named = [word for before, word in pairwise(command) if before == "--assignment"]
    return [folder / Path(word).name for word in named]


def test_the_runner_takes_what_the_pod_sees(root: Path, tmp_path: Path) -> None:
    (tmp_path / "pod").mkdir()
    assignment = read_assignment(_of_files([str(path) for path in files_of(root, tmp_path / "pod")]))
    assert (assignment.team, assignment.campaign, assignment.pipeline) == ("library", "letters", "read")
    assert [[volume.id for volume in pack] for pack in assignment.indexes] == [["a", "b"], ["c"]]
    assert assignment.indexes[0][1].source == {"images": ["https://iiif.example.org/1.jpg"]}
    assert assignment.steps[0].settings == {"language": "swedish"}
    assert assignment.worker.masked == ("HUB_KEY",)
    assert assignment.network.hosts == ("iiif.example.org",)
    assert assignment.bucket == "s3://results"


def test_secrets_are_files_in_the_pod_and_variables_in_the_runner(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pod").mkdir()
    (tmp_path / "secrets").mkdir()
    paths = files_of(root, tmp_path / "pod")
    pod = objects_of(root)["Job", "letters"]["spec"]["template"]["spec"]
    assert not any("valueFrom" in each for each in pod["containers"][0]["env"])
    (secrets,) = [volume for volume in pod["volumes"] if volume["name"] == "secrets"]
    assert secrets["projected"]["sources"][0]["secret"]["items"] == [{"key": "token", "path": "HUB_KEY"}]
    (tmp_path / "secrets/HUB_KEY").write_text("hush\n")
    settings = json.loads(paths[1].read_text())
    paths[1].write_text(json.dumps({**settings, "root": str(tmp_path)}))
    monkeypatch.setenv("HUB_KEY", "")
    words = [word for path in paths for word in ("--assignment", str(path))]
    _, pack = _asked([*words, "--secrets", str(tmp_path / "secrets"), "--index", "1"])
    assert pack is not None
    assert [volume.id for volume in pack] == ["c"]
    assert os.environ["HUB_KEY"] == "hush"


def test_a_key_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text('{"team": "x"}')
    with pytest.raises(AssignmentError, match="team is in another file too"):
        _of_files([str(tmp_path / "a"), str(tmp_path / "b")])


def test_the_command_of_the_pod_runs_a_volume_to_its_end(tmp_path: Path) -> None:
    """The pod's own command, with its files laid out here in the place of the pod's folders."""
    for kind in ("pipelines", "campaigns", "scans/a", "scans/b", "pod", "results"):
        (tmp_path / kind).mkdir(parents=True)
    (tmp_path / "pipelines/sums.yaml").write_text("steps: [{step: checksum}]\n")
    (tmp_path / "campaigns/all.yaml").write_text(
        "pipeline: sums\nvolumes:\n  - {id: a, folder: scans/a}\n  - {id: b, folder: scans/b}\n"
    )
    for volume in ("a", "b"):
        Image.new("RGB", (8, 8)).save(tmp_path / f"scans/{volume}/0001.png")
    platform = Platform(bucket=str(tmp_path / "results"))
    rendered = render(load_repository(tmp_path, platform).checked(), platform, Team("library"))
    for value in rendered.objects:
        for name, text in value.get("data", {}).items():
            here = text.replace(f'"{WORKDIR}"', json.dumps(str(tmp_path)))
            (tmp_path / "pod" / name).write_text(here, encoding="utf-8")
    (job,) = [value for value in rendered.objects if value["kind"] == "Job"]
    words = job["spec"]["template"]["spec"]["containers"][0]["command"]
    command = [word.replace(ASSIGNMENT, str(tmp_path / "pod")) for word in words]
    command = [word.replace("$(JOB_COMPLETION_INDEX)", "1") for word in command]
    done = subprocess.run([sys.executable, *command[1:]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    manifests = [path.relative_to(tmp_path / "results") for path in tmp_path.glob("results/**/manifest.json")]
    assert [path.parts[-2] for path in manifests] == ["b"]
    assert manifests[0].parts[:2] == ("library", "sums")
