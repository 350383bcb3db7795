"""What one pod asks for, out of the template of its pods, as every scheduler reads it.

The template is what is applied: its claim templates say the claims, its requests and annotations what KAI
counts, and quota is charged as Kueue's reader charges a Workload of such pods. How many cards it counts as is
for shares and bills: a slice is the part of its card's memory, a pod among many on one card its part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.devices.claims import AllocationMode, ClaimSpec, ExactRequest
from allotment.devices.inventory import device_memory
from allotment.devices.selectors import SelectorError, evaluate
from allotment.devices.slices import Device
from allotment.devices.world import World
from allotment.kubernetes.cluster.pod_request import request_of
from allotment.kubernetes.follow import fields
from allotment.planning.measure import known_card
from allotment.quantities import MI
from allotment.scheduling.kueue.dra.claimed import ClaimReader
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.scheduling.state.pod_requests import pod_requests
from allotment.scheduling.state.pods import PodClaim
from allotment.scheduling.state.read_queues import read_tolerations
from allotment.scheduling.state.read_workloads import read_node_selector
from allotment.simulation.work import Ask

Raw = Mapping[str, Any]
_PRODUCTS: Final = ("productName", "model")
_REQUIRED_NEAR: Final = ("affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


@dataclass(slots=True)
class Asks:
    """Reads templates of pods. ``templates`` and ``claims`` are specs by ``namespace/name``.

    ``reader`` is Kueue's; without one nothing is charged.
    """

    world: World
    templates: Mapping[str, ClaimSpec]
    claims: Mapping[str, ClaimSpec] = field(default_factory=dict)
    reader: ClaimReader | None = None
    sizes: dict[ExactRequest, float | None] = field(default_factory=dict)
    charged: dict[tuple[object, ...], tuple[Mapping[str, int], str]] = field(default_factory=dict)
    samples: dict[tuple[str, str, int | None], Device] = field(default_factory=dict)

    def of(self, template: Raw, namespace: str, pods: int = 1) -> Ask:
        """The ask of a pod; ``pods`` is how many share a claim that has a name."""
        spec = template.get("spec") or {}
        notes = (template.get("metadata") or {}).get("annotations") or {}
        claims = tuple(self._claims(spec, namespace))
        required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        )
        ask = Ask(
            claims=claims,
            request=request_of(spec, notes),
            node_selector=dict(spec.get("nodeSelector") or {}),
            affinity=None if required is None else read_node_selector(required),
            tolerations=read_tolerations(spec.get("tolerations") or ()),
            near=_near(template),
        )
        asked = spec.get("resourceClaims") or ()
        lost = tuple(map(str, asked)) if len(claims) < len(asked) else ()
        alike = (namespace, claims, lost, tuple(sorted(pod_requests(spec).items())))
        if alike not in self.charged:
            self.charged[alike] = self._charges(template, namespace)
        charges, fault = self.charged[alike]
        return replace(ask, charges=charges, fault=fault, gpus=self.gpus_of(ask, pods))

    def _claims(self, spec: Raw, namespace: str) -> Iterator[PodClaim]:
        for each in spec.get("resourceClaims") or ():
            own, shared = each.get("resourceClaimTemplateName"), each.get("resourceClaimName")
            if own is not None and (found := self.templates.get(f"{namespace}/{own}")) is not None:
                yield PodClaim(str(each.get("name")), found)
            if shared is not None and (found := self.claims.get(f"{namespace}/{shared}")) is not None:
                yield PodClaim(str(each.get("name")), found, f"{namespace}/{shared}")

    def _charges(self, template: Raw, namespace: str) -> tuple[Mapping[str, int], str]:
        """What a queue of Kueue is charged for a pod, or why no such workload stands in line."""
        if self.reader is None:
            return {}, ""
        meta = {"name": "asked", "namespace": namespace}
        pod_set = {"name": "main", "count": 1, "template": template}
        found = self.reader.read({"metadata": meta, "spec": {"podSets": [pod_set]}})
        fault = found.waiting.message if found.held_back and found.waiting is not None else ""
        return found.pod_sets[0].requests, fault

    def gpus_of(self, ask: Ask, pods: int = 1) -> float:
        """How many cards a pod counts as."""
        request = ask.request
        counted = request.gpus + request.fraction * request.devices
        counted += sum(amount for _, amount in request.mig) / 7
        if request.gpu_memory:
            counted += request.devices * self._part(request.gpu_memory * MI)
        for claim in ask.claims:
            of_claim = sum(self._of_request(each) for each in self._chosen(claim.spec))
            counted += of_claim / max(1, pods) if claim.shared else of_claim
        return float(counted)

    def _chosen(self, spec: ClaimSpec) -> Iterator[ExactRequest]:
        """Of each request the first alternative that any device would do for."""
        for request in spec.requests:
            choices = [each.exactly for each in request.alternatives]
            yield next((each for each in choices if self._size(each) is not None), choices[0])

    def _of_request(self, asked: ExactRequest) -> float:
        count = asked.count if asked.mode is AllocationMode.EXACT_COUNT else 1
        size = self._size(asked)
        if size is None:
            size = 1.0 if is_gpu(asked.device_class) else 0.0
        return count * size

    def _size(self, asked: ExactRequest) -> float | None:
        """How much of a card the first device is that would do; None where there is none."""
        if asked not in self.sizes:
            self.sizes[asked] = next(self._suiting(asked), None)
        return self.sizes[asked]

    def _suiting(self, asked: ExactRequest) -> Iterator[float]:
        of_class = self.world.classes.get(asked.device_class)
        if of_class is None:
            return
        tests = (*of_class.selectors, *asked.selectors)
        for published in self.world.slices:
            for device in published.devices:
                if passes(tests, published.driver, device):
                    yield _part_of_card(published.driver, device)

    def cards_for(self, ask: Ask) -> frozenset[str]:
        """Which kinds of card its claims may get, by a look at one device of each kind and size."""
        found: set[str] = set()
        for claim in ask.claims:
            for request in claim.spec.requests:
                for each in request.alternatives:
                    found.update(self._kinds(each.exactly))
        return frozenset(found)

    def _kinds(self, asked: ExactRequest) -> Iterator[str]:
        of_class = self.world.classes.get(asked.device_class)
        tests = (*of_class.selectors, *asked.selectors) if of_class is not None else ()
        for (driver, card, _), device in self._samples().items():
            if of_class is not None and is_gpu(driver) and passes(tests, driver, device):
                yield card

    def _samples(self) -> Mapping[tuple[str, str, int | None], Device]:
        """A device of each kind and size."""
        if not self.samples:
            for published in self.world.slices:
                for device in published.devices:
                    memory = device_memory(published.driver, device)
                    self.samples.setdefault((published.driver, card_name(device), memory), device)
        return self.samples

    def _part(self, memory: int) -> float:
        """A part of a card by memory, of the smallest card that has so much."""
        sizes = [
            size
            for published in self.world.slices
            for device in published.devices
            if (size := device_memory(published.driver, device)) is not None and size >= memory
        ]
        return memory / min(sizes) if sizes else 1.0


def card_name(device: Device) -> str:
    """The kind of card that a device is or is a part of: its id in the catalogue, or its product's name."""
    found = known_card(product_of(device))
    return found.card.id if found.card is not None else found.name


def product_of(device: Device) -> str:
    """The product's name that a device tells, if it does."""
    products = (value for key, value in device.attributes.items() if key.rpartition("/")[2] in _PRODUCTS)
    return next((str(each) for each in products), "")


def _part_of_card(driver: str, device: Device) -> float:
    kinds = [value for key, value in device.attributes.items() if key.rpartition("/")[2] == "type"]
    if not is_gpu(driver) and not is_gpu(str(kinds)):
        return 0.0
    if "mig" not in kinds:
        return 1.0
    card = known_card(product_of(device)).card
    memory = device_memory(driver, device)
    if card is None or card.memory is None or memory is None:
        return 1.0
    if card.mig is not None:
        slots = card.mig.slots
        return min(1.0, max(1, round(memory / card.memory * slots)) / slots)
    return min(1.0, memory / card.memory)


def passes(tests: tuple[str, ...], driver: str, device: Device) -> bool:
    """Whether a device passes all of these selectors; one that cannot be told does not."""
    try:
        return all(evaluate(each, driver, device) for each in tests)
    except SelectorError:
        return False


def _near(template: Raw) -> str:
    """The label of nodes by which a pod has to be near its like; empty where it need not."""
    labels = fields.mapping(template, "metadata", "labels")
    for each in fields.items(template, "spec", *_REQUIRED_NEAR):
        wanted = fields.mapping(each, "labelSelector", "matchLabels")
        if wanted and wanted.items() <= labels.items():
            return fields.text(each, "topologyKey")
    return ""
