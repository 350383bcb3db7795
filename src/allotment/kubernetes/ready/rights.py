"""Which rights this identity has not that commands need, as the server answers (SelfSubjectAccessReview)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes.ready.seen import Right, Seen, listed
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.rights import TO_EXPLAIN, needed_for
from allotment.platform.model import Platform, Team

CHECK: Final = "rights"


def rights_of(platform: Platform, team: Team) -> Mapping[str, tuple[Right, ...]]:
    """What whoever works for a team needs, by what it is for."""
    namespace = namespace_of(team)
    return {
        purpose: tuple(
            Right(each.group, resource, verb, namespace if within else "")
            for each, within in parts
            for resource in each.resources
            for verb in each.verbs
        )
        for purpose, parts in needed_for(platform.scheduler).items()
    }


def rights(seen: Seen) -> Iterator[Answer]:
    """Which rights are missing, by what they are for."""
    if seen.rights is None:
        return
    who = f"`{seen.identity}`" if seen.identity else "this identity"
    for team in seen.teams:
        missing = _missing(seen, team)
        for purpose, found in missing.items():
            words = (
                f"{who} may not {listed([_words(*each) for each in found.items()])}, which {purpose} needs"
            )
            say = note if purpose in TO_EXPLAIN else problem
            yield say(CHECK, words, _remedy(team))
        if not missing:
            yield fine(
                CHECK, f"{who} may do what applying, following and planning for team {team.name} needs"
            )


def _missing(seen: Seen, team: Team) -> Mapping[str, Mapping[tuple[str, str], tuple[str, ...]]]:
    """The verbs that are refused, by purpose and resource; a right that was not asked for is not missing."""
    answers = seen.rights or {}
    found: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {}
    for purpose, needed in rights_of(seen.platform, team).items():
        verbs: dict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
        for right in needed:
            if answers.get(right) is False:
                what = f"{right.resource}.{right.group}" if right.group else right.resource
                verbs[what, right.namespace] += (right.verb,)
        if verbs:
            found[purpose] = dict(verbs)
    return found


def _words(what: tuple[str, str], verbs: tuple[str, ...]) -> str:
    """``create and patch jobs.batch in archive``."""
    resource, namespace = what
    said = verbs[0] if len(verbs) == 1 else f"{', '.join(verbs[:-1])} and {verbs[-1]}"
    return f"{said} {resource}" + (f" in {namespace}" if namespace else "")


def _remedy(team: Team) -> str:
    return (
        f"be in the group `allotment:{team.name}`, which the platform's Roles are bound to "
        "(`allot render --platform-objects`)"
    )
