"""A snapshot that can be shown to others: other names in the place of those that say who and where.

Namespaces and queues become ``team-01``, nodes ``node-01``, cohorts, users and images likewise, the same name
everywhere, so that what belongs together still does. Numbers are given in the order of the names: a
scheduler that takes the first by name still takes the same. What decides stays as it is: quotas, devices,
labels, counts, times. Names of Jobs, pods and campaigns stay too. Left out are ConfigMaps, which hold the
names of volumes, and labels of nodes that nothing asks for, by which clouds name their customers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot, key_of
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import ROOT, TEAM_LABEL

NOTE: Final = (
    "names of namespaces, queues, nodes, users and images are made up, in the order of the true ones; names "
    "of Jobs and pods are true"
)
LEFT_OUT: Final = "left out: the snapshot is anonymous"
NAME: Final = "an anonymous cluster"
_WELL_KNOWN: Final = frozenset(
    {
        "", "default", "kube-system", "kube-public", "kube-node-lease", "kueue-system", "kai-scheduler",
        "kai-resource-reservation", "gpu-operator", "nvidia-dra-driver-gpu", "default-queue",
        "default-parent-queue", ROOT, f"{ROOT}-teams", "cpu", "memory", "pods", "gpu", "gpus", "main", "true",
        "false",
    }
)  # fmt: skip
_LITERAL: Final = frozenset(
    {
        "apiGroup", "apiVersion", "deviceClassName", "driver", "effect", "expression", "key", "kind",
        "operator", "phase", "reason", "resourceVersion", "type", "uid",
    }
)  # fmt: skip
_TEXT: Final = frozenset({"message", "note"})
_OF_USERS: Final = re.compile(r"(?:.*[./-])?(?:user|username|owner|creator|created-by|email)")
_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_IMAGE: Final = re.compile(r"[^\s\"'`,()]+")
_DASH: Final = re.compile("-")
_OF_DEVICES: Final = re.compile(
    r"kubernetes\.io/(?:arch|hostname|os)$|node-role\.|topology\.kubernetes\.io/|nvidia\.com/"
)
_HOST: Final = "kubernetes.io/hostname"
_QUEUES: Final = frozenset({"ClusterQueue", "LocalQueue", "Queue"})


def anonymous(snapshot: Snapshot) -> Snapshot:
    """The snapshot under other names."""
    renamer = _Renamer(
        _names(snapshot.objects), frozenset(_nodes(snapshot.objects)), frozenset(_asked_for(snapshot.objects))
    )
    objects = [renamer.renamed(each) for each in snapshot.objects if each["kind"] != kinds.CONFIG_MAP.name]
    return replace(
        snapshot,
        objects=tuple(sorted(objects, key=key_of)),
        name=NAME,
        missing=tuple(sorted((*_still_missing(snapshot), Missing(kinds.CONFIG_MAP, LEFT_OUT)))),
        partly=tuple(replace(each, why=renamer.text(each.why)) for each in snapshot.partly),
        notes=(*snapshot.notes, NOTE) if NOTE not in snapshot.notes else snapshot.notes,
        origins={},
    )


def _still_missing(snapshot: Snapshot) -> Iterator[Missing]:
    return (each for each in snapshot.missing if each.kind != kinds.CONFIG_MAP)


def _names(objects: Sequence[Object]) -> dict[str, str]:
    """Every name with the one in its place; the first sort that has a name names it."""
    named = [each["metadata"]["name"] for each in objects if each["kind"] in _QUEUES]
    spaces = [each["metadata"].get("namespace", "") for each in objects]
    spaces += [each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"]
    teams = [(each["metadata"].get("labels") or {}).get(TEAM_LABEL, "") for each in objects]
    sorts = {
        "node": _nodes(objects),
        "team": [*named, *spaces, *teams],
        "cohort": _cohorts(objects),
        "user": [text for each in objects for text in _users(each)],
    }
    found: dict[str, str] = {}
    for sort, names in sorts.items():
        for name, pseudonym in _numbered(sort, names):
            found.setdefault(name, pseudonym)
    for name, pseudonym in _numbered("image", (text for each in objects for text in _images(each))):
        digest = f"@sha256:{int(pseudonym.rpartition('-')[2]):064x}" if "@sha256:" in name else ""
        found[name] = f"{pseudonym}{digest}"
    return found


def _numbered(sort: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names in their order, with numbers of one width, so that the new names have the same order."""
    ordered = sorted(set(names) - _WELL_KNOWN)
    width = max(2, len(str(len(ordered))))
    for number, name in enumerate(ordered, start=1):
        yield name, f"{sort}-{number:0{width}}"


def _nodes(objects: Sequence[Object]) -> list[str]:
    found = []
    for each in objects:
        spec = each.get("spec") or {}
        if each["kind"] == "Node":
            found.append(each["metadata"]["name"])
            found.append((each["metadata"].get("labels") or {}).get(_HOST, ""))
        elif each["kind"] in {"Pod", "ResourceSlice"}:
            found.append(str(spec.get("nodeName") or ""))
    return found


def _cohorts(objects: Sequence[Object]) -> list[str]:
    found = [each["metadata"]["name"] for each in objects if each["kind"] == "Cohort"]
    for each in objects:
        if each["kind"] in {"ClusterQueue", "Cohort"}:
            spec = each.get("spec") or {}
            found += [str(spec.get(key) or "") for key in ("cohortName", "parentName")]
    return found


def _users(value: Object) -> Iterator[str]:
    for part in ("labels", "annotations"):
        for key, text in (value["metadata"].get(part) or {}).items():
            if _OF_USERS.fullmatch(key.lower()) and isinstance(text, str):
                yield text


def _images(value: Any) -> Iterator[str]:
    """What stands under ``image`` and ``imageID``, anywhere in an object."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key in {"image", "imageID"} and isinstance(each, str):
                yield each
            else:
                yield from _images(each)
    elif isinstance(value, list):
        for each in value:
            yield from _images(each)


def _asked_for(objects: Sequence[Object]) -> Iterator[str]:
    """All that could name a label of a node: keys and texts with a slash, of everything else."""
    level: list[Any] = [each for each in objects if each["kind"] != "Node"]
    while level:
        value = level.pop()
        if isinstance(value, Mapping):
            yield from (key for key in value if "/" in key)
            level.extend(value.values())
        elif isinstance(value, list):
            level.extend(value)
        elif isinstance(value, str) and "/" in value:
            yield value


@dataclass(frozen=True, slots=True)
class _Renamer:
    """Puts other names in the place of the true ones."""

    names: Mapping[str, str]
    nodes: frozenset[str]
    asked_for: frozenset[str]

    def renamed(self, value: Object) -> dict[str, Any]:
        """The whole object."""
        found = {key: self._value(key, each) for key, each in value.items()}
        metadata = found["metadata"]
        if value["kind"] == "Node" and "labels" in metadata:
            metadata["labels"] = {
                key: each
                for key, each in metadata["labels"].items()
                if key in self.asked_for or _OF_DEVICES.match(key)
            }
        for key in ("name", "generateName"):
            if key in metadata and value["kind"] in {"Pod", "ResourceSlice"}:
                metadata[key] = self._with_node(metadata[key])
        about = found.get("involvedObject")
        if isinstance(about, dict) and isinstance(about.get("name"), str):
            about["name"] = self._with_node(about["name"])
        return found

    def text(self, text: str) -> str:
        """A sentence with names in it."""
        text = _IMAGE.sub(lambda found: self.names.get(found[0], found[0]), text)
        return _WORD.sub(self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0].rstrip(".-_")
        return self.names.get(word, word) + found[0][len(word) :]

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self._value(name, each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._value(key, each) for each in value]
        if not isinstance(value, str) or key in _LITERAL:
            return value
        if key in _TEXT:
            return self.text(value)
        return self._name(value)

    def _name(self, text: str) -> str:
        """A name, or names with slashes between them, such as a namespace and a name."""
        known = self.names.get(text)
        if known is not None:
            return known
        return "/".join(self.names.get(part, part) for part in text.split("/")) if "/" in text else text

    def _with_node(self, name: str) -> str:
        """A name that a node's begins or ends, as those of slices and of static pods do."""
        for place in (found.start() for found in _DASH.finditer(name)):
            if name[:place] in self.nodes:
                return self.names.get(name[:place], name[:place]) + name[place:]
            if name[place + 1 :] in self.nodes:
                return name[: place + 1] + self.names.get(name[place + 1 :], name[place + 1 :])
        return name
