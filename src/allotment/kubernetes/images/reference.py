"""An image by its digest, and where the registry is that has it.

Facts: the grammar of references of the project *distribution*: a first part with a dot or a port, or
``localhost``, is the host; a name without one is of Docker's own registry, whose API is at another host and
where a name of one part is below ``library``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DOCKER: Final = "docker.io"
DOCKER_API: Final = "registry-1.docker.io"
DOCKER_NAMES: Final = frozenset({DOCKER, "index.docker.io", DOCKER_API})
DOCKER_KEY: Final = "https://index.docker.io/v1/"
"""By what name credentials for Docker's own registry are kept."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1"})


@dataclass(frozen=True, slots=True)
class Reference:
    """Whom to ask (with a port where one is named), for which repository, and the digest."""

    host: str
    repository: str
    digest: str

    def __str__(self) -> str:
        return f"{self.host}/{self.repository}@{self.digest}"

    @property
    def api(self) -> str:
        """The host that answers, with its port."""
        return DOCKER_API if self.host in DOCKER_NAMES else self.host

    @property
    def is_here(self) -> bool:
        """Whether the registry is on this machine, where it may do without encryption."""
        return self.api.partition(":")[0] in LOOPBACK

    @property
    def address(self) -> str:
        """What every address of its registry's API begins with."""
        return f"{'http' if self.is_here else 'https'}://{self.api}/v2/{self.repository}"


def reference_of(image: str) -> Reference:
    """The reference that a checked text, ``NAME@sha256:…``, is."""
    name, _, digest = image.partition("@")
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        host, repository = first, rest
    else:
        host, repository = DOCKER, name
    if host in DOCKER_NAMES:
        host, repository = DOCKER, repository if "/" in repository else f"library/{repository}"
    return Reference(host, repository, digest)
