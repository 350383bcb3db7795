"""What Kueue cannot count: claims that it refuses, as its texts say it, and what would make it take them.

Facts: Kueue 0.19, texts seen on a real one (``pkg/dra``). Some of these heal by themselves when the cause
goes, as the first admission of a template that comes later; a class that is not mapped needs a change of
Kueue's configuration and a restart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR, short
from allotment.kubernetes.follow.model import State


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refusal is called, what it says in words, and what to do."""

    kind: str
    sentence: str
    remedy: str
    state: State = State.NEVER


_Said = Callable[[re.Match[str]], Refusal]


def refusal_of(message: str) -> Refusal:
    """What a message of Kueue's means."""
    for pattern, say in _TABLE:
        found = pattern.search(message)
        if found is not None:
            return say(found)
    return Refusal(
        "misconfigured",
        f"Kueue refuses it as it is written: {short(message)}"
        if message
        else "Kueue refuses it as it is written",
        "compare its claim template with what the evidence says; `allot render` shows what is sent",
    )


def _not_mapped(found: re.Match[str]) -> Refusal:
    return Refusal(
        "class-not-mapped",
        f"Kueue has not been told which quota the device class `{found[1]}` counts against, so it "
        "admits none",
        f"{ADMINISTRATOR} adds the class to `deviceClassMappings` of Kueue's configuration (`allot render "
        "--platform-objects` prints them) and restarts Kueue",
    )


def _fallback(_found: re.Match[str]) -> Refusal:
    return Refusal(
        "fallback-refused",
        "its claim has a list of alternatives (`firstAvailable`), and this Kueue takes no lists",
        "take `fallback` out of `gpu:` in its pipeline, or send it again: `allot render` writes a "
        "claim without it",
    )


def _no_selectors(_found: re.Match[str]) -> Refusal:
    return Refusal(
        "selectors-refused",
        "this Kueue admits no claims with selectors, and its need is written with some",
        "ask for a `card` alone in `gpu:`, which its device class says by itself; Kueue 0.18 takes selectors",
    )


def _all_mode(_found: re.Match[str]) -> Refusal:
    return Refusal(
        "all-refused",
        "its claim asks for all devices of a node (`allocationMode: All`), and Kueue takes a number alone",
        "write how many with `count` in `gpu:`",
    )


def _no_match(found: re.Match[str]) -> Refusal:
    where, there, asked = found[1], int(found[2]), found[3]
    if there == 0:
        words = f"no device of the class `{where}` in the whole cluster passes its selectors"
    else:
        words = (
            f"it asks for {asked} devices of the class `{where}`, and only {there} in the cluster "
            "pass its selectors"
        )
    return Refusal(
        "nothing-matches",
        words,
        "ask for less in `gpu:` (`allot why NAME --cluster` tries what would do); it starts by "
        "itself once such "
        "devices are there",
    )


def _key(found: re.Match[str]) -> Refusal:
    return Refusal(
        "selector-fails",
        f"its selector reads `{found[2]}`, which a device of the class `{found[1]}` does not "
        "have, and fails on it",
        "mend the name, or guard it in `select`: `has(…)`, or `.?" + found[2] + ".orValue(…)`",
    )


def _no_class(found: re.Match[str]) -> Refusal:
    return Refusal(
        "class-missing",
        f"the device class `{found[1]}` is not in the cluster",
        f"name another card in `gpu:`, or ask {ADMINISTRATOR} for the class (`allot render "
        "--platform-objects`)",
    )


def _no_template(found: re.Match[str]) -> Refusal:
    return Refusal(
        "template-missing",
        f"its claim template `{found[1]}` is gone",
        "`allot apply` makes it again, and it starts by itself then",
        State.WAITING,
    )


def _by_name(_found: re.Match[str]) -> Refusal:
    return Refusal(
        "named-claim",
        "its pods share one named claim, and Kueue takes claims of templates alone",
        "give up sharing by a claim in `gpu:`, or let the platform place it without Kueue",
    )


_TABLE: Final[tuple[tuple[re.Pattern[str], _Said], ...]] = (
    (re.compile(r"DeviceClass (\S+) is not mapped in DRA configuration"), _not_mapped),
    (re.compile(r"FirstAvailable device selection is not supported"), _fallback),
    (re.compile(r"CEL selectors are not supported"), _no_selectors),
    (re.compile(r"AllocationMode 'All' is not supported"), _all_mode),
    (
        re.compile(
            r"CEL selector in DeviceClass (\S+): (\d{1,9}) device\(s\) match in the cluster "
            r"but (\d{1,9}) requested"
        ),
        _no_match,
    ),
    (re.compile(r"CEL evaluation failed for DeviceClass (\S+): no such key: (\S+)"), _key),
    (re.compile(r"failed to get DeviceClass (\S+?): "), _no_class),
    (re.compile(r"failed to get claim spec for ResourceClaimTemplate (\S+) in"), _no_template),
    (re.compile(r"does not support use of resource claims|DRA resource claims not supported"), _by_name),
)
