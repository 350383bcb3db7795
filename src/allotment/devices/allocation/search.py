"""The search: depth first through claims, requests, alternatives and devices, as upstream's ``allocateOne``.

The first complete solution wins (k8s.io/dynamic-resource-allocation). A request goes through its devices in
order, each next device after the one before it: combinations, not permutations, but for the stable variant.
Of alternatives the first counts that lets the rest fit; one that would pass 32 devices is passed over, and
where all would, the choices before it are given up at once. A selector that cannot be evaluated is fatal once
the search meets that device, and not before.

``steps`` is upstream's number of calls. A search that becomes long remembers which parts came to nothing, and
how many steps they took: where devices are alike it meets the same parts again, and does not walk them twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from allotment.devices.allocation.errors import AllocationError, of_request
from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.hopeless import is_hopeless
from allotment.devices.allocation.likeness import likenesses
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.trial import Trial
from allotment.devices.allocation.wants import ReadyClaim, Want
from allotment.devices.claims import MOST_DEVICES

SHORT: Final = 256
"""Devices that are looked for without remembering anything."""
LONG: Final = 2_000
"""As many again, and it is asked whether the search can come to anything."""
LONGEST: Final = 4_000_000
TIMED_OUT: Final = "node {}: timed out trying to allocate devices"


class _HopelessError(Exception):
    """The search cannot come to anything."""


class Answer(Enum):
    """What became of a part of the search."""

    FOUND = auto()
    NONE = auto()
    TOO_MANY = auto()  # more than 32 devices: ends an alternative, but not the next one


class Search:
    """One search on one node."""

    def __init__(
        self,
        claims: Sequence[ReadyClaim],
        trial: Trial,
        ground: Ground,
        taken: Taken,
        *,
        counting: bool = True,
    ) -> None:
        """``counting``: the steps of a search that comes to nothing matter too."""
        self._claims = claims
        self._site = trial.site
        self._may_cut = not counting
        self._trial = trial
        self._ground = ground
        self._taken = taken
        self._combinations = ground.combinations
        self._admin = any(want.is_admin for claim in claims for wants in claim.requests for want in wants)
        self._restores = ground.behaviour.restores(
            distinct=any(each.match_attribute is None for claim in claims for each in claim.spec.constraints),
            lists=ground.features.list_type_attributes,
            pools=[each.name for each in self._site.pools],
        )
        self._walked = 0
        self._likenesses: list[int] | None = None
        self._failed: dict[object, tuple[Answer, int]] = {}
        self.steps = 0
        self.cut_short = False  # `steps` is less than upstream's
        self.chosen: dict[tuple[int, int], int] = {}

    def run(self) -> bool:
        """Whether everything was given; AllocationError where a selector or a constraint is fatal."""
        try:
            return self._claim(0) is Answer.FOUND
        except _HopelessError:
            self.cut_short = True
            return False

    def _claim(self, claim: int) -> Answer:
        self.steps += 1
        if claim >= len(self._claims):
            return Answer.FOUND
        return self._after_step(claim, 0)

    def _request(self, claim: int, request: int) -> Answer:
        self.steps += 1
        return self._after_step(claim, request)

    def _after_step(self, claim: int, request: int) -> Answer:
        requests = self._claims[claim].requests
        if request >= len(requests):
            answer = self._claim(claim + 1)
            return Answer.NONE if answer is Answer.TOO_MANY else answer
        wants = requests[request]
        if not self._claims[claim].spec.requests[request].first_available:
            return self._devices(claim, request, wants[0], 0, 0)
        all_too_many = True
        for place, want in enumerate(wants):
            self.steps += 1
            answer = self._devices(claim, request, want, 0, 0)
            if answer is Answer.TOO_MANY:
                continue
            all_too_many = False
            if answer is Answer.FOUND:
                self.chosen[claim, request] = place
                return answer
        return Answer.TOO_MANY if all_too_many else Answer.NONE

    def _devices(self, claim: int, request: int, want: Want, given: int, start: int) -> Answer:
        """The devices of an alternative, from the place ``start`` on, after so many are ``given``."""
        if want.every is not None and not want.every:
            return Answer.NONE
        if given >= want.count:
            return self._request(claim, request + 1)
        if len(self._trial.results[claim]) + want.count - given > MOST_DEVICES:
            return Answer.TOO_MANY
        if want.every is not None:
            return self._next_of_all(claim, request, want, given)
        self._walked += 1
        if self._walked in {LONG, LONGEST}:
            self._look_up()
        if self._walked < SHORT or not self._restores:
            return self._one_of(claim, request, want, given, start)
        return self._remembered(claim, request, want, given, start)

    def _look_up(self) -> None:
        """End a search that goes nowhere."""
        if self._walked == LONGEST:
            raise AllocationError(TIMED_OUT.format(self._site.node.name), only_this_node=True)
        if not (self._may_cut and self._restores):
            return
        if is_hopeless(self._claims, self._taken, self._ground.features):
            raise _HopelessError

    def _remembered(self, claim: int, request: int, want: Want, given: int, start: int) -> Answer:
        """The same, unless a part that is like this one has come to nothing already."""
        if self._likenesses is None:
            self._likenesses = likenesses(self._claims, self._site, self._taken, self._ground)
        candidates = want.suited.candidates
        first = candidates[start] if start < len(candidates) else len(self._site.ids)
        mark = self._trial.mark(first if start else 0, self._likenesses, admin=self._admin)
        key = id(want), given, mark
        known = self._failed.get(key)
        if known is not None:
            self.steps += known[1]
            return known[0]
        before = self.steps
        answer = self._one_of(claim, request, want, given, start)
        if answer is not Answer.FOUND:
            self._failed[key] = answer, self.steps - before
        return answer

    def _one_of(self, claim: int, request: int, want: Want, given: int, start: int) -> Answer:
        """The next device of a request for a number of them: the first with which the rest works out."""
        candidates, faults, trial = want.suited.candidates, want.suited.faults, self._trial
        admin = want.is_admin
        for place in range(start, len(candidates)):
            number = candidates[place]
            if trial.in_use(claim, number, admin=admin):
                continue
            if number in faults:
                raise faults[number].error(self._claims[claim].name, self._site.ids[number])
            if not trial.has_capacity(want, number) or not trial.give(claim, want, number):
                continue
            self.steps += 1
            answer = self._devices(claim, request, want, given + 1, place + 1 if self._combinations else 0)
            if answer is Answer.FOUND:
                return answer
            trial.give_back(claim)
            if answer is Answer.TOO_MANY:
                return answer
        return Answer.NONE

    def _next_of_all(self, claim: int, request: int, want: Want, given: int) -> Answer:
        """The next device of a request for all: exactly this one."""
        number = (want.every or ())[given]
        if not self._trial.give(claim, want, number):
            if self._trial.breaks_rule:
                words = (
                    f"cannot add device {self._site.ids[number]} "
                    "because a claim constraint would not be satisfied"
                )
                raise of_request(self._claims[claim].name, want.own, words)
            return Answer.NONE
        self.steps += 1
        answer = self._devices(claim, request, want, given + 1, 0)
        if answer is not Answer.FOUND:
            self._trial.give_back(claim)
        return answer
