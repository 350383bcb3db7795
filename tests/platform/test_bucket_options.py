"""What a platform's file may say of its object store, and what it may not."""

from __future__ import annotations

import pytest

from allotment.documents import read_text
from allotment.platform.file import platform_of


def rules(options: str, bucket: str = "s3://books/results") -> list[str]:
    text = f"bucket: {bucket}\nbucket_options: {options}\n"
    return [
        f"{finding.rule}: {finding.hint}" for finding in platform_of(read_text(text, name="platform.yaml"))[1]
    ]


@pytest.mark.parametrize(
    "options",
    [
        "{}",
        "{endpoint: https://s3.example.org:9000, region: eu-north-1, profile: archive}",
        "{endpoint: http://127.0.0.1:9000, allow_http: true, path_style: true}",
        "{ca_certificate: ca.pem, timeout: 90s, connect_timeout: 5}",
        "{encryption: aws:kms, kms_key: key-1}",
        "{anonymous: true}",
    ],
)
def test_options_that_are_right(options: str) -> None:
    assert rules(options) == []


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("{endpiont: https://s3.example.org}", "unknown-key: did you mean `endpoint`?"),
        ("{virtual_hosted: true}", "unknown-key: write `path_style: false`"),
        ("{secret_access_key: x}", "secret-in-file: give it to the process by its environment"),
        ("{access_key_id: x}", "secret-in-file: give it to the process by its environment"),
        ("{session-token: x}", "secret-in-file: give it to the process by its environment"),
        (
            "{endpoint: https://me:secret@s3.example.org}",
            "secret-in-file: give credentials by the environment",
        ),
        ("{region: eu north}", "bad-name: write it as eu-north-1"),
        ("{path_style: 1}", "wrong-type: write true or false"),
        ("{encryption: rot13}", "unknown-word: "),
        ("{kms_key: k}", "missing-key: write `encryption: aws:kms`"),
        ("{anonymous: true, profile: p}", "one-of: take one of the two out"),
        ("{endpoint: http://s3.example.org}", "bad-address: write https://, or `allow_http: true`"),
        ("{endpoint: s3.example.org}", "bad-address: write the address of the service"),
        ("{endpoint: 'https://s3.example.org?x=1'}", "bad-address: write the address of the service"),
    ],
)
def test_options_that_are_wrong(options: str, found: str) -> None:
    (only,) = rules(options)
    assert only.startswith(found)


@pytest.mark.parametrize(
    "bucket",
    ["s3://", "s3://B/x", "s3://ab/x", "gs://books/x", "s3://books//x", "s3://books/../x", "s3://b k/x"],
)
def test_addresses_that_name_no_bucket(bucket: str) -> None:
    assert [rule.partition(":")[0] for rule in rules("{}", bucket)] == ["bad-bucket"]
