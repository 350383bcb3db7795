"""What is taken of several that are equal to KAI, which goes by the random order of Go's maps there."""

from __future__ import annotations

from enum import StrEnum


class Ties(StrEnum):
    """Which of equally full shared GPUs a pod gets."""

    FIRST_USED = "first-used"  # the one that has been shared longest
    LAST_USED = "last-used"  # the one that began to be shared last
    NAME = "name"  # the one whose name sorts first
