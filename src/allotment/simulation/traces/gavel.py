"""Gavel's traces of Philly's virtual clusters (OSDI '20): who shares with whom, and how wide gangs are.

``scheduler/traces/msr/seed=N/<vc>.trace`` of stanford-futuredata/gavel, a virtual cluster a file: seven cells
a line between tabs, of which the last three are steps, arrival in seconds and the number of cards. The models
were put in by its authors; how many steps of one are done in a second stands in
``simulation_throughputs.json``, by kind and number of cards. For more cards than stand there, the rate of the
most that do holds.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from allotment.errors import AllotmentError, WorldError
from allotment.simulation.traces.dirlab import NODE_CARDS, pods_for
from allotment.simulation.traces.jobs import Job
from allotment.simulation.traces.tables import MOST, MOST_CARDS, Row, opened

RATES: Final = "simulation_throughputs.json"
SUFFIX: Final = ".trace"
_CELLS: Final = ("model", "command", "argument", "flag", "steps", "arrival", "cards")
_ALONE: Final = "null"
_COUNT: Final = re.compile(r"[0-9]{1,6}")
_Rates = Mapping[str, Mapping[int, float]]


def read_jobs(
    path: Path, rates: Path, *, card: str = "v100", node_cards: int = NODE_CARDS
) -> tuple[Job, ...]:
    """The jobs of a virtual cluster, or of each in a folder; a team is a virtual cluster."""
    files = sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]
    if not files:
        raise WorldError(f"there is no file *{SUFFIX} in the folder", where=str(path))
    steps = _rates(rates, card)
    jobs = [job for file in files for job in _jobs(file, steps, node_cards)]
    return tuple(sorted(jobs, key=lambda job: (job.arrival, job.name)))


def _jobs(path: Path, rates: _Rates, node_cards: int) -> Iterator[Job]:
    team = path.name.removesuffix(SUFFIX)
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").split("\t")
            if cells == [""]:
                continue
            if len(cells) != len(_CELLS):
                raise AllotmentError(
                    f"{len(cells)} cells stand between tabs instead of {len(_CELLS)}",
                    where=f"{path}:{number}",
                )
            row = Row(dict(zip(_CELLS, cells, strict=True)), path, number)
            cards = row.whole("cards", least=1, most=MOST_CARDS)
            known = rates.get(row.text("model"), {})
            rate = max(((count, rate) for count, rate in known.items() if count <= cards), default=None)
            if rate is None:
                raise row.refused("model", "of which no rate is known")
            seconds = row.number("steps", most=math.inf) / rate[1]
            if seconds > MOST:
                raise row.refused("steps", "which no job gets through")
            pods = pods_for(cards, node_cards)
            yield Job(
                f"{team}-{number}",
                row.number("arrival"),
                team,
                team,
                pods=pods,
                gpus=cards // pods,
                seconds=seconds,
            )


def _rates(path: Path, card: str) -> _Rates:
    """Steps in a second of a model alone, by the number of cards."""
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WorldError(f"the rates cannot be read: {error.strerror}", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise AllotmentError(f"this is no JSON: {error}", where=str(path)) from None
    of_card = told.get(card) if isinstance(told, dict) else None
    if not isinstance(of_card, dict):
        raise AllotmentError(f"no rates on a card `{card}` stand there", where=str(path))
    found: dict[str, dict[int, float]] = {}
    for key, rates in of_card.items():
        model, _, cards = str(key).strip("()").rpartition(", ")
        rate = rates.get(_ALONE) if isinstance(rates, dict) else None
        if _COUNT.fullmatch(cards) and isinstance(rate, int | float) and 0 < rate <= MOST:
            found.setdefault(model.strip("'"), {})[int(cards)] = float(rate)
    return found
