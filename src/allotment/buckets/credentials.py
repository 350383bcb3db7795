"""Where the credentials of an object store come from, and in which order; never what they are.

As AWS's own tools do it: a profile that is named wins; then the environment; then a role that the container
or the pod has; then AWS's files with the profile of ``AWS_PROFILE`` or ``default``; then the role of the
machine, by its metadata service. The files are read again every minute, because tools renew what is in them.
Facts: "AWS SDKs and Tools Reference Guide", standardized credential providers and shared configuration files.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from allotment.buckets.bucket import BucketRefused
from allotment.errors import did_you_mean

READ_AGAIN = timedelta(minutes=1)
DEFAULT_PROFILE = "default"
ROLE_VARIABLES = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
ELSEWHERE = {
    "sso_session": "single sign-on",
    "sso_start_url": "single sign-on",
    "credential_process": "a program that hands them out",
    "role_arn": "a role to be assumed",
    "source_profile": "a role to be assumed",
}
EXPORT = "put them into the environment: eval $(aws configure export-credentials --format env{})"


class Origin(StrEnum):
    """Where credentials come from."""

    ANONYMOUS = "nobody: requests are not signed"
    ENVIRONMENT = "the environment"
    FILES = "AWS's files"
    ROLE = "a role of this container"
    MACHINE = "the role of this machine"


@dataclass(frozen=True, slots=True)
class Keys:
    """A key pair, and a token where the pair lasts for a while only. It does not show in a `repr`."""

    access: str = field(repr=False)
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    def hand_out(self) -> dict[str, str | datetime | None]:
        """What obstore takes; these last for as long as this process does."""
        return {
            "access_key_id": self.access,
            "secret_access_key": self.secret,
            "token": self.token,
            "expires_at": None,
        }


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where they come from; ``keys`` if they are known here; what a profile says of region and endpoint."""

    origin: Origin
    keys: Keys | None = None
    files: ProfileFiles | None = None
    region: str | None = None
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class ProfileFiles:
    """AWS's two files, and the profile that is meant."""

    profile: str
    credentials: Path
    config: Path

    def hand_out(self) -> dict[str, str | datetime | None]:
        """What obstore takes: the keys that the files hold now, and when to ask again."""
        keys = self.keys()
        if keys is None:
            raise BucketRefused(f"profile `{self.profile}` has no keys any more", str(self.credentials))
        return {**keys.hand_out(), "expires_at": datetime.now(UTC) + READ_AGAIN}

    def keys(self) -> Keys | None:
        """The profile's keys, if it has some."""
        settings = self.settings()
        access, secret = settings.get("aws_access_key_id"), settings.get("aws_secret_access_key")
        return Keys(access, secret, settings.get("aws_session_token")) if access and secret else None

    def settings(self) -> dict[str, str]:
        """Everything that the files say of the profile; the credentials file holds."""
        section = self.profile if self.profile == DEFAULT_PROFILE else f"profile {self.profile}"
        return {**_read(self.config).get(section, {}), **_read(self.credentials).get(self.profile, {})}

    def profiles(self) -> list[str]:
        """The names of all profiles."""
        named = [section.removeprefix("profile ") for section in _read(self.config)]
        return sorted({*named, *_read(self.credentials)})


def find_credentials(environ: Mapping[str, str], *, profile: str | None, anonymous: bool) -> Credentials:
    """Where the credentials are; raises `BucketRefused` when there can be none, with what to do."""
    files = _files(environ, profile or environ.get("AWS_PROFILE") or DEFAULT_PROFILE)
    settings = files.settings()
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or settings.get("region")
    endpoint = (
        environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or settings.get("endpoint_url")
    )

    def found(origin: Origin, keys: Keys | None = None, read: ProfileFiles | None = None) -> Credentials:
        return Credentials(origin, keys, read, region, endpoint)

    if anonymous:
        return found(Origin.ANONYMOUS)
    if profile is not None:
        return found(Origin.FILES, read=_with_keys(files, settings))
    access, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if access and secret:
        return found(Origin.ENVIRONMENT, Keys(access, secret, environ.get("AWS_SESSION_TOKEN")))
    if any(environ.get(name) for name in ROLE_VARIABLES):
        return found(Origin.ROLE)
    if settings or environ.get("AWS_PROFILE"):
        return found(Origin.FILES, read=_with_keys(files, settings))
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        raise no_credentials()
    return found(Origin.MACHINE)


def endpoint_of(environ: Mapping[str, str], *, profile: object = None) -> str | None:
    """The endpoint that the environment or AWS's files name, if they can be read."""
    named = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    if named:
        return named
    try:
        files = _files(environ, str(profile or environ.get("AWS_PROFILE") or DEFAULT_PROFILE))
        return files.settings().get("endpoint_url")
    except BucketRefused:
        return None


def no_credentials(where: str = "") -> BucketRefused:
    """The error when nothing tells who we are."""
    return BucketRefused(
        "there are no credentials for the bucket",
        where,
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a `profile` of ~/.aws/credentials "
        "in the platform's `bucket_options`",
    )


def _with_keys(files: ProfileFiles, settings: Mapping[str, str]) -> ProfileFiles:
    """The files, if their profile has keys; raises with what the profile has instead."""
    if files.keys() is not None:
        return files
    where = str(files.credentials)
    if not settings:
        hint = did_you_mean(files.profile, files.profiles())
        raise BucketRefused(f"there is no profile `{files.profile}` in AWS's files", where, hint)
    ways = [way for key, way in ELSEWHERE.items() if key in settings]
    option = "" if files.profile == DEFAULT_PROFILE else f" --profile {files.profile}"
    raise BucketRefused(
        f"profile `{files.profile}` has its credentials from {ways[0] if ways else 'nowhere'}, "
        "which this version does not read",
        where,
        EXPORT.format(option),
    )


def _files(environ: Mapping[str, str], profile: str) -> ProfileFiles:
    home = Path(environ["HOME"]) if environ.get("HOME") else Path("~").expanduser()
    return ProfileFiles(
        profile,
        Path(environ.get("AWS_SHARED_CREDENTIALS_FILE") or home / ".aws" / "credentials").expanduser(),
        Path(environ.get("AWS_CONFIG_FILE") or home / ".aws" / "config").expanduser(),
    )


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The sections of a file of AWS's; one that is not there is empty. Its contents are never shown."""
    parser = configparser.RawConfigParser(strict=False, default_section="\0")
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise BucketRefused(f"AWS's file cannot be read: {error.strerror}", str(path)) from None
    except (configparser.Error, UnicodeError):
        raise BucketRefused("AWS's file is not one of sections and settings", str(path)) from None
    return {name: dict(parser[name]) for name in parser.sections()}
