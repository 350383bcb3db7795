"""What Kueue's manager was started with, as far as a snapshot shows it; the rest is as it is rendered.

Snapshots mostly lack the manager's ConfigMap, for it is somebody else's. Which device classes count as which
resource is then taken from the platform or, without one, from the classes there are, less those that Kueue
has said it does not map. Facts: Kueue 0.19, ``config.kueue.x-k8s.io/v1beta2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allotment.documents.stream import scan_stream_bytes
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    DEPLOYMENT,
    DEVICE_CLASS,
    WORKLOAD,
    Object,
)
from allotment.kubernetes.render.context import release_of
from allotment.kubernetes.render.names import MANAGED_BY
from allotment.kubernetes.render.platform.kueue import RESOURCE, device_class_mappings
from allotment.platform.model import Platform
from allotment.scheduling.kueue import Settings
from allotment.scheduling.kueue.gates import LATEST, VERSIONS, gates_of
from allotment.scheduling.kueue.settings import BOTH_RULES, FairRule

NAMESPACE: Final = "kueue-system"
CONFIGURATION: Final = "kueue-manager-config"
CONFIGURATION_KEY: Final = "controller_manager_config.yaml"
MANAGER: Final = "kueue-controller-manager"
OLDEST: Final = "0.19"
_TAG: Final = re.compile(r":v?(\d+)\.(\d+)(?:\.\d+)?(?:[-@].*)?$")
_UNMAPPED: Final = re.compile(r"DeviceClass (\S+) is not mapped")


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings and mappings; ``version`` is Kueue's as its image says, empty where that cannot be told.

    ``model`` is the version that decisions are modelled on; ``notes`` say what was not seen but taken so.
    """

    settings: Settings
    mappings: Sequence[Mapping[str, Any]]
    version: str
    model: str
    notes: tuple[str, ...] = ()


def configured(snapshot: Snapshot, platform: Platform | None = None) -> Configured:
    """What Kueue is configured with."""
    version = version_of(snapshot)
    model = version if version in VERSIONS else LATEST if _is_newer(version) else OLDEST
    if not version and platform is not None:
        said = ".".join(platform.versions.kueue.split(".")[:2])
        model = said if said in VERSIONS else model
    written = _written(snapshot)
    if written is not None:
        return Configured(_settings(written, model), _mappings_in(written), version, model)
    ours = any(_is_ours(each) for each in snapshot.of(CLUSTER_QUEUE))
    gates = gates_of(model)
    settings = Settings(gates=gates, fair=BOTH_RULES if ours else None)
    mappings = device_class_mappings(platform) if platform is not None else _guessed(snapshot)
    left_out = {name for each in snapshot.of(WORKLOAD) for name in _UNMAPPED.findall(_said(each))}
    mappings = [
        {**each, "deviceClassNames": [name for name in each["deviceClassNames"] if name not in left_out]}
        for each in mappings
    ]
    how = "as the platform's is rendered" if ours or platform is not None else "as by default"
    note = f"Kueue's configuration is not in what was read: it is taken {how}"
    return Configured(settings, mappings, version, model, (note,))


def version_of(snapshot: Snapshot) -> str:
    """Kueue's release as its manager's image says it (``0.19``); empty where it cannot be told."""
    manager = snapshot.named(DEPLOYMENT, MANAGER, NAMESPACE) or {}
    template = ((manager.get("spec") or {}).get("template") or {}).get("spec") or {}
    for container in template.get("containers") or ():
        if found := _TAG.search(str(container.get("image", ""))):
            return f"{found[1]}.{found[2]}"
    return ""


def _is_newer(version: str) -> bool:
    return bool(version) and release_of(version) > release_of(LATEST)


def _is_ours(value: Object) -> bool:
    return MANAGED_BY.items() <= (value["metadata"].get("labels") or {}).items()


def _written(snapshot: Snapshot) -> Mapping[str, Any] | None:
    found = snapshot.named(CONFIG_MAP, CONFIGURATION, NAMESPACE) or {}
    text = (found.get("data") or {}).get(CONFIGURATION_KEY)
    if not isinstance(text, str):
        return None
    documents, _ = scan_stream_bytes(text.encode(), name=CONFIGURATION)
    value = documents[0].value if documents else None
    return value if isinstance(value, Mapping) else None


def _settings(written: Mapping[str, Any], model: str) -> Settings:
    fair = written.get("fairSharing")
    rules = None
    if fair is not None and fair.get("enable") is not False:
        rules = tuple(FairRule(name) for name in fair.get("preemptionStrategies") or ()) or BOTH_RULES
    ready = written.get("waitForPodsReady") or {}
    block = bool(ready.get("blockAdmission"))
    return Settings(gates_of(model, written.get("featureGates")), fair=rules, block_admission=block)


def _mappings_in(written: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = (written.get("resources") or {}).get("deviceClassMappings") or ()
    return found


def _guessed(snapshot: Snapshot) -> list[dict[str, Any]]:
    """All classes as the one resource that our queues count, where they do."""
    covered = {
        name
        for queue in snapshot.of(CLUSTER_QUEUE)
        for group in (queue.get("spec") or {}).get("resourceGroups") or ()
        for name in group.get("coveredResources") or ()
    }
    if RESOURCE not in covered:
        return []
    classes = [str(each["metadata"]["name"]) for each in snapshot.of(DEVICE_CLASS)]
    return [{"name": RESOURCE, "deviceClassNames": classes}]


def _said(workload: Object) -> str:
    return " ".join(_messages(workload))


def _messages(workload: Object) -> Iterator[str]:
    for each in (workload.get("status") or {}).get("conditions") or ():
        yield str(each.get("message", ""))
