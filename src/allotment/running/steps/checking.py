"""Settings of our own steps, looked at before anything runs, and without what the steps need to run.

A team's own step is never imported by a check: what it makes of its settings shows when it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from allotment.errors import Finding
from allotment.repository.model import Pipeline
from allotment.running.prepare import command
from allotment.running.steps import StepSettingsError, checksum, command_settings, ocr

RULE: Final = "step-settings"
RULES: Final = {RULE: "A step of Allotment's own cannot work with these settings."}

READERS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "checksum": checksum.read_settings,
    "command": command_settings.read_settings,
    "ocr": ocr.read_settings,
}


def settings_findings(pipeline: Pipeline) -> Iterator[Finding]:
    """What is wrong with the settings of the pipeline's steps, as far as they are ours."""
    if pipeline.runner != "own":
        return
    if pipeline.prepare is not None and pipeline.prepare.step == "command":
        try:
            command.read_settings(pipeline.prepare.settings)
        except StepSettingsError as error:
            has = ("settings",) if pipeline.prepare.settings else ()
            yield Finding(pipeline.position("prepare", *has), RULE, f"prepare command: {error}")
    for place, call in enumerate(pipeline.steps):
        read = READERS.get(call.step)
        if read is None:
            continue
        try:
            read(call.settings)
        except StepSettingsError as error:
            where = ("steps", place, "settings") if call.settings else ("steps", place)
            yield Finding(pipeline.position(*where), RULE, f"step {call.step}: {error}")
