"""Every rule that a command can name: of the files, devices and their lint, needs, steps and images."""

from __future__ import annotations

from typing import Final

from allotment.devices.finding_rules import RULES as DEVICE_RULES
from allotment.devices.lint.rules import RULES as LINT_RULES
from allotment.kubernetes.images.rules import RULES as IMAGE_RULES
from allotment.needs.rules import RULES as NEED_RULES
from allotment.repository.rules import RULES as FILE_RULES
from allotment.running.steps.checking import RULES as STEP_RULES

RULES: Final = {
    **FILE_RULES,
    **DEVICE_RULES,
    **LINT_RULES,
    **STEP_RULES,
    **NEED_RULES,
    **IMAGE_RULES,
}
