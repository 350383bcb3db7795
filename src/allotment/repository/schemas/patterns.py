"""Regular expressions of the names and texts that shapes look at, in the words that every dialect knows.

They are keyed by the name of the look, so that a look without an entry is noticed. Where a look decides
more than an expression can say, the expression lets more pass. None stands for a look that has no useful
expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.devices.server import VERSION as VERSION_OF_KUBERNETES
from allotment.platform.bucket_options import REGION
from allotment.platform.file_shapes import VERSION
from allotment.platform.images import IMAGE, IMAGE_REPOSITORY
from allotment.platform.names import LABEL, QUALIFIED, WORD
from allotment.platform.need_shapes import CARD
from allotment.repository.environment import VARIABLE

FOLDER: Final = r"[^/\\][^\\]*"
ADDRESS: Final = r"[Hh][Tt][Tt][Pp][Ss]?://[^\s\\]+"
VOLUME_ID: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"

PATTERNS: Final[Mapping[str, str | None]] = {
    "look_address": ADDRESS,
    "look_bucket": None,
    "look_bucket_folder": r"[a-z0-9]+://\S+",
    "look_card": CARD.pattern,
    "look_endpoint": r"[Hh][Tt][Tt][Pp][Ss]?://\S+",
    "look_folder": FOLDER,
    "look_host": r"\S+",
    "look_image": IMAGE.pattern,
    "look_image_repository": IMAGE_REPOSITORY.pattern,
    "look_kubernetes": VERSION_OF_KUBERNETES.pattern,
    "look_label": LABEL.pattern,
    "look_label_key": LABEL.pattern,
    "look_network": r"[0-9a-fA-F.:]+(?:/[0-9]{1,3})?",
    "look_pages": FOLDER,
    "look_pipeline_variable": VARIABLE.pattern,
    "look_printable": None,
    "look_program_variable": VARIABLE.pattern,
    "look_qualified": QUALIFIED.pattern,
    "look_region": REGION.pattern,
    "look_secret": None,
    "look_template": r"[^{}]*\{ref\}[^{}]*",
    "look_version": VERSION.pattern,
    "look_volume_id": VOLUME_ID,
    "look_word_key": WORD.pattern,
}


def pattern_of(look: object) -> str | None:
    """The expression of a look, for the whole text; raises KeyError for a look that nobody has entered."""
    pattern = PATTERNS[getattr(look, "__name__", "").removeprefix("_")]
    return None if pattern is None else f"^(?:{pattern})$"
