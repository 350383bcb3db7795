"""A claim as YAML that a cluster takes, as text with what would do for it, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.cli.claimed import Answer
from allotment.cli.json_text import json_text
from allotment.cli.shared import safe
from allotment.needs.fit import Explanation
from allotment.needs.fit_words import (
    alike_words,
    funnel_lines,
    headline,
    nearest_words,
    suggestion_words,
    to_data,
)
from allotment.needs.ways import Isolation, Scope, Way, ways_of
from allotment.needs.ways.share import pods_on_a_card

FORMAT_VERSION: Final = 1
_AS_CLAIMS: Final[Mapping[str, str]] = {
    " pods at once": " such claims at once",
    " pod at once": " such claim at once",
    ": a pod waits": ": the claim waits",
}


def as_yaml(answer: Answer) -> Iterator[str]:
    """The template, with what there is to say before it in comments."""
    import yaml

    for line in _said(answer):
        yield f"# {line}".rstrip()
    if answer.value is not None:
        yield yaml.safe_dump(answer.value, sort_keys=False, allow_unicode=True, width=10_000).rstrip()


def as_text(answer: Answer) -> Iterator[str]:
    """What there is to say, for people."""
    yield from _said(answer)


def as_json(answer: Answer) -> Iterator[str]:
    """The same for programs."""
    value = {
        "format_version": FORMAT_VERSION,
        "pipeline": answer.pipeline.id,
        "world": answer.world.name,
        "template": answer.template,
        "manifest": answer.value,
        "pod": None if answer.manifest is None else answer.manifest.pod,
        "sharing": [] if answer.manifest is None else [_way_data(way) for way in answer.manifest.ways],
        "given_up": list(answer.given_up),
        "explanation": None if answer.explanation is None else to_data(answer.explanation),
        "warnings": [str(finding) for finding in answer.warnings],
    }
    yield json_text(value)


def _way_data(way: Way) -> dict[str, Any]:
    return {
        "way": way.id,
        "word": way.word,
        "isolation": str(way.isolation),
        "keeps_apart": way.keeps_apart,
        "maturity": way.maturity,
        "counts_as": way.accounting,
    }


def _said(answer: Answer) -> Iterator[str]:
    """Everything in words, a line each."""
    explained = answer.explanation
    if explained is None:
        yield from (safe(f"{answer.pipeline.id}: {words}") for words in answer.given_up)
        return
    yield safe(f"{answer.pipeline.id}: {explained.claim}")
    yield safe(f"{answer.world.name}: {_head(answer, explained)}")
    yield from (safe(line) for line in _about_sharing(answer))
    several = len(explained.alternatives) > 1
    for alternative in explained.alternatives:
        yield ""
        if several:
            yield safe(f"{alternative.name}: {alternative.words}")
        yield from (safe(f"  {line}") for line in funnel_lines(alternative))
        yield from (safe(f"  would do: {alike_words(alike)}") for alike in alternative.alike)
        if alternative.fault is not None and several:
            yield safe(f"  error: {alternative.fault}")
        if alternative.nearest is not None and several:
            yield safe(f"  nearest: {nearest_words(alternative.nearest)}")
            if suggested := suggestion_words(alternative.nearest):
                yield safe(f"  {suggested}")
    notes = [*_use(answer), *answer.given_up, *explained.notes]
    if notes or answer.warnings:
        yield ""
    yield from (safe(f"note: {note}") for note in notes)
    yield from (safe(str(finding)) for finding in answer.warnings)


def _head(answer: Answer, explained: Explanation) -> str:
    """The answer in a sentence; of a claim that pods share, claims are counted and not its pods."""
    words = headline(explained)
    if answer.manifest is None or answer.manifest.scope is not Scope.SHARED:
        return words
    for pods, claims in _AS_CLAIMS.items():
        words = words.replace(pods, claims)
    return words


def _about_sharing(answer: Answer) -> Iterator[str]:
    """What each way costs in isolation, and how mature it is; a whole card alone needs no words."""
    manifest = answer.manifest
    if manifest is None or [way.word for way in manifest.ways] == ["whole"]:
        return
    for word in dict.fromkeys(way.word for way in manifest.ways):
        for way in ways_of(word):
            yield f"{way.title}: {way.maturity}"
        apart = (
            "kept apart in hardware" if way.isolation is Isolation.HARDWARE else "not kept apart in hardware"
        )
        yield f"{word}: {apart}; {way.keeps_apart}"


def _use(answer: Answer) -> Iterator[str]:
    """How pods use what is printed, where that is not a claim of each one's own."""
    manifest, pipeline = answer.manifest, answer.pipeline
    if manifest is None or pipeline.gpu is None:
        return
    if manifest.scope is Scope.SHARED:
        yield (
            f"pods share the card through this one claim, which they name: resourceClaimName: {pipeline.id}; "
            "a template would make a claim for each. All of them are on one node, in one namespace, at most "
            "256"
        )
        yield "the count above is of such claims, of which each serves all pods that name it"
    if manifest.scope is Scope.ANNOTATION:
        parts = [
            f"{fit:,} on each {alike.card}"
            for each in (answer.explanation.alternatives if answer.explanation is not None else ())
            for alike in each.alike
            if (fit := pods_on_a_card(pipeline.gpu, alike.memory)) is not None
        ]
        yield "KAI reads the annotations, and no claim is made"
        if parts:
            yield (
                "a pod in the count above stands for a card, and several go on one: "
                f"{', '.join(dict.fromkeys(parts))}"
            )
