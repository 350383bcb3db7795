"""The shape of the platform's file: every key of `Platform`, with what may stand under it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from allotment.devices.catalogue import find
from allotment.devices.server import is_version, outside_words
from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Choice, Flag, Integer, Key, ListOf, Number, Record, TableOf, Text
from allotment.errors import Severity, UsageError
from allotment.platform.addresses import look_address
from allotment.platform.bucket_folders import look_bucket_folder
from allotment.platform.bucket_options import BUCKET_OPTIONS
from allotment.platform.durations import Duration
from allotment.platform.hosts import read_rule
from allotment.platform.images import IMAGE_BY_DIGEST, look_image_repository
from allotment.platform.model import (
    ENGINES,
    REF,
    SCHEDULERS,
    Card,
    Defaults,
    Lane,
    PodRunner,
    Prices,
    Queue,
    Size,
    Sources,
    Team,
    TopologyLevel,
    Versions,
)
from allotment.platform.names import (
    look_label,
    look_label_key,
    look_printable,
    look_qualified,
    look_word_key,
)
from allotment.platform.need import NO_RESOURCES, SHARING
from allotment.platform.need_shapes import NEED, RESOURCES
from allotment.platform.paths import look_folder

VERSION: Final = re.compile(r"v?[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,6})?")
DAY: Final = 86_400
BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Format:
    """The version of the file's format, of which there is one."""

    def read(self, value: object, place: Place) -> int:
        """The version."""
        number = Integer().read(value, place)
        if number != 1:
            message = f"this Allotment reads format 1 of the platform's file, and this is format {number}"
            place.refuse("unknown-format", message, "use the release of Allotment that wrote it")
        return number


def _look_bucket(text: str, place: Place) -> None:
    look_printable(text, place)
    scheme, mark, rest = text.partition("://")
    if not mark:
        return
    if "@" in rest:
        place.refuse(
            "secret-in-file", "the bucket's address names a user", "give credentials by the environment"
        )
    name, _, prefix = rest.partition("/")
    parts = prefix.rstrip("/").split("/") if prefix else []
    if scheme != "s3" or not BUCKET.fullmatch(name) or any(part in {"", ".", ".."} for part in parts):
        place.refuse("bad-bucket", f"`{shown(text)}` is no bucket", "write a folder, or s3://bucket/prefix")


def look_template(text: str, place: Place) -> None:
    """Refuse what does not make one address or folder of a reference, on a host of the platform's choice."""
    look_printable(text, place)
    if text.count(REF) != 1 or not set("{}").isdisjoint(text.replace(REF, "")):
        hint = "write {ref} once where a volume's reference goes, such as scans/{ref}"
        place.refuse("bad-template", f"`{shown(text)}` has no place for a reference, or several", hint)
    if "://" not in text:
        look_folder(text, place)
        return
    if REF in text.partition("://")[2].partition("/")[0]:
        message = f"`{shown(text)}` lets a volume choose the host"
        place.refuse("bad-template", message, "begin it with https:// and a host, and put {ref} in the path")
    look_address(text.replace(REF, "R1"), place)


def _look_host(text: str, place: Place) -> None:
    if read_rule(text) is None:
        hint = "write a name such as iiif.example.org, with http:// before it if it knows no https"
        place.refuse("bad-name", f"`{shown(text)}` is no host", hint)


def _look_network(text: str, place: Place) -> None:
    from ipaddress import ip_network

    try:
        ip_network(text)
    except ValueError as error:
        message = f"`{shown(text)}` is no network: {shown(str(error))}"
        place.refuse("bad-text", message, "write it as 10.0.0.0/8")


def _look_version(text: str, place: Place) -> None:
    if not VERSION.fullmatch(text):
        place.refuse("bad-text", f"`{shown(text)}` is no release", 'write it as "1.36"')


def _look_kubernetes(text: str, place: Place) -> None:
    if not is_version(text):
        place.refuse("bad-text", f"`{shown(text)}` is no release of Kubernetes", 'write it as "1.36"')
    if words := outside_words(text):
        hint = "what changed in between is not looked at: hold what is rendered against the cluster itself"
        place.found("unknown-kubernetes", words, hint, severity=Severity.WARNING)


def _queue(values: dict[str, Any], place: Place) -> Queue:
    queue = Queue(**values)
    if queue.limit is not None and queue.quota is not None and queue.limit < queue.quota:
        message = f"the limit ({queue.limit:g}) is below the quota ({queue.quota:g}) that is guaranteed"
        (place / "limit").refuse("bad-range", message, "raise the limit, or lower the quota")
    return queue


def _team(values: dict[str, Any], place: Place) -> Team:
    name = str(place.loc[-1])
    return Team(**{"namespace": name, **values, "name": name})


def _size(values: dict[str, Any], place: Place) -> Size:
    if not values:
        place.refuse("no-value", f"the size `{place.loc[-1]}` says nothing", "give it `gpu` or `resources`")
    return Size(values.get("gpu"), values.get("resources", NO_RESOURCES))


def _card(values: dict[str, Any], _place: Place) -> Card:
    return Card(values["card"], values["class"])


QUEUE: Final = Record(
    {
        "quota": Key(Number(), nullable=True),
        "weight": Key(Number()),
        "limit": Key(Number(), nullable=True),
    },
    _queue,
)
TEAM: Final = Record(
    {
        "repository": Key(Text(look_printable), nullable=True),
        "namespace": Key(Text(look_label), nullable=True),
        "queue": Key(QUEUE),
        "secret": Key(Text(look_label), nullable=True),
    },
    _team,
)
LANE: Final = Record(
    {"value": Key(Integer(-(10**9), 10**9)), "preemptible": Key(Flag())},
    lambda values, _place: Lane(**values),
)
DEFAULTS: Final = Record(
    {
        "window": Key(Integer(1, 1_000_000)),
        "max_seconds": Key(Integer(1)),
        "ttl_seconds_after_finished": Key(Integer(1)),
        "retries": Key(Integer(0, 1000)),
        "reclaims": Key(Integer(0, 100_000)),
        "grace_seconds": Key(Integer(1, DAY)),
        "minimum_runtime": Key(Duration()),
        "look_ahead": Key(Integer(1, 10_000)),
        "page_seconds": Key(Integer(1)),
    },
    lambda values, _place: Defaults(**values),
)
VERSIONS: Final = Record(
    {
        "kubernetes": Key(Text(_look_kubernetes)),
        **{name: Key(Text(_look_version)) for name in ("kueue", "kai")},
    },
    lambda values, _place: Versions(**values),
)
SIZE: Final = Record({"gpu": Key(NEED), "resources": Key(RESOURCES)}, _size)
CARD: Final = Record(
    {
        "card": Key(Text(look_printable), required="name the card by its id in the catalogue"),
        "class": Key(Text(look_qualified), required="name the device class that stands for it"),
    },
    _card,
)
LEVEL: Final = Record(
    {
        "name": Key(Text(look_label), required="give the level a name, such as rack"),
        "label": Key(Text(look_qualified), required="give the label of the nodes, such as example.org/rack"),
    },
    lambda values, _place: TopologyLevel(**values),
)
SOURCES: Final = Record(
    {
        "template": Key(Text(look_template), nullable=True),
        "hosts": Key(ListOf(Text(_look_host), empty=True)),
        "private": Key(ListOf(Text(_look_network), empty=True)),
        "buckets": Key(ListOf(Text(look_bucket_folder), empty=True)),
    },
    lambda values, _place: Sources(**values),
)
POD_RUNNER: Final = Record(
    {"image": Key(IMAGE_BY_DIGEST, nullable=True)},
    lambda values, _place: PodRunner(**values),
)


def _prices(values: Mapping[str, Any]) -> Prices:
    """Prices by the ids of cards; of a card that the catalogue does not know, by its name."""
    hour = {_card_id(name): price for name, price in values.get("hour", {}).items()}
    return Prices(**{**values, "hour": hour})


def _card_id(name: str) -> str:
    try:
        return find(name).id
    except UsageError:
        return name


PRICES: Final = Record(
    {
        "currency": Key(Text(look_printable, longest=10)),
        "hour": Key(TableOf(Number(), look_word_key)),
    },
    lambda values, _place: _prices(values),
)


@cache
def platform_record() -> Record[Mapping[str, Any]]:
    """The whole file."""
    return Record(
        {
            "format": Key(Format()),
            "engine": Key(Choice(ENGINES, "engine")),
            "scheduler": Key(Choice(SCHEDULERS, "scheduler")),
            "versions": Key(VERSIONS),
            "bucket": Key(Text(_look_bucket)),
            "bucket_options": Key(BUCKET_OPTIONS),
            "teams": Key(TableOf(TEAM, look_label_key, empty=False)),
            "lanes": Key(TableOf(LANE, look_label_key, empty=False)),
            "defaults": Key(DEFAULTS),
            "sizes": Key(TableOf(SIZE, look_word_key)),
            "default_size": Key(Text(), nullable=True),
            "cards": Key(TableOf(CARD, look_word_key)),
            "sharing": Key(ListOf(Choice(SHARING, "way of sharing a card"))),
            "topology": Key(ListOf(LEVEL, empty=True)),
            "sources": Key(SOURCES),
            "images": Key(ListOf(Text(look_image_repository), empty=True)),
            "runner": Key(POD_RUNNER),
            "prices": Key(PRICES),
        },
        lambda values, _place: values,
    )
