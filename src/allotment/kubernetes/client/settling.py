"""Whether a write whose answer was lost was done: by a look at what is there now.

A name is given once, so a creation that is made again is never doubled; it may only be refused for its own
first try. The object that is there is that one if its manager has written it and it holds all that was sent,
but for what others have changed since. What names a version is done where all that was sent is there. A
deletion that finds nothing is done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from allotment.kubernetes.client.retries import Found, told_by
from allotment.kubernetes.client.transport import CutError, Reply
from allotment.kubernetes.kinds import Object

Look = Callable[[], Object | None]


def created(sent: Object, manager: str, look: Look) -> Callable[[Found], Reply | None]:
    """What settles a creation."""

    def settle(found: Found) -> Reply | None:
        if not _is_there_already(found) and not _is_lost(found):
            return None
        present = look()
        if present is None or not _is_by(present, manager):
            return None
        return _reply(present) if holds(present, _without_others(sent, present, manager)) else None

    return settle


def replaced(sent: Object, look: Look) -> Callable[[Found], Reply | None]:
    """What settles a change of a version: it is refused for its own first try as for another's."""

    def settle(found: Found) -> Reply | None:
        if isinstance(found, CutError) or found.status != 409:
            return None
        present = look()
        return _reply(present) if present is not None and holds(present, sent) else None

    return settle


def deleted(uid: str | None, look: Look) -> Callable[[Found], Reply | None]:
    """What settles a deletion: what was to go is gone, or another object has its name."""

    def settle(found: Found) -> Reply | None:
        if isinstance(found, CutError) or found.status not in {404, 409}:
            return None
        present = look() if found.status == 409 and uid is not None else None
        is_gone = found.status == 404 or (uid is not None and (present is None or _uid(present) != uid))
        return Reply(200, {}, b"{}") if is_gone else None

    return settle


def holds(present: Any, sent: Any) -> bool:
    """Whether all that was sent is there, and what was sent as null is not, whatever is beside it."""
    if isinstance(sent, Mapping):
        present = {} if present is None else present
        if not isinstance(present, Mapping):
            return False
        keys = [key for key in sent if key not in _OF_THE_SERVER and sent[key] not in ({}, [])]
        return all(holds(present.get(key), sent[key]) for key in keys)
    if isinstance(sent, list):
        same_length = isinstance(present, list) and len(present) == len(sent)
        return same_length and all(holds(there, told) for there, told in zip(present, sent, strict=True))
    return bool(present == sent)


_OF_THE_SERVER = frozenset({"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"})


def _is_lost(found: Found) -> bool:
    return isinstance(found, CutError) or found.status >= 500


def _is_there_already(found: Found) -> bool:
    return isinstance(found, Reply) and told_by(found).get("reason") == "AlreadyExists"


def _is_by(present: Object, manager: str) -> bool:
    """Whether the manager has written it; of an object without fields, such as a bare name, nobody has."""
    entries = _entries(present)
    return not entries or any(each.get("manager") == manager for each in entries)


def _without_others(sent: Any, present: Object, manager: str) -> Any:
    """What was sent, but for the fields that others have written since: a controller may be quick."""
    for each in _entries(present):
        if each.get("manager") != manager:
            sent = _without(sent, each.get("fieldsV1") or {})
    return sent


def _without(value: Any, fields: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping):
        return value
    found = dict(value)
    for name, within in fields.items():
        key = name.removeprefix("f:")
        if key == name or key not in found:
            continue
        if any(each.startswith("f:") for each in within):
            found[key] = _without(found[key], within)
        else:
            del found[key]
    return found


def _entries(present: Object) -> Sequence[Mapping[str, Any]]:
    return present["metadata"].get("managedFields") or ()


def _uid(present: Object) -> str:
    return str(present["metadata"].get("uid", ""))


def _reply(present: Object) -> Reply:
    return Reply(200, {}, json.dumps(present).encode())
