"""The command `allot`: one module a command, imported when it is called, no logic.

Start-up has a budget (150 ms of CPU for ``allot --help``), so this module imports click and nothing else:
the table below holds each command's one line of help, and the module behind it is loaded when it is
called. Errors of the whole tree end here, as one message and an exit code; a traceback is only ever shown
for a defect of ours.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

try:
    import click
except KeyboardInterrupt:  # Ctrl-C while it starts: there is nothing to end yet, and no trace to show
    sys.exit(130)

from allotment import __version__
from allotment.errors import (
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_USAGE,
    EXIT_WORLD,
    AllotmentError,
    did_you_mean,
)

COMMANDS = {
    "init": "Write a repository that runs as it stands.",
    "check": "Check pipelines, campaigns and the platform's file, offline.",
    "schema": "Print the JSON Schema of a kind of file, for editors.",
    "run": "Run campaigns on this machine.",
    "stop": "End campaigns that run on this machine, after the page in flight.",
    "status": "Say how campaigns stand.",
    "logs": "Show what the workers of a volume wrote.",
    "results": "Say where a campaign's results are, or print its text.",
    "measure": "Say what pipelines used of a card, and what they should ask for.",
    "retry": "Let failed volumes be tried again by the next run.",
    "devices": "Say which devices there are, and which are free.",
    "claim": "Print a pipeline's claim, and say which devices would do.",
    "why": "Say why a need fits here or not, and what would make it fit.",
    "plan": "Say what will happen, when, what it costs and who pays, before it is submitted.",
    "compare": "Decide the same work under several schedulers, side by side.",
    "simulate": "Play a trace of a real cluster under schedulers, side by side.",
    "queues": "Say what each team's share is, and what is in use of it.",
    "render": "Print what a cluster is to be given, as YAML.",
    "apply": "Send campaigns, fleets and gangs to a cluster.",
    "operate": "Widen and narrow campaigns that run on a cluster.",
    "snapshot": "Write a cluster down, to look at it later or elsewhere.",
    "convert": "Turn manifests that count GPUs into claims, with reasons.",
    "explain": "Say what a rule means, why it matters and what to do.",
    "doctor": "Say what on this machine, in the bucket or in a cluster is not ready, and how to mend it.",
}


class LazyGroup(click.Group):
    """A group whose commands are modules of `allotment.cli.commands`, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now, or nothing."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"allotment.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name; an unknown one is refused with the closest that exists."""
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            hint = did_you_mean(name, COMMANDS)
            raise click.UsageError(f"there is no command `{name}`" + (f"; {hint}" if hint else ""), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table: no module is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="allot")
def allot() -> None:
    """Run models over very many volumes on GPUs that are described, not counted.

    Start with `allot init DIR`, then `cd DIR`, `allot check` and `allot run campaigns/*.yaml`.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    _open_what_is_closed()
    sys.exit(invoke(sys.argv[1:] if arguments is None else list(arguments)))


def _open_what_is_closed() -> None:
    """Put nothing where standard input, output or error were closed: no file of ours gets their place."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - open for good
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code, with every error shown on standard error."""
    try:
        code = allot.main(args=list(arguments), prog_name="allot", standalone_mode=False)
        sys.stdout.flush()
    except (click.ClickException, click.Abort, KeyboardInterrupt, AllotmentError, OSError) as error:
        return _shown(error)
    return code if isinstance(code, int) else 0


def _shown(error: BaseException) -> int:
    """Say the error on standard error; returns the exit code that it stands for."""
    if isinstance(error, click.ClickException):
        error.show()
        return EXIT_USAGE
    if isinstance(error, click.Abort | KeyboardInterrupt):
        why = str(error.__cause__ or error)
        click.echo(f"interrupted: {why}" if why else "interrupted", err=True)
        return EXIT_INTERRUPTED
    from allotment.cli.shared import discard_output, show_error

    if isinstance(error, BrokenPipeError):  # nobody is left to tell
        discard_output()
        return EXIT_REFUSED

    show_error(error)
    return error.exit_code if isinstance(error, AllotmentError) else EXIT_WORLD
