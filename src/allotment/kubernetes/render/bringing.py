"""How the runner gets into a pod: it is in the image, or an init container brings it as a folder.

The init container's image (recipe: ``images/runner``, target ``inject``) copies that folder to where its one
argument says, an `emptyDir` of which the worker can only read. The worker starts it with the ``python3`` that
its own image finds on its ``PATH``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

FOLDER: Final = "/opt/allotment/runner"
VOLUME: Final = "runner"
SIZE: Final = "512Mi"
OWN: Final = ("python", "-m", "allotment.running")
BROUGHT: Final = ("python3", f"{FOLDER}/launch.py")


def command_of(bringer: str | None) -> Sequence[str]:
    """What starts the runner in a pod."""
    return OWN if bringer is None else BROUGHT


def init_containers(bringer: str | None, security: Mapping[str, Any]) -> dict[str, Any]:
    """What a pod's spec has beside the worker, so that the runner is there before it starts."""
    if bringer is None:
        return {}
    container = {
        "name": VOLUME,
        "image": bringer,
        "imagePullPolicy": "IfNotPresent",
        "args": [FOLDER],
        "securityContext": dict(security),
        "volumeMounts": [{"name": VOLUME, "mountPath": FOLDER}],
    }
    return {"initContainers": [container]}


def mounts(bringer: str | None) -> list[Mapping[str, Any]]:
    """Where the worker sees it."""
    return [] if bringer is None else [{"name": VOLUME, "mountPath": FOLDER, "readOnly": True}]


def volumes(bringer: str | None) -> list[Mapping[str, Any]]:
    """The volume that it is copied into."""
    return [] if bringer is None else [{"name": VOLUME, "emptyDir": {"sizeLimit": SIZE}}]
