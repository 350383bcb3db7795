"""`allot snapshot`: a cluster written down, so that it can be looked at later, elsewhere, by others."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.cluster import CURRENT, cluster_options, snapshot_for
from allotment.cli.shared import safe
from allotment.cli.words import clock
from allotment.cli.writing import write_whole
from allotment.errors import EXIT_FINE
from allotment.pictures.counts import counted

if TYPE_CHECKING:
    from allotment.kubernetes.cluster.snapshot import Missing, Snapshot

MOST_KINDS: Final = 12


@click.command(short_help="Write a cluster down, to look at it later or elsewhere.")
@cluster_options
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="Only this namespace, of what is in namespaces. May be given again.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this file; one that ends in .gz is packed.",
)
@click.option(
    "--anonymous", "is_anonymous", is_flag=True, help="Made-up names of teams, nodes, users and images."
)
def command(
    cluster: str | None,
    snapshot: Path | None,
    namespaces: tuple[str, ...],
    out: Path | None,
    is_anonymous: bool,
) -> int:
    """Write down what a cluster has and does: devices, nodes, queues, work, and why it waits.

    The file is a YAML List of API objects with the time. Every command with --snapshot answers from it as it
    would from the cluster. It holds no secret, no environment of a pod and none of others' ConfigMaps; what
    could not be read, because the cluster does not have it or you may not see it, is said in it.

    With --snapshot another form is rewritten: what `kubectl get … -o yaml` prints, or the zip that KAI's
    scheduler answers `/get-snapshot` with. --anonymous is for files that go to others.
    """
    context = CURRENT if cluster is None and snapshot is None else cluster
    found = snapshot_for(context, snapshot, namespaces=namespaces)
    if found is None:
        return EXIT_FINE
    if is_anonymous:
        from allotment.kubernetes.cluster.anonymous import anonymous

        found = anonymous(found)
    from allotment.kubernetes.cluster.file import snapshot_text

    _write(snapshot_text(found), out)
    for line in summary(found, out):
        click.echo(line, err=True)
    return EXIT_FINE


def summary(snapshot: Snapshot, out: Path | None = None) -> Iterator[str]:
    """What was read, and what was not and why."""
    version = f", Kubernetes {snapshot.version}" if snapshot.version else ""
    where = f", in {out}" if out is not None else ""
    total = counted(len(snapshot.objects), "object")
    when = f"as of {clock(snapshot.time, 0)}" if snapshot.is_dated else "nobody knows as of when"
    yield safe(f"{snapshot.name}{version}, {when}: {total}{where}")
    if snapshot.objects:
        yield f"  {_counts(snapshot)}"
    reasons: dict[str, list[Missing]] = {}
    for each in (*snapshot.missing, *snapshot.partly):
        reasons.setdefault(each.why, []).append(each)
    for why, missing in sorted(reasons.items()):
        yield safe(f"  {why}: {_kinds(missing)}")
    for note in snapshot.notes:
        yield safe(f"  note: {note}")


def _counts(snapshot: Snapshot) -> str:
    counts = Counter(each["kind"] for each in snapshot.objects)
    told = [
        f"{count:,} {_plural(kind) if count > 1 else kind}" for kind, count in counts.most_common(MOST_KINDS)
    ]
    more = len(counts) - MOST_KINDS
    return ", ".join(told) + (f", and {counted(more, 'kind')} more" if more > 0 else "")


def _plural(kind: str) -> str:
    if kind.endswith("y"):
        return f"{kind.removesuffix('y')}ies"
    return f"{kind}es" if kind.endswith("s") else f"{kind}s"


def _kinds(missing: Sequence[Missing]) -> str:
    """The kinds by group: ``clusterqueues, cohorts (kueue.x-k8s.io)``."""
    groups: dict[str, list[str]] = {}
    for each in missing:
        groups.setdefault(each.kind.group, []).append(each.kind.plural)
    return "; ".join(
        ", ".join(sorted(set(plurals))) + (f" ({group})" if group else "")
        for group, plurals in sorted(groups.items())
    )


def _write(text: str, out: Path | None) -> None:
    """To the terminal, or whole to the file: who reads it meanwhile has the old one."""
    if out is None:
        click.echo(text, nl=False)
        return
    data = gzip.compress(text.encode(), mtime=0) if out.suffix == ".gz" else text.encode()
    write_whole(out, data)
