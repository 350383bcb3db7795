"""A Kubernetes control plane on the loopback address: etcd, API server, controllers, scheduler.

Nothing of it is played: the programs are built out of the published modules. There is no node lifecycle
controller, since nodes are objects that nobody sends heartbeats for. Facts: the flags are those of
Kubernetes' documentation of each program; etcd's needs no safety, as nothing outlives the tests.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml

from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import Kind, Object
from tests.controlplane.certificates import Authority, Pair
from tests.controlplane.components import PROGRAMS
from tests.controlplane.processes import NotReady, Program, free_ports, until
from tests.controlplane.talking import Talk
from tests.go_programs import built

USERS: Final[Mapping[str, tuple[str, str]]] = {
    "admin": ("admin", "system:masters"),
    "controllers": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
}
"""Who may ask from the start: a name and a group for each token, which is the key."""


ROOT: Final = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Settings:
    """What differs between planes: gates that are on, APIs that are served, more users (as `USERS`), and
    gates that are ``off``.
    """

    gates: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    users: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    off: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The gates as the programs take them."""
        return ",".join([*(f"{each}=true" for each in self.gates), *(f"{each}=false" for each in self.off)])


class Plane:
    """A running control plane. ``folder`` holds its data, logs, certificates and kubeconfigs."""

    def __init__(self, folder: Path, settings: Settings | None = None) -> None:
        self.folder = folder
        self.settings = settings or Settings()
        for each in ("logs", "certificates"):
            (folder / each).mkdir(parents=True, exist_ok=True)
        self.authority = Authority(folder / "certificates")
        self._serving = self.authority.serving("apiserver", "kubernetes.default.svc")
        self._signing = self.authority.signing_key("accounts")
        self._programs: dict[str, Program] = {}
        self._ports = dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True))
        self.address = f"https://127.0.0.1:{self._ports['apiserver']}"
        self.kubelet = Kubelet(free_ports(1)[0], self.authority.serving("kubelet"))
        self._write_tokens()

    def start(self) -> None:
        """All of it, and wait until it is ready."""
        try:
            self.start_etcd()
            self.start_apiserver()
            self._start_controllers()
            self._start_scheduler()
            for name in ("controllers", "scheduler"):
                self._wait_healthy(name)
            until(self._has_default_account, "the default service account", programs=self.programs)
        except BaseException:
            self.stop()
            raise

    @property
    def programs(self) -> Sequence[Program]:
        """What runs."""
        return tuple(self._programs.values())

    def program(self, name: str) -> Program:
        """``etcd``, ``apiserver``, ``controllers`` or ``scheduler``."""
        return self._programs[name]

    def client(self, token: str = "admin") -> Client:
        """A client that is whoever the token says."""
        return Client(Talk(self.address, self.authority.file, token))

    def put(self, kind: Kind, value: Object) -> None:
        """An object of any kind as it is to be, also of one that our client does not know."""
        query = {"fieldManager": "administrator", "force": "true", "fieldValidation": "Strict"}
        headers = {"content-type": "application/apply-patch+yaml"}
        path = kind.path(value["metadata"].get("namespace"), value["metadata"]["name"])
        talk = Talk(self.address, self.authority.file, "admin")
        answer = talk.send("PATCH", path, query, headers, json.dumps(value).encode())
        if answer.status >= 300:
            raise NotReady(f"PATCH {path} was answered {answer.status}: {answer.body[:600].decode()}")

    def kubeconfig(self, token: str = "admin", namespace: str = "default") -> Path:
        """A file that names this plane as the current context, for whoever the token says."""
        path = self.folder / f"{token}-{namespace}.kubeconfig"
        said = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "controlplane",
            "clusters": [
                {
                    "name": "controlplane",
                    "cluster": {"server": self.address, "certificate-authority": str(self.authority.file)},
                }
            ],
            "users": [{"name": token, "user": {"token": token}}],
            "contexts": [
                {
                    "name": "controlplane",
                    "context": {"cluster": "controlplane", "user": token, "namespace": namespace},
                }
            ],
        }
        path.write_text(yaml.safe_dump(said), encoding="utf-8")
        return path

    def stop(self) -> None:
        """End everything, the store last."""
        for name in reversed(list(self._programs)):
            self._programs.pop(name).stop(hard=True)
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)

    def start_etcd(self) -> None:
        """The store."""
        ports = ["--port", str(self._ports["etcd"]), "--peer-port", str(self._ports["peers"])]
        self._run("etcd", [_built("etcd"), "--data", str(self.folder / "etcd"), *ports])

    def start_apiserver(self) -> None:
        """The API server, and wait until it is ready."""
        flags = {
            "advertise-address": "127.0.0.1",
            "allow-privileged": "true",
            "authorization-mode": "Node,RBAC",
            "bind-address": "127.0.0.1",
            "client-ca-file": str(self.authority.file),
            "disable-admission-plugins": "TaintNodesByCondition",
            "endpoint-reconciler-type": "none",
            "etcd-servers": f"http://127.0.0.1:{self._ports['etcd']}",
            "kubelet-certificate-authority": str(self.authority.file),
            "kubelet-preferred-address-types": "InternalIP",
            "max-mutating-requests-inflight": "400",
            "secure-port": str(self._ports["apiserver"]),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": str(self._signing),
            "service-account-signing-key-file": str(self._signing),
            "service-cluster-ip-range": "10.96.0.0/16",
            "token-auth-file": str(self._tokens),
        }
        if self.settings.served:
            flags["runtime-config"] = ",".join(f"{each}=true" for each in self.settings.served)
        self._component("apiserver", "kube-apiserver", flags)
        self._wait_healthy("apiserver")

    def start_kubelet(self) -> None:
        """The kubelet of all nodes, which runs their pods on this machine."""
        words = {
            "server": self.address,
            "authority": self.authority.file,
            "folder": self.folder / "pods",
            "port": self.kubelet.port,
            "certificate": self.kubelet.serving.certificate,
            "key": self.kubelet.serving.key,
        }
        said = [f"--{key}={value}" for key, value in words.items()]
        self._run("kubelet", [sys.executable, "-m", "tests.controlplane.kubelet", *said])

    def _start_controllers(self) -> None:
        flags = {
            "bind-address": "127.0.0.1",
            "controllers": "*,-node-lifecycle-controller,-node-ipam-controller",
            "kube-api-burst": "1000",
            "kube-api-qps": "500",
            "kubeconfig": str(self.kubeconfig("controllers")),
            "leader-elect": "false",
            "root-ca-file": str(self.authority.file),
            "secure-port": str(self._ports["controllers"]),
            "service-account-private-key-file": str(self._signing),
            "use-service-account-credentials": "true",
        }
        self._component("controllers", "kube-controller-manager", flags)

    def _start_scheduler(self) -> None:
        configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig("scheduler")), "qps": 500, "burst": 1000},
            "leaderElection": {"leaderElect": False},
        }
        file = self.folder / "scheduler.yaml"
        file.write_text(yaml.safe_dump(configuration), encoding="utf-8")
        flags = {
            "bind-address": "127.0.0.1",
            "config": str(file),
            "secure-port": str(self._ports["scheduler"]),
        }
        self._component("scheduler", "kube-scheduler", flags)

    def _component(self, name: str, component: str, flags: Mapping[str, str]) -> None:
        gates = [f"--feature-gates={self.settings.told}"]
        serving = {"tls-cert-file": self._serving.certificate, "tls-private-key-file": self._serving.key}
        said = [f"--{key}={value}" for key, value in {**flags, **serving}.items()]
        self._run(name, [_built("kubernetes"), component, *said, *(gates if self.settings.told else [])])

    def _run(self, name: str, command: Sequence[str | Path]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._programs[name] = Program(name, command, self.folder / "logs" / f"{name}.log", environment)

    def _wait_healthy(self, name: str) -> None:
        path = "readyz" if name == "apiserver" else "healthz"
        url = f"https://127.0.0.1:{self._ports[name]}/{path}"
        with urllib3.PoolManager(ca_certs=str(self.authority.file), retries=False, timeout=5.0) as pool:
            until(lambda: answers(pool, url), f"{name} to be ready", seconds=90, programs=self.programs)

    def _has_default_account(self) -> Any:
        return self.client().raw("/api/v1/namespaces/default/serviceaccounts").get("items")

    def _write_tokens(self) -> None:
        self._tokens = self.folder / "tokens.csv"
        users = {**USERS, **self.settings.users}
        lines = [f'{token},{name},{name},"{group}"' for token, (name, group) in users.items()]
        self._tokens.write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Where the nodes' kubelet answers: one for all of them."""

    port: int
    serving: Pair


_PORTS: Final = ("etcd", "peers", "apiserver", "controllers", "scheduler")


def _built(name: str) -> Path:
    return built(PROGRAMS[name], download=False)


def answers(pool: urllib3.PoolManager, url: str) -> bool:
    """Whether there is a good answer at the address."""
    try:
        status = pool.request("GET", url, headers={"authorization": "Bearer admin"}).status
    except (urllib3.exceptions.HTTPError, OSError):
        return False
    return status == 200
