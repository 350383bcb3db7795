"""Lints of what runs a need: how many pods share a claim, what a priority does, how long a page takes.

Facts: ``ResourceClaim.status.reservedFor`` holds 256; the default scheduler never evicts for devices
(KEP-5690, not in 1.37); Kueue's elastic workloads, beta in 0.18; KAI 0.17 counts a shared claim for each pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from allotment.errors import Finding, Severity
from allotment.needs.lints.looked import File, Looked, known_card
from allotment.needs.memory import in_words
from allotment.needs.rules import ELASTIC_WINDOW, NO_PREEMPTION, ONE_CLAIM, PAGE_OVER_GRACE, TOO_MANY_SHARE
from allotment.needs.ways import Scope
from allotment.repository.model import Campaign

CampaignLint = Callable[[Looked], Iterator[Finding]]

MOST_SHARING: Final = 256
_DEFAULT: Final = "default"


def one_claim_for_all(looked: Looked) -> Iterator[Finding]:
    """Pods that name one claim, and so are all on its one card."""
    if looked.choice.scope is not Scope.SHARED:
        return
    way, count = looked.ways[0], looked.need.count
    cards = "1 card" if count == 1 else f"{count} cards"
    for position, name, pods in looked.pods():
        message = (
            f"a template makes a claim for each pod, so `{way.word}` names one claim: all {pods} pods of "
            f"`{name}` "
            f"share {cards} of one node, however many are free"
        )
        counted = f"KAI's quota counts {count * pods} cards for it" if looked.with_kai else ""
        evidence = tuple(filter(None, (f"claim `{looked.name}`, at most {pods} pods", counted)))
        hint = "several campaigns are several claims, each with a card of its own"
        yield looked.note(position, ONE_CLAIM, message, hint, *evidence)


def too_many_share(looked: Looked) -> Iterator[Finding]:
    """More pods than one claim can serve, or one card has memory for."""
    if looked.choice.scope is not Scope.SHARED:
        return
    for position, name, pods in looked.pods():
        if pods > MOST_SHARING:
            message = (
                f"`{name}` may have {pods} pods at once, and a claim is reserved for at most {MOST_SHARING}"
            )
            yield Finding(position, TOO_MANY_SHARE, message, f"make the window {MOST_SHARING} or narrower")
        for each in looked.figures:
            card = known_card(each.card)
            if card is not None and card.memory and pods * each.room > card.memory:
                fit = max(1, card.memory // each.room)
                message = (
                    f"{pods} pods of {in_words(each.room)} do not go on one {card.id} of "
                    f"{in_words(card.memory)}"
                )
                evidence = f"peak {in_words(each.peak)} over {each.pages} pages of {each.volumes} volumes"
                hint = f"make the window {fit} or narrower"
                yield Finding(position, TOO_MANY_SHARE, message, hint, evidence=(evidence,))


def no_preemption(looked: Looked) -> Iterator[Finding]:
    """A priority above others, where nobody takes devices for it."""
    if not looked.on_cluster or looked.platform.scheduler != _DEFAULT or looked.need.cpu is not None:
        return
    lanes = looked.platform.lanes
    least = min(lane.value for lane in lanes.values())
    stated = looked.campaigns or (() if hasattr(looked.file, "steps") else (looked.file,))
    for each in stated:
        lane = getattr(each, "priority", looked.platform.default_lane)
        if lanes[lane].value > least and _states(each, "priority"):
            message = (
                f"`priority: {lane}` orders what waits, and the default scheduler takes no devices from "
                "others"
            )
            hint = "with Kueue or KAI it would; here it starts when a card is given back"
            evidence = f"{lane} {lanes[lane].value}, lowest {least}"
            yield looked.note(each.position("priority"), NO_PREEMPTION, message, hint, evidence)


def _states(file: File | Campaign, key: str) -> bool:
    """Whether a file says this itself."""
    return file.document is not None and key in file.document.value


def elastic_window(looked: Looked) -> Iterator[Finding]:
    """A range that only the window controller moves."""
    if not looked.with_kueue:
        return
    for each in looked.campaigns:
        if each.window.max > each.window.min:
            message = (
                f"with Kueue the window starts at {each.window.min} and stays there unless the window "
                "controller "
                f"runs, which moves it up to {each.window.max}"
            )
            hint = (
                f"write `window: {{min: {each.window.max}, max: {each.window.max}}}` to start wide, or run it"
            )
            evidence = f"elastic workloads are beta in Kueue {looked.platform.versions.kueue}"
            yield looked.note(each.position("window"), ELASTIC_WINDOW, message, hint, evidence)


def page_over_grace(looked: Looked) -> Iterator[Finding]:
    """Pages that a reclaim would cut off again and again."""
    defaults = looked.platform.defaults
    limit = max(defaults.grace_seconds, defaults.minimum_runtime)
    slow = [each for each in looked.figures if each.page_seconds.max > limit]
    for each in slow:
        message = (
            f"a page took {each.page_seconds.max:.0f} s on {each.card}, longer than the "
            f"{defaults.grace_seconds} s "
            f"that a pod is given to end and the {defaults.minimum_runtime} s that it is left alone: a "
            "reclaim "
            "loses it, and may lose it again"
        )
        evidence = f"half of them {each.page_seconds.p50:.0f} s, 95 of 100 {each.page_seconds.p95:.0f} s"
        hint = "raise `minimum_runtime` or `grace_seconds` in the platform's file, or make pages smaller"
        yield Finding(
            looked.file.position("steps"), PAGE_OVER_GRACE, message, hint, Severity.WARNING, (evidence,)
        )


CAMPAIGN_LINTS: Final[tuple[CampaignLint, ...]] = (
    one_claim_for_all,
    too_many_share,
    no_preemption,
    elastic_window,
    page_over_grace,
)
