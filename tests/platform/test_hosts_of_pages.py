"""Which origins may be asked, by what the platform names."""

from __future__ import annotations

import pytest

from allotment.platform.hosts import Hosts, origin_of, read_rule


@pytest.mark.parametrize(
    ("entry", "address", "asked"),
    [
        ("a.se", "https://a.se/1", "a.se"),
        ("A.se", "https://a.SE:443/1", "a.se"),
        ("https://a.se", "https://a.se/1", "a.se"),
        ("a.se", "http://a.se/1", "a.se"),
        ("a.se", "http://a.se:8080/1", None),
        ("a.se", "https://a.se:8443/1", None),
        ("a.se:8443", "https://a.se:8443/1", "https://a.se:8443"),
        ("a.se:8443", "https://a.se/1", None),
        ("a.se:8443", "http://a.se/1", None),
        ("http://a.se", "http://a.se/1", "http://a.se"),
        ("http://a.se", "https://a.se/1", "a.se"),
        ("http://a.se:8080", "http://a.se:8080/1", "http://a.se:8080"),
        ("http://a.se:8080", "http://a.se/1", None),
        ("a.se", "https://b.a.se/1", None),
        ("b.a.se", "https://a.se/1", None),
        ("127.0.0.1", "https://127.0.0.1/1", "127.0.0.1"),
        ("127.0.0.1", "https://2130706433/1", None),
    ],
)
def test_an_origin_is_asked_as_the_platform_names_its_host(
    entry: str, address: str, asked: str | None
) -> None:
    found = Hosts([entry]).admitted(origin_of(address))
    assert (None if found is None else str(found)) == asked


def test_no_host_is_named_by_an_empty_list() -> None:
    assert Hosts([]).admitted(origin_of("https://a.se/")) is None


@pytest.mark.parametrize(
    "entry", ["", "*", "*.a.se", "a.se/x", "ftp://a.se", "a.se:0", "a.se:70000", "u@a.se", "a..se", "[::1]"]
)
def test_what_is_no_host_names_none(entry: str) -> None:
    assert read_rule(entry) is None
    assert Hosts([entry]).names() == ()
