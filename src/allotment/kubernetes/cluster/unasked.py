"""Of which kinds a file that `kubectl get` printed tells nothing: nobody asked for them.

A file of ours says in its header what could not be read, so that whatever else is not in it is not there. One
without a header holds what was asked for and nothing else: of a kind without a single object it is not known
whether there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.reading import ASKED
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import Kind, Object

NOT_IN_FILE: Final = "not in the file"


def unasked(objects: Iterable[Object]) -> Iterator[Missing]:
    """The kinds that a file with these objects, and no header, tells nothing of."""
    there = {(str(each["apiVersion"]), str(each["kind"])) for each in objects}
    for asked in ASKED:
        is_there = any((kind.api_version, kind.name) in there for kind in asked.kinds)
        if not is_there:
            yield Missing(asked.kind, NOT_IN_FILE)


def is_unasked(snapshot: Snapshot, *found: Kind) -> bool:
    """Whether the snapshot is a file that was asked for none of these kinds."""
    return all(snapshot.lacks(kind) == NOT_IN_FILE for kind in found)


def are_queues_unasked(snapshot: Snapshot) -> bool:
    """Whether the snapshot is a file that was asked for no queues of anybody's."""
    return is_unasked(snapshot, kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE, kinds.KAI_QUEUE)


def surer(*found: Kind) -> str:
    """What to type for a file that tells of these kinds too."""
    asked = dict.fromkeys((kinds.SLICE, kinds.DEVICE_CLASS, kinds.NODE, *found))
    told = ",".join(kind.plural if kind.group.endswith("k8s.io") else kind.shown for kind in asked)
    return f"`kubectl get {told} -A -o yaml` tells, or `allot snapshot`"
