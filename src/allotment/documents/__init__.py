"""YAML files read with positions: plain values out, and where each of them stands when somebody asks."""

from __future__ import annotations

from allotment.documents.document import Document
from allotment.documents.positions import Loc, Scalar, Trap
from allotment.documents.reading import read_document, read_text, scan_document, scan_text
from allotment.documents.source import Limits

__all__ = [
    "Document",
    "Limits",
    "Loc",
    "Scalar",
    "Trap",
    "read_document",
    "read_text",
    "scan_document",
    "scan_text",
]
