"""What rendered objects are called, and the labels by which they are found again.

A part of a campaign is a Job, and its pods' host names are the Job's name and the index (``read-9999``),
which have 63 characters at most: a longer name is cut, with six digits of its hash so that two long names
stay two. Label keys are ours, below ``allotment/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from allotment.repository.model import Pipeline
from allotment.repository.recipe import recipe_of

PREFIX: Final = "allotment/"
MANAGED_BY: Final[Mapping[str, str]] = {"app.kubernetes.io/managed-by": "allotment"}
TEAM_LABEL: Final = f"{PREFIX}team"
ROOT: Final = "allotment"
"""What cluster-wide objects are called that stand for all teams together."""

LONGEST_JOB: Final = 57  # with `-99999` behind it a host name
LONGEST_NAME: Final = 63


def labels_of(**labels: str) -> dict[str, str]:
    """Our labels: whose object it is, and what of ours it belongs to."""
    return {**MANAGED_BY, **{f"{PREFIX}{key}": value for key, value in sorted(labels.items())}}


def job_name(campaign: str, part: int = 1) -> str:
    """The Job of a part of a campaign; the first has the campaign's name."""
    end = "" if part == 1 else f"-part{part}"
    return cut(campaign, LONGEST_JOB - len(end)) + end


def pipeline_map(pipeline: Pipeline) -> str:
    """The ConfigMap of a pipeline's recipe."""
    return f"pipeline-{pipeline.id}-{recipe_of(pipeline)}"


def lane_class(lane: str) -> str:
    """The priority class of a lane."""
    return cut(f"{ROOT}-{lane}", LONGEST_NAME)


def cut(name: str, longest: int) -> str:
    """A name of at most so many characters."""
    if len(name) <= longest:
        return name
    digits = sha256(name.encode()).hexdigest()[:6]
    return f"{name[: longest - 7].rstrip('-.')}-{digits}"
