"""Real worker processes: how they end, whatever a step does, and that nothing survives them."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.running.processes import Repository, is_zombie, until

GRACE = 4.0


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    repository = Repository(tmp_path / "repository")
    yield repository
    repository.clean_up()


def test_a_worker_does_its_volume_and_leaves_nothing_behind(repository: Repository) -> None:
    started = repository.start(repository.assignment(), events=True)
    printed = started.output()
    assert started.wait() == 0
    assert repository.pages() == {"0001", "0002", "0003"}
    assert repository.objects()["v1/pages/0002.copy.txt"] == b"V1 PAGE 2"
    kinds = [event.kind for event in started.events()]
    assert kinds == ["volume.started", "model.loaded", *["page.done"] * 3, "volume.completed"]
    lines = printed.splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d info \S", line) for line in lines)
    assert "3 of 3 pages done, the last of them 0003 (p3.txt)" in printed
    assert repository.living() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--assignment"),
        (["--nonsense"], "--assignment"),
        (["--assignment", "missing.json"], "missing.json cannot be read"),
        (["--assignment", "{broken}"], "is no JSON"),
        (["--assignment", "{good}", "--index", "7"], "there is no index 7"),
        (["--assignment", "{good}", "--index", "x"], "--index"),
        (["--assignment", "{elsewhere}"], "there is no folder"),
        (["--assignment", "{extra}"], "colour is no key"),
        (["--assignment", "{nan}"], "NaN"),
    ],
)
def test_a_wrong_call_ends_with_13_and_one_sentence(
    repository: Repository, arguments: list[str], words: str
) -> None:
    files = {
        "broken": "{",
        "good": json.dumps(repository.assignment()),
        "elsewhere": json.dumps(repository.assignment(root="/no/such/folder")),
        "extra": json.dumps(repository.assignment(colour="red")),
        "nan": json.dumps(repository.assignment(settings={"x": float("nan")})),
    }
    for name, text in files.items():
        (repository.root / f"{name}.json").write_text(text)
    named = [argument.format(**{name: f"{name}.json" for name in files}) for argument in arguments]
    called = subprocess.run(
        [sys.executable, "-m", "allotment.running", *named],
        cwd=repository.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert called.returncode == 13
    assert words in called.stderr
    assert "Traceback" not in called.stderr
    assert len(called.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("step", "code", "reason"),
    [
        ("no-such-step", 13, "step-unknown"),
        ("checksun", 13, "step-unknown"),
        ("no_such_module:create", 13, "step-import"),
        ("steps:no_such_function", 13, "step-import"),
        ("steps:lazy_import", 13, "step-import"),
        ("broken:create", 13, "step-import"),
        ("steps:bad_settings", 13, "step-settings"),
        ("steps:no_step", 13, "step-factory"),
        ("steps:raising", 1, "step-load"),
        ("steps:exiting", 1, "step-load"),
    ],
)
def test_a_pipeline_that_cannot_work(repository: Repository, step: str, code: int, reason: str) -> None:
    (repository.root / "broken.py").write_text("def create(:")
    ended, _ = repository.run(step)
    assert ended == code
    assert repository.end()["reason"] == reason
    assert repository.end()["outcome"] == ("permanent" if code == 13 else "failed")
    assert not repository.pages()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ({"folder": "scans/none"}, "source-missing"),
        ({"folder": "scans/empty"}, "source-empty"),
        ({"folder": "../outside"}, "source-outside"),
        ({"folder": "steps.py"}, "source-missing"),
        ({"manifest": "https://example.org/manifest.json"}, "source-forbidden"),
        ({"ark": "ark:/12148/x"}, "source-unknown"),
        ({}, "source-unknown"),
    ],
)
def test_a_source_that_cannot_work(repository: Repository, source: dict[str, str], reason: str) -> None:
    (repository.root / "scans" / "empty").mkdir()
    (repository.root / "scans" / "empty" / ".hidden").write_text("")
    (repository.root.parent / "outside").mkdir()
    assignment = {**repository.assignment(), "volumes": [{"id": "v1", "source": source}]}
    assert repository.start(assignment).wait() == 13
    assert repository.end()["reason"] == reason


def test_a_bucket_that_cannot_be_made_is_one_clear_error(repository: Repository) -> None:
    (repository.root / "results").write_text("a file")
    code, printed = repository.run()
    assert code == 1
    assert "the bucket's folder cannot be made" in printed
    assert "Traceback" not in printed


def test_told_to_end_a_worker_finishes_its_page_if_there_is_time(repository: Repository) -> None:
    started = repository.start(repository.assignment("steps:nap"), events=True)
    started.until_told("second")
    started.process.terminate()
    assert started.wait() == 143
    assert repository.pages() == {"0001", "0002"}
    assert repository.end()["outcome"] == "reclaimed"
    assert [event.kind for event in started.events()][-1] == "volume.reclaimed"
    assert json.loads(repository.objects()["v1/leases/2.json"])["released"] is True


@pytest.mark.parametrize("step", ["sleep", "hang", "stubborn"])
def test_told_to_end_a_worker_has_ended_before_its_grace_is_over(repository: Repository, step: str) -> None:
    started = repository.start(repository.assignment(f"steps:{step}", limits={"grace_seconds": GRACE}))
    started.until_told("second")
    told = time.monotonic()
    started.process.terminate()
    assert started.wait() == 143
    assert time.monotonic() - told < GRACE
    assert repository.pages() == {"0001"}
    assert repository.living() == []
    assert repository.run("steps:copy")[0] == 0
    assert repository.pages() == {"0001", "0002", "0003"}


def test_told_twice_to_end_a_worker_drops_its_page_at_once(repository: Repository) -> None:
    started = repository.start(repository.assignment("steps:sleep", limits={"grace_seconds": 1000}))
    started.until_told("second")

    def told_again() -> bool:  # the kernel makes one signal of two that come too close together
        started.process.terminate()
        return started.process.poll() is not None

    started.process.terminate()
    until(told_again)
    assert started.wait() == 143
    assert repository.end()["outcome"] == "reclaimed"


@pytest.mark.parametrize("step", ["slow_load", "slow_c_load", "wrapping_load"])
def test_told_to_end_during_a_model_load(repository: Repository, step: str) -> None:
    started = repository.start(repository.assignment(f"steps:{step}", limits={"grace_seconds": GRACE}))
    started.until_told("loading")
    told = time.monotonic()
    started.process.terminate()
    assert started.wait() == 143
    assert time.monotonic() - told < GRACE
    told_by_itself = repository.objects().get("v1/attempts/1.end.json", b'"outcome":"reclaimed"')
    assert b"reclaimed" in told_by_itself


@pytest.mark.parametrize(
    ("step", "reason", "done"),
    [("sleep", "page-timeout", {"0001", "0003"}), ("hang", "page-stuck", {"0001"}),
     ("stubborn", "page-stuck", {"0001"})],
)  # fmt: skip
def test_a_page_that_takes_too_long_is_a_failure_and_not_the_end_of_the_volume(
    repository: Repository, step: str, reason: str, done: set[str]
) -> None:
    limits = {"page_seconds": 0.3, "retries": 1}
    started = repository.start(repository.assignment(f"steps:{step}", limits=limits), events=True)
    assert started.wait() == 1
    assert repository.pages() == done
    assert repository.end()["reason"] == reason
    event = started.events()[-1]
    assert (event.kind, event.data["reason"]) == ("volume.retrying", reason)
    assert repository.run(f"steps:{step}", limits=limits)[0] == 0
    manifest = json.loads(repository.objects()["v1/manifest.json"])
    assert manifest["counts"] == {"pages": 3, "done": 2, "failed": 1}


@pytest.mark.parametrize(
    ("step", "reason"),
    [("leave", "crashed"), ("segfault", "crashed"), ("exits", "page-error")],
)
def test_a_step_that_ends_the_process_ends_only_its_page(
    repository: Repository, step: str, reason: str
) -> None:
    code, _ = repository.run(f"steps:{step}")
    assert code == 1
    assert repository.end()["outcome"] == "failed"
    assert repository.end()["reason"] == reason
    assert repository.run("steps:copy")[0] == 0


def test_the_child_of_a_step_that_forks_does_not_run_the_volume_too(repository: Repository) -> None:
    started = repository.start(repository.assignment("steps:forks"), events=True)
    assert started.wait() == 0
    assert [event.kind for event in started.events()].count("page.done") == 3
    assert repository.objects()["v1/pages/0001.forks.txt"] == b"True"


def test_nothing_large_is_imported_before_the_limits_are_set() -> None:
    program = "import sys, allotment.running.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    large = {"PIL", "asyncio", "click", "numpy", "pydantic", "rich", "ssl", "yaml"}
    assert not large & {name.partition(".")[0] for name in loaded.stdout.split()}
    assert "allotment.running.worker" not in loaded.stdout.split()


def test_the_memory_limit_ends_a_page_and_not_the_machine(repository: Repository) -> None:
    code, printed = repository.run("steps:greedy", worker={"memory_limit": 1 << 30})
    assert code == 1
    assert repository.pages() == {"0001", "0003"}
    assert "MemoryError" in printed


def test_the_own_deadline_ends_a_worker_with_1(repository: Repository) -> None:
    repository.volume("v2", 1)
    code, _ = repository.run("steps:sleep", volumes=("v1", "v2"), limits={"max_seconds": 1})
    assert code == 1
    assert repository.end()["reason"] == "deadline"
    assert repository.pages() == {"0001"}
    assert not any(key.startswith("v2/") for key in repository.objects())


def test_a_killed_worker_is_followed_at_once(repository: Repository) -> None:
    started = repository.start(repository.assignment("steps:sleep"))
    started.until_told("second")
    started.process.kill()
    started.wait()
    repository.nothing_lives()
    assert "v1/attempts/1.end.json" not in repository.objects()
    assert repository.run("steps:copy")[0] == 0
    assert repository.end(number=2)["outcome"] == "complete"


def test_the_killed_working_process_is_a_reclaim_and_no_failure(repository: Repository) -> None:
    started = repository.start(repository.assignment("steps:sleep", limits={"retries": 0}), events=True)
    started.until_told("second")
    lease = json.loads(repository.objects()["v1/leases/1.json"])
    os.kill(lease["holder"]["pid"], signal.SIGKILL)
    assert started.wait() == 1
    assert started.events()[-1].kind == "volume.reclaimed"
    assert repository.run("steps:copy", limits={"retries": 0})[0] == 0


@pytest.mark.parametrize("end", ["by itself", "told to", "killed", "killed with its group"])
def test_nothing_that_a_step_started_survives_its_worker(repository: Repository, end: str) -> None:
    hang = end != "by itself"
    started = repository.start(repository.assignment("steps:spawn", settings={"hang": hang}))
    if hang:
        started.until_told("second")
        assert len(repository.living()) > 6
    if end == "told to":
        started.process.terminate()
    if end == "killed":
        started.process.kill()
    if end == "killed with its group":
        os.killpg(started.process.pid, signal.SIGKILL)
    started.wait()
    repository.nothing_lives()
    until(lambda: not list(repository.scratch.iterdir()))


PARENT = """
import json, subprocess, sys, os
assignment = json.load(open(sys.argv[1]))
assignment["worker"]["parent_pid"] = os.getpid()
json.dump(assignment, open(sys.argv[1], "w"))
subprocess.Popen([sys.executable, "-m", "allotment.running", "--assignment", sys.argv[1]], process_group=0)
sys.stdin.read()
"""


def test_a_worker_dies_with_its_parent_and_so_does_all_below_it(repository: Repository) -> None:
    path = repository.root / "told.json"
    path.write_text(json.dumps(repository.assignment("steps:spawn", settings={"hang": True})))
    environment = {**os.environ, "ALLOT_TEST": repository.mark}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(path)], stdin=subprocess.PIPE, env=environment
    )
    try:
        until((repository.root / "told" / "second").exists)
    finally:
        parent.kill()
        parent.communicate()
    repository.nothing_lives()


def test_a_worker_whose_parent_is_gone_already_does_nothing(repository: Repository) -> None:
    started = repository.start(repository.assignment(worker={"parent_pid": 1}))
    assert started.wait() == -signal.SIGKILL
    assert not (repository.root / "results").exists()


@pytest.mark.parametrize("kill", [False, True])
def test_the_locks_of_devices_are_held_as_long_as_anything_uses_them(
    repository: Repository, kill: bool
) -> None:
    lock = os.open(repository.root / "device.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    started = repository.start(repository.assignment("steps:spawn", settings={"hang": kill}), fds=(lock,))
    os.close(lock)
    if kill:
        started.until_told("second")
        assert not free(repository.root / "device.lock")
        started.process.kill()
        started.wait()
        until(lambda: free(repository.root / "device.lock"))
        assert repository.living() == []
    else:
        assert started.wait() == 0
        assert free(repository.root / "device.lock")


def free(path: Path) -> bool:
    """Whether nobody holds a lock."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def test_of_two_workers_on_one_volume_one_runs_it(repository: Repository) -> None:
    first = repository.start(repository.assignment("steps:sleep"))
    first.until_told("second")
    second = repository.start(repository.assignment("steps:copy"), events=True)
    assert second.wait() == 1
    events = second.events()
    assert [event.kind for event in events] == ["volume.held"]
    assert "works on it" in events[0].data["message"]
    first.process.terminate()
    assert first.wait() == 143
    assert {key for key in repository.objects() if "attempts" in key} == {
        "v1/attempts/1.json",
        "v1/attempts/1.end.json",
    }


def test_a_step_finds_what_it_was_promised(repository: Repository) -> None:
    cpu = min(os.sched_getaffinity(0))
    worker: dict[str, Any] = {"cpus": [cpu], "threads": 3, "devices": ["d/p/0"]}
    read, write = os.pipe()
    started = repository.start(repository.assignment("steps:surroundings", worker=worker), fds=(write,))
    assert started.wait() == 0
    os.close(read)
    os.close(write)
    told = json.loads(repository.objects()["v1/pages/0001.surroundings.json"])
    workdir, was_there = told.pop("workdir")
    assert was_there
    assert not Path(workdir).exists()
    assert told == {
        "cpus": [cpu],
        "threads": [3, "3"],
        "devices": ["d/p/0"],
        "folder": str(repository.root),
        "open_in_children": 4,
        "main_thread": True,
    }


def test_a_pack_shares_its_models_and_all_of_it_is_tried(repository: Repository) -> None:
    for name in ("v2", "v3"):
        repository.volume(name, 2)
    (repository.root / "scans" / "empty").mkdir()
    started = repository.start(repository.assignment(volumes=("v1", "empty", "v2", "v3")), events=True)
    assert started.wait() == 13
    kinds = [event.kind for event in started.events()]
    assert kinds.count("model.loaded") == 1
    assert kinds.count("volume.completed") == 3
    assert kinds.count("volume.failed") == 1
    assert repository.run(volumes=("v1", "empty", "v2", "v3"))[0] == 13


def test_without_an_engine_events_go_to_the_bucket(repository: Repository) -> None:
    assert repository.run()[0] == 0
    logged = list((repository.root / "results" / "team" / "events" / "letters").glob("worker-*.jsonl"))
    assert len(logged) == 1
    assert logged[0].read_text().count('"kind":"page.done"') == 3


def test_a_log_takes_everything_that_is_printed(repository: Repository) -> None:
    path = repository.root / "worker.log"
    started = repository.start(repository.assignment("steps:exits", worker={"log": str(path)}))
    assert started.output() == ""
    assert "page 0002 (p2.txt) failed for now" in path.read_text()
    assert json.loads(repository.objects()["v1/attempts/1.json"])["measured"]["log"] == str(path)


def only_child(pid: int) -> int:
    """The one process that another one has started."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


@pytest.mark.parametrize("how", ["forked", "unmarked"])
@pytest.mark.parametrize("killed", ["nothing", "supervisor", "guardian", "working process", "group"])
def test_what_has_cut_itself_loose_ends_and_its_device_is_free(
    repository: Repository, tmp_path: Path, how: str, killed: str
) -> None:
    lock = os.open(tmp_path / "device", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    settings = {"how": how, "sleep": 0 if killed == "nothing" else 1000}
    started = repository.start(repository.assignment("steps:detach", settings=settings), fds=(lock,))
    os.close(lock)
    started.until_told("second")
    supervisor = started.process.pid
    if killed == "group":
        os.killpg(supervisor, signal.SIGKILL)
    elif killed != "nothing":
        guardian = only_child(supervisor)
        children = {"supervisor": supervisor, "guardian": guardian}
        os.kill(children.get(killed) or working_below(guardian), signal.SIGKILL)
    codes = {"nothing": 0, "guardian": 143, "working process": 1}
    assert started.wait() == codes.get(killed, -signal.SIGKILL)
    until(lambda: is_zombie(repository.detached()))
    lock = os.open(tmp_path / "device", os.O_RDWR)
    until(lambda: is_free(lock))
    os.close(lock)
    repository.nothing_lives()


def working_below(guardian: int) -> int:
    """The working process: the child of its guardian that leads a group and no session."""
    children = Path(f"/proc/{guardian}/task/{guardian}/children").read_text().split()
    return next(int(pid) for pid in children if os.getpgid(int(pid)) == int(pid) != os.getsid(int(pid)))


def is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_a_guardian_that_is_stopped_goes_on(repository: Repository) -> None:
    started = repository.start(
        repository.assignment("steps:stubborn", limits={"page_seconds": 0.3, "retries": 0})
    )
    started.until_told("second")
    os.kill(only_child(started.process.pid), signal.SIGSTOP)
    assert started.wait() == 13
    assert repository.end()["reason"] == "page-stuck"


def test_while_the_supervisor_is_stopped_limits_hold_and_the_pipe_ends(repository: Repository) -> None:
    started = repository.start(
        repository.assignment("steps:stubborn", limits={"page_seconds": 0.3, "retries": 0}), events=True
    )
    started.until_told("second")
    os.kill(started.process.pid, signal.SIGSTOP)
    assert [event.kind for event in started.events()][-1] == "volume.failed"
    assert started.process.poll() is None
    os.kill(started.process.pid, signal.SIGCONT)
    code = started.wait()
    assert code == 13, started.output()
