"""The rules that a reading of API objects can name, each with its meaning."""

from __future__ import annotations

from typing import Final

RULES: Final = {
    "api-limit": "An object breaks a rule of the API: its server would refuse it.",
    "counted-twice": "A node's cards are published in slices and by a device plugin as well.",
    "duplicate-object": "Two objects of one kind have one name.",
    "gated-field": "A server takes a field out, for its feature gate is off or its version has none.",
    "kind-not-read": "Objects of a kind that says nothing about devices were passed by.",
    "listed-twice": "One card is published as several devices that do not share counters.",
    "no-object": "What stands here is no API object.",
    "pool-incomplete": "Slices of a pool's newest generation are missing, or there are too many.",
    "pool-invalid": "Two devices of a pool have one name.",
    "pool-obsolete": "A slice is of an older generation than its pool's newest.",
    "unknown-counter-set": "A device takes from counters that its pool does not have.",
    "unknown-field": "A field is not known to this version; it is kept.",
    "unknown-kind": "A kind or a group of the API is written wrongly.",
    "unknown-version": "An object is of a version of the API that is not read.",
    "wrong-version": "An object's fields are not those of the version that it says.",
}
