"""Another process with the ledger: it does what it is told, says so on its standard output, and waits.

Started by tests as ``python -m tests.devices.holding WORD FOLDER …``; a line on standard input, or its end,
lets it go on. ``uid=N`` as the last word makes it another user first.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import select
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from allotment.devices.ledger import DevicesTakenError, Holder, Ledger
from allotment.devices.slices import DeviceId
from allotment.errors import WorldError

DEVICES = tuple(DeviceId("cpu.allotment", "node/1", f"cpu-{place}") for place in range(4))


def say(*words: object) -> None:
    print(*words, flush=True)


def hold(ledger: Ledger) -> None:
    """Hold the first device until told to let go."""
    with ledger.locked() as view:
        held = view.take(DEVICES[:1], Holder(os.getpid(), "me", "letters", "R1", 7, 1.5))
    say("held", os.getpid())
    sys.stdin.readline()
    held.close()
    say("let go")
    sys.stdin.readline()


def hand_down(ledger: Ledger) -> None:
    """Hold the first device and hand it down to a child that outlives this process."""
    with ledger.locked() as view:
        held = view.take(DEVICES[:1], Holder(os.getpid()))
    waits = [sys.executable, "-c", "import signal; signal.pause()"]
    heir = subprocess.Popen(waits, pass_fds=held.fds, stdout=subprocess.DEVNULL)
    say("held", heir.pid)
    sys.stdin.readline()


def compete(ledger: Ledger) -> None:
    """Hold devices and come too late for them, time and again; say when that was often enough."""
    say("ready")
    sys.stdin.readline()
    times = Counter[bool]()
    said = False
    for turn in range(20_000):
        times[alone_for_a_moment(ledger, turn)] += 1
        if not said and times[True] >= 200 and times[False] >= 20:
            said = True
            say("often enough")
        if select.select([sys.stdin], [], [], 0)[0]:
            return


def go_on(ledger: Ledger) -> None:
    """The same, until killed."""
    say("ready")
    for turn in itertools.count(os.getpid()):
        alone_for_a_moment(ledger, turn)


def alone_for_a_moment(ledger: Ledger, turn: int) -> bool:
    """Hold some devices, if they are free; fails when another process holds one of them too.

    The proof is a socket's name, which the kernel gives to one process at a time and frees with its end. The
    sockets are made first: an ending process closes its files in that order, and the locks must go last.
    """
    wanted = (DEVICES[:1], DEVICES[:2], DEVICES[1:])[turn % 3]
    with contextlib.ExitStack() as stack:
        proofs = [stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) for _ in wanted]
        try:
            with ledger.locked() as view:
                held = view.take(wanted, Holder(os.getpid()))
        except DevicesTakenError:
            return False
        for proof, device in zip(proofs, wanted, strict=True):
            proof.bind("\0" + hashlib.sha256(f"{ledger.folder} {device}".encode()).hexdigest())
        for _ in range(3):  # meanwhile the others try as well
            holders = ledger.holders()
            assert [holders[device].pid for device in wanted] == [os.getpid()] * len(wanted)
    held.close()
    return True


def look(ledger: Ledger) -> None:
    """Say who holds what, and try to take the first device."""
    try:
        say("sees", *(f"{device}={holder.user}" for device, holder in ledger.holders().items()))
        with ledger.locked() as view:
            view.take(DEVICES[:1], Holder(os.getpid())).close()
        say("took")
    except WorldError as error:
        say(type(error).__name__, error.what)


WORDS = {"hold": hold, "hand-down": hand_down, "compete": compete, "go-on": go_on, "look": look}


def main(words: Sequence[str]) -> None:
    """What the command line asks for."""
    verb, folder, *rest = words
    for uid in rest:
        os.umask(0o077)
        os.setgroups([])
        os.setgid(int(uid))
        os.setuid(int(uid))
    WORDS[verb](Ledger(Path(folder)))


@contextlib.contextmanager
def started(verb: str, folder: Path, *, uid: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """Such a process, killed in the end if it is still there."""
    command = [sys.executable, "-m", "tests.devices.holding", verb, str(folder)]
    process = subprocess.Popen(
        command if uid is None else [*command, str(uid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    """The next line that the process says."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    """Let the process go on."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
