"""The three documents that tell the runner in a pod what to do, each in a ConfigMap of its own.

The recipe (image, steps, what prepares them) is frozen once it is used; a part's volumes are append-only, so
a list that is out never changes; the platform's settings may. ``python -m allotment.running`` takes the three
files as one assignment.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.names import job_name, labels_of, pipeline_map
from allotment.kubernetes.render.parts import Part
from allotment.kubernetes.render.rendered import Object
from allotment.repository.model import Campaign, Pipeline, StepCall
from allotment.repository.recipe import recipe_of

WORKDIR: Final = "/workdir"
RECIPE_FILE: Final = "pipeline.json"
SETTINGS_FILE: Final = "settings.json"
VOLUMES_FILE: Final = "volumes.json"


def recipe_map(context: Context, pipeline: Pipeline) -> Object:
    """The ConfigMap of a recipe: immutable, and another recipe has another name."""
    recipe = {
        "pipeline": pipeline.id,
        "recipe": recipe_of(pipeline),
        "image": pipeline.image,
        "prepare": None if pipeline.prepare is None else _step(pipeline.prepare),
        "steps": [_step(call) for call in pipeline.steps],
    }
    labels = labels_of(team=context.team.name, pipeline=pipeline.id, recipe=recipe_of(pipeline))
    return config_map(context, pipeline_map(pipeline), labels, {RECIPE_FILE: _pretty(recipe)}, immutable=True)


def settings_name(campaign: str) -> str:
    """The ConfigMap of a campaign's settings."""
    return f"{job_name(campaign)}-settings"


def settings_map(context: Context, campaign: Campaign, pipeline: Pipeline) -> Object:
    """The ConfigMap of what the platform says: bucket, limits, network, the place in the pod."""
    labels = labels_of(team=context.team.name, campaign=campaign.name, pipeline=pipeline.id)
    data = {SETTINGS_FILE: _pretty(settings_data(context, campaign.name, pipeline))}
    return config_map(context, settings_name(campaign.name), labels, data)


def settings_data(context: Context, campaign: str, pipeline: Pipeline) -> Mapping[str, Any]:
    """What the platform says, as the runner reads it."""
    platform, defaults, sources = context.platform, context.platform.defaults, context.platform.sources
    return {
        "format_version": 1,
        "team": context.team.name,
        "campaign": campaign,
        "root": WORKDIR,
        "bucket": platform.bucket,
        "bucket_options": dict(platform.bucket_options),
        "limits": {
            "max_seconds": pipeline.max_seconds,
            "page_seconds": defaults.page_seconds,
            "grace_seconds": defaults.grace_seconds,
            "retries": defaults.retries,
            "reclaims": defaults.reclaims,
            "look_ahead": defaults.look_ahead,
        },
        "network": {
            "hosts": list(sources.hosts),
            "private": list(sources.private),
            "buckets": list(sources.buckets),
        },
        "worker": {
            "threads": max(1, math.floor(pipeline.resources.cpu or 1)),
            "masked": sorted(each.name for each in pipeline.env if each.secret is not None),
        },
    }


def volumes_name(campaign: str, part: Part) -> str:
    """The ConfigMap of a part's volumes."""
    return f"{job_name(campaign, part.number)}-volumes"


def volumes_map(context: Context, campaign: Campaign, part: Part) -> Object:
    """The ConfigMap of a part's volumes: immutable."""
    labels = labels_of(
        team=context.team.name, campaign=campaign.name, pipeline=campaign.pipeline, part=str(part.number)
    )
    data = {VOLUMES_FILE: part.text}
    return config_map(context, volumes_name(campaign.name, part), labels, data, immutable=True)


def config_map(
    context: Context,
    name: str,
    labels: Mapping[str, str],
    data: Mapping[str, str],
    *,
    immutable: bool = False,
) -> Object:
    """A ConfigMap of the team's namespace."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": context.namespace, "labels": dict(labels)},
        **({"immutable": True} if immutable else {}),
        "data": dict(data),
    }


def _step(call: StepCall) -> Mapping[str, Any]:
    return {"step": call.step, "settings": dict(call.settings)}


def _pretty(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
