"""The platform's file into a `Platform`, with every finding; what cannot be read is as when left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from allotment.documents import Document, scan_document
from allotment.documents.checking import Check, RefusedError, shown
from allotment.errors import Finding, did_you_mean
from allotment.platform.file_shapes import platform_record
from allotment.platform.images import may_come, repository_of
from allotment.platform.model import Platform


def scan_platform(path: Path, name: str) -> tuple[Platform, list[Finding]]:
    """The platform in a file as far as it can be read, and the findings about it."""
    document, findings = scan_document(path, name=name)
    if document is None:
        return Platform(unread=frozenset(platform_record().keys)), findings
    platform, found = platform_of(document)
    return platform, [*findings, *found]


def platform_of(document: Document) -> tuple[Platform, list[Finding]]:
    """The platform in a document as far as it can be read, and the findings about it."""
    check = Check(document)
    record = platform_record()
    try:
        values, complete = record.read_keys(document.value, check.root)
    except RefusedError:
        return Platform(unread=frozenset(record.keys)), check.findings
    known: dict[str, Any] = {key: value for key, value in values.items() if key != "format"}
    unread = frozenset() if complete else frozenset(set(document.value) - set(values))
    says_local = values.get("engine") == "local"
    platform = replace(Platform(), **known, says_local=says_local, unread=unread)
    _look_at_default_size(platform, check)
    _look_at_runner(platform, check)
    return platform, check.findings


def _look_at_default_size(platform: Platform, check: Check) -> None:
    name = platform.default_size
    if name is not None and name not in platform.sizes and "sizes" not in platform.unread:
        message = f"there is no size `{shown(name)}`"
        hint = did_you_mean(name, platform.sizes) or "add it under `sizes`"
        (check.root / "default_size").found("unknown-size", message, hint)


def _look_at_runner(platform: Platform, check: Check) -> None:
    """Find an image for every pod that the platform's own policy would keep out of the cluster."""
    image = platform.runner.image
    if image is None or not platform.images or may_come(image, platform.images):
        return
    message = f"the platform does not let images come from `{shown(repository_of(image))}`"
    (check.root / "runner" / "image").found("image-not-allowed", message, "add its repository to `images`")
