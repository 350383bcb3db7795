"""Made-up pools: their slices, devices, counters, and what of them is given away already.

Names and values are few, so that they meet: selectors hit some devices and not others, counters run out,
pools of two drivers have one name. Some of what is made is broken on purpose, as drivers break it.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.dice import Dice

Object = dict[str, Any]

NODE = "node-1"
DRIVERS = ("gpu.example.com", "nic.example.com")
ROOT = "resource.kubernetes.io/pcieRoot"
ON_THE_NODE = {
    "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
}
ELSEWHERE = {
    "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]
}
HAS_DISK = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]}
SELECTORS = (ON_THE_NODE, ON_THE_NODE, HAS_DISK, ELSEWHERE)
POLICIES: tuple[tuple[str, Object], ...] = (
    ("40Gi", {"default": "10Gi", "validRange": {"min": "10Gi", "max": "40Gi", "step": "5Gi"}}),
    ("40Gi", {"default": "5Gi", "validRange": {"min": "5Gi", "step": "5Gi"}}),
    ("80Gi", {"default": "10Gi", "validRange": {"min": "1Gi"}}),
    ("40Gi", {"default": "5Gi", "validValues": ["5Gi", "10Gi", "20Gi"]}),
    ("20Gi", {"default": "20Gi"}),
    ("4", {"default": "1", "validRange": {"min": "1", "max": "4", "step": "1"}}),
    ("8", {"default": "2", "validValues": ["2", "4", "8"]}),
    ("2", {"default": "500m", "validRange": {"min": "250m", "max": "2", "step": "250m"}}),
)


def reach(dice: Dice, *, one_by_one: bool) -> Object:
    """Which nodes a slice is for."""
    kinds: list[tuple[int, Object]] = [
        (20, {"nodeName": NODE}),
        (2, {"nodeName": "node-2"}),
        (6, {"allNodes": True}),
        (4, {"nodeSelector": dice.choice(SELECTORS)}),
        (3 if one_by_one else 0, {"perDeviceNodeSelection": True}),
    ]
    return dict(dice.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0])


def pools(dice: Dice, features: Object) -> list[Object]:
    """The slices of one to four pools, in no order."""
    made: list[Object] = []
    seen: set[tuple[str, str]] = set()
    for _ in range(dice.choice((1, 1, 2, 2, 3, 4))):
        driver = dice.choices(DRIVERS, (3, 1))[0]
        pool = dice.choice(("pool-0", "pool-1", "pool-2", NODE))
        if (driver, pool) not in seen:
            seen.add((driver, pool))
            made += _Pool(dice, features, driver, pool).slices()
    dice.shuffle(made)
    return made


class _Pool:
    """One pool being made."""

    def __init__(self, dice: Dice, features: Object, driver: str, name: str) -> None:
        self._dice = dice
        self._features = features
        self._driver = driver
        self._name = name
        self._counted = features.get("PartitionableDevices", False) and dice.chance(0.5)
        self._shared = features.get("ConsumableCapacity", False) and dice.chance(0.6)
        self._generation = dice.choice((1, 1, 2))
        self._alike = dice.choice((0.8, 0.9, 1.0) if dice.crowded else (0.0, 0.0, 0.8, 1.0))
        self._parts: Object = {}
        self._next = 0

    def slices(self) -> list[Object]:
        """Slices with devices, perhaps one with counters, perhaps leftovers, perhaps one too few."""
        dice = self._dice
        count = dice.choice((1, 1, 1, 2, 3))
        where = reach(dice, one_by_one=False)
        made = [
            self._slice(where if dice.chance(0.7) else reach(dice, one_by_one=self._counted))
            for _ in range(count)
        ]
        if self._counted and not dice.fault(0.03):
            counters = self._slice(where, devices=False)
            counters["spec"]["sharedCounters"] = _counter_sets(dice)
            made.append(counters)
        total = len(made) + (dice.choice((-1, 1)) if dice.fault(0.08) else 0)
        for each in made:
            each["spec"]["pool"]["resourceSliceCount"] = max(1, total)
        if dice.chance(0.07):
            made.append(self._leftover(made[0]))
        return made

    def _slice(self, where: Object, *, devices: bool = True) -> Object:
        dice = self._dice
        spec: Object = {
            "driver": self._driver,
            "pool": {"name": self._name, "generation": self._generation},
            **where,
        }
        if devices:
            one_by_one = "perDeviceNodeSelection" in where
            count = dice.choice((6, 9, 12) if dice.crowded else (0, 2, 3, 4, 5, 6, 8))
            spec["devices"] = [self._device(one_by_one=one_by_one) for _ in range(count)]
        name = f"s-{dice.randint(1, 99)}-{self._driver[:3]}-{self._name}-{len(spec.get('devices', ()))}"
        return {"metadata": {"name": f"{name}-{dice.randint(0, 999)}"}, "spec": spec}

    def _leftover(self, like: Object) -> Object:
        pool = like["spec"]["pool"] | {"generation": self._generation + self._dice.choice((-1, 1))}
        return {
            "metadata": {"name": f"old-{like['metadata']['name']}"},
            "spec": like["spec"] | {"pool": pool},
        }

    def _device(self, *, one_by_one: bool) -> Object:
        dice = self._dice
        self._next += 0 if dice.fault(0.02) else 1
        if not self._parts or not dice.chance(self._alike):
            self._parts = self._made_parts()
        where = reach(dice, one_by_one=False) if one_by_one else {}
        return {"name": f"dev-{self._next}", **self._parts, **where}

    def _made_parts(self) -> Object:
        dice = self._dice
        shared = self._shared and dice.chance(0.6)
        parts: Object = {
            "attributes": self._attributes(),
            "capacity": self._capacity(shared=shared),
            "allowMultipleAllocations": shared,
            "consumesCounters": self._consumes() if self._counted and dice.chance(0.8) else None,
            "taints": self._taints(),
            **self._binding(),
        }
        return {key: part for key, part in parts.items() if part}

    def _attributes(self) -> Object:
        dice = self._dice
        lists = self._features.get("ListTypeAttributes", False)
        choices: Object = {
            "model": {"string": dice.choice(("A", "B", "C"))},
            "numa": {"int": dice.randint(0, 2)},
            "fast": {"bool": dice.chance(0.5)},
            "version": {"version": dice.choice(("1.0.0", "1.2.0", "2.0.0-rc.1"))},
            ROOT: {"string": dice.choice(("pci0", "pci1"))},
            "gpu.example.com/numa": {"int": dice.randint(0, 2)},
        }
        if lists:
            numbers = dice.sample(range(4), dice.randint(1, 3))
            words = dice.sample(("pci0", "pci1", "pci2"), dice.randint(1, 2))
            more: Object = {"numa": {"ints": numbers}, ROOT: {"strings": words}}
            more["fast"] = {"bools": [dice.chance(0.5)]}
            more["version"] = {"versions": dice.sample(("1.0.0", "1.2.0", "2.0.0"), 2)}
            choices |= {key: value for key, value in more.items() if dice.chance(0.5)}
        return _told_once({key: value for key, value in choices.items() if dice.chance(0.7)})

    def _capacity(self, *, shared: bool) -> Object:
        dice = self._dice
        made: Object = {}
        for name, values in (("memory", ("20Gi", "40Gi", "80Gi")), ("cores", ("2", "4", "8"))):
            if not dice.chance(0.75 if name == "memory" else 0.4):
                continue
            made[name] = {"value": dice.choice(values)}
            if shared and dice.chance(0.7):
                fitting = [each for each in POLICIES if each[0].endswith("Gi") == (name == "memory")]
                value, policy = dice.choice(fitting)
                made[name] = {"value": value, "requestPolicy": policy}
        if dice.chance(0.05):
            made["gpu.example.com/memory"] = {"value": "40Gi"}
        return _told_once(made)

    def _consumes(self) -> list[Object]:
        dice = self._dice
        wrong = dice.fault(0.02)
        sets = dice.sample(("cs-0", "cs-1"), dice.choice((1, 1, 2)))
        amounts = {
            "slots": dice.choice(("1", "1", "2", "3")),
            "memory": dice.choice(("10Gi", "20Gi", "40Gi")),
        }
        return [
            {
                "counterSet": "cs-9" if wrong and dice.chance(0.5) else each,
                "counters": {
                    name if not wrong else f"{name}-x": {"value": amount}
                    for name, amount in amounts.items()
                    if name == "slots" or dice.chance(0.5)
                },
            }
            for each in sets
        ]

    def _taints(self) -> list[Object]:
        dice = self._dice
        if not self._features.get("DeviceTaints", dice.fault(0.1)) or not dice.chance(0.3):
            return []
        return [
            {
                "key": dice.choice(("sick", "kept")),
                **({"value": dice.choice(("yes", "no"))} if dice.chance(0.6) else {}),
                "effect": dice.choice(("NoSchedule", "NoExecute", "None")),
            }
            for _ in range(dice.choice((1, 1, 2)))
        ]

    def _binding(self) -> Object:
        dice = self._dice
        part = 0.35 if self._features.get("DeviceBindingAndStatus") else 0.02
        if not dice.chance(part):
            return {}
        made: Object = {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"]}
        return made | ({"bindsToNode": True} if dice.chance(0.5) else {})


def _told_once(entries: Object) -> Object:
    """Without a full name beside the same name alone: which of them selectors see is chance upstream."""
    return {
        key: value
        for key, value in entries.items()
        if key.removeprefix("gpu.example.com/") == key or key.removeprefix("gpu.example.com/") not in entries
    }


def _counter_sets(dice: Dice) -> list[Object]:
    return [
        {
            "name": name,
            "counters": {
                "slots": {"value": dice.choice(("2", "4", "7", "10"))},
                "memory": {"value": dice.choice(("20Gi", "40Gi", "80Gi"))},
            },
        }
        for name in ("cs-0", "cs-1")
    ]


def given_away(dice: Dice, slices: list[Object]) -> Object:
    """What other claims hold: whole devices, and shares of those that may be shared."""
    state: Object = {"allocatedDevices": [], "allocatedSharedDeviceIDs": [], "aggregatedCapacity": []}
    part = dice.choice((0.0, 0.05, 0.1, 0.2, 0.4))
    seen: set[tuple[str, str, str]] = set()
    for each in slices:
        spec = each["spec"]
        for device in spec.get("devices", ()):
            key = (spec["driver"], spec["pool"]["name"], device["name"])
            if key in seen or not dice.chance(part):
                continue
            seen.add(key)
            named = {"driver": key[0], "pool": key[1], "device": key[2]}
            if not device.get("allowMultipleAllocations"):
                state["allocatedDevices"].append(named)
                continue
            share = f"00000000-0000-0000-0000-{len(seen):012d}"
            state["allocatedSharedDeviceIDs"].append(named | {"shareID": share})
            used = {
                name: dice.choice(("5Gi", "10Gi", "20Gi") if "memory" in name else ("1", "2"))
                for name in device.get("capacity", ())
            }
            if used or dice.chance(0.5):
                state["aggregatedCapacity"].append(named | {"capacity": used})
    return state
