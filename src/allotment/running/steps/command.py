"""The step `command`: any program, one page in as a file, files out.

    run: [program, "--flag", "{page}", "{out}/text"]     # a list: no shell takes it apart

In the arguments (anywhere in them) these words stand for: ``{page}`` the page's file, ``{out}`` an empty
folder whose files become the outputs, ``{name}`` the page's name (``0001``), ``{earlier}`` a folder with
what earlier steps made of the page; other braces are left alone. The program starts in the worker's folder
(the repository), gets nothing to read on standard input, and what it prints goes to the worker's log.

It belongs to the worker's process group, so it dies with the worker. What it leaves running when it ends,
or when its time is up, is ended too: every process that descends from it carries a mark in its environment,
which `/proc` shows even for one that has cut itself loose from its parent.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from allotment.running.processes import end_all, has_mark
from allotment.running.steps import Page, PageRefused, Step, StepContext, StepSettingsError
from allotment.running.steps.command_settings import OUTPUT_NAME, Settings, read_settings
from allotment.running.withheld import environment_below

SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/tiff": ".tif", "application/pdf": ".pdf"}
MARK = "ALLOT_STEP_PROCESS"
LAST_BYTES = 2_000  # of standard error, in the message of a failure
LOGGED_BYTES = 1_000_000  # of standard error, per page, in the worker's log
ROUNDS = 500  # of looking for processes that were left running
PAUSE_SECONDS = 0.001
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK

_count = itertools.count(1)


def create(settings: Mapping[str, Any], context: StepContext) -> Step:
    """The step, once its program has been found."""
    checked = read_settings(settings)
    if shutil.which(checked.run[0]) is None:
        raise StepSettingsError(
            f"the program `{checked.run[0]}` of the step `command` is not found, or may not be run, here; "
            "give its path from the repository's folder, or install it where PATH finds it"
        )
    return CommandStep(checked, context.workdir)


class CommandError(Exception):
    """The program failed on this page; it may do better another time."""


class CommandStep:
    """Runs one program on one page after another."""

    def __init__(self, settings: Settings, workdir: Path) -> None:
        self._settings = settings
        self._workdir = workdir

    def __call__(self, page: Page, earlier: Mapping[str, bytes]) -> dict[str, bytes]:
        """What the program left in its folder, by name."""
        with TemporaryDirectory(
            prefix=f"{page.name}-", dir=self._workdir.resolve(), ignore_cleanup_errors=True
        ) as folder:
            desk = Path(folder)
            out = desk / "out"
            out.mkdir()
            held = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                return self._made(desk, out, held, page, earlier)
            finally:
                os.close(held)

    def _made(
        self, desk: Path, out: Path, held: int, page: Page, earlier: Mapping[str, bytes]
    ) -> dict[str, bytes]:
        """The page through the program; ``held`` is its folder, whatever comes to lie in its place."""
        with (desk / "errors").open("w+b") as errors:
            try:
                code = self._run(self._arguments(desk, page, earlier), out, errors)
            finally:
                said = _pass_on(errors)
        if code in self._settings.refuse_codes:
            raise PageRefused(f"{self._program} refuses it (exit code {code}){said}")
        if code != 0:
            raise CommandError(f"{self._program} {_ending(code)}{said}")
        if not _still_there(out, held):
            raise CommandError(
                f"{self._program} took away the folder that it was given for its outputs, or put something "
                "else in its place; it is to leave files in that folder"
            )
        return self._outputs(held)

    @property
    def _program(self) -> str:
        return f"the program `{Path(self._settings.run[0]).name}`"

    def _arguments(self, desk: Path, page: Page, earlier: Mapping[str, bytes]) -> list[str]:
        """The program's arguments with its files laid out and named."""
        file = desk / f"{page.name}{_suffix(page)}"
        file.write_bytes(page.data)
        before = desk / "earlier"
        words = {
            "{page}": str(file),
            "{out}": str(desk / "out"),
            "{name}": page.name,
            "{earlier}": str(before),
        }
        if any("{earlier}" in argument for argument in self._settings.run):
            before.mkdir()
            for name, content in earlier.items():
                (before / name).write_bytes(content)
        return [self._settings.run[0], *(_filled(argument, words) for argument in self._settings.run[1:])]

    def _run(self, arguments: list[str], out: Path, errors: IO[bytes]) -> int:
        """Run the program to its end; however this ends, nothing that it started is left."""
        mark = f"{os.getpid()}-{next(_count)}"
        process: subprocess.Popen[bytes] | None = None
        with self._standard_output(out) as printed:
            try:
                process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=errors,
                    env={**environment_below(os.environ), **self._settings.env, MARK: mark},
                )
                return process.wait()
            finally:
                if process is not None:
                    process.kill()
                    process.wait()
                _end_carriers(f"{MARK}={mark}".encode())

    @contextlib.contextmanager
    def _standard_output(self, out: Path) -> Iterator[IO[bytes] | int]:
        """Where the program prints to: the output that is named for it, else the worker's log."""
        if self._settings.stdout is None:
            yield sys.__stderr__.fileno() if sys.__stderr__ else subprocess.DEVNULL
            return
        with (out / self._settings.stdout).open("wb") as file:
            yield file

    def _outputs(self, held: int) -> dict[str, bytes]:
        """The files in the program's folder: plain ones, with names that can be part of a key."""
        found = {}
        for name in sorted(os.listdir(held)):
            about = os.stat(name, dir_fd=held, follow_symlinks=False)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
                raise CommandError(
                    f"{self._program} left `{name}` in its folder, which is a link, a folder or a "
                    "device; only plain files become outputs"
                )
            if not OUTPUT_NAME.fullmatch(name):
                raise CommandError(
                    f"{self._program} left a file {name!r}; an output's name has letters, digits, "
                    "`.`, `_` and `-`, and begins with a letter or digit"
                )
            with os.fdopen(os.open(name, READ, dir_fd=held), "rb") as file:
                found[name] = file.read()
        wanted = self._settings.outputs
        if wanted is None:
            return found
        missing = [name for name in wanted if name not in found]
        if missing:
            raise CommandError(f"{self._program} ended well but left no `{missing[0]}` in its folder")
        return {name: found[name] for name in sorted(wanted)}


def _still_there(out: Path, held: int) -> bool:
    """Whether the folder is where it was."""
    try:
        return os.path.samestat(out.lstat(), os.fstat(held))
    except OSError:
        return False


def _end_carriers(mark: bytes) -> None:
    """End every process that was started with the mark, and those that they start meanwhile."""
    pauses = itertools.repeat(PAUSE_SECONDS, ROUNDS)
    end_all(lambda process: has_mark(process.pid, mark), pauses=pauses, sleep=time.sleep)


def _filled(argument: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        argument = argument.replace(word, value)
    return argument


def _suffix(page: Page) -> str:
    """A file name's ending that programs understand."""
    known = SUFFIXES.get(page.media_type)
    if known:
        return known
    suffix = Path(page.source.split("#")[0]).suffix
    return suffix if suffix[1:].isascii() and suffix[1:].isalnum() else ".bin"


def _ending(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _pass_on(errors: IO[bytes]) -> str:
    """Hand what the program wrote to standard error to the worker's log; returns its last lines."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - LOGGED_BYTES))
    written = errors.read().decode(errors="replace")
    sys.stderr.write(written)
    lines = [line.strip() for line in written[-LAST_BYTES:].splitlines() if line.strip()]
    return ": " + " | ".join(lines[-5:]) if lines else ""
