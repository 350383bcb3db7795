"""Every rule that `allot check` can name: those of the files, and those of needs."""

from __future__ import annotations

from typing import Final

from allotment.needs.limits import NOT_YET, TOO_LARGE
from allotment.repository.rules import RULES as FILE_RULES
from allotment.running.steps.checking import RULES as STEP_RULES

RULES: Final = {
    **FILE_RULES,
    **STEP_RULES,
    NOT_YET: "A need uses a key that this version of Allotment cannot do yet.",
    TOO_LARGE: "A need asks for more devices or alternatives than one claim can hold.",
}
