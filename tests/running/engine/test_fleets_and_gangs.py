"""Fleets and gangs by `allot run`: real processes, ended for good, on devices of their own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, eventually

SERVER = """
import os, signal, sys, time
name = f"{os.environ.get('ALLOT_FLEET', os.environ.get('ALLOT_GANG'))}-{os.environ['ALLOT_RANK']}"
words = {key: value for key, value in os.environ.items() if key.startswith(("ALLOT_", "CUDA_"))}
words["affinity"] = sorted(os.sched_getaffinity(0))
words["open"] = sorted(os.listdir("/proc/self/fd"))
import json
with open(f"{name}.{os.getpid()}.json", "w") as file:
    json.dump(words, file)
os.rename(f"{name}.{os.getpid()}.json", f"{name}.{os.getpid()}.up")
act = sys.argv[1] if len(sys.argv) > 1 else "serve"
if act == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if act == "fail-once" and not os.path.exists("failed-once"):
    open("failed-once", "w").close()
    print("no luck this time", file=sys.stderr)
    sys.exit(3)
if act == "second-fails":
    if os.environ["ALLOT_RANK"] == "1":
        print("out of luck", file=sys.stderr)
        sys.exit(5)
if act != "end":
    time.sleep(1000)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    made = Repository(tmp_path, volumes=1, pages=1, defaults={"grace_seconds": 2}).write()
    (tmp_path / "server.py").write_text(SERVER)
    yield made
    for pid in made.processes():
        os.kill(pid, signal.SIGKILL)


def write(repository: Repository, kind: str, name: str, act: str, extra: str) -> None:
    folder = repository.root / kind
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(f"command: ['{sys.executable}', server.py, {act}]\n{extra}")


def up(repository: Repository, name: str) -> list[dict[str, object]]:
    return [json.loads(path.read_text()) for path in sorted(repository.root.glob(f"{name}-*.up"))]


def kinds(repository: Repository, name: str) -> list[str]:
    lines = [
        json.loads(line)
        for path in sorted((repository.root / "results" / "local" / "events" / name).glob("*"))
        for line in path.read_text().splitlines()
    ]
    return [line["kind"] for line in lines]


def test_a_fleet_is_kept_up_until_it_is_stopped(repository: Repository) -> None:
    write(repository, "fleets", "web", "fail-once", "replicas: 1\n")
    engine = repository.start("run", "fleets/web.yaml", "c")
    assert eventually(lambda: len(up(repository, "web")) == 2), "it was started again"
    said = up(repository, "web")[-1]
    assert (said["ALLOT_TEAM"], said["ALLOT_RANK"], said["ALLOT_SIZE"]) == ("local", "0", "1")
    assert said["CUDA_VISIBLE_DEVICES"] == ""
    assert len(str(said["ALLOT_DEVICES"]).split(",")) == 1
    assert said["affinity"] == [int(str(said["ALLOT_DEVICES"]).rpartition("-")[2])]
    assert len(said["open"]) <= 4  # type: ignore[arg-type]
    assert len(repository.taken()) >= 1
    assert eventually(lambda: "web running: 1 of 1 up, 1 restart" in repository.allot("status").stdout)
    assert "no luck this time" in repository.allot("logs", "web").stdout
    stopped = repository.allot("stop", "web")
    assert stopped.returncode == 0, stopped.stderr
    assert engine.wait(timeout=30) == 130
    assert not repository.taken()
    assert repository.processes() == []
    seen = kinds(repository, "web")
    assert seen == [
        "fleet.started",
        "replica.started",
        "replica.ended",
        "replica.started",
        "replica.ended",
        "fleet.stopped",
    ]
    assert "web stopped" in repository.allot("status").stdout


def test_what_does_not_listen_is_killed_after_its_grace(repository: Repository) -> None:
    write(repository, "fleets", "web", "stubborn", "replicas: 1\n")
    engine = repository.start("run", "web")
    assert eventually(lambda: len(up(repository, "web")) == 1)
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(timeout=30) == 130
    assert repository.processes() == []


def test_a_killed_engine_takes_its_fleet_with_it(repository: Repository) -> None:
    write(repository, "fleets", "web", "stubborn", "replicas: 1\n")
    engine = repository.start("run", "web")
    assert eventually(lambda: len(up(repository, "web")) == 1)
    engine.kill()
    engine.wait(timeout=30)
    assert eventually(lambda: not repository.processes())
    assert eventually(lambda: not repository.taken())


def test_a_gang_runs_whole_and_finishes(repository: Repository) -> None:
    write(repository, "gangs", "train", "end", "workers: 1\n")
    ended = repository.allot("run", "train")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (said,) = up(repository, "train")
    assert (said["ALLOT_GANG"], said["ALLOT_SIZE"]) == ("train", "1")
    assert "ALLOT_GANG_FOLDER" in said
    assert kinds(repository, "train")[-1] == "gang.completed"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two workers need two processors")
def test_one_failing_worker_of_a_gang_ends_the_others(repository: Repository) -> None:
    write(repository, "gangs", "train", "second-fails", "workers: 2\n")
    ended = repository.allot("run", "train")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "its worker 1 of 2 failed, so all were ended: out of luck" in ended.stdout
    assert repository.processes() == []
    assert not repository.taken()


@pytest.mark.parametrize("command", ["results", "retry"])
def test_what_is_about_volumes_says_that_a_gang_has_none(repository: Repository, command: str) -> None:
    write(repository, "gangs", "train", "end", "workers: 1\n")
    ended = repository.allot(command, "train")
    assert ended.returncode == 2
    assert "`train` is a gang, and this is about volumes of campaigns" in ended.stderr
    assert "allot logs train" in ended.stderr


def test_a_gang_that_can_never_start_is_refused(repository: Repository) -> None:
    write(repository, "gangs", "train", "end", "workers: 999\n")
    ended = repository.allot("run", "train")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "999 are to start together, and the machine has room for" in ended.stdout
    assert not up(repository, "train")


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("command: [no-such-program]\n", "fleets/web.yaml:1:11 error program-missing"),
        ("image: a/b@sha256:" + "0" * 64 + "\n", "not-on-this-machine"),
        (
            "command: [sleep, '9']\nenv:\n  TOKEN: {secret: hub, key: token}\n",
            "fleets/web.yaml:3:10 error secret-missing",
        ),
    ],
)
def test_what_cannot_be_run_here_is_refused_before_anything_starts(
    repository: Repository, file: str, said: str
) -> None:
    (repository.root / "fleets").mkdir()
    (repository.root / "fleets" / "web.yaml").write_text(file)
    ended = repository.allot("run", "web")
    assert (ended.returncode, said in ended.stderr) == (1, True), ended.stderr
    assert not (repository.root / "results").exists()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two replicas need two processors")
def test_a_replica_is_given_back_to_a_campaign_of_a_higher_lane_and_comes_back_afterwards(
    repository: Repository,
) -> None:
    processors = len(os.sched_getaffinity(0))
    write(
        repository,
        "fleets",
        "web",
        "serve",
        f"replicas: {{min: 1, max: {processors}}}\npriority: idle\npreemptible: true\n",
    )
    repository.campaign("c", range(1), extra="suspend: true\n")
    engine = repository.start("run", "web", "c")
    assert eventually(lambda: len(up(repository, "web")) == processors), "it takes what is free"
    repository.campaign("c", range(1))
    assert eventually(lambda: len(repository.manifests()) == 1), "the campaign gets a device"
    assert eventually(lambda: len(up(repository, "web")) == processors + 1), "the replica comes back"
    assert repository.allot("stop", "web").returncode == 0
    assert engine.wait(timeout=30) == 130
    assert kinds(repository, "web").count("replica.given-back") == 1


def test_what_has_ended_is_not_asked_to_stop_and_not_called_stopped(repository: Repository) -> None:
    write(repository, "fleets", "web", "serve", "replicas: 1\n")
    write(repository, "gangs", "train", "end", "workers: 1\n")
    engine = repository.start("run", "web", "train", "c")
    output = repository.root / "output.log"
    assert eventually(
        lambda: "c finished" in output.read_text() and "train finished" in output.read_text()
    ), output.read_text()
    asked = repository.allot("stop")
    assert asked.returncode == 0, asked.stderr
    assert "to stop web\n" in asked.stdout
    assert engine.wait(timeout=30) == 130
    summary = output.read_text()
    assert "c finished: 1 of 1 volume complete" in summary
    assert "train finished: gang of 1 worker\n" in summary
    assert "web ended: fleet of 1 replica\n  stopped by `allot stop`" in summary
    assert "web is kept up: 1 replica\n" in summary
    assert "train started: 1 worker\n" in summary
    assert not {"train ended", "c stopped"} & set(summary.splitlines())
    assert all(not line.startswith("  stopped by") for line in summary.split("web ended")[0].splitlines())


def test_who_waits_for_a_device_is_said_to_wait_and_why(repository: Repository) -> None:
    write(repository, "fleets", "web", "serve", f"replicas: {len(os.sched_getaffinity(0))}\n")
    serving = repository.start("run", "web")
    assert eventually(lambda: len(repository.taken()) == len(os.sched_getaffinity(0)))
    engine = repository.start("run", "c")
    assert eventually(lambda: "c waits: 0 of 1 volume" in repository.allot("status", "c").stdout)
    _, why = repository.allot("status", "c").stdout.splitlines()
    assert "cpu" in why
    assert repository.allot("stop", "web").returncode == 0
    assert (serving.wait(timeout=30), engine.wait(timeout=30)) == (130, 0)
    assert repository.allot("status", "c").stdout.startswith("c finished: 1 of 1 volume")
