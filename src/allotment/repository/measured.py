"""`measured.yaml`: what pipelines were seen to use of a card, kept beside the files that rely on it.

A fraction, time-slicing, MPS and shares keep nobody out of a neighbour's memory, so a pipeline may use them
only where its use of memory was measured and is steady. `allot measure` writes this file from the bucket's
records, the team commits it, and a check reads it without a bucket. An entry holds for one recipe on one kind
of card: another recipe uses other memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Final

from allotment.documents import Document, scan_document
from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.shapes import Choice, Integer, Key, ListOf, Number, Record, Text
from allotment.errors import Finding, Position
from allotment.platform.need_shapes import Amount
from allotment.platform.paths import is_within
from allotment.quantities import MI, format_bytes, format_gi

FILE: Final = "measured.yaml"
FORMAT: Final = 1
BY_PROCESS: Final = "process"
BY_CARD: Final = "card"
LEAST_PAGES: Final = 20
LEAST_STEADINESS: Final = 0.8
SPARE: Final = 10
"""A worker gets its measured peak and one part in so many more."""

_RECIPE: Final = re.compile(r"[0-9a-f]{12}")
_MOMENT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


@dataclass(frozen=True, slots=True)
class PageSeconds:
    """How long pages took in the steps: half of them at most ``p50``, 95 of 100 at most ``p95``."""

    p50: float
    p95: float
    max: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What one recipe of a pipeline used of one kind of card.

    ``peak`` is the most device memory of any worker, in bytes. ``steadiness`` is 1 when every page and every
    volume used as much, and falls to 0: the less of the middle page's peak and of the lowest volume's peak,
    as a part of ``peak``. ``device_wait`` is the part of the time that the card waited for pages. ``told_by``
    says whether the driver named the worker's own processes, or only what the whole card had in use.
    """

    pipeline: str
    recipe: str
    card: str
    peak: int
    steadiness: float
    volumes: int
    pages: int
    page_seconds: PageSeconds
    device_wait: float
    measured: str
    told_by: str = BY_PROCESS

    @property
    def room(self) -> int:
        """What a worker should be given: its peak and a tenth, in whole MiB."""
        return _whole(-(-(self.peak * (SPARE + 1)) // SPARE))

    def why_not_steady(self) -> str | None:
        """Why a part of a card cannot rest on this, with the figures; None where it can."""
        if self.pages < LEAST_PAGES:
            return f"only {_pages(self.pages)} measured on {self.card}, and it takes {LEAST_PAGES}"
        if self.steadiness < LEAST_STEADINESS:
            return (
                f"its use of memory is not steady on {self.card}: most pages, or some volumes, use "
                f"{self.steadiness:.0%} of the peak of {format_gi(self.peak)}, and it takes "
                f"{LEAST_STEADINESS:.0%} ({self.pages} pages of {self.volumes} volumes)"
            )
        return None


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """The entries of `measured.yaml`, in the order of the file."""

    path: Path = Path(FILE)
    entries: tuple[Measured, ...] = ()
    document: Document | None = field(default=None, repr=False, compare=False)

    def of_recipe(self, pipeline: str, recipe: str) -> tuple[Measured, ...]:
        """What was measured of a pipeline as it stands now, a card each."""
        return tuple(each for each in self.of_pipeline(pipeline) if each.recipe == recipe)

    def of_pipeline(self, pipeline: str) -> tuple[Measured, ...]:
        """What was measured of a pipeline, of any recipe."""
        return tuple(each for each in self.entries if each.pipeline == pipeline)

    def position(self, entry: Measured) -> Position:
        """Where the file has an entry."""
        if self.document is None or entry not in self.entries:
            return Position(str(self.path))
        return self.document.position(("measured", self.entries.index(entry)))


def scan_measured(root: Path) -> tuple[MeasuredFile, list[Finding]]:
    """The repository's `measured.yaml` and the findings about it; no file or a broken one has no entries."""
    path = root / FILE
    if path.is_symlink() and not is_within(str(path.resolve()), str(root.resolve())):
        message = "this is a link that leads out of the repository"
        return MeasuredFile(path), [
            Finding(Position(str(path)), "file-escapes", message, "put the file itself here")
        ]
    return scan_measured_file(path)


def scan_measured_file(path: Path) -> tuple[MeasuredFile, list[Finding]]:
    """Such a file wherever it is."""
    if not path.exists():
        return MeasuredFile(path), []
    document, findings = scan_document(path, name=str(path))
    if document is None:
        return MeasuredFile(path), findings
    check = Check(document, findings)
    try:
        entries = _FILE.read(document.value, check.root)
    except RefusedError:
        entries = ()
    return MeasuredFile(path, () if check.failed else entries, document), check.findings


def written(entries: Iterable[Measured]) -> str:
    """The file with these entries, sorted; texts that a reader of YAML may take for numbers are quoted."""
    lines = [f"format: {FORMAT}", "measured:"]
    for each in sorted(entries, key=_identity):
        p50, p95, most = (_number(value) for value in astuple(each.page_seconds))
        lines += [
            f"- pipeline: {_quoted(each.pipeline)}",
            f"  recipe: {_quoted(each.recipe)}",
            f"  card: {_quoted(each.card)}",
            f"  peak: {format_bytes(_whole(each.peak))}",
            f"  steadiness: {_number(each.steadiness)}",
            f"  volumes: {each.volumes}",
            f"  pages: {each.pages}",
            f"  page_seconds: {{p50: {p50}, p95: {p95}, max: {most}}}",
            f"  device_wait: {_number(each.device_wait)}",
            f"  told_by: {each.told_by}",
            f"  measured: {_quoted(each.measured)}",
        ]
    return "\n".join(lines) + "\n"


def merged(old: Iterable[Measured], new: Iterable[Measured]) -> tuple[Measured, ...]:
    """The old entries with the new ones in the place of those of the same recipe and card."""
    by_identity = {_identity(each): each for each in (*old, *new)}
    return tuple(by_identity[identity] for identity in sorted(by_identity))


def _identity(entry: Measured) -> tuple[str, str, str]:
    return entry.pipeline, entry.recipe, entry.card


def _pages(count: int) -> str:
    return "1 page was" if count == 1 else f"{count:,} pages were"


def _whole(amount: int) -> int:
    """Bytes up to whole MiB."""
    return -(-amount // MI) * MI


def _number(value: float) -> str:
    """A number without an exponent, which readers of YAML disagree on."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _look_recipe(text: str, place: Place) -> None:
    if not _RECIPE.fullmatch(text):
        hint = "it is what `allot measure` and `allot results` print, such as 0a1b2c3d4e5f"
        place.refuse("bad-text", f"`{shown(text)}` is no recipe: twelve hexadecimal digits", hint)


def _look_moment(text: str, place: Place) -> None:
    if not _MOMENT.fullmatch(text):
        hint = "write it as 2026-05-31T12:00:00Z"
        place.refuse("bad-text", f"`{shown(text)}` is no moment in UTC", hint)


class _Format:
    """The version of the file's format, of which there is one."""

    def read(self, value: object, place: Place) -> int:
        """The version."""
        number = Integer().read(value, place)
        if number != FORMAT:
            message = f"this Allotment reads format {FORMAT} of {FILE}, and this is format {number}"
            place.refuse("unknown-format", message, "use the release of Allotment that wrote it")
        return number


def _entry(values: dict[str, Any], _place: Place) -> Measured:
    return Measured(**values)


def _entries(values: Mapping[str, Any], place: Place) -> tuple[Measured, ...]:
    entries: tuple[Measured, ...] = values["measured"]
    first: dict[tuple[str, str, str], int] = {}
    for index, entry in enumerate(entries):
        if first.setdefault(_identity(entry), index) != index:
            message = f"`{shown(entry.pipeline)}` has two entries of one recipe on {shown(entry.card)}"
            (place / "measured" / index).found("measured-twice", message, "keep the newer one")
    return entries


_SECONDS: Final = Record(
    {name: Key(Number(), required="write the seconds") for name in ("p50", "p95", "max")},
    lambda values, _place: PageSeconds(**values),
)
_AS_WRITTEN: Final = "`allot measure --write measured.yaml` writes it"
_ENTRY: Final = Record(
    {
        "pipeline": Key(Text(), required=_AS_WRITTEN),
        "recipe": Key(Text(_look_recipe), required=_AS_WRITTEN),
        "card": Key(Text(), required=_AS_WRITTEN),
        "peak": Key(Amount(), required=_AS_WRITTEN),
        "steadiness": Key(Number(0, 1), required=_AS_WRITTEN),
        "volumes": Key(Integer(1), required=_AS_WRITTEN),
        "pages": Key(Integer(1), required=_AS_WRITTEN),
        "page_seconds": Key(_SECONDS, required=_AS_WRITTEN),
        "device_wait": Key(Number(0, 1), required=_AS_WRITTEN),
        "told_by": Key(Choice((BY_PROCESS, BY_CARD), "way to measure")),
        "measured": Key(Text(_look_moment), required=_AS_WRITTEN),
    },
    _entry,
)
_FILE: Final = Record(
    {
        "format": Key(_Format(), required=f"write `format: {FORMAT}`"),
        "measured": Key(ListOf(_ENTRY, empty=True), required=_AS_WRITTEN),
    },
    _entries,
)
