"""A file or a text into a document and its findings: the whole way, with every limit.

`scan_*` hands back what could be read together with the findings, for a check that collects; `read_*` raises
when there is any finding, for whoever needs the value. A document with a trap in it (`Document.traps`) is
still a document: what a trap means is decided by whoever knows where text was expected.
"""

from __future__ import annotations

from pathlib import Path

from allotment.documents.document import Document
from allotment.documents.loader import ALIAS, ANCHOR, KEY, MOST_FAULTS, TAG, Loaded, load
from allotment.documents.source import Limits, Source, read_source, source_of
from allotment.documents.syntax import syntax_finding
from allotment.errors import Finding, FindingsError

DEFAULT_LIMITS = Limits()
FAULT_MESSAGES = {
    ANCHOR: ("yaml-anchor", "anchors (`&name`) are not read here", "write the value out, or quote the text"),
    ALIAS: ("yaml-anchor", "aliases (`*name`) are not read here", "write the value out, or quote the text"),
    TAG: ("yaml-tag", "tags (`!name`) are not read here", "leave it out, or put the value in quotes"),
    KEY: ("key-not-text", "a key must be text, and this one is a list or a mapping", "write a word"),
}

Scanned = tuple[Document | None, list[Finding]]


def read_document(path: Path, *, name: str, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The document in a file; raises `FindingsError` when anything is wrong with it."""
    return _without_findings(scan_document(path, name=name, limits=limits))


def read_text(text: str, *, name: str, limits: Limits = DEFAULT_LIMITS) -> Document:
    """The document in a text; raises `FindingsError` when anything is wrong with it."""
    return _without_findings(scan_text(text, name=name, limits=limits))


def scan_document(path: Path, *, name: str, limits: Limits = DEFAULT_LIMITS) -> Scanned:
    """The document in a file as far as it can be read, and every finding about its YAML."""
    try:
        return _scan(read_source(path, name, limits), limits)
    except FindingsError as error:
        return None, list(error.findings)


def scan_text(text: str, *, name: str, limits: Limits = DEFAULT_LIMITS) -> Scanned:
    """The document in a text as far as it can be read, and every finding about its YAML."""
    try:
        return _scan(source_of(text.encode("utf-8", "surrogatepass"), name, limits), limits)
    except FindingsError as error:
        return None, list(error.findings)


def _without_findings(scanned: Scanned) -> Document:
    document, findings = scanned
    if document is None or findings:
        raise FindingsError(findings)
    return document


def _scan(source: Source, limits: Limits) -> Scanned:
    from yaml import YAMLError

    try:
        loaded = load(source.text, limits.depth)
    except YAMLError as error:
        return None, [syntax_finding(error, source)]
    if refusal := _refusal(loaded, source, limits):
        return None, refusal
    document = Document(source, loaded.value, frozenset(loaded.traps))
    return document, _duplicates(document) if loaded.duplicates else []


def _refusal(loaded: Loaded, source: Source, limits: Limits) -> list[Finding]:
    """What makes a text no document at all."""
    if loaded.too_deep is not None:
        message = f"lists and mappings are nested more than {limits.depth} deep here"
        return [Finding(source.position(loaded.too_deep), "nested-too-deep", message, "flatten them")]
    if loaded.empty:
        return [Finding(source.position(0), "file-empty", "the file is empty", "fill it in, or remove it")]
    findings = [Finding(source.position(offset), *FAULT_MESSAGES[kind]) for kind, offset in loaded.faults]
    if loaded.second_document is not None:
        position = source.position(loaded.second_document)
        message = "a second document begins here (`---`); a file holds one"
        findings.append(Finding(position, "several-documents", message, "give it a file of its own"))
    return findings


def _duplicates(document: Document) -> list[Finding]:
    """One finding for each key that a mapping has twice, naming both lines."""
    found = []
    for duplicate in document.index.duplicates[:MOST_FAULTS]:
        first = document.source.position(duplicate.first)
        second = document.source.position(duplicate.second)
        message = f"the key `{duplicate.key}` is on line {first.line} and again on line {second.line}"
        found.append(Finding(second, "duplicate-key", message, "keep one of them"))
    return found
