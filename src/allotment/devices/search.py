"""The search itself: depth first through requests, alternatives and devices, as upstream's ``allocateOne``.

Upstream (``k8s.io/dynamic-resource-allocation``, Kubernetes 1.36) takes the first complete solution. A
request goes through its devices in order, each next device after the one before it: combinations, not
permutations. Of alternatives the first counts that lets the rest of the claim fit; one that would pass 32
devices is passed over. A selector that cannot be evaluated is fatal once the search meets that device, and
not before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import Enum, auto

from allotment.devices.claims import MOST_DEVICES, AllocatedDevice
from allotment.devices.constraints import Rule
from allotment.devices.matching import Wanted, can_deal
from allotment.devices.selectors import SelectorError
from allotment.devices.slices import DeviceId


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to meet a request: so many of these devices (by number, in order), under this name.

    ``faults`` are the candidates on which a selector fails, with the words for it. ``rules`` are the
    constraints of the claim that hold for it.
    """

    name: str
    count: int
    candidates: Sequence[int]
    faults: dict[int, str]
    rules: tuple[Rule, ...] = ()


def search(
    requests: Sequence[Sequence[Alternative]], ids: Sequence[DeviceId], taken: Set[DeviceId]
) -> list[AllocatedDevice] | None:
    """The first solution on free devices, or None; SelectorError when the search meets a fault."""
    if len(requests) == 1 and not any(alternative.rules for alternative in requests[0]):
        return _first_that_is_whole(requests[0], ids, taken)
    gone = {number for number, device_id in enumerate(ids) if device_id in taken}
    return _Search(requests, ids, gone).run()


def _first_that_is_whole(
    alternatives: Sequence[Alternative], ids: Sequence[DeviceId], taken: Set[DeviceId]
) -> list[AllocatedDevice] | None:
    """A single request makes room for nobody: its first free devices are the answer, if there are enough."""
    for alternative in alternatives:
        if alternative.count > MOST_DEVICES:
            continue
        found: list[AllocatedDevice] = []
        for number in alternative.candidates:
            if ids[number] in taken:
                continue
            if number in alternative.faults:
                raise SelectorError(alternative.faults[number])
            found.append(AllocatedDevice(alternative.name, ids[number]))
            if len(found) == alternative.count:
                return found
    return None


class _Answer(Enum):
    FOUND = auto()
    NONE = auto()
    TOO_MANY = auto()  # more than 32 devices: ends an alternative, but not the next one


class _Search:
    """Several requests, which can be in each other's way: a choice is undone when the rest does not fit."""

    def __init__(
        self, requests: Sequence[Sequence[Alternative]], ids: Sequence[DeviceId], gone: set[int]
    ) -> None:
        self._requests = requests
        self._ids = ids
        self._gone = gone  # taken by others, or given to this claim
        self._results: list[AllocatedDevice] = []
        self._given: dict[Rule, list[int]] = defaultdict(list)  # devices of this claim, by rule
        self._wanted: list[Wanted] = []  # by the requests up to the first that has faults: those stay met
        for alternatives in requests:
            if any(alternative.faults for alternative in alternatives):
                break
            suitable = sorted({number for each in alternatives for number in each.candidates})
            self._wanted.append((min(each.count for each in alternatives), suitable))

    def run(self) -> list[AllocatedDevice] | None:
        if not can_deal(self._wanted, self._gone):
            return None
        return self._results if self._request(0) is _Answer.FOUND else None

    def _request(self, at: int) -> _Answer:
        if at == len(self._requests):
            return _Answer.FOUND
        answers = set()
        for alternative in self._requests[at]:
            answer = self._device(at, alternative, alternative.count, start=0)
            if answer is _Answer.FOUND:
                return answer
            answers.add(answer)
        return _Answer.TOO_MANY if answers == {_Answer.TOO_MANY} else _Answer.NONE

    def _device(self, at: int, alternative: Alternative, missing: int, *, start: int) -> _Answer:
        if missing == 0:
            return self._request(at + 1)
        if len(self._results) + missing > MOST_DEVICES:
            return _Answer.TOO_MANY
        for place in range(start, len(alternative.candidates)):
            number = alternative.candidates[place]
            if number in self._gone:
                continue
            if number in alternative.faults:
                raise SelectorError(alternative.faults[number])
            if not all(rule.allows(number, self._given[rule]) for rule in alternative.rules):
                continue
            self._give(number, alternative)
            answer = _Answer.NONE
            if self._hopeful(at, alternative, missing - 1, place + 1):
                answer = self._device(at, alternative, missing - 1, start=place + 1)
            if answer is _Answer.FOUND:
                return answer
            self._take_back(number, alternative)
            if answer is _Answer.TOO_MANY:
                return answer
        return _Answer.NONE

    def _give(self, number: int, alternative: Alternative) -> None:
        self._gone.add(number)
        self._results.append(AllocatedDevice(alternative.name, self._ids[number]))
        for rule in alternative.rules:
            self._given[rule].append(number)

    def _take_back(self, number: int, alternative: Alternative) -> None:
        self._gone.remove(number)
        self._results.pop()
        for rule in alternative.rules:
            self._given[rule].pop()

    def _hopeful(self, at: int, alternative: Alternative, missing: int, start: int) -> bool:
        """Whether what is left can still be enough for this request and for those that follow."""
        if missing and alternative.rules and not alternative.faults:
            left = [number for number in alternative.candidates[start:] if number not in self._gone]
            if any(rule.room(left, self._given[rule]) < missing for rule in alternative.rules):
                return False
        if at >= len(self._wanted):
            return True
        rest: list[Wanted] = [(missing, alternative.candidates[start:]), *self._wanted[at + 1 :]]
        return can_deal(rest, self._gone)
