"""NVIDIA's cards of this machine are published as NVIDIA's driver does it, and trouble stays quiet."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pynvml
import pytest

from allotment.devices import nvml
from allotment.devices.found import NOTHING
from allotment.devices.limits import slice_problems
from allotment.devices.nvml_words import architecture, cuda_version, driver_version
from allotment.devices.slices import Capacity, DeviceId, Taint, Version
from tests.devices.fake_nvml import MIB, FakeCard, FakeNvml, Partition

CUT = (
    Partition("1g.10gb", (19, 4, 1), 9984, multiprocessors=16, instance=9),
    Partition("3g.40gb", (9, 0, 4), 40448, multiprocessors=60, instance=2, used=5 * MIB),
)


def machine(tmp_path: Path) -> Path:
    place = tmp_path / "sys/devices/pci0000:55/0000:55:01.0/0000:64:00.0"
    place.mkdir(parents=True)
    (place / "numa_node").write_text("1\n")
    links = tmp_path / "sys/bus/pci/devices"
    links.mkdir(parents=True)
    (links / "0000:64:00.0").symlink_to(place)
    return tmp_path


def test_a_card_is_published_with_the_drivers_names_and_units(tmp_path: Path) -> None:
    found = nvml.discover("node-a", root=machine(tmp_path), nvml=FakeNvml(FakeCard(minor=3)))
    (published,) = found.slices
    (device,) = published.devices
    assert (published.driver, published.pool.name, published.node_name) == (
        "gpu.nvidia.com",
        "node-a",
        "node-a",
    )
    assert device.name == "gpu-3"
    assert device.attributes == {
        "type": "gpu",
        "uuid": "GPU-11111111-2222-3333-4444-555555555555",
        "productName": "NVIDIA H100 80GB HBM3",
        "brand": "Nvidia",
        "architecture": "Hopper",
        "cudaComputeCapability": Version("9.0.0"),
        "driverVersion": Version("580.126.9"),
        "cudaDriverVersion": Version("13.0.0"),
        "addressingMode": "HMM",
        "resource.kubernetes.io/pciBusID": "0000:64:00.0",
        "resource.kubernetes.io/pcieRoot": "pci0000:55",
        "resource.kubernetes.io/numaNode": 1,
    }
    assert device.capacity == {"memory": Capacity("81559Mi")}
    assert device.taints == ()
    assert not slice_problems(published)


def test_memory_in_use_stands_beside_the_slice() -> None:
    found = nvml.discover("a", nvml=FakeNvml(FakeCard(used=700 * MIB)))
    assert found.in_use == {DeviceId("gpu.nvidia.com", "a", "gpu-0"): 700 * MIB}


def test_memory_is_printed_as_kubernetes_prints_it() -> None:
    (published,) = nvml.discover("a", nvml=FakeNvml(FakeCard("NVIDIA A100-SXM4-40GB", 40960))).slices
    assert published.devices[0].capacity == {"memory": Capacity("40Gi")}


@pytest.mark.parametrize("memory", [None, 0])
def test_a_card_that_does_not_tell_its_memory_publishes_none(memory: int | None) -> None:
    (published,) = nvml.discover("a", nvml=FakeNvml(FakeCard("NVIDIA GB10", memory))).slices
    assert published.devices[0].capacity == {}
    assert published.devices[0].attributes["productName"] == "NVIDIA GB10"


def test_a_card_that_is_cut_offers_its_partitions_and_not_itself() -> None:
    found = nvml.discover("a", nvml=FakeNvml(FakeCard(mig=1, partitions=CUT)))
    (published,) = found.slices
    assert [device.name for device in published.devices] == ["gpu-0-mig-1g10gb-19-4", "gpu-0-mig-3g40gb-9-0"]
    small, large = published.devices
    assert small.attributes["type"] == "mig"
    assert small.attributes["profile"] == "1g.10gb"
    assert small.attributes["uuid"] == "MIG-00000000-0000-0000-0000-000009000004"
    assert small.attributes["parentUUID"] == "GPU-11111111-2222-3333-4444-555555555555"
    assert small.attributes["productName"] == "NVIDIA H100 80GB HBM3"
    assert {key: capacity.value for key, capacity in large.capacity.items()} == {
        "memory": "40448Mi",
        "multiprocessors": "60",
        "copyEngines": "1",
        "decoders": "1",
        "encoders": "0",
        "jpegEngines": "0",
        "ofaEngines": "0",
        "memorySlice0": "1",
        "memorySlice1": "1",
        "memorySlice2": "1",
        "memorySlice3": "1",
    }
    assert found.in_use[DeviceId("gpu.nvidia.com", "a", "gpu-0-mig-3g40gb-9-0")] == 5 * MIB
    assert not slice_problems(published)


def test_partitions_are_told_apart_without_the_right_to_ask_where_they_lie() -> None:
    found = nvml.discover("a", nvml=FakeNvml(FakeCard(mig=1, partitions=CUT), privileged=False))
    assert [d.name for d in found.slices[0].devices] == ["gpu-0-mig-1g10gb-gi9", "gpu-0-mig-3g40gb-gi2"]
    assert not any(key.startswith("memorySlice") for key in found.slices[0].devices[0].capacity)


def test_a_card_with_mig_on_and_no_partitions_offers_nothing_and_says_so() -> None:
    found = nvml.discover("a", nvml=FakeNvml(FakeCard(mig=1)))
    assert found.slices == ()
    (note,) = found.notes
    assert note.startswith("gpu-0 (NVIDIA H100 80GB HBM3) has MIG switched on and no partitions")
    assert "nvidia-smi mig -i 0 -cgi PROFILE -C" in note


@pytest.mark.parametrize(
    ("card", "taints"),
    [
        (FakeCard(), ()),
        (FakeCard(rows=(0, 1, 1, 0)), (Taint("gpu.nvidia.com/row-remapping", "None", "pending"),)),
        (FakeCard(rows=(0, 9, 1, 1)), (Taint("gpu.nvidia.com/row-remapping", "NoSchedule", "failed"),)),
        (FakeCard(retirement_pending=1), (Taint("gpu.nvidia.com/page-retirement", "None", "pending"),)),
        (FakeCard(ecc=(0, 1)), (Taint("gpu.nvidia.com/ecc-mode", "None", "pending"),)),
        (FakeCard(rows=None, ecc=None, recovery=None), ()),
        (FakeCard(recovery=1), (Taint("gpu.nvidia.com/recovery-action", "NoSchedule", "gpu-reset"),)),
        (FakeCard(recovery=5), (Taint("gpu.nvidia.com/recovery-action", "None", "recover-imex-domain"),)),
        (FakeCard(recovery=99), ()),
        (FakeCard(refuses={"*": "UNKNOWN"}), None),
        (
            FakeCard(refuses={"nvmlDeviceGetMemoryInfo": "GPU_IS_LOST"}),
            (Taint("gpu.nvidia.com/gpu-lost", "NoSchedule"),),
        ),
        (
            FakeCard(refuses={"nvmlDeviceGetUUID": "RESET_REQUIRED"}),
            (Taint("gpu.nvidia.com/reset-required", "NoSchedule"),),
        ),
    ],
)
def test_health_is_told_by_taints(card: FakeCard, taints: tuple[Taint, ...] | None) -> None:
    found = nvml.discover("a", nvml=FakeNvml(card))
    if taints is None:
        assert (found.slices, len(found.notes)) == ((), 1)
        return
    assert found.slices[0].devices[0].taints == taints


def test_one_card_that_does_not_answer_does_not_hide_the_others() -> None:
    lost = FakeCard(refuses={"nvmlDeviceGetHandleByIndex": "GPU_IS_LOST"})
    found = nvml.discover("a", nvml=FakeNvml(lost, FakeCard(minor=1)))
    assert [device.name for device in found.slices[0].devices] == ["gpu-1"]
    assert found.notes == ("card 0 of NVIDIA's library does not answer and is left out: Gpu is lost",)


def test_what_the_library_does_not_tell_is_left_out() -> None:
    questions = ("Brand", "CudaComputeCapability", "AddressingMode", "PciInfo", "MigMode", "MinorNumber")
    silent = {f"nvmlDeviceGet{question}": "NOT_SUPPORTED" for question in questions}
    (published,) = nvml.discover("a", nvml=FakeNvml(FakeCard(minor=5, refuses=silent))).slices
    assert set(published.devices[0].attributes) == {
        "type",
        "uuid",
        "productName",
        "driverVersion",
        "cudaDriverVersion",
    }
    assert published.devices[0].name == "gpu-0"


@pytest.mark.parametrize("code", ["LIBRARY_NOT_FOUND", "DRIVER_NOT_LOADED", "UNKNOWN"])
def test_a_library_that_does_not_start_is_no_cards_and_one_line(code: str) -> None:
    found = nvml.discover("a", nvml=FakeNvml(FakeCard(), init=code))
    assert found.slices == ()
    assert len(found.notes) == 1


def test_the_real_library_answers_to_what_the_made_up_one_does() -> None:
    names = [name for name in dir(FakeNvml) if name.lower().startswith("nvml")]
    assert len(names) > 20
    assert [name for name in names if not hasattr(pynvml, name)] == []
    assert issubclass(pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError)
    assert pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST).value == pynvml.NVML_ERROR_GPU_IS_LOST


def test_the_real_library_is_no_trouble_where_it_finds_nothing() -> None:
    found = nvml.discover("a", nvml=pynvml)
    assert found.slices or len(found.notes) == 1


def test_the_library_is_closed_after_the_look() -> None:
    library = FakeNvml(FakeCard())
    nvml.discover("a", nvml=library)
    assert library.running == 0


def test_a_machine_without_cards_says_nothing_and_loads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    started = time.process_time()
    assert nvml.discover("a", root=tmp_path) is NOTHING
    assert time.process_time() - started < 0.1


def test_a_driver_without_the_package_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/nvidiactl").touch()
    assert nvml.discover("a", root=tmp_path).notes == (
        "NVIDIA's driver is here, but the package nvidia-ml-py is not installed",
    )


def test_more_partitions_than_a_slice_holds_are_published_in_several() -> None:
    cards = [
        FakeCard(
            minor=n,
            mig=1,
            rows=(0, 0, 1, 0),
            partitions=tuple(
                Partition("1g.10gb", (19, start, 1), 9984, instance=start + 7) for start in range(7)
            ),
        )
        for n in range(16)
    ]
    found = nvml.discover("a", nvml=FakeNvml(*cards))
    assert [len(published.devices) for published in found.slices] == [64, 48]
    assert {published.pool.resource_slice_count for published in found.slices} == {2}
    assert not any(slice_problems(published) for published in found.slices)


@pytest.mark.parametrize(
    ("capability", "name"),
    [
        ((6, 0), "Pascal"),
        ((7, 0), "Volta"),
        ((7, 5), "Turing"),
        ((8, 6), "Ampere"),
        ((8, 9), "Ada Lovelace"),
        ((9, 0), "Hopper"),
        ((10, 3), "Blackwell"),
        ((12, 1), "Blackwell"),
        ((42, 0), "Unknown"),
        ((1, 0), "Unknown"),
    ],
)
def test_an_architecture_is_known_by_its_compute_capability(capability: tuple[int, int], name: str) -> None:
    assert architecture(*capability) == name


@pytest.mark.parametrize(
    ("text", "version"),
    [("580.126.09", "580.126.9"), ("550.54", "550.54.0"), ("575.57.08.1", "575.57.8"), ("", ""), ("x", "")],
)
def test_a_drivers_version_is_made_one_of_three_numbers(text: str, version: str) -> None:
    assert driver_version(text) == version


@pytest.mark.parametrize(("number", "version"), [(13000, "13.0.0"), (12080, "12.8.0"), (None, ""), (0, "")])
def test_a_cuda_version_is_made_one_of_three_numbers(number: int | None, version: str) -> None:
    assert cuda_version(number) == version
