"""A fleet or a gang is one engine's at a time: the second is refused with whose it is."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from allotment.buckets.keys import ProgramKeys
from allotment.buckets.memory import MemoryBucket
from allotment.running.engine.gang_run import GangRun
from allotment.running.engine.program import Kind
from allotment.running.engine.program_leases import LEASE_SECONDS, ProgramInUseError, ProgramLeases
from allotment.running.engine.programs import TAKEN_OVER, Programs
from allotment.running.holder import Holder
from allotment.running.lease import LeaseLostError
from tests.running.engine.harness import Repository, eventually
from tests.running.engine.test_program_bookkeeping import program

FLEET, GANG = program(Kind.FLEET), program(Kind.GANG)


class Worlds:
    """One bucket and one clock for several engines."""

    def __init__(self) -> None:
        self.bucket, self.now, self.dead = MemoryBucket(), 1000.0, set[str]()

    def engine(self, name: str) -> ProgramLeases:
        return ProgramLeases(
            self.bucket,
            Holder(name),
            clock=lambda: self.now,
            sleep=lambda _: None,
            is_dead=lambda holder: holder.id in self.dead,
        )


def test_the_second_is_refused_until_the_first_has_ended() -> None:
    world = Worlds()
    with world.engine("one") as first, world.engine("two") as second:
        first.take([GANG])
        with pytest.raises(ProgramInUseError, match=r"p: the gang is run by another engine: one"):
            second.take([GANG])
        assert first.ours("p")
    with world.engine("two") as second:
        second.take([GANG])


def test_what_is_over_is_free_while_the_engine_goes_on() -> None:
    world = Worlds()
    with world.engine("one") as first, world.engine("two") as second:
        first.take([FLEET])
        first.over("p")
        for thread in first._releases:
            thread.join()
        second.take([FLEET])


def test_a_dead_engine_holds_nothing_and_one_elsewhere_until_its_lease_ends() -> None:
    world = Worlds()
    world.engine("one").take([FLEET])
    world.dead.add("one")
    world.engine("two").take([FLEET])
    world.now += LEASE_SECONDS - 1
    with pytest.raises(ProgramInUseError):
        world.engine("three").take([FLEET])
    world.now += 2
    world.engine("three").take([FLEET])


def test_one_that_lost_it_ends_its_processes() -> None:
    world = Worlds()
    first = world.engine("one")
    first.take([GANG])
    world.now += LEASE_SECONDS + 1
    world.engine("two").take([GANG])
    run = GangRun(GANG, 0)
    programs = Programs((run,), ours=first.ours)
    programs.press(0.0)
    assert run.halted is None
    lease = first._leases["p"]
    with pytest.raises(LeaseLostError):
        lease.renew()
    programs.press(0.0)
    assert run.halted == TAKEN_OVER


def test_leases_of_programs_lie_where_no_pipeline_can_be() -> None:
    assert ProgramKeys("team", "web").lease(3) == "team/_programs/web/leases/3.json"


def gang(repository: Repository) -> None:
    (repository.root / "gangs").mkdir()
    (repository.root / "gangs" / "g.yaml").write_text(
        'command: [sh, -c, "echo up >> begun; while [ ! -e go-on ]; do sleep 0.05; done"]\n'
        "workers: 1\ngpu: {cpu: 1}\n"
    )


def test_two_engines_never_run_one_gang_at_once(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    gang(repository)
    first = repository.start("run", "g", "--plain")
    try:
        assert eventually((tmp_path / "begun").exists)
        second = repository.allot("run", "g", "--plain")
        assert second.returncode == 1, second.stdout + second.stderr
        assert f"g: the gang is run by another engine: process {first.pid} on" in second.stderr
        (tmp_path / "go-on").touch()
        assert first.wait(30) == 0
    finally:
        first.kill()
    assert repository.allot("run", "g").returncode == 0
    assert (tmp_path / "begun").read_text() == "up\nup\n"


def test_a_killed_engine_leaves_the_gang_to_the_next(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    gang(repository)
    first = repository.start("run", "g", "--plain")
    assert eventually((tmp_path / "begun").exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    (tmp_path / "go-on").touch()
    assert repository.allot("run", "g").returncode == 0
