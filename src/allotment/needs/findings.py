"""What ``check`` says about a pipeline's need: each fault with its place in the file and what to do."""

from __future__ import annotations

import math

from allotment.devices.claims import MOST_DEVICES
from allotment.errors import Finding, Severity
from allotment.needs.cards import NO_KINDS, Kinds
from allotment.needs.limits import faults_of
from allotment.needs.lints.on_needs import need_warnings
from allotment.needs.rules import TOO_LARGE
from allotment.repository.model import HasNeed


def need_findings(pipeline: HasNeed, kinds: Kinds = NO_KINDS, kubernetes: str | None = None) -> list[Finding]:
    """Errors for what cannot be had, and warnings for what is most likely not what is meant.

    ``kubernetes`` is the version that is to take the claim (None: the newest).
    """
    if pipeline.gpu is None:
        return _of_processors(pipeline)
    faults = [*faults_of(pipeline.gpu, kinds, kubernetes), *need_warnings(pipeline.gpu, kinds)]
    return [
        Finding(
            pipeline.position("gpu", *each.loc),
            each.rule,
            each.message,
            each.hint,
            each.severity,
            each.evidence,
        )
        for each in faults
    ]


def _of_processors(pipeline: HasNeed) -> list[Finding]:
    cores = math.ceil(pipeline.resources.cpu or 1)
    if cores <= MOST_DEVICES:
        return []
    message = (
        f"`cpu` asks for {cores} cores, and a claim holds at most {MOST_DEVICES} devices: "
        f"on a machine's own cores the pipeline gets {MOST_DEVICES}"
    )
    hint = f"ask for {MOST_DEVICES} or fewer, and let the window run more volumes at once"
    return [Finding(pipeline.position("resources", "cpu"), TOO_LARGE, message, hint, Severity.WARNING)]
