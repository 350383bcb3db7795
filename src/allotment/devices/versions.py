"""Which versions of ``resource.k8s.io`` are read, and how they differ on paper.

Facts (k8s.io/api, 1.31 to 1.37): ``v1`` (1.34) and ``v1beta2`` (1.33) are the same. In ``v1beta1`` (1.32) a
device's fields stand under ``basic`` and a request's fields in the request itself. ``v1alpha3`` (1.31) was
another model, of which the devices' capacities were bare quantities; only DeviceTaintRule is still served in
it.
"""

from __future__ import annotations

from typing import Final

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
