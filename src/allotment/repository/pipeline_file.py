"""The shape of a pipeline's file, and what its keys must be to each other and to the platform."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.shapes import Choice, Integer, Key, ListOf, Record, TableOf, Text
from allotment.errors import Severity, did_you_mean
from allotment.platform.model import Platform
from allotment.platform.names import look_label, look_printable, looks_secret
from allotment.platform.need import NO_RESOURCES, Need
from allotment.platform.need_shapes import NEED, RESOURCES
from allotment.repository.file_name import FILE_NAME_KEYS
from allotment.repository.model import EnvironmentVariable, Pipeline, Topology
from allotment.repository.steps import RUNNERS, STEP, StepNames, choose_runner

IMAGE: Final = re.compile(
    r"([a-z0-9][a-z0-9._-]*(?::[0-9]{1,5})?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)@sha256:[0-9a-f]{64}"
)
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _look_image(text: str, place: Place) -> None:
    if IMAGE.fullmatch(text):
        return
    hint = "write registry/name@sha256: and the 64 digits of the digest"
    if "@" not in text:
        message = f"`{shown(text)}` names an image without its digest, so it can change under the same name"
        place.refuse("image-not-pinned", message, hint)
    place.refuse("bad-image", f"`{shown(text)}` is no image by digest", hint)


def _look_variable(text: str, place: Place) -> None:
    if len(text) > 253 or not VARIABLE.fullmatch(text):
        hint = "use letters, digits and `_`, and no digit in front"
        place.refuse("bad-name", f"`{shown(text)}` cannot be a variable's name", hint, key=True)


SECRET: Final = Record(
    {
        "secret": Key(Text(look_label), required="name the secret"),
        "key": Key(Text(look_printable, longest=253), required="name the key within the secret"),
    },
    lambda values, place: EnvironmentVariable(str(place.loc[-1]), secret=values["secret"], key=values["key"]),
)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable's value: a text, or the name of a secret and a key of it."""

    def read(self, value: object, place: Place) -> EnvironmentVariable:
        """The variable, under the name that its key gives it."""
        if isinstance(value, dict):
            return SECRET.read(value, place)
        name = str(place.loc[-1])
        if looks_secret(name):
            message = f"`{shown(name)}` looks like a secret, and a repository is no place for one"
            hint = "write {secret: NAME, key: KEY}"
            place.found("secret-in-file", message, hint, key=True, severity=Severity.WARNING)
        return EnvironmentVariable(name, value=Text(longest=32_768, empty=True).read(value, place))


def _topology(values: dict[str, Any], place: Place) -> Topology:
    if len(values) != 1:
        message = f"`{place.name}` takes exactly one of `require` and `prefer`"
        place.refuse("one-of", message, "keep one of them")
    if "require" in values:
        return Topology("require", values["require"])
    return Topology("prefer", values["prefer"])


LEVEL: Final[Key[str]] = Key(Text(look_label))
PIPELINE: Final[Record[dict[str, Any]]] = Record(
    {
        **FILE_NAME_KEYS,
        "image": Key(Text(_look_image)),
        "steps": Key(ListOf(STEP), required="list at least one: `- step: ocr`"),
        "gpu": Key(NEED, nullable=True),
        "resources": Key(RESOURCES),
        "size": Key(Text()),
        "topology": Key(Record({"require": LEVEL, "prefer": LEVEL}, _topology)),
        "env": Key(TableOf(Variable(), _look_variable)),
        "prepare": Key(STEP, nullable=True),
        "max_seconds": Key(Integer(1)),
        "ttl_seconds_after_finished": Key(Integer(1)),
        "runner": Key(Choice(RUNNERS, "runner")),
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
    _look_at_image(values, platform, place)
    _look_at_size(values, platform, place)
    _look_at_sharing(values.get("gpu"), platform, place / "gpu")
    _look_at_topology(values.get("topology"), platform, place)
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


def _look_at_image(values: Mapping[str, Any], platform: Platform, place: Place) -> None:
    image = values.get("image")
    if image is None or not platform.images:
        return
    repository = image.partition("@")[0]
    if not any(repository == allowed or repository.startswith(f"{allowed}/") for allowed in platform.images):
        message = f"the platform does not let images come from `{shown(repository)}`"
        (place / "image").found("image-not-allowed", message, did_you_mean(repository, platform.images))


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


def _look_at_sharing(need: Need | None, platform: Platform, place: Place) -> None:
    """Ways of sharing a card that the platform does not let pipelines use, in a need and its fallbacks."""
    if need is None or "sharing" in platform.unread:
        return
    written = place.check.document.value
    for step in place.loc:
        written = written[step]
    if "sharing" in written:
        for way in need.sharing:
            if way not in platform.sharing:
                allowed = ", ".join(f"`{word}`" for word in platform.sharing)
                message = f"the platform does not let pipelines share a card by `{way}`"
                (place / "sharing").found("sharing-not-allowed", message, f"it allows {allowed}")
    for index, fallback in enumerate(need.fallback):
        _look_at_sharing(fallback, platform, place / "fallback" / index)


def _look_at_topology(topology: Topology | None, platform: Platform, place: Place) -> None:
    levels = {level.name for level in platform.topology}
    if topology is None or topology.level in levels or "topology" in platform.unread:
        return
    hint = did_you_mean(topology.level, levels) or "the platform names no levels: take the key out"
    message = f"the platform has no level `{shown(topology.level)}`"
    (place / "topology" / topology.rule).found("unknown-topology", message, hint)
