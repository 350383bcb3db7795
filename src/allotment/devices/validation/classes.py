"""What the server holds the spec of a DeviceClass to.

From the validation of ``DeviceClass`` in ``resource.k8s.io``, and ``IsExtendedResourceName`` of core/v1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.rules import is_label_key
from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.configs import of_config
from allotment.devices.validation.problems import Loc, Problem, each, invalid
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.selectors import of_selectors

MOST_CONFIGS: Final = 32
_KUBERNETES: Final = "kubernetes.io/"
_QUOTA: Final = "requests."


def of_class_spec(spec: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The spec of a class."""
    yield from of_selectors(spec, loc, server)
    configs = raw.tables(spec, "config")
    yield from each(
        configs,
        (*loc, "config"),
        lambda config, where: of_config(config, where, server),
        server=server,
        most=MOST_CONFIGS,
    )
    name = raw.said(spec, "extendedResourceName")
    if name is not None and not is_extended_resource(name):
        words = f"`{name}` must be a valid extended resource name"
        hint = "a domain of your own, a `/` and a name: example.com/gpu"
        yield invalid((*loc, "extendedResourceName"), words, hint)


def is_extended_resource(name: str) -> bool:
    """Whether a name is that of an extended resource: in a domain that is not Kubernetes' own."""
    if "/" not in name or _KUBERNETES in name or name.startswith(_QUOTA):
        return False
    return is_label_key(f"{_QUOTA}{name}")
