"""The shape of a pipeline's file, and what its keys must be to each other and to the platform."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.shapes import Choice, Integer, Key, ListOf, Record, Text
from allotment.errors import did_you_mean
from allotment.platform.images import IMAGE_BY_DIGEST
from allotment.platform.model import Platform
from allotment.platform.need import NO_RESOURCES
from allotment.platform.need_shapes import NEED, RESOURCES
from allotment.repository.environment import PIPELINE_ENVIRONMENT
from allotment.repository.estimate import ESTIMATE
from allotment.repository.file_name import FILE_NAME_KEYS
from allotment.repository.model import Pipeline
from allotment.repository.platform_words import (
    TOPOLOGY,
    look_at_image,
    look_at_sharing,
    look_at_topology,
)
from allotment.repository.steps import RUNNERS, STEP, StepNames, choose_runner

PIPELINE: Final[Record[dict[str, Any]]] = Record(
    {
        **FILE_NAME_KEYS,
        "image": Key(IMAGE_BY_DIGEST),
        "steps": Key(ListOf(STEP), required="list at least one: `- step: ocr`"),
        "gpu": Key(NEED, nullable=True),
        "resources": Key(RESOURCES),
        "size": Key(Text()),
        "topology": Key(TOPOLOGY),
        "env": Key(PIPELINE_ENVIRONMENT),
        "prepare": Key(STEP, nullable=True),
        "max_seconds": Key(Integer(1)),
        "ttl_seconds_after_finished": Key(Integer(1)),
        "runner": Key(Choice(RUNNERS, "runner")),
        "estimate": Key(ESTIMATE, nullable=True),
    },
    lambda values, _place: values,
)


def read_pipeline(
    check: Check, stem: str, path: Path, *, platform: Platform, steps: StepNames
) -> Pipeline | None:
    """The pipeline in a document, or nothing when there is an error about it; findings are in the check."""
    place = check.root
    try:
        values, complete = PIPELINE.read_keys(check.document.value, place)
    except RefusedError:
        return None
    look_at_image(values, platform, place)
    _look_at_size(values, platform, place)
    look_at_sharing(values.get("gpu"), platform, place / "gpu")
    look_at_topology(values.get("topology"), platform, place)
    calls = [(call, place / "steps" / index) for index, call in enumerate(values.get("steps", ()))]
    if "prepare" in values:
        calls.append((values["prepare"], place / "prepare"))
    has_image = "image" in check.document.value
    runner = choose_runner(calls, image=has_image, asked=values.get("runner"), names=steps)
    if runner == "image" and not has_image:
        (place / "runner").found(
            "missing-key", "`runner: image` needs an `image`", "name the image by its digest"
        )
    if not complete or check.failed:
        return None
    return Pipeline(
        id=stem,
        runner=runner,
        path=path,
        document=check.document,
        **_with_size(values, platform),
        env=tuple(values.get("env", {}).values()),
        estimate=values.get("estimate"),
        max_seconds=values.get("max_seconds", platform.defaults.max_seconds),
        ttl_seconds_after_finished=values.get(
            "ttl_seconds_after_finished", platform.defaults.ttl_seconds_after_finished
        ),
    )


def _with_size(values: Mapping[str, Any], platform: Platform) -> dict[str, Any]:
    """The keys that are taken as they are, with the need of the size written out where one is named."""
    taken = {key: values[key] for key in ("image", "steps", "prepare", "topology") if key in values}
    name = values.get("size")
    if name is None and not {"gpu", "resources"} & values.keys():
        name = platform.default_size
    if name is None or name not in platform.sizes:
        return {**taken, "gpu": values.get("gpu"), "resources": values.get("resources", NO_RESOURCES)}
    size = platform.sizes[name]
    return {**taken, "size": name, "gpu": size.gpu, "resources": size.resources}


def _look_at_size(values: Mapping[str, Any], platform: Platform, place: Place) -> None:
    name = values.get("size")
    if name is None:
        return
    if name not in platform.sizes and "sizes" not in platform.unread:
        hint = did_you_mean(name, platform.sizes) or "the platform names no sizes: write the need under `gpu`"
        (place / "size").found("unknown-size", f"the platform has no size `{shown(name)}`", hint)
    for key in ("gpu", "resources"):
        if key in values:
            message = f"the size `{shown(name)}` is the whole need, and `{key}` stands beside it"
            (place / key).found("size-and-need", message, "keep one of them", key=True)
