"""Metrics as text that Prometheus reads: names, labels and numbers in, lines out.

Facts: the text format 0.0.4 (prometheus.io, "Exposition formats"): a HELP and a TYPE line before a family,
label values with ``\\``, ``"`` and line feeds escaped. Our numbers come from a read model that is there
anyway, so a library's counters and registry would only be a second copy of them; the format is forty lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_LABEL = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_HELP = str.maketrans({"\\": "\\\\", "\n": "\\n"})

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Family:
    """One metric: its name, what it means, and a number for each set of labels."""

    name: str
    kind: str  # gauge or counter; a counter's name ends in _total
    help: str
    values: dict[Labels, float] = field(default_factory=dict)

    def set(self, value: float, **labels: str) -> None:
        """Say the number for these labels."""
        self.values[_key(labels)] = value

    def add(self, value: float, **labels: str) -> None:
        """Add to the number for these labels."""
        key = _key(labels)
        self.values[key] = self.values.get(key, 0.0) + value


def exposition(families: Iterable[Family]) -> str:
    """The families as text; those without a number are left out."""
    lines: list[str] = []
    for family in families:
        if not family.values:
            continue
        lines.append(f"# HELP {family.name} {family.help.translate(_HELP)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        lines += [
            f"{family.name}{_labels(key)} {_number(value)}" for key, value in sorted(family.values.items())
        ]
    return "".join(f"{line}\n" for line in lines)


def _key(labels: Mapping[str, str]) -> Labels:
    return tuple(sorted(labels.items()))


def _labels(key: Labels) -> str:
    return "{" + ",".join(f'{name}="{value.translate(_LABEL)}"' for name, value in key) + "}" if key else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
