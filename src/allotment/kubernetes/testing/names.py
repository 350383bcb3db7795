"""Rules on names, labels and annotations, in the words of ``k8s.io/apimachinery/pkg/util/validation``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from allotment.kubernetes.testing.answers import Cause, forbidden, required, wrong

_STANDARD_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
LABEL_WORDS: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN_WORDS: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_NAME_WORDS: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_WORDS: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def quoted(value: Any) -> str:
    """A value as messages show it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def by_name(value: Any) -> str:
    """An object as messages show it whose keys are the user's: in the order of its keys."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def of_label_name(text: str) -> Iterator[str]:
    """What is wrong with a DNS label."""
    if len(text) > 63:
        yield "must be no more than 63 bytes"
    if not _LABEL.fullmatch(text):
        yield LABEL_WORDS


def of_subdomain(text: str) -> Iterator[str]:
    """What is wrong with a DNS subdomain."""
    if len(text) > 253:
        yield "must be no more than 253 characters"
    if not _SUBDOMAIN.fullmatch(text):
        yield SUBDOMAIN_WORDS


def of_label_value(text: str) -> Iterator[str]:
    """What is wrong with the value of a label."""
    if len(text) > 63:
        yield "must be no more than 63 bytes"
    if not _VALUE.fullmatch(text):
        yield _VALUE_WORDS


def of_key(text: str) -> Iterator[str]:
    """What is wrong with the key of a label or an annotation."""
    prefix, slash, name = text.rpartition("/")
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {each}" for each in of_subdomain(prefix))
    if not name:
        yield "name part must be non-empty"
    if len(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not _NAME.fullmatch(name):
        yield _NAME_WORDS


def of_labels(labels: Mapping[str, str], place: str) -> Iterator[Cause]:
    """What is wrong with labels."""
    for key, value in sorted(labels.items()):
        yield from (wrong(place, quoted(key), each) for each in of_key(key))
        yield from (wrong(place, quoted(value), each) for each in of_label_value(value))


def of_metadata(metadata: Mapping[str, Any], *, namespaced: bool) -> Iterator[Cause]:
    """What is wrong with the metadata of a new object."""
    name, generated = metadata.get("name") or "", metadata.get("generateName") or ""
    if generated:
        prefix = f"{generated[:-1]}a" if generated.endswith("-") else generated
        yield from (wrong("metadata.generateName", quoted(generated), each) for each in of_subdomain(prefix))
    if not name and not generated:
        yield required("metadata.name", "name or generateName is required")
    elif name:
        yield from (wrong("metadata.name", quoted(name), each) for each in of_subdomain(name))
    if namespaced and not metadata.get("namespace"):
        yield required("metadata.namespace")
    yield from of_labels(metadata.get("labels") or {}, "metadata.labels")
    annotations = metadata.get("annotations") or {}
    for key in sorted(annotations):
        yield from (wrong("metadata.annotations", quoted(key), each) for each in of_key(key.lower()))
    if sum(len(key) + len(value) for key, value in annotations.items()) > 256 * 1024:
        yield Cause(
            "metadata.annotations", "FieldValueTooLong", "Too long: may not be more than 262144 bytes"
        )
    yield from _of_finalizers(metadata.get("finalizers") or ())


def _of_finalizers(finalizers: Sequence[str]) -> Iterator[Cause]:
    for place, text in enumerate(finalizers):
        if any(of_key(text)):
            yield from (wrong("metadata.finalizers", quoted(text), each) for each in of_key(text))
        elif "/" not in text and text not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield wrong(f"metadata.finalizers[{place}]", quoted(text), why)


def of_metadata_change(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """What is wrong with a change of metadata."""
    if old.get("deletionTimestamp"):
        fresh = [each for each in new.get("finalizers") or () if each not in (old.get("finalizers") or ())]
        if fresh:
            listed = ", ".join(quoted(each) for each in fresh)
            yield forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{listed}}}",
            )
    for key in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"):
        if new.get(key) != old.get(key):
            yield wrong(f"metadata.{key}", quoted(new.get(key)), "field is immutable")
