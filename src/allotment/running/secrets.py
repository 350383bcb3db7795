"""Secrets of this machine's workers: read from a folder, given by environment alone, and never shown.

A pipeline, fleet or gang names a secret and a key of it; here that is the file ``NAME/KEY`` of the folder
that ``ALLOT_SECRETS`` names, else of ``~/.config/allotment/secrets``. A file that others can read or write is
no place for a secret and is refused. Values stand in no assignment, no log and no message: what a worker says
is masked by value.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from allotment.errors import Finding, Position
from allotment.repository.model import EnvironmentVariable

MASK = "•••"
SHORTEST_MASKED = 4
LARGEST = 64 * 1024
MISSING, OPEN, UNUSABLE = "secret-missing", "secret-open-to-others", "secret-unusable"

Fault = tuple[str, str, str]
"""The rule, the message and the hint of a finding."""


class HasEnvironment(Protocol):
    """A file with variables: a pipeline's, a fleet's, a gang's."""

    @property
    def env(self) -> tuple[EnvironmentVariable, ...]:
        """Its variables."""

    @property
    def path(self) -> Path:
        """The file."""

    def position(self, *loc: str | int) -> Position:
        """Where the file says it."""


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """The values of secrets, by the file that asks for them and the variable; they are never shown.

    ``everywhere`` are values that no file asked for and that are masked all the same.
    """

    _by_file: Mapping[Path, Mapping[str, str]] = field(default_factory=dict)
    everywhere: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Secrets(of {len(self._by_file)} files)"

    def variables(self, path: Path) -> Mapping[str, str]:
        """The variables of a file that have a secret's value."""
        return self._by_file.get(path, {})

    def mask(self, path: Path) -> Callable[[str], str]:
        """What makes a text of a file's workers fit to be shown."""
        return masker((*self.variables(path).values(), *self.everywhere))


NO_SECRETS = Secrets()


def secrets_folder(environ: Mapping[str, str]) -> Path:
    """Where secrets lie: ``ALLOT_SECRETS``, else the user's configuration folder."""
    if chosen := environ.get("ALLOT_SECRETS"):
        return Path(chosen).expanduser()
    base = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "allotment" / "secrets"


def read_secrets(files: Iterable[HasEnvironment], folder: Path) -> tuple[Secrets, list[Finding]]:
    """The secrets that the files name, and a finding for each that cannot be had."""
    by_file: dict[Path, dict[str, str]] = {}
    findings = []
    for file in files:
        for variable in file.env:
            if variable.secret is None or variable.key is None:
                continue
            value = _value(folder, variable.secret, variable.key)
            if isinstance(value, str):
                by_file.setdefault(file.path, {})[variable.name] = value
            else:
                rule, message, hint = value
                findings.append(Finding(file.position("env", variable.name), rule, message, hint))
    return Secrets(by_file), findings


def masked_parts(values: Iterable[str]) -> list[str]:
    """These values and their lines, the longest first; very short ones would mask half of a text."""
    parts = {part.strip() for value in values for part in (value, *value.splitlines())}
    return sorted(
        (part for part in parts if len(part) >= SHORTEST_MASKED), key=lambda part: (-len(part), part)
    )


def masker(values: Iterable[str]) -> Callable[[str], str]:
    """What replaces these values, and their lines, in a text."""
    found = masked_parts(values)
    if not found:
        return str

    def mask(text: str) -> str:
        for value in found:
            text = text.replace(value, MASK)
        return text

    return mask


def _value(folder: Path, name: str, key: str) -> str | Fault:
    """A secret's value, or what is wrong with it."""
    path = folder / name / key
    if "/" in key or key in {".", ".."}:
        return UNUSABLE, f"`{key}` is no key of a secret: it would leave its folder", "name a file in it"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        hint = f"write it there: mkdir -p {folder / name} && (umask 077; cat > {path})"
        return MISSING, f"the secret `{name}` has no key `{key}` on this machine: there is no {path}", hint
    except OSError as error:
        return UNUSABLE, f"the secret's file {path} cannot be read: {error.strerror}", "it must be yours"
    with os.fdopen(descriptor, "rb") as file:
        fault = _fault(path, os.fstat(descriptor))
        data = b"" if fault else file.read()
    if fault is None and b"\0" in data:
        return UNUSABLE, f"the secret's file {path} has a zero byte, which no variable can have", "write text"
    return fault or os.fsdecode(data).removesuffix("\n").removesuffix("\r")


def _fault(path: Path, facts: os.stat_result) -> Fault | None:
    """What is wrong with a secret's file as such."""
    if not stat.S_ISREG(facts.st_mode):
        return UNUSABLE, f"the secret's file {path} is no plain file", "put the value into a file"
    if facts.st_uid not in {os.geteuid(), 0}:
        return UNUSABLE, f"the secret's file {path} belongs to somebody else", "write one of your own"
    if stat.S_IMODE(facts.st_mode) & 0o077:
        return OPEN, f"others can read or write the secret's file {path}", f"chmod 600 {path}"
    if facts.st_size > LARGEST:
        return (
            UNUSABLE,
            f"the secret's file {path} is too large for a variable",
            "a variable takes up to 64 KiB",
        )
    return None
