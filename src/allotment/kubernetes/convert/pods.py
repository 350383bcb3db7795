"""Where pods stand in the objects that people write, and what one of them counts.

Facts: the kinds of ``v1``, ``apps/v1`` and ``batch/v1`` that hold a pod's template. Other kinds are known to
hold pods too, at places that are their own affair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.convert.counted import looks_counted
from allotment.kubernetes.convert.tree import Path

TEMPLATES: Final[Mapping[tuple[str, str], Path]] = {
    ("v1", "Pod"): (),
    ("v1", "PodTemplate"): ("template",),
    ("v1", "ReplicationController"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
FROZEN: Final = frozenset({"Pod", "Job"})  # whose template the API server does not let change
_CONTAINERS: Final = ("initContainers", "containers")


@dataclass(frozen=True)
class PodPlace:
    """An object with a pod in it: where the object stands in its document, and the pod in the object."""

    path: Path
    value: Mapping[str, Any]
    pod_path: Path

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.value.get("kind"))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The object's own metadata."""
        return mapping_of(self.value.get("metadata"))

    @property
    def name(self) -> str:
        """The object's name, or how the API server is to begin one."""
        return str(self.metadata.get("name") or self.metadata.get("generateName") or "")

    @property
    def pod(self) -> Mapping[str, Any]:
        """What the pods are made of: metadata and spec."""
        found: Any = self.value
        for step in self.pod_path:
            found = mapping_of(found).get(str(step))
        return mapping_of(found)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec of the pods."""
        return mapping_of(self.pod.get("spec"))

    @property
    def spec_path(self) -> Path:
        """Where that spec stands in the document."""
        return (*self.path, *self.pod_path, "spec")

    def containers(self) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Each container and where it stands, the init containers first."""
        for key in _CONTAINERS:
            listed = self.spec.get(key)
            for number, each in enumerate(listed if isinstance(listed, list) else ()):
                yield (*self.spec_path, key, number), mapping_of(each)

    def labels(self, key: str) -> str | None:
        """A label or annotation of the object or of its pods."""
        for metadata in (self.metadata, mapping_of(self.pod.get("metadata"))):
            for part in ("labels", "annotations"):
                found = mapping_of(metadata.get(part)).get(key)
                if found is not None:
                    return str(found)
        return None


def mapping_of(value: Any) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one: a defect of a manifest is not ours to find."""
    return value if isinstance(value, Mapping) else {}


def items_of(value: Any) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The objects of a document, those of a List one by one."""
    if not isinstance(value, Mapping):
        return
    items = value.get("items")
    if str(value.get("kind")).endswith("List") and isinstance(items, list):
        for number, each in enumerate(items):
            yield from objects_of(each, (*path, "items", number))
        return
    yield path, value


def pod_place(path: Path, value: Mapping[str, Any]) -> PodPlace | None:
    """The pod of an object of a kind that is known."""
    group = str(value.get("apiVersion")).partition("/")[0]
    template = TEMPLATES.get((group, str(value.get("kind"))))
    return None if template is None else PodPlace(path, value, template)


def counts_somewhere(value: Any) -> str | None:
    """A GPU resource that an object of any kind names as a key, with or without ``requests.`` before it."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            name = str(key).removeprefix("requests.").removeprefix("limits.")
            if "/" in name and not isinstance(each, Mapping | list) and looks_counted(name):
                return name
            if (found := counts_somewhere(each)) is not None:
                return found
    if isinstance(value, list):
        return next((found for each in value if (found := counts_somewhere(each)) is not None), None)
    return None
