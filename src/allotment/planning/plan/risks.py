"""What could make a plan wrong: each is a scene in which one thing is otherwise, played under the same seeds.

What is tried is what is least sure: how long pages take, also where pods share a card, whether all nodes are
there, how many volumes fail, how long images and models take to be there. Which of it matters is not guessed
but seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.planning.plan.courses import Course
from allotment.planning.plan.plan import Risk
from allotment.planning.scenes.values import Scene
from allotment.planning.scenes.works import GANG_RECIPE
from allotment.scheduling.state.state import State
from allotment.simulation.distributions import Scaled
from allotment.simulation.many import Case
from allotment.simulation.quantiles import spread
from allotment.simulation.run_times import RunTimes, Times
from allotment.simulation.setting import Setting
from allotment.simulation.work import Work

SLOWER: Final = 1.5
OF_OTHERS: Final = 2.0
FAILS: Final = 0.1
START: Final = 3.0
COUNTED: Final = 60.0
"""An end that moves by less than this is not told."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The scene with one thing otherwise."""

    words: str
    case: Case


def variants(scene: Scene, until: float, first: Course) -> Iterator[Variant]:
    """What is tried for a scene; ``first`` is a course of it, which tells the node that matters most."""
    setting, works, times = scene.setting, scene.works, scene.run_times
    planned = {work.recipe for work in scene.planned if work.recipe}
    others = {work.recipe for work in works if not work.planned and work.recipe} - planned
    if planned:
        slower = Case(setting, works, slowed(times, planned, SLOWER), until)
        yield Variant("pages take half as long again", slower)
    crowds = {work.recipe: on_a_card(work, first) for work in scene.planned if work.recipe}
    if any(many > 1 for many in crowds.values()):
        slower = Case(setting, works, crowded(times, crowds), until)
        yield Variant(f"pods that share a card take turns ({_crowd(crowds)})", slower)
    if any(not work.planned and not _stays(work) for work in works):
        longer = Case(setting, tuple(map(_longer, works)), slowed(times, others, OF_OTHERS), until)
        yield Variant("what others run takes twice as long", longer)
    node = max(sorted(first.nodes), key=lambda name: first.nodes[name], default=None)
    if node is not None and len(_nodes(setting.state)) > 1:
        fewer = Case(without_node(setting, node), tuple(_moved(work, node) for work in works), times, until)
        yield Variant(f"one node less ({node})", fewer)
    fails = replace(setting.chances, unit_fails=max(2 * setting.chances.unit_fails, FAILS))
    yield Variant(
        f"{fails.unit_fails:.0%} of the volumes fail at the first try, and are tried again",
        Case(replace(setting, chances=fails), works, times, until),
    )
    pace = setting.pace
    late = replace(
        pace,
        image_pull=pace.image_pull * START,
        model_load=pace.loading * START,
        pod_start=pace.pod_start * START,
    )
    yield Variant(
        f"{_starting(scene)} take three times as long to start",
        Case(replace(setting, pace=late), works, slowed(times, None, 1.0, START), until),
    )


def _starting(scene: Scene) -> str:
    """What of it there is to start: a plan without images is not to speak of them."""
    planned = scene.planned
    models = any(work.recipe and not work.recipe.startswith(GANG_RECIPE) for work in planned)
    found = [("images", any(work.image for work in planned)), ("models", models)]
    first = ", ".join(word for word, is_there in found if is_there)
    return f"{first} and pods" if first else "pods"


def risks_of(
    found: Sequence[tuple[Variant, Sequence[Course]]], base: Sequence[Course], planned: Collection[str]
) -> tuple[Risk, ...]:
    """By how much each variant moves the end, those that move it most first; the others are left out."""
    told = []
    if not planned:
        return ()
    for variant, courses in found:
        pairs = [
            (name, [_later(one, other, name) for one, other in zip(courses, base, strict=False)])
            for name in planned
        ]
        name, moved = max(pairs, key=lambda pair: _size(pair[1]))
        if _size(moved) >= COUNTED:
            told.append(Risk(variant.words, name, spread(moved), len(moved)))
    return tuple(sorted(told, key=lambda risk: -(risk.later.p50 if risk.later.p50 is not None else 1e18)))


def on_a_card(work: Work, course: Course) -> float:
    """How many pods of a work are on one card at most, as a course shows it; 1 where they share none.

    Cards that are shared by time-slicing or as parts do the work of one pod after the other: each of as many
    that keep it busy takes so many times as long. With MPS they run beside each other, on no more card.
    """
    known = course.works.get(work.name)
    running = peak = 0
    for _at, change in known.steps if known is not None else ():
        running += int(change)
        peak = max(peak, running)
    if any(claim.shared for claim in work.ask.claims):
        return max(1.0, peak / max(1.0, work.ask.gpus * max(1, work.most)))
    if work.ask.request.shared and 0 < work.ask.gpus < 1:
        return max(1.0, min(peak, 1 // work.ask.gpus))
    return 1.0


def crowded(times: RunTimes, crowds: Mapping[str, float]) -> RunTimes:
    """The run times with pages as many times as long as pods of their recipe are on one card."""
    for recipe, many in crowds.items():
        times = slowed(times, {recipe}, many) if many > 1 else times
    return times


def _crowd(crowds: Mapping[str, float]) -> str:
    many = max(crowds.values())
    return f"{many:.0f} on one keep it busy, and each takes {many:.0f} times as long"


def slowed(times: RunTimes, recipes: Collection[str] | None, factor: float, load: float = 1.0) -> RunTimes:
    """The run times with pages and loads so many times as long, of these recipes (None: of all)."""

    def is_meant(recipe: str) -> bool:
        return recipes is None or recipe in recipes

    known = {
        key: _slowed(each, factor, load) if is_meant(key[0]) else each for key, each in times.known.items()
    }
    otherwise = {
        key: _slowed(each, factor, load) if is_meant(key) else each for key, each in times.otherwise.items()
    }
    guess = times.guess
    for recipe in recipes or ():
        if guess is not None and recipe not in otherwise:
            otherwise[recipe] = _slowed(guess, factor, load)
    if recipes is None and guess is not None:
        guess = _slowed(guess, factor, load)
    return replace(times, known=known, otherwise=otherwise, guess=guess)


def without_node(setting: Setting, name: str) -> Setting:
    """The setting without a node, what is published of it, and what runs on it."""
    state = setting.state
    nodes = {key: node for key, node in state.nodes.items() if key != name}
    published = state.published
    if published is not None:
        slices = tuple(each for each in published.slices if each.node_name != name)
        left = {key: node for key, node in published.nodes.items() if key != name}
        published = replace(published, slices=slices, nodes=left)
    devices = tuple(each for each in state.devices if each.node != name)
    state = replace(state, nodes=nodes, published=published, devices=devices)
    return replace(setting, state=state)


def _nodes(state: State) -> Collection[str]:
    if state.published is None:
        return state.nodes
    return {*state.nodes, *(each.node_name for each in state.published.slices if each.node_name)}


def _moved(work: Work, node: str) -> Work:
    """The work without its pods on a node, which start anew elsewhere."""
    running = tuple(pod for pod in work.running if pod.node != node)
    return work if len(running) == len(work.running) else replace(work, running=running)


def _stays(work: Work) -> bool:
    return work.ends is None and not work.units


def _longer(work: Work) -> Work:
    if work.planned:
        return work
    ends = None if work.ends is None else work.ends * OF_OTHERS
    units = work.units
    if any(unit.seconds is not None for unit in units):
        units = tuple(
            unit if unit.seconds is None else replace(unit, seconds=unit.seconds * OF_OTHERS)
            for unit in units
        )
    return replace(work, ends=ends, units=units)


def _slowed(times: Times, factor: float, load: float) -> Times:
    page = times.page if factor == 1 else Scaled(times.page, factor)
    return replace(times, page=page, load=None if times.load is None else Scaled(times.load, load))


def _later(one: Course, other: Course, name: str) -> float | None:
    """How much later a work ends in one course than in another; None where it does not in the first alone.

    All that is tried is for the worse, so that an earlier end is chance: the order of what runs.
    """
    end, base = one.works[name].finished, other.works[name].finished
    if end is None or base is None:
        return None if base is not None else 0.0
    return max(0.0, end - base)


def _size(moved: Sequence[float | None]) -> float:
    middle = spread(moved)
    if middle.p50 is None:
        return float("inf")
    return float("inf") if middle.p90 is None else max(middle.p50, middle.p90)
