"""Why nothing fits: for each alternative of a claim, how many devices were seen and where they fell out.

"Cannot allocate all claims" tells nobody anything. The funnel says how many devices there are, how many are
of another class, how many a selector refused, how many are taken or have too little left, and what is left of
how many are needed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Funnel:
    """One alternative: each device that was seen is counted under the first thing that put it aside.

    ``lacking`` devices are free, but what they share with others, or their capacity, is not enough.
    """

    request: str
    device_class: str
    needed: int
    seen: int
    other_class: int = 0
    refused: int = 0
    small: int = 0
    tainted: int = 0
    taken: int = 0
    lacking: int = 0

    @property
    def suitable(self) -> int:
        """How many would do, taken or not."""
        return self.seen - self.other_class - self.refused - self.small - self.tainted

    @property
    def free(self) -> int:
        """How many would do and are free."""
        return self.suitable - self.taken - self.lacking

    def __str__(self) -> str:
        if self.seen == self.other_class:
            return f"no device of class {self.device_class} among {self.seen}"
        if self.suitable < self.needed:
            found = f"only {self.suitable} would do" if self.suitable else "none would do"
        else:
            found = f"{self.free} free, {self.taken} taken"
        aside = {
            "without enough left of what they share": self.lacking,
            "refused by the selector": self.refused,
            "without the capacity asked for": self.small,
            "tainted": self.tainted,
        }
        why = "".join(f", {count} {words}" for words, count in aside.items() if count)
        return f"{self.needed} of class {self.device_class} needed, {found}{why}"


@dataclass(frozen=True, slots=True)
class NoFit:
    """A claim that nothing was given to. ``error`` is set when it can never be right, whatever is free.

    ``waiting`` says that it may fit later: nothing but what is taken, or a pool that is being updated, is
    in its way. Otherwise it never fits.
    """

    funnels: tuple[Funnel, ...] = ()
    error: str | None = None
    waiting: bool = False
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.error is not None:
            return self.error
        if all(funnel.free >= funnel.needed for funnel in self.funnels):
            if len(self.funnels) == 1:
                return "; ".join([*map(str, self.funnels), *self.notes])
            asked = ", ".join(f"{funnel.needed} of class {funnel.device_class}" for funnel in self.funnels)
            return "; ".join([f"each request would fit alone, but not all together: {asked}", *self.notes])
        return "; ".join([*dict.fromkeys(map(str, self.funnels)), *self.notes])
