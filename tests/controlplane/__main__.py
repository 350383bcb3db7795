"""``python -m tests.controlplane``: build the programs of a control plane, start one that stays, end it."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from tests.controlplane.components import PROGRAMS
from tests.controlplane.first_steps import next_steps
from tests.controlplane.plane import ROOT
from tests.controlplane.processes import NotReady, until
from tests.controlplane.standing import KUBECONFIG, PROCESS, stand
from tests.go_programs import NoProgram, built

DESCRIBED: Final = "2 nodes of 4 x A100-80, 2 nodes of 4 x L4"
OF_CHECKOUT: Final = hashlib.sha256(bytes(ROOT.resolve())).hexdigest()[:6]
FOLDER: Final = (
    Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    / f"allotment-cluster-{os.getuid()}-{OF_CHECKOUT}"
)
"""Of this user and checkout, so that nobody ends the plane of another."""
LOG: Final = "keeper.log"
READY_SECONDS: Final = 180


@click.group(help="A real control plane for tests.")
def main() -> None:
    """Commands."""


@main.command(help="Build what is not in the cache.")
@click.option("--minutes", type=float, default=60.0, help="For all of them together.")
@click.argument("names", nargs=-1, type=click.Choice(list(PROGRAMS)))
def build(minutes: float, names: tuple[str, ...]) -> None:
    """Builds one after the other, as long as there is time."""
    ends = time.monotonic() + minutes * 60
    for name in names or tuple(PROGRAMS):
        began = time.monotonic()
        try:
            path = built(PROGRAMS[name], download=True, seconds=max(0.0, ends - began))
        except NoProgram as reason:
            click.echo(f"not built: {reason}", err=True)
        else:
            click.echo(f"{path.name}: {time.monotonic() - began:.0f} s")


@main.command(help="Start a plane that stays, and print the path of its kubeconfig.")
@click.option("--describe", default=DESCRIBED, show_default=True, help="Its nodes, as `allot` takes them.")
@click.option("--kueue/--no-kueue", default=True, help="With Kueue.")
@click.option("--folder", type=Path, default=FOLDER, show_default=True)
@click.option("--here", is_flag=True, help="In this process, until it is told to end.")
def up(describe: str, folder: Path, *, kueue: bool, here: bool) -> None:
    """Starts a keeper in the background, and waits until its plane is ready; one that is there is told."""
    if here:
        stand(folder, describe, with_kueue=kueue)
        return
    if _keeper(folder) is not None:
        _wait_for_kubeconfig(folder, lambda: _keeper(folder) is None)
        click.echo(
            "It runs already, with the nodes it was started with; `make cluster-down` ends it.", err=True
        )
        _tell(folder)
        return
    for name in ("etcd", "kubernetes", *(["kueue"] if kueue else [])):
        try:
            built(PROGRAMS[name], download=True, seconds=3600)
        except NoProgram as reason:
            raise click.ClickException(str(reason)) from None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    words = [sys.executable, "-m", "tests.controlplane", "up", "--here", "--folder", str(folder)]
    words += ["--describe", describe, "--kueue" if kueue else "--no-kueue"]
    with (folder / LOG).open("wb") as out:
        keeper = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    _wait_for_kubeconfig(folder, lambda: keeper.poll() is not None)
    _tell(folder)


def _wait_for_kubeconfig(folder: Path, has_ended: Callable[[], bool]) -> None:
    """Return once the plane is ready; ClickException where it does not become so."""
    try:
        until(
            lambda: (folder / KUBECONFIG).exists() or has_ended(),
            f"the plane (its log is {folder / LOG})",
            seconds=READY_SECONDS,
        )
    except NotReady as error:
        raise click.ClickException(str(error)) from None
    if not (folder / KUBECONFIG).exists():
        said = (folder / LOG).read_text(encoding="utf-8")[-2000:]
        raise click.ClickException(f"it did not start:\n{said}")


def _tell(folder: Path) -> None:
    """The kubeconfig's path to whoever takes it, what to type next to who reads it."""
    click.echo(folder / KUBECONFIG)
    click.echo("It has an S3 server, a team, and a campaign that is not sent yet. Next:", err=True)
    for line in next_steps(folder):
        click.echo(f"  {line}", err=True)


@main.command(help="End the plane that `up` has started.")
@click.option("--folder", type=Path, default=FOLDER, show_default=True)
def down(folder: Path) -> None:
    """Tells its keeper to end, and waits."""
    pid = _keeper(folder)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        until(lambda: _keeper(folder) is None, "the plane to end", seconds=30)
    shutil.rmtree(folder, ignore_errors=True)


def _keeper(folder: Path) -> int | None:
    """The process that keeps the plane of a folder, while it lives."""
    try:
        pid = int((folder / PROCESS).read_text(encoding="ascii"))
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if str(folder).encode() in words else None


if __name__ == "__main__":
    main(prog_name="python -m tests.controlplane")
