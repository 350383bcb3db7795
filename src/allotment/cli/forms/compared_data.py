"""A comparison for programs: every row of every column, with the figure of each seed."""

from __future__ import annotations

from typing import Any

from allotment.planning.compare.comparison import Advice, Column, Comparison, Row
from allotment.planning.scenes.values import Assumption
from allotment.simulation.quantiles import Spread


def as_data(found: Comparison) -> dict[str, Any]:
    """All of it for programs."""
    return {
        "format_version": found.format_version,
        "nothing_to_do": False,
        "world": found.world,
        "works": list(found.works),
        "seed": found.seed,
        "draws": found.draws,
        "until": found.until,
        "currency": found.currency,
        "gpus": dict(found.gpus),
        "rows": [_row_data(row) for row in found.rows],
        "columns": [_column_data(column) for column in found.columns],
        "differs": [
            {
                "column": each.name,
                "against": each.base,
                "at": round(each.at, 3),
                "work": each.work,
                "sentence": each.sentence,
                "because": each.because,
            }
            for each in found.differs
        ],
        "alike": list(found.alike),
        "unended": list(found.unended),
        "advice": [_advice_data(each) for each in found.advice],
        "advice_rests_on": found.advice_rests_on,
        "assumptions": [_assumption_data(each) for each in found.assumptions],
        "notes": list(found.notes),
    }


def _row_data(row: Row) -> dict[str, Any]:
    return {"key": row.key, "title": row.title, "unit": row.unit, "better": row.better, "of": row.of}


def _spread_data(spread: Spread) -> dict[str, float | None]:
    return {name: _rounded(getattr(spread, name)) for name in ("p10", "p50", "p90")}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _column_data(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "scheduler": column.scheduler,
        "changes": list(column.changes),
        "refused": column.refused or None,
        "cells": {key: _cell_data(column, key) for key in column.cells},
        "assumptions": [_assumption_data(each) for each in column.assumptions],
        "notes": list(column.notes),
    }


def _cell_data(column: Column, key: str) -> dict[str, Any]:
    cell = column.cells[key]
    data: dict[str, Any] = {**_spread_data(cell.spread), "values": [_rounded(each) for each in cell.values]}
    if cell.difference is not None:
        found = cell.difference
        data["difference"] = {
            **_spread_data(found.spread),
            "less": found.less,
            "more": found.more,
            "chance": round(found.chance, 6),
            "relative": _rounded(found.relative),
            "told": found.told,
            "size": _rounded(found.size),
            "counts_from": _rounded(found.counts_from),
        }
    return data


def _advice_data(advice: Advice) -> dict[str, Any]:
    return {
        "adding": advice.adding,
        "against": advice.against,
        "verdict": advice.verdict,
        "reasons": list(advice.reasons),
        "costs": list(advice.costs),
        "not_if": list(advice.not_if),
        "is_here": advice.is_here,
        "now": _advice_data(advice.now) if advice.now is not None else None,
        "sentence": advice.sentence,
    }


def _assumption_data(each: Assumption) -> dict[str, Any]:
    return {
        "subject": each.subject,
        "value": each.value,
        "source": each.source,
        "said": each.said,
        "maturity": each.maturity,
        "remedy": each.remedy,
    }
