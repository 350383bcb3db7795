"""The preparation `command`: any program that leaves files in a folder.

    prepare:
      step: command
      settings: {run: [huggingface-cli, download, team/model, --local-dir, "{folder}"]}

In the arguments ``{folder}`` stands for the folder to fill and ``{workdir}`` for one that is thrown away. No
shell takes them apart. The program starts in the repository's folder; what it prints goes to the log.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from allotment.running.prepare import PrepareContext, PrepareSettingsError

FOLDER, WORKDIR = "{folder}", "{workdir}"


def prepare(settings: Mapping[str, Any], context: PrepareContext) -> None:
    """Run the program to its end; raises when it does not end well."""
    words = {FOLDER: str(context.folder), WORKDIR: str(context.workdir)}
    arguments = [_filled(argument, words) for argument in read_settings(settings)]
    if shutil.which(arguments[0]) is None:
        raise PrepareSettingsError(f"the program `{arguments[0]}` is not found here, or may not be run")
    log = sys.__stderr__.fileno() if sys.__stderr__ else subprocess.DEVNULL
    ended = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"the program `{arguments[0]}` ended with exit code {ended.returncode}")


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


def _filled(argument: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        argument = argument.replace(word, value)
    return argument
