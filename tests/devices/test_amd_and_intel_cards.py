"""AMD's and Intel's cards are read from the kernel's files and published under their drivers' names."""

from __future__ import annotations

from pathlib import Path

from allotment.devices import sysfs_gpus
from allotment.devices.found import NOTHING
from allotment.devices.limits import slice_problems
from allotment.devices.slices import DeviceId, Version
from tests.devices.machines import write

GIB = 1 << 30


def card(root: Path, index: int, address: str, files: dict[str, str], driver: str) -> str:
    """A card under its PCI address, with the links by which the kernel shows it."""
    place = root / f"sys/devices/pci0000:c0/{address}"
    write(place, files)
    for folder in ("sys/class/drm", "sys/bus/pci/devices", f"sys/bus/pci/drivers/{driver}"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / f"sys/class/drm/card{index}").mkdir()
    (root / f"sys/class/drm/card{index}/device").symlink_to(place)
    (root / f"sys/bus/pci/devices/{address}").symlink_to(place)
    (place / "driver").symlink_to(root / f"sys/bus/pci/drivers/{driver}")
    return f"sys/class/drm/card{index}"


def amd(root: Path, *, partition: str = "SPX") -> None:
    files = {
        "vendor": "0x1002",
        "device": "0x74a1",
        "product_name": "AMD Instinct MI300X OAM",
        "current_compute_partition": partition,
        "current_memory_partition": "NPS1",
        "mem_info_vram_total": str(196592 << 20),
        "mem_info_vram_used": str(5 << 20),
        "drm/card1/dev": "226:1",
        "drm/renderD128/dev": "226:128",
    }
    card(root, 1, "0000:c1:00.0", files, "amdgpu")
    write(
        root,
        {
            "sys/module/amdgpu/version": "6.12.12",
            "sys/module/amdgpu/srcversion": "7AA72EC2C8F513519BE86FD",
            "sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 96\nsimd_count 0",
            "sys/class/kfd/kfd/topology/nodes/1/properties": (
                "simd_count 1216\nsimd_per_cu 4\ndrm_render_minor 128\nunique_id 994913940318892495"
            ),
        },
    )


def test_an_amd_card_is_published_as_its_driver_does_it(tmp_path: Path) -> None:
    amd(tmp_path)
    found = sysfs_gpus.discover("a", root=tmp_path)
    (published,) = found.slices
    (device,) = published.devices
    assert (published.driver, device.name) == ("gpu.amd.com", "gpu-1-128")
    assert device.attributes == {
        "type": "amdgpu",
        "cardIndex": 1,
        "renderIndex": 128,
        "pciAddr": "0000:c1:00.0",
        "partitionProfile": "spx_nps1",
        "deviceID": "994913940318892495",
        "productName": "AMD_Instinct_MI300X_OAM",
        "driverVersion": Version("6.12.12"),
        "driverSrcVersion": "7AA72EC2C8F513519BE86FD",
        "resource.kubernetes.io/pcieRoot": "pci0000:c0",
    }
    assert {key: value.value for key, value in device.capacity.items()} == {
        "memory": "196592Mi",
        "computeUnits": "304",
        "simdUnits": "1216",
    }
    assert found.in_use == {DeviceId("gpu.amd.com", "a", "gpu-1-128"): 5 << 20}
    assert not slice_problems(published)


def test_an_amd_card_in_parts_is_not_offered_and_said_to_be_there(tmp_path: Path) -> None:
    amd(tmp_path, partition="DPX")
    found = sysfs_gpus.discover("a", root=tmp_path)
    assert found.slices == ()
    assert "is partitioned (dpx)" in found.notes[0]


def test_an_intel_card_is_published_as_its_driver_does_it(tmp_path: Path) -> None:
    place = card(tmp_path, 0, "0000:04:00.0", {"vendor": "0x8086", "device": "0xe211"}, "xe")
    write(tmp_path, {f"{place}/lmem_total_bytes": str(24 * GIB)})
    (published,) = sysfs_gpus.discover("a", root=tmp_path).slices
    (device,) = published.devices
    assert (published.driver, device.name) == ("gpu.intel.com", "0000-04-00-0-0xe211")
    assert device.attributes["pciId"] == "0xe211"
    assert device.attributes["driver"] == "xe"
    assert device.attributes["pciRoot"] == "c0"
    assert {key: value.value for key, value in device.capacity.items()} == {
        "memory": "24Gi",
        "millicores": "1k",
    }
    assert not slice_problems(published)


def test_an_intel_card_that_does_not_tell_its_memory_says_0_as_its_driver_does(tmp_path: Path) -> None:
    card(tmp_path, 0, "0000:00:02.0", {"vendor": "0x8086", "device": "0x7d67"}, "i915")
    (published,) = sysfs_gpus.discover("a", root=tmp_path).slices
    assert published.devices[0].capacity["memory"].value == "0"


def test_screens_of_other_makers_are_no_cards(tmp_path: Path) -> None:
    card(tmp_path, 0, "0000:03:00.0", {"vendor": "0x1a03", "device": "0x2000"}, "ast")
    assert sysfs_gpus.discover("a", root=tmp_path) is NOTHING


def test_a_machine_without_cards_has_none(tmp_path: Path) -> None:
    assert sysfs_gpus.discover("a", root=tmp_path) is NOTHING
