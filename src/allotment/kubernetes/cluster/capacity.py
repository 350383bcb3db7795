"""What a queue may use of one resource, as numbers and as a sum in words.

Whoever refuses work that can never be admitted, or says why work waits, shows the sum and not its result
alone. A queue's quota says nothing of devices: what is free here may still find no device that fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from allotment.quantities import format_bytes

Amount = Fraction
NOTHING: Final = Fraction(0)
KUEUE: Final = "kueue"
KAI: Final = "kai"


@dataclass(frozen=True, slots=True)
class Part:
    """A ClusterQueue's quota in one flavor.

    ``others`` is what its cohort tree would lend it if nobody else used anything, before its own borrowing
    limit; ``most`` the most that it could ever have, ``free`` what it could have now without a victim.
    """

    flavor: str
    quota: Amount
    used: Amount
    most: Amount
    free: Amount
    others: Amount = NOTHING
    borrowing_limit: Amount | None = None

    @property
    def borrowed(self) -> Amount:
        """What it uses above its quota."""
        return max(NOTHING, self.used - self.quota)

    @property
    def lent(self) -> Amount:
        """What of its unused quota others hold, so that it comes back by a reclaim alone."""
        unused = max(NOTHING, self.quota - self.used)
        return unused - min(unused, self.free)


@dataclass(frozen=True, slots=True)
class Capacity:
    """What one queue may use of one resource; None stands for "without limit".

    ``quota`` is guaranteed (through all parents), ``limit`` its own ceiling, ``most`` what it could have if
    nobody else used anything, ``free`` what it could have now without a victim. Of a resource with several
    flavors these are sums, but all that a pod set requests of it comes from one: ``most_at_once`` is of the
    largest flavor. ``inactive`` says why nothing is admitted, whatever the numbers are.
    """

    queue: str
    scheduler: str
    resource: str
    quota: Amount | None
    used: Amount
    most: Amount | None
    free: Amount | None
    limit: Amount | None = None
    borrowed: Amount = NOTHING
    lent: Amount = NOTHING
    weight: Amount = Fraction(1)
    most_at_once: Amount | None = None
    parents: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    covers: tuple[str, ...] = ()
    narrowed_by: str = ""
    inactive: str = ""

    @property
    def is_covered(self) -> bool:
        """Whether the queue gives out this resource at all."""
        return self.scheduler != KUEUE or bool(self.parts)

    def never_fits(self, asked: Amount | int) -> bool:
        """Whether so much at once can never be admitted, however idle the cluster is."""
        return self.most_at_once is not None and asked > self.most_at_once

    def has_free(self, asked: Amount | int) -> bool:
        """Whether so much at once could be had now without a victim."""
        return not self.inactive and (self.free is None or asked <= _free_at_once(self))

    def arithmetic(self, asked: Amount | int | None = None) -> str:
        """The sum in words; with ``asked``, what that much at once comes to."""
        said = _kueue_words(self) if self.scheduler == KUEUE else _kai_words(self)
        if asked is None or not self.is_covered:
            return said
        return f"{said}; {_asked_words(self, Fraction(asked))}"


def amount_text(amount: Amount, resource: str = "") -> str:
    """An amount as a person reads it: ``4``, ``0.5``, ``16Gi`` of memory."""
    if resource == "memory" and amount.denominator == 1 and amount >= 0:
        return format_bytes(int(amount))
    if amount.denominator == 1:
        return f"{int(amount):,}"
    return f"{float(amount):.3f}".rstrip("0").rstrip(".")


def _kueue_words(of: Capacity) -> str:
    queue = f"ClusterQueue `{of.queue}`"
    if not of.parts:
        covered = ", ".join(f"`{each}`" for each in of.covers) or "nothing"
        return f"{queue} gives out no `{of.resource}`: it covers {covered}"
    if len(of.parts) == 1:
        (part,) = of.parts
        return f"{queue} may have at most {_part_words(of, part)}"
    parts = "; ".join(f"in flavor `{part.flavor}` at most {_part_words(of, part)}" for part in of.parts)
    return f"{queue} may have {parts}; what a pod set requests of `{of.resource}` comes from one flavor"


def _part_words(of: Capacity, part: Part) -> str:
    text = _Texts(of.resource)
    sums = f"{text(part.most)} `{of.resource}`: its quota of {text(part.quota)}"
    if of.parents:
        borrowable = part.most - part.quota
        limit = "no borrowing limit"
        if part.borrowing_limit is not None:
            limit = f"borrowing limit {text(part.borrowing_limit)}"
        sums += (
            f" and up to {text(borrowable)} borrowed in cohort `{of.parents[0]}` ({limit}; the others could "
            f"lend {text(part.others)})"
        )
    else:
        sums += ", with no cohort to borrow from"
    used = f"{text(part.used)} in use"
    if part.borrowed:
        used += f", {text(part.borrowed)} of them borrowed"
    free = f"{text(part.free)} more free now without taking any back"
    if part.lent:
        free += f" ({text(part.lent)} of its quota lent to others)"
    return f"{sums}; {used}; {free}"


def _kai_words(of: Capacity) -> str:
    text = _Texts(of.resource)
    quota = "an unlimited quota" if of.quota is None else f"a quota of {text(of.quota)}"
    ceiling = "no limit" if of.most is None else f"a limit of {text(of.most)}"
    narrowed = f" (by its parent `{of.narrowed_by}`)" if of.narrowed_by else ""
    used = f"{text(of.used)} in use"
    if of.borrowed:
        used += f", {text(of.borrowed)} of them above its quota"
    free = "" if of.free is None else f"; {text(of.free)} more within its limit"
    return f"Queue `{of.queue}` has {quota} and {ceiling} of `{of.resource}`{narrowed}; {used}{free}"


def _asked_words(of: Capacity, asked: Amount) -> str:
    text = _Texts(of.resource)
    begin = f"{text(asked)} at once {'is' if asked == 1 else 'are'}"
    if of.most_at_once is not None and asked > of.most_at_once:
        return f"{begin} {text(asked - of.most_at_once)} more than it can ever have"
    if of.free is not None and asked > _free_at_once(of):
        return f"{begin} {text(asked - _free_at_once(of))} more than are free now"
    return f"{begin} within it now"


def _free_at_once(of: Capacity) -> Amount:
    return max((part.free for part in of.parts), default=of.free or NOTHING)


@dataclass(frozen=True, slots=True)
class _Texts:
    resource: str

    def __call__(self, amount: Amount) -> str:
        return amount_text(amount, self.resource)
