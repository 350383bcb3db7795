"""``base64.encode`` and ``base64.decode``: cel-go's encoders extension, which Kubernetes does not have."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload
from allotment.devices.cel.problems import EvaluationError


def _decode(text: str) -> bytes:
    """The bytes; what fills up the last group may be left away."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise EvaluationError(f"illegal base64 data: {error}") from error


def _encode(value: bytes) -> str:
    return base64.b64encode(value).decode()


ENCODERS: Final = Library(
    {
        "base64.decode": (Overload("base64_decode_string", (t.STRING,), t.BYTES, _decode),),
        "base64.encode": (Overload("base64_encode_bytes", (t.BYTES,), t.STRING, _encode),),
    }
)
