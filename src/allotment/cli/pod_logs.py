"""`allot logs` on a cluster: what the pods of a volume wrote, the newest first asked for.

A try of a volume is a pod of its index; those that have ended are kept as long as their Job is, unless
somebody or a lost node took them away. Then the attempts in the bucket are all that is left of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from allotment.cli import cluster as clusters
from allotment.cli.followed import team_of
from allotment.cli.shared import safe
from allotment.errors import EXIT_FINE, AllotmentError, UsageError, did_you_mean
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.following import prepares, team_parts
from allotment.kubernetes.follow.part import Part

if TYPE_CHECKING:
    from allotment.kubernetes.client import Client
    from allotment.kubernetes.kinds import Object

CONTAINER = "worker"


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose log: a volume, a campaign (what prepares it), a fleet or a gang; and which try of it."""

    name: str
    campaign: str | None = None
    rank: int = 0
    attempt: int | None = None


def show_pod_log(
    asked: Asked, cluster: str, root: Path, *, platform: Path | None, team: str | None, follow: bool
) -> int:
    """Print the log of the pod that is asked for."""
    from allotment.kubernetes.follow.again import pods_of_team

    client = clusters.client_for(cluster)
    whom = team_of(None, root, [], platform=platform, team=team)
    seen = pods_of_team(client, whom.namespaces[0], time.time())
    pods = pods_for(team_parts(seen, whom.namespaces[0]), asked)
    pod = chosen(pods, asked)
    click.echo(safe(f"pod {fields.namespace(pod)}/{fields.name(pod)}"), err=True)
    for line in _lines(client, pod, follow=follow):
        sys.stdout.write(safe(line, keep="\n\t"))
        sys.stdout.flush()
    return EXIT_FINE


def pods_for(parts: Sequence[Part], asked: Asked) -> tuple[Object, ...]:
    """The pods of a volume, a process or a preparation, the oldest first; UsageError for an unknown name."""
    among = [part for part in parts if asked.campaign in {None, part.name}]
    found = [*_of_volume(among, asked)]
    if found:
        _hold_one_campaign(found, asked)
        return _by_age(pod for _, pods in found for pod in pods)
    named = [part for part in among if part.name == asked.name]
    if named and named[0].kind == "campaign":
        preparing = [part for part in named if prepares(part)]
        if preparing:
            return _by_age(pod for part in preparing for pod in part.pods)
        first = next((volume for part in named for pack in part.volumes for volume in pack), "")
        raise UsageError(
            f"`{asked.name}` is a campaign",
            remedy=f"name one of its volumes{f', such as {first}' if first else ''}",
        )
    if named:
        return _by_age(_of_program(named, asked.rank))
    known = {part.name for part in among} | {
        volume for part in among for pack in part.volumes[:10_000] for volume in pack
    }
    which = "no campaign" if asked.campaign is None else f"no campaign `{asked.campaign}`"
    raise UsageError(
        f"{which} on the cluster has a volume `{asked.name}`, and nothing is called so",
        remedy=did_you_mean(asked.name, known) or "allot status --cluster shows what there is",
    )


def _of_volume(parts: Sequence[Part], asked: Asked) -> Iterator[tuple[Part, tuple[Object, ...]]]:
    for part in parts:
        for number, pack in enumerate(part.volumes):
            if asked.name in pack:
                yield part, part.by_index.get(number, ())


def _hold_one_campaign(found: Sequence[tuple[Part, tuple[Object, ...]]], asked: Asked) -> None:
    names = sorted({part.name for part, _ in found})
    if len(names) > 1:
        raise UsageError(
            f"several campaigns have a volume `{asked.name}`: {', '.join(names)}",
            remedy="say which with --campaign",
        )


def _of_program(parts: Sequence[Part], rank: int) -> Iterator[Object]:
    for part in parts:
        if part.is_job:
            yield from part.by_index.get(rank, ())
            continue
        copies = sorted(part.pods, key=fields.name)
        yield from copies[rank : rank + 1]


def _by_age(pods: Iterator[Object]) -> tuple[Object, ...]:
    return tuple(sorted(pods, key=lambda pod: fields.created(pod) or 0.0))


def chosen(pods: Sequence[Object], asked: Asked) -> Object:
    """The pod of that try; the newest without a number. AllotmentError where there is none."""
    if not pods:
        raise AllotmentError(
            f"no pod of `{asked.name}` is on the cluster",
            remedy="it has not started, or its pods are gone: `allot status --cluster` says how it stands",
        )
    if asked.attempt is None:
        return pods[-1]
    if not 1 <= asked.attempt <= len(pods):
        raise UsageError(
            f"there is no try {asked.attempt} of `{asked.name}`",
            remedy=f"its pods that are still there are 1 to {len(pods)}, the oldest first",
        )
    return pods[asked.attempt - 1]


def _lines(client: Client, pod: Object, *, follow: bool) -> Iterator[str]:
    from allotment.kubernetes.client.logs import Wanted

    wanted = Wanted(container=CONTAINER, follow=follow)
    for line in client.log(fields.name(pod), fields.namespace(pod), wanted):
        yield line.decode(errors="replace")
