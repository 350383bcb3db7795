"""What a live Job still needs: its width handed over, what is rendered of it, its memory, its window.

The same steps follow the creation of a Job and mend one whose creation was interrupted anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.apply.fields import RECORD, WINDOW
from allotment.kubernetes.apply.groups import notes_on
from allotment.kubernetes.apply.jobs import (
    as_live,
    has_window,
    is_handed_over,
    kept_words,
    movers_of,
    width_of,
    with_width,
)
from allotment.kubernetes.apply.memory import memory_of, remembering, remembers
from allotment.kubernetes.apply.outcome import Verb
from allotment.kubernetes.apply.steps import Apply
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.names import PREFIX

WINDOW_NOTE: Final = f"{PREFIX}window"
"""The annotation of a Job that says the window of its campaign: ``2..8``."""
AT_MOST: Final = f"{PREFIX}at-most"
"""The annotation of a Job by which a person holds its width."""


def settling(context: Context, rendered: Object, live: Object, holder: Object | None) -> Iterator[Apply]:
    """The steps for a Job that is there and has not ended."""
    is_window = has_window(rendered)
    is_over = is_handed_over(live)
    if is_window and not is_over:
        yield Apply(with_width(live, width_of(live)), live, WINDOW)
    yield Apply(as_live(rendered, live), live, follows=is_window and not is_over)
    yield from remembered(live, holder)
    width = int(rendered["spec"].get("parallelism", 1))
    if is_window and not context.with_kueue and width != width_of(live) and not _is_moved(rendered, live):
        yield Apply(with_width(live, width), live, WINDOW, follows=not is_over)


def _is_moved(rendered: Object, live: Object) -> bool:
    """Whether a person holds the width, or somebody else has moved it and the file says what it said."""
    if AT_MOST in notes_on(live):
        return True
    same = notes_on(rendered).get(WINDOW_NOTE) == notes_on(live).get(WINDOW_NOTE)
    return bool(movers_of(live)) and same


def remembered(live: Object, holder: Object | None) -> Iterator[Apply]:
    """What is written down of a Job, where it is not yet."""
    if holder is None:
        return
    memory = memory_of(live)
    if not remembers(holder, memory):
        yield Apply(remembering(holder, memory), holder, RECORD, verb=Verb.RECORDED)


def settled_words(context: Context, rendered: Object, live: Object) -> Iterator[str]:
    """What there is to say of a live Job that is not as its files say."""
    kept = kept_words(rendered, live)
    if kept is not None:
        yield kept
    width = int(rendered["spec"].get("parallelism", 1))
    if (
        has_window(rendered)
        and not context.with_kueue
        and width != width_of(live)
        and _is_moved(rendered, live)
    ):
        who = " and ".join(movers_of(live)) or f"whoever wrote {AT_MOST}"
        name = live["metadata"]["name"]
        yield f"{who} made Job {name} {width_of(live)} wide, where the file says {width}: it is left so"
    now, was = notes_on(rendered).get(WINDOW_NOTE), notes_on(live).get(WINDOW_NOTE)
    if context.with_kueue and None not in {now, was} and now != was:
        yield (
            f"its window was {was} and is {now}: the window controller moves Job {live['metadata']['name']}; "
            f"without one it goes on {width_of(live)} wide, once admitted, to its end"
        )
