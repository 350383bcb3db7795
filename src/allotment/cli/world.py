"""Which world a command looks at: this machine, files of objects, a fleet in words, or a cluster.

The options are the same everywhere, and exclude each other. The rooms behind them are imported when they are
used: a look at this machine needs no reader of YAML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from allotment.cli.cluster import PIPE, cluster_options, snapshot_for
from allotment.cli.shared import Command
from allotment.errors import Finding, FindingsError, Severity, UsageError

if TYPE_CHECKING:
    from allotment.devices.world import World
    from allotment.kubernetes.cluster.snapshot import Snapshot

_COUNTS: Final = {2: "two", 3: "three", 4: "four"}
_WHOLE: Final = "leave all but one of them out; each is a whole world"


def which_world(command: Command) -> Command:
    """The options ``--devices`` and ``--describe``; the command gets them under these names."""
    for option in reversed(
        (
            click.option(
                "--devices",
                multiple=True,
                type=click.Path(path_type=Path, allow_dash=True),
                metavar="FILE",
                help="Devices instead of this machine's: slices, classes, claims and nodes, as kubectl "
                "prints them. - reads a pipe. May be given again.",
            ),
            click.option(
                "--describe",
                metavar="TEXT",
                default=None,
                help='A fleet in words instead of this machine: "2 nodes of 8 x H100-SXM, 1 x A100-40 '
                'mig=1g.5gb*7".',
            ),
        )
    ):
        command = option(command)
    return command


def any_world(command: Command) -> Command:
    """Those options and ``--cluster`` and ``--snapshot``; the command gets them as one value, ``asked``."""

    @wraps(command)
    def gathered(
        *args: Any,
        devices: tuple[Path, ...],
        describe: str | None,
        cluster: str | None,
        snapshot: Path | None,
        **rest: Any,
    ) -> Any:
        return command(*args, asked=AskedWorld(devices, describe, cluster, snapshot), **rest)

    return which_world(cluster_options(gathered))


def _from_anywhere(file: Path) -> str:
    """The file as it is named from any folder; a pipe is no file."""
    return str(file if str(file) == PIPE else file.absolute())


@dataclass(frozen=True, slots=True)
class AskedWorld:
    """What the options say: files of devices, a fleet in words, a cluster's context, a snapshot's file."""

    devices: tuple[Path, ...] = ()
    describe: str | None = None
    cluster: str | None = None
    snapshot: Path | None = None

    @property
    def is_said(self) -> bool:
        """Whether any option names a world."""
        return bool(self._named())

    @property
    def is_cluster(self) -> bool:
        """Whether it is a cluster, or one as it once stood."""
        return self.cluster is not None or self.snapshot is not None

    def options(self) -> tuple[str, ...]:
        """What would say the same from any folder; ``of_options`` reads it back."""
        files = [_from_anywhere(file) for file in self.devices]
        one = {"--describe": self.describe, "--cluster": self.cluster}
        if self.snapshot is not None:
            one["--snapshot"] = _from_anywhere(self.snapshot)
        said = [part for option, value in one.items() if value is not None for part in (option, value)]
        return (*(part for file in files for part in ("--devices", file)), *said)

    @classmethod
    def of_options(cls, options: Sequence[str]) -> AskedWorld:
        """What was asked for by such options; nothing of those that are not known."""
        told: dict[str, list[str]] = {}
        for option, value in zip(options[::2], options[1::2], strict=False):
            told.setdefault(option, []).append(value)
        last = {option: values[-1] for option, values in told.items()}
        return cls(
            tuple(map(Path, told.get("--devices", ()))),
            last.get("--describe"),
            last.get("--cluster"),
            Path(last["--snapshot"]) if "--snapshot" in last else None,
        )

    def chosen(self) -> ChosenWorld:
        """The world that the options name, or this machine."""
        named = self._named()
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} name {_COUNTS[len(named)]} worlds", remedy=_WHOLE)
        found = snapshot_for(self.cluster, self.snapshot)
        return chosen_world(self.devices, self.describe) if found is None else world_in(found)

    def _named(self) -> list[str]:
        said = {
            "--devices": bool(self.devices),
            "--describe": self.describe is not None,
            "--cluster": self.cluster is not None,
            "--snapshot": self.snapshot is not None,
        }
        return [option for option, is_said in said.items() if is_said]


@dataclass(frozen=True, slots=True)
class ChosenWorld:
    """The world that was asked for. ``name`` is what to call it; ``is_here`` says that it is this machine.

    ``snapshot`` is the cluster that it was read from, whose Kubernetes decides in it.
    """

    world: World
    name: str
    is_here: bool = False
    findings: tuple[Finding, ...] = ()
    snapshot: Snapshot | None = None

    @property
    def has_errors(self) -> bool:
        """Whether anything had to be left out of it."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def tells_of_queues(self) -> bool:
        """Whether it is a cluster whose queues were looked at: a file may have been asked for none."""
        if self.snapshot is None:
            return False
        from allotment.kubernetes.cluster.unasked import are_queues_unasked

        return not are_queues_unasked(self.snapshot)

    def decided_by(self, kubernetes: str) -> ChosenWorld:
        """The world as a cluster of this version decides in it; what knows its own version decides by it."""
        if self.is_here or (self.snapshot is not None and self.snapshot.version):
            return self
        from allotment.devices.server import Server

        return replace(self, world=replace(self.world, server=Server.of(kubernetes)))

    def without_errors(self) -> World:
        """The world; raises FindingsError when anything had to be left out of it."""
        if self.has_errors:
            raise FindingsError(self.findings)
        return self.world


def chosen_world(devices: tuple[Path, ...], describe: str | None) -> ChosenWorld:
    """The world that the options name, or this machine."""
    if devices and describe is not None:
        raise UsageError("--devices and --describe name two worlds", remedy=_WHOLE)
    if describe is not None:
        from allotment.devices.describe import parse_description

        return ChosenWorld(parse_description(describe), "the described fleet")
    if devices:
        return _from_files(devices)
    from allotment.devices.machine import this_machine

    world = this_machine()
    return ChosenWorld(world, f"this machine ({world.node})", is_here=True)


def world_in(snapshot: Snapshot) -> ChosenWorld:
    """The world of devices in a cluster, or in one as it was written down."""
    from allotment.kubernetes.cluster.world import world_of

    reading = world_of(snapshot)
    world = replace(reading.world, notes=(*reading.world.notes, *snapshot.notes))
    return ChosenWorld(world, snapshot.name, findings=reading.findings, snapshot=snapshot)


def _from_files(paths: tuple[Path, ...]) -> ChosenWorld:
    from allotment.devices.reading import STANDARD_INPUT, read_files

    missing = [path for path in paths if str(path) != STANDARD_INPUT and not path.exists()]
    if missing:
        raise UsageError(
            f"there is no file {missing[0]}",
            remedy="write one: kubectl get resourceslices,deviceclasses,nodes -o yaml > FILE",
        )
    reading = read_files(paths)
    names = ", ".join("standard input" if str(path) == STANDARD_INPUT else str(path) for path in paths)
    return ChosenWorld(reading.world, names, findings=reading.findings)
