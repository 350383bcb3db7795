"""Another process with the ledger: it does what it is told, says so on its standard output, and waits.

Started by tests as ``python -m tests.devices.holding WORD FOLDER …``; a line on standard input, or its end,
lets it go on. ``uid=N`` as the last word makes it another user first.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
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
    """Try two hundred times to be the only holder of some devices; leave a mark while it is."""
    say("ready")
    sys.stdin.readline()
    won = 0
    for turn in range(200):
        wanted = (DEVICES[:1], DEVICES[:2], DEVICES[1:])[turn % 3]
        try:
            with ledger.locked() as view:
                held = view.take(wanted, Holder(os.getpid()))
        except DevicesTakenError:
            continue
        marks = [ledger.folder / f"mark-{device.device}" for device in wanted]
        for mark in marks:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))  # fails when another process has it too
        won += 1
        for mark in marks:
            mark.unlink()
        held.close()
    say("won", won)


def look(ledger: Ledger) -> None:
    """Say who holds what, and try to take the first device."""
    try:
        say("sees", *(f"{device}={holder.user}" for device, holder in ledger.holders().items()))
        with ledger.locked() as view:
            view.take(DEVICES[:1], Holder(os.getpid())).close()
        say("took")
    except WorldError as error:
        say(type(error).__name__, error.what)


WORDS = {"hold": hold, "hand-down": hand_down, "compete": compete, "look": look}


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
