"""Each check of the doctor: what is well, what is worth knowing, what is in the way and how to mend it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from allotment.answers import Answer, State, examine, fine, problem
from allotment.devices.ledger import Holder, Ledger
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.errors import Finding, FindingsError, Position, Severity, WorldError
from allotment.platform.find import BUILT_IN, FoundPlatform
from allotment.platform.model import Platform
from allotment.repository.load import Loaded
from allotment.repository.model import Repository
from allotment.running.doctor import files, machine, software, storage
from allotment.running.engine.control import EngineDescription, Registration, take_up
from tests.devices.worlds import pool, world

GI = 1 << 30


def states(answers: Iterable[Answer]) -> list[str]:
    return [str(answer.state) for answer in answers]


def words(answers: Iterable[Answer]) -> str:
    return "\n".join(f"{answer.state} {answer.check}: {answer.said} ({answer.remedy})" for answer in answers)


@pytest.mark.parametrize(
    ("version", "system", "expected"),
    [
        ((3, 11, 7), "linux", ["fine"]),
        ((3, 14, 0), "linux", ["fine"]),
        ((3, 10, 9), "linux", ["problem"]),
        ((3, 12, 0), "darwin", ["fine", "note"]),
    ],
)
def test_python(version: tuple[int, ...], system: str, expected: list[str]) -> None:
    assert states(software.python(version, system)) == expected


def missing(name: str) -> object:
    raise ImportError(f"No module named {name!r}")


@pytest.mark.parametrize(
    ("readers", "load", "expected"),
    [
        ([], lambda _: None, "fine ocr: the step `ocr` has its libraries"),
        (
            ["read"],
            missing,
            "problem ocr: the step `ocr` cannot be used, and `read` reads with it: ImportError",
        ),
        ([], missing, "note ocr: the step `ocr` cannot be used: ImportError: No module named 'rapidocr'"),
    ],
)
def test_ocr(readers: list[str], load: Any, expected: str) -> None:
    assert words(software.ocr(readers, load)).startswith(expected)


def test_steps_that_cannot_be_imported_are_named() -> None:
    good = SimpleNamespace(name="good", load=lambda: None)
    bad = SimpleNamespace(name="bad", load=lambda: missing("torch"))
    offered = {"allotment.steps": [good, bad], "allotment.prepare": []}
    said = words(software.steps(lambda group: cast("list[Any]", offered[group])))
    assert (
        "problem steps: `bad` of allotment.steps cannot be imported: ImportError: No module named 'torch'"
        in said
    )
    assert "fine steps: steps: good" in said
    assert "problem steps: no package offers preparations here" in said


def test_our_own_steps_can_all_be_imported() -> None:
    assert set(states(software.steps())) == {"fine"}


CPUS = world(pool("cpu.allotment", ["c0", "c1"]), memory=8 * GI)


@pytest.mark.parametrize(
    ("here", "signs", "expected"),
    [
        (CPUS, (), "2 processors\nno cards: no driver is loaded"),
        (CPUS, ("dev/nvidiactl",), "2 processors\nno cards: there are device files, but no driver of them"),
        (
            world(pool("cpu.allotment", ["c0"]), pool("gpu.nvidia.com", ["g"])),
            (),
            "1 processor\n1 of gpu.nvidia",
        ),
        (world(), (), "no processor may be used"),
        (
            World((), {}, "n", notes=("the library does not answer",)),
            (),
            "no processor may be used\nthe library",
        ),
    ],
)
def test_devices_or_why_there_are_none(
    tmp_path: Path, here: World, signs: tuple[str, ...], expected: str
) -> None:
    for sign in signs:
        (tmp_path / sign).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / sign).touch()
    assert "\n".join(each.said for each in machine.devices(here, tmp_path)).startswith(expected)


@pytest.mark.parametrize(("memory", "expected"), [(None, "note"), (GI // 2, "problem"), (8 * GI, "fine")])
def test_memory_that_may_be_used(tmp_path: Path, memory: int | None, expected: str) -> None:
    assert states(machine.limits(world(memory=memory), tmp_path))[0] == expected


def test_a_processor_quota_is_said(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/a\n")
    (tmp_path / "sys/fs/cgroup/a").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/a/cpu.max").write_text("150000 100000\n")
    assert "a control group gives 1.5 processors' worth" in words(machine.limits(CPUS, tmp_path))


def test_the_ledger_says_who_holds_what(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger", node="p")
    device = DeviceId("cpu", "p", "c0")
    with ledger.locked() as view:
        hold = view.take([device], Holder(user="ada", campaign="letters"))
    with hold:
        said = words(machine.ledger(ledger))
    assert "fine ledger: the device ledger" in said
    assert "1 device is held by" in said
    assert "for `letters`" in said


def test_a_ledger_that_cannot_be_used_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file")
    answers = list(examine([("ledger", lambda: machine.ledger(Ledger(tmp_path / "ledger")))]))
    assert states(answers) == ["problem"]
    assert "ALLOT_LEDGER" in answers[0].remedy


def test_folders_of_the_user(tmp_path: Path) -> None:
    good = {"ALLOT_STATE": str(tmp_path / "a" / "b"), "ALLOT_CACHE": str(tmp_path)}
    assert states(machine.folders(good)) == ["fine", "fine"]
    (tmp_path / "file").touch()
    bad = {"ALLOT_STATE": str(tmp_path / "file" / "x"), "ALLOT_CACHE": str(tmp_path)}
    assert "problem state: " in words(machine.folders(bad))
    assert not (tmp_path / "a").exists(), "nothing is made by looking"


def test_little_room_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=10, f_frsize=4096))
    assert states(machine.room("cache", tmp_path, tmp_path)) == ["problem"]


def test_secrets_that_others_can_read(tmp_path: Path) -> None:
    environ = {"ALLOT_SECRETS": str(tmp_path / "secrets")}
    assert list(machine.secrets(environ)) == []
    (tmp_path / "secrets" / "hub").mkdir(parents=True)
    for name, mode in (("good", 0o600), ("bad", 0o644)):
        path = tmp_path / "secrets" / "hub" / name
        path.touch()
        path.chmod(mode)
    (open_one, counted) = machine.secrets(environ)
    assert open_one.remedy == f"chmod 600 {tmp_path}/secrets/hub/bad"
    assert counted.said.startswith("2 secrets in")


def description(name: str) -> EngineDescription:
    return EngineDescription(name, 1, 1.0, "b", "t", ("letters", "diaries"), "/archive")


def test_engines_that_live_and_engines_that_were_killed(tmp_path: Path) -> None:
    environ = {"ALLOT_STATE": str(tmp_path)}
    assert "no engine of yours runs" in words(machine.engines(environ))
    with Registration(tmp_path, description("one")):
        assert "process 1 runs letters, diaries of /archive" in words(machine.engines(environ))
    assert "no engine of yours runs" in words(machine.engines(environ)), "it ended in good order"
    killed = Registration(tmp_path, description("two"))
    killed.__enter__()
    killed.over("diaries")
    assert "process 1 runs letters of /archive" in words(machine.engines(environ))
    os.close(killed._lock)
    said = words(machine.engines(environ))
    assert "the engine of process 1, begun " in said
    assert "was killed at letters of /archive" in said
    assert "allot run letters" in said
    take_up(tmp_path, replace(description("three"), campaigns=("diaries",)))
    take_up(tmp_path, replace(description("three"), bucket="another"))
    assert "was killed" in words(machine.engines(environ))
    take_up(tmp_path, replace(description("three"), campaigns=("letters",)))
    assert "no engine of yours runs, and none was left behind" in words(machine.engines(environ))


@pytest.mark.parametrize(("now", "expected"), [(0.0, "problem"), (1_790_000_000.0, "fine"), (9e9, "problem")])
def test_the_clock(now: float, expected: str) -> None:
    assert states(machine.clock(now)) == [expected]


def test_a_folder_as_bucket_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    said = words(storage.bucket("./results", tmp_path, "team", {}, {}))
    assert "fine bucket: what is there is never written over (hard links" in said
    assert "problem" not in said
    assert list((tmp_path / "results").iterdir()) == []
    new = words(storage.bucket("./later", tmp_path, "team", {}, {}))
    assert "is not there yet; `allot run` makes it" in new
    assert not (tmp_path / "later").exists()


def test_a_bucket_that_cannot_be_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    assert "problem bucket" in words(storage.bucket("./results", tmp_path, "team", {}, {}))
    answers = examine([("bucket", lambda: storage.bucket("ftp://x/y", tmp_path, "team", {}, {}))])
    assert "problem bucket: ftp://x" in words(answers)


def test_a_file_system_with_another_clock_is_a_problem(tmp_path: Path) -> None:
    said = words(storage.folder(tmp_path, clock=lambda: 1_000.0))
    assert "problem clock: the clock of the bucket's file system is" in said


def test_a_file_system_without_hard_links_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    answers = list(examine([("bucket", lambda: storage.folder(tmp_path))]))
    assert states(answers) == ["problem"]
    assert "Operation not permitted" in answers[0].said
    assert list(tmp_path.iterdir()) == []


def finding(severity: Severity) -> Finding:
    return Finding(Position("campaigns/c.yaml", 3), "rule", "something", "mend it", severity)


@pytest.mark.parametrize(
    ("found", "option", "environ", "expected"),
    [
        (FoundPlatform(Platform(), BUILT_IN), None, {}, "fine platform: the built-in platform holds"),
        (FoundPlatform(Platform(), "platform.yaml"), None, {}, "holds, since it says `engine: local`"),
        (FoundPlatform(Platform(), "x.yaml"), Path("x.yaml"), {}, "x.yaml holds, named by --platform"),
        (FoundPlatform(Platform(), "x.yaml"), None, {"ALLOT_PLATFORM": "x.yaml"}, "named by ALLOT_PLATFORM"),
        (
            FoundPlatform(Platform(), "/etc/allotment/platform.yaml"),
            None,
            {},
            "for everybody on this machine",
        ),
        (FoundPlatform(Platform(engine="kubernetes"), "x"), Path("x"), {}, "note platform: its engine is"),
        (
            FoundPlatform(Platform(), "x", (finding(Severity.ERROR),)),
            Path("x"),
            {},
            "problem platform: campaigns/c.yaml:3:1 something (mend it)",
        ),
    ],
)
def test_which_platform_holds_and_why(
    found: FoundPlatform, option: Path | None, environ: dict[str, str], expected: str
) -> None:
    assert expected in words(files.platform(found, Path(), option=option, environ=environ))


def test_the_files_of_the_repository() -> None:
    assert states(files.repository(Path(), None)) == ["note"]
    right = Loaded(Repository(Path()), (finding(Severity.WARNING),))
    assert states(files.repository(Path(), right)) == ["note", "fine"]
    wrong = Loaded(Repository(Path()), (finding(Severity.ERROR),) * 7)
    assert states(files.repository(Path(), wrong)) == ["problem"] * 6


def test_a_check_that_breaks_is_an_answer_too() -> None:
    def breaks() -> Iterator[Answer]:
        yield fine("one", "well")
        raise ZeroDivisionError("oh")

    def raises(error: Exception) -> Any:
        def check() -> Iterator[Answer]:
            raise error
            yield problem("", "")

        return check

    checks = [
        ("one", breaks),
        ("two", raises(WorldError("down", "s3://b", "wait"))),
        ("three", raises(FindingsError([finding(Severity.ERROR)]))),
        ("four", lambda: [fine("four", "well")]),
    ]
    answers = list(examine(checks))
    assert [(each.check, each.state) for each in answers] == [
        ("one", State.FINE),
        ("one", State.PROBLEM),
        ("two", State.PROBLEM),
        ("three", State.PROBLEM),
        ("four", State.FINE),
    ]
    assert (answers[2].said, answers[2].remedy) == ("s3://b: down", "wait")


@pytest.mark.parametrize("target", ["results", "nowhere"])
def test_a_bucket_that_is_a_link_to_nothing_is_not_ready(tmp_path: Path, target: str) -> None:
    (tmp_path / "results").symlink_to(target)
    [answer] = storage.bucket("./results", tmp_path, "team", {}, {})
    assert "is a link that leads nowhere, or to itself" in answer.said
