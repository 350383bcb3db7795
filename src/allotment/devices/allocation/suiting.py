"""Which devices a request could use: its class first, then its own selectors, then the device's own nodes.

A selector that fails on a device ends the allocation on every node, but only once the search comes to that
device, so faults are kept and raised there (``isSelectable`` of k8s.io/dynamic-resource-allocation). Devices
that look alike to a selector are decided once, and so are nodes whose devices look alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from allotment.devices.allocation.behaviours import FIXED, Behaviour
from allotment.devices.allocation.errors import AllocationError, of_claim
from allotment.devices.allocation.features import Features
from allotment.devices.allocation.sites import Site
from allotment.devices.cel import EvaluationError
from allotment.devices.claims import ExactRequest
from allotment.devices.classes import DeviceClass
from allotment.devices.selectors import Matcher, SelectorError
from allotment.devices.slices import Device, DeviceId

Shape = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A selector that failed: of this class (None: the claim's own), at this place."""

    device_class: str | None
    place: int
    words: str
    names_device: bool

    def error(self, claim: str, device: DeviceId) -> AllocationError:
        """The error as upstream words it."""
        owner = of_claim(claim, ": ") if self.device_class is None else f"class {self.device_class}: "
        where = f" on device {device}" if self.names_device else ""
        return AllocationError(f"{owner}selector #{self.place}{where}: {self.words}")


@dataclass(frozen=True, slots=True)
class Suited:
    """The devices of a node for one request, by number: which could do, and which a selector fails on.

    ``candidates`` holds both, in the order of search.
    """

    candidates: tuple[int, ...]
    faults: Mapping[int, Fault]


class Suiting:
    """Decides for classes and selectors, and remembers."""

    def __init__(
        self,
        classes: Mapping[str, DeviceClass],
        matches: Matcher,
        features: Features,
        behaviour: Behaviour = FIXED,
    ) -> None:
        self._classes = classes
        self._matches = matches
        self._features = features
        self._behaviour = behaviour
        self._shapes: dict[Shape, int] = {}
        self._likes: dict[tuple[str, int], tuple[Device, int]] = {}
        self._verdicts: dict[tuple[str, tuple[str, ...], int], bool | Fault] = {}
        self._suited: dict[tuple[object, ...], Suited] = {}
        self._site_shapes: dict[int, tuple[Site, tuple[int, ...]]] = {}

    def suited(self, exact: ExactRequest, site: Site) -> Suited:
        """The devices of a node that the request could use."""
        shapes = self.shapes_of(site)
        key = (exact.device_class, exact.selectors, shapes, site.out_of_reach)
        known = self._suited.get(key)
        if known is None:
            known = self._suited[key] = self._decide(exact, site, shapes)
        return known

    def shapes_of(self, site: Site) -> tuple[int, ...]:
        """What each device of a node looks like to selectors: equal numbers for equal looks."""
        known = self._site_shapes.get(id(site))
        if known is not None and known[0] is site:
            return known[1]
        shapes = tuple(
            self._shape(device_id.driver, device)
            for device_id, device in zip(site.ids, site.devices, strict=True)
        )
        self._site_shapes[id(site)] = site, shapes
        return shapes

    def _decide(self, exact: ExactRequest, site: Site, shapes: Sequence[int]) -> Suited:
        candidates: list[int] = []
        faults: dict[int, Fault] = {}
        for number, shape in enumerate(shapes):
            verdict = self._verdict(exact, site.ids[number].driver, site.devices[number], shape)
            if isinstance(verdict, Fault):
                faults[number] = verdict
                candidates.append(number)
            elif verdict and number not in site.out_of_reach:
                candidates.append(number)
        return Suited(tuple(candidates), faults)

    def _verdict(self, exact: ExactRequest, driver: str, device: Device, shape: int) -> bool | Fault:
        key = (exact.device_class, exact.selectors, shape)
        known = self._verdicts.get(key)
        if known is None:
            known = self._verdicts[key] = self._decide_one(exact, driver, device)
        return known

    def _decide_one(self, exact: ExactRequest, driver: str, device: Device) -> bool | Fault:
        if device.binding_conditions and not self._features.device_binding_and_status:
            return False
        unsupported = self._unsupported(device)
        owned = ((exact.device_class, self._classes[exact.device_class].selectors), (None, exact.selectors))
        for owner, selectors in owned:
            for place, expression in enumerate(selectors):
                try:
                    passes = self._matches(expression, driver, device)
                except SelectorError as error:
                    if unsupported is None or _is_of_compiling(error):
                        return self._fault(owner, place, error)
                    passes = True
                if unsupported is not None:
                    words = f"CEL runtime error: attribute {unsupported}: unsupported attribute value"
                    return Fault(owner, place, words, names_device=not self._behaviour.bare_selector_errors)
                if not passes:
                    return False
        return True

    def _fault(self, owner: str | None, place: int, error: SelectorError) -> Fault:
        cause, bare = error.__cause__, self._behaviour.bare_selector_errors
        if isinstance(cause, EvaluationError):
            words = f"CEL runtime error: {cause.message if bare else cause.explained}"
            return Fault(owner, place, words, names_device=not bare)
        return Fault(owner, place, str(error), names_device=not (bare or _is_of_compiling(error)))

    def _unsupported(self, device: Device) -> str | None:
        """An attribute that selectors cannot be given."""
        lists = self._behaviour.lists_need_the_gate and not self._features.list_type_attributes
        return min(
            (
                name
                for name, value in device.attributes.items()
                if isinstance(value, tuple) and (lists or not value)
            ),
            default=None,
        )

    def _shape(self, driver: str, device: Device) -> int:
        known = self._likes.get((driver, id(device)))
        if known is not None and known[0] is device:
            return known[1]
        looks: Shape = (
            driver,
            tuple(
                (name, type(value), _plain(value))
                for name, value in sorted(device.attributes.items(), key=_name)
            ),
            tuple(sorted((name, amount.value) for name, amount in device.capacity.items())),
            device.allow_multiple_allocations,
            bool(device.binding_conditions),
        )
        shape = self._shapes.setdefault(looks, len(self._shapes))
        self._likes[driver, id(device)] = device, shape
        return shape


def _is_of_compiling(error: SelectorError) -> bool:
    return str(error).startswith("CEL compile error")


def _name(item: tuple[str, object]) -> str:
    return item[0]


def _plain(value: object) -> object:
    return tuple((type(each), each) for each in value) if isinstance(value, tuple) else value
