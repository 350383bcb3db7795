"""What a cluster needs before a team can use it, made of the platform's file alone."""

from __future__ import annotations

from dataclasses import replace

from allotment.kubernetes.render.context import KUBERNETES
from allotment.kubernetes.render.platform.admission import admission_objects
from allotment.kubernetes.render.platform.classes import class_objects
from allotment.kubernetes.render.platform.kai import kai_objects
from allotment.kubernetes.render.platform.kueue import kueue_objects
from allotment.kubernetes.render.platform.lanes import lane_objects
from allotment.kubernetes.render.platform.namespaces import namespace_objects
from allotment.kubernetes.render.rendered import Rendered, together
from allotment.platform.model import Platform

__all__ = ["render_platform"]

PARTS = (namespace_objects, lane_objects, class_objects, kueue_objects, kai_objects, admission_objects)


def render_platform(platform: Platform, scheduler: str | None = None) -> Rendered:
    """The platform's objects, for the scheduler that it names or for another."""
    chosen = replace(platform, engine=KUBERNETES, scheduler=scheduler or platform.scheduler)
    return together(part(chosen) for part in PARTS).sorted()
