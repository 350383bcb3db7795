"""A Job that is there already: which part of what is rendered it takes, and who has its width.

A Job's template never changes, so a live Job keeps what it was created with, and a change holds for Jobs that
are created later. Its width (``spec.parallelism``) belongs to whoever moves windows: `allotment` creates the
Job with it, `allotment-window` then applies the same number, and only then `allotment` leaves it out; the
other way round a sole owner that drops the field would set it to 1. ``spec.suspend`` is left out as soon as
Kueue, which takes it away, owns it; until then it stays, or the Job would start without being admitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.apply.fields import MANAGER, WINDOW, applied_fields, owned_part, owners_of
from allotment.kubernetes.apply.groups import labels
from allotment.kubernetes.apply.memory import PART
from allotment.kubernetes.apply.same import has_values
from allotment.kubernetes.kinds import Object

WIDTH: Final = ("spec", "parallelism")
CHANGEABLE: Final = ("ttlSecondsAfterFinished",)
"""What of a rendered spec a live Job takes."""
KEPT: Final = (
    (("template", "spec", "resourceClaims"), "what it claims"),
    (("template", "spec", "containers"), "its program and resources"),
    (("template",), "its pods"),
    (("completions",), "how many workers it has"),
    (("backoffLimitPerIndex",), "how often an index is tried"),
)
"""What it keeps, and what to call it; of those that lie in each other only the first is told."""


def has_window(job: Object) -> bool:
    """Whether a Job's width moves: that of a campaign's part, and not of a gang or of what prepares."""
    return PART in labels(job)


def is_handed_over(live: Object) -> bool:
    """Whether the width belongs to somebody else than who renders."""
    spec = applied_fields(live).get("f:spec", {})
    return "f:parallelism" not in spec and bool(owners_of(live, *WIDTH))


def movers_of(live: Object) -> tuple[str, ...]:
    """Who owns the width, beside us."""
    return tuple(each for each in owners_of(live, *WIDTH) if each not in {MANAGER, WINDOW})


def width_of(live: Object) -> int:
    """How many pods a live Job has at once."""
    return int(live["spec"].get("parallelism", 1))


def with_width(live: Object, width: int) -> Object:
    """What `allotment-window` applies."""
    metadata = {key: live["metadata"][key] for key in ("name", "namespace")}
    said = {"apiVersion": live["apiVersion"], "kind": live["kind"]}
    return {**said, "metadata": {**metadata, "uid": live["metadata"]["uid"]}, "spec": {"parallelism": width}}


def as_live(rendered: Object, live: Object) -> dict[str, Any]:
    """What `allotment` applies to a live Job of what is rendered."""
    own = owned_part(live, MANAGER)
    rendered_spec: Mapping[str, Any] = rendered["spec"]
    spec = dict(own.get("spec") or _creation_form(rendered_spec))
    spec |= {key: rendered_spec[key] for key in CHANGEABLE if key in rendered_spec}
    if has_window(rendered):
        spec.pop("parallelism", None)
    metadata = {**rendered["metadata"], "uid": live["metadata"]["uid"]}
    return {"apiVersion": rendered["apiVersion"], "kind": "Job", "metadata": metadata, "spec": spec}


def kept_words(rendered: Object, live: Object) -> str | None:
    """What a live Job keeps though the files say another thing; None where there is nothing of that kind."""
    names = list(_kept(rendered["spec"], live["spec"]))
    if not names:
        return None
    what = " and ".join(names)
    return f"Job {live['metadata']['name']} keeps {what}: the change holds for Jobs that are created later"


def _kept(rendered: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[str]:
    told: list[tuple[str, ...]] = []
    for path, words in KEPT:
        is_told = any(each[: len(path)] == path for each in told)
        wanted = _at(rendered, path)
        if not is_told and wanted is not None and not has_values(wanted, _at(live, path)):
            told.append(path)
            yield words


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = (value or {}).get(key)
    return value


def _creation_form(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """For a Job that nobody applied: what is rendered, without what others move."""
    return {key: each for key, each in spec.items() if key not in {"parallelism", "suspend"}}
