"""A made-up NVIDIA library: the questions that we ask of ``pynvml``, answered from a table of cards.

Like the real one it must be started before it answers, and it refuses by errors: one class for each code, all
of them below ``NVMLError``, each with its ``value``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

MIB = 1 << 20

CODES = {
    "UNINITIALIZED": 1,
    "NOT_SUPPORTED": 3,
    "NO_PERMISSION": 4,
    "NOT_FOUND": 6,
    "DRIVER_NOT_LOADED": 9,
    "LIBRARY_NOT_FOUND": 12,
    "GPU_IS_LOST": 15,
    "RESET_REQUIRED": 16,
    "UNKNOWN": 999,
}


class NVMLError(Exception):
    """The library's one kind of error."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return next(name.replace("_", " ").capitalize() for name, code in CODES.items() if code == self.value)


@dataclass
class Partition:
    """A MIG device: ``at`` is profile id, start and size of its instance."""

    profile: str
    at: tuple[int, int, int]
    mib: int
    multiprocessors: int = 14
    instance: int = 7
    used: int = 0
    processes: Mapping[int, int | None] = field(default_factory=dict)


@dataclass
class FakeCard:
    """A card; ``refuses`` maps a question to the code by which it is refused."""

    name: str = "NVIDIA H100 80GB HBM3"
    mib: int | None = 81559
    minor: int = 0
    capability: tuple[int, int] = (9, 0)
    brand: int = 14
    uuid: str = "GPU-11111111-2222-3333-4444-555555555555"
    pci: tuple[int, int, int] = (0, 0x64, 0)
    addressing: int | None = 1
    mig: int | None = 0
    partitions: tuple[Partition, ...] = ()
    used: int = 0
    rows: tuple[int, int, int, int] | None = (0, 0, 0, 0)
    retirement_pending: int | None = None
    ecc: tuple[int, int] | None = (1, 1)
    recovery: int | None = 0
    processes: Mapping[int, int | None] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)


class FakeNvml:
    """The module. ``init`` is the code by which it refuses to start."""

    NVMLError = NVMLError
    NVML_ERROR_GPU_IS_LOST = CODES["GPU_IS_LOST"]
    NVML_ERROR_RESET_REQUIRED = CODES["RESET_REQUIRED"]
    NVML_FI_DEV_GET_GPU_RECOVERY_ACTION = 230

    def __init__(
        self, *cards: FakeCard, init: str | None = None, driver: str = "580.126.09", privileged: bool = True
    ) -> None:
        self.cards = cards
        self.init = init
        self.driver = driver
        self.privileged = privileged
        self.running = 0
        self.asked: list[str] = []

    def nvmlInit(self) -> None:
        if self.init is not None:
            raise NVMLError(CODES[self.init])
        self.running += 1

    def nvmlShutdown(self) -> None:
        self._check("nvmlShutdown", None)
        self.running -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return self.driver

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return 13000

    def nvmlDeviceGetCount(self) -> int:
        self._check("nvmlDeviceGetCount", None)
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeCard:
        return self._card(self.cards[index], "nvmlDeviceGetHandleByIndex")

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Any:
        self._check("nvmlDeviceGetHandleByUUID", None)
        for card in self.cards:
            devices: tuple[FakeCard | Partition, ...] = (card, *card.partitions)
            for device in devices:
                if self._uuid(device) == uuid:
                    return device
        raise NVMLError(CODES["NOT_FOUND"])

    def nvmlDeviceGetMinorNumber(self, card: FakeCard) -> int:
        return self._card(card, "nvmlDeviceGetMinorNumber").minor

    def nvmlDeviceGetName(self, device: FakeCard | Partition) -> str:
        if isinstance(device, Partition):
            parent = next(card for card in self.cards if device in card.partitions)
            return f"{parent.name} MIG {device.profile}"
        return self._card(device, "nvmlDeviceGetName").name

    def nvmlDeviceGetBrand(self, card: FakeCard) -> int:
        return self._card(card, "nvmlDeviceGetBrand").brand

    def nvmlDeviceGetCudaComputeCapability(self, card: FakeCard) -> tuple[int, int]:
        return self._card(card, "nvmlDeviceGetCudaComputeCapability").capability

    def nvmlDeviceGetAddressingMode(self, card: FakeCard) -> int:
        return int(self._told(self._card(card, "nvmlDeviceGetAddressingMode").addressing))

    def nvmlDeviceGetPciInfo(self, card: FakeCard) -> SimpleNamespace:
        domain, bus, device = self._card(card, "nvmlDeviceGetPciInfo").pci
        return SimpleNamespace(domain=domain, bus=bus, device=device)

    def nvmlDeviceGetUUID(self, device: FakeCard | Partition) -> str:
        if isinstance(device, FakeCard):
            self._card(device, "nvmlDeviceGetUUID")
        return self._uuid(device)

    def nvmlDeviceGetMemoryInfo(self, device: FakeCard | Partition) -> SimpleNamespace:
        if isinstance(device, FakeCard):
            self._card(device, "nvmlDeviceGetMemoryInfo")
        total = self._told(device.mib) * MIB
        return SimpleNamespace(total=total, used=device.used, free=total - device.used)

    def nvmlDeviceGetMigMode(self, card: FakeCard) -> list[int]:
        return [self._told(self._card(card, "nvmlDeviceGetMigMode").mig)] * 2

    def nvmlDeviceGetMaxMigDeviceCount(self, card: FakeCard) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, card: FakeCard, index: int) -> Partition:
        if index >= len(card.partitions):
            raise NVMLError(CODES["NOT_FOUND"])
        return card.partitions[index]

    def nvmlDeviceGetGpuInstanceId(self, device: Partition) -> int:
        return device.instance

    def nvmlDeviceGetGpuInstanceById(self, card: FakeCard, number: int) -> Partition:
        if not self.privileged:
            raise NVMLError(CODES["NO_PERMISSION"])
        return next(partition for partition in card.partitions if partition.instance == number)

    def nvmlGpuInstanceGetInfo(self, device: Partition) -> SimpleNamespace:
        profile, start, size = device.at
        return SimpleNamespace(profileId=profile, placement=SimpleNamespace(start=start, size=size))

    def nvmlDeviceGetAttributes(self, device: Partition) -> SimpleNamespace:
        return SimpleNamespace(
            memorySizeMB=device.mib,
            multiprocessorCount=device.multiprocessors,
            sharedCopyEngineCount=1,
            sharedDecoderCount=1,
            sharedEncoderCount=0,
            sharedJpegCount=0,
            sharedOfaCount=0,
        )

    def nvmlDeviceGetRemappedRows(self, card: FakeCard) -> tuple[int, int, int, int]:
        told: tuple[int, int, int, int] = self._told(self._card(card, "nvmlDeviceGetRemappedRows").rows)
        return told

    def nvmlDeviceGetRetiredPagesPendingStatus(self, card: FakeCard) -> int:
        return int(self._told(card.retirement_pending))

    def nvmlDeviceGetEccMode(self, card: FakeCard) -> list[int]:
        return list(self._told(card.ecc))

    def nvmlDeviceGetFieldValues(self, card: FakeCard, fields: list[int]) -> list[SimpleNamespace]:
        assert fields == [self.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION]
        refused = 0 if card.recovery is not None else CODES["NOT_SUPPORTED"]
        return [SimpleNamespace(nvmlReturn=refused, value=SimpleNamespace(uiVal=card.recovery or 0))]

    def nvmlDeviceGetComputeRunningProcesses(self, device: FakeCard | Partition) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in device.processes.items()]

    def _card(self, card: FakeCard, question: str) -> FakeCard:
        self._check(question, card)
        return card

    def _check(self, question: str, card: FakeCard | None) -> None:
        self.asked.append(question)
        if not self.running:
            raise NVMLError(CODES["UNINITIALIZED"])
        code = None if card is None else card.refuses.get(question, card.refuses.get("*"))
        if code is not None:
            raise NVMLError(CODES[code])

    @staticmethod
    def _told(answer: Any) -> Any:
        if answer is None:
            raise NVMLError(CODES["NOT_SUPPORTED"])
        return answer

    @staticmethod
    def _uuid(device: FakeCard | Partition) -> str:
        if isinstance(device, FakeCard):
            return device.uuid
        return f"MIG-00000000-0000-0000-0000-{device.instance:06d}{device.at[1]:06d}"
