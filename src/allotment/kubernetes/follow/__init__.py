"""What campaigns, fleets and gangs do on a cluster, and why not more: one read model over a snapshot.

It asks nothing of anybody and writes nothing: objects in, frozen values out.
"""

from allotment.kubernetes.follow.following import follow, names_in, parts_in
from allotment.kubernetes.follow.model import (
    Cause,
    Counts,
    Evidence,
    Expected,
    Followed,
    Index,
    IndexState,
    Position,
    Slice,
    State,
    Sum,
    Window,
)

__all__ = [
    "Cause",
    "Counts",
    "Evidence",
    "Expected",
    "Followed",
    "Index",
    "IndexState",
    "Position",
    "Slice",
    "State",
    "Sum",
    "Window",
    "follow",
    "names_in",
    "parts_in",
]
