"""The shape of an earlier platform's ``converter.yaml``; a key that is not known is worth a warning only."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from allotment.documents import scan_document
from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.shapes import Free, Integer, Key, ListOf, Record, TableOf, Text
from allotment.errors import Finding, Severity, did_you_mean
from allotment.platform.converter import Converter
from allotment.platform.file_shapes import look_template
from allotment.platform.model import Size
from allotment.platform.names import look_label, look_printable, look_word_key
from allotment.platform.need import Need, Resources
from allotment.platform.need_shapes import Amount, Cores

CONVERTER_FILE: Final = "converter.yaml"
PASSED_BY: Final = (
    "queue",
    "data_pvc",
    "runtime_class",
    "hf_token_secret",
    "node_selector",
    "tolerations",
    "public_results_base",
    "results_url",
    "warmup_wait_seconds",
    "manifest_max_bytes",
    "fetch_max_bytes",
    "image_cache",
    "flavors",
)
MOVED: Final = {
    "allowed_image_repos": "it belongs to the platform's file: `images`",
    "require_model_revision": "it is a rule of the cluster's",
}


def _look_address_template(text: str, place: Place) -> None:
    if text:
        look_template(text, place)


def _size(values: dict[str, Any], _place: Place) -> Size:
    resources = {key: values[key] for key in ("cpu", "memory", "workdir") if key in values}
    return Size(Need(count=values.get("gpu", 1)), Resources(**resources))


SIZE: Final = Record(
    {
        "flavor": Key(Text(look_printable), nullable=True),
        "gpu": Key(Integer(1, 64)),
        "cpu": Key(Cores()),
        "memory": Key(Amount()),
        "workdir": Key(Amount()),
    },
    _size,
)
CONVERTER: Final[Record[dict[str, Any]]] = Record(
    {
        "namespace": Key(Text(look_label)),
        "window": Key(Integer(1, 1_000_000)),
        "max_seconds": Key(Integer(1)),
        "ttl_seconds_after_finished": Key(Integer(1)),
        "priority_classes": Key(ListOf(Text(look_label), empty=True)),
        "source_template": Key(Text(_look_address_template, empty=True), nullable=True),
        "sizes": Key(TableOf(SIZE, look_word_key), nullable=True),
        "default_size": Key(Text(empty=True), nullable=True),
        "s3_secret": Key(Text(look_printable, empty=True), nullable=True),
        **{name: Key(Free()) for name in PASSED_BY},
    },
    lambda values, _place: values,
)


def scan_converter(path: Path, name: str) -> tuple[Converter | None, list[Finding]]:
    """The settings in a file as far as they can be read, and the findings about them."""
    document, findings = scan_document(path, name=name)
    if document is None:
        return None, findings
    check = Check(document)
    written = document.value
    unknown = [key for key in written if key not in CONVERTER.keys] if isinstance(written, dict) else []
    for key in unknown:
        _tell_unknown(check.root / key, key)
    try:
        known = {key: value for key, value in written.items() if key not in unknown} if unknown else written
        values, _ = CONVERTER.read_keys(known, check.root)
    except RefusedError:
        return None, [*findings, *check.findings]
    _look_at_default_size(values, check.root)
    converter = Converter(
        **{key: values[key] for key in _SAME if key in values},
        lanes=values.get("priority_classes", Converter().lanes),
        sizes=values.get("sizes", {}),
        default_size=values.get("default_size") or None,
        template=values.get("source_template") or None,
        secret=values.get("s3_secret") or None,
        unread=frozenset(key for key, value in known.items() if value is not None and key not in values),
        document=document,
    )
    return converter, [*findings, *check.findings]


_SAME: Final = ("namespace", "window", "max_seconds", "ttl_seconds_after_finished")


def _tell_unknown(place: Place, key: str) -> None:
    hint = MOVED.get(key) or did_you_mean(key, CONVERTER.keys)
    message = f"`{shown(key)}` is not read here"
    place.found("unknown-key", message, hint, key=True, severity=Severity.WARNING)


def _look_at_default_size(values: dict[str, Any], place: Place) -> None:
    name, sizes = values.get("default_size"), values.get("sizes", {})
    unread = "sizes" not in values and place.check.document.value.get("sizes") is not None
    if name and name not in sizes and not unread:
        hint = did_you_mean(name, sizes) or "add it under `sizes`"
        (place / "default_size").found("unknown-size", f"there is no size `{shown(name)}`", hint)
