"""Published ResourceSlices under `allot devices lint`: what is odd about each, nothing on the clean ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from allotment.devices.lint import lint_files
from tests.conformance.outcomes import ALL, Outcome, Share, attempt

ODD: Final[dict[str, tuple[str, ...]]] = {
    "01-nvidia-h100-8gpu-list": (),
    "02-nvidia-a100-40gb-eks": (),
    "03-nvidia-gb300-no-generation": ("no-generation",),
    "04-nvidia-gb200-ip-node": (),
    "05-nvidia-t4-openshift": (),
    "06-nvidia-vgpu-a100-10c": ("virtual-card",),
    "07-nvidia-dynamic-mig-h100-split": (),
    # Ampere: one card whole, the other in partitions only
    "08-nvidia-dynamic-mig-a30-ampere-mixed": ("partitions-only",),
    "09-nvidia-dynamic-mig-combined-k8s134": ("api-limit", "partitions-only"),
    # names and an attribute of the older driver, and the card beside its partitions
    "10-nvidia-static-mig-v25.8-bug719": ("listed-twice", "nonstandard-attribute", "old-name"),
    "11-nvidia-static-mig-v0.4": (),
    "13-nvidia-taints-health": ("tainted-device",),
    "14-nvidia-gb10-no-memory": ("no-memory",),
    "15-amd-mi300x-spx": ("no-uuid",),
    "16-amd-mi300x-dpx-v1beta1": ("old-version",),
    "17-intel-gpu": ("zero-memory",),
    "18-intel-gaudi2-no-capacity": ("empty-attribute", "no-memory"),
    "19-example-driver-8gpu": (),
    "21-dranet-gke-v1-with-basic": ("wrong-version",),
    "22-dranet-azure-mi300x-nics": ("no-pcie-root",),
    "23-dra-cpu-list-attributes": ("capacity-without-policy", "list-attribute"),
    "24-tpu-multihost-broken": ("api-limit", "duplicate-object", "unknown-counter-set", "wrong-type"),
    "26-counters-6of8": ("bare-device", "pool-name"),
    "27-v1alpha3-devices-null": ("nothing-published", "unknown-version"),
    "28-v1beta1-basic-null-no-pool": ("bare-device", "missing-key", "old-version"),
    "30-incomplete-stale-duplicate": ("pool-incomplete", "pool-invalid", "pool-obsolete"),
    "32-nvidia-passthrough-double": ("listed-twice",),
}


def run_lint(folder: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every sample of the folder that the table has: the rules that fire on it, each once."""
    for name, expected in share(ODD.items()):
        path = folder / f"{name}.yaml"
        if path.exists():
            yield Outcome(name, "odd", expected, attempt(lambda path=path: rules_on(path)))  # type: ignore[misc]


def rules_on(path: Path) -> tuple[str, ...]:
    """The rules that fire on a file."""
    return tuple(sorted({finding.rule for finding in lint_files([path]).findings}))
