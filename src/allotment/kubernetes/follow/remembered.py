"""What is remembered of Jobs that are gone, in the objects that stay: a part's volumes, a gang's Service.

A Job goes some days after it has ended. Whoever applies writes its end into an annotation, so that it is
known that there is nothing left to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Cause, Counts, Evidence, State, evidence
from allotment.kubernetes.follow.ranges import indexes_of
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.kinds import CONFIG_MAP, SERVICE, Object
from allotment.kubernetes.render.names import PREFIX

UID: Final = f"{PREFIX}job-uid"
ENDED: Final = f"{PREFIX}job-ended"


@dataclass(frozen=True, slots=True)
class Gone:
    """A Job that is gone: whose it was, how it ended where that was seen, and who remembers it."""

    name: str
    kind: str
    holder: Object
    ended: Mapping[str, Any] | None

    @property
    def counts(self) -> Counts:
        """What it had done."""
        if self.ended is None:
            return Counts()
        failed = len(indexes_of(fields.text(self.ended, "failed_indexes")))
        total, done = fields.count(self.ended, "completions"), fields.count(self.ended, "succeeded")
        return Counts(total=total, done=done, failed=failed)

    @property
    def state(self) -> State:
        """How it ended."""
        phase = fields.text(self.ended, "phase")
        return {"Complete": State.FINISHED, "Failed": State.FAILED}.get(phase, State.ABSENT)

    def cause(self) -> Cause:
        """What there is to say of it."""
        counts, shown = self.counts, (self._evidence(),)
        sums = f"{counts.done:,} of {counts.total:,} done" + (
            f", {counts.failed:,} failed" if counts.failed else ""
        )
        if self.state is State.ABSENT:
            words = "its Job is gone, and how it ended was not seen; the bucket knows what is done"
            return Cause("job-gone", State.ABSENT, words, "`allot apply` says what to do", shown)
        words = f"its Job has ended and is gone since: {sums}"
        remedy = "" if self.state is State.FINISHED else "`allot retry` lets failed volumes be tried again"
        return Cause("job-gone", self.state, words, remedy, shown)

    def _evidence(self) -> Evidence:
        place = f"metadata.annotations[{ENDED if self.ended is not None else UID}]"
        key = ENDED if self.ended is not None else UID
        return evidence(self.holder, place, fields.annotation(self.holder, key))


def gone_in(seen: Seen, namespace: str, there: frozenset[str]) -> Iterator[Gone]:
    """The Jobs of a namespace that are gone; ``there`` are the uids of those that are not."""
    for kind, holders in (("campaign", CONFIG_MAP), ("gang", SERVICE)):
        for each in seen.of(holders, namespace):
            name, uid = fields.label(each, f"{PREFIX}{kind}"), fields.annotation(each, UID)
            is_part = kind == "gang" or bool(fields.label(each, f"{PREFIX}part"))
            if name and uid and is_part and uid not in there:
                yield Gone(name, kind, each, _ended(fields.annotation(each, ENDED)))


def owners_remembered(seen: Seen, namespace: str) -> Mapping[str, tuple[str, str]]:
    """What a Job is of (its kind and name) by its uid, as what stays of it remembers."""
    return {
        fields.annotation(each, UID): (kind, fields.label(each, f"{PREFIX}{kind}"))
        for kind, holders in (("campaign", CONFIG_MAP), ("gang", SERVICE))
        for each in seen.of(holders, namespace)
        if fields.annotation(each, UID) and fields.label(each, f"{PREFIX}{kind}")
    }


def _ended(written: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(written) if written else None
    except ValueError:
        return None
    return found if isinstance(found, Mapping) else None
