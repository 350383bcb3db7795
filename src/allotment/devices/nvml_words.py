"""Numbers of NVIDIA's library in the words of its DRA driver, and the names that the driver gives to devices.

Facts: ``nvml.h`` (enumerations), NVIDIA/go-nvlib (brands, architectures by compute capability), and the names
of NVIDIA's DRA driver since v25.12.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

BRANDS: Final[Mapping[int, str]] = {
    1: "Quadro",
    2: "Tesla",
    3: "NVS",
    4: "Grid",
    5: "GeForce",
    6: "Titan",
    7: "NvidiaVApps",
    8: "NvidiaVPC",
    9: "NvidiaVCS",
    10: "NvidiaVWS",
    11: "NvidiaCloudGaming",
    12: "QuadroRTX",
    13: "NvidiaRTX",
    14: "Nvidia",
    15: "GeForceRTX",
    16: "TitanRTX",
}
ADDRESSING_MODES: Final[Mapping[int, str]] = {0: "None", 1: "HMM", 2: "ATS"}
_FROM: Final = (  # the lowest compute capability of each architecture, the newest first
    ((10, 0), "Blackwell"),
    ((9, 0), "Hopper"),
    ((8, 9), "Ada Lovelace"),
    ((8, 0), "Ampere"),
    ((7, 5), "Turing"),
    ((7, 0), "Volta"),
    ((6, 0), "Pascal"),
    ((5, 0), "Maxwell"),
    ((3, 0), "Kepler"),
)
_NEWEST_KNOWN: Final = 12
ARCHITECTURES: Final = (*(name for _, name in _FROM), "Rubin")
_NUMBER: Final = re.compile(r"[0-9]+")
_PROFILE: Final = re.compile(r"\bMIG (\S+)$")


def architecture(major: int, minor: int) -> str:
    """The architecture of a compute capability."""
    if major > _NEWEST_KNOWN:
        return "Unknown"
    return next((name for lowest, name in _FROM if (major, minor) >= lowest), "Unknown")


def driver_version(text: str) -> str:
    """``580.126.09`` as a version of three numbers, without leading zeros; empty for what is none."""
    numbers = [str(int(part)) for part in text.split(".") if _NUMBER.fullmatch(part)]
    return ".".join([*numbers, "0", "0"][:3]) if numbers else ""


def cuda_version(number: int | None) -> str:
    """``13000`` as ``13.0.0``; empty when nothing is told."""
    return f"{number // 1000}.{number % 1000 // 10}.0" if number else ""


def mig_profile(name: str) -> str:
    """The profile at the end of a partition's name: ``NVIDIA A100-SXM4-40GB MIG 1g.5gb``."""
    found = _PROFILE.search(name)
    return found[1] if found else ""


def mig_device_name(card: int, profile: str, at: tuple[int, int, int] | None, instance: int) -> str:
    """The driver's name of a partition: card, profile, profile id, start.

    The library tells where a partition lies to a privileged user only; anybody else gets the instance's
    number in its place, which tells partitions apart as well.
    """
    plain = profile.lower().replace(".", "").replace("+", "-") or "unknown"
    end = f"{at[0]}-{at[1]}" if at is not None else f"gi{instance}"
    return f"gpu-{card}-mig-{plain}-{end}"
