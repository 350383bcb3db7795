"""The formats by name, and the traces that a folder of data holds under their usual names.

A trace is asked for by its name (``philly``) in a folder, or as a file with its format; which format a file
has is not guessed from what stands in it, but by its ending where that says it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from allotment.errors import UsageError, did_you_mean
from allotment.simulation.traces import dirlab, gavel, openb, own
from allotment.simulation.traces.jobs import Job, TraceNode


class Format(StrEnum):
    """The formats that are read."""

    OWN = "own"
    OPENB = "openb"
    PHILLY = "philly"
    HELIOS = "helios"
    GAVEL = "gavel"


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace: its jobs, and its nodes where it lists them."""

    name: str
    format: Format
    jobs: tuple[Job, ...]
    nodes: tuple[TraceNode, ...] = ()
    notes: tuple[str, ...] = ()


_PHILLY: Final = ("philly.csv", "philly_data_training.csv", "Philly/training_data/philly_data_training.csv")
_HELIOS: Final = ("helios.csv", "helios_data_training.csv", "Helios/training_data/helios_data_training.csv")
_CSV: Final = "cluster-trace-gpu-v2023/csv"
_SEED: Final = "scheduler/traces/msr/seed=0"


def read_trace(asked: str, data: Path | None, form: Format | None = None) -> Trace:
    """The trace of a name in the folder, or in a file of its own."""
    path = Path(asked)
    if path.exists() and (form is not None or path.suffix in {".jsonl", ".ndjson"}):
        return _READERS[form or Format.OWN](path, data or path.parent)
    name, _, variant = asked.partition(":")
    if name not in set(Format) or name == Format.OWN:
        hint = "name its --format" if path.exists() else did_you_mean(name, [*map(str, Format)][1:])
        raise UsageError(f"there is no trace `{asked}`", remedy=hint)
    if data is None:
        raise UsageError(
            f"where the trace `{asked}` lies is not said",
            remedy="traces do not come with allotment: give the folder that has it with --data",
        )
    return _NAMED[Format(name)](data, variant)


def _found(data: Path, names: tuple[str, ...]) -> Path:
    """The first of these files that the folder has; the first of all, to be missed by name."""
    paths = [data / name for name in names]
    return next((path for path in paths if path.exists()), paths[0])


def _own(path: Path, _data: Path) -> Trace:
    return Trace(path.name, Format.OWN, own.read_jobs(path))


def _dirlab(form: Format) -> Callable[[Path, Path], Trace]:
    def read(path: Path, _data: Path) -> Trace:
        return Trace(path.name, form, dirlab.read_jobs(path), notes=("jobs without a card are left out",))

    return read


def _openb(path: Path, data: Path) -> Trace:
    beside = _found(path.parent, (openb.NODES,))
    nodes = beside if beside.exists() else _found(data, (openb.NODES, f"openb/{openb.NODES}"))
    return Trace(path.name, Format.OPENB, openb.read_tasks(path), openb.read_nodes(nodes))


def _gavel(path: Path, data: Path) -> Trace:
    rates = _found(data, (gavel.RATES, f"gavel/{gavel.RATES}", f"scheduler/{gavel.RATES}"))
    return Trace(path.name, Format.GAVEL, gavel.read_jobs(path, rates))


_READERS: Final[Mapping[Format, Callable[[Path, Path], Trace]]] = {
    Format.OWN: _own,
    Format.OPENB: _openb,
    Format.PHILLY: _dirlab(Format.PHILLY),
    Format.HELIOS: _dirlab(Format.HELIOS),
    Format.GAVEL: _gavel,
}


def _openb_named(data: Path, variant: str) -> Trace:
    file = openb.TASKS.format(variant or "default")
    return _openb(_found(data, (f"openb/{file}", f"{_CSV}/{file}", file)), data)


def _gavel_named(data: Path, variant: str) -> Trace:
    if variant:
        file = f"{variant}{gavel.SUFFIX}"
        return _gavel(_found(data, (f"gavel/{file}", f"{_SEED}/{file}", file)), data)
    return _gavel(_found(data, ("gavel", _SEED)), data)


_NAMED: Final[Mapping[Format, Callable[[Path, str], Trace]]] = {
    Format.OPENB: _openb_named,
    Format.PHILLY: lambda data, _variant: _READERS[Format.PHILLY](_found(data, _PHILLY), data),
    Format.HELIOS: lambda data, _variant: _READERS[Format.HELIOS](_found(data, _HELIOS), data),
    Format.GAVEL: _gavel_named,
}
