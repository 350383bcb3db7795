"""What a container is told of its pod, and where it finds things: fields, variables, paths.

A pod has no file system of its own here: where its command, variables and configuration name a mount, they
are given the folder that stands for it. ``/tmp`` stays, since other things lie there; it is told by TMPDIR.
"""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

TEMPORARY: Final = "/tmp"
_KEYED: Final = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]")
_REFERENCE: Final = re.compile(r"\$(\$|\(([A-Za-z_.][\w.-]*)\))")


class Found(Protocol):
    """Where secrets and ConfigMaps are looked up."""

    def find(self, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        """The object, or None."""
        ...


def field_of(pod: Mapping[str, Any], path: str) -> str:
    """A field of the pod, as the downward API names it."""
    keyed = _KEYED.fullmatch(path)
    if keyed:
        return str((pod["metadata"].get(keyed[1]) or {}).get(keyed[2], ""))
    value: Any = pod
    for part in path.split("."):
        value = (value or {}).get(part, "")
    return str(value)


def variables(found: Found, pod: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, str]:
    """The container's own variables, references among them resolved."""
    told: dict[str, str] = {}
    for each in container.get("env") or ():
        told[each["name"]] = (
            _from(found, pod, each["valueFrom"])
            if "valueFrom" in each
            else expanded(each.get("value", ""), told)
        )
    return told


def expanded(text: str, told: Mapping[str, str]) -> str:
    """``$(NAME)`` by its value; what is not known stays as it is, and ``$$`` is a dollar."""
    return _REFERENCE.sub(lambda match: "$" if match[1] == "$" else told.get(match[2], match[0]), text)


def base_environment() -> dict[str, str]:
    """What an image would bring: programs, ours among them."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {"PATH": path, "LANG": "C.UTF-8"}


class Mapped:
    """Paths of a container as those of the folders that stand for them."""

    def __init__(self, container: Mapping[str, Any], volumes: Mapping[str, Path]) -> None:
        self.mounts = {
            each["mountPath"].rstrip("/"): volumes[each["name"]] / each.get("subPath", "")
            for each in container.get("volumeMounts") or ()
            if each["name"] in volumes
        }
        names = sorted((each for each in self.mounts if each != TEMPORARY), key=len, reverse=True)
        words = "|".join(map(re.escape, names))
        self._pattern = re.compile(rf"(?<![\w./-])({words})(?![\w.-])") if names else None

    def text(self, value: str) -> str:
        """The text with each path that it names mapped."""
        if self._pattern is None:
            return value
        return self._pattern.sub(lambda match: str(self.mounts[match[1]]), value)

    def files(self, folder: Path) -> None:
        """Map the texts of a folder."""
        for path in folder.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                try:
                    path.write_text(self.text(data.decode()), encoding="utf-8")
                except UnicodeDecodeError:
                    path.write_bytes(data)


def _from(found: Found, pod: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    if "fieldRef" in source:
        return field_of(pod, source["fieldRef"]["fieldPath"])
    namespace = pod["metadata"]["namespace"]
    if "secretKeyRef" in source:
        wanted = source["secretKeyRef"]
        data = (found.find("secrets", namespace, wanted["name"]) or {}).get("data") or {}
        return base64.b64decode(data.get(wanted["key"], "")).decode()
    if "configMapKeyRef" in source:
        wanted = source["configMapKeyRef"]
        data = (found.find("configmaps", namespace, wanted["name"]) or {}).get("data") or {}
        return str(data.get(wanted["key"], ""))
    return ""
