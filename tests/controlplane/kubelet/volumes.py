"""The volumes of a pod as folders of this machine."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.controlplane.kubelet.api import Api, Pod
from tests.controlplane.kubelet.fields import field_of


class Missing(Exception):
    """What a pod needs is not there yet."""


Files = dict[str, bytes]


def make_volumes(api: Api, pod: Pod, folder: Path) -> dict[str, Path]:
    """A folder for each of the pod's volumes; Missing where something that they are made of is not there."""
    made = {}
    for volume in pod["spec"].get("volumes") or ():
        place = folder / volume["name"]
        place.mkdir(parents=True, exist_ok=True)
        for path, data in _files(api, pod, volume).items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        made[volume["name"]] = place
    return made


def _files(api: Api, pod: Pod, volume: Mapping[str, Any]) -> Files:
    if "projected" in volume:
        found: Files = {}
        for source in volume["projected"].get("sources") or ():
            found |= _of_source(api, pod, source)
        return found
    return _of_source(api, pod, volume)


def _of_source(api: Api, pod: Pod, source: Mapping[str, Any]) -> Files:
    for kind, look in _SOURCES.items():
        if kind in source:
            return look(api, pod, source[kind])
    return {}


def _of_config_map(api: Api, pod: Pod, source: Mapping[str, Any]) -> Files:
    found = _object(api, pod, "configmaps", source.get("name"), source)
    texts = {key: value.encode() for key, value in (found.get("data") or {}).items()}
    binary = {key: base64.b64decode(value) for key, value in (found.get("binaryData") or {}).items()}
    return _chosen({**texts, **binary}, source)


def _of_secret(api: Api, pod: Pod, source: Mapping[str, Any]) -> Files:
    found = _object(api, pod, "secrets", source.get("secretName") or source.get("name"), source)
    return _chosen({key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}, source)


def _of_pod(api: Api, pod: Pod, source: Mapping[str, Any]) -> Files:
    items = source.get("items") or ()
    return {each["path"]: field_of(pod, each["fieldRef"]["fieldPath"]).encode() for each in items}


def _object(
    api: Api, pod: Pod, plural: str, name: str | None, source: Mapping[str, Any]
) -> Mapping[str, Any]:
    found = api.find(plural, pod["metadata"]["namespace"], str(name))
    if found is None and not source.get("optional"):
        raise Missing(f'{plural} "{name}" not found')
    return found or {}


def _chosen(files: Files, source: Mapping[str, Any]) -> Files:
    items = source.get("items")
    if items is None:
        return files
    for each in items:
        if each["key"] not in files and not source.get("optional"):
            raise Missing(f"references non-existent key: {each['key']}")
    return {each["path"]: files[each["key"]] for each in items if each["key"] in files}


_SOURCES: Mapping[str, Callable[[Api, Pod, Mapping[str, Any]], Files]] = {
    "configMap": _of_config_map,
    "secret": _of_secret,
    "downwardAPI": _of_pod,
}
