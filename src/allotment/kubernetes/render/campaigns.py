"""A campaign as objects: what its pods claim, what they are told, and an Indexed Job for each part.

An index is a volume, or a pack of them. Facts: ``batch/v1``: an index that fails is tried again up to
``backoffLimitPerIndex`` times. A pod that was deleted before its container ran counts as well, so the limit
is ``retries`` and ``reclaims`` together, and the runner itself counts real failures. ``podReplacementPolicy:
Failed`` starts no second pod of an index while the first one ends: it would want a card of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from allotment.kubernetes.render.bringing import command_of
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.documents import (
    RECIPE_FILE,
    SETTINGS_FILE,
    VOLUMES_FILE,
    settings_map,
    settings_name,
    volumes_map,
    volumes_name,
)
from allotment.kubernetes.render.names import cut, job_name, labels_of, pipeline_map
from allotment.kubernetes.render.need_objects import PodNeed, claim_labels, pod_need
from allotment.kubernetes.render.parts import Part, parts_of
from allotment.kubernetes.render.placing import Placing, Work, lane_preemptible, placing_for
from allotment.kubernetes.render.pods import (
    ASSIGNMENT,
    SECRETS,
    Mount,
    Program,
    bucket_access,
    plain_variables,
    pod_spec,
    secret_files,
    secret_variables,
)
from allotment.kubernetes.render.rendered import Note, Object, Rendered
from allotment.repository.model import Campaign, FolderSource, Pipeline
from allotment.repository.recipe import recipe_of

START_SECONDS: Final = 1800
"""How long a pod may take to pull its image and start, beside what its volumes may take."""
FINAL_CODES: Final = (13, 126, 127, 128)
ENDED_BY_SIGNAL: Final = 143
DISRUPTED: Final[Mapping[str, Any]] = {
    "action": "Ignore",
    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
}


def campaign_objects(
    context: Context, campaign: Campaign, pipeline: Pipeline, used: Sequence[int] = ()
) -> Rendered:
    """All objects of a campaign but its pipeline's; ``used`` are the volumes of the parts that are out."""
    about = f"campaigns/{campaign.name}"
    labels = claim_labels(campaign=campaign.name, pipeline=pipeline.id)
    parts = tuple(parts_of(campaign, used))
    objects: list[Object] = [settings_map(context, campaign, pipeline)]
    notes = [*_notes(campaign, pipeline, parts)]
    for part in parts:
        name, first = (job_name(campaign.name, number) for number in (part.number, 1))
        need = pod_need(context, name, about, pipeline.gpu, labels, shared_name=first)
        notes += need.notes
        objects += [each for each in need.objects if each not in objects]
        placing = placing_for(context, _work(context, campaign, pipeline, part, about))
        notes += placing.notes
        objects += [
            volumes_map(context, campaign, part),
            campaign_job(context, campaign, pipeline, part, need=need, placing=placing),
        ]
    if pipeline.prepare is not None and pipeline.runner == "own":
        objects.append(_prepare_job(context, campaign, pipeline, parts[0]))
    return Rendered(tuple(objects), tuple(notes))


def campaign_job(
    context: Context, campaign: Campaign, pipeline: Pipeline, part: Part, *, need: PodNeed, placing: Placing
) -> Object:
    """The Indexed Job of a part, as it is created."""
    platform = context.platform
    labels = labels_of(
        team=context.team.name,
        campaign=campaign.name,
        pipeline=pipeline.id,
        recipe=recipe_of(pipeline),
        part=str(part.number),
    )
    metadata: dict[str, Any] = {
        "name": job_name(campaign.name, part.number),
        "namespace": context.namespace,
        "labels": {**labels, **placing.labels},
    }
    if placing.annotations:
        metadata["annotations"] = dict(placing.annotations)
    spec: dict[str, Any] = {
        "completionMode": "Indexed",
        "completions": part.indexes,
        "parallelism": placing.width,
        "backoffLimitPerIndex": platform.defaults.retries + platform.defaults.reclaims,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {
            "rules": [DISRUPTED, _codes("FailIndex", FINAL_CODES), _codes("Ignore", (ENDED_BY_SIGNAL,))]
        },
        "ttlSecondsAfterFinished": pipeline.ttl_seconds_after_finished,
        **({"suspend": True} if placing.suspend else {}),
        "template": {
            "metadata": template_metadata(labels, need, placing),
            "spec": {
                "activeDeadlineSeconds": _deadline(context, pipeline),
                **placing.spec,
                **pod_spec(context, _program(context, campaign, pipeline, part), need, pipeline.resources),
                **_affinities(placing, need),
            },
        },
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def template_metadata(labels: Mapping[str, str], need: PodNeed, placing: Placing) -> dict[str, Any]:
    """The metadata of a pod template."""
    found: dict[str, Any] = {"labels": {**labels, **placing.pod_labels}}
    if need.annotations:
        found["annotations"] = dict(need.annotations)
    return found


def _affinities(placing: Placing, need: PodNeed) -> Mapping[str, Any]:
    """Both affinities, where the need names nodes and the placing other pods."""
    found = {**placing.spec.get("affinity", {}), **need.spec.get("affinity", {})}
    return {"affinity": found} if found else {}


def _work(context: Context, campaign: Campaign, pipeline: Pipeline, part: Part, about: str) -> Work:
    most = min(campaign.window.max, part.indexes)
    return Work(
        about=about,
        least=min(campaign.window.min, most),
        most=most,
        lane=campaign.priority,
        preemptible=lane_preemptible(context, campaign.priority),
        topology=pipeline.topology,
        elastic=True,
        together=labels_of(campaign=campaign.name),
    )


def _program(
    context: Context, campaign: Campaign, pipeline: Pipeline, part: Part, *, prepare: bool = False
) -> Program:
    credentials, folder = bucket_access(context)
    files = (
        (pipeline_map(pipeline), RECIPE_FILE),
        (settings_name(campaign.name), SETTINGS_FILE),
        (volumes_name(campaign.name, part), VOLUMES_FILE),
    )
    sources = [{"configMap": {"name": name, "items": [{"key": key, "path": key}]}} for name, key in files]
    mounts = [Mount("assignment", ASSIGNMENT, {"projected": {"sources": sources}}), *folder]
    env = [*credentials, *plain_variables(pipeline.env)]
    if pipeline.runner == "image":
        return Program(
            pipeline.image, env=[*env, *secret_variables(pipeline.env)], mounts=mounts
        )  # its own entry reads what it needs
    secrets = secret_files(pipeline.env)
    bringer = context.platform.runner.image
    command = [*command_of(bringer)]
    for _, key in files:
        command += ["--assignment", f"{ASSIGNMENT}/{key}"]
    if secrets:
        command += ["--secrets", SECRETS]
    command += ["--prepare"] if prepare else ["--index", "$(JOB_COMPLETION_INDEX)"]
    return Program(pipeline.image, command, env, [*mounts, *secrets], in_workdir=True, bringer=bringer)


def _prepare_job(context: Context, campaign: Campaign, pipeline: Pipeline, part: Part) -> Object:
    """The Job that prepares the recipe, without a device: what it makes is in the bucket once and for all."""
    labels = labels_of(
        team=context.team.name, campaign=campaign.name, pipeline=pipeline.id, recipe=recipe_of(pipeline)
    )
    program = _program(context, campaign, pipeline, part, prepare=True)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{cut(campaign.name, 44)}-prepare-{recipe_of(pipeline)[:6]}",
            "namespace": context.namespace,
            "labels": labels,
        },
        "spec": {
            "backoffLimit": context.platform.defaults.retries,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {
                "rules": [DISRUPTED, _codes("FailJob", FINAL_CODES), _codes("Ignore", (ENDED_BY_SIGNAL,))]
            },
            "ttlSecondsAfterFinished": pipeline.ttl_seconds_after_finished,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "activeDeadlineSeconds": _deadline(context, pipeline),
                    **pod_spec(context, program, PodNeed(), pipeline.resources),
                },
            },
        },
    }


def _deadline(context: Context, pipeline: Pipeline) -> int:
    """After the runner's own deadline and the grace that it has, so that the runner ends first."""
    return pipeline.max_seconds + context.platform.defaults.grace_seconds + START_SECONDS


def _codes(action: str, codes: Sequence[int]) -> Mapping[str, Any]:
    return {
        "action": action,
        "onExitCodes": {"containerName": "worker", "operator": "In", "values": list(codes)},
    }


def _notes(campaign: Campaign, pipeline: Pipeline, parts: Sequence[Part]) -> Iterator[Note]:
    about = f"campaigns/{campaign.name}"
    if len(parts) > 1:
        words = f"it has {len(parts)} parts, each a Job with the window of its own"
        yield Note(about, words, "make the window narrower if they should not run side by side so wide")
    if any(isinstance(volume.source, FolderSource) for volume in campaign.volumes):
        words = "volumes lie in folders of the repository, and a pod has no repository"
        yield Note(about, words, "put the pages into an object store, and write `folder: s3://…`")
    if pipeline.runner == "image" and pipeline.steps:
        words = f"the image's own entry runs the steps, which it finds below {ASSIGNMENT}"
        yield Note(about, words, "its exit codes and its index are its own affair")
