"""One page through the steps and into the bucket: outputs first, the record last.

A worker may have been killed after it wrote some outputs of a page and before the record. The page is then
done again, and what is there already holds: the same bytes are left as they are, and where a step gives
other bytes than before, the object in the bucket wins, later steps get to see it, the record describes it,
and a warning says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from allotment.buckets.bucket import Conflict
from allotment.buckets.keys import VolumeKeys, check_output
from allotment.buckets.once import PatientBucket
from allotment.running.endings import BREAKING_IN
from allotment.running.interrupts import Interrupts
from allotment.running.lease import Lease
from allotment.running.page import Page, PageRefused
from allotment.running.records import OutputMark, PageRecord, SourceMark, mark_of, read_record
from allotment.running.steps.loading import LabelledStep, in_words

Warn = Callable[[str, str], None]
"""Tells of a page's name and a sentence."""

DIFFERS = "its output {} differs from what an earlier attempt left in the bucket, which holds"


TO_RETURN = 'it is to return its outputs as bytes by name, such as {"txt": b"..."}'


class StepFailedError(Exception):
    """A step failed on a page; the cause says how."""


class PageWriter:
    """Takes pages through the steps and writes what they make, for one volume that is ours."""

    def __init__(
        self, bucket: PatientBucket, keys: VolumeKeys, lease: Lease, interrupts: Interrupts, warn: Warn
    ) -> None:
        self._bucket = bucket
        self._keys = keys
        self._lease = lease
        self._interrupts = interrupts
        self._warn = warn
        self._known_names: set[str] = set()
        self._pid = os.getpid()

    def run(
        self, steps: tuple[LabelledStep, ...], page: Page, leftovers: Collection[str] = ()
    ) -> dict[str, bytes]:
        """The page's outputs by ``<label>.<name>``; of ``leftovers``, those in the bucket hold.

        Raises `PageRefused`, `PageTimeout`, `Stopped`, `DeadlinePassed`, or `StepFailedError` for all else.
        """
        self._interrupts.begin_page(page.number)
        try:
            try:
                return self._through(steps, page, leftovers)
            finally:
                if os.getpid() != self._pid:  # a step has forked, and let the child come back to us
                    os._exit(1)
                self._interrupts.end_page()
        except BREAKING_IN:
            self._interrupts.end_page()  # the first call may have been broken off as it began
            raise

    def write(
        self, page: str, source: SourceMark, outputs: Mapping[str, bytes], measured: Mapping[str, Any]
    ) -> PageRecord:
        """Write outputs and then the record; returns the record as it stands in the bucket."""
        self._lease.check()
        marks = {name: self._put(page, name, data) for name, data in outputs.items()}
        self._lease.check()
        return self.write_record(PageRecord(page, source, marks, measured))

    def write_record(self, record: PageRecord) -> PageRecord:
        """Write a record, unless the page has one; returns the one that holds."""
        key = self._keys.record(record.page)
        try:
            self._bucket.put(key, record.to_bytes())
        except Conflict:
            there = read_record(self._bucket.read(key), key)
            if there.contents() != record.contents():
                self._warn(record.page, "another record of this page is in the bucket already, and holds")
            return there
        return record

    def write_output(self, page: str, name: str, data: bytes) -> None:
        """Write one output again that had gone missing."""
        self._lease.check()
        self._put(page, name, data)

    def _through(
        self, steps: tuple[LabelledStep, ...], page: Page, leftovers: Collection[str]
    ) -> dict[str, bytes]:
        outputs: dict[str, bytes] = {}
        earlier = MappingProxyType(outputs)
        for labelled in steps:
            made = self._made(labelled, page, earlier)
            if leftovers:
                made = {name: self._held(page, name, data, leftovers) for name, data in made.items()}
            outputs.update(made)
        return outputs

    def _made(self, labelled: LabelledStep, page: Page, earlier: Mapping[str, bytes]) -> dict[str, bytes]:
        """What one step makes of the page, with names as they are kept."""
        try:
            made = labelled.step(page, earlier)
            if not isinstance(made, Mapping):
                raise StepFailedError(f"step {labelled.label} returned {_shown(made)}; {TO_RETURN}")
            return {self._name(labelled.label, name): _bytes(data, name) for name, data in made.items()}
        except (PageRefused, StepFailedError, *BREAKING_IN):
            raise
        except BaseException as error:
            raise StepFailedError(f"step {labelled.label}: {in_words(error)}") from error

    def _name(self, label: str, name: str) -> str:
        if not isinstance(name, str):
            raise StepFailedError(f"step {label} returned an output named {_shown(name)}; {TO_RETURN}")
        full = f"{label}.{name}"
        if full not in self._known_names:
            check_output(name)
            self._known_names.add(full)
        return full

    def _held(self, page: Page, name: str, data: bytes, leftovers: Collection[str]) -> bytes:
        """The bytes that hold for an output: those in the bucket, if an earlier attempt left some."""
        if name not in leftovers:
            return data
        there = self._bucket.read(self._keys.output(page.name, name))
        if there != data:
            self._warn(page.name, DIFFERS.format(name))
        return there

    def _put(self, page: str, name: str, data: bytes) -> OutputMark:
        """Write an output, or learn what is there."""
        key = self._keys.output(page, name)
        try:
            self._bucket.put(key, data)
        except Conflict:
            self._warn(page, DIFFERS.format(name))
            return mark_of(self._bucket.read(key))
        return mark_of(data)


def _shown(value: object) -> str:
    """What a step returned, for a person."""
    return "None" if value is None else f"{value!r:.60} ({type(value).__name__})"


def _bytes(data: object, name: str) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise TypeError(f"the output {name} is {type(data).__name__}, and outputs are bytes")
