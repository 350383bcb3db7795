"""The step `ocr`: printed (and with luck handwritten) text off a page, on processor cores.

Outputs: ``txt`` (plain text in reading order), ``alto.xml`` (ALTO 4: blocks, lines and words with their
places and confidence), ``words.json`` (the same as JSON). The weights are in the wheel of RapidOCR, so
there is nothing to fetch; the libraries are imported when the step is made, never by a check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from allotment.errors import did_you_mean
from allotment.running.images import open_image
from allotment.running.ocr.alto import as_alto
from allotment.running.ocr.order import in_reading_order
from allotment.running.ocr.text import PageText, as_json, as_text
from allotment.running.steps import Page, Step, StepContext, StepSettingsError

if TYPE_CHECKING:
    from allotment.running.ocr.reader import Reader

LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")  # xsd:language
LEAST_SIDE, MOST_SIDE = 320, 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """What a pipeline may set.

    ``language`` (such as ``sv``) is written into ALTO and JSON; the recogniser reads all its languages at
    once. Lines that are less sure than ``min_confidence`` are left out. Lines are looked for on the page
    made no larger than ``max_side`` pixels (they are read at full size): more finds smaller writing and
    takes longer.
    """

    language: str | None = None
    min_confidence: float = 0.5
    max_side: int = 2000


def create(settings: Mapping[str, Any], context: StepContext) -> Step:
    """The step, with its weights loaded."""
    checked = read_settings(settings)
    from allotment.running.ocr.reader import Reader, ReaderMissingError, software

    try:
        reader = Reader(threads=max(1, context.threads), longest_side=checked.max_side)
        return OcrStep(reader, checked, context.max_pixels, software())
    except ReaderMissingError as error:
        raise StepSettingsError(f"the step `ocr` cannot start: {error}") from error


class OcrStep:
    """Reads one page after another with one reader."""

    def __init__(
        self, reader: Reader, settings: Settings, max_pixels: int, software: tuple[tuple[str, str], ...]
    ) -> None:
        self._reader = reader
        self._settings = settings
        self._max_pixels = max_pixels
        self._software = software

    def __call__(self, page: Page, _earlier: Mapping[str, bytes]) -> dict[str, bytes]:
        """The page's text in its three forms; a page without text has them too."""
        image = open_image(page.data, self._max_pixels)
        sure = [line for line in self._reader.read(image) if line.confidence >= self._settings.min_confidence]
        text = PageText(
            width=image.width,
            height=image.height,
            blocks=in_reading_order(sure),
            language=self._settings.language,
        )
        return {
            "alto.xml": as_alto(text, source=page.source, number=page.number, software=self._software),
            "txt": as_text(text),
            "words.json": as_json(text, page.source),
        }


def read_settings(settings: Mapping[str, Any]) -> Settings:
    """The settings of a pipeline's step, checked; raises `StepSettingsError` in words."""
    known = ("language", "max_side", "min_confidence")
    for name in settings:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise StepSettingsError(f"`ocr` has no setting `{name}`" + (f"; {hint}" if hint else ""))
    defaults = Settings()
    language = settings.get("language", defaults.language)
    if language is not None and not (isinstance(language, str) and LANGUAGE.fullmatch(language)):
        raise StepSettingsError(
            f"`language` is a language tag such as `sv` or `de-AT`, in quotes if it is `no`; not {language!r}"
        )
    confidence = settings.get("min_confidence", defaults.min_confidence)
    if not _is_number(confidence) or not 0 <= confidence <= 1:
        raise StepSettingsError(f"`min_confidence` is a number from 0 to 1, not {confidence!r}")
    side = settings.get("max_side", defaults.max_side)
    if not _is_number(side) or not LEAST_SIDE <= side <= MOST_SIDE or side != int(side):
        raise StepSettingsError(
            f"`max_side` is a whole number of pixels from {LEAST_SIDE} to {MOST_SIDE:,}, not {side!r}"
        )
    return Settings(language=language, min_confidence=float(confidence), max_side=int(side))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
