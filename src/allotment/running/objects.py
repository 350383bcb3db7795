"""Small JSON objects in the bucket: always the same bytes for the same value, and damage told in words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from allotment.running.endings import PermanentFailureError
from allotment.running.masking import masked_value

FORMAT_VERSION = 1
MOST_BYTES = 256 * 1024 * 1024
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What reading an object as what it should be may raise when it is something else."""

_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def dump(value: Mapping[str, Any]) -> bytes:
    """The value as one line of JSON with sorted keys."""
    return f"{_encode(masked_value(value))}\n".encode(errors="backslashreplace")


class Reads(Protocol):
    """What `read_object` needs of a bucket."""

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes, if they are no more than ``most``."""


def read_object(bucket: Reads, key: str) -> dict[str, Any]:
    """The object at a key, as `load` has it."""
    return load(bucket.read(key, MOST_BYTES), key)


def load(data: bytes, key: str) -> dict[str, Any]:
    """The object at a key; raises `PermanentFailureError` for one that this version cannot have written."""
    try:
        value = json.loads(data, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or value.get("format_version") != FORMAT_VERSION:
        raise damaged(key)
    return value


def whole(value: object) -> int:
    """A number that counts something; raises TypeError or ValueError for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a whole number")
    if value < 0:
        raise ValueError("less than nothing")
    return value


def mapping(value: object) -> Mapping[str, Any]:
    """A mapping, or nothing; raises TypeError for anything else."""
    if value is not None and not isinstance(value, dict):
        raise TypeError("not a mapping")
    return value or {}


def moment(value: object) -> float | None:
    """Unix seconds, or nothing; raises TypeError for anything else."""
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise TypeError("not a time")
    return None if value is None else float(value)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _finite(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(f"{word} is too large")
    return value


def damaged(key: str) -> PermanentFailureError:
    """The failure for an object in the bucket that is not what it should be."""
    return PermanentFailureError(
        "bucket-damaged",
        f"the object {key} in the bucket is damaged or of a later version; move it away, then `allot retry`",
    )
