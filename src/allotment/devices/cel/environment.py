"""Which functions, macros and fields a selector may use, by version of Kubernetes.

Two kinds of environment differ. What is *stored* in a cluster may use all that the version knows, whatever
its gates; a *new* selector may use what the version before knew too, so that a roll-back does not break it,
and what the gates allow. After ``pkg/cel/environment/base.go`` of k8s.io/apiserver and ``cel/compile.go`` of
k8s.io/dynamic-resource-allocation. A library that a later version brings gets a line in the table below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import devices
from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.declarations import Library
from allotment.devices.cel.grammar import Syntax
from allotment.devices.cel.library.conversions import DURATIONS_OF_NUMBERS
from allotment.devices.cel.library.formats import FORMATS
from allotment.devices.cel.library.lists import (
    DEVICE_INCLUDES,
    KUBERNETES_LISTS,
    LIST_INCLUDES,
    LISTS,
    RANGES,
    RANGES_BEFORE_0_28,
)
from allotment.devices.cel.library.network import CIDRS, IPS
from allotment.devices.cel.library.optionals import OPTIONAL_ELEMENTS, OPTIONALS
from allotment.devices.cel.library.patterns import PATTERNS
from allotment.devices.cel.library.quantities import QUANTITIES
from allotment.devices.cel.library.sets import SETS
from allotment.devices.cel.library.standard import standard_library
from allotment.devices.cel.library.strings import STRINGS, STRINGS_BEFORE_0_28, STRINGS_BEFORE_1_29
from allotment.devices.cel.library.urls import URLS
from allotment.devices.cel.library.versions import VERSIONS, VERSIONS_BEFORE_1_33
from allotment.devices.cel.library.walks import BINDINGS, TWO_VARIABLES
from allotment.devices.cel.naming import Names, names_of

VersionNumber = tuple[int, int]
_CEL_GO: Final[Mapping[VersionNumber, VersionNumber]] = {
    (1, 37): (0, 29),
    (1, 34): (0, 26),
    (1, 33): (0, 23),
    (1, 32): (0, 22),
    (1, 0): (0, 20),
}
"""Since which version of Kubernetes which version of cel-go is in it."""
_BEFORE_RELEASE: Final = ((1, 37), (0, 27))
"""The alphas and betas of a version still had an older cel-go."""
NEWEST: Final = "1.37"
FIRST: Final = (1, 30)
"""What the first device brought in 1.31 was there for new selectors as well, which count as 1.30."""
CROSSED_NUMBERS: Final = (1, 28)
CHECKED_CONSTANTS: Final = (1, 29)
MULTIPLE_ALLOCATIONS: Final = (1, 34)
LIST_ATTRIBUTES: Final = (1, 36)
LISTS_STORED: Final = (1, 37)
NEVER: Final = (99, 0)
BACKTICKS: Final = (0, 28)
"""Since this version of cel-go a field's name may stand between backticks."""


@dataclass(frozen=True, slots=True)
class Introduced:
    """A library, the version that brought it, and the one that took it away; and the same of cel-go, which
    has changed some libraries without being asked.
    """

    library: Library
    since: VersionNumber = (1, 0)
    until: VersionNumber = NEVER
    cel_go_since: VersionNumber = (0, 0)
    cel_go_until: VersionNumber = NEVER

    def there(self, version: VersionNumber, cel_go: VersionNumber) -> bool:
        """Whether these versions have it."""
        return self.since <= version < self.until and self.cel_go_since <= cel_go < self.cel_go_until


LIBRARIES: Final = (
    Introduced(DURATIONS_OF_NUMBERS, cel_go_until=(0, 28)),
    Introduced(URLS),
    Introduced(PATTERNS),
    Introduced(KUBERNETES_LISTS),
    Introduced(OPTIONALS, (1, 28)),
    Introduced(OPTIONAL_ELEMENTS, (1, 28), cel_go_since=(0, 23)),
    Introduced(QUANTITIES, (1, 28)),
    Introduced(STRINGS_BEFORE_1_29, until=(1, 29)),
    Introduced(STRINGS_BEFORE_0_28, (1, 29), cel_go_until=(0, 28)),
    Introduced(STRINGS, (1, 29), cel_go_since=(0, 28)),
    Introduced(SETS, (1, 29)),
    Introduced(IPS, (1, 30)),
    Introduced(CIDRS, (1, 30)),
    Introduced(FORMATS, (1, 31)),
    Introduced(BINDINGS, FIRST),
    Introduced(VERSIONS_BEFORE_1_33, FIRST, until=(1, 33)),
    Introduced(TWO_VARIABLES, (1, 32)),
    Introduced(VERSIONS, (1, 33)),
    Introduced(LISTS, (1, 34)),
    Introduced(RANGES_BEFORE_0_28, (1, 34), cel_go_until=(0, 28)),
    Introduced(RANGES, (1, 34), cel_go_since=(0, 28)),
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
        major, minor = self.binary
        return (major, minor) if self.stored else (major, minor - 1)

    @property
    def binary(self) -> VersionNumber:
        """The version itself."""
        major, _, minor = self.kubernetes_version.partition(".")
        return int(major), int(minor.partition(".")[0])

    @property
    def cel_go(self) -> VersionNumber:
        """The version of cel-go, which decides what the libraries do not: syntax, messages, costs."""
        number = self.binary
        version, older = _BEFORE_RELEASE
        if number == version and any(stage in self.kubernetes_version for stage in ("-alpha", "-beta")):
            return older
        return next(found for since, found in _CEL_GO.items() if number >= since)

    @property
    def has_lists(self) -> bool:
        """Whether attributes may be lists: in 1.36 the gate decides of stored selectors as well."""
        if self.binary < LISTS_STORED:
            return self._opened(LIST_ATTRIBUTES, gate=self.list_type_attributes, of_stored=False)
        return self._opened(LIST_ATTRIBUTES, gate=self.list_type_attributes)

    @property
    def includes(self) -> Library | None:
        """What brings ``includes``: the device's own library, since 1.37 that of all lists."""
        if not self._opened(LIST_ATTRIBUTES, gate=self.list_type_attributes):
            return None
        return DEVICE_INCLUDES if self.cel_go < _CEL_GO[LISTS_STORED] else LIST_INCLUDES

    @property
    def has_multiple(self) -> bool:
        """Whether a device says that it may be allocated several times."""
        return self._opened(MULTIPLE_ALLOCATIONS, gate=self.consumable_capacity)

    def _opened(self, since: VersionNumber, *, gate: bool, of_stored: bool = True) -> bool:
        """Whether something behind a gate is there; where it is open, the version before does not count."""
        return self.binary >= since and (gate or (of_stored and self.stored))

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
    found += [entry.library for entry in LIBRARIES if entry.there(version, environment.cel_go)]
    includes = environment.includes
    if includes is not None:
        found.append(includes)
    attribute = t.DYN if environment.has_lists else t.ANY
    fields = devices.device_fields(attribute=attribute, multiple=environment.has_multiple)
    return names_of(
        found,
        {devices.NAME: t.struct(devices.STRUCT)},
        structs={devices.STRUCT: fields},
        checks_constants=version >= CHECKED_CONSTANTS,
        syntax=Syntax(optionals=OPTIONALS in found, backticks=environment.cel_go >= BACKTICKS),
        cel_go=environment.cel_go,
    )
