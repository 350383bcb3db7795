"""Shares of queues for people: a sentence, a line and a bar for each, what waits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

import click

from allotment.cli.columns import GAP, Column, table
from allotment.cli.pictures import bar
from allotment.cli.shared import safe
from allotment.kubernetes.cluster.capacity import NOTHING, Amount, amount_text
from allotment.pictures.counts import counted
from allotment.planning.queues import Share, Shares, total
from allotment.planning.queues_here import CARDS, PROCESSORS

HOLDERS: Final[Mapping[str, str]] = {
    "kueue": "Kueue",
    "kai": "KAI",
    "both": "Kueue, with KAI to place",
    "default": "no queues",
    "local": "this machine",
    "file": "a platform's file",
}
WORDS: Final[Mapping[str, str]] = {"default": "namespace", "file": "team", "local": "team"}
USED, BORROWED, LENT, IDLE, TO_LIMIT = "█", "▓", "▒", "░", "·"
MEANINGS: Final[Mapping[str, str]] = {
    USED: "in use",
    BORROWED: "in use over the quota",
    LENT: "quota that others use",
    IDLE: "idle quota",
    TO_LIMIT: "up to the limit",
}
COLOURS: Final = {USED: "green", BORROWED: "yellow", LENT: "cyan"}
_STRETCH: Final = re.compile("|".join(f"{sign}+" for sign in COLOURS))
WIDEST_BAR: Final = 40
NARROWEST_BAR: Final = 8
FARTHEST_LIMIT: Final = 3
"""A limit so many times above everything else is left out of the picture, which it would make flat."""
NONE: Final = "–"
PLURALS: Final = frozenset({CARDS, PROCESSORS})


def as_text(shares: Shares, width: int | None, *, in_words: bool = False) -> Iterator[str]:
    """All of it for people; ``in_words`` adds how each number comes about."""
    yield from (click.style(line, bold=True) for line in _wrapped(_headline(shares), width))
    for resource in shares.resources:
        yield ""
        yield from _table(shares, resource, width)
    yield from _below(_about(shares, in_words=in_words), width)
    yield from _below((f"note: {note}" for note in shares.notes), width)


def _below(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """The lines with one blank before them, if there are any."""
    for number, line in enumerate(lines):
        if not number:
            yield ""
        yield from _wrapped(line, width)


def _wrapped(line: str, width: int | None) -> list[str]:
    text = safe(line)
    return [text] if width is None else wrap(text, width, subsequent_indent="  ")


def _headline(shares: Shares) -> str:
    begin = f"{shares.name}: {HOLDERS.get(shares.holder, shares.holder)}"
    if not shares.shares:
        return begin
    word = WORDS.get(shares.holder, "queue")
    parts = [counted(len({each.queue for each in shares.shares}), word)]
    parts += [_sum_words(resource, shares) for resource in shares.resources]
    return f"{begin}, {'; '.join(part for part in parts if part)}"


def _sum_words(resource: str, shares: Shares) -> str:
    rows = shares.of(resource)
    used, quota = total(each.used for each in rows), shares.quota_in_all(resource)
    if used is None:
        return "" if quota is None else f"{_text(quota)} {resource} guaranteed in all"
    there = shares.there_in_all(resource)
    of = "" if there is None else f" of {_text(there)}"
    words = f"{_text(used)}{of} {resource} in use"
    words += "" if quota is None else f" (quotas {_text(quota)})"
    borrowed = sum((each.borrowed for each in rows), NOTHING)
    words += f", {_text(borrowed)} of them over quotas" if borrowed else ""
    return words + _waiting_words(
        sum(each.waiting or 0 for each in rows), total(each.waiting_for for each in rows), begin=", "
    )


def _waiting_words(works: int, amount: Amount | None, what: str = "", begin: str = "") -> str:
    """``2 campaigns wait for 6``; nothing where nothing waits."""
    if not works and not amount:
        return ""
    who = counted(works, "campaign") if works else "work"
    verb = "wait" if works > 1 else "waits"
    return f"{begin}{who} {verb}" + (f" for {_text(amount)}{what}" if amount else "")


def _table(shares: Shares, resource: str, width: int | None) -> Iterator[str]:
    """The titles, a line for each queue, the sums, and what the signs of the bars mean."""
    rows = shares.of(resource)
    borrowed = "BORROWED" if shares.holder in {"kueue", "both"} else "OVER QUOTA"
    columns = [
        Column(WORDS.get(shares.holder, "queue").upper(), least=10, from_middle=True),
        *(
            Column(title, right=True)
            for title in ("QUOTA", "FAIR", "IN USE", borrowed, "LENT", "LIMIT", "WEIGHT")
        ),
        Column("WAITING", right=True),
    ]
    cells = [_cells(each, rows, shares) for each in rows]
    sums = _total_cells(rows, shares.quota_in_all(resource))
    if len(rows) > 1 and any(sums[1:]):
        cells.append(sums)
    room = _room(columns, cells, width)
    pictures = [_picture(each, _scale(rows), room) for each in rows] if room else []
    pictured = [*pictures, *[""] * (len(cells) - len(pictures))]
    drawn = [(*each, picture) for each, picture in zip(cells, pictured, strict=True)]
    titles, *lines = table([*columns, Column("", paint=_painted)], drawn, width)
    yield click.style(titles, bold=True)
    yield from lines
    meanings = {**MEANINGS, IDLE: "quota"} if shares.holder == "file" else MEANINGS
    legend = [f"{sign} {words}" for sign, words in meanings.items() if any(sign in each for each in pictures)]
    if legend:
        yield ""
        yield from (_painted("", line) for line in _wrapped(GAP.join(legend), width))


def _room(columns: Sequence[Column], cells: Sequence[tuple[str, ...]], width: int | None) -> int:
    """How wide bars may be; names of queues are cut before there is no bar at all."""
    if width is None:
        return WIDEST_BAR // 2
    with_least = width - NARROWEST_BAR - len(GAP)
    taken = max(map(len, table([*columns, Column("")], [(*each, "") for each in cells], with_least)))
    room = width - taken - len(GAP)
    return min(WIDEST_BAR, room) if room >= NARROWEST_BAR else 0


def _cells(share: Share, rows: Sequence[Share], shares: Shares) -> tuple[str, ...]:
    stated = shares.holder != "default"
    weighted = any(each.weight != 1 for each in rows)
    return (
        safe(share.queue) + (" (inactive)" if share.inactive else ""),
        (NONE if share.quota is None else _text(share.quota)) if stated else "",
        "" if share.fair is None else _text(share.fair),
        "" if share.used is None else _text(share.used),
        _text(share.borrowed) if share.borrowed else "",
        _text(share.lent) if share.lent else "",
        (NONE if share.limit is None else _text(share.limit)) if stated else "",
        _text(share.weight) if weighted else "",
        _waiting(share.waiting, share.waiting_for),
    )


def _total_cells(rows: Sequence[Share], quota: Amount | None) -> tuple[str, ...]:
    used = total(each.used for each in rows)
    borrowed = sum((each.borrowed for each in rows), NOTHING)
    waiting = [each.waiting for each in rows if each.waiting is not None]
    return (
        "all",
        "" if quota is None else _text(quota),
        "",
        "" if used is None else _text(used),
        _text(borrowed) if borrowed else "",
        "",
        "",
        "",
        _waiting(sum(waiting), total(each.waiting_for for each in rows)),
    )


def _waiting(works: int | None, amount: Amount | None) -> str:
    parts = [f"{works:,}"] if works else []
    parts += [f"for {_text(amount)}"] if amount else []
    return " ".join(parts)


def _scale(rows: Sequence[Share]) -> float:
    """What the longest bar stands for."""
    most = max(float(max(each.used or NOTHING, each.quota or NOTHING)) for each in rows)
    limits = [float(each.limit) for each in rows if each.limit is not None]
    return max([most, *(limit for limit in limits if limit <= most * FARTHEST_LIMIT)])


def _picture(share: Share, scale: float, width: int) -> str:
    used = share.used or NOTHING
    quota = used if share.quota is None else share.quota
    within = min(used, quota)
    limit = share.limit or NOTHING
    parts = [
        (USED, within),
        (BORROWED, used - within),
        (LENT, share.lent),
        (IDLE, max(NOTHING, quota - within - share.lent)),
    ]
    if float(limit) <= scale:
        parts.append((TO_LIMIT, max(NOTHING, limit - max(used, quota))))
    return bar([(sign, float(part)) for sign, part in parts], scale, width)


def _painted(_cell: str, piece: str) -> str:
    return _STRETCH.sub(lambda found: click.style(found[0], fg=COLOURS[found[0][0]]), piece)


def _about(shares: Shares, *, in_words: bool) -> Iterator[str]:
    """What is to be said of single queues: why they admit nothing, what waits, and the sums."""
    for each in shares.shares:
        if each.inactive:
            yield f"{each.queue} admits nothing: {each.inactive}"
        waits = _waiting_words(each.waiting or 0, each.waiting_for, f" {_noun(each)}")
        if waits:
            yield f"{each.queue}: {waits}{_free_words(each, shares.holder)}"
        if each.paused:
            yield f"{each.queue}: {counted(each.paused, 'campaign')} paused, for which nothing is kept"
        if each.next_end and (in_words or each.borrowed):
            yield f"{each.queue}: {_ends_for(each, shares)} is {each.next_end}"
        if each.unreached:
            yield f"{each.queue}: {each.unreached}"
        if in_words and each.sum:
            yield each.sum
    if shares.holder != "default" and any(each.quota is None for each in shares.shares):
        yield f"{NONE} as a quota: none is stated, so nothing is guaranteed, and all that is idle may be used"


def _noun(share: Share) -> str:
    """What is waited for: ``GPU`` of one; a name that a cluster gives stays as it is."""
    is_one = share.waiting_for == 1 and share.resource in PLURALS
    return share.resource.removesuffix("s") if is_one else share.resource


def _ends_for(share: Share, shares: Shares) -> str:
    """Whether others ask already for what this one has over its quota."""
    others = (each for each in shares.of(share.resource) if each.queue != share.queue)
    if any(each.waiting or each.waiting_for for each in others):
        return "others wait, and the first to end for their shares"
    return "were others to ask for their shares, the first to end"


def _free_words(share: Share, holder: str) -> str:
    """How much could be had now, and what of the quota is with others."""
    if share.free is None:
        return ""
    if not share.free and share.limit is not None and (share.used or NOTHING) >= share.limit:
        return f"; its limit of {_text(share.limit)} is reached"
    verb = "is" if share.free <= 1 else "are"
    words = f"; {_text(share.free) if share.free else 'nothing'} {verb} free for it now"
    if holder == "kai":
        words = f"; its limits leave room for {_text(share.free)} more"
    if share.lent:
        lent = f"{_text(share.lent)} of its quota is with others"
        words += f", and {lent}, from whom it is taken back when it is asked for"
    return words


def _text(amount: Amount | None) -> str:
    return NONE if amount is None else amount_text(amount)
