"""Published ResourceSlices, right and wrong: which are read, which are refused, and with which finding.

Each sample has what it must come to: how many devices the world has then, and the findings that say why some
are not there or not to be used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from allotment.devices.reading import Reading, read_files
from tests.conformance.outcomes import ALL, Outcome, Share


class Verdict(NamedTuple):
    """What a sample must come to: ``why`` holds its findings' severity and rule, each once."""

    devices: int
    why: tuple[str, ...] = ()


SAMPLES = {
    "01-nvidia-h100-8gpu-list": Verdict(20),
    "02-nvidia-a100-40gb-eks": Verdict(8),
    "03-nvidia-gb300-no-generation": Verdict(4),
    "04-nvidia-gb200-ip-node": Verdict(4),
    "05-nvidia-t4-openshift": Verdict(2),
    "06-nvidia-vgpu-a100-10c": Verdict(2),
    "07-nvidia-dynamic-mig-h100-split": Verdict(52),
    "08-nvidia-dynamic-mig-a30-ampere-mixed": Verdict(14),
    # counters and devices in one slice: 1.34 took it, later versions do not
    "09-nvidia-dynamic-mig-combined-k8s134": Verdict(14, ("warning api-limit",)),
    # the card is published beside its own partitions
    "10-nvidia-static-mig-v25.8-bug719": Verdict(5, ("warning listed-twice",)),
    "11-nvidia-static-mig-v0.4": Verdict(4),
    "13-nvidia-taints-health": Verdict(4),
    "14-nvidia-gb10-no-memory": Verdict(1),
    "15-amd-mi300x-spx": Verdict(1),
    "16-amd-mi300x-dpx-v1beta1": Verdict(2),
    "17-intel-gpu": Verdict(2),
    "18-intel-gaudi2-no-capacity": Verdict(2),
    "19-example-driver-8gpu": Verdict(8),
    # says v1 and writes v1beta1: an API server would drop everything under `basic`
    "21-dranet-gke-v1-with-basic": Verdict(0, ("error wrong-version",)),
    "22-dranet-azure-mi300x-nics": Verdict(8),
    "23-dra-cpu-list-attributes": Verdict(2),
    # no reach, an operator `IN`, bare capacities, one name twice, counter sets that do not exist
    "24-tpu-multihost-broken": Verdict(
        0,
        ("error api-limit", "error duplicate-object", "error wrong-type", "warning unknown-counter-set"),
    ),
    "26-counters-6of8": Verdict(2),
    "27-v1alpha3-devices-null": Verdict(0, ("error unknown-version",)),
    "28-v1beta1-basic-null-no-pool": Verdict(0, ("error missing-key",)),
    # kept, and said: an old generation, a pool that is not whole, a device's name twice
    "30-incomplete-stale-duplicate": Verdict(
        5, ("note pool-obsolete", "warning pool-incomplete", "warning pool-invalid")
    ),
    # one card for containers and for virtual machines
    "32-nvidia-passthrough-double": Verdict(2, ("warning listed-twice",)),
}


def run_slices(folder: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every sample of the folder that the table has."""
    for name, expected in share(SAMPLES.items()):
        path = folder / f"{name}.yaml"
        if path.exists():
            yield Outcome(name, "verdict", expected, verdict(read_files([path])))


def verdict(reading: Reading) -> Verdict:
    """What a reading came to."""
    why = {f"{finding.severity} {finding.rule}" for finding in reading.findings}
    return Verdict(sum(1 for _ in reading.world.devices()), tuple(sorted(why)))
