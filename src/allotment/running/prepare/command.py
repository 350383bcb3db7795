"""The preparation `command`: any program that leaves files in a folder.

    prepare:
      step: command
      settings: {run: [huggingface-cli, download, team/model, --local-dir, "{folder}"]}

In the arguments ``{folder}`` stands for the folder to fill and ``{workdir}`` for one that is thrown away. No
shell takes them apart. The program starts in the repository's folder; what it prints goes to the log, and the
last of it into the message when it fails.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from allotment.running.endings import VolumeFailedError
from allotment.running.prepare import PrepareContext, PrepareSettingsError
from allotment.running.withheld import environment_below

FOLDER, WORKDIR = "{folder}", "{workdir}"
READ_SIZE = 1 << 16
LOOK_SECONDS = 0.2
LAST_BYTES, LAST_LINES = 2_000, 5


def prepare(settings: Mapping[str, Any], context: PrepareContext) -> None:
    """Run the program to its end; raises when it does not end well."""
    words = {FOLDER: str(context.folder), WORKDIR: str(context.workdir)}
    arguments = [_filled(argument, words) for argument in read_settings(settings)]
    if shutil.which(arguments[0]) is None:
        raise PrepareSettingsError(f"the program `{arguments[0]}` is not found here, or may not be run")
    code, said = _run(arguments)
    if code != 0:
        how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
        message = f"prepare command: the program `{arguments[0]}` {how}{said}"
        raise VolumeFailedError("prepare-failed", message)


def read_settings(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The program and its arguments, checked; raises `PrepareSettingsError` in words."""
    unknown = next((name for name in settings if name != "run"), None)
    if unknown is not None:
        raise PrepareSettingsError(f"`command` has no setting `{unknown}`; it has `run`")
    run = settings.get("run")
    if not isinstance(run, list) or not run or not all(isinstance(word, str) and word for word in run):
        raise PrepareSettingsError(
            f'`run` is a list of the program and its arguments, such as [fetch, "{FOLDER}"]; not {run!r}'
        )
    if not any(FOLDER in word for word in run[1:]):
        raise PrepareSettingsError(f"`run` never says `{FOLDER}`, so the program has nowhere to leave files")
    return tuple(run)


def _run(arguments: list[str]) -> tuple[int, str]:
    """Run a program to its end; returns its exit code and the last lines that it printed."""
    with subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment_below(os.environ),
    ) as process:
        try:
            last = _passed_on(process)
            process.wait()
        except BaseException:
            process.kill()
            raise
    lines = [line.strip() for line in last.decode(errors="replace").splitlines() if line.strip()]
    return process.returncode, ": " + " | ".join(lines[-LAST_LINES:]) if lines else ""


def _passed_on(process: subprocess.Popen[bytes]) -> bytes:
    """Hand what a program prints to the log while it runs; returns the last of it."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    printed, last = process.stdout.fileno(), b""
    while True:
        ready, _, _ = select.select([printed], [], [], LOOK_SECONDS)
        if not ready and process.poll() is not None:  # what it left running may hold the pipe
            return last
        data = os.read(printed, READ_SIZE) if ready else None
        if data == b"":
            return last
        if data:
            last = (last + data)[-LAST_BYTES:]
            _log(data)


def _log(data: bytes) -> None:
    while data and sys.__stderr__ is not None:
        data = data[os.write(sys.__stderr__.fileno(), data) :]


def _filled(argument: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        argument = argument.replace(word, value)
    return argument
