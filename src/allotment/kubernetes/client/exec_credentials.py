"""Credentials that a program gives, as clouds have it: `aws`, `gke-gcloud-auth-plugin`, `kubelogin`.

The program is asked once, and again where the cluster refuses what it gave. Facts: Kubernetes' documentation,
"Authenticating", "client-go credential plugins". A program may be asked for its own client certificate, and
may talk to whoever sits before it, if somebody does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from allotment.errors import WorldError
from allotment.kubernetes.client.secrets import HIDDEN, fault_in

GROUP: Final = "client.authentication.k8s.io"
VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
ATTENDED_SECONDS: Final = 300.0
ALONE_SECONDS: Final = 60.0
LEAST_SECRET: Final = 8
QUIET_SECONDS: Final = 5.0
"""After so long without an answer it is said for whom is waited."""


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


@dataclass(frozen=True, slots=True)
class Credential:
    """What was given: a token, a client certificate with its key, or both."""

    token: str = ""
    certificate: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a kubeconfig, with the cluster that it is asked about."""

    user: str
    told: Mapping[str, Any]
    cluster: Mapping[str, Any]
    environ: Mapping[str, str]
    is_attended: Callable[[], bool] = lambda: sys.stdin is not None and sys.stdin.isatty()
    alone_seconds: float = ALONE_SECONDS
    quiet_seconds: float = QUIET_SECONDS
    say: Callable[[str], None] = _say

    @property
    def command(self) -> str:
        """What is started."""
        return str(self.told.get("command") or "")

    @property
    def where(self) -> str:
        """Where it stands, in messages."""
        return f"the user `{self.user}` of the kubeconfig"

    def ask(self) -> Credential:
        """Start it, and read what it gives."""
        version = str(self.told.get("apiVersion") or "")
        if version not in VERSIONS or not self.command:
            raise WorldError(
                f"its program speaks `{version}`, which is not known",
                where=self.where,
                remedy=f"have it written for {VERSIONS[0]}, as newer releases of the program do",
            )
        mode = self.told.get("interactiveMode") or "IfAvailable"
        talks = mode != "Never" and self.is_attended()
        if mode == "Always" and not talks:
            raise WorldError(
                f"`{self.command}` wants to ask somebody, and nobody is at the terminal",
                where=self.where,
                remedy="log in by hand first, or use credentials for programs",
            )
        return self._read(self._run(version, talks=talks), version)

    def _run(self, version: str, *, talks: bool) -> str:
        words = [self.command, *map(str, self.told.get("args") or ())]
        try:
            started = subprocess.Popen(
                words,
                env=self._environment(version, talks=talks),
                stdin=None if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if talks else subprocess.PIPE,
                start_new_session=not talks,
            )
        except FileNotFoundError:
            raise WorldError(
                f"its program `{self.command}` is not installed",
                where=self.where,
                remedy=" ".join(str(self.told.get("installHint") or "install it, and log in").split()),
            ) from None
        except OSError as error:
            raise self._failed(error.strerror or type(error).__name__) from None
        given, said = self._awaited(started, talks=talks)
        if started.returncode != 0:
            raise self._failed(f"it ended with {started.returncode}{self._without_secrets(_last(said))}")
        return given.decode(errors="replace")

    def _awaited(self, started: subprocess.Popen[bytes], *, talks: bool) -> tuple[bytes, bytes | None]:
        """What it writes; it is ended with all that it has started where it takes too long."""
        seconds = ATTENDED_SECONDS if talks else self.alone_seconds
        try:
            try:
                return started.communicate(timeout=min(self.quiet_seconds, seconds))
            except subprocess.TimeoutExpired:
                self.say(f"waiting for credentials from `{self.command}`, for {seconds:.0f} s at most")
            return started.communicate(timeout=max(0.0, seconds - self.quiet_seconds))
        except subprocess.TimeoutExpired:
            raise self._failed(f"it did not end within {seconds:.0f} s") from None
        finally:
            if started.returncode is None:
                _end(started, group=not talks)

    def _environment(self, version: str, *, talks: bool) -> dict[str, str]:
        more = {str(each["name"]): str(each["value"]) for each in self.told.get("env") or ()}
        spec: dict[str, Any] = {"interactive": talks}
        if self.told.get("provideClusterInfo"):
            names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data")
            spec["cluster"] = {name: self.cluster[name] for name in names if name in self.cluster}
        asked = {"apiVersion": version, "kind": "ExecCredential", "spec": spec}
        return {**self.environ, **more, "KUBERNETES_EXEC_INFO": json.dumps(asked)}

    def _read(self, text: str, version: str) -> Credential:
        try:
            told = json.loads(text)
            status = told["status"]
            found = Credential(*(_text(status, each) for each in _FIELDS))
        except (ValueError, KeyError, TypeError):
            raise self._failed("what it prints is no ExecCredential") from None
        if told.get("apiVersion") != version:
            raise self._failed(f"it answers in `{told.get('apiVersion')}` and not in `{version}`")
        if not found.token and not (found.certificate and found.key):
            raise self._failed("it gives neither a token nor a client certificate")
        fault = fault_in(found.token)
        if fault:
            raise self._failed(f"the token that it gives {fault}")
        return found

    def _without_secrets(self, text: str) -> str:
        """What it says, without what the kubeconfig puts into its environment."""
        for each in self.told.get("env") or ():
            value = str(each.get("value") or "") if isinstance(each, Mapping) else ""
            text = text.replace(value, HIDDEN) if len(value) >= LEAST_SECRET else text
        return text

    def _failed(self, why: str) -> WorldError:
        return WorldError(
            f"its program `{self.command}` gives no credentials: {why}",
            where=self.where,
            remedy="log in again as your cluster has it: a login may have run out",
        )


_FIELDS: Final[Sequence[str]] = ("token", "clientCertificateData", "clientKeyData")


def _end(started: subprocess.Popen[bytes], *, group: bool) -> None:
    with suppress(ProcessLookupError):
        if group:
            os.killpg(started.pid, signal.SIGKILL)
        else:
            started.kill()
    started.wait()
    for pipe in (started.stdout, started.stderr):
        if pipe is not None:
            pipe.close()


def _text(status: Mapping[str, Any], name: str) -> str:
    return str(status.get(name) or "")


def _last(text: bytes | None) -> str:
    """The last line that says something: some programs end with brackets of what they show."""
    lines = [" ".join(line.split()) for line in (text or b"").decode(errors="replace").split("\n")]
    said = next((line for line in reversed(lines) if sum(map(str.isalpha, line)) > 2), "")
    return f": {said}" if said else ""
