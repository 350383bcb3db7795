"""What this user has for registries, as container tools keep it: the file of ``docker login``, and podman's.

Facts: Docker's manual, *docker login* and *credential stores*. ``auths`` holds user and password in base64,
or an identity token; ``credHelpers`` and ``credsStore`` name programs ``docker-credential-NAME`` that are
given the registry on standard input after ``get``, and answer ``{"Username": …, "Secret": …}``; the user
``<token>`` means that the secret is an identity token. A file that cannot be read is as if it were not there.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.kubernetes.images.reference import DOCKER, DOCKER_KEY, Reference

TOKEN_USER: Final = "<token>"  # noqa: S105 - the word that stands where there is no user
HELPER_SECONDS: Final = 20
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST: Final = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """A user with a password, or an identity token alone."""

    user: str
    secret: str

    @property
    def basic(self) -> str:
        """The header's value that says it."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.secret}".encode()).decode()

    @property
    def is_token(self) -> bool:
        """Whether the secret is an identity token."""
        return self.user == TOKEN_USER


Run = Callable[[str, str], str]
"""Runs the program of that name with ``get`` and a text on its standard input; returns what it prints."""


def run_helper(name: str, text: str) -> str:
    """What the program prints; OSError or SubprocessError where it cannot or does not."""
    done = subprocess.run(
        [name, "get"], input=text, capture_output=True, text=True, timeout=HELPER_SECONDS, check=True
    )
    return done.stdout


def credential_for(
    reference: Reference, environ: Mapping[str, str], run: Run = run_helper
) -> Credential | None:
    """What this user has for the registry of a reference, if anything."""
    for path in _files(environ):
        said = _read(path)
        found = _by_helper(said, reference, run) or _written(said, reference)
        if found is not None:
            return found
    return None


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    if named := environ.get("REGISTRY_AUTH_FILE"):
        yield Path(named)
    folder, home = environ.get("DOCKER_CONFIG"), environ.get("HOME")
    if folder or home:
        yield Path(folder) / "config.json" if folder else Path(str(home)) / ".docker" / "config.json"
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        yield Path(runtime) / "containers" / "auth.json"


def _read(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            return _mapping(json.loads(file.read(_MOST)))
    except (OSError, ValueError, RecursionError):
        return {}


def _written(said: Mapping[str, Any], reference: Reference) -> Credential | None:
    """The entry of the longest name that holds: of the repository, of what it is below, of the host."""
    auths = _mapping(said.get("auths"))
    by_name = {_plain(name): _mapping(entry) for name, entry in auths.items()}
    parts = f"{reference.host}/{reference.repository}".split("/")
    for length in range(len(parts), 0, -1):
        if found := _credential(by_name.get("/".join(parts[:length]), {})):
            return found
    return None


def _plain(name: str) -> str:
    """A name of ``auths`` without what older tools write around it."""
    if name == DOCKER_KEY:
        return DOCKER
    bare = name.partition("://")[2] or name
    return re.sub(r"/v[12]/?$", "", bare).rstrip("/")


def _credential(entry: Mapping[str, Any]) -> Credential | None:
    if isinstance(token := entry.get("identitytoken"), str) and token:
        return Credential(TOKEN_USER, token)
    user, secret = entry.get("username"), entry.get("password")
    if isinstance(user, str) and isinstance(secret, str) and user:
        return Credential(user, secret)
    try:
        text = base64.b64decode(str(entry.get("auth") or ""), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    user, _, secret = text.partition(":")
    return Credential(user, secret.strip("\0")) if user else None


def _by_helper(said: Mapping[str, Any], reference: Reference, run: Run) -> Credential | None:
    asked = DOCKER_KEY if reference.host == DOCKER else reference.host
    helpers = _mapping(said.get("credHelpers"))
    helper = helpers.get(reference.host) or helpers.get(asked) or said.get("credsStore")
    if not isinstance(helper, str) or not _NAME.fullmatch(helper):
        return None
    try:
        entry = _mapping(json.loads(run(f"docker-credential-{helper}", asked)))
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
        return None
    user, secret = entry.get("Username"), entry.get("Secret")
    return Credential(user, secret) if isinstance(user, str) and isinstance(secret, str) and user else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
