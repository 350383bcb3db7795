"""Small JSON objects in the bucket: always the same bytes for the same value, and damage told in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from allotment.running.endings import PermanentFailureError
from allotment.running.masking import masked_value

FORMAT_VERSION = 1

_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
).encode


def dump(value: Mapping[str, Any]) -> bytes:
    """The value as one line of JSON with sorted keys."""
    return f"{_encode(masked_value(value))}\n".encode(errors="backslashreplace")


def load(data: bytes, key: str) -> dict[str, Any]:
    """The object at a key; raises `PermanentFailureError` for one that this version cannot have written."""
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict) or value.get("format_version") != FORMAT_VERSION:
        raise damaged(key)
    return value


def damaged(key: str) -> PermanentFailureError:
    """The failure for an object in the bucket that is not what it should be."""
    return PermanentFailureError(
        "bucket-damaged",
        f"the object {key} in the bucket is damaged or of a later version; move it away, then `allot retry`",
    )
