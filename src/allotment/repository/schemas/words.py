"""What each key means and what it is when left out, as an editor shows it.

Keys are named by their paths; ``*`` stands for an item of a list or a table. What a key is called in several
places and means everywhere is in `COMMON`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from allotment.platform.model import Defaults, Platform, Queue, Versions
from allotment.platform.need import Need
from allotment.repository.model import Campaign, Fleet

TITLES: Final[Mapping[str, tuple[str, str]]] = {
    "pipeline": (
        "A pipeline",
        "What to run on each page, and what one pod of it needs. The file's name is its id.",
    ),
    "campaign": (
        "A campaign",
        "Volumes, the pipeline to run over them, and how wide. The file's name is its name.",
    ),
    "fleet": ("A fleet", "Work that does not end: copies of one program that are kept up."),
    "gang": ("A gang", "Work of several workers that starts together or not at all."),
    "platform": (
        "A platform",
        "Teams, lanes, limits and sizes: what a platform decides for all of its teams.",
    ),
}

COMMON: Final[Mapping[str, str]] = {
    "id": "Not read: the file's name counts.",
    "name": "Not read: the file's name counts.",
    "image": "The image by its digest: registry/name@sha256:…",
    "gpu": "What one pod needs of cards. Left out: no card.",
    "resources": "What the pod itself needs, request and limit at once.",
    "memory": "Memory with its unit, such as 4Gi.",
    "workdir": "The work folder's size, such as 2Gi.",
    "cpu": "Processor cores, such as 4 or 500m.",
    "topology": "Pods of one campaign, fleet or gang together within one level of the cluster's layout.",
    "require": "A level that they must share.",
    "prefer": "A level that they share if that can be had.",
    "env": "Variables for the steps: plain values, or a key of a secret by name.",
    "secret": "The secret's name; its value is never written in a repository.",
    "key": "The key within the secret.",
    "count": "How many cards one pod has.",
    "card": "Which cards will do: ids of the catalogue, an architecture, or cc>=9.0.",
    "select": "An expression in CEL over `device`, passed on as it is.",
    "same": "What the cards of one pod share.",
    "sharing": "How a card may be shared, in order of liking.",
    "share": "Which part of one card: 0.5, or an amount of its memory.",
    "isolation": "`hardware` refuses every sharing that cannot keep it.",
    "config": "What the driver is told about the card.",
    "fallback": "Further needs, tried in order when the first cannot be had.",
    "priority": "A lane of the platform; left out, its first.",
    "preemptible": "Whether its devices may be taken for work that goes first.",
    "command": "The program and its arguments as a list; left out, the image's own.",
    "max_seconds": "The longest that one volume may take.",
    "ttl_seconds_after_finished": "How long a finished Job's object stays.",
    "step": "A step by its name: ocr, command, checksum, `module:function`, or one of the image's own.",
    "settings": "Settings of the step, passed on as they are.",
    "window": "How many pods run at once.",
}
NEED: Final[Mapping[str, str]] = {
    "gpu.memory": 'Memory of one card: 40Gi is at least that, ">40Gi" more than that, 20Gi..40Gi between.',
    "gpu.cpu": "Processor cores instead of a card.",
    "gpu.fallback.*.memory": 'Memory of one card: 40Gi is at least that, ">40Gi" more than that.',
    "gpu.fallback.*.cpu": "Processor cores instead of a card; on a cluster it is dropped, aloud.",
}
WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "pipeline": {
        **NEED,
        "steps": "What is done with each page, one after the other. Frozen once a campaign has used it.",
        "size": "A need that the platform has given a name, instead of `gpu` and `resources`.",
        "prepare": "A step that runs once before pages, while no card is held. Frozen once used.",
        "runner": "Who runs the steps: our runner, or the image's own entry.",
        "estimate": "What you think it takes, for plans, until it was measured. No part of the recipe.",
        "estimate.page": "How long most pages take on a card, such as 4s.",
        "estimate.pages": "How many pages a volume has, as a rule.",
        "estimate.load": "How long its models take to load, such as 30s.",
    },
    "campaign": {
        "pipeline": "The pipeline by its id: the stem of a file in pipelines/.",
        "volumes": "What to run over. Once used it only grows: what is added at the end is a further part.",
        "volumes.*.id": "The volume's id: a folder of the bucket.",
        "volumes.*.folder": "Pages are the files of this folder: of the repository, or s3://bucket/prefix.",
        "volumes.*.manifest": "Pages are those of this IIIF Presentation manifest.",
        "volumes.*.images": "Pages are at these addresses.",
        "window": "How many pods run at once: 8 is at most 8; {min: 2, max: 8} wishes for two.",
        "window.min": "How many are wished for at least.",
        "window.max": "How many there are at most.",
        "suspend": "true holds the campaign until the file says false.",
        "pack": "Small volumes: how many one worker takes in turn, with its model loaded once.",
    },
    "fleet": {
        **NEED,
        "replicas": "How many copies are up: 2 is always two; {min: 1, max: 4} takes what is free.",
        "replicas.min": "How many are always up.",
        "replicas.max": "How many there are at most.",
    },
    "gang": {
        **NEED,
        "workers": "How many workers start together.",
        "min": "How many must be there for it to start; left out, all of them.",
        "duration": "How long it takes, by estimate: for plans alone.",
    },
    "platform": {
        "format": "The version of this file's format.",
        "engine": "local: this machine; kubernetes: a cluster.",
        "scheduler": "Which scheduler the cluster has beside its own.",
        "versions": "Which releases the cluster runs.",
        "bucket": "Where results are: a folder, or s3://bucket/prefix.",
        "bucket_options": "How the object store is reached; never a secret.",
        "teams": "Teams by name.",
        "teams.*.repository": "The team's repository: its address or folder.",
        "teams.*.namespace": "The team's namespace; left out, its name.",
        "teams.*.queue": "The team's part of the cards.",
        "teams.*.queue.quota": "How many cards are its own, fractions allowed.",
        "teams.*.queue.weight": "Its weight in what others leave idle.",
        "teams.*.queue.limit": "How many cards it has at most; null is no limit.",
        "teams.*.secret": "The team's own bucket credentials, by name.",
        "lanes": "Priority lanes by name; the first is the default one.",
        "lanes.*.value": "Higher values go first.",
        "defaults": "What campaigns and pipelines are when they say nothing.",
        "defaults.retries": "How often a volume that failed is tried again.",
        "defaults.reclaims": "How many starts in a row may end without a new page.",
        "defaults.grace_seconds": "How long a pod has to end its page when it is told to stop.",
        "defaults.minimum_runtime": "How long a pod is left alone before its card may be taken.",
        "defaults.look_ahead": "How many pages are fetched before their turn.",
        "defaults.page_seconds": "The longest that one page may take.",
        "sizes": "Needs by name, for pipelines to pick.",
        "default_size": "The size of a pipeline that states no need.",
        "cards": "Kinds of card as device classes.",
        "cards.*.card": "The card by its id in the catalogue.",
        "cards.*.class": "The device class that stands for it.",
        "sharing": "Which ways of sharing a card pipelines may use.",
        "topology": "Levels of the cluster's layout, from wide to narrow.",
        "topology.*.name": "The level's name, such as rack.",
        "topology.*.label": "The label of nodes that says it, such as example.org/rack.",
        "sources": "Where pages may come from.",
        "sources.template": "What a bare reference stands for, with {ref} where it goes.",
        "sources.hosts": "Hosts that pages may come from; none when empty.",
        "sources.private": "Networks of private addresses that a host may lead to, such as 10.0.0.0/8.",
        "sources.buckets": "Folders of object stores that volumes may lie below.",
        "images": "Repositories of images that may be named; any when empty.",
        "runner": "How workers on a cluster get the runner.",
        "runner.image": "An image that brings it into every pod, by digest; null: each image has it.",
        "prices": "What cards cost.",
        "prices.currency": "The currency's short name.",
        "prices.hour": "What an hour of each card costs.",
    },
}

_NEED: Final = Need()
_NEED_DEFAULTS: Final[Mapping[str, Any]] = {"gpu.count": _NEED.count, "gpu.sharing": list(_NEED.sharing)}
_CAMPAIGN: Final = Campaign("", "", ())
_FLEET: Final = Fleet("")
_PLATFORM: Final = Platform()


def _below(key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{key}.{name}": value for name, value in values.items()}


DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "pipeline": {
        **_NEED_DEFAULTS,
        "max_seconds": _PLATFORM.defaults.max_seconds,
        "ttl_seconds_after_finished": _PLATFORM.defaults.ttl_seconds_after_finished,
    },
    "campaign": {
        "window": _PLATFORM.defaults.window,
        "window.min": _CAMPAIGN.window.min,
        "suspend": _CAMPAIGN.suspend,
        "pack": _CAMPAIGN.pack,
    },
    "fleet": {
        **_NEED_DEFAULTS,
        "replicas": _FLEET.replicas.max,
        "replicas.min": _FLEET.replicas.min,
        "preemptible": _FLEET.preemptible,
    },
    "gang": _NEED_DEFAULTS,
    "platform": {
        "format": 1,
        "engine": _PLATFORM.engine,
        "scheduler": _PLATFORM.scheduler,
        "bucket": _PLATFORM.bucket,
        "lanes": {name: asdict(lane) for name, lane in _PLATFORM.lanes.items()},
        "sharing": list(_PLATFORM.sharing),
        "prices.currency": _PLATFORM.prices.currency,
        **_below("versions", asdict(Versions())),
        **_below("defaults", asdict(Defaults())),
        **_below("teams.*.queue", asdict(Queue())),
    },
}
