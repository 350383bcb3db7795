"""Where the platform names an image that brings the runner, every pod of ours gets it, and no other does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.render import render
from allotment.kubernetes.render.bringing import FOLDER
from allotment.kubernetes.render.pods import CONTAINER_SECURITY
from allotment.platform.model import Platform, PodRunner, Team
from allotment.repository import load_repository

DIGEST = "sha256:" + "ab" * 32
BRINGER = f"registry.example.org/inject@{DIGEST}"
PLATFORM = Platform(engine="kubernetes", bucket="s3://results", runner=PodRunner(BRINGER))
FILES = {
    "pipelines/own.yaml": f"image: registry.example.org/read@{DIGEST}\n"
    "prepare: {step: command, settings: {run: [fetch]}}\nsteps: [{step: checksum}]\n",
    "pipelines/theirs.yaml": f"image: registry.example.org/htr@{DIGEST}\nsteps: [{{step: Segmentation}}]\n",
    "campaigns/ours.yaml": "pipeline: own\nvolumes: [{id: a, folder: 's3://scans/a'}]\n",
    "campaigns/foreign.yaml": "pipeline: theirs\nvolumes: [{id: a, folder: 's3://scans/a'}]\n",
    "fleets/serve.yaml": f"image: registry.example.org/serve@{DIGEST}\ncommand: [serve]\n",
}


def pods(root: Path, platform: Platform) -> dict[str, Any]:
    platform = replace(platform, sources=replace(platform.sources, buckets=("s3://scans",)))
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    rendered = render(load_repository(root, platform).checked(), platform, Team("library"))
    return {
        f"{each['kind']} {each['metadata']['name'].rpartition('-')[0] or each['metadata']['name']}": each[
            "spec"
        ]["template"]["spec"]
        for each in rendered.objects
        if each["kind"] in {"Job", "Deployment"}
    }


@pytest.mark.parametrize("name", ["Job ours", "Job ours-prepare"])
def test_an_init_container_brings_it_and_the_worker_starts_it(tmp_path: Path, name: str) -> None:
    pod = pods(tmp_path, PLATFORM)[name]
    (init,), (worker,) = pod["initContainers"], pod["containers"]
    assert init["image"] == BRINGER
    assert (init["args"], init["volumeMounts"]) == ([FOLDER], [{"name": "runner", "mountPath": FOLDER}])
    assert init["securityContext"] == CONTAINER_SECURITY
    assert worker["command"][:3] == ["python3", f"{FOLDER}/launch.py", "--assignment"]
    (seen,) = [each for each in worker["volumeMounts"] if each["name"] == "runner"]
    assert seen == {"name": "runner", "mountPath": FOLDER, "readOnly": True}
    (volume,) = [each for each in pod["volumes"] if each["name"] == "runner"]
    assert volume["emptyDir"] == {"sizeLimit": "512Mi"}


@pytest.mark.parametrize("name", ["Job foreign", "Deployment serve"])
def test_whose_program_is_not_ours_is_left_alone(tmp_path: Path, name: str) -> None:
    without = pods(tmp_path, replace(PLATFORM, runner=PodRunner()))[name]
    assert pods(tmp_path, PLATFORM)[name] == without
    assert "initContainers" not in without


def test_without_one_the_image_has_the_runner(tmp_path: Path) -> None:
    pod = pods(tmp_path, replace(PLATFORM, runner=PodRunner()))["Job ours"]
    assert "initContainers" not in pod
    assert pod["containers"][0]["command"][:3] == ["python", "-m", "allotment.running"]
    assert not [each for each in pod["volumes"] if each["name"] == "runner"]


@pytest.mark.parametrize("name", ["Job ours", "Job ours-prepare"])
def test_security_variables_and_arguments_are_the_same_either_way(tmp_path: Path, name: str) -> None:
    brought, own = (pods(tmp_path, each)[name] for each in (PLATFORM, replace(PLATFORM, runner=PodRunner())))
    assert brought["securityContext"] == own["securityContext"]
    (worker,), (bare,) = brought["containers"], own["containers"]
    assert worker["command"][2:] == bare["command"][3:]
    assert {**worker, "command": 0, "volumeMounts": 0} == {**bare, "command": 0, "volumeMounts": 0}
