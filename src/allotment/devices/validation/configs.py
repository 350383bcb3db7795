"""What the server holds opaque configurations to: a driver, and a JSON object that is not too long.

From the validation of ``OpaqueDeviceConfiguration`` and of raw extensions in ``resource.k8s.io``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_driver
from allotment.devices.validation.problems import Loc, Problem, invalid, required, too_long
from allotment.devices.validation.raw import Raw

LONGEST_PARAMETERS: Final = 10 * 1024


def of_config(config: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """A configuration: only opaque ones exist so far."""
    opaque = raw.part(config, "opaque")
    if opaque is None:
        yield required(
            (*loc, "opaque"), "say the driver and its parameters: opaque: {driver: …, parameters: …}"
        )
        return
    yield from of_driver(raw.text(opaque, "driver"), (*loc, "opaque", "driver"), server)
    yield from of_object(opaque.get("parameters"), (*loc, "opaque", "parameters"), LONGEST_PARAMETERS)


def of_object(value: Any, loc: Loc, longest: int) -> Iterator[Problem]:
    """A JSON object that the API passes on as it is."""
    if value is None:
        yield required(loc, "write a mapping, which may be empty")
    elif len(json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str).encode()) > longest:
        yield too_long(loc, longest)
    elif not isinstance(value, dict):
        yield invalid(loc, "must be a valid JSON object")
