"""How the ledger names its lock files: ``driver~pool~device@uid.lock``, with ``~n`` for a user's n-th share.

The marks between the parts cannot be in a device's name, and the slash of a pool's name becomes one of
them. This machine's own pool is written ``=`` instead of by name: the machine is the same under another
host name, as a laptop in another network has it, or a container that shares the folder.
"""

from __future__ import annotations

from dataclasses import dataclass

from allotment.devices.slices import DeviceId

_SUFFIX = ".lock"
_THIS_MACHINE = "="


@dataclass(frozen=True, slots=True)
class LockNames:
    """The names of lock files on the machine whose own pools are called ``node``."""

    node: str

    def name_of(self, device: DeviceId, uid: int, share: int | None = None) -> str:
        """A user's lock file for a device, or for a share of it; ValueError for what cannot be one."""
        for part in device:
            if not part.isascii() or not part.replace("-", "").replace(".", "").replace("/", "").isalnum():
                raise ValueError(f"`{device}` is no device: names are made of letters, digits, `-` and `.`")
        pool = _THIS_MACHINE if device.pool == self.node else device.pool.replace("/", "+")
        place = "" if share is None else f"~{share}"
        return f"{device.driver}~{pool}~{device.device}{place}@{uid}{_SUFFIX}"

    def read(self, name: str) -> tuple[DeviceId, int] | None:
        """The device and the user that a lock file is for; None for any other file."""
        parts, uid = self._parts(name)
        return (self._device(parts), uid) if len(parts) == 3 else None

    def read_share(self, name: str) -> tuple[DeviceId, int, int] | None:
        """The device, the user and the number of a share's lock file; None for any other file."""
        parts, uid = self._parts(name)
        if len(parts) != 4 or not parts[3].isdecimal():
            return None
        return self._device(parts), uid, int(parts[3])

    def _device(self, parts: list[str]) -> DeviceId:
        pool = self.node if parts[1] == _THIS_MACHINE else parts[1].replace("+", "/")
        return DeviceId(parts[0], pool, parts[2])

    @staticmethod
    def _parts(name: str) -> tuple[list[str], int]:
        """What stands before the user, and the user; no parts for what is no lock file."""
        device, _, uid = name.removesuffix(_SUFFIX).rpartition("@")
        parts = device.split("~")
        if not name.endswith(_SUFFIX) or not all(parts) or not uid.isdecimal():
            return [], 0
        return parts, int(uid)
