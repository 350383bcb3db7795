"""`card`, `select` and `same`: which devices pass, how it is said, and what is no kind of card."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.devices.allocator import allocate
from allotment.devices.catalogue import Card, cards
from allotment.devices.claims import Allocation, Constraint, ExactRequest
from allotment.devices.known_classes import CLASSES
from allotment.devices.limits import claim_problems
from allotment.devices.selectors import evaluate
from allotment.devices.slices import AttributeValue, Capacity, Device, Pool, ResourceSlice, Version
from allotment.devices.world import World
from allotment.documents import read_text
from allotment.needs import claim_for, describe, need_findings
from allotment.needs.cards import card_selectors, card_words, chosen_cards, classes_of
from allotment.platform.model import Card as Kind
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import format_bytes
from allotment.repository.model import Pipeline, StepCall

GI = 1 << 30
DRIVER = "gpu.nvidia.com"
KINDS = {"a100-80": Kind("A100-80", "gpu-a100-80"), "large": Kind("h100-sxm", "gpu-large")}


def published(card: Card, name: str = "gpu-0", **more: AttributeValue) -> Device:
    """A card of the catalogue as its driver publishes it."""
    attributes: dict[str, AttributeValue] = {
        "type": "gpu",
        "productName": card.product_name,
        "architecture": card.architecture.value,
        "cudaComputeCapability": Version(card.compute_capability.value),
    }
    capacity = {} if card.memory is None else {"memory": Capacity(format_bytes(card.memory))}
    return Device(name, {**attributes, **more}, capacity)


def machine(*devices: Device) -> World:
    slices = (ResourceSlice("s", DRIVER, Pool("here"), node_name="here", devices=devices),)
    return World(slices, {each.name: each for each in CLASSES}, "here")


def passing(*words: str) -> list[str]:
    """The cards of the catalogue that pass, and `nothing` for a device that publishes nothing."""
    selectors = card_selectors(chosen_cards(words))
    devices = [*((card.id, published(card)) for card in cards()), ("nothing", Device("x"))]
    return [name for name, device in devices if all(evaluate(each, DRIVER, device) for each in selectors)]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["H100-SXM"], ["H100-SXM-80"]),
        (["h100-sxm", "T4"], ["T4", "H100-SXM-80"]),
        (["Turing"], ["T4"]),
        (["ada"], ["L4", "L40", "L40S", "RTX-6000-Ada", "RTX-4090"]),
        (["Ada Lovelace", "L4"], ["L4", "L40", "L40S", "RTX-6000-Ada", "RTX-4090"]),
        (["cc>=12"], ["RTX-PRO-6000-BW", "GB10", "RTX-5090"]),
        (["cc<7.0"], ["P100-PCIE-16"]),
        (["cc>7", "cc<=7.5"], ["T4"]),
        (["cc==8.9", "T4"], ["T4", "L4", "L40", "L40S", "RTX-6000-Ada", "RTX-4090"]),
        (["cc>=7.5", "cc<8", "Pascal"], ["P100-PCIE-16", "T4"]),
    ],
)
def test_a_kind_of_card_is_what_its_cards_report(words: list[str], ids: list[str]) -> None:
    assert passing(*words) == ids


@pytest.mark.parametrize("card", [pytest.param(card, id=card.id) for card in cards()])
def test_every_card_of_the_catalogue_passes_by_its_own_id_and_by_its_architecture(card: Card) -> None:
    assert passing(card.id) == [card.id]
    assert card.id in passing(card.architecture.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["H100-SXM"], "H100-SXM-80"),
        (["a100-40", "hopper"], "A100-40 or Hopper"),
        (["A100-40", "L4"], "A100-40 or L4"),
        (["cc>=9.0"], "cc>=9.0"),
        (["cc<9"], "cc<9.0"),
        (["cc>=8", "cc<=9.0", "T4"], "T4 or cc>=8.0 and cc<=9.0"),
    ],
)
def test_a_selector_is_said_in_the_words_that_made_it(words: list[str], said: str) -> None:
    (selector,) = card_selectors(chosen_cards(tuple(words)))
    assert card_words(selector) == said


@pytest.mark.parametrize("selector", ["true", "device.driver == 'x'", "a == 'b' || true"])
def test_other_selectors_are_not_taken_for_ours(selector: str) -> None:
    assert card_words(selector) is None


def test_a_need_for_a_card_and_memory_and_more_passes_all_of_it() -> None:
    need = Need(
        memory=MemoryRange(at_least=40 * GI),
        card=("A100-80", "H100-SXM"),
        select="device.attributes['gpu.nvidia.com'].?rack.orValue('') == 'b'",
    )
    claim = claim_for(need)
    assert claim_problems(claim) == ()
    (request,) = claim.requests
    assert request.exactly is not None
    assert len(request.exactly.selectors) == 3
    by_id = {card.id: card for card in cards()}
    here = machine(
        published(by_id["A100-80"]),
        published(by_id["A100-40"], "gpu-1", rack="b"),
        published(by_id["H100-SXM-80"], "gpu-2", rack="b"),
    )
    answer = allocate(claim, here, "here")
    assert isinstance(answer, Allocation)
    assert [each.device for each in answer.ids] == ["gpu-2"]
    assert describe(claim) == (
        "a card of at least 40Gi (A100-80 or H100-SXM-80) that passes "
        "`device.attributes['gpu.nvidia.com'].?rack.orValue('') == 'b'`"
    )


@pytest.mark.parametrize(
    ("need", "constraints", "words"),
    [
        (
            Need(count=4, same="card-model"),
            (Constraint(("device",), "gpu.nvidia.com/productName"),),
            "4 cards, all of one model",
        ),
        (
            Need(count=2, same="pcie-root", fallback=(Need(count=2, same="card-model"), Need())),
            (
                Constraint(("device/card",), "resource.kubernetes.io/pcieRoot"),
                Constraint(("device/card-2",), "gpu.nvidia.com/productName"),
            ),
            "2 cards, all below one PCIe root; else 2 cards, all of one model; else a card",
        ),
        (Need(same="card-model"), (), "a card"),
    ],
)
def test_what_the_cards_of_a_pod_share_is_a_constraint(
    need: Need, constraints: tuple[Constraint, ...], words: str
) -> None:
    claim = claim_for(need)
    assert claim.constraints == constraints
    assert describe(claim) == words


def test_the_platforms_class_stands_for_a_kind_that_it_has_one_for() -> None:
    by_class = claim_for(
        Need(card=("A100-80",), memory=MemoryRange(at_least=40 * GI)), kinds=KINDS, by_class=True
    )
    assert by_class.requests[0].exactly is not None
    assert by_class.requests[0].exactly.device_class == "gpu-a100-80"
    assert len(by_class.requests[0].exactly.selectors) == 1
    assert claim_for(Need(card=("large",)), kinds=KINDS, by_class=True).requests[0].exactly == (
        ExactRequest("gpu-large")
    )


def test_without_the_platforms_classes_its_names_stand_for_what_the_cards_report() -> None:
    assert claim_for(Need(card=("large",)), kinds=KINDS) == claim_for(Need(card=("H100-SXM",)))


@pytest.mark.parametrize("words", [("A100-80", "L4"), ("L4",), ("Ampere",), ("A100-80", "cc>=8.0"), ()])
def test_a_class_stands_for_nothing_else(words: tuple[str, ...]) -> None:
    exact = claim_for(Need(card=words), kinds=KINDS, by_class=True).requests[0].exactly
    assert exact is not None
    assert exact.device_class == "gpu.nvidia.com"


def test_the_classes_of_a_platform_pass_their_cards_and_no_others() -> None:
    found = {each.name: each for each in classes_of({**KINDS, "none": Kind("no-such-card", "gpu-none")})}
    assert list(found) == ["gpu-a100-80", "gpu-large"]
    passes = [
        card.id
        for card in cards()
        if all(evaluate(each, DRIVER, published(card)) for each in found["gpu-a100-80"].selectors)
    ]
    assert passes == ["A100-80"]


def pipeline(text: str, need: Need) -> Pipeline:
    document = read_text(text, name="pipelines/p.yaml")
    return Pipeline("p", (StepCall("checksum"),), gpu=need, path=Path("pipelines/p.yaml"), document=document)


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("H100", "`H100` names several cards", "`H100-PCIE-80`, `H100-SXM-80`, `H100-NVL-94`"),
        ("Hoper", "the catalogue has no card `Hoper`", "did you mean `Hopper`?"),
        ("H100-SMX", "the catalogue has no card `H100-SMX`", "did you mean `H100-SXM-80`?"),
        ("80GB", "the catalogue has no card `80GB`", "known: P100-PCIE-16"),
    ],
)
def test_a_word_that_names_no_kind_of_card_is_an_error_with_the_likely_ones(
    word: str, message: str, hint: str
) -> None:
    (finding,) = need_findings(pipeline(f"gpu:\n  card: {word}\n", Need(card=(word,))))
    assert (finding.rule, finding.position.line) == ("unknown-card", 2)
    assert message in finding.message
    assert hint in finding.hint


def test_the_platforms_own_names_are_kinds_of_card_too() -> None:
    found = pipeline("gpu: {card: large}\n", Need(card=("large",)))
    assert [each.rule for each in need_findings(found)] == ["unknown-card"]
    assert need_findings(found, KINDS) == []


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("device.memory > 1", "undefined field 'memory'"),
        ("1 +", "Syntax error"),
        ("'yes'", "must evaluate to bool"),
    ],
)
def test_a_selector_that_kubernetes_would_refuse_is_an_error(select: str, message: str) -> None:
    (finding,) = need_findings(pipeline(f"gpu:\n  select: |\n    {select}\n", Need(select=select)))
    assert finding.rule == "bad-select"
    assert message in finding.message


FORTY = str(list(range(40)))
DEEP = f"{FORTY}.all(a, {FORTY}.all(b, {FORTY}.all(c, {FORTY}.all(d, a + b + c + d >= 0))))"


@pytest.mark.parametrize(("kubernetes", "named"), [(None, "1.37"), ("1.35", "1.35"), ("v1.36.2", "1.36")])
def test_a_selector_that_costs_too_much_is_refused_as_the_server_does(
    kubernetes: str | None, named: str
) -> None:
    (finding,) = need_findings(pipeline("gpu:\n  select: x\n", Need(select=DEEP)), kubernetes=kubernetes)
    assert finding.rule == "bad-select"
    assert finding.message.startswith(f"by the estimate of Kubernetes {named} it may cost ")
    assert finding.message.endswith(" and 1,000,000 is allowed")


MEMORY = "device.capacity['gpu.nvidia.com']"
ATTRIBUTES = "device.attributes['gpu.nvidia.com']"


@pytest.mark.parametrize(
    ("select", "guarded"),
    [
        (
            f"{MEMORY}.memory.compareTo(quantity('40Gi')) >= 0",
            f"{MEMORY}.?memory.orValue(quantity('0')).compareTo(quantity('40Gi')) >= 0",
        ),
        (
            'device.attributes["gpu.nvidia.com"]["productName"] == "x"',
            f"{ATTRIBUTES}.?productName.orValue('') == \"x\"",
        ),
        (
            f"{ATTRIBUTES}.driverVersion.isGreaterThan(semver('570.0.0'))",
            f"{ATTRIBUTES}.?driverVersion.orValue(semver('0.0.0')).isGreaterThan(semver('570.0.0'))",
        ),
        (
            "device.attributes['resource.kubernetes.io'].numaNode == 1",
            "device.attributes['resource.kubernetes.io'].?numaNode.orValue(0) == 1",
        ),
        (
            f"has({ATTRIBUTES}.uuid) && {ATTRIBUTES}.brand == 'Nvidia'",
            f"has({ATTRIBUTES}.uuid) && {ATTRIBUTES}.?brand.orValue('') == 'Nvidia'",
        ),
    ],
)
def test_a_key_that_is_not_guarded_is_a_warning_with_the_guarded_form(select: str, guarded: str) -> None:
    (finding,) = need_findings(pipeline("gpu:\n  select: x\n", Need(select=select)))
    assert (finding.rule, str(finding.severity)) == ("unguarded-key", "warning")
    assert finding.hint == f"write {guarded}"
    assert need_findings(pipeline("gpu:\n  select: x\n", Need(select=guarded))) == []


@pytest.mark.parametrize(
    "select",
    [
        "true",
        "device.driver == 'gpu.nvidia.com'",
        f"has({MEMORY}.memory) && {MEMORY}.memory.isGreaterThan(quantity('1Gi'))",
        f"'memory' in {MEMORY} && {MEMORY}.memory.isGreaterThan(quantity('1Gi'))",
        f"{ATTRIBUTES}.?type.orValue('') == 'mig' && {ATTRIBUTES}.profile == '1g.10gb'",
    ],
)
def test_a_key_that_is_guarded_is_no_finding(select: str) -> None:
    assert need_findings(pipeline("gpu:\n  select: x\n", Need(select=select))) == []


def test_one_card_that_shares_with_nobody_is_a_warning() -> None:
    (finding,) = need_findings(pipeline("gpu:\n  same: card-model\n", Need(same="card-model")))
    assert (finding.rule, str(finding.severity)) == ("same-of-one", "warning")


@pytest.mark.parametrize(
    ("memory", "message", "hint"),
    [
        (
            MemoryRange(at_least=80 * GI),
            "H100-PCIE-80 and H100-SXM-80 79.64Gi (81559Mi)",
            "`memory: 79.64Gi`",
        ),
        (MemoryRange(at_least=24 * GI), "L4 22.49Gi (23034Mi)", "`memory: 22.48Gi`"),
        (MemoryRange(at_least=16 * GI), "T4 15.00Gi (15360Mi)", "`memory: 15.00Gi`"),
        (
            MemoryRange(more_than=40 * GI),
            "more than 40Gi leaves out A100-40, with exactly 40Gi",
            "`memory: 40Gi`",
        ),
        (MemoryRange(at_least=40 * 10**9), "`40G` is decimal: 37.25Gi", "write 40Gi if that is meant"),
    ],
)
def test_round_numbers_that_miss_the_cards_that_are_meant_are_warned_of(
    memory: MemoryRange, message: str, hint: str
) -> None:
    found = need_findings(pipeline("gpu:\n  memory: x\n", Need(memory=memory)))
    assert {(each.rule, str(each.severity)) for each in found} == {("memory-of-cards", "warning")}
    assert message in found[0].message
    assert hint in found[0].hint


@pytest.mark.parametrize("size", [8, 10, 20, 40, 39])
def test_a_need_that_its_cards_meet_is_no_finding(size: int) -> None:
    memory = MemoryRange(at_least=size * GI)
    assert need_findings(pipeline("gpu:\n  memory: x\n", Need(memory=memory))) == []


def test_what_is_suggested_is_met_by_the_card() -> None:
    by_id = {card.id: card for card in cards()}
    need = Need(memory=MemoryRange(at_least=79 * GI + 64 * GI // 100))
    answer = allocate(claim_for(need), machine(published(by_id["H100-SXM-80"])), "here")
    assert isinstance(answer, Allocation)
