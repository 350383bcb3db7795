"""`allot devices` as a person meets it: what is there, what is free, what is out of the ordinary."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from allotment.cli import invoke
from allotment.cli.columns import Column, cut, table
from allotment.cli.devices.rows import memory_words, natural
from allotment.cli.rules import RULES
from allotment.devices.describe import parse_description
from allotment.devices.known_classes import CLASSES
from allotment.devices.ledger import Holder, Ledger
from allotment.devices.machine import this_machine
from allotment.devices.nodes import Node
from allotment.devices.reading import read_files
from allotment.errors import EXIT_FINE, EXIT_REFUSED, EXIT_USAGE
from allotment.running.engine.pretend import pretended_ledger, pretended_world

SAMPLES = Path(__file__).parent.parent / "devices" / "samples"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run_devices(*words: str) -> tuple[int, str, str]:
        code = invoke(["devices", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_devices


def test_devices_that_runs_pretend_to_hold_are_held(run: Run) -> None:
    world = parse_description("2 x L4")
    device = next(world.devices())[0]
    ledger = Ledger(pretended_ledger(pretended_world(world, this_machine()), os.environ))
    with ledger.locked() as view:
        hold = view.take([device], Holder(campaign="books", volume="v1"))
    with hold:
        _, out, _ = run("--describe", "2 x L4")
        assert "1 free, 1 held" in out.splitlines()[0]
        assert "for books (--pretend)/v1" in out
        assert "(--pretend)" not in run("--describe", "3 x L4")[1]
    assert "2 free" in run("--describe", "2 x L4")[1].splitlines()[0]


def cluster(tmp_path: Path, text: str, change: Callable[[list[Any]], None]) -> str:
    """A file of a described fleet with its nodes, changed."""
    slices = parse_description(text).slices
    items = [published.to_dict() for published in slices]
    change(items)
    told = {each["metadata"]["name"] for each in items if each["kind"] == "Node"}
    nodes = dict.fromkeys(each.node_name for each in slices)
    items += [Node(name).to_dict() for name in nodes if name and name not in told]
    items.extend(each.to_dict() for each in CLASSES)
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


def claim(number: int, pool: str, device: str) -> dict[str, Any]:
    result = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": pool, "device": device}
    exactly = {"deviceClassName": "gpu.nvidia.com"}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": f"reader-{number}-gpu", "namespace": "readers"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
        "status": {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": f"reader-{number}", "uid": "1"}],
        },
    }


def test_a_node_of_cards_is_listed_card_by_card(run: Run) -> None:
    code, out, _ = run("--describe", "2 x H100-SXM")
    assert code == EXIT_FINE
    assert out.splitlines() == [
        "the described fleet, node-1: 2 cards; 2 free",
        "",
        "DEVICE  CARD                   MEMORY             KIND   STATE",
        "gpu-0   NVIDIA H100 80GB HBM3  79.64Gi (81559Mi)  whole  free",
        "gpu-1   NVIDIA H100 80GB HBM3  79.64Gi (81559Mi)  whole  free",
    ]


def test_a_large_fleet_is_a_line_for_each_kind(run: Run) -> None:
    _, out, _ = run("--describe", "1000 nodes of 8 x H100-SXM, 20 nodes of 4 x L4")
    assert out.splitlines() == [
        "the described fleet: 1,020 nodes, 8,080 cards; 8,080 free",
        "",
        "NODE                   DEVICE             CARD                   MEMORY EACH        KIND   STATE",
        "node-0001 … node-1000  1,000 x 8 devices  NVIDIA H100 80GB HBM3  79.64Gi (81559Mi)  whole  free",
        "node-1001 … node-1020  20 x 4 devices     NVIDIA L4              22.49Gi (23034Mi)  whole  free",
    ]
    _, out, _ = run("--describe", "50 nodes of 1 x T4", "--all")
    assert len(out.splitlines()) == 53


def test_partitions_say_their_profile_and_how_many_cards_they_are_of(run: Run) -> None:
    _, out, _ = run("--describe", "2 x A100-40 mig=1g.5gb*7, 1 x A100-80")
    lines = out.splitlines()
    assert lines[0] == "the described fleet: 2 nodes, 3 cards as 15 devices; 15 free"
    assert lines[3].split() == [
        *("node-1", "14", "devices", "NVIDIA", "A100-SXM4-40GB"),
        *("4.75Gi", "(4864Mi)", "MIG", "1g.5gb", "free"),
    ]


def test_who_holds_what_and_what_cannot_be_had(run: Run, tmp_path: Path) -> None:
    def change(items: list[Any]) -> None:
        devices = items[0]["spec"]["devices"]
        devices[1]["taints"] = [{"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}]
        devices[2]["taints"] = [{"key": "gpu.nvidia.com/xid", "value": "43", "effect": "None"}]
        items[1]["spec"]["pool"]["resourceSliceCount"] = 2
        items.append(claim(1, "node-1", "gpu-0"))

    code, out, _ = run("--devices", cluster(tmp_path, "2 nodes of 4 x L4", change))
    assert code == EXIT_FINE
    states = {tuple(line.split()[:2]): line.partition("whole  ")[2] for line in out.splitlines()[3:11]}
    assert states == {
        ("node-1", "gpu-0"): "held by claim readers/reader-1-gpu for reader-1",
        ("node-1", "gpu-1"): "tainted: gpu.nvidia.com/xid=79 (NoSchedule)",
        ("node-1", "gpu-2"): "free, noted: gpu.nvidia.com/xid=43",
        ("node-1", "gpu-3"): "free",
        **{("node-2", f"gpu-{number}"): "pool incomplete: its pool is being updated" for number in range(4)},
    }
    assert "warning pool-incomplete: pool gpu.nvidia.com/node-2 is incomplete: 1 of 2 slices" in out


def test_devices_of_a_node_that_no_pod_starts_on_are_free_for_nobody(run: Run, tmp_path: Path) -> None:
    cordoned = Node("node-3", unschedulable=True).to_dict()
    path = cluster(tmp_path, "2 nodes of 4 x L4, 1 x L4", lambda items: items.append(cordoned))
    code, out, _ = run("--devices", path)
    assert code == EXIT_FINE
    assert out.splitlines()[0].endswith("8 free, 1 unschedulable")
    assert "unschedulable: its node is cordoned" in out
    assert "note: no pod starts on node-3, which is cordoned" in out
    states = json.loads(run("--devices", path, "-o", "json")[1])["states"]
    assert [each["why"] for each in states if each["state"] == "unschedulable"] == ["its node is cordoned"]


def test_of_merged_devices_the_exceptions_are_named(run: Run, tmp_path: Path) -> None:
    def change(items: list[Any]) -> None:
        items[3]["spec"]["devices"][2]["taints"] = [{"key": "example.org/broken", "effect": "NoExecute"}]
        items.extend(claim(number, "node-01", f"gpu-{number}") for number in range(2))

    _, out, _ = run("--devices", cluster(tmp_path, "40 nodes of 8 x L4", change))
    assert out.splitlines()[3:] == [
        "node-01 … node-40  40 x 8 devices  NVIDIA L4  22.49Gi (23034Mi)  whole  317 free, 2 held, 1 tainted",
        "",
        "tainted: gpu-2 on node-04, example.org/broken (NoExecute)",
        "held: gpu-0 on node-01, by claim readers/reader-0-gpu for reader-0",
        "held: gpu-1 on node-01, by claim readers/reader-1-gpu for reader-1",
    ]


def test_many_exceptions_are_cut_short_unless_all_are_asked_for(run: Run, tmp_path: Path) -> None:
    def change(items: list[Any]) -> None:
        items.extend(claim(number, f"node-{number:02d}", "gpu-0") for number in range(1, 21))

    path = cluster(tmp_path, "40 nodes of 8 x L4", change)
    assert "… and 8 more: --all shows each device" in run("--devices", path)[1]
    assert run("--devices", path, "--all")[1].count("held by claim") == 20


def test_this_machine_says_who_holds_its_processors(run: Run, tmp_path: Path) -> None:
    device = next(this_machine().devices())[0]
    holder = Holder(pid=4242, campaign="letters", volume="brev-1")
    with Ledger(tmp_path / "ledger").locked() as view:
        hold = view.take([device], holder)
    with hold:
        _, out, _ = run()
        assert out.startswith(f"this machine ({this_machine().node}): ")
        assert "1 held" in out.splitlines()[0] or "; 1 held" in out
        assert "for letters/brev-1 (pid 4242)" in out
    assert "held" not in run()[1]


@pytest.mark.parametrize("sample", ["two-cards.yaml", "older-version.yaml", "mixed-kinds.yaml"])
def test_what_is_printed_is_read_again(run: Run, tmp_path: Path, sample: str) -> None:
    before = read_files([SAMPLES / sample]).world
    for form in ("yaml", "json"):
        code, out, _ = run("--devices", str(SAMPLES / sample), "-o", form)
        assert code == EXIT_FINE
        path = tmp_path / f"again.{form}"
        path.write_text(out)
        after = read_files([path])
        assert set(after.world.slices) == set(before.slices)
        assert (after.world.classes, after.world.nodes) == (before.classes, before.nodes)
        assert (after.world.claims, after.world.taint_rules) == (before.claims, before.taint_rules)
        assert not after.findings


def test_json_has_its_version_the_states_and_the_findings(run: Run) -> None:
    code, out, _ = run("--devices", str(SAMPLES / "pools.yaml"), "-o", "json")
    data = json.loads(out)
    assert code == EXIT_FINE
    assert (data["format_version"], data["kind"]) == (1, "List")
    slices = [item["metadata"]["name"] for item in data["items"] if item["kind"] == "ResourceSlice"]
    assert slices == ["new", "old", "spare", "twins"]
    assert {state["state"] for state in data["states"]} == {"pool incomplete", "pool invalid", "on demand"}
    assert {finding["rule"] for finding in data["findings"]} <= set(RULES)


def test_objects_with_errors_are_left_out_and_the_exit_code_says_so(run: Run) -> None:
    code, out, _ = run("--devices", str(SAMPLES / "broken.yaml"))
    assert code == EXIT_REFUSED
    assert out.splitlines()[0] == f"{SAMPLES / 'broken.yaml'}: nothing that could be read"
    assert "error wrong-version" in out
    code, out, err = run("--devices", str(SAMPLES / "broken.yaml"), "-o", "yaml")
    assert code == EXIT_REFUSED
    assert "error wrong-version" in err
    assert "wrong-version" not in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--devices", "no/such.yaml"], "there is no file no/such.yaml"),
        (["--devices", "x", "--describe", "1 x T4"], "--devices and --describe name two worlds"),
        (["--describe", "1 x T44"], "did you mean `T4`?"),
    ],
)
def test_words_that_name_no_world(run: Run, words: list[str], told: str) -> None:
    code, _, err = run(*words)
    assert code == EXIT_USAGE
    assert told in err


def test_a_terminal_gets_lines_that_fit_with_the_reasons_below(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cluster(
        tmp_path, "2 nodes of 4 x H100-SXM", lambda items: items.append(claim(1, "node-1", "gpu-0"))
    )
    monkeypatch.setattr("allotment.cli.columns.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    _, out, _ = run("--devices", path)
    lines = click.unstyle(out).splitlines()
    assert all(len(line) <= 80 for line in lines[1:])
    assert lines[3].split()[-1] == "held"
    assert lines[-1] == "held: gpu-0 on node-1, by claim readers/reader-1-gpu for reader-1"


def test_text_of_a_file_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    def change(items: list[Any]) -> None:
        items[0]["spec"]["devices"][0]["attributes"]["productName"] = {"string": "\x1b[2Jcard"}

    _, out, _ = run("--devices", cluster(tmp_path, "1 x T4", change))
    assert "\x1b" not in out
    assert "\\x1b[2Jcard" in out


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (None, "not told"),
        (0, "0 (not known)"),
        (81559 << 20, "79.64Gi (81559Mi)"),
        (40 << 30, "40.00Gi (40960Mi)"),
        (1536, "0.00Gi"),
    ],
)
def test_memory_in_words(memory: int | None, words: str) -> None:
    assert memory_words(memory) == words


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["A         B", "abcdefgh  one two", "x         y"]),
        (12, ["A       B", "abc…gh  one", "        two", "x       y"]),
    ],
)
def test_a_table_is_cut_and_its_last_column_goes_on(width: int | None, lines: list[str]) -> None:
    columns = (Column("A", least=6, from_middle=True), Column("NONE"), Column("B", least=4))
    found = table(columns, [("abcdefgh", "", "one two"), ("x", "", "y")], width)
    assert [line.split() for line in found] == [line.split() for line in lines]
    assert all(len(line) <= (width or 99) for line in found)


def test_cutting_and_sorting_text() -> None:
    assert [cut("abcdef", width) for width in (6, 3, 1, 0)] == ["abcdef", "ab…", "…", ""]
    assert sorted(["gpu-10", "gpu-9", "a", "gpu-9-b"], key=natural) == ["a", "gpu-9", "gpu-9-b", "gpu-10"]


def test_other_devices_beside_cards_are_not_counted_as_free_cards(run: Run, tmp_path: Path) -> None:
    channel = {"name": "channel-0"}

    def change(items: list[Any]) -> None:
        for item in [each for each in items if each["kind"] == "ResourceSlice"]:
            pool = {**item["spec"]["pool"], "name": f"channels-{item['spec']['pool']['name']}"}
            spec = {**item["spec"], "driver": "compute-domain.nvidia.com", "pool": pool, "devices": [channel]}
            items.append({**item, "metadata": {"name": f"channels-{item['metadata']['name']}"}, "spec": spec})
        items += [
            Node(name, unschedulable=name == "node-1").to_dict() for name in ("node-1", "node-2", "node-3")
        ]

    _, out, _ = run("--devices", cluster(tmp_path, "2 nodes of 2 x L4", change))
    words = "2 of 3 nodes, 4 cards, 2 other devices; of the cards 2 free, 2 unschedulable"
    assert out.splitlines()[0].endswith(words)
