"""What is not on the cluster: never sent, or gone since, as far as anything remembers it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.kubernetes.follow.model import Cause, Counts, Evidence, Expected, Followed, State, Window
from allotment.kubernetes.follow.remembered import Gone
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.follow.telling import sentence_of
from allotment.kubernetes.kinds import DEPLOYMENT, JOB, NAMESPACE, Kind
from allotment.kubernetes.render.names import PREFIX

OWNERS: Final[Mapping[str, Kind]] = {"campaign": JOB, "gang": JOB, "fleet": DEPLOYMENT}


def of_gone(name: str, namespace: str, gone: Sequence[Gone], expected: Expected | None) -> Followed:
    """Nothing is there any more, and how it ended is remembered."""
    states = [each.state for each in gone]
    state = next((each for each in (State.ABSENT, State.FAILED) if each in states), State.FINISHED)
    cause = next(each for each in gone if each.state is state).cause()
    kind, counts = gone[0].kind, counts_of_gone(gone)
    sentence = sentence_of(state, kind, counts, (cause,), packed=False)
    window = Window(0, 0, *bounds_of(expected))
    return Followed(name, kind, namespace, state, sentence, (cause,), counts=counts, window=window)


def counts_of_gone(gone: Sequence[Gone]) -> Counts:
    """What Jobs that are gone had done."""
    counts = Counts()
    for each in gone:
        counts = counts.plus(each.counts)
    return counts


def absent(name: str, namespace: str, expected: Expected | None, seen: Seen) -> Followed:
    """What a repository names, or somebody asks for, and is not there."""
    kind = expected.kind if expected is not None else "campaign"
    where = Evidence(
        f"namespace {namespace}", OWNERS[kind].shown, f"none has the label {PREFIX}{kind}={name}"
    )
    words, remedy = "nothing of it is there", "`allot apply` sends it, or says what is in its way"
    state, cause = State.ABSENT, "absent"
    if not seen.knows(OWNERS[kind]):
        words, remedy = f"its {OWNERS[kind].name}s could not be read", "see the note"
        where = Evidence("the cluster", OWNERS[kind].shown, seen.snapshot.lacks(OWNERS[kind]) or "not read")
    elif seen.of(NAMESPACE) and seen.knows(NAMESPACE) and seen.named(NAMESPACE, namespace) is None:
        words = f"there is no namespace `{namespace}`"
        remedy = "mend the team's `namespace` in the platform's file, or name the right cluster"
        where = Evidence("the cluster", NAMESPACE.shown, f"none is called {namespace}")
    elif expected is not None and expected.suspended:
        state, cause = State.PAUSED, "not-sent"
        words, remedy = (
            "its file says `suspend: true`, and it was never sent",
            "write `suspend: false` and `allot apply`",
        )
    told = Cause(cause, state, words, remedy, (where,))
    counts = Counts(total=expected.volumes or 0) if expected is not None else Counts()
    sentence = sentence_of(state, kind, counts, (told,), packed=False)
    notes = tuple(missing(seen, (OWNERS[kind],)))
    return Followed(name, kind, namespace, state, sentence, (told,), counts=counts, notes=notes)


def missing(seen: Seen, kinds: Sequence[Kind]) -> Iterator[str]:
    """What could not be read, as notes."""
    for kind in kinds:
        why = seen.snapshot.lacks(kind)
        if why is not None:
            yield f"{kind.shown} could not be read ({why}), so what they would say is not told"


def bounds_of(expected: Expected | None) -> tuple[int | None, int | None]:
    """The bounds of a window, as its file has them."""
    return (None, None) if expected is None else (expected.least, expected.most)
