"""`allot devices --mig-plan`: the picture, the file, the load from a repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from allotment.cli import invoke
from allotment.errors import EXIT_FINE, EXIT_REFUSED, EXIT_USAGE

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_devices(*words: str) -> tuple[int, str, str]:
        code = invoke(["devices", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_devices


def repository(folder: Path) -> Path:
    files = {
        "platform.yaml": "engine: local\n",
        "pipelines/small.yaml": "gpu: {memory: 9.5Gi, sharing: mig}\nsteps: [{step: checksum}]\n",
        "pipelines/large.yaml": "gpu: {memory: 39Gi}\nsteps: [{step: checksum}]\n",
        "campaigns/many.yaml": "pipeline: small\nwindow: 8\nvolumes:\n"
        + "".join(f"  - {{id: v{number}, folder: scans}}\n" for number in range(20)),
        "campaigns/few.yaml": "pipeline: large\nwindow: 4\nvolumes:\n"
        + "".join(f"  - {{id: w{number}, folder: scans}}\n" for number in range(2)),
        "scans/1.txt": "page\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_picture_has_a_bar_of_memory_slots_for_each_card(run: Run) -> None:
    code, out, _ = run("--describe", "2 x H100-SXM", "--mig-plan", "3 x 9.5Gi, 1 x 39Gi")
    assert code == EXIT_FINE
    lines = out.splitlines()
    assert "the layout: all 4 pods, on 1 of 2 cards (nothing better exists)" in lines
    bar = next(line for line in lines if "3g.40gb" in line)
    below = lines[lines.index(bar) + 1]
    assert len(bar) == len(below) == 2 + 1 + 8 * 8
    assert bar.count("1g.10gb") == 3
    assert below.count("9.5Gi") == 3
    assert "node-1 gpu-1, H100-SXM-80: left over, whole" in lines
    assert any(line.startswith("the scheduler, cutting on demand") for line in lines)


def test_the_yaml_is_the_file_for_mig_parted(run: Run) -> None:
    code, out, _ = run("--describe", "2 x H100-SXM", "--mig-plan", "8 x 9.5Gi, 2 x 39Gi", "-o", "yaml")
    assert code == EXIT_FINE
    assert yaml.safe_load(out) == {
        "version": "v1",
        "mig-configs": {
            "allotment-1": [
                {"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 4, "3g.40gb": 1}}
            ]
        },
    }
    assert "#   allotment-1: node-1" in out


def test_the_json_tells_all(run: Run) -> None:
    _, out, _ = run("--describe", "1 x H100-SXM", "--mig-plan", "8 x 9.5Gi", "-o", "json")
    told = json.loads(out)
    assert told["format_version"] == 1
    assert (told["layout"]["pods"], told["layout"]["of"], told["layout"]["exact"]) == (7, 8, True)
    assert told["layout"]["cards"][0]["seats"][0] == {"profile": "1g.10gb", "start": 0, "part": "9.5Gi"}
    assert told["scheduler"]["on_demand"]["served"] == {"9.5Gi": 7}
    assert told["mig_parted"]["version"] == "v1"


def test_the_load_of_a_repository(run: Run, tmp_path: Path) -> None:
    folder = repository(tmp_path)
    code, out, _ = run("--describe", "2 x H100-SXM", "--mig-plan", str(folder))
    assert code == EXIT_FINE
    assert "the load: 2 x 39Gi, 8 x 9.5Gi (10 pods at once)" in out
    assert "note: few: asks for whole; planned as a partition" in out
    _, out, _ = run("--describe", "2 x H100-SXM", "--mig-plan", str(folder / "campaigns" / "many.yaml"))
    assert "the load: 8 x 9.5Gi (8 pods at once)" in out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--describe", "1 x H100-SXM", "--mig-plan", "1 x 79Gi, 1 x 300Gi"], EXIT_REFUSED),
        (["--describe", "1 x H100-SXM", "--mig-plan", "nonsense"], EXIT_USAGE),
        (["--describe", "1 x H100-SXM", "lint"], EXIT_USAGE),
    ],
)
def test_what_cannot_be_planned(run: Run, words: list[str], code: int) -> None:
    assert run(*words)[0] == code


def test_a_folder_that_is_no_repository_is_no_load(run: Run, tmp_path: Path) -> None:
    code, _, err = run("--describe", "1 x H100-SXM", "--mig-plan", str(tmp_path))
    assert code == EXIT_USAGE
    assert "no repository, and no load in words" in err
