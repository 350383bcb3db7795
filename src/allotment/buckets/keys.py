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
_RECIPE = re.compile(r"[0-9a-f]{12}", re.ASCII)
_PAGE = re.compile(r"\d{4,12}", re.ASCII)
_OUTPUT = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?", re.ASCII)
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,63})", re.ASCII)
_ATTEMPT = re.compile(r"(\d{1,9})(\.end)?\.json", re.ASCII)
_LEASE = re.compile(r"(\d{1,9})\.json", re.ASCII)
_REFUSAL = re.compile(r"(\d{4,12})\.refused(?:-(\d{1,6}))?\.json", re.ASCII)
_RECORD = re.compile(r"(\d{4,12})\.json", re.ASCII)


class NameRefused(AllotmentError):  # noqa: N818 - a verdict on the name
    """This name can be no part of a key."""


class AttemptKey(NamedTuple):
    """What an object below ``attempts/`` is: the start or the end of an attempt."""

    number: int
    end: bool


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

    def volume(self, volume: str) -> VolumeKeys:
        """The keys of one volume."""
        return VolumeKeys(self, volume)


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

    def lease(self, number: int) -> str:
        """Who holds the volume, by the n-th lease."""
        return f"{self.leases}{number}.json"


def events_prefix(team: str, campaign: str) -> str:
    """Below it lie a campaign's events."""
    return f"{check_name(team, 'team')}/events/{check_name(campaign, 'campaign')}/"


def events_object(team: str, campaign: str, writer: str, number: int) -> str:
    """The n-th object of one writer's events; numbers have eight digits, so that names sort as they grow."""
    return f"{events_prefix(team, campaign)}{check_name(writer, 'writer')}-{number:08d}.jsonl"


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
