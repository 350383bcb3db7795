"""What NVIDIA's driver is told about a device: its opaque parameters, written and held to its own rules.

The driver reads them when a pod is prepared, strictly: an unknown kind or field, or a kind that is not of the
device that was given, leaves the pod hanging long after it was placed. Here they are looked at before.
Facts: NVIDIA DRA driver for GPUs v0.5, ``resource.nvidia.com/v1beta1``: GpuConfig, MigDeviceConfig and
VfioDeviceConfig.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.platform.need import Need
from allotment.quantities import MI, format_bytes

API_VERSION: Final = "resource.nvidia.com/v1beta1"
GPU_CONFIG: Final = "GpuConfig"
MIG_CONFIG: Final = "MigDeviceConfig"
VFIO_CONFIG: Final = "VfioDeviceConfig"
LEAST_PINNED: Final = MI

_MPS_FIELDS: Final = frozenset(
    {
        "defaultActiveThreadPercentage",
        "defaultPinnedDeviceMemoryLimit",
        "defaultPerDevicePinnedMemoryLimit",
        "multiUser",
    }
)
_SHARING_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    GPU_CONFIG: frozenset({"strategy", "timeSlicingConfig", "mpsConfig"}),
    MIG_CONFIG: frozenset({"strategy", "mpsConfig"}),
}
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    GPU_CONFIG: frozenset({"sharing"}),
    MIG_CONFIG: frozenset({"sharing"}),
    VFIO_CONFIG: frozenset({"iommu"}),
}
_INTERVALS: Final = ("Default", "Short", "Medium", "Long")
_STRATEGIES: Final = ("TimeSlicing", "MPS")


def time_slicing_parameters(need: Need) -> Mapping[str, Any] | None:
    """A GpuConfig with the length of the turns, where one is asked for; turns alone need no telling."""
    interval = (need.config or {}).get("time_slice")
    if interval is None:
        return None
    return _gpu_config({"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": interval}})


def mps_parameters(need: Need) -> Mapping[str, Any]:
    """A GpuConfig that starts an MPS daemon, with the limits that are asked for."""
    asked = (need.config or {}).get("mps") or {}
    limits: dict[str, Any] = {}
    if "threads" in asked:
        limits["defaultActiveThreadPercentage"] = asked["threads"]
    if "pinned_memory" in asked:
        limits["defaultPinnedDeviceMemoryLimit"] = format_bytes(asked["pinned_memory"])
    return _gpu_config({"strategy": "MPS", **({"mpsConfig": limits} if limits else {})})


def _gpu_config(sharing: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"apiVersion": API_VERSION, "kind": GPU_CONFIG, "sharing": dict(sharing)}


def parameter_faults(parameters: Mapping[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    """What the driver would refuse of parameters for a device that takes this kind: message and hint."""
    if (version := parameters.get("apiVersion")) != API_VERSION:
        yield (
            f"the driver reads parameters of {API_VERSION}, not of {version}",
            f"write `apiVersion: {API_VERSION}`",
        )
    found = parameters.get("kind")
    if found not in _FIELDS:
        yield f"the driver knows no kind `{found}` of parameters", f"write `kind: {kind}`"
        return
    if found != kind:
        yield (
            f"a {found} cannot be applied to what is asked for, which takes a {kind}",
            f"write `kind: {kind}`",
        )
        return
    unknown = sorted(parameters.keys() - _FIELDS[found] - {"apiVersion", "kind"})
    if unknown:
        yield f"a {found} has no field `{unknown[0]}`", f"it has {_listed(_FIELDS[found])}"
    sharing = parameters.get("sharing")
    if isinstance(sharing, Mapping) and found in _SHARING_FIELDS:
        yield from _sharing_faults(sharing, found)


def _sharing_faults(sharing: Mapping[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    if unknown := sorted(sharing.keys() - _SHARING_FIELDS[kind]):
        yield f"`sharing` of a {kind} has no field `{unknown[0]}`", f"it has {_listed(_SHARING_FIELDS[kind])}"
        return
    strategy = sharing.get("strategy")
    if strategy not in _STRATEGIES:
        yield f"the driver knows no strategy `{strategy}`", "write TimeSlicing or MPS"
    other = {"TimeSlicing": "mpsConfig", "MPS": "timeSlicingConfig"}.get(str(strategy))
    if other in sharing:
        yield f"`{other}` stands beside the strategy {strategy}", "keep the one that is meant"
    slicing, mps = sharing.get("timeSlicingConfig"), sharing.get("mpsConfig")
    if isinstance(slicing, Mapping) and slicing.get("interval", _INTERVALS[0]) not in _INTERVALS:
        yield f"there is no interval `{slicing['interval']}`", f"write {', '.join(_INTERVALS)}"
    if isinstance(mps, Mapping) and (unknown := sorted(mps.keys() - _MPS_FIELDS)):
        yield f"`mpsConfig` has no field `{unknown[0]}`", f"it has {_listed(_MPS_FIELDS)}"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
