"""Where credentials come from, in which order, and that they show nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.buckets.bucket import BucketRefused
from allotment.buckets.credentials import Keys, Origin, find_credentials
from allotment.buckets.s3 import open_s3
from tests.buckets.tiny_s3 import Handler, Server

CREDENTIALS = """
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = default/hush%

[archive]
aws_access_key_id = AKIAARCHIVE
aws_secret_access_key = archive-hush
aws_session_token = archive-token
"""
CONFIG = """
[default]
region = eu-west-1

[profile archive]
region = eu-north-1
endpoint_url = https://s3.example.org

[profile sso]
sso_start_url = https://example.org/start

[profile assumed]
role_arn = arn:aws:iam::1:role/x
source_profile = default
"""
OWN = {"AWS_ACCESS_KEY_ID": "AKIAOWN", "AWS_SECRET_ACCESS_KEY": "own-hush"}
ROLE = {"AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/token"}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / ".aws"
    folder.mkdir()
    (folder / "credentials").write_text(CREDENTIALS)
    (folder / "config").write_text(CONFIG)
    return {"HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("extra", "profile", "found"),
    [
        ({}, None, (Origin.FILES, "AKIADEFAULT", "eu-west-1")),
        ({"AWS_PROFILE": "archive"}, None, (Origin.FILES, "AKIAARCHIVE", "eu-north-1")),
        (OWN, None, (Origin.ENVIRONMENT, "AKIAOWN", "eu-west-1")),
        ({**OWN, "AWS_REGION": "eu-south-1"}, None, (Origin.ENVIRONMENT, "AKIAOWN", "eu-south-1")),
        ({**OWN, "AWS_PROFILE": "archive"}, None, (Origin.ENVIRONMENT, "AKIAOWN", "eu-north-1")),
        (OWN, "archive", (Origin.FILES, "AKIAARCHIVE", "eu-north-1")),
        (ROLE, None, (Origin.ROLE, None, "eu-west-1")),
        ({**ROLE, **OWN}, None, (Origin.ENVIRONMENT, "AKIAOWN", "eu-west-1")),
    ],
)
def test_the_order(
    home: dict[str, str],
    extra: dict[str, str],
    profile: str | None,
    found: tuple[Origin, str | None, str],
) -> None:
    credentials = find_credentials({**home, **extra}, profile=profile, anonymous=False)
    keys: Keys | None = credentials.files.keys() if credentials.files else credentials.keys
    assert (credentials.origin, keys.access if keys else None, credentials.region) == found


def test_a_machine_without_any_may_have_a_role(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert find_credentials(environ, profile=None, anonymous=False).origin is Origin.MACHINE
    assert find_credentials(environ, profile=None, anonymous=True).origin is Origin.ANONYMOUS
    with pytest.raises(BucketRefused, match="no credentials"):
        find_credentials({**environ, "AWS_EC2_METADATA_DISABLED": "true"}, profile=None, anonymous=False)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("archiv", "did you mean `archive`"),
        ("sso", "single sign-on"),
        ("sso", "export-credentials --format env --profile sso"),
        ("assumed", "a role to be assumed"),
    ],
)
def test_profiles_that_have_no_keys(home: dict[str, str], profile: str, words: str) -> None:
    with pytest.raises(BucketRefused, match=words):
        find_credentials(home, profile=profile, anonymous=False)


def test_a_file_that_is_none_is_told_without_its_contents(home: dict[str, str]) -> None:
    (Path(home["HOME"]) / ".aws" / "credentials").write_text("aws_secret_access_key = hush\n")
    with pytest.raises(BucketRefused, match="sections") as caught:
        find_credentials(home, profile="archive", anonymous=False)
    assert "hush" not in f"{caught.value}{caught.value.__cause__}"


def test_nothing_shows_a_key(home: dict[str, str]) -> None:
    for environ in (home, {**home, **OWN}):
        found = find_credentials(environ, profile=None, anonymous=False)
        bucket = open_s3("s3://bucket", Path("/nowhere"), {}, environ)
        store = bucket._reach.short
        shown = f"{found!r}{bucket!r}{store!r}{store.config!r}{store.client_options!r}{vars(bucket)!r}"
        assert "hush" not in shown
        assert "AKIA" not in shown


def test_renewed_files_are_read_again_and_the_token_is_sent(home: dict[str, str]) -> None:
    seen: list[tuple[str, str]] = []

    class Requests(Handler):
        def do_HEAD(self) -> None:
            key = self.headers["authorization"].partition("Credential=")[2].partition("/")[0]
            seen.append((key, self.headers.get("x-amz-security-token") or ""))
            self.answer(404)

    with Server(Requests).serving() as endpoint:
        options: dict[str, str | bool] = {"endpoint": endpoint, "allow_http": True, "profile": "archive"}
        open_s3("s3://bucket", Path("/nowhere"), options, home).exists("a")
        path = Path(home["HOME"]) / ".aws" / "credentials"
        bucket = open_s3("s3://bucket", Path("/nowhere"), options, home)
        path.write_text(CREDENTIALS.replace("AKIAARCHIVE", "AKIARENEWED"))
        bucket.exists("a")
    assert seen == [("AKIAARCHIVE", "archive-token"), ("AKIARENEWED", "archive-token")]
