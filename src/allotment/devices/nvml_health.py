"""What NVIDIA's library says about a card's health, as taints like those of NVIDIA's DRA driver.

The driver listens for XID events and taints from then on; a look that comes later can ask what an error has
left behind: a card that is lost or must be reset, rows of memory that could not be replaced, and the recovery
that the driver asks for. Taints of effect ``None`` are information and keep nobody off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.slices import Taint

LOST: Final = f"{NVIDIA_DRIVER}/gpu-lost"
RESET: Final = f"{NVIDIA_DRIVER}/reset-required"
REMAPPING: Final = f"{NVIDIA_DRIVER}/row-remapping"
RETIREMENT: Final = f"{NVIDIA_DRIVER}/page-retirement"
ECC: Final = f"{NVIDIA_DRIVER}/ecc-mode"
RECOVERY: Final = f"{NVIDIA_DRIVER}/recovery-action"
KEEP_OFF: Final = "NoSchedule"
INFORM: Final = "None"
PENDING: Final = "pending"
FAILED: Final = "failed"
_ACTIONS: Final[
    Mapping[int, tuple[str, str]]
] = {  # what an error has made necessary, and for whom it matters
    1: ("gpu-reset", KEEP_OFF),
    2: ("node-reboot", KEEP_OFF),
    3: ("drain-p2p", INFORM),
    4: ("drain-and-reset", KEEP_OFF),
    5: ("recover-imex-domain", INFORM),
    6: ("bus-reset", KEEP_OFF),
    7: ("system-reboot", KEEP_OFF),
}


def card_taints(nvml: Any, handle: Any) -> tuple[Taint, ...]:
    """Everything that is wrong with a card, worst first."""
    return tuple(_taints(nvml, handle))


def _taints(nvml: Any, handle: Any) -> Iterator[Taint]:
    try:
        nvml.nvmlDeviceGetUUID(handle)
        nvml.nvmlDeviceGetMemoryInfo(handle)
    except nvml.NVMLError as error:
        fatal = {nvml.NVML_ERROR_GPU_IS_LOST: LOST, nvml.NVML_ERROR_RESET_REQUIRED: RESET}
        if error.value in fatal:
            yield Taint(fatal[error.value], KEEP_OFF)
            return
    yield from _recovery(nvml, handle)
    rows = _ask(nvml, nvml.nvmlDeviceGetRemappedRows, handle)
    if rows is not None:
        _, _, pending, failed = rows
        if failed:
            yield Taint(REMAPPING, KEEP_OFF, FAILED)
        elif pending:
            yield Taint(REMAPPING, INFORM, PENDING)
    if _ask(nvml, nvml.nvmlDeviceGetRetiredPagesPendingStatus, handle):
        yield Taint(RETIREMENT, INFORM, PENDING)
    modes = _ask(nvml, nvml.nvmlDeviceGetEccMode, handle)
    if modes is not None and modes[0] != modes[1]:
        yield Taint(ECC, INFORM, PENDING)


def _recovery(nvml: Any, handle: Any) -> Iterator[Taint]:
    """What the driver asks to be done, after an XID error for one; older drivers do not tell."""
    field = nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
    told = _ask(nvml, lambda card: nvml.nvmlDeviceGetFieldValues(card, [field]), handle)
    if told is None or told[0].nvmlReturn != 0:
        return
    if told[0].value.uiVal in _ACTIONS:
        action, effect = _ACTIONS[told[0].value.uiVal]
        yield Taint(RECOVERY, effect, action)


def _ask(nvml: Any, question: Callable[[Any], Any], handle: Any) -> Any | None:
    try:
        return question(handle)
    except nvml.NVMLError:
        return None
