"""The processors of made-up machines become slices; no machine is too odd."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.allocator import allocate
from allotment.devices.claims import Allocation
from allotment.devices.classes import CPU_CLASS, GPU_CLASS
from allotment.devices.kernel_files import parse_list
from allotment.devices.limits import slice_problems
from allotment.devices.machine import this_machine
from allotment.devices.nodes import node_name
from allotment.devices.world import World
from tests.devices.machines import CPU, NODE, meminfo, server, topology, write
from tests.devices.worlds import one

GI = 1 << 30


def names(world: World) -> list[list[str]]:
    return [[device.name for device in published.devices] for published in world.slices]


def machine(root: Path, files: dict[str, str], *, affinity: range | set[int]) -> World:
    return this_machine(write(root, files), "node-1", set(affinity))


def test_two_sockets_with_two_threads_each(tmp_path: Path) -> None:
    files = server(sockets=2, cores=2, threads=2, gibibytes=64)
    world = machine(tmp_path, files, affinity=range(8))
    assert names(world) == [["cpu-0", "cpu-1", "cpu-4", "cpu-5"], ["cpu-2", "cpu-3", "cpu-6", "cpu-7"]]
    assert world.memory_bytes == 64 * GI
    assert [published.to_dict()["spec"]["pool"] for published in world.slices] == [
        {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    ] * 2
    last = world.slices[1].devices[3]
    assert last.to_dict() == {
        "name": "cpu-7",
        "attributes": {
            "cpuID": {"int": 7},
            "coreID": {"int": 1},
            "socketID": {"int": 1},
            "numaNodeID": {"int": 1},
            "coreList": {"string": "3,7"},
            "resource.kubernetes.io/numaNode": {"int": 1},
        },
        "capacity": {"memory": {"value": "8192Mi"}},
    }


def test_two_cores_asked_for_are_two_cores_of_one_node(tmp_path: Path) -> None:
    world = machine(tmp_path, server(sockets=2, cores=2, threads=2, gibibytes=8), affinity=range(8))
    answer = allocate(one(CPU_CLASS, 2), world, world.node)
    assert isinstance(answer, Allocation)
    assert [device_id.device for device_id in answer.ids] == ["cpu-0", "cpu-1"]


def test_cards_are_a_known_class_that_nothing_here_is_of(tmp_path: Path) -> None:
    world = machine(tmp_path, server(sockets=1, cores=2, threads=1, gibibytes=8), affinity=range(2))
    assert str(allocate(one(GPU_CLASS), world, world.node)) == "no device of class gpu.nvidia.com among 2"


def test_processors_that_are_off_are_not_published(tmp_path: Path) -> None:
    files = server(sockets=2, cores=2, threads=1, gibibytes=8) | {f"{CPU}/online": "0,2-3"}
    assert names(machine(tmp_path, files, affinity=range(4))) == [["cpu-0"], ["cpu-2", "cpu-3"]]


def test_only_processors_of_our_affinity_are_published_with_their_share_of_all(tmp_path: Path) -> None:
    files = server(sockets=1, cores=4, threads=2, gibibytes=8)
    world = machine(tmp_path, files, affinity={1, 5, 6})
    assert names(world) == [["cpu-1", "cpu-6", "cpu-5"]]
    assert world.slices[0].devices[0].to_dict()["capacity"] == {"memory": {"value": "1024Mi"}}
    assert world.memory_bytes == 8 * GI


def test_a_machine_without_numa_is_one_node(tmp_path: Path) -> None:
    files = {
        name: text
        for name, text in server(sockets=2, cores=1, threads=1, gibibytes=4).items()
        if NODE not in name
    }
    world = machine(tmp_path, files, affinity=range(2))
    assert names(world) == [["cpu-0", "cpu-1"]]
    assert world.slices[0].devices[0].capacity["memory"].value == "2048Mi"


def test_a_node_without_memory_of_its_own_publishes_none(tmp_path: Path) -> None:
    files = server(sockets=2, cores=1, threads=1, gibibytes=4) | {
        f"{NODE}/node1/meminfo": meminfo(0, "Node 1 ")
    }
    world = machine(tmp_path, files, affinity=range(2))
    assert [dict(published.devices[0].capacity) != {} for published in world.slices] == [True, False]


def test_more_than_128_processors_of_a_node_are_split(tmp_path: Path) -> None:
    files = server(sockets=1, cores=100, threads=2, gibibytes=256)
    world = machine(tmp_path, files, affinity=range(200))
    assert [len(published.devices) for published in world.slices] == [128, 72]
    assert all(slice_problems(published) == () for published in world.slices)
    answer = allocate(one(CPU_CLASS, 32), world, world.node)
    assert isinstance(answer, Allocation)
    assert answer.ids[31].device == "cpu-31"


@pytest.mark.parametrize(
    ("cgroup", "files", "expected"),
    [
        ("0::/", {}, 4 * GI),
        ("0::/a/b", {"sys/fs/cgroup/a/b/memory.max": "max", "sys/fs/cgroup/a/memory.max": str(GI)}, GI),
        ("0::/hidden/by/a/namespace", {"sys/fs/cgroup/memory.max": str(2 * GI)}, 2 * GI),
        ("4:memory:/docker/x", {"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": str(3 * GI)}, 3 * GI),
        ("4:memory:/", {"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, 4 * GI),
        ("0::/../../x", {"sys/fs/cgroup/memory.max": "what is this"}, 4 * GI),
        ("nonsense", {}, 4 * GI),
    ],
)
def test_memory_is_what_the_control_groups_leave(
    tmp_path: Path, cgroup: str, files: dict[str, str], expected: int
) -> None:
    machine_files = server(sockets=1, cores=2, threads=1, gibibytes=4)
    world = machine(tmp_path, machine_files | files | {"proc/self/cgroup": cgroup}, affinity=range(2))
    assert world.memory_bytes == expected
    shares = [device.capacity["memory"].value for _, device in world.devices()]
    assert shares == [f"{expected // 2 >> 20}Mi"] * 2


@pytest.mark.parametrize(
    ("cgroup", "files", "count"),
    [
        ("0::/a", {"sys/fs/cgroup/a/cpu.max": "max 100000"}, 8),
        ("0::/a", {"sys/fs/cgroup/a/cpu.max": "150000 100000"}, 2),
        ("0::/a", {"sys/fs/cgroup/a/cpu.max": "1000 100000"}, 1),
        ("0::/a", {"sys/fs/cgroup/a/cpu.max": "gone"}, 8),
        (
            "3:cpu,cpuacct:/x",
            {
                "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "300000",
                "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000",
            },
            3,
        ),
        ("3:cpu,cpuacct:/", {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1"}, 8),
    ],
)
def test_a_quota_on_processor_time_limits_the_devices(
    tmp_path: Path, cgroup: str, files: dict[str, str], count: int
) -> None:
    machine_files = server(sockets=1, cores=4, threads=2, gibibytes=4)
    write(tmp_path, machine_files | files | {"proc/self/cgroup": cgroup})
    published = [names(this_machine(tmp_path, host, range(8)))[0] for host in ("one", "one", "two")]
    assert [len(devices) for devices in published] == [count] * 3
    assert published[0] == published[1]


def test_an_empty_machine_still_has_the_processors_that_we_run_on(tmp_path: Path) -> None:
    world = this_machine(tmp_path, "x", {0, 1})
    assert names(world) == [["cpu-0", "cpu-1"]]
    assert world.memory_bytes is None
    assert world.slices[0].devices[0].attributes["coreID"] == 0


PLACES = {
    "online": f"{CPU}/online",
    "cpulist": f"{NODE}/node0/cpulist",
    "core": f"{CPU}/cpu1/topology/core_id",
    "meminfo": "proc/meminfo",
    "cgroup": "proc/self/cgroup",
    "max": "sys/fs/cgroup/memory.max",
}


@given(text=st.text(max_size=30), where=st.sampled_from(sorted(PLACES)))
def test_no_content_of_a_file_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, where: str
) -> None:
    files = server(sockets=1, cores=2, threads=1, gibibytes=1)
    root = write(tmp_path_factory.mktemp("odd"), files | {PLACES[where]: text})
    world = this_machine(root, text, {0, 1})
    assert all(slice_problems(published) == () for published in world.slices)


def test_odd_topologies_keep_their_processors(tmp_path: Path) -> None:
    files = (
        {f"{CPU}/online": "0-2"} | topology(0, -1, -1, "0") | topology(1, 7, 3, "") | topology(2, 1, 0, "5-9")
    )
    devices = dict(machine(tmp_path, files, affinity=range(3)).devices())
    cores = [(each.attributes["coreID"], each.attributes["coreList"]) for each in devices.values()]
    assert cores == [(0, "0"), (7, "1"), (1, "2")]


@pytest.mark.parametrize(
    ("hostname", "name"),
    [
        ("node-1", "node-1"),
        ("Anna's MacBook Pro.local", "anna-s-macbook-pro.local"),
        ("räksmörgås", "r-ksm-rg-s"),
        ("UPPER_case", "upper-case"),
        ("...", "localhost"),
        ("", "localhost"),
        ("-a-.b", "a.b"),
    ],
)
def test_a_host_is_named_as_a_node_is(hostname: str, name: str) -> None:
    assert node_name(hostname) == name


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0-3,8,10-11", (0, 1, 2, 3, 8, 10, 11)),
        ("", ()),
        ("3", (3,)),
        ("2-1,x,-4,1-,0-999999999999,٣", (1,)),
        (" 1 , 2 ", (1, 2)),
    ],
)
def test_kernel_lists(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_list(text) == numbers


def test_the_machine_that_we_are_on_publishes_what_we_may_run_on() -> None:
    world = this_machine()
    cpus = {device.attributes["cpuID"] for _, device in world.devices()}
    assert cpus
    assert cpus <= os.sched_getaffinity(0)
    assert all(slice_problems(published) == () for published in world.slices)
