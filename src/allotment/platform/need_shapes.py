"""The shapes of ``gpu:`` and ``resources:``, the same in a team's pipeline and in a size of the platform."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Choice, FreeTable, Integer, Key, ListOf, Number, Record, Shape, Text
from allotment.platform.names import look_qualified
from allotment.platform.need import ISOLATION, SAME, SHARING, MemoryRange, Need, Resources
from allotment.quantities import QuantityError, parse_bytes, parse_exact

MEMORY_HINT: Final = 'write 40Gi (at least), ">40Gi" (more than) or 20Gi..40Gi'
CARD: Final = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]*[A-Za-z0-9])?|cc(?:>=|<=|==|>|<)[0-9]{1,3}(?:\.[0-9]{1,2})?"
)
TIME_SLICES: Final = ("Default", "Short", "Medium", "Long")
SHARED_BY_PART: Final = frozenset({"fraction", "consumable"})
LONGEST_EXPRESSION: Final = 10 * 1024


def read_amount(text: str, place: Place) -> int:
    """A positive amount of memory with its unit, in bytes."""
    try:
        amount = parse_bytes(text)
    except QuantityError as error:
        place.refuse("bad-quantity", error.message, error.hint)
    if text.strip()[-1:].isdigit() or text.endswith("."):
        message = f"`{shown(text)}` is a number of bytes, without a unit"
        place.refuse("bad-quantity", message, f"write {text.strip().rstrip('.')}Gi if that is meant")
    if amount == 0:
        place.refuse("bad-quantity", f"`{place.name}` is nothing", "write a positive amount, such as 40Gi")
    return amount


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of memory: ``40Gi``; never a bare number, which nobody means as bytes."""

    def read(self, value: object, place: Place) -> int:
        """The bytes."""
        return read_amount(_text(value, place, "a quantity such as 40Gi"), place)


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of one card: at least, more than, or a range."""

    def read(self, value: object, place: Place) -> MemoryRange:
        """The bounds in bytes."""
        text = _text(value, place, "a quantity such as 40Gi").strip()
        if text.startswith(">="):
            place.refuse(
                "bad-quantity", f"`{shown(text)}` is no form of memory", f"at least is {text[2:].strip()}"
            )
        if text.startswith("<"):
            place.refuse("bad-quantity", f"`{shown(text)}` is no form of memory", MEMORY_HINT)
        if text.startswith(">"):
            return MemoryRange(more_than=read_amount(text[1:].strip(), place))
        low, dots, high = text.partition("..")
        if not dots:
            return MemoryRange(at_least=read_amount(text, place))
        return self._range(low.strip(), high.strip(), place)

    def _range(self, low: str, high: str, place: Place) -> MemoryRange:
        if not low or not high:
            place.refuse("bad-quantity", f"`{low}..{high}` has one end only", MEMORY_HINT)
        least, most = read_amount(low, place), read_amount(high, place)
        if least > most:
            place.refuse("bad-range", f"`{low}..{high}` ends before it begins", f"write {high}..{low}")
        return MemoryRange(at_least=least, at_most=most)


@dataclass(frozen=True, slots=True)
class Cores:
    """Processor cores: ``4``, ``0.5`` or ``500m``."""

    def read(self, value: object, place: Place) -> float:
        """The cores."""
        place.refuse_trap("write the number of cores in plain digits")
        if not isinstance(value, int | float | str) or isinstance(value, bool):
            place.refuse_type(value, "a number of cores, such as 4 or 500m")
        try:
            cores = float(parse_exact(value))
        except QuantityError as error:
            place.refuse("bad-quantity", error.message, "write a number of cores, such as 4 or 500m")
        if not 0 < cores <= 4096:
            place.refuse("out-of-range", f"`{place.name}` is {value}, and no pod has that", "write 4 or 500m")
        return cores


@dataclass(frozen=True, slots=True)
class Share:
    """A part of one card: a number between 0 and 1, or an amount of its memory."""

    def read(self, value: object, place: Place) -> str | float:
        """The number, or the amount as it is written."""
        if isinstance(value, str):
            place.refuse_trap("write 0.5 or 8Gi")
            read_amount(value, place)
            return value
        number = Number().read(value, place)
        if not 0 < number < 1:
            message = f"`{place.name}` is {number}, and a part of one card is between 0 and 1"
            place.refuse("out-of-range", message, "write 0.5 or 8Gi; a whole card needs no share")
        return number


def _text(value: object, place: Place, expected: str) -> str:
    """The text of a quantity; a bare number is refused with the unit that it lacks."""
    place.refuse_trap("write it with a unit, such as 40Gi")
    if isinstance(value, int | float) and not isinstance(value, bool):
        message = f"`{place.name}` is {value}, a number without a unit"
        place.refuse("bad-quantity", message, f"write {value}Gi if that is meant")
    if not isinstance(value, str) or not value.strip():
        place.refuse_type(value, expected)
    return value


def _look_card(text: str, place: Place) -> None:
    if len(text) > 63 or not CARD.fullmatch(text):
        hint = "write a card's id, a compute capability such as cc>=9.0, or an architecture"
        place.refuse("bad-name", f"`{shown(text)}` names no kind of card", hint)


def _as_read(values: dict[str, Any], _place: Place) -> Mapping[str, Any]:
    return values


def _config(values: dict[str, Any], place: Place) -> Mapping[str, Any]:
    if len(values) != 1:
        message = f"`{place.name}` takes exactly one of `mps`, `time_slice` and `opaque`"
        place.refuse("one-of", message, "keep the one that the driver is to be told")
    return values


MPS: Final = Record({"threads": Key(Integer(1, 100)), "pinned_memory": Key(Amount())}, _as_read)
OPAQUE: Final = Record(
    {
        "driver": Key(Text(look_qualified), required="name the driver that reads the parameters"),
        "parameters": Key(FreeTable(), required="write the parameters, as the driver reads them"),
    },
    _as_read,
)
CONFIG: Final = Record(
    {
        "mps": Key(MPS),
        "time_slice": Key(Choice(TIME_SLICES, "length of a time slice")),
        "opaque": Key(OPAQUE),
    },
    _config,
)


def _need(values: dict[str, Any], place: Place) -> Need:
    """A need from its keys, which must go together."""
    if "cpu" in values and (beside := sorted(set(values) - {"cpu", "fallback"})):
        message = f"`{place.name}` asks for processor cores, and beside them for a card (`{beside[0]}`)"
        (place / beside[0]).refuse(
            "cpu-and-card", message, "keep one; a `fallback` may hold the other", key=True
        )
    by_part = SHARED_BY_PART & set(values.get("sharing", ()))
    if "share" in values and not by_part:
        hint = "add `sharing: fraction` or `sharing: consumable`, or take the share out"
        (place / "share").refuse(
            "share-and-sharing", "only a card that is shared has a share", hint, key=True
        )
    if by_part and "share" not in values:
        message = (
            f"`sharing` takes a part of a card ({', '.join(sorted(by_part))}), and nothing says how much"
        )
        (place / "sharing").refuse("share-and-sharing", message, "add `share: 0.5` or `share: 8Gi`")
    return Need(**values)


ONE_NEED: Final[Mapping[str, Key[Any]]] = {
    "memory": Key(Memory()),
    "count": Key(Integer(1)),
    "card": Key(ListOf(Text(_look_card), single=True)),
    "select": Key(Text(longest=LONGEST_EXPRESSION)),
    "same": Key(Choice(SAME, "way in which cards can be the same")),
    "sharing": Key(ListOf(Choice(SHARING, "way of sharing a card"), single=True)),
    "share": Key(Share()),
    "isolation": Key(Choice(ISOLATION, "isolation")),
    "config": Key(CONFIG),
    "cpu": Key(Integer(1, 4096)),
}
FALLBACK: Final[Shape[Need]] = Record(
    ONE_NEED, _need, hints={"fallback": "a fallback has none of its own: put all of them in one list"}
)
NEED: Final[Record[Need]] = Record({**ONE_NEED, "fallback": Key(ListOf(FALLBACK))}, _need)


def _resources(values: dict[str, Any], _place: Place) -> Resources:
    return Resources(**values)


RESOURCES: Final[Record[Resources]] = Record(
    {"cpu": Key(Cores()), "memory": Key(Amount()), "workdir": Key(Amount())}, _resources
)
