"""One run of campaigns on this machine, put together: bucket, devices, ledger, requests, watcher."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from allotment.buckets.bucket import Bucket
from allotment.buckets.event_log import BucketSink
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.log_writer import LogWriter
from allotment.buckets.once import NO_PATIENCE, PatientBucket
from allotment.buckets.opening import (
    Options,
    absolute_options,
    bucket_identity,
    bucket_place,
    is_address,
    open_interruptible,
)
from allotment.buckets.proof import prove
from allotment.devices.ledger import Ledger
from allotment.devices.world import World
from allotment.errors import WorldError
from allotment.running.engine.assign import processors_of
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.completed import Completed, completed_volume
from allotment.running.engine.control import (
    EngineDescription,
    Registration,
    forget_old_engines,
    state_folder,
    take_up,
)
from allotment.running.engine.engine import Engine
from allotment.running.engine.filling import Filler
from allotment.running.engine.fleet_run import FleetRun
from allotment.running.engine.gang_run import GangRun
from allotment.running.engine.looking import MarkedLook
from allotment.running.engine.other_recipes import left_behind
from allotment.running.engine.preparing import Preparations
from allotment.running.engine.program import Kind, Program
from allotment.running.engine.program_leases import ProgramLeases
from allotment.running.engine.program_start import ProgramStarter
from allotment.running.engine.programs import ProgramRun, Programs
from allotment.running.engine.requests import Requests, Settings
from allotment.running.engine.sharing import mps_pipes, with_amounts
from allotment.running.engine.signals import Signals
from allotment.running.engine.snapshot import Watcher
from allotment.running.engine.standing import look_with
from allotment.running.engine.starting import Starter
from allotment.running.engine.team_table import Sharer, TeamTable
from allotment.running.engine.telling import Telling
from allotment.running.engine.visible import visible_cards
from allotment.running.engine.work import Work
from allotment.running.holder import this_process
from allotment.running.prepare.machine import cache_folder, is_prepared
from allotment.running.secrets import NO_SECRETS, Secrets
from allotment.running.withheld import secret_values, without_credentials

OLD_ENGINES_KEPT = 50
EVENTS_SECONDS = 1.0
OUR_FOLDERS = ("ALLOT_CACHE", "ALLOT_LEDGER", "ALLOT_STATE")


@dataclass(frozen=True, slots=True)
class Session:
    """What a run needs beside the works: the bucket by name and where a relative one lies, and this machine.

    ``pretends`` are the options that name the world of a run that has to ``pretend``.
    """

    bucket: str
    base: Path
    world: World
    ledger: Ledger
    environment: Mapping[str, str]
    reread: Callable[[str], Settings | None]
    pretend: bool = False
    pretends: tuple[str, ...] = ()
    bucket_options: Options = field(default_factory=dict)
    secrets: Secrets = NO_SECRETS
    sharer: Sharer | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """How campaigns, fleets and gangs ended."""

    campaigns: tuple[CampaignRun, ...]
    programs: tuple[ProgramRun, ...] = ()


def run_works(
    works: Sequence[Work], session: Session, watcher: Watcher, programs: Sequence[Program] = ()
) -> Ran:
    """Run campaigns of one team until each is finished, stopped or suspended, and fleets and gangs beside
    them; returns how each ended.

    Raises WorldError when the bucket or the ledger cannot be used.
    """
    options = absolute_options(session.bucket_options, session.base)
    signals = Signals()

    def enough() -> bool:
        return signals.requests > 0

    bucket = open_interruptible(
        session.bucket,
        session.base,
        options=options,
        environ=session.environment,
        enough=enough,
    )
    ledger = session.ledger.unless(enough)
    folder = bucket_place(session.bucket, session.base)
    state = state_folder(session.environment)
    environment = _with_absolute_folders(session.environment)
    now = time.time()
    description = EngineDescription(
        id=f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S}-{os.getpid()}-{secrets.token_hex(2)}",
        pid=os.getpid(),
        started=now,
        bucket=bucket_identity(session.bucket, session.base, options, session.environment),
        team=(works[0] if works else programs[0]).team,
        campaigns=(*(work.campaign for work in works), *(program.name for program in programs)),
        root=str((works[0] if works else programs[0]).root),
        pretends=session.pretends,
    )
    hidden = replace(session.secrets, everywhere=secret_values(folder, session.environment))
    processors = {} if session.pretend else processors_of(session.world)
    cards = {} if session.pretend else visible_cards(session.world)
    pipes = None if session.pretend else mps_pipes(session.environment)
    works = with_amounts(works, session.world, mps=session.pretend or pipes is not None)
    groups = tuple(_run_of(program, arrival) for arrival, program in enumerate(programs, len(works)))
    runs = tuple(CampaignRun(work, arrival) for arrival, work in enumerate(works))
    if is_address(session.bucket):
        prove(bucket, description.team, folder)
    take_up(state, description)
    forget_old_engines(state, keep=OLD_ENGINES_KEPT)
    events = LogWriter()
    holder = this_process(description.id)
    table = None if session.sharer is None else TeamTable(description.id, session.sharer)
    with (
        ProgramLeases(bucket, holder) as leases,
        Registration(state, description) as registration,
    ):
        leases.take(programs)
        writer = f"{description.id}-{socket.gethostname().split('.')[0]}"
        caches = cache_folder(session.environment)
        starter = Starter(
            folder=registration.folder,
            bucket=folder,
            bucket_options=options,
            processors=processors,
            cards=cards,
            environment=environment,
            secrets=hidden,
            pipes=pipes,
        )
        logs = {
            name: events.sink(
                BucketSink(bucket, description.team, name, writer, time.time, every=EVENTS_SECONDS)
            )
            for name in description.campaigns
        }
        engine = Engine(
            runs=runs,
            filler=Filler(
                world=session.world,
                ledger=ledger,
                look=look_with(MarkedLook(bucket, time.time)),
                clock=time.monotonic,
                wall=time.time,
                user=_user(),
                table=table,
            ),
            starter=starter,
            preparations=Preparations(lambda work: _is_prepared(bucket, work, caches), starter.prepare),
            programs=Programs(
                groups,
                ProgramStarter(
                    folder=registration.folder,
                    processors=processors,
                    cards=cards,
                    environment=without_credentials(folder, environment),
                    secrets=hidden,
                ),
                ours=leases.ours,
            ),
            telling=Telling(logs, watcher),
            requests=Requests(
                stops=registration.stop_requests,
                stopped=registration.stopped,
                over=_both(registration.over, leases.over),
                files={work.campaign: work.path for work in works},
                reread=session.reread,
            ),
            completed=_completed_in(bucket, session),
            left_behind=partial(_left_behind, bucket),
            signals=signals,
        )
        try:
            engine.run()
        finally:
            if table is not None:
                _leave(ledger, table)
            events.close(enough)
    return Ran(runs, groups)


def _leave(ledger: Ledger, table: TeamTable) -> None:
    """Say nothing more to the other engines; without the ledger they find out by themselves."""
    with suppress(WorldError), ledger.locked() as view:
        table.post.remove(view)
    table.post.close()


def _with_absolute_folders(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for workers, which start in another folder than this process."""
    absolute = {
        name: str(Path(environ[name]).expanduser().absolute()) for name in OUR_FOLDERS if environ.get(name)
    }
    return {**environ, **absolute}


def _both(first: Callable[[str], None], second: Callable[[str], None]) -> Callable[[str], None]:
    def both(name: str) -> None:
        first(name)
        second(name)

    return both


def _completed_in(bucket: Bucket, session: Session) -> Callable[[Work, str], Completed]:
    """How to look at a complete volume again: in a folder only, since elsewhere each look is a request."""
    if is_address(session.bucket):
        return lambda _work, _volume: Completed()
    return lambda work, volume: completed_volume(bucket, work, volume)


def _left_behind(bucket: Bucket, work: Work) -> str:
    """What lies under other recipes, as far as the bucket tells now: nobody waits for that."""
    with suppress(WorldError):
        return left_behind(bucket, work)
    return ""


def _is_prepared(bucket: Bucket, work: Work, caches: Path) -> bool:
    """Whether a recipe is prepared and on this machine; a bucket that fails now is asked again in a while."""
    keys = RecipeKeys(work.team, work.pipeline, work.recipe)
    return is_prepared(PatientBucket(bucket, sleep=time.sleep, patience=NO_PATIENCE), keys, caches)


def _run_of(program: Program, arrival: int) -> ProgramRun:
    return FleetRun(program, arrival) if program.kind is Kind.FLEET else GangRun(program, arrival)


def _user() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return str(os.getuid())
