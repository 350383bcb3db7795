"""What a container wrote, line by line, and on after a cut without a line lost or told twice.

Each line is asked for with its time, to the nanosecond; a resumed log begins at a whole second, so lines that
were told before are passed over by their times. Facts: Kubernetes' API reference, "Pod v1 core", "Read Log".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.client.refusals import refusal
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.kinds import POD

if TYPE_CHECKING:
    from allotment.kubernetes.client.sending import Sender


_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of a log: its last ``tail`` lines, those ``since`` a time (RFC 3339).

    ``previous`` is the container before, ``follow`` waits for more until it ends; ``times`` puts each line's
    time before it.
    """

    container: str = ""
    tail: int | None = None
    since: str = ""
    previous: bool = False
    follow: bool = False
    times: bool = False

    def query(self, since: str) -> dict[str, str]:
        """As the API has it; ``since`` is where to go on."""
        told = {
            "container": self.container,
            "tailLines": "" if self.tail is None or since != self.since else str(self.tail),
            "sinceTime": since,
            "previous": "true" if self.previous else "",
            "follow": "true" if self.follow else "",
            "timestamps": "true",
        }
        return {key: value for key, value in told.items() if value}


@dataclass(slots=True)
class _Told:
    """How far the log was told: the time of the last line, and how many lines of that time."""

    time: str = ""
    count: int = 0
    _passing: int = field(default=0)

    def resume(self) -> None:
        """The same lines come again."""
        self._passing = self.count

    def is_new(self, time: str) -> bool:
        """Whether a line of this time was not told yet."""
        if self.time and _order(time) < _order(self.time):
            return False
        if time == self.time and self._passing:
            self._passing -= 1
            return False
        self.time, self.count = time, self.count + 1 if time == self.time else 1
        return True


def log_lines(sender: Sender, name: str, namespace: str, wanted: Wanted) -> Iterator[bytes]:
    """The lines, each with its end."""
    path = POD.path(namespace, name, "log")
    told, cuts = _Told(), 0
    while True:
        request = Request("GET", path, wanted.query(told.time or wanted.since))
        told.resume()
        before = told.time, told.count
        try:
            for line in sender.lines(request):
                time, text = _parted(line)
                if told.is_new(time):
                    yield line if wanted.times else text
            return
        except CutError as error:
            cuts = cuts + 1 if before == (told.time, told.count) else 1
            delays = sender.patience.delays
            if cuts > len(delays) or not sender.patience.wait(delays[cuts - 1], error):
                raise refusal(request, error, sender.transport.name, tries=cuts) from error


def _parted(line: bytes) -> tuple[str, bytes]:
    """A line's time and its text; without a time where the node gives none."""
    time, space, text = line.partition(b" ")
    told = time.decode(errors="replace")
    return (told, text) if space and _TIME.fullmatch(told) else ("", line)


def _order(time: str) -> tuple[float, str]:
    """Times in their order: they may be of other zones, and a fraction has as many digits as it needs."""
    found = _TIME.fullmatch(time)
    if found is None:
        return 0.0, ""
    second, fraction, zone = found.groups()
    return datetime.fromisoformat(second + zone).timestamp(), (fraction or "").ljust(9, "0")
