"""Which devices would do for one pod of a work, and what stands first in the way of the others.

It is what `allot why` says, made short: so many of so many cards, and the first clause that takes any out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from allotment.devices.catalogue import by_product_name
from allotment.devices.world import World
from allotment.needs.fit import Explanation, explain
from allotment.planning.plan.caveats import caveats_of
from allotment.planning.plan.plan import Fits
from allotment.planning.why.needs import asked_of
from allotment.planning.why.room import Holding, holdings_of
from allotment.planning.why.steps import Lost, Stage, Step
from allotment.planning.why.why import Alternative, State, why
from allotment.platform.model import Platform
from allotment.repository.model import Gang, HasNeed

_WHOLE = "whole"
_OF_CLASS = re.compile(r"\(class ([^()]+)\)$")
_OTHER_SORTS = ("`driver` is ", "`type` is ", "no `type`")
_LATER = frozenset({Stage.USE, Stage.TOGETHER})


def fits_of(
    name: str,
    file: HasNeed,
    platform: Platform,
    world: World,
    *,
    here: bool,
    version: str = "",
    holdings: Sequence[Holding] | None = None,
) -> tuple[Fits | None, tuple[str, ...]]:
    """What of the world would do for one pod (None: it makes no claim), and what to beware of.

    ``version`` is the cluster's own, as far as it tells it.
    """
    asked = asked_of(file, platform, world, here=here)
    if asked.claim is None:
        return None, ()
    world = replace(world, classes={**asked.classes, **world.classes})
    held = holdings_of(world) if holdings is None else holdings
    together = file.min if isinstance(file, Gang) else 1
    told = why(asked.claim, world, held, others=asked.others, together=together)
    found = explain(asked.claim, world)
    alternative = _best(told.alternatives)
    everything = _everything(alternative)
    noun = ("card" if _are_whole(found) else "device") + ("" if everything == 1 else "s")
    fits = Fits(
        asks=told.asks,
        state=told.state,
        sentence=_sentence(told.state, alternative.would, f"{everything:,} {noun}"),
        all=everything,
        would=alternative.would,
        free=alternative.free,
        cards=_cards(found),
        obstacle=_obstacle(alternative)
        if alternative.would and told.state is not State.NEVER
        else told.sentence,
        alternatives=told.alternatives,
        remedies=told.changes,
        notes=(*asked.given_up, *told.notes),
        held=told.cause.words if told.cause is not None and told.state is State.WAITS else "",
    )
    return fits, tuple(caveats_of(name, asked.claim, world, version))


def _sentence(state: State, would: int, of: str) -> str:
    """How many would do; where each would and no pod fits all the same, that they are not enough together."""
    if state is State.NEVER and would:
        return f"fits nowhere, though one by one {would:,} of {of} would do"
    return f"fits {would:,} of {of}"


def _best(alternatives: Sequence[Alternative]) -> Alternative:
    return max(alternatives, key=lambda each: each.would)


def _everything(alternative: Alternative) -> int:
    """How many devices there are, without those that are no cards, or other parts of the same cards."""
    if not alternative.steps:
        return 0
    others = [lost for step in alternative.steps for lost in step.lost if _is_of_another_sort(step, lost)]
    everything = alternative.steps[0].left
    return everything - sum(lost.count for lost in others) or everything


def _is_of_another_sort(step: Step, lost: Lost) -> bool:
    return step.stage is Stage.CLASS and lost.why.startswith(_OTHER_SORTS)


def _obstacle(alternative: Alternative) -> str:
    """The first step that takes any device out, and which."""
    for step in alternative.steps:
        lost = [each for each in step.lost if not _is_of_another_sort(step, each)]
        if lost and step.stage not in _LATER:
            return _lost_words(step, lost)
    return ""


def _lost_words(step: Step, those: Sequence[Lost]) -> str:
    lost = those[0]
    why_not = f": {lost.why}" if lost.why else ""
    rest = sum(each.count for each in those[1:])
    more = f", and {rest:,} more" if rest else ""
    in_class = _OF_CLASS.search(step.words) if step.stage is Stage.CLASS else None
    wanted = f"are of class {in_class[1]}" if in_class else step.words
    return f"not all {wanted} ({lost.count:,} x {lost.card}{why_not}{more})"


def _are_whole(found: Explanation) -> bool:
    """Whether what would do, or what comes nearest to it, are whole cards."""
    kinds = {each.kind for alternative in found.alternatives for each in alternative.alike}
    nearest = {each.nearest.kind for each in found.alternatives if each.nearest is not None}
    return (kinds or nearest) == {_WHOLE}


def _cards(found: Explanation) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for alternative in found.alternatives:
        for each in alternative.alike:
            known = by_product_name(each.card)
            card = each.card if known is None else known.id
            name = card if each.kind in {_WHOLE, each.card, ""} else f"{card} {each.kind}"
            counts[name] = max(counts[name], each.count)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
