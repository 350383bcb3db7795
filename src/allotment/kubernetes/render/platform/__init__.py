"""What a cluster needs before a team can use it, made of the platform's file alone."""

from __future__ import annotations

from dataclasses import replace

from allotment.kubernetes.render.context import KUBERNETES
from allotment.kubernetes.render.platform.admission import admission_objects
from allotment.kubernetes.render.platform.classes import class_objects
from allotment.kubernetes.render.platform.controller import controller_objects
from allotment.kubernetes.render.platform.kai import kai_objects
from allotment.kubernetes.render.platform.kueue import kueue_objects
from allotment.kubernetes.render.platform.lanes import lane_objects
from allotment.kubernetes.render.platform.namespaces import namespace_objects
from allotment.kubernetes.render.rendered import Rendered, together
from allotment.platform.model import Platform

__all__ = ["render_platform"]

PARTS = (namespace_objects, lane_objects, class_objects, kueue_objects, kai_objects, admission_objects)


def render_platform(
    platform: Platform, scheduler: str | None = None, *, controller: str | None = None
) -> Rendered:
    """The platform's objects, for the scheduler that it names or for another.

    ``controller`` is the image of the window controller, where it is to run in the cluster.
    """
    chosen = replace(platform, engine=KUBERNETES, scheduler=scheduler or platform.scheduler)
    parts = [part(chosen) for part in PARTS]
    if controller is not None:
        parts.append(controller_objects(chosen, controller))
    return together(parts).sorted()
