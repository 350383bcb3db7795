"""A plan as JSON: every figure with its quantiles, times in seconds from the plan's beginning.

Programs rely on it: keys are only ever added under one ``format_version``. What was not known, or lies beyond
the horizon, is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from allotment.cli.forms.why import alternative_data, remedy_data
from allotment.cli.json_text import json_text
from allotment.planning.plan.plan import Change, Fits, Payer, Plan, WorkPlan
from allotment.planning.plan.saved import KIND, MADE_FROM, saved_data
from allotment.simulation.quantiles import Spread


def plan_data(plan: Plan, names: Sequence[str] = ()) -> dict[str, Any]:
    """The plan as plain data; ``names`` are those that were asked for."""
    return {
        "kind": KIND,
        "format_version": plan.format_version,
        "world": plan.world,
        "at": plan.at,
        "team": plan.team,
        "scheduler": plan.scheduler,
        "nothing_to_do": plan.is_nothing,
        "changes": {
            "against": plan.changes.against,
            "items": [_change(each) for each in plan.changes.changes],
            "notes": list(plan.changes.notes),
        },
        "draws": plan.draws,
        "seed": plan.seed,
        "horizon_seconds": plan.until,
        "end_seconds": _spread(plan.end),
        "gpu_hours": _spread(plan.gpu_hours),
        "money": _spread(plan.money),
        "currency": plan.currency,
        "works": [_work(each) for each in plan.works],
        "others": plan.others,
        "payers": [_payer(each) for each in plan.payers],
        "risks": [
            {
                "words": each.words,
                "work": each.work,
                "later_seconds": _spread(each.later),
                "draws": each.draws,
            }
            for each in plan.risks
        ],
        "assumptions": [
            {
                "subject": each.subject,
                "value": each.value,
                "source": str(each.source),
                "said": each.said,
                "maturity": None if each.maturity is None else str(each.maturity),
                "remedy": each.remedy,
            }
            for each in plan.assumptions
        ],
        "caveats": list(plan.caveats),
        "notes": list(plan.notes),
        "bounds": [
            {
                "bound": each.words,
                "limit": each.limit,
                "p90": each.reached,
                "kept": each.is_kept,
                "missed": each.missed,
            }
            for each in plan.held
        ],
        "cards": dict(plan.gpus),
        MADE_FROM: saved_data(plan, names),
    }


def as_json(plan: Plan, names: Sequence[str] = ()) -> str:
    """The plan as text in JSON."""
    return json_text(plan_data(plan, names))


def _change(change: Change) -> dict[str, Any]:
    return {"name": change.name, "becomes": str(change.becomes), "words": list(change.words)}


def _spread(spread: Spread | None) -> dict[str, float | None] | None:
    return None if spread is None else asdict(spread)


def _work(work: WorkPlan) -> dict[str, Any]:
    return {
        "name": work.name,
        "team": work.team,
        "kind": work.kind,
        "volumes": work.units,
        "volumes_left": work.left,
        "pages_left": work.pages,
        "volumes_uncounted": work.uncounted,
        "window": {"min": work.least, "max": work.most},
        "fits": None if work.fits is None else _fits(work.fits),
        "start_seconds": _spread(work.start),
        "end_seconds": _spread(work.end) if work.ends else None,
        "finishes": work.finishes if work.ends else None,
        "late": work.late,
        "window_over_time": [asdict(each) for each in work.window],
        "cards": [
            {"card": each.card, "gpu_hours": _spread(each.hours), "price_per_hour": each.price}
            for each in work.cards
        ],
        "gpu_hours": _spread(work.gpu_hours),
        "money": _spread(work.money),
        "waits": [
            {"reason": each.reason, "message": each.message, "seconds": _spread(each.seconds)}
            for each in work.waits
        ],
        "reclaimed": _spread(work.reclaimed),
        "pages_lost": _spread(work.pages_lost),
        "failed": _spread(work.failed),
        "never": work.never or None,
        "waits_for": work.waits_for or None,
        "run_times": work.basis or None,
    }


def _fits(fits: Fits) -> dict[str, Any]:
    return {
        "state": str(fits.state),
        "asks": fits.asks,
        "sentence": fits.sentence,
        "devices": fits.all,
        "would_do": fits.would,
        "free": fits.free,
        "cards": dict(fits.cards),
        "obstacle": fits.obstacle or None,
        "alternatives": [alternative_data(each) for each in fits.alternatives],
        "changes": [remedy_data(each) for each in fits.remedies],
        "notes": list(fits.notes),
        "held": fits.held or None,
    }


def _payer(payer: Payer) -> dict[str, Any]:
    return {
        "name": payer.name,
        "team": payer.team,
        "kind": payer.kind,
        "draws": payer.draws,
        "reclaimed": _spread(payer.reclaimed),
        "pages_lost": _spread(payer.pages_lost),
        "later_seconds": _spread(payer.later),
    }
