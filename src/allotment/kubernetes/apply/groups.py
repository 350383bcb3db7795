"""Objects by what of a team's they belong to, and the label that tells two repositories of a team apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from allotment.kubernetes.kinds import Object, kind_of
from allotment.kubernetes.render.names import MANAGED_BY, PREFIX, TEAM_LABEL

REPOSITORY_LABEL: Final = f"{PREFIX}repository"
OURS: Final = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
KINDS: Final = (("campaign", "campaigns"), ("fleet", "fleets"), ("gang", "gangs"), ("pipeline", "pipelines"))
"""Labels in the order in which they decide, and the folders that they stand for."""


def labels(value: Object) -> Mapping[str, str]:
    """The labels of an object."""
    found: Mapping[str, str] = value["metadata"].get("labels") or {}
    return found


def notes_on(value: Object) -> Mapping[str, str]:
    """The annotations of an object."""
    found: Mapping[str, str] = value["metadata"].get("annotations") or {}
    return found


def group_of(value: Object) -> str:
    """``campaigns/NAME`` and the like; an object of nothing of these is its own group."""
    own = labels(value)
    for key, folder in KINDS:
        name = own.get(f"{PREFIX}{key}")
        if name is not None:
            return f"{folder}/{name}"
    return shown(value)


def shown(value: Object) -> str:
    """An object as `kubectl` takes it."""
    return f"{kind_of(value).shown}/{value['metadata']['name']}"


def address(value: Object) -> tuple[str, str]:
    """What an object is found by in one namespace."""
    return (kind_of(value).shown, str(value["metadata"]["name"]))


def by_address(values: Iterable[Object]) -> Mapping[tuple[str, str], Object]:
    """Objects by what they are found by."""
    return {address(each): each for each in values}


def team_of(value: Object) -> str | None:
    """Whose object it is; None for one that says nothing of ours."""
    own = labels(value)
    if any(own.get(key) != said for key, said in MANAGED_BY.items()):
        return None
    return own.get(TEAM_LABEL, "")


def repository_id(identity: str | None) -> str | None:
    """A repository's address as the value of a label; None where it has none."""
    return None if not identity else sha256(identity.encode()).hexdigest()[:12]


def marked(value: Object, repository: str | None) -> Object:
    """The object with the label of its repository."""
    if repository is None:
        return value
    metadata = value["metadata"]
    own = {**(metadata.get("labels") or {}), REPOSITORY_LABEL: repository}
    return {**value, "metadata": {**metadata, "labels": dict(sorted(own.items()))}}
