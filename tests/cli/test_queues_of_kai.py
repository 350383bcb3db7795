"""`allot queues` and `allot why` of clusters with KAI: fair shares, loans, and who goes for whom."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke
from allotment.errors import EXIT_FINE
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import NODE, POD, SLICE
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.find import find_platform
from tests.kubernetes.follow.told import situation
from tests.planning.kai_clusters import kai, work
from tests.scheduling.kai.kai_world import NOW, node, queue

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
NODES = [node(f"n{number}") for number in range(12)] + [node("n12", 4)]
ARCHIVE = queue("archive", 10, weight=3)
LABORATORY = queue("laboratory", 10, created=1.0)
LENT = kai(
    NODES,
    [ARCHIVE, LABORATORY],
    [
        work("spectra", "laboratory", 60, on=[f"n{number // 8}" for number in range(60)]),
        work("maps", "laboratory", 40, on=[f"n{number // 8}" for number in range(60, 100)], created=NOW - 20),
        work("letters", "archive", 90),
    ],
)
SMALL = kai(
    [node("n1", 10)],
    [queue("archive", 1, weight=3), queue("laboratory", 1, created=1.0)],
    [work("maps", "laboratory", 10, on=["n1"] * 10), work("letters", "archive", 9)],
)
LISTS = {"Node": "nodes", "Pod": "pods", "Queue": "queues", "PodGroup": "podGroups"}

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def of(command: str, snapshot: Snapshot, *words: str) -> str:
        path = tmp_path / "cluster.yaml"
        path.write_text(snapshot_text(snapshot))
        assert invoke([command, *words, "--snapshot", str(path)]) == EXIT_FINE
        return capsys.readouterr().out

    return of


def with_status(snapshot: Snapshot, name: str, **amounts: int) -> Snapshot:
    """The cluster whose queue has this status."""
    status = {key: {"nvidia.com/gpu": str(amount)} for key, amount in amounts.items()}
    objects = tuple(
        {**each, "status": status} if each["kind"] == "Queue" and each["metadata"]["name"] == name else each
        for each in snapshot.objects
    )
    return replace(snapshot, objects=objects)


def shares(told: str) -> dict[str, Any]:
    return {each["queue"]: each for each in json.loads(told)["queues"]}


def test_quota_comes_first_the_rest_by_weight_and_what_is_over_goes_back(run: Run) -> None:
    out = run("queues", LENT, "-o", "json")
    found = shares(out)
    told = {
        name: [each[key] for key in ("quota", "fair", "used", "borrowed", "lent", "waiting_for")]
        for name, each in found.items()
    }
    assert told == {"archive": [10, 70, 0, 0, 10, 90], "laboratory": [10, 30, 100, 90, 0, 0]}
    assert found["laboratory"]["next_end"] == "PodGroup laboratory/maps"

    data = json.loads(out)["next"]
    assert (data["scheduler"], data["model"], data["kai"]) == ("kai", "0.17", None)
    (line,) = data["queues"]
    (letters,) = line["waiting"]
    assert (line["queue"], letters["next"], letters["started"], letters["pods"]) == (
        "archive",
        "preempts",
        70,
        90,
    )
    assert sum(each["pods"] for each in letters["victims"]) == 70


def test_people_see_it_in_a_table_and_in_words(run: Run) -> None:
    shown = " ".join(run("queues", SMALL).split())
    assert "QUEUE QUOTA FAIR IN USE OVER QUOTA LENT LIMIT WEIGHT WAITING" in shown
    assert "prod: KAI, 2 queues; 10 of 10 GPUs in use (quotas 2), 9 of them over quotas" in shown
    assert "laboratory: others wait, and the first to end for their shares is PodGroup" in shown
    assert "what KAI would do next (a model of KAI 0.17; which KAI the cluster has cannot be told):" in shown
    assert "1. PodGroup archive/letters: evicts 7 of 10 pods of PodGroup laboratory/maps" in shown


def test_a_queue_that_is_named_is_explained(run: Run) -> None:
    shown = " ".join(run("queues", SMALL, "archive").split())
    assert "0 in use; it asks for 9 more, and its fair share is 7" in shown


@pytest.mark.parametrize(
    ("least", "end"),
    [(1, "PodGroup laboratory/gang"), (8, "PodGroup laboratory/gang, not before 40 s from now")],
    ids=["elastic", "a gang"],
)
def test_what_has_just_begun_is_kept_unless_it_has_pods_to_spare(run: Run, least: int, end: str) -> None:
    kept = queue("laboratory", 4, created=1.0, reclaim_min_runtime=100.0)
    gang = work("gang", "laboratory", 8, on=["n1"] * 8, least=least)
    snapshot = kai([node("n1")], [ARCHIVE, kept], [gang])
    assert shares(run("queues", snapshot, "-o", "json"))["laboratory"]["next_end"] == end


def test_within_its_quota_nothing_would_be_reclaimed(run: Run) -> None:
    snapshot = kai([node("n1")], [ARCHIVE, LABORATORY], [work("maps", "laboratory", 4, on=["n1"] * 4)])
    found = shares(run("queues", snapshot, "-o", "json"))
    assert (found["laboratory"]["next_end"], found["laboratory"]["fair"]) == ("", 4)
    assert found["archive"]["fair"] == 0


def test_what_is_nobodys_quota_is_not_lent(run: Run) -> None:
    queues = [queue("archive", 2), queue("laboratory", 2)]
    for count, lent in ((6, 0), (8, 2)):
        snapshot = kai([node("n1")], queues, [work("maps", "laboratory", count, on=["n1"] * count)])
        assert shares(run("queues", snapshot, "-o", "json"))["archive"]["lent"] == lent


def test_a_status_that_is_late_is_told_and_pods_count(run: Run) -> None:
    snapshot = kai([node("n1")], [ARCHIVE, LABORATORY], [work("maps", "laboratory", 4, on=["n1"] * 3)])
    late = with_status(snapshot, "laboratory", allocated=2, requested=2)
    data = json.loads(run("queues", late, "-o", "json"))
    assert {each["queue"]: each["used"] for each in data["queues"]}["laboratory"] == 3
    words = (
        "the status of queue `laboratory` says 2 allocated of 2 requested, its pods say 3 of 4: KAI's queue "
        "controller writes a little late; pods are counted here"
    )
    assert words in data["notes"]
    right = with_status(snapshot, "laboratory", allocated=3, requested=4)
    assert not any(
        "status of queue" in each for each in json.loads(run("queues", right, "-o", "json"))["notes"]
    )


def test_where_pods_are_hidden_the_status_is_all_there_is(run: Run) -> None:
    snapshot = kai([node("n1")], [ARCHIVE, LABORATORY], [], missing=(Missing(POD, "forbidden"),))
    data = json.loads(run("queues", with_status(snapshot, "archive", allocated=2, requested=5), "-o", "json"))
    archive = next(each for each in data["queues"] if each["queue"] == "archive")
    assert (archive["used"], archive["waiting_for"], archive["fair"]) == (2, 3, None)
    assert any("fair shares are not told" in each for each in data["notes"])


def test_what_kais_own_scheduler_saw_will_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw: dict[str, list[Any]] = {name: [] for name in LISTS.values()}
    for each in SMALL.objects:
        if each["kind"] in LISTS:
            bare = {key: value for key, value in each.items() if key not in {"kind", "apiVersion"}}
            raw[LISTS[each["kind"]]].append(bare)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("snapshot.json", json.dumps({"rawObjects": raw}))
    path = tmp_path / "snapshot.zip"
    path.write_bytes(packed.getvalue())
    assert invoke(["queues", "--snapshot", str(path), "-o", "json"]) == EXIT_FINE
    found = shares(capsys.readouterr().out)
    assert [found[name]["fair"] for name in ("archive", "laboratory")] == [7, 3]


def platform_of(folder: Path, scheduler: str) -> tuple[Path, Snapshot]:
    """The example's platform for a scheduler, and a cluster that has its objects."""
    path = folder / "platform.yaml"
    text = (EXAMPLES / "cluster.yaml").read_text()
    path.write_text(text.replace("scheduler: kueue", f"scheduler: {scheduler}"))
    platform, _ = find_platform(EXAMPLES, option=path, environ={})
    there = situation("kai-reclaim")
    objects = (*render_platform(platform).objects, *there.of(SLICE), *there.of(NODE))
    return path, Snapshot(1.8e9, objects, name="prod", version="1.36")


@pytest.mark.parametrize(
    ("scheduler", "who", "words"),
    [
        ("kai", ["kai"], "it starts 4 of 5 pods that wait in its next cycle"),
        ("both", ["kueue", "kai"], "note: KAI sees its pods once Kueue has admitted it"),
    ],
)
def test_what_was_never_sent_is_tried(
    run: Run, tmp_path: Path, scheduler: str, who: list[str], words: str
) -> None:
    platform, there = platform_of(tmp_path, scheduler)
    where = ["church-books", "-C", str(EXAMPLES), "--team", "archive", "--platform", str(platform)]
    shown = run("why", there, *where)
    assert "what KAI would do if it were sent" in shown
    assert words in shown
    data = json.loads(run("why", there, *where, "-o", "json"))["next"]
    assert [each["scheduler"] for each in (data, data.get("then")) if each] == who
    assert data["unsent"]


def test_what_is_there_is_told_of_after_its_sentence(run: Run) -> None:
    shown = run("why", situation("kai-reclaim"), "letters")
    assert shown.index("to do:") < shown.index("what KAI would do next")
    assert "KAI has told it to wait; unless that has changed since" in " ".join(shown.split())
