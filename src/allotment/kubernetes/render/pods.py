"""The pods that are rendered: restricted, without a token of the API, with a read-only root.

Facts: Kubernetes' Pod Security Standards, profile *restricted*. A pod runs as user 1000 of any image, writes
to an ``emptyDir`` alone (also its ``/tmp`` and its home), and has secrets as files, which show in no object
and in no ``env`` of a process that is looked at from outside. `fsGroup` lets that user read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.render import bringing
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.documents import WORKDIR
from allotment.kubernetes.render.need_objects import PodNeed
from allotment.platform.need import Resources
from allotment.quantities import format_bytes
from allotment.repository.model import EnvironmentVariable

CONTAINER: Final = "worker"
USER: Final = 1000
ASSIGNMENT: Final = "/etc/allotment/assignment"
SECRETS: Final = "/etc/allotment/secrets"
BUCKET: Final = "/etc/allotment/bucket"
CREDENTIALS: Final = "credentials"
WORKDIR_BYTES: Final = 2 << 30
PLACEHOLDER: Final = "placeholder.invalid/no-image@sha256:" + "0" * 64

POD_SECURITY: Final[Mapping[str, Any]] = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "fsGroup": USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER_SECURITY: Final[Mapping[str, Any]] = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume of the pod, and where it is seen."""

    name: str
    path: str
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Program:
    """What a pod's one container is: image, command, variables, what it sees.

    ``in_workdir``: it starts there, and not where its image says. ``bringer``: the image that brings the
    runner, where the program's own does not have it.
    """

    image: str | None
    command: Sequence[str] = ()
    env: Sequence[Mapping[str, Any]] = ()
    mounts: Sequence[Mount] = ()
    in_workdir: bool = False
    bringer: str | None = None


def pod_spec(
    context: Context, program: Program, need: PodNeed, resources: Resources, *, restart: str = "Never"
) -> dict[str, Any]:
    """The spec of a pod with one container."""
    workdir = resources.workdir or WORKDIR_BYTES
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": program.image or PLACEHOLDER,
        "imagePullPolicy": "IfNotPresent",
    }
    if program.command:
        container["command"] = list(program.command)
    if program.in_workdir:
        container["workingDir"] = WORKDIR
    container["env"] = [{"name": "HOME", "value": WORKDIR}, *program.env]
    container["resources"] = _resources(need, resources)
    container["securityContext"] = dict(CONTAINER_SECURITY)
    container["volumeMounts"] = [
        {"name": "workdir", "mountPath": WORKDIR},
        {"name": "workdir", "mountPath": "/tmp", "subPath": ".tmp"},  # noqa: S108 - a path in the pod
        *bringing.mounts(program.bringer),
        *({"name": each.name, "mountPath": each.path, "readOnly": True} for each in program.mounts),
    ]
    return {
        "restartPolicy": restart,
        "terminationGracePeriodSeconds": context.platform.defaults.grace_seconds,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": dict(POD_SECURITY),
        **need.spec,
        **bringing.init_containers(program.bringer, CONTAINER_SECURITY),
        "containers": [container],
        "volumes": [
            {"name": "workdir", "emptyDir": {"sizeLimit": format_bytes(workdir)}},
            *bringing.volumes(program.bringer),
            *({"name": each.name, **each.source} for each in program.mounts),
        ],
    }


def bucket_access(context: Context) -> tuple[tuple[Mapping[str, Any], ...], tuple[Mount, ...]]:
    """The team's own credentials of the bucket, as AWS's file in a folder of the pod."""
    if context.team.secret is None:
        return (), ()
    source = {"secret": {"secretName": context.team.secret, "defaultMode": 0o440}}
    env = ({"name": "AWS_SHARED_CREDENTIALS_FILE", "value": f"{BUCKET}/{CREDENTIALS}"},)
    return env, (Mount("bucket-credentials", BUCKET, source),)


def plain_variables(env: Iterable[EnvironmentVariable]) -> list[Mapping[str, Any]]:
    """Variables whose values stand in the file."""
    return [{"name": each.name, "value": each.value} for each in env if each.secret is None]


def secret_variables(env: Iterable[EnvironmentVariable]) -> list[Mapping[str, Any]]:
    """Variables of secrets for a program that reads nothing but its environment."""
    return [
        {"name": each.name, "valueFrom": {"secretKeyRef": {"name": each.secret, "key": each.key}}}
        for each in env
        if each.secret is not None
    ]


def secret_files(env: Iterable[EnvironmentVariable]) -> tuple[Mount, ...]:
    """Secrets as files, each called as its variable: the runner makes variables of them."""
    sources = [
        {"secret": {"name": each.secret, "items": [{"key": each.key, "path": each.name}]}}
        for each in env
        if each.secret is not None
    ]
    if not sources:
        return ()
    return (Mount("secrets", SECRETS, {"projected": {"defaultMode": 0o440, "sources": sources}}),)


def _resources(need: PodNeed, resources: Resources) -> dict[str, Any]:
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    cores = max(resources.cpu or 0, need.cores or 0)
    if cores:
        requests["cpu"] = cores_text(cores)
    if resources.memory:
        requests["memory"] = limits["memory"] = format_bytes(resources.memory)
    found: dict[str, Any] = {}
    if requests:
        found["requests"] = requests
    if limits:
        found["limits"] = limits
    if need.claims:
        found["claims"] = [dict(claim) for claim in need.claims]
    return found


def cores_text(cores: float) -> str:
    """Cores as Kubernetes writes them: ``4``, ``500m``."""
    return str(round(cores)) if cores == round(cores) else f"{round(cores * 1000)}m"
