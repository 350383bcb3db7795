"""What `prepare` is, for who writes one: work that is done once for a recipe, before any device is held.

A pipeline names it beside its steps, to fetch weights, to build an index, to compile a model:

    prepare: {step: models:fetch, settings: {name: our-model}}

It is a function ``prepare(settings, context)`` that fills ``context.folder`` with files and returns nothing.
A package offers one through the entry points of the group ``allotment.prepare``; a repository names its own
as ``module:function``; ``command`` runs a program. What is in the folder afterwards goes into the bucket,
once for the recipe, and comes to each machine once, as ``StepContext.cache``, a folder that steps only read.

It may be killed at any moment and is then run again from the beginning with an empty folder: nothing of it
counts before all of it is in the bucket. Raise `PrepareSettingsError` for settings that can never work;
anything else that is raised is tried again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from allotment.running.steps import StepSettingsError

__all__ = ["Prepare", "PrepareContext", "PrepareSettingsError"]

PrepareSettingsError = StepSettingsError


@dataclass(frozen=True, slots=True)
class PrepareContext:
    """What a preparation may know of where it runs.

    ``folder`` is empty and to be filled; ``workdir`` is another empty folder, thrown away afterwards;
    ``threads`` is how many it should use. No device is held.
    """

    folder: Path
    workdir: Path
    threads: int = 1


class Prepare(Protocol):
    """Fills ``context.folder``; raises `PrepareSettingsError` for settings that can never work."""

    def __call__(self, settings: Mapping[str, Any], context: PrepareContext, /) -> None:
        """Do it."""
