"""Whether what is to be applied is already there, told from the live object alone.

It is there when every value of it is, and when its manager owns these fields and no others: a field that is
dropped has to be taken away, and one that nobody applied could be changed by anybody. In every doubt, such as
a value of several members that a server has filled up, the answer is no: the apply is then sent as a dry-run,
whose answer shows whether anything would change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from allotment.kubernetes.apply.fields import MANAGER, Fields, applied_fields, item_of, steps
from allotment.kubernetes.kinds import Object
from allotment.quantities import QuantityError, parse_exact

_ADDRESS: Final = frozenset({"name", "namespace", "uid"})
_AMOUNTS: Final = frozenset({"requests", "limits", "sizeLimit", "capacity"})
_FROZEN: Final = frozenset({"ResourceClaimTemplate", "ResourceClaim"})
"""Kinds whose spec never changes: what a server filled in there cannot be taken away either."""


def is_there(wanted: Object, live: Object, manager: str = MANAGER) -> bool:
    """Whether applying it would change nothing."""
    fields = applied_fields(live, manager)
    metadata = {key: each for key, each in wanted["metadata"].items() if key not in _ADDRESS}
    said = {key: each for key, each in wanted.items() if key not in {"apiVersion", "kind", "metadata"}}
    said = {**said, "metadata": metadata} if metadata else said
    return bool(fields) and _is_there(said, live, fields, exact=wanted["kind"] not in _FROZEN)


def is_same(before: Object, after: Object) -> bool:
    """Whether an answer is the object as it was, owners too; versions and times do not count."""
    return _bare(before) == _bare(after)


def has_values(wanted: Any, live: Any, *, amount: bool = False) -> bool:
    """Whether all of a value is in another, which may have more members, and more items by name."""
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            (key in live or not each)
            and has_values(each, live.get(key, each), amount=amount or key in _AMOUNTS)
            for key, each in wanted.items()
        )
    if _is_list(wanted):
        return _is_list(live) and _has_items(wanted, live)
    return wanted == live or (amount and _same_amount(wanted, live))


def _has_items(wanted: Sequence[Any], live: Sequence[Any]) -> bool:
    names = [each.get("name") for each in wanted if isinstance(each, Mapping)]
    if None not in names and len(set(names)) == len(wanted):
        named = {each.get("name"): each for each in live if isinstance(each, Mapping)}
        return all(each["name"] in named and has_values(each, named[each["name"]]) for each in wanted)
    return len(wanted) == len(live) and all(map(has_values, wanted, live))


def _is_there(wanted: Any, live: Any, fields: Fields, *, exact: bool, amount: bool = False) -> bool:
    below = {(sort, name): each for sort, name, each in steps(fields)}
    if not below:
        return (
            wanted == live
            or (amount and _same_amount(wanted, live))
            or (not exact and has_values(wanted, live))
        )
    if isinstance(wanted, Mapping):
        return (
            isinstance(live, Mapping)
            and {name for _, name in below} == set(wanted)
            and all(
                key in live
                and _is_there(each, live[key], below["f", key], exact=exact, amount=amount or key in _AMOUNTS)
                for key, each in wanted.items()
            )
        )
    if not (_is_list(wanted) and _is_list(live)) or len(below) != len(wanted):
        return False
    return all(
        sort == "v" or _is_item(wanted, live, name, each, exact=exact) for (sort, name), each in below.items()
    ) and all(isinstance(each, Mapping) or each in live for each in wanted)


def _is_item(wanted: Sequence[Any], live: Sequence[Any], keys: str, fields: Fields, *, exact: bool) -> bool:
    one, other = item_of(wanted, keys), item_of(live, keys)
    return one is not None and other is not None and _is_there(one, other, fields, exact=exact)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _same_amount(one: Any, other: Any) -> bool:
    try:
        return parse_exact(one) == parse_exact(other)
    except (QuantityError, TypeError):
        return False


def _bare(value: Object) -> Mapping[str, Any]:
    left = {"managedFields", "resourceVersion", "generation"}
    metadata = {key: each for key, each in value["metadata"].items() if key not in left}
    owners = [
        {key: each for key, each in entry.items() if key != "time"}
        for entry in value["metadata"].get("managedFields") or ()
    ]
    return {**value, "metadata": {**metadata, "managedFields": sorted(owners, key=json.dumps)}}
