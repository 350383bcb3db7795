"""How long a volume waits whose source could not be reached: longer each time, since outages last.

A server that is down, or a name that leads nowhere for a while, is not back after the seconds that are right
for a worker that crashed. Up to a quarter less or more, by chance, keeps the volumes of a campaign from
coming back all at once.
"""

from __future__ import annotations

from allotment.events.event import Event
from allotment.running.endings import UNREACHABLE

PAUSES = (10.0, 60.0, 300.0)
SPREAD = 0.5
NEXT_TRY = "next_try"


def source_pause(event: Event, chance: float) -> float:
    """The pause that an event of a volume asks for, in seconds; ``chance`` is from 0 to 1."""
    if event.kind != "volume.retrying" or event.data.get("reason") != UNREACHABLE:
        return 0.0
    failures = event.data.get("failures")
    place = failures - 1 if isinstance(failures, int) else 0
    pause = PAUSES[min(max(place, 0), len(PAUSES) - 1)]
    return pause * (1.0 + SPREAD * (chance - 0.5))
