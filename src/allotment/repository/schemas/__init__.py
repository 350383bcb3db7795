"""JSON Schemas (draft 2020-12) of every kind of file, made from the shapes that the readers use.

An editor that knows them completes keys and shows what they mean. A schema says less than `allot check`: it
knows no platform, no other file, and not what a file was before. It never refuses a file that a check lets
pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from allotment.documents.shapes import Record
from allotment.platform.file_shapes import platform_record
from allotment.platform.model import Platform
from allotment.repository.campaign_file import campaign_record
from allotment.repository.pipeline_file import PIPELINE
from allotment.repository.schemas.building import Building
from allotment.repository.schemas.words import DEFAULTS, TITLES, WORDS
from allotment.repository.standing_files import fleet_record, gang_record

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
RECORDS: Final[Mapping[str, Callable[[], Record[Any]]]] = {
    "pipeline": lambda: PIPELINE,
    "campaign": lambda: campaign_record(Platform(), Path()),
    "fleet": lambda: fleet_record(Platform()),
    "gang": lambda: gang_record(Platform()),
    "platform": platform_record,
}
NEEDS_PROGRAM: Final = {"anyOf": [{"required": ["command"]}, {"required": ["image"]}]}
BESIDE: Final[Mapping[str, Mapping[str, Any]]] = {
    "pipeline": {
        "dependentSchemas": {"size": {"properties": {"gpu": False, "resources": False}}},
        "if": {"properties": {"runner": {"const": "image"}}, "required": ["runner"]},
        "then": {"required": ["image"]},
    },
    "fleet": NEEDS_PROGRAM,
    "gang": NEEDS_PROGRAM,
}


def schema_of(kind: str) -> dict[str, Any]:
    """The schema of a kind of file, as a value that JSON can hold."""
    building = Building(WORDS[kind], DEFAULTS.get(kind, {}))
    title, description = TITLES[kind]
    return {
        "$schema": DIALECT,
        "title": title,
        "description": description,
        **building.of(RECORDS[kind](), ()),
        **BESIDE.get(kind, {}),
    }
