"""Made-up classes and claims: every way to ask, in every mixture, with few names so that they meet."""

from __future__ import annotations

from typing import Any

from tests.oracle.dice import Dice
from tests.oracle.making_slices import DRIVERS, ROOT

Object = dict[str, Any]

GUARDED = (
    "device.attributes['gpu.example.com'].?model.orValue('') == 'A'",
    "device.attributes['gpu.example.com'].?numa.orValue(0) == 0",
    "device.attributes['gpu.example.com'].?numa.orValue(1) != 1",
    "has(device.attributes['gpu.example.com'].fast) && device.attributes['gpu.example.com'].fast == true",
    "device.capacity['gpu.example.com'].?memory.orValue(quantity('0')).compareTo(quantity('30Gi')) > 0",
    "device.capacity['gpu.example.com'].?memory.orValue(quantity('0')).isLessThan(quantity('60Gi'))",
    "device.attributes['gpu.example.com'].?version.orValue(semver('0.0.1')).isLessThan(semver('1.1.0'))",
    "'gpu.example.com' in device.attributes",
    "device.driver.startsWith('gpu')",
    "device.attributes['resource.kubernetes.io'].?pcieRoot.orValue('') == 'pci0'",
)
BOLD = (
    "device.attributes['gpu.example.com'].model == 'A'",
    "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('30Gi'))",
    "device.attributes['gpu.example.com'].numa",
    "device.attributes['gpu.example.com'].model",
)
BROKEN = ("device.", "device.driver == 3", "1")
CLASSES = ("gpu", "nic", "any", "fine", "bold", "broken")
MATCHED = (
    "gpu.example.com/model",
    "gpu.example.com/numa",
    "gpu.example.com/version",
    "gpu.example.com/fast",
    ROOT,
)
AMOUNTS = {"memory": ("1Gi", "5Gi", "12Gi", "20Gi", "41Gi", "1.5Gi"), "cores": ("1", "2", "3", "500m", "9")}


def classes(dice: Dice) -> list[Object]:
    """All classes that claims name, some with selectors that fail."""

    def made(name: str, *expressions: str) -> Object:
        spec: Object = {}
        if expressions:
            spec["selectors"] = [{"cel": {"expression": expression}} for expression in expressions]
        if dice.chance(0.4):
            spec["config"] = [_config(dice, dice.randint(0, 9)) for _ in range(dice.choice((1, 1, 2)))]
        return {"metadata": {"name": name}, "spec": spec}

    return [
        made("gpu", f"device.driver == '{DRIVERS[0]}'"),
        made("nic", f"device.driver == '{DRIVERS[1]}'"),
        made("any"),
        made("fine", f"device.driver == '{DRIVERS[0]}'", dice.choice(GUARDED)),
        made("bold", dice.choice(BOLD)),
        made("broken", dice.choice(BROKEN)),
    ]


def _config(dice: Dice, value: int) -> Object:
    return {"opaque": {"driver": dice.choice(DRIVERS), "parameters": {"c": value}}}


def claims(dice: Dice, features: Object) -> list[Object]:
    """One to three claims of one pod."""
    return [_claim(dice, features, number) for number in range(dice.choice((1, 1, 1, 2, 2, 3)))]


def _claim(dice: Dice, features: Object, number: int) -> Object:
    requests = [_request(dice, features, f"r{place}") for place in range(dice.choice((1, 1, 2, 2, 3)))]
    devices: Object = {"requests": requests}
    names = [name for request in requests for name in _names(request)]
    if dice.chance(0.35):
        devices["constraints"] = [_constraint(dice, features, names) for _ in range(dice.choice((1, 1, 2)))]
    if dice.chance(0.25):
        devices["config"] = [
            _config(dice, 10 + place) | _some(dice, names) for place in range(dice.choice((1, 1, 2)))
        ]
    name = f"claim-{number}"
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-{number}"},
        "spec": {"devices": devices},
    }


def _names(request: Object) -> list[str]:
    subs = request.get("firstAvailable", ())
    return [request["name"], *(f"{request['name']}/{sub['name']}" for sub in subs)]


def _some(dice: Dice, names: list[str]) -> Object:
    if dice.chance(0.4):
        return {}
    return {"requests": dice.sample(names, dice.randint(1, min(3, len(names))))}


def _constraint(dice: Dice, features: Object, names: list[str]) -> Object:
    distinct = features.get("ConsumableCapacity", False) and dice.chance(0.4)
    kind = "distinctAttribute" if distinct else "matchAttribute"
    made = {kind: dice.choice(MATCHED)} | _some(dice, names)
    return made if not dice.fault(0.02) else _some(dice, names)


def _request(dice: Dice, features: Object, name: str) -> Object:
    allowed = features.get("PrioritizedList", dice.fault(0.1))
    if allowed and dice.chance(0.3):
        subs = [{"name": f"s{place}", **_asked(dice, features)} for place in range(dice.choice((1, 2, 2, 3)))]
        return {"name": name, "firstAvailable": subs}
    asked = _asked(dice, features)
    if features.get("AdminAccess", dice.fault(0.05)) and dice.chance(0.15):
        asked["adminAccess"] = dice.chance(0.7)
    return {"name": name, "exactly": asked}


def _asked(dice: Dice, features: Object) -> Object:
    asked: Object = {
        "deviceClassName": dice.choices(
            (*CLASSES, "none"), (50, 4, 30, 12, *((3, 1, 1) if dice.faulty else (0, 0, 0)))
        )[0]
    }
    if dice.chance(0.15):
        asked["allocationMode"] = "All"
    else:
        asked |= {"allocationMode": "ExactCount", "count": _count(dice)}
    if dice.chance(0.3):
        expressions = dice.choices((GUARDED, BOLD, BROKEN), (40, 6, 1) if dice.faulty else (1, 0, 0))[0]
        asked["selectors"] = [
            {"cel": {"expression": dice.choice(expressions)}} for _ in range(dice.choice((1, 1, 2)))
        ]
    if features.get("DeviceTaints") and dice.chance(0.4):
        asked["tolerations"] = [_toleration(dice) for _ in range(dice.choice((1, 1, 2)))]
    if features.get("ConsumableCapacity", dice.fault(0.05)) and dice.chance(0.4):
        asked["capacity"] = {"requests": _amounts(dice)}
    return asked


def _count(dice: Dice) -> int:
    if dice.crowded:
        return dice.choices((1, 2, 4, 7, 10, 13), (40, 20, 10, 5, 3, 2))[0]
    too_many = (0.5, 0.2) if dice.faulty else (0, 0)
    return dice.choices((1, 2, 3, 4, 20, 33, 4_000_000_000), (70, 20, 8, 4, 1, *too_many))[0]


def _toleration(dice: Dice) -> Object:
    made: Object = {"operator": dice.choice(("Exists", "Equal"))}
    if dice.chance(0.7):
        made["key"] = dice.choice(("sick", "kept"))
    if made["operator"] == "Equal":
        made["value"] = dice.choice(("yes", "no"))
    if dice.chance(0.3):
        made["effect"] = dice.choice(("NoSchedule", "NoExecute"))
    return made


def _amounts(dice: Dice) -> Object:
    names = dice.choice((("memory",), ("memory",), ("cores",), ("memory", "cores")))
    made: Object = {name: dice.choice(AMOUNTS[name]) for name in names}
    return made if dice.chance(0.95) else {f"gpu.example.com/{name}": value for name, value in made.items()}
