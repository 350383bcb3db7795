"""The course of a plan as pictures: on the plan's page, and alone as a file that other texts can show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from allotment.cli.forms.plan_words import if_they_stay, scheduler_name
from allotment.cli.pages.colours import Colours, colours_of
from allotment.cli.pages.course import Planned, cards, extent_of, shares_of
from allotment.pictures.alone import Captioned, alone
from allotment.pictures.chart import Chart
from allotment.pictures.over_time import SharesOverTime
from allotment.pictures.shares import stack
from allotment.pictures.timeline import Mark
from allotment.planning.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class DrawnCourse:
    """The cards over time, a sentence about those left out, and where teams share them who has them."""

    cards: Chart
    idle: str
    shares: SharesOverTime | None


def _nothing(plan: Plan) -> str:
    """That nothing runs, and what that hangs on where it waits for others."""
    waiting = [found for each in plan.works if (found := if_they_stay(plan, each))]
    return f"Nothing of it runs{waiting[0] if waiting else ''}."


def plan_picture(plan: Plan, zone: tzinfo = UTC) -> str:
    """The file's text (SVG): the cards over time, and who has them; clock times are of the zone."""
    clock = datetime.fromtimestamp(plan.at, zone) if plan.at > 0 else None
    colours = plan_colours(plan)
    drawn = drawn_course(plan, clock, colours)
    if drawn is None:
        return alone(title_of(plan), (), _nothing(plan))
    pictures = [Captioned(drawn.cards, f"What runs on each card, placed by {scheduler_name(plan)}")]
    if drawn.shares is not None and len(drawn.shares.queues) > 1:
        together = stack(drawn.shares, "share-all", colours.teams)
        pictures.append(Captioned(together, "Who has the cards"))
    return alone(title_of(plan), pictures)


def title_of(plan: Plan) -> str:
    """What the plan is for."""
    names = [each.name for each in plan.works]
    if plan.is_nothing or not names:
        return "Plan: nothing changes" if plan.is_nothing else "Plan"
    return f"Plan for {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def plan_colours(plan: Plan) -> Colours:
    """The colours of the plan's works and teams, and of what runs beside them."""
    names = [each.name for each in plan.works]
    return colours_of(names, [plan.course] if plan.course is not None else [], plan.teams)


def drawn_course(plan: Plan, clock: datetime | None, colours: Colours) -> DrawnCourse | None:
    """The course in the middle of the draws; None where nothing runs in it."""
    if plan.course is None or not plan.course.spans:
        return None
    ends = [each.end.p90 for each in plan.works if each.ends]
    extent = extent_of(plan.course, ends, clock)
    own = [(each.name, f"{each.name} (planned)") for each in plan.works]
    middle = plan.end.p50 if any(each.ends for each in plan.works) else None
    over = f"{own[0][0]} is over" if len(own) == 1 else "all that is planned is over"
    marks = [Mark(middle, over)] if middle is not None else []
    shown_for = Planned(own, marks, colours)
    chart, idle = cards(plan.course, extent, "cards", "What runs on each card", shown_for)
    shares = shares_of(plan.course, extent, plan.teams)
    are_shared = len(shares.queues) > 1 or any(queue.quota is not None for queue in shares.queues)
    return DrawnCourse(chart, idle, shares if are_shared else None)
