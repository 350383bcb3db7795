"""Quantities as Kubernetes writes them, and durations: exact, bounded, and explained when they are wrong."""

from __future__ import annotations

from allotment.quantities.duration import format_duration, parse_duration
from allotment.quantities.quantity import (
    GI,
    MI,
    QuantityError,
    format_bytes,
    format_gi,
    parse_bytes,
    parse_exact,
    parse_quantity,
)

__all__ = [
    "GI",
    "MI",
    "QuantityError",
    "format_bytes",
    "format_duration",
    "format_gi",
    "parse_bytes",
    "parse_duration",
    "parse_exact",
    "parse_quantity",
]
