"""``python -m tests.controlplane``: build the programs of a control plane, start one that stays, end it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import click

from tests.controlplane.components import PROGRAMS
from tests.controlplane.processes import NotReady, until
from tests.controlplane.standing import KUBECONFIG, PROCESS, stand
from tests.go_programs import NoProgram, built

DESCRIBED: Final = "2 nodes of 4 x A100-80, 2 nodes of 4 x L4"
FOLDER: Final = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp") / f"allotment-cluster-{os.getuid()}"


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
    """Starts a keeper in the background, and waits until its plane is ready."""
    if here:
        stand(folder, describe, with_kueue=kueue)
        return
    if _keeper(folder) is not None:
        raise click.ClickException(f"{folder} has one already: make cluster-down")
    for name in ("etcd", "kubernetes", *(["kueue"] if kueue else [])):
        try:
            built(PROGRAMS[name], download=True, seconds=3600)
        except NoProgram as reason:
            raise click.ClickException(str(reason)) from None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = [sys.executable, "-m", "tests.controlplane", "up", "--here", "--folder", str(folder)]
    words += ["--describe", describe, "--kueue" if kueue else "--no-kueue"]
    log = folder / "keeper.log"
    with log.open("wb") as out:
        keeper = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        until(
            lambda: (folder / KUBECONFIG).exists() or keeper.poll() is not None,
            "the plane",
            seconds=120,
        )
    except NotReady as error:
        raise click.ClickException(str(error)) from None
    if keeper.poll() is not None:
        raise click.ClickException(f"it did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")
    click.echo(folder / KUBECONFIG)


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
