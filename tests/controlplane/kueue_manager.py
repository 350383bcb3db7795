"""Kueue's own manager beside a plane: its kinds, its webhooks over the loopback address, its configuration.

Published Kueue wants certificates in ``/etc/kueue/metrics/certs`` whatever its configuration says, so it is
given an ``/etc`` of its own (``unshare``). The gates that elastic Jobs and claims need are alpha in the
version that is published, and are switched on.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml

from allotment.kubernetes.kinds import NAMESPACE, Kind
from tests.controlplane import kueue_module
from tests.controlplane.components import PROGRAMS
from tests.controlplane.installing import define_kueue
from tests.controlplane.overlooked import Touching
from tests.controlplane.plane import Plane, answers
from tests.controlplane.processes import NotReady, Program, free_ports, until
from tests.go_programs import built

SYSTEM: Final = "kueue-system"
GATES: Final[Mapping[str, bool]] = {
    "DynamicResourceAllocation": True,
    "ElasticJobsViaWorkloadSlices": True,
    "VisibilityOnDemand": False,
}
APART: Final = ("unshare", "--mount", "--user", "--map-root-user", "--")
_WITH_ETC: Final = 'mount --bind "$0" /etc && exec "$@"'


def can_be_apart() -> bool:
    """Whether this machine lets a process have an ``/etc`` of its own."""
    if shutil.which(APART[0]) is None:
        return False
    return not subprocess.run([*APART, "true"], capture_output=True, check=False).returncode


class Kueue:
    """The manager. ``configuration`` is what an administrator would put into its configuration file."""

    def __init__(
        self, plane: Plane, configuration: Mapping[str, Any], gates: Mapping[str, bool] = GATES
    ) -> None:
        self._plane = plane
        self._folder = plane.folder / "kueue"
        self._webhooks, self._health = free_ports(2)
        self._program: Program | None = None
        self._touching: Touching | None = None
        self._write_certificates()
        self._write_configuration(configuration, gates)

    def start(self) -> None:
        """Define its kinds, start it, and have it asked about what it manages once it answers."""
        plane = self._plane
        plane.put(NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
        define_kueue(plane, self._converted())
        self.start_manager()
        for each in kueue_module.webhooks():
            kind = Kind(each["apiVersion"], each["kind"], f"{each['kind'].lower()}s", is_namespaced=False)
            plane.put(kind, {**each, "webhooks": [self._reached(one) for one in each["webhooks"]]})
        self._touching = Touching(plane.client())
        self._touching.start()

    def start_manager(self) -> None:
        """The program alone, and wait until it is ready."""
        words: list[str | Path] = [
            built(PROGRAMS["kueue"], download=False),
            f"--config={self._folder / 'configuration.yaml'}",
            f"--kubeconfig={self._plane.kubeconfig()}",
            "--zap-log-level=2",
        ]
        command = [*APART, "/bin/sh", "-c", _WITH_ETC, str(self._folder / "etc"), *words]
        self._program = Program("kueue", command, self._plane.folder / "logs" / "kueue.log")
        url = f"http://127.0.0.1:{self._health}/readyz"
        with urllib3.PoolManager(retries=False, timeout=5.0) as pool:
            until(lambda: answers(pool, url), "Kueue to be ready", programs=[self._program], seconds=60)

    def stop(self) -> None:
        """End it; what is asked of it stays so, and fails."""
        if self._touching is not None:
            self._touching.stop()
            self._touching = None
        if self._program is not None:
            self._program.stop(hard=True)
            self._program = None

    @property
    def program(self) -> Program:
        """The running manager."""
        if self._program is None:
            raise NotReady("Kueue does not run")
        return self._program

    def _write_certificates(self) -> None:
        places = (self._folder / "webhook", self._folder / "etc" / "kueue" / "metrics" / "certs")
        pair = self._plane.authority.serving("kueue")
        for place in places:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(pair.certificate, place / "tls.crt")
            shutil.copy(pair.key, place / "tls.key")

    def _write_configuration(self, configuration: Mapping[str, Any], gates: Mapping[str, bool]) -> None:
        own = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": SYSTEM,
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {
                "host": "127.0.0.1",
                "port": self._webhooks,
                "certDir": str(self._folder / "webhook"),
            },
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "clientConnection": {"qps": 500, "burst": 1000},
            "featureGates": dict(gates),
        }
        text = yaml.safe_dump({**configuration, **own})
        (self._folder / "configuration.yaml").write_text(text, encoding="utf-8")

    def _reached(self, webhook: Mapping[str, Any]) -> dict[str, Any]:
        path = webhook["clientConfig"]["service"]["path"]
        return {**webhook, "clientConfig": self._client(path)}

    def _client(self, path: str) -> dict[str, str]:
        authority = base64.b64encode(self._plane.authority.file.read_bytes()).decode()
        return {"url": f"https://127.0.0.1:{self._webhooks}{path}", "caBundle": authority}

    def _converted(self) -> Iterator[dict[str, Any]]:
        """Definitions of its kinds; those with several versions are translated by the manager."""
        asked = set(kueue_module.converted())
        for each in kueue_module.definitions():
            if each["metadata"]["name"] in asked:
                webhook = {"clientConfig": self._client("/convert"), "conversionReviewVersions": ["v1"]}
                each["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            yield each
