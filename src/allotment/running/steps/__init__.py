"""What a step is, for who writes one.

A step is made once by a factory, ``create(settings, context)``, which may load models and take its time, and
is then called for one page after another. A package offers a factory through the entry points of the group
``allotment.steps``; a repository names its own as ``module:function``. Given the same page a step must give
the same bytes: no clock, no random numbers, no order that depends on threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from allotment.running.page import Page, PageRefused

__all__ = ["Page", "PageRefused", "Step", "StepContext", "StepFactory", "StepSettingsError"]

DEFAULT_MAX_PIXELS = 200_000_000


class Step(Protocol):
    """Work on one page. ``earlier`` has what the earlier steps made of it, by ``<label>.<name>``."""

    def __call__(self, page: Page, earlier: Mapping[str, bytes], /) -> Mapping[str, bytes]:
        """The page's outputs by name, such as ``txt`` or ``alto.xml``; raises `PageRefused` for good."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """What a step may know of where it runs.

    ``threads`` is how many it should use, ``devices`` what the claim was given as ``driver/pool/device``,
    ``workdir`` an empty folder of its own that lives as long as the worker, ``max_pixels`` the largest page
    image to decode, ``page_seconds`` the time that one page may take. ``cache`` is the folder that the
    pipeline's `prepare` filled, to be read only; None without one.
    """

    threads: int = 1
    devices: tuple[str, ...] = ()
    workdir: Path = Path()
    max_pixels: int = DEFAULT_MAX_PIXELS
    page_seconds: float | None = None
    cache: Path | None = None


class StepFactory(Protocol):
    """Makes a step of its settings; raises `StepSettingsError` for settings that can never work."""

    def __call__(self, settings: Mapping[str, Any], context: StepContext, /) -> Step:
        """The step, ready for its first page."""


class StepSettingsError(Exception):
    """A pipeline's step or its settings cannot work, whatever is tried again.

    The message is one sentence for a person: which setting, what is wrong, what to write instead.
    """
