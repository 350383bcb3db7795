"""A worker sees the cards that it holds, by UUID, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.devices.found import slices_of
from allotment.devices.slices import Device, DeviceId
from allotment.devices.world import World
from allotment.running.engine.visible import card_variables, visible_cards
from allotment.running.engine.worker import worker_environment
from tests.running.engine.harness import Repository

NVIDIA, AMD, INTEL, CPU = "gpu.nvidia.com", "gpu.amd.com", "gpu.intel.com", "cpu.allotment"
BUS = "resource.kubernetes.io/pciBusID"
DEVICES = {
    NVIDIA: [
        Device("gpu-0", {"uuid": "GPU-aaaa"}),
        Device("gpu-1-mig-1g10gb-19-0", {"uuid": "MIG-bbbb"}),
        Device("gpu-2", {}),
    ],
    AMD: [Device("gpu-1-128", {"deviceID": "994913940318892495"})],
    INTEL: [Device("second", {BUS: "0000:8a:00.0"}), Device("first", {BUS: "0000:04:00.0"})],
    CPU: [Device("cpu-0", {"cpuID": 0})],
}
WORLD = World(
    slices=tuple(each for driver, devices in DEVICES.items() for each in slices_of(driver, "a", devices)),
    classes={},
    node="a",
)


def named(*names: str) -> list[DeviceId]:
    return [DeviceId.parse(name.replace(":", "/a/")) for name in names]


@pytest.mark.parametrize(
    ("held", "variables"),
    [
        (["cpu.allotment:cpu-0"], {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}),
        ([], {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}),
        (
            ["gpu.nvidia.com:gpu-0"],
            {"CUDA_VISIBLE_DEVICES": "GPU-aaaa", "ROCR_VISIBLE_DEVICES": ""},
        ),
        (
            ["gpu.nvidia.com:gpu-1-mig-1g10gb-19-0", "gpu.nvidia.com:gpu-0"],
            {"CUDA_VISIBLE_DEVICES": "MIG-bbbb,GPU-aaaa", "ROCR_VISIBLE_DEVICES": ""},
        ),
        (["gpu.nvidia.com:gpu-2"], {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""}),
        (
            ["gpu.amd.com:gpu-1-128"],
            {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": "GPU-0dcea4f51acab1cf"},
        ),
        (
            ["gpu.intel.com:second"],
            {
                "CUDA_VISIBLE_DEVICES": "",
                "ROCR_VISIBLE_DEVICES": "",
                "ZE_AFFINITY_MASK": "1",
                "ZE_ENABLE_PCI_ID_DEVICE_ORDER": "1",
            },
        ),
    ],
)
def test_a_worker_sees_what_it_holds(held: list[str], variables: dict[str, str]) -> None:
    assert card_variables(named(*held), visible_cards(WORLD)) == variables


def test_nothing_of_a_pipeline_shows_it_another_card() -> None:
    environment = worker_environment(
        {"CUDA_VISIBLE_DEVICES": "0", "HOME": "/home/ada"},
        {"CUDA_VISIBLE_DEVICES": "all", "WORD": "x"},
        2,
        {"CUDA_VISIBLE_DEVICES": "GPU-aaaa"},
    )
    assert environment["CUDA_VISIBLE_DEVICES"] == "GPU-aaaa"
    assert (environment["HOME"], environment["WORD"], environment["OMP_NUM_THREADS"]) == (
        "/home/ada",
        "x",
        "2",
    )


def test_a_worker_on_processors_is_started_with_no_card_in_sight(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "tallying.py").write_text(
        "import os\n"
        "def create(settings, context):\n"
        "    seen = {key: os.environ.get(key) for key in ('CUDA_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES')}\n"
        "    return lambda page, earlier: {'txt': repr(seen).encode()}\n"
    )
    ended = repository.allot("run", "c")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (output,) = (tmp_path / "results").rglob("pages/*.txt")
    assert output.read_text() == "{'CUDA_VISIBLE_DEVICES': '', 'ROCR_VISIBLE_DEVICES': ''}"
