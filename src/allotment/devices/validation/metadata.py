"""What the server holds the metadata of an object to: its name, namespace, labels and annotations.

From ``ValidateObjectMeta`` of k8s.io/apimachinery, as far as somebody writes it by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.rules import is_label_key
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_label, of_label_key, of_label_value, of_subdomain
from allotment.devices.validation.problems import Loc, Problem, Reason, invalid, required, too_long
from allotment.devices.validation.raw import Raw

LARGEST_ANNOTATIONS: Final = 256 * 1024
_LABELS_AND_ANNOTATIONS: Final = frozenset({"labels", "annotations"})


def of_metadata(metadata: Raw, *, namespaced: bool) -> Iterator[Problem]:
    """The metadata of an object; a namespace that is not said is that of the request."""
    loc: Loc = ("metadata",)
    name, prefix = raw.text(metadata, "name"), raw.text(metadata, "generateName")
    if not name and not prefix:
        yield required((*loc, "name"), "name or generateName is required")
    elif name:
        yield from of_subdomain(name, (*loc, "name"))
    if prefix:
        stem = f"{prefix[:-1]}a" if prefix.endswith("-") else prefix
        yield from of_subdomain(stem, (*loc, "generateName"))
    namespace = raw.text(metadata, "namespace")
    if namespace and not namespaced:
        yield Problem((*loc, "namespace"), Reason.FORBIDDEN, "not allowed on this type")
    elif namespace:
        yield from of_label(namespace, (*loc, "namespace"))
    yield from _of_labels_and_annotations(metadata, loc)


def of_template_metadata(metadata: Raw, loc: Loc) -> Iterator[Problem]:
    """The metadata that a template gives to its claims: labels and annotations, and nothing else."""
    yield from _of_labels_and_annotations(metadata, loc)
    for key, value in metadata.items():
        if key not in _LABELS_AND_ANNOTATIONS and value:
            yield Problem((*loc, key), Reason.FORBIDDEN, "cannot be set")


def _of_labels_and_annotations(metadata: Raw, loc: Loc) -> Iterator[Problem]:
    for name, value in raw.table(metadata, "labels").items():
        here = (*loc, "labels")
        for problem in (*of_label_key(name, here), *of_label_value(str(value), here)):
            yield problem._replace(at=(*here, name))
    annotations, here, size = raw.table(metadata, "annotations"), (*loc, "annotations"), 0
    for name, value in annotations.items():
        size += len(name.encode()) + len(str(value).encode())
        if not is_label_key(name.lower()):
            yield invalid(here, f"`{name}` is no name of an annotation")._replace(at=(*here, name))
    if size > LARGEST_ANNOTATIONS:
        yield too_long(here, LARGEST_ANNOTATIONS)
