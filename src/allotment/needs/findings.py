"""What ``check`` says about a pipeline's need: each fault with its place in the file and what to do."""

from __future__ import annotations

import math

from allotment.devices.claims import MOST_DEVICES
from allotment.errors import Finding, Severity
from allotment.needs.limits import TOO_LARGE, faults_of
from allotment.repository.model import Pipeline


def need_findings(pipeline: Pipeline) -> list[Finding]:
    """Errors for what cannot be had, and warnings for what the pipeline gets less of than it asks for."""
    if pipeline.gpu is None:
        return _of_processors(pipeline)
    return [
        Finding(pipeline.position("gpu", *fault.loc), fault.rule, fault.message, fault.hint)
        for fault in faults_of(pipeline.gpu)
    ]


def _of_processors(pipeline: Pipeline) -> list[Finding]:
    cores = math.ceil(pipeline.resources.cpu or 1)
    if cores <= MOST_DEVICES:
        return []
    message = (
        f"`cpu` asks for {cores} cores, and a claim holds at most {MOST_DEVICES} devices: "
        f"on a machine's own cores the pipeline gets {MOST_DEVICES}"
    )
    hint = f"ask for {MOST_DEVICES} or fewer, and let the window run more volumes at once"
    return [Finding(pipeline.position("resources", "cpu"), TOO_LARGE, message, hint, Severity.WARNING)]
