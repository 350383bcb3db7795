"""What became of an apply, as text for a person and as JSON for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import click

from allotment.cli.json_text import json_text
from allotment.cli.shared import safe
from allotment.kubernetes.apply import Outcome, Report, Verb

FORMAT_VERSION: Final = 1
COLOURS: Final = {
    Verb.FAILED: "red",
    Verb.REFUSED: "red",
    Verb.CREATED: "green",
    Verb.CONFIGURED: "yellow",
    Verb.PAUSED: "yellow",
    Verb.RESUMED: "green",
    Verb.PRUNED: "yellow",
    Verb.RECORDED: "cyan",
    Verb.LEFT: "cyan",
}
WOULD: Final = {
    Verb.CREATED: "would be created",
    Verb.CONFIGURED: "would be configured",
    Verb.PAUSED: "would be paused",
    Verb.RESUMED: "would be resumed",
    Verb.PRUNED: "would be pruned",
    Verb.RECORDED: "would be recorded",
}


@dataclass(frozen=True, slots=True)
class Applied:
    """A report, and to whom it was sent. ``is_verbose`` shows every object."""

    report: Report
    cluster: str
    team: str
    namespace: str
    is_verbose: bool = False


def as_text(applied: Applied) -> str:
    """A line for each group, what there is to say below it, and one line at the end."""
    shown = sorted(applied.report.outcomes, key=lambda each: each.group.partition("/")[0] == "pipelines")
    lines = [line for each in _with_hints_once(shown) for line in _lines(applied, each)]
    return "\n".join([*lines, _closing(applied)])


def as_json(applied: Applied) -> str:
    """The same for programs."""
    report = applied.report
    data = {
        "format_version": FORMAT_VERSION,
        "cluster": applied.cluster,
        "team": applied.team,
        "namespace": applied.namespace,
        "dry_run": report.is_dry_run,
        "groups": [_data(each) for each in report.outcomes],
        "notes": list(report.said),
        "error": None if report.cut_short is None else str(report.cut_short) or "interrupted",
    }
    return json_text(data)


def _with_hints_once(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """The outcomes, with what is said of several that are left said below the last of them."""
    last = {said: each.group for each in outcomes if each.verb is Verb.LEFT for said in each.said}
    for each in outcomes:
        if each.verb is Verb.LEFT:
            yield replace(each, said=tuple(said for said in each.said if last[said] == each.group))
        else:
            yield each


def _lines(applied: Applied, outcome: Outcome) -> Iterator[str]:
    verb = outcome.verb
    is_quiet = verb is Verb.UNCHANGED and not (outcome.said or applied.is_verbose)
    if is_quiet and (applied.report.is_nothing or outcome.group.startswith("pipelines/")):
        return
    yield f"{safe(outcome.group)} {_word(applied, verb)}"
    if applied.is_verbose or verb is Verb.CONFIGURED:
        changed = [each for each in outcome.objects if applied.is_verbose or each.verb is not Verb.UNCHANGED]
        for each in changed:
            yield f"  {safe(each.name)} {_word(applied, each.verb)}"
    if outcome.failure:
        yield from _indented(outcome.failure)
    for refusal in outcome.refusals:
        yield from _indented(refusal.text)
        if refusal.remedy:
            yield f"    {safe(refusal.remedy)}"
    for said in outcome.said:
        yield from _indented(said)


def _indented(text: str) -> Iterator[str]:
    return (f"  {safe(line)}" for line in text.splitlines())


def _word(applied: Applied, verb: Verb) -> str:
    word = WOULD.get(verb, str(verb)) if applied.report.is_dry_run else str(verb)
    return click.style(word, fg=COLOURS.get(verb))


def _closing(applied: Applied) -> str:
    report = applied.report
    where = f"team {applied.team}, namespace {applied.namespace} of {safe(applied.cluster)}"
    if report.is_nothing:
        return f"nothing to do: all is as the repository says ({where})"
    counts = Counter(each.verb for each in report.outcomes)
    told = ", ".join(f"{counts[verb]} {verb}" for verb in Verb if counts[verb])
    if report.is_dry_run:
        return f"nothing was written; it would be: {told} ({where})"
    return f"{told} ({where})"


def _data(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.group,
        "verb": str(outcome.verb),
        "objects": [{"name": each.name, "verb": str(each.verb)} for each in outcome.objects],
        "notes": list(outcome.said),
        "refusals": [{"message": each.text, "remedy": each.remedy} for each in outcome.refusals],
        "failure": outcome.failure or None,
    }
