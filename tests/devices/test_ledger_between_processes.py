"""Real processes and the ledger: a device is taken exactly as long as one that uses it is alive."""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.devices.ledger import DevicesTakenError, Holder, Ledger
from allotment.devices.lock_names import LockNames
from tests.devices.holding import DEVICES, line, started, tell

FIRST = DEVICES[0]
SOME_SECONDS = 30.0
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two other users")


@contextlib.contextmanager
def child_of_a_stranger(pid: int) -> Iterator[None]:
    """A process that is no child of ours: it has ended when the block has."""
    pidfd = os.pidfd_open(pid)
    try:
        yield
    finally:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        ended, _, _ = select.select([pidfd], [], [], SOME_SECONDS)
        os.close(pidfd)
    assert ended


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can reach, which is not so of pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        parent = Path(folder) / "open"
        parent.mkdir()
        parent.chmod(0o1777)
        yield parent / "ledger"


def test_who_holds_a_device_is_shown_to_others(tmp_path: Path) -> None:
    with started("hold", tmp_path) as other:
        assert line(other) == f"held {other.pid}"
        holders = Ledger(tmp_path).holders()
        me = holders[FIRST].user
        assert holders == {FIRST: Holder(other.pid, me, "letters", "R1", 7, 1.5)}
        with Ledger(tmp_path).locked() as view:
            assert view.memory_held() == 7
            with pytest.raises(DevicesTakenError, match=r"already in use: cpu\.allotment/node/1/cpu-0"):
                view.take(DEVICES, Holder())
        tell(other)
        assert line(other) == "let go"
        assert Ledger(tmp_path).holders() == {}


def test_a_killed_holder_frees_its_device_at_once(tmp_path: Path) -> None:
    with started("hold", tmp_path) as other:
        line(other)
        assert FIRST in Ledger(tmp_path).holders()
        other.send_signal(signal.SIGKILL)
        other.wait(SOME_SECONDS)
        with Ledger(tmp_path).locked() as view:
            assert view.taken() == {}
            view.take(DEVICES, Holder()).close()


def test_a_stopped_holder_keeps_its_device(tmp_path: Path) -> None:
    with started("hold", tmp_path) as other:
        line(other)
        other.send_signal(signal.SIGSTOP)
        assert FIRST in Ledger(tmp_path).holders()


def test_a_child_that_inherits_the_device_keeps_it_after_its_parent_died(tmp_path: Path) -> None:
    with started("hand-down", tmp_path) as parent:
        heir = int(line(parent).split()[1])
        with child_of_a_stranger(heir):
            parent.kill()
            parent.wait(SOME_SECONDS)
            assert FIRST in Ledger(tmp_path).holders()
        assert Ledger(tmp_path).holders() == {}


def test_two_processes_never_hold_one_device_together(tmp_path: Path) -> None:
    with started("compete", tmp_path) as one, started("compete", tmp_path) as two:
        for step in ("ready", "often enough"):
            assert [line(one), line(two)] == [step, step]
            tell(one)
            tell(two)
        assert [one.wait(SOME_SECONDS), two.wait(SOME_SECONDS)] == [0, 0]
    assert Ledger(tmp_path).holders() == {}


@pytest.mark.soak
def test_processes_killed_at_random_instants_never_hold_one_device_together(tmp_path: Path) -> None:
    chance = random.Random(2)
    for _ in range(60):
        with contextlib.ExitStack() as stack:
            rivals = [stack.enter_context(started("go-on", tmp_path)) for _ in range(4)]
            for rival in rivals:
                assert line(rival) == "ready"
            for rival in chance.sample(rivals, len(rivals)):
                with pytest.raises(subprocess.TimeoutExpired):
                    rival.wait(chance.uniform(0.001, 0.05))
                rival.kill()
                assert rival.wait(SOME_SECONDS) == -signal.SIGKILL
        with Ledger(tmp_path).locked() as view:
            assert view.taken() == {}
            view.take(DEVICES, Holder()).close()


@as_root
def test_two_users_share_the_ledger_whatever_their_umask(shared: Path) -> None:
    with started("hold", shared, uid=64001) as one:
        assert line(one).startswith("held")
        assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
        assert stat.S_IMODE((shared / LockNames("").name_of(FIRST, 64001)).stat().st_mode) == 0o644
        with started("look", shared, uid=64002) as two:
            assert line(two) == f"sees {FIRST}=64001"
            assert line(two) == f"DevicesTakenError already in use: {FIRST}"
        one.kill()
        one.wait(SOME_SECONDS)
        with started("look", shared, uid=64002) as two:
            assert [line(two), line(two)] == ["sees", "took"]


@as_root
def test_a_ledger_that_is_closed_to_a_user_is_one_clear_error(shared: Path) -> None:
    shared.mkdir(mode=0o700)
    with started("look", shared, uid=64001) as other:
        assert line(other) == "WorldError the folder is closed to you; it belongs to root"
        assert other.wait(SOME_SECONDS) == 0


@as_root
def test_a_lock_file_that_is_closed_to_a_user_counts_as_held(shared: Path) -> None:
    with Ledger(shared).locked() as view:
        view.take(DEVICES[:1], Holder()).close()
    (shared / LockNames("").name_of(FIRST, 0)).chmod(0o600)
    with started("look", shared, uid=64001) as other:
        assert line(other) == f"sees {FIRST}=root"
