"""Two buckets of one name at two endpoints are two buckets."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.buckets.opening import Options, bucket_identity

BASE = Path("/base")


@pytest.mark.parametrize(
    ("name", "options", "environ", "identity"),
    [
        ("./results", {}, {"AWS_ENDPOINT_URL": "http://a"}, "/base/results"),
        ("s3://b/p/", {}, {}, "s3://b/p"),
        ("s3://b/p", {"endpoint": "http://a/"}, {}, "s3://b/p at http://a"),
        ("s3://b/p", {}, {"AWS_ENDPOINT_URL": "http://a"}, "s3://b/p at http://a"),
        (
            "s3://b/p",
            {},
            {"AWS_ENDPOINT_URL": "x", "AWS_ENDPOINT_URL_S3": "http://c"},
            "s3://b/p at http://c",
        ),
        ("s3://b/p", {"endpoint": "http://a"}, {"AWS_ENDPOINT_URL": "http://c"}, "s3://b/p at http://a"),
    ],
)
def test_an_identity_has_the_endpoint(
    name: str, options: Options, environ: dict[str, str], identity: str, tmp_path: Path
) -> None:
    assert bucket_identity(name, BASE, options, {"HOME": str(tmp_path), **environ}) == identity


def test_the_endpoint_may_stand_in_a_profile(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "config").write_text("[profile far]\nendpoint_url = http://far\n")
    found = bucket_identity("s3://b", BASE, {"profile": "far"}, {"HOME": str(tmp_path)})
    assert found == "s3://b at http://far"
