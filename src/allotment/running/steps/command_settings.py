"""What a pipeline may set for the step `command`, checked once before the first page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from allotment.errors import did_you_mean
from allotment.running.steps import StepSettingsError

OUTPUT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
OURS = "ALLOT_"
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the step `command`.

    ``run`` is the program and its arguments, ``env`` adds to its environment, ``stdout`` names the output
    that gets what the program prints, ``outputs`` are the files that it must leave (others are then
    dropped; left out: all files count), ``refuse_codes`` the exit codes that say that this page will never
    do.
    """

    run: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdout: str | None = None
    outputs: tuple[str, ...] | None = None
    refuse_codes: frozenset[int] = frozenset()


def read_settings(settings: Mapping[str, Any]) -> Settings:
    """The settings, checked; raises `StepSettingsError` in words."""
    known = [known.name for known in fields(Settings)]
    for name in settings:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise StepSettingsError(f"`command` has no setting `{name}`" + (f"; {hint}" if hint else ""))
    outputs = _names("outputs", settings.get("outputs"))
    stdout = _output("stdout", settings.get("stdout"))
    run = _run(settings.get("run"))
    if stdout is None and not any("{out}" in argument for argument in run):
        raise StepSettingsError(
            "`run` never says `{out}`, so the program has nowhere to leave files: put `{out}` into its "
            "arguments, or let `stdout: txt` keep what it prints"
        )
    return Settings(
        run=run,
        env=_env(settings.get("env", {})),
        stdout=stdout,
        outputs=outputs,
        refuse_codes=_codes(settings.get("refuse_codes", [])),
    )


def _run(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise StepSettingsError(
            '`run` is a list of the program and its arguments, such as [tesseract, "{page}", "{out}/text"]; '
            f"not {value!r}"
        )
    for argument in value:
        if isinstance(argument, bool) or not isinstance(argument, str | int | float) or argument == "":
            raise StepSettingsError(f"`run` has {argument!r}, which is no text: put it in quotes")
    arguments = tuple(str(argument) for argument in value)
    if any("\0" in argument for argument in arguments):
        raise StepSettingsError("`run` has a zero byte, which no program can be given")
    if not any("{page}" in argument for argument in arguments[1:]):
        raise StepSettingsError(
            "`run` never says `{page}`, so the program would not see the page: put `{page}` into its "
            "arguments"
        )
    return arguments


def _env(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise StepSettingsError(f"`env` is a mapping of names to values, not {value!r}")
    env = {}
    for name, content in value.items():
        if not isinstance(name, str) or not VARIABLE_NAME.fullmatch(name):
            raise StepSettingsError(f"`env` has {name!r}, which cannot name a variable")
        if name.startswith(OURS):
            raise StepSettingsError(f"`env` has {name}; names that begin with {OURS} are Allotment's own")
        if isinstance(content, bool) or not isinstance(content, str | int | float) or "\0" in str(content):
            raise StepSettingsError(f"`env` has {content!r} for {name}, which is no text: put it in quotes")
        env[name] = str(content)
    return env


def _names(setting: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not value:
        raise StepSettingsError(f"`{setting}` is a list of file names, not {value!r}")
    names = tuple(name for name in (_output(setting, item) for item in value) if name is not None)
    if len(set(names)) != len(value):
        raise StepSettingsError(f"`{setting}` names a file twice, or has an empty line")
    return names


def _output(setting: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and OUTPUT_NAME.fullmatch(value)):
        return value
    raise StepSettingsError(
        f"`{setting}` has {value!r}; an output's name has letters, digits, `.`, `_` and `-`, "
        "and begins with a letter or digit"
    )


def _codes(value: object) -> frozenset[int]:
    if isinstance(value, list) and all(
        isinstance(code, int) and not isinstance(code, bool) and 1 <= code <= 255 for code in value
    ):
        return frozenset(value)
    raise StepSettingsError(f"`refuse_codes` is a list of exit codes from 1 to 255, not {value!r}")
