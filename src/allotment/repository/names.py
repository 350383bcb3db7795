"""What pipelines, campaigns and volumes may be called: a file's stem is the name, a volume's id its own.

Pipelines and volumes are folders of the bucket, beside which ``events`` and ``cache`` are taken; a campaign
is a Job and a part of pods' host names; the ends ``-part<N>`` and ``-status`` belong to what is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from allotment.documents.checking import Place, shown
from allotment.platform.names import LABEL, LABEL_RULE, RESERVED

PIPELINE_ID: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,50}[a-z0-9])?")
TAKEN_END: Final = re.compile(r"-(?:part[0-9]+|status)")
VOLUME_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}+(?<=[A-Za-z0-9])")
VOLUME_IDS: Final = re.compile(rf"(?:{VOLUME_ID.pattern}\n)*+")
VOLUME_RULE: Final = (
    "letters, digits, `.`, `_` and `-`, a letter or digit at both ends, at most 63 characters"
)
RULE: Final = "bad-name"

Fault = tuple[str, str]


def pipeline_fault(stem: str) -> Fault | None:
    """What is wrong with a pipeline's id, and what to do; nothing when it will do."""
    if not PIPELINE_ID.fullmatch(stem) or ".." in stem:
        rule = (
            "lower-case letters, digits, `.` and `-`, a letter or digit at both ends, at most 52 characters"
        )
        return (
            f"`{shown(stem)}` cannot be a pipeline's id, which is a folder of the bucket",
            f"rename it: {rule}",
        )
    return _reserved_fault(stem)


def campaign_fault(stem: str, kind: str = "campaign") -> Fault | None:
    """What is wrong with the name of a campaign, fleet or gang; nothing when it will do."""
    if not LABEL.fullmatch(stem):
        message = f"`{shown(stem)}` cannot be a {kind}'s name, which becomes a part of host names"
        return message, f"rename it: {LABEL_RULE}"
    end = TAKEN_END.search(stem)
    if end is not None and end.end() == len(stem):
        return (
            f"names that end in `{end.group()}` are taken by what is made from a campaign",
            "rename the file",
        )
    return None


def taken_fault(stem: str, other: str) -> Fault:
    """That a file of another kind has the name: objects, logs and events go by it."""
    message = f"`{shown(stem)}` is the name of a file in `{other}/` as well"
    return message, "rename one of them: logs and events of both would lie under one name"


def are_volume_ids(ids: Sequence[str]) -> bool:
    """Whether each of very many texts can be a volume's id, and none of them is there twice."""
    distinct = set(ids)
    if len(distinct) < len(ids) or not RESERVED.isdisjoint(distinct):
        return False
    lines = "\n".join(ids) + "\n"
    return lines.count("\n") == len(ids) and VOLUME_IDS.fullmatch(lines) is not None


def look_volume_id(text: str, place: Place) -> None:
    """Refuse what cannot be a volume's id."""
    if not VOLUME_ID.fullmatch(text):
        message = f"`{shown(text)}` cannot be a volume's id, which becomes a folder of the bucket"
        place.refuse(RULE, message, f"use {VOLUME_RULE}")
    if (fault := _reserved_fault(text)) is not None:
        place.refuse(RULE, *fault)


def _reserved_fault(name: str) -> Fault | None:
    if name in RESERVED:
        return f"`{name}` is taken: the bucket keeps a folder of that name", "choose another name"
    return None
