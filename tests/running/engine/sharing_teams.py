"""Three teams with repositories of their own on one described machine, and a record of who holds what."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from allotment.devices.board import notices
from allotment.devices.describe import parse_description
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.devices.world import World
from allotment.running.engine.pretend import ledger_of, pretended_world
from allotment.running.engine.team_lines import Said, said_by
from allotment.running.engine.team_table import sharing_of
from allotment.scheduling.local import (
    CampaignQueue,
    FleetQueue,
    GangQueue,
    LocalMemory,
    LocalState,
    Sharing,
    Wait,
    decide,
)
from allotment.scheduling.local_accounts import Account, accounts_of
from allotment.scheduling.local_amounts import measure_of
from tests.running.engine.harness import MARK

MACHINE = "8 x H100-SXM"
STEP = """
import os, time
from pathlib import Path

def create(settings, context):
    def step(page, earlier):
        tally = os.open(os.environ["TALLY"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        what = f"{page.volume} {page.name} {os.getpid()}"
        os.write(tally, f"start {what}\\n".encode())
        time.sleep(0.002 if Path(os.environ["HURRY"]).exists() else settings["seconds"])
        os.write(tally, f"end {what}\\n".encode())
        os.close(tally)
        return {"txt": page.data * 2}
    return step
"""
PLATFORM = """
engine: local
bucket: ./results
defaults: {{grace_seconds: 60, minimum_runtime: {minimum}, window: 8}}
teams:
"""


@dataclass(frozen=True)
class Moment:
    """The machine while its ledger was locked: each team's account, and whether anything is to change."""

    at: float
    accounts: Mapping[str, Account]
    is_settled: bool


@dataclass
class Teams:
    """Repositories of teams beside one platform's file. ``queues`` are the queues as the file has them."""

    root: Path
    queues: Mapping[str, str]
    minimum: str = "3s"
    seconds: float = 0.25
    record: list[Moment] = field(default_factory=list)
    engines: list[subprocess.Popen[str]] = field(default_factory=list)
    world: World = field(init=False)
    _over: threading.Event = field(default_factory=threading.Event)
    _watching: threading.Thread | None = None

    def __post_init__(self) -> None:
        self.world = pretended_world(parse_description(MACHINE), this_machine())

    def write(self) -> Teams:
        """Lay out the platform's file and the repositories; returns itself."""
        lines = "".join(f"  {name}: {{queue: {{{queue}}}}}\n" for name, queue in self.queues.items())
        (self.root / "platform.yaml").write_text(PLATFORM.format(minimum=self.minimum) + lines)
        for team in self.queues:
            for folder in ("pipelines", "campaigns"):
                (self.root / team / folder).mkdir(parents=True)
            (self.root / team / "tallying.py").write_text(STEP)
            (self.root / team / "pipelines" / "slow.yaml").write_text(
                "gpu: {memory: 40Gi}\nsteps:\n  - step: tallying:create\n"
                f"    settings: {{seconds: {self.seconds}}}\n"
            )
        return self

    def campaign(self, team: str, name: str, volumes: int, pages: int, window: int = 8) -> None:
        """Write a campaign of a team."""
        listed = ""
        for number in range(volumes):
            volume = f"{name}-{number}"
            folder = self.root / team / "scans" / volume
            folder.mkdir(parents=True)
            for page in range(pages):
                (folder / f"p{page:03d}.txt").write_text(f"{team} {volume} {page}\n")
            listed += f"  - {{id: {volume}, folder: scans/{volume}}}\n"
        (self.root / team / "campaigns" / f"{name}.yaml").write_text(
            f"pipeline: slow\nwindow: {window}\nvolumes:\n{listed}"
        )

    def program(self, team: str, kind: str, name: str, said: str) -> None:
        """Write a fleet or a gang of a team, of processes that do nothing for a long time."""
        folder = self.root / team / kind
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.yaml").write_text(f"command: [sleep, '600']\ngpu: {{memory: 40Gi}}\n{said}")

    @property
    def environment(self) -> dict[str, str]:
        """What their processes have in their environment."""
        return {
            **os.environ,
            "ALLOT_PLATFORM": str(self.root / "platform.yaml"),
            "ALLOT_STATE": str(self.root / "state"),
            "TALLY": str(self.root / "tally"),
            "HURRY": str(self.root / "hurry"),
            MARK: str(self.root),
            "PYTHONWARNINGS": "error",
        }

    def run(self, team: str, *names: str) -> subprocess.Popen[str]:
        """Start the engine of a team over some of its campaigns."""
        words = ["run", *names, "--team", team, "--plain", "--pretend", "--describe", MACHINE]
        with (self.root / f"{team}.log").open("a") as output:
            engine = subprocess.Popen(
                [sys.executable, "-m", "allotment.cli", *words],
                cwd=self.root / team,
                env=self.environment,
                stdout=output,
                stderr=output,
                text=True,
                start_new_session=True,
            )
        self.engines.append(engine)
        return engine

    def allot(self, team: str, *words: str) -> str:
        """What a command of a team says."""
        return subprocess.run(
            [sys.executable, "-m", "allotment.cli", *words],
            cwd=self.root / team,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def hurry(self) -> None:
        """Let pages take no time from now on."""
        (self.root / "hurry").touch()

    def watch(self) -> None:
        """Begin the record."""
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def end(self) -> None:
        """End the record, and every engine that is left."""
        self._over.set()
        if self._watching is not None:
            self._watching.join()
        for engine in self.engines:
            if engine.poll() is None:
                engine.kill()
            engine.wait()

    def _watch(self) -> None:
        ledger = Ledger(ledger_of(self.world, self.environment))
        while not self._over.is_set():
            moment = self._moment(ledger)
            if moment is not None:
                self.record.append(moment)
            self._over.wait(0.1)

    def _moment(self, ledger: Ledger) -> Moment | None:
        with ledger.locked() as view:
            now = time.monotonic()
            said = {each.engine: each for each in map(said_by, notices(view)) if each is not None}
            sharing = sharing_of(said, view, "", now)
            taken = frozenset(view.taken())
        if sharing is None:
            return None
        state = LocalState((), self.world, taken, sharing=sharing)
        accounts = accounts_of(state, sharing, measure_of(self.world))
        accounts.pop("", None)
        return Moment(now, accounts, self._is_settled(state, sharing, said, now))

    def _is_settled(self, state: LocalState, sharing: Sharing, said: Mapping[str, Said], now: float) -> bool:
        """Whether nothing ends, nothing is protected, and no engine has anything to start or to end."""
        if any(each.ending or each.keeps_until > now for each in sharing.held):
            return False
        for engine, each in said.items():
            own = [ask.queue for ask in sharing.others if ask.engine == engine]
            others = tuple(ask for ask in sharing.others if ask.engine != engine)
            mine = Sharing(engine, each.team.name, sharing.teams, others, sharing.held)
            asked = replace(
                state,
                campaigns=tuple(queue for queue in own if isinstance(queue, CampaignQueue)),
                fleets=tuple(queue for queue in own if isinstance(queue, FleetQueue)),
                gangs=tuple(queue for queue in own if isinstance(queue, GangQueue)),
                sharing=mine,
            )
            decisions, _ = decide(asked, LocalMemory(), now)
            if any(not isinstance(decision, Wait) for decision in decisions):
                return False
        return True

    def until(self, what: Callable[[Moment], bool], seconds: float = 90.0) -> Moment:
        """The next moment of the record of which something holds."""
        seen, end = len(self.record), time.monotonic() + seconds
        while time.monotonic() < end:
            for moment in self.record[seen:]:
                seen += 1
                if what(moment):
                    return moment
            dead = [engine for engine in self.engines if engine.poll() not in {None, 0, 130}]
            assert not dead, "".join(log.read_text() for log in self.root.glob("*.log"))
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s; last: {self.record[-1] if self.record else None}")
