"""What a program of a team's does not get of this process's environment: the credentials of the bucket.

A worker speaks to the bucket, and the programs that its steps start do not; nor do fleets and gangs. What
they need for themselves is named as a secret, or in a step's own settings. The values are masked besides
wherever a text is shown or stored. A bucket that is a folder has no credentials, and nothing is withheld.
Facts: "Environment variables" of the AWS SDKs and tools reference guide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

SECRETS: Final = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN")
"""Variables whose values are secrets."""
CREDENTIALS: Final = frozenset(
    {
        *SECRETS,
        "AWS_ACCESS_KEY_ID",
        "AWS_CONFIG_FILE",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_PROFILE",
        "AWS_ROLE_ARN",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
    }
)
"""Variables by which an object store's credentials are found."""

_below: frozenset[str] = frozenset()


def has_credentials(bucket: str) -> bool:
    """Whether a bucket of this name is reached with credentials."""
    return "://" in bucket and not bucket.startswith("file:")


def secret_names(bucket: str) -> tuple[str, ...]:
    """The variables whose values are to be masked."""
    return SECRETS if has_credentials(bucket) else ()


def secret_values(bucket: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values that are to be masked."""
    return tuple(environ[name] for name in secret_names(bucket) if environ.get(name))


def without_credentials(bucket: str, environ: Mapping[str, str]) -> dict[str, str]:
    """An environment for a program that has no business with the bucket."""
    withheld = CREDENTIALS if has_credentials(bucket) else frozenset[str]()
    return {name: value for name, value in environ.items() if name not in withheld}


def withhold(bucket: str, given: Iterable[str] = ()) -> None:
    """From now on, programs that this process starts do not get the bucket's credentials.

    ``given`` are variables that the work itself asks for, which they keep.
    """
    global _below  # noqa: PLW0603 - a process works on one assignment, from its start to its end
    _below = CREDENTIALS - set(given) if has_credentials(bucket) else frozenset()


def environment_below(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a program that this process starts for a team."""
    return {name: value for name, value in environ.items() if name not in _below}
