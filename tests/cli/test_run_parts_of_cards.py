"""`allot run --pretend` where campaigns share cards: real workers, in name on parts of cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.repository.measured import FILE, Measured, PageSeconds, written
from allotment.repository.model import StepCall
from allotment.repository.recipe import recipe_digest
from tests.running.engine.harness import Execution, Repository

L4 = "gpu.nvidia.com/node-1/gpu-0"
SHARING = "sharing: [whole, mig, fraction, time-slicing, mps, consumable]\n"
STEPS = "steps:\n  - step: tallying:create\n    settings: {seconds: 0.1}\n"

SHARED_CARD = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
    - name: g0
      allowMultipleAllocations: true
      attributes: {type: {string: gpu}, productName: {string: NVIDIA L4}}
      capacity:
        memory: {value: 22Gi, requestPolicy: {default: 1Gi, validRange: {min: 1Gi, step: 1Gi}}}
"""


def sharing(root: Path, need: str, volumes: int = 4) -> Repository:
    """A campaign whose pipeline has this need."""
    repository = Repository(root, volumes=volumes, pages=4, seconds=0.1).write()
    with (root / "platform.yaml").open("a") as file:
        file.write(SHARING)
    (root / "pipelines" / "tally.yaml").write_text(f"gpu: {need}\n{STEPS}")
    return repository


def measured(root: Path, peak: int) -> None:
    """Say what the pipeline was measured to use."""
    recipe = recipe_digest(None, None, [StepCall("tallying:create", {"seconds": 0.1})])
    entry = Measured(
        "tally", recipe, "L4", peak, 0.95, 3, 90, PageSeconds(0.1, 0.2, 0.3), 0.1, "2026-05-31T12:00:00Z"
    )
    (root / FILE).write_text(written([entry]))


def most_at_once(executions: list[Execution]) -> int:
    """The most volumes that were worked on at one moment."""
    return max(
        len({run.volume for run in executions if run.begun <= at < (run.ended or at + 1)})
        for at in (run.begun for run in executions)
    )


@pytest.mark.parametrize(
    ("need", "together"),
    [
        ("{sharing: fraction, share: 8Gi}", 2),
        ("{sharing: consumable, share: 0.33, card: L4}", 3),
        ("{sharing: time-slicing}", 3),
        ("{sharing: mps, config: {mps: {threads: 30, pinned_memory: 7Gi}}}", 3),
        ("{memory: 8Gi}", 1),
    ],
)
def test_workers_share_a_card_as_far_as_its_memory_goes(tmp_path: Path, need: str, together: int) -> None:
    repository = sharing(tmp_path, need)
    measured(tmp_path, 6 * 2**30)
    ended = repository.allot("run", "c", "--pretend", "--describe", "1 x L4")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    executions = repository.executions()
    assert {run.device for run in executions} == {L4}
    assert 1 < most_at_once(executions) <= together or together == most_at_once(executions) == 1
    assert repository.taken() == []


def test_nothing_begins_on_less_than_was_measured(tmp_path: Path) -> None:
    repository = sharing(tmp_path, "{sharing: fraction, share: 7Gi}", volumes=2)
    measured(tmp_path, 7 * 2**30)
    ended = repository.allot("run", "c", "--pretend", "--describe", "1 x L4")
    assert (ended.returncode, repository.executions()) == (1, [])
    assert "share-below-peak" in ended.stderr


def test_nothing_begins_of_what_nobody_has_measured(tmp_path: Path) -> None:
    repository = sharing(tmp_path, "{sharing: time-slicing}", volumes=2)
    ended = repository.allot("run", "c", "--pretend", "--describe", "1 x L4")
    assert ended.returncode == 1
    assert "not-measured" in ended.stderr
    assert repository.executions() == []


def test_a_card_that_is_published_for_several_is_given_whole_to_one_at_a_time(tmp_path: Path) -> None:
    repository = sharing(tmp_path, "{memory: 20Gi}", volumes=3)
    (tmp_path / "cards.yaml").write_text(SHARED_CARD)
    ended = repository.allot("run", "c", "--pretend", "--devices", "cards.yaml")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    executions = repository.executions()
    assert most_at_once(executions) == 1
    assert len({run.volume for run in executions}) == 3
