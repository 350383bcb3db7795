"""Claims and their templates as objects in a cluster: whose they are, and what they were given.

From ``ResourceClaim`` and ``ResourceClaimTemplate`` of ``resource.k8s.io/v1``. A claim with an allocation
holds its devices; the status is kept as it was read, because drivers and schedulers write into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import API_VERSION, DeviceId


@dataclass(frozen=True, slots=True)
class ResourceClaim:
    """A claim. ``metadata`` is what its metadata says beside name and namespace."""

    name: str
    namespace: str
    spec: ClaimSpec
    status: Mapping[str, Any] = field(default_factory=dict, hash=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def devices(self) -> tuple[DeviceId, ...]:
        """The devices that it holds; administrative access holds none."""
        return tuple(device for device, _ in self._results())

    @property
    def whole_devices(self) -> tuple[DeviceId, ...]:
        """The devices that it holds whole: of others it has a share."""
        return tuple(device for device, is_share in self._results() if not is_share)

    @property
    def users(self) -> tuple[str, ...]:
        """The pods (or whatever else) that it is reserved for, by name."""
        reserved = self.status.get("reservedFor")
        names = (each.get("name") for each in reserved or () if isinstance(each, dict))
        return tuple(name for name in names if isinstance(name, str))

    def _results(self) -> Iterator[tuple[DeviceId, bool]]:
        """Each device, and whether it is a share of one."""
        found: Any = self.status
        for key in ("allocation", "devices", "results"):
            found = found.get(key) if isinstance(found, Mapping) else None
        for result in found if isinstance(found, list) else ():
            if not isinstance(result, dict) or result.get("adminAccess"):
                continue
            names = [str(result.get(key) or "") for key in ("driver", "pool", "device")]
            if all(names):
                yield DeviceId(*names), bool(result.get("shareID"))

    def to_dict(self) -> dict[str, Any]:
        """The claim as an API object."""
        return {
            "apiVersion": API_VERSION,
            "kind": "ResourceClaim",
            "metadata": {"name": self.name, "namespace": self.namespace, **self.metadata},
            "spec": self.spec.to_dict(),
            **({"status": dict(self.status)} if self.status else {}),
        }


@dataclass(frozen=True, slots=True)
class ResourceClaimTemplate:
    """What each pod that names it gets a claim of. ``claim_metadata`` is for those claims."""

    name: str
    namespace: str
    spec: ClaimSpec
    claim_metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The template as an API object."""
        claim_metadata = {"metadata": dict(self.claim_metadata)} if self.claim_metadata else {}
        return {
            "apiVersion": API_VERSION,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": self.name, "namespace": self.namespace, **self.metadata},
            "spec": {**claim_metadata, "spec": self.spec.to_dict()},
        }
