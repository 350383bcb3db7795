"""Where everything lies in the bucket: one function a key, and every name checked before it becomes one.

The layout is the contract between runners, engines and readers (the reference page "The bucket"). Names come
from a team's files and from steps; a name that could leave its folder, hide, or mean something of its own is
refused here, whoever lets it come so far.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from allotment.errors import AllotmentError

RESERVED_PIPELINES = frozenset({"events"})
RESERVED_VOLUMES = frozenset({"cache"})
RESERVED_LABELS = frozenset({"refused"})

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_RECIPE = re.compile(r"[0-9a-f]{12}", re.ASCII)
_PAGE = re.compile(r"\d{4,12}", re.ASCII)
_OUTPUT = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,63})", re.ASCII)
_ATTEMPT = re.compile(r"(\d{1,9})(\.end)?\.json", re.ASCII)
_LEASE = re.compile(r"(\d{1,9})\.json", re.ASCII)
_REFUSAL = re.compile(r"(\d{4,12})\.refused(?:-(\d{1,6}))?\.json", re.ASCII)
_RECORD = re.compile(r"(\d{4,12})\.json", re.ASCII)
_EVENTS = re.compile(r"([^/]+)-(\d{8})()\.jsonl", re.ASCII)
_MERGED = re.compile(r"([^/]+)-(\d{8})-(\d{8})\.merged\.jsonl", re.ASCII)
_COMPLETE = re.compile(r"(complete)/([^/]+)\.(\d{1,12})\.(\d{1,12})", re.ASCII)
_ATTEMPTED = re.compile(r"(failed|retried)/([^/]+)\.(\d{1,9})()", re.ASCII)


class NameRefused(AllotmentError):  # noqa: N818 - a verdict on the name
    """This name can be no part of a key."""


class AttemptKey(NamedTuple):
    """What an object below ``attempts/`` is: the start or the end of an attempt."""

    number: int
    end: bool


class MarkKey(NamedTuple):
    """What an object below ``_index/`` says: of a volume that it is complete with so many pages, of which so
    many failed; or that its n-th attempt failed for good, or was to be followed by another."""

    kind: str
    volume: str
    number: int
    failed: int = 0


@dataclass(frozen=True)
class RecipeKeys:
    """The keys of one recipe of one pipeline of one team."""

    team: str
    pipeline: str
    recipe: str

    def __post_init__(self) -> None:
        check_name(self.team, "team")
        check_name(self.pipeline, "pipeline", RESERVED_PIPELINES)
        if not _RECIPE.fullmatch(self.recipe):
            raise _refused(self.recipe, "recipe", "12 hexadecimal digits")

    @cached_property
    def prefix(self) -> str:
        """Below it lie the volumes."""
        return f"{self.team}/{self.pipeline}/{self.recipe}/"

    @property
    def cache(self) -> str:
        """Below it lies what `prepare` made."""
        return f"{self.prefix}cache/"

    @property
    def index(self) -> str:
        """Below it lie marks, whose names alone say how volumes stand; no volume can have this name."""
        return f"{self.prefix}_index/"

    @property
    def prepared(self) -> CacheKeys:
        """The keys of what `prepare` made."""
        return CacheKeys(self.cache)

    def volume(self, volume: str) -> VolumeKeys:
        """The keys of one volume."""
        return VolumeKeys(self, volume)


@dataclass(frozen=True)
class CacheKeys:
    """The keys of what `prepare` made for a recipe."""

    prefix: str

    @property
    def marker(self) -> str:
        """Written last: it names the files and their parts."""
        return f"{self.prefix}prepared.json"

    @property
    def parts(self) -> str:
        """Below it lie parts of files, by the digest of their bytes."""
        return f"{self.prefix}parts/"

    @property
    def leases(self) -> str:
        """Below it lie the leases of who prepares, the highest number last."""
        return f"{self.prefix}leases/"

    def part(self, digest: str) -> str:
        """A part of a file, by the SHA-256 of its bytes."""
        if not _DIGEST.fullmatch(digest):
            raise _refused(digest, "part", "64 hexadecimal digits")
        return f"{self.parts}{digest}"

    def lease(self, number: int) -> str:
        """Who prepares, by the n-th lease."""
        return f"{self.leases}{number}.json"


@dataclass(frozen=True)
class VolumeKeys:
    """The keys of one volume under one recipe."""

    of: RecipeKeys
    volume: str

    def __post_init__(self) -> None:
        check_name(self.volume, "volume", RESERVED_VOLUMES)

    @cached_property
    def prefix(self) -> str:
        """Below it lies everything of the volume."""
        return f"{self.of.prefix}{self.volume}/"

    @cached_property
    def manifest(self) -> str:
        """Written last: the volume is complete."""
        return f"{self.prefix}manifest.json"

    @cached_property
    def pages(self) -> str:
        """Below it lie the outputs and records of pages."""
        return f"{self.prefix}pages/"

    @cached_property
    def attempts(self) -> str:
        """Below it lie the starts and ends of attempts."""
        return f"{self.prefix}attempts/"

    @cached_property
    def leases(self) -> str:
        """Below it lie the leases, the highest number last."""
        return f"{self.prefix}leases/"

    def record(self, page: str) -> str:
        """A page's record, written last of its objects: the page is done."""
        return f"{self.pages}{_checked_page(page)}.json"

    def refusal(self, page: str, number: int = 1) -> str:
        """Why a page is refused; a later number when its source was changed and refused again."""
        return f"{self.pages}{_checked_page(page)}.refused{'' if number == 1 else f'-{number}'}.json"

    def output(self, page: str, output: str) -> str:
        """An output of a page, as ``<label>.<name>``."""
        return f"{self.pages}{_checked_page(page)}.{output}"

    def attempt(self, number: int) -> str:
        """That the volume was started for the n-th time, or that somebody asked for a retry."""
        return f"{self.attempts}{number}.json"

    def attempt_end(self, number: int) -> str:
        """How the n-th attempt ended."""
        return f"{self.attempts}{number}.end.json"

    def complete_mark(self, pages: int, failed: int) -> str:
        """That the volume is complete, with so many pages, of which so many failed."""
        return f"{self.of.index}complete/{self.volume}.{pages}.{failed}"

    def failed_mark(self, number: int) -> str:
        """That the volume failed for good in its n-th attempt."""
        return f"{self.of.index}failed/{self.volume}.{number}"

    def retried_mark(self, number: int) -> str:
        """That somebody asks for a retry, by an attempt's number that is yet to be written."""
        return f"{self.of.index}retried/{self.volume}.{number}"

    def lease(self, number: int) -> str:
        """Who holds the volume, by the n-th lease."""
        return f"{self.leases}{number}.json"


@dataclass(frozen=True)
class ProgramKeys:
    """Where it lies who runs a fleet or a gang: in a folder that no pipeline can have."""

    team: str
    name: str

    @cached_property
    def leases(self) -> str:
        """Below it lie the leases."""
        return f"{check_name(self.team, 'team')}/_programs/{check_name(self.name, 'program')}/leases/"

    def lease(self, number: int) -> str:
        """The key of the n-th lease."""
        return f"{self.leases}{number}.json"


def events_prefix(team: str, campaign: str) -> str:
    """Below it lie a campaign's events."""
    return f"{check_name(team, 'team')}/events/{check_name(campaign, 'campaign')}/"


def events_object(team: str, campaign: str, writer: str, number: int) -> str:
    """The n-th object of one writer's events; numbers have eight digits, so that names sort as they grow."""
    return f"{events_prefix(team, campaign)}{check_name(writer, 'writer')}-{number:08d}.jsonl"


def merged_events_object(team: str, campaign: str, writer: str, first: int, last: int) -> str:
    """What still matters of one writer's events from the first to the last object, in one."""
    writer = check_name(writer, "writer")
    return f"{events_prefix(team, campaign)}{writer}-{first:08d}-{last:08d}.merged.jsonl"


def parse_events_object(key: str, prefix: str) -> tuple[str, int, int] | None:
    """The writer, first and last number of an object of events, or None for something foreign."""
    match = _MERGED.fullmatch(key, len(prefix)) or _EVENTS.fullmatch(key, len(prefix))
    return (match[1], int(match[2]), int(match[3] or match[2])) if match else None


def probe_key(team: str, unique: str) -> str:
    """Where a bucket is tried out: a folder of its own for each trial, which no pipeline can have."""
    return f"{check_name(team, 'team')}/_probe/{check_name(unique, 'probe')}/probe"


def check_name(name: str, what: str, reserved: frozenset[str] = frozenset()) -> str:
    """The name, if it can be part of a key."""
    if not _NAME.fullmatch(name):
        raise _refused(
            name, what, "1 to 128 letters, digits, `.`, `_` or `-`, with a letter or digit at both ends"
        )
    if name in reserved:
        raise NameRefused(
            f"the {what} {name!r} has a name that the bucket keeps for itself", remedy="rename it"
        )
    return name


def check_output(name: str) -> str:
    """The name of a step's output, such as ``alto.xml``."""
    if not _OUTPUT.fullmatch(name):
        raise _refused(name, "output", "1 to 128 letters, digits, `.`, `_` or `-`, no dot at either end")
    return name


def check_label(label: str) -> str:
    """The label of a step: the part of its outputs' names that says who made them."""
    if not _LABEL.fullmatch(label) or label in RESERVED_LABELS or _REFUSAL.fullmatch(f"0001.{label}.json"):
        raise _refused(label, "step", "up to 64 letters, digits, `_` or `-`, and not `refused`")
    return label


def parse_attempt(key: str, prefix: str) -> AttemptKey | None:
    """What an object below ``attempts/`` is, or None for something foreign."""
    match = _ATTEMPT.fullmatch(key, len(prefix))
    return AttemptKey(int(match[1]), match[2] is not None) if match else None


def parse_lease(key: str, prefix: str) -> int | None:
    """The number of a lease, or None for something foreign."""
    match = _LEASE.fullmatch(key, len(prefix))
    return int(match[1]) if match else None


def parse_mark(key: str, prefix: str) -> MarkKey | None:
    """What a mark says, or None for something foreign."""
    match = _COMPLETE.fullmatch(key, len(prefix)) or _ATTEMPTED.fullmatch(key, len(prefix))
    return MarkKey(match[1], match[2], int(match[3]), int(match[4] or 0)) if match else None


def parse_record(key: str, prefix: str) -> str | None:
    """The page whose record this is, or None for another object of a page."""
    match = _RECORD.fullmatch(key, len(prefix))
    return match[1] if match else None


def parse_refusal(key: str, prefix: str) -> tuple[str, int] | None:
    """The page and the number of a refusal, or None for another object of a page."""
    match = _REFUSAL.fullmatch(key, len(prefix))
    return (match[1], int(match[2] or 1)) if match else None


def parse_output(key: str, prefix: str) -> tuple[str, str] | None:
    """The page and ``<label>.<name>`` of an object of a page that is no record."""
    page, dot, output = key[len(prefix) :].partition(".")
    return (page, output) if dot and "/" not in output and _PAGE.fullmatch(page) else None


def _checked_page(page: str) -> str:
    if not _PAGE.fullmatch(page):
        raise _refused(page, "page", "a number with at least four digits")
    return page


def _refused(name: str, what: str, rule: str) -> NameRefused:
    return NameRefused(f"{name!r:.150} cannot be the name of a {what}", remedy=f"a name is {rule}")
