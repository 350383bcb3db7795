"""What a plane that stays tells a newcomer to type leads to a first result."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.platform.file import scan_platform
from tests.controlplane.__main__ import DESCRIBED
from tests.controlplane.conftest import needs
from tests.controlplane.first_steps import next_steps, whole_cards
from tests.controlplane.kueue_manager import can_be_apart
from tests.controlplane.plane import ROOT
from tests.controlplane.processes import until

SECONDS = 240


def asked(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.controlplane", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)


def typed(*lines: str) -> str:
    """What a shell says to these lines, all of which go well."""
    words = ["sh", "-ec", "\n".join(lines)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    return ended.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    needs("etcd", "kubernetes", "kueue")
    if not can_be_apart():
        pytest.skip("Kueue needs an /etc of its own, and this machine does not let us make one (unshare)")
    place = tmp_path / "stays"
    yield place
    asked("down", "--folder", str(place))


def test_a_newcomer_gets_text_of_pages(folder: Path) -> None:
    up = ("up", "--folder", str(folder), "--describe", "1 node of 2 x L4, 1 node of 2 x A100-40 mig=1g.5gb*7")
    first = asked(*up)
    assert (first.returncode, first.stdout) == (0, f"{folder / 'kubeconfig'}\n"), first.stderr
    second = asked(*up)
    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert "It runs already" in second.stderr
    steps = next_steps(folder)
    assert [each in second.stderr for each in steps] == [True] * len(steps)
    enter, apply, watch, results = steps
    look = watch.replace(" -w", "")
    assert "2 created" in typed(enter, apply)
    until(lambda: "letters finished: 3 of 3 volumes done" in typed(enter, look), "it to end", seconds=120)
    assert "Fog so thick that the bell" in typed(enter, results)
    assert "everything is ready" in typed(enter, "allot doctor --cluster")
    assert asked("down", "--folder", str(folder)).returncode == 0
    assert not folder.exists()


@pytest.mark.parametrize(
    ("describe", "cards"),
    [
        ("2 nodes of 4 x A100-80, 2 nodes of 4 x L4", ["A100-80", "L4"]),
        ("50 nodes of 8 x h100-sxm", ["H100-SXM-80"]),
        ("1 x A100-40 mig=1g.5gb*7, 3 x L4", ["L4"]),
        ("2 x H100-SXM mig=on-demand", []),
    ],
)
def test_cards_that_are_not_cut_are_told_apart(describe: str, cards: list[str]) -> None:
    assert list(whole_cards(describe)) == cards


def test_kueue_there_counts_every_class_of_the_example() -> None:
    example, findings = scan_platform(ROOT / "examples" / "cluster" / "cluster.yaml", "cluster.yaml")
    assert findings == []
    cards = whole_cards(DESCRIBED)
    assert {each.device_class for each in example.cards.values()} <= {f"gpu-{each.lower()}" for each in cards}
