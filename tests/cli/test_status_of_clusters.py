"""`allot status`, `why` and `logs` of a cluster and of a snapshot, as a person meets them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.cli import cluster as of_cluster
from allotment.cli import following, invoke
from allotment.errors import EXIT_FINE, EXIT_REFUSED, EXIT_USAGE, EXIT_WORLD
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import POD, kind_of
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.store import Key
from allotment.kubernetes.testing.transport import FakeTransport
from tests.kubernetes.follow.told import SITUATIONS, situation

Run = Callable[..., tuple[int, str, str]]
IMAGE = "registry.example.org/htr/reader@sha256:" + "3f" * 32
CONFIG = (
    "apiVersion: v1\nkind: Config\ncurrent-context: prod\n"
    "contexts: [{name: prod, context: {cluster: c, user: u, namespace: archive}}]\n"
    "clusters: [{name: c, cluster: {server: http://127.0.0.1:1}}]\nusers: [{name: u, user: {}}]\n"
)
PLATFORM = (
    "engine: kubernetes\nscheduler: kueue\nbucket: ./results\n"
    "teams: {archive: {namespace: archive, queue: {quota: 4}}}\n"
    "cards: {a100: {card: A100-80, class: gpu-a100-80}}\n"
    "sources: {template: 'https://iiif.example.org/{ref}/manifest', hosts: [iiif.example.org]}\n"
)
PIPELINE = f"image: {IMAGE}\ngpu: {{card: a100, memory: 40Gi}}\nsteps: [{{step: ocr}}]\n"
CAMPAIGN = "pipeline: hand\nwindow: {min: 2, max: 8}\nvolumes: [R0001201, R0001202, R0001203]\n"
GANG = f"image: {IMAGE}\ncommand: [train]\nworkers: 4\ngpu: {{card: a100, count: 2}}\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    (tmp_path / "config").write_text(CONFIG)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def run_command(*words: str) -> tuple[int, str, str]:
        code = invoke(words)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_command


@pytest.fixture
def repository(tmp_path: Path) -> tuple[str, ...]:
    """The options that name a repository with two files, and the platform's file."""
    root = tmp_path / "repository"
    for place, text in {
        "pipelines/hand.yaml": PIPELINE,
        "campaigns/letters.yaml": CAMPAIGN,
        "campaigns/diaries.yaml": CAMPAIGN,
        "gangs/trainer.yaml": GANG,
    }.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    (tmp_path / "platform.yaml").write_text(PLATFORM)
    return "-C", str(root), "--platform", str(tmp_path / "platform.yaml"), "--team", "archive"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], FakeApiServer]:
    """A server that holds the objects of a situation."""

    def serve(name: str) -> FakeApiServer:
        server = FakeApiServer(kinds=(*KUEUE, *KAI))
        for place in ("archive", "laboratory"):
            server.add_namespace(place)
        for each in situation(name).objects:
            kind, metadata = kind_of(each), dict(each["metadata"])
            key = Key((kind.group, kind.plural), metadata.get("namespace", ""), metadata["name"])
            server.store.put(key, {**each, "metadata": metadata})
        monkeypatch.setattr(of_cluster, "client_for", lambda _: Client(FakeTransport(server)))
        server.requests.clear()
        return server

    return serve


def file(name: str) -> str:
    return str(SITUATIONS / f"{name}.yaml")


def test_status_of_a_snapshot_says_how_it_stands_why_and_what_to_do(run: Run) -> None:
    code, out, _ = run("status", "--snapshot", file("growth-waits"))
    assert code == EXIT_FINE
    lines = out.splitlines()
    assert lines[0].startswith("letters running: 0 of 10 volumes done, 2 running")
    assert "2 more wait: the quota of `archive` is used up" in lines[1]
    assert lines[2].startswith("  to do: nothing")
    assert "R0001201 running, on node-a/gpu-0, for 8 min" in lines[3]


def test_status_with_a_repository_names_what_is_not_there(run: Run, repository: tuple[str, ...]) -> None:
    code, out, _ = run("status", *repository, "--snapshot", file("quota"))
    assert code == EXIT_FINE
    assert "diaries absent" in out
    assert "`allot apply` sends it, or says what is in its way" in out
    assert "letters waiting: 0 of 10 volumes done, window 2 to 8, now 2" in out


def test_what_a_platform_of_this_machine_never_sends_is_run_here(run: Run, tmp_path: Path) -> None:
    for place, text in {
        "pipelines/sums.yaml": "steps: [{step: checksum}]\n",
        "campaigns/books.yaml": "pipeline: sums\nvolumes: [{id: a, folder: scans/a}]\n",
        "platform.yaml": "engine: local\nbucket: ./results\n",
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    code, out, _ = run("status", "-C", str(tmp_path), "--snapshot", file("quota"))
    assert code == EXIT_FINE
    assert "books absent" in out
    assert "to do: `allot run books` does it on this machine" in out
    assert "allot apply" not in out


@pytest.mark.parametrize("words", [("status",), ("why", "books")])
def test_files_of_a_cluster_that_are_held_against_this_machine_are_told_so(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    for place, text in {
        "pipelines/sums.yaml": "steps: [{step: checksum}]\n",
        "campaigns/books.yaml": "pipeline: sums\nvolumes: [{id: a, folder: s3://scans/a}]\n",
        "platform.yaml": "engine: local\nbucket: ./results\n",
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    code, _, err = run(*words, "-C", str(tmp_path), "--snapshot", file("quota"))
    assert code == EXIT_USAGE
    assert "says `engine: local`, which is this machine alone, and the files are not right by it" in err


def two_teams(tmp_path: Path) -> str:
    """A snapshot in which another team has a campaign `maps`, and what is called `letters` too."""
    found = yaml.safe_load((SITUATIONS / "quota.yaml").read_text())
    (job,) = (each for each in found["items"] if each["kind"] == "Job")
    for name in ("letters", "maps"):
        other = copy.deepcopy(job)
        other["metadata"] |= {"namespace": "laboratory", "name": name, "uid": f"laboratory-{name}"}
        other["metadata"]["labels"] |= {"allotment/campaign": name, "allotment/team": "laboratory"}
        found["items"].append(other)
    path = tmp_path / "two.yaml"
    path.write_text(yaml.safe_dump(found))
    return str(path)


def test_what_is_another_teams_is_told_so(run: Run, tmp_path: Path, repository: tuple[str, ...]) -> None:
    code, _, err = run("status", "maps", *repository, "--snapshot", two_teams(tmp_path))
    assert code == EXIT_USAGE
    assert "`maps` is another team's, in namespace laboratory" in err


def test_what_several_teams_have_is_told_with_its_namespace(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("status", "--snapshot", two_teams(tmp_path))
    assert code == EXIT_FINE
    told = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
    assert told == ["archive/letters", "laboratory/letters", "laboratory/maps"]


def test_status_as_json_holds_evidence_sums_and_the_place_in_the_queue(run: Run) -> None:
    code, out, _ = run("status", "-o", "json", "--snapshot", file("quota"))
    (found,) = json.loads(out)["found"]
    assert code == EXIT_FINE
    assert found["state"] == "waiting"
    assert found["causes"][0]["kind"] == "waiting-for-quota"
    assert found["causes"][0]["evidence"][0]["field"] == "status.conditions[QuotaReserved]"
    assert found["slices"][0]["position"] == {"place": 2, "of": 2, "queue": "archive"}
    assert {each["resource"] for each in found["sums"]} == {"cpu", "gpus", "memory"}


def test_status_names_the_devices_where_the_scheduler_says_no_more(run: Run) -> None:
    code, out, _ = run("status", "--snapshot", file("fragmentation"))
    assert code == EXIT_FINE
    assert "no node has so many" in out
    assert "2 on each of node-a, node-b, node-c" in out


def test_a_live_cluster_says_the_same_as_its_snapshot(run: Run, served: Any) -> None:
    served("devices-not-free-yet")
    code, out, _ = run("status", "--cluster")
    assert code == EXIT_FINE
    assert "4 pods of others that are stopping still have 4 devices" in out


def test_the_bucket_is_joined_where_it_can_be_read(
    run: Run, served: Any, repository: tuple[str, ...], tmp_path: Path
) -> None:
    served("running")
    (tmp_path / "results").mkdir()
    page = tmp_path / "results" / "archive" / "hand"
    page.mkdir(parents=True)
    code, out, _ = run("status", "letters", *repository, "--cluster")
    assert code == EXIT_FINE
    assert "it runs 2 volumes at once" in out
    assert "cannot be read" not in out


def test_a_bucket_that_cannot_be_read_is_said_and_stops_nothing(
    run: Run, served: Any, repository: tuple[str, ...], tmp_path: Path
) -> None:
    served("running")
    (tmp_path / "results").write_text("no folder")
    code, out, _ = run("status", *repository, "--cluster")
    assert code == EXIT_FINE
    assert ("diaries absent" in out, "it runs 2 volumes at once" in out) == (True, True)
    assert out.count("cannot be read") == 1
    last, remedy = out.splitlines()[-2:]
    assert last.startswith("note: the bucket ./results cannot be read (")
    assert remedy.startswith("  to do: ")
    code, out, _ = run("status", *repository, "--cluster", "-o", "json")
    assert "cannot be read" in json.loads(out)["notes"][0]


def test_watching_asks_few_times_and_reads_all_anew_now_and_then(
    run: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served("running")
    calls: list[int] = []

    def wait(seconds: float) -> None:
        assert seconds == following.EVERY_SECONDS
        calls.append(len(server.requests))
        if len(calls) == following.WHOLE_EVERY + 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("allotment.cli.following.time.sleep", wait)
    code, out, _ = run("status", "--cluster", "-w", "-o", "json")
    looks = [later - earlier for earlier, later in zip([0, *calls], calls, strict=False)]
    assert code == 130
    assert len(out.splitlines()) == len(calls)
    assert max(looks[1:-2]) <= 9
    assert looks[following.WHOLE_EVERY] == looks[0]


def test_a_watch_outlives_a_cluster_that_does_not_answer(
    run: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served("running")
    looks: list[float] = []

    def wait(seconds: float) -> None:
        looks.append(seconds)
        server.plan = lambda _number, _request: faults.Fault(400, "BadRequest", "no more")
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("allotment.cli.following.time.sleep", wait)
    code, out, err = run("status", "--cluster", "-w", "-o", "json")
    assert code == 130
    assert len(out.splitlines()) == 3
    assert "this is how it stood" in err


def test_a_watch_of_a_cluster_that_has_gone_says_so_tries_on_and_ends(
    run: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served("running")
    looks: list[float] = []

    def wait(seconds: float) -> None:
        looks.append(seconds)
        server.plan = lambda _number, _request: faults.Fault(400, "BadRequest", "no more")

    monkeypatch.setattr("allotment.cli.following.time.sleep", wait)
    monkeypatch.setattr("allotment.cli.following.MOST_IN_VAIN", 4)
    code, _, err = run("status", "--cluster", "-w", "-o", "json")
    assert code == EXIT_WORLD
    assert len(looks) == 4
    assert err.count("it is asked again every 5 s") == 3


def test_a_name_on_the_cluster_that_is_in_no_file_shows_that_alone(
    run: Run, served: Any, repository: tuple[str, ...]
) -> None:
    served("running")
    (Path(repository[1]) / "campaigns" / "letters.yaml").unlink()
    code, out, _ = run("status", "letters", *repository, "--cluster=")
    assert code == EXIT_FINE
    assert [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")] == ["letters"]
    code, out, _ = run("why", "letters", *repository, "--cluster=")
    assert "diaries" not in out


def test_a_context_of_a_campaigns_name_is_said_to_be_what_was_meant(
    run: Run, served: Any, repository: tuple[str, ...], tmp_path: Path
) -> None:
    served("running")
    (tmp_path / "config").write_text(CONFIG.replace("prod", "letters"))
    _, _, err = run("status", *repository, "--cluster", "letters")
    assert "`letters` is taken for the context of that name" in err


def test_a_name_behind_the_option_is_not_taken_for_a_context(run: Run, repository: tuple[str, ...]) -> None:
    code, _, err = run("status", *repository, "--cluster", "letters")
    assert code == EXIT_USAGE
    assert "allot status letters --cluster" in err


def test_a_snapshot_cannot_be_watched(run: Run) -> None:
    code, _, err = run("status", "-w", "--snapshot", file("quota"))
    assert code == EXIT_USAGE
    assert "a snapshot does not change" in err


def test_an_unknown_name_is_refused_with_what_there_is(run: Run) -> None:
    code, _, err = run("status", "leters", "--snapshot", file("quota"))
    assert code == EXIT_USAGE
    assert "did you mean `letters`?" in err


def test_without_an_option_the_platforms_engine_is_pointed_at(run: Run, repository: tuple[str, ...]) -> None:
    code, _, err = run("status", *repository)
    assert code == EXIT_FINE
    assert "with --cluster it is what the platform's cluster says" in err


def test_why_says_the_root_then_the_evidence_then_the_sums_then_the_devices(run: Run) -> None:
    code, out, _ = run("why", "letters", "--snapshot", file("quota"))
    assert code == EXIT_FINE
    order = [
        "letters: it waits: the quota of `archive` is used up",
        "to do: nothing",
        "Workload archive/job-letters-1f0e2, status.conditions[QuotaReserved]:",
        "insufficient unused quota for gpus in flavor allotment, 2 more needed",
        "what it asks for at once",
        "its quota of 4 and up to 2 borrowed",
        "the devices of one pod",
    ]
    places = [out.index(each) for each in order]
    assert places == sorted(places)


def test_why_goes_on_with_the_devices_where_the_scheduler_says_no_more(run: Run) -> None:
    code, out, _ = run("why", "maps", "--snapshot", file("fragmentation"))
    assert code == EXIT_FINE
    assert "no node has so many" in out.splitlines()[0]
    assert "write `count: 2` (asked: 4)" in out


def test_why_of_what_is_not_there_is_about_its_need(run: Run, repository: tuple[str, ...]) -> None:
    code, out, err = run("why", "diaries", *repository, "--snapshot", file("quota"))
    assert code == EXIT_FINE
    assert "nothing of `diaries` is on" in err
    assert "it fits" in out


def test_why_as_json_holds_both_answers(run: Run, repository: tuple[str, ...]) -> None:
    code, out, _ = run("why", "letters", *repository, "--snapshot", file("no-driver"), "-o", "json")
    (answer,) = json.loads(out)["answers"]
    assert code == EXIT_FINE
    assert answer["causes"][0]["kind"] == "no-driver"
    assert answer["devices"]["state"] == "never"


def test_logs_of_a_volume_are_its_pods(run: Run, served: Any, repository: tuple[str, ...]) -> None:
    server = served("running")
    pods = [each for each in situation("running").of(POD) if "letters-4-" in each["metadata"]["name"]]
    server.logs.write("archive", pods[0]["metadata"]["name"], "page 1 of R0001205")
    code, out, err = run("logs", "R0001205", *repository, "--cluster")
    assert (code, out) == (EXIT_FINE, "page 1 of R0001205\n")
    assert "pod archive/letters-4-" in err


def test_logs_of_an_earlier_try_are_asked_for_by_its_number(
    run: Run, served: Any, repository: tuple[str, ...]
) -> None:
    server = served("out-of-memory")
    for pod in situation("out-of-memory").of(POD):
        server.logs.write("archive", pod["metadata"]["name"], f"I am {pod['metadata']['name']}")
    code, out, _ = run("logs", "R0001201", *repository, "--cluster")
    assert (code, out) == (EXIT_FINE, "I am letters-0-bbbbb\n")
    code, out, _ = run("logs", "R0001201", "--attempt", "1", *repository, "--cluster")
    assert (code, out) == (EXIT_FINE, "I am letters-0-aaaaa\n")
    code, _, err = run("logs", "R0001201", "--attempt", "7", *repository, "--cluster")
    assert code == EXIT_USAGE
    assert "1 to 2" in err


def test_logs_of_a_campaign_are_those_of_what_prepares_it(
    run: Run, served: Any, repository: tuple[str, ...]
) -> None:
    server = served("prepare-failed")
    (pod,) = situation("prepare-failed").of(POD)
    server.logs.write("archive", pod["metadata"]["name"], "no such model")
    code, out, _ = run("logs", "letters", *repository, "--cluster")
    assert (code, out) == (EXIT_FINE, "no such model\n")


@pytest.fixture
def on_cluster(served: Any, repository: tuple[str, ...]) -> tuple[str, ...]:
    """The options of a repository whose campaign runs on a cluster."""
    served("running")
    return repository


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [
        ("R0001209", EXIT_REFUSED, "no pod of `R0001209` is on the cluster"),
        ("R000120", EXIT_USAGE, "did you mean"),
        ("letters", EXIT_USAGE, "name one of its volumes, such as R0001201"),
    ],
)
def test_logs_that_are_not_there_say_why(
    run: Run, on_cluster: tuple[str, ...], word: str, code: int, said: str
) -> None:
    told, _, err = run("logs", word, *on_cluster, "--cluster")
    assert told == code
    assert said in err


def test_two_clusters_at_once_are_refused(run: Run, repository: tuple[str, ...]) -> None:
    code, _, err = run("status", *repository, "--snapshot", file("quota"), "--cluster", "prod")
    assert code == EXIT_USAGE
    assert "two clusters" in err


def test_why_goes_on_where_an_object_of_devices_is_wrong(run: Run, tmp_path: Path) -> None:
    text = (SITUATIONS / "quota.yaml").read_text()
    spoiled = tmp_path / "spoiled.yaml"
    spoiled.write_text(text.replace("81920Mi", "81920Moo", 1))
    code, out, _ = run("why", "letters", "--snapshot", str(spoiled))
    assert code == EXIT_FINE
    assert "the quota of `archive` is used up" in out
    assert "1 fault in objects of devices" in out
