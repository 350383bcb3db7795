"""Which functions, macros and fields a selector may use, by version of Kubernetes.

Two kinds of environment differ. What is *stored* in a cluster may use all that the version knows, whatever
its gates; a *new* selector may use what the version before knew too, so that a roll-back does not break it,
and what the gates allow. After ``pkg/cel/environment/base.go`` of k8s.io/apiserver and ``cel/compile.go`` of
k8s.io/dynamic-resource-allocation. A library that a later version brings gets a line in the table below.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import devices
from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.declarations import Library
from allotment.devices.cel.library.formats import FORMATS
from allotment.devices.cel.library.lists import DEVICE_INCLUDES, KUBERNETES_LISTS, LISTS
from allotment.devices.cel.library.network import CIDRS, IPS
from allotment.devices.cel.library.optionals import OPTIONALS
from allotment.devices.cel.library.patterns import PATTERNS
from allotment.devices.cel.library.quantities import QUANTITIES
from allotment.devices.cel.library.sets import SETS
from allotment.devices.cel.library.standard import standard_library
from allotment.devices.cel.library.strings import STRINGS, STRINGS_BEFORE_1_29
from allotment.devices.cel.library.urls import URLS
from allotment.devices.cel.library.versions import VERSIONS
from allotment.devices.cel.library.walks import BINDINGS, TWO_VARIABLES
from allotment.devices.cel.naming import Names, names_of

VersionNumber = tuple[int, int]
NEWEST: Final = "1.37"
CROSSED_NUMBERS: Final = (1, 28)
CHECKED_CONSTANTS: Final = (1, 29)
MULTIPLE_ALLOCATIONS: Final = (1, 34)
LIST_ATTRIBUTES: Final = (1, 36)


@dataclass(frozen=True, slots=True)
class Introduced:
    """A library, the version that brought it, and the one that took it away."""

    library: Library
    since: VersionNumber = (1, 0)
    until: VersionNumber | None = None


LIBRARIES: Final = (
    Introduced(URLS),
    Introduced(PATTERNS),
    Introduced(KUBERNETES_LISTS),
    Introduced(OPTIONALS, (1, 28)),
    Introduced(QUANTITIES, (1, 28)),
    Introduced(STRINGS_BEFORE_1_29, until=(1, 29)),
    Introduced(STRINGS, (1, 29)),
    Introduced(SETS, (1, 29)),
    Introduced(IPS, (1, 30)),
    Introduced(CIDRS, (1, 30)),
    Introduced(FORMATS, (1, 31)),
    Introduced(BINDINGS, (1, 31)),
    Introduced(TWO_VARIABLES, (1, 32)),
    Introduced(VERSIONS, (1, 33)),
    Introduced(LISTS, (1, 34)),
)


@dataclass(frozen=True, slots=True)
class Environment:
    """What a selector may use: the version of Kubernetes, stored or new, and the two gates that matter."""

    kubernetes_version: str = NEWEST
    stored: bool = True
    consumable_capacity: bool = False
    list_type_attributes: bool = False

    @property
    def version(self) -> VersionNumber:
        """The version whose libraries count."""
        major, _, minor = self.kubernetes_version.partition(".")
        number = (int(major), int(minor.partition(".")[0]))
        return number if self.stored else (number[0], number[1] - 1)

    @property
    def names(self) -> Names:
        """The functions, macros and variables."""
        return _names(self)

    @property
    def attribute(self) -> CelType:
        """The type of an attribute's value."""
        return self.names.structs[devices.STRUCT]["attributes"].parameters[1].parameters[1]


_DEVICE: Final = Library({}, names={devices.STRUCT: t.struct(devices.STRUCT)})


@lru_cache(maxsize=64)
def _names(environment: Environment) -> Names:
    version = environment.version
    found = [standard_library(crossed=version >= CROSSED_NUMBERS), _DEVICE]
    found += [
        entry.library
        for entry in LIBRARIES
        if entry.since <= version and (entry.until is None or version < entry.until)
    ]
    lists = version >= LIST_ATTRIBUTES and (environment.stored or environment.list_type_attributes)
    multiple = version >= MULTIPLE_ALLOCATIONS and (environment.stored or environment.consumable_capacity)
    if lists:
        found.append(DEVICE_INCLUDES)
    fields = devices.device_fields(attribute=t.DYN if lists else t.ANY, multiple=multiple)
    return names_of(
        found,
        {devices.NAME: t.struct(devices.STRUCT)},
        structs={devices.STRUCT: fields},
        checks_constants=version >= CHECKED_CONSTANTS,
        has_optionals=OPTIONALS in found,
    )
