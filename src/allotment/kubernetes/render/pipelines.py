"""A pipeline as objects: the ConfigMap of its recipe; and what a cluster will not take of it."""

from __future__ import annotations

from collections.abc import Iterator

from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.documents import recipe_map
from allotment.kubernetes.render.pods import PLACEHOLDER
from allotment.kubernetes.render.rendered import Note, Rendered
from allotment.repository.model import Pipeline


def pipeline_objects(context: Context, pipeline: Pipeline) -> Rendered:
    """The ConfigMap of a pipeline's recipe."""
    return Rendered((recipe_map(context, pipeline),), tuple(_notes(pipeline)))


def _notes(pipeline: Pipeline) -> Iterator[Note]:
    if pipeline.image is None:
        yield no_image(f"pipelines/{pipeline.id}")


def no_image(about: str) -> Note:
    """That a file names no image, which this machine does without."""
    return Note(
        about,
        f"no image is named, so {PLACEHOLDER.partition('@')[0]} stands in its place",
        "name one by digest, NAME@sha256:…: `allot apply` refuses the placeholder",
        "warning",
    )
