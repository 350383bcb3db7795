"""`allot run --pretend`: needs met on a fleet that is not here, whose cards workers get in name only."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.running.engine.harness import Execution, Repository

FLEET = "1 x H100-SXM, 1 x L4"
H100, L4 = "gpu.nvidia.com/node-1/gpu-0", "gpu.nvidia.com/node-2/gpu-0"
STARTING_SECONDS = 10.0


def two_needs(root: Path) -> Repository:
    """Campaigns that need 40Gi and 10Gi, with windows that are wider than the machine."""
    repository = Repository(root, volumes=8, pages=5, seconds=0.05).write()
    for memory, window, volumes in ((40, 8, range(4)), (10, 4, range(4, 8))):
        (root / "pipelines" / f"need-{memory}.yaml").write_text(
            f"gpu: {{memory: {memory}Gi}}\n"
            "steps:\n  - step: tallying:create\n    settings: {seconds: 0.05}\n"
        )
        repository.window = str(window)
        repository.campaign(f"c{memory}", volumes)
        campaign = root / "campaigns" / f"c{memory}.yaml"
        campaign.write_text(campaign.read_text().replace("pipeline: tally", f"pipeline: need-{memory}"))
    return repository


def on(executions: list[Execution], device: str) -> list[Execution]:
    return sorted((run for run in executions if run.device == device), key=lambda run: run.begun)


def test_each_volume_is_on_a_card_that_its_need_allows_alone_and_no_card_idles(tmp_path: Path) -> None:
    repository = two_needs(tmp_path)
    ended = repository.allot("run", "c40", "c10", "--pretend", "--describe", FLEET)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    executions = repository.executions()
    assert len(executions) == 40
    assert {run.device for run in executions} == {H100, L4}
    assert {run.volume for run in on(executions, L4)} <= {"v4", "v5", "v6", "v7"}
    for device in (H100, L4):
        for before, after in pairwise(on(executions, device)):
            assert before.ended is not None
            assert before.ended <= after.begun
            assert after.begun - before.ended < STARTING_SECONDS
    assert repository.taken() == []


def test_a_card_is_in_name_only(tmp_path: Path) -> None:
    repository = two_needs(tmp_path)
    (tmp_path / "tallying.py").write_text(
        "import os\n"
        "def create(settings, context):\n"
        "    seen = os.environ.get('CUDA_VISIBLE_DEVICES')\n"
        "    return lambda page, earlier: {'txt': f'{seen} {context.devices}'.encode()}\n"
    )
    assert repository.allot("run", "c40", "--pretend", "--describe", FLEET).returncode == 0
    assert "gpu-0" in repository.allot("results", "c40", "--text").stdout


def test_a_pipeline_that_needs_no_card_runs_beside_those_that_do(tmp_path: Path) -> None:
    repository = two_needs(tmp_path)
    repository.campaign("plain", range(2))
    ended = repository.allot("run", "c40", "plain", "--pretend", "--describe", FLEET)
    assert ended.returncode == 0, ended.stderr
    assert "plain finished: 2 of 2 volumes complete" in ended.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--describe", FLEET), 2, "is not this machine"),
        (("--pretend",), 2, "--pretend needs a world"),
        (("--pretend", "--describe", "1 x L4"), 1, "write `memory: 22.49Gi`"),
        (("--pretend", "--describe", "1 x H199"), 2, "H199"),
        (("--pretend", "--devices", "nowhere.yaml"), 2, "there is no file nowhere.yaml"),
        (("--pretend", "--devices", "x", "--describe", "1 x L4"), 2, "two worlds"),
    ],
)
def test_what_cannot_be_pretended_is_refused_and_starts_nothing(
    tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    repository = two_needs(tmp_path)
    ended = repository.allot("run", "c40", *words)
    assert (ended.returncode, said in ended.stderr) == (code, True), ended.stderr
    assert not (tmp_path / "results").exists()
