"""One run of campaigns on this machine, put together: bucket, devices, ledger, requests, watcher."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from allotment.buckets.event_log import BucketSink
from allotment.buckets.opening import (
    Options,
    absolute_options,
    bucket_place,
    is_address,
    open_bucket,
)
from allotment.buckets.proof import prove
from allotment.devices.ledger import Ledger
from allotment.devices.world import World
from allotment.running.engine.assign import processors_of
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.control import (
    EngineDescription,
    Registration,
    forget_old_engines,
    state_folder,
)
from allotment.running.engine.engine import Engine, Watcher
from allotment.running.engine.filling import Filler
from allotment.running.engine.looking import MarkedLook
from allotment.running.engine.requests import Requests, Settings
from allotment.running.engine.standing import look_with
from allotment.running.engine.starting import Starter
from allotment.running.engine.visible import visible_cards
from allotment.running.engine.work import Work

OLD_ENGINES_KEPT = 50
EVENTS_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Session:
    """What a run needs beside the works: the bucket by name and where a relative one lies, and this
    machine."""

    bucket: str
    base: Path
    world: World
    ledger: Ledger
    environment: Mapping[str, str]
    reread: Callable[[str], Settings | None]
    pretend: bool = False
    bucket_options: Options = field(default_factory=dict)


def run_works(works: Sequence[Work], session: Session, watcher: Watcher) -> tuple[CampaignRun, ...]:
    """Run campaigns of one team until each is finished, stopped or suspended; returns how each ended.

    Raises WorldError when the bucket or the ledger cannot be used.
    """
    options = absolute_options(session.bucket_options, session.base)
    bucket = open_bucket(session.bucket, session.base, options=options, environ=session.environment)
    folder = bucket_place(session.bucket, session.base)
    state = state_folder(session.environment)
    now = time.time()
    description = EngineDescription(
        id=f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S}-{os.getpid()}-{secrets.token_hex(2)}",
        pid=os.getpid(),
        started=now,
        bucket=folder,
        team=works[0].team,
        campaigns=tuple(work.campaign for work in works),
    )
    runs = tuple(CampaignRun(work, arrival) for arrival, work in enumerate(works))
    if is_address(session.bucket):
        prove(bucket, description.team, folder)
    forget_old_engines(state, keep=OLD_ENGINES_KEPT)
    with Registration(state, description) as registration:
        writer = f"{description.id}-{socket.gethostname().split('.')[0]}"
        engine = Engine(
            runs=runs,
            filler=Filler(
                world=session.world,
                ledger=session.ledger,
                look=look_with(MarkedLook(bucket, time.time)),
                clock=time.monotonic,
                wall=time.time,
                user=_user(),
            ),
            starter=Starter(
                folder=registration.folder,
                bucket=folder,
                bucket_options=options,
                processors={} if session.pretend else processors_of(session.world),
                cards={} if session.pretend else visible_cards(session.world),
                environment=session.environment,
            ),
            logs={
                work.campaign: BucketSink(
                    bucket, work.team, work.campaign, writer, time.time, every=EVENTS_SECONDS
                )
                for work in works
            },
            requests=Requests(
                stops=registration.stop_requests,
                stopped=registration.stopped,
                files={work.campaign: work.path for work in works},
                reread=session.reread,
            ),
            watcher=watcher,
        )
        engine.run()
    return runs


def _user() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return str(os.getuid())
