"""Which versions of ``resource.k8s.io`` are read, and how they differ on paper.

Facts (k8s.io/api, 1.31 to 1.37): ``v1`` (1.34) and ``v1beta2`` (1.33) are the same. In ``v1beta1`` (1.32) a
device's fields stand under ``basic`` and a request's fields in the request itself. ``v1alpha3`` (1.31) was
another model, of which the devices' capacities were bare quantities; only DeviceTaintRule is still served in
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

GROUP: Final = "resource.k8s.io"
NEWEST: Final = "v1"
NESTED: Final = "v1beta1"  # devices under `basic`, requests flat
READ: Final = ("v1", "v1beta2", "v1beta1")
TAINT_RULES: Final = ("v1", "v1beta2", "v1alpha3")
KINDS: Final = {
    "ResourceSlice": READ,
    "DeviceClass": READ,
    "ResourceClaim": READ,
    "ResourceClaimTemplate": READ,
    "DeviceTaintRule": TAINT_RULES,
}


def refusal(kind: str, version: str) -> tuple[str, str] | None:
    """Why an object of this version is not read, and what to do; None when it is read."""
    served = KINDS[kind]
    if version in served:
        return None
    if version.startswith("v1alpha"):
        what = f"{kind} of {GROUP}/{version} is not read"
        why = "Kubernetes has not served it since 1.32, and its fields meant something else"
        command = f"kubectl get {kind.lower()}s -o yaml"
        return f"{what}: {why}", f"have a newer cluster say it as {GROUP}/{NEWEST}: {command}"
    return (
        f"there is no {kind} in {GROUP}/{version or '?'}",
        "the versions are " + ", ".join(f"{GROUP}/{each}" for each in served),
    )


def newest_form(kind: str, value: Mapping[str, Any], version: str) -> Mapping[str, Any]:
    """An object of any version in the form of ``v1``; the same object when it has that form already."""
    if version != NESTED or kind not in _FORMS:
        return value
    spec = value.get("spec")
    if kind == "ResourceClaimTemplate":
        if not isinstance(spec, dict) or not isinstance(spec.get("spec"), dict):
            return value
        return {**value, "spec": {**spec, "spec": _claim_form(spec["spec"])}}
    return {**value, "spec": _FORMS[kind](spec)} if isinstance(spec, dict) else value


def as_written(kind: str, loc: tuple[str | int, ...], version: str) -> tuple[str | int, ...]:
    """A place in an object in the form of ``v1`` as the same place in one of another version."""
    if version != NESTED:
        return loc
    if kind == "ResourceSlice" and loc[:2] == ("spec", "devices") and len(loc) > 3 and loc[3] != "name":
        return (*loc[:3], "basic", *loc[3:])
    if kind.startswith("ResourceClaim"):
        return tuple(step for step in loc if step != "exactly")
    return loc


def _slice_form(spec: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: each for key, each in spec.items() if (key, each) not in _SAYS_NOTHING}
    devices = found.get("devices")
    if isinstance(devices, list):
        found["devices"] = [_device_form(device) for device in devices]
    return found


def _device_form(device: Any) -> Any:
    basic = device.get("basic") if isinstance(device, dict) else None
    if not isinstance(device, dict):
        return device
    outer = {key: each for key, each in device.items() if key == "name"}
    return {**basic, **outer} if isinstance(basic, dict) else outer


def _claim_form(spec: Mapping[str, Any]) -> dict[str, Any]:
    devices = spec.get("devices")
    requests = devices.get("requests") if isinstance(devices, dict) else None
    if not isinstance(devices, dict) or not isinstance(requests, list):
        return dict(spec)
    return {**spec, "devices": {**devices, "requests": [_request_form(request) for request in requests]}}


def _request_form(request: Any) -> Any:
    """A request whose own fields are the exact request, when any of them says something."""
    if not isinstance(request, dict):
        return request
    own = {key: each for key, each in request.items() if key in _REQUEST_ITSELF}
    exactly = {key: each for key, each in request.items() if key not in own and not _is_unset(each)}
    return {**own, "exactly": exactly} if exactly else own


def _is_unset(value: Any) -> bool:
    return value is None or value == "" or (value == 0 and not isinstance(value, bool))


_REQUEST_ITSELF: Final = frozenset({"name", "firstAvailable"})
_SAYS_NOTHING: Final = (("nodeName", ""), ("allNodes", False))
_FORMS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "ResourceSlice": _slice_form,
    "ResourceClaim": _claim_form,
    "ResourceClaimTemplate": _claim_form,
}
