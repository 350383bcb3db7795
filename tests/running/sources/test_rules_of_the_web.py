"""Which addresses of the network may be connected to, and how addresses are read and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.running.sources.web.addresses import masked, read_address, shown
from allotment.running.sources.web.errors import WebRefusedError
from allotment.running.sources.web.manners import retry_after
from allotment.running.sources.web.policy import Policy


@pytest.mark.parametrize(
    ("address", "private", "allowed"),
    [
        ("93.184.216.34", (), True),
        ("2606:2800:220:1::1", (), True),
        ("127.0.0.1", (), False),
        ("127.8.8.8", (), False),
        ("10.1.2.3", (), False),
        ("172.16.0.1", (), False),
        ("192.168.0.1", (), False),
        ("100.64.0.1", (), False),
        ("169.254.169.254", (), False),
        ("168.63.129.16", (), False),
        ("192.0.0.192", (), False),
        ("0.0.0.0", (), False),
        ("0.0.0.1", (), False),
        ("255.255.255.255", (), False),
        ("224.0.0.1", (), False),
        ("239.1.1.1", (), False),
        ("198.18.0.1", (), False),
        ("203.0.113.5", (), False),
        ("240.0.0.1", (), False),
        ("::", (), False),
        ("::1", (), False),
        ("fe80::1", (), False),
        ("fe80::1%eth0", (), False),
        ("fc00::1", (), False),
        ("fd00:ec2::254", (), False),
        ("ff02::1", (), False),
        ("ff0e::1", (), False),
        ("::ffff:10.0.0.1", (), False),
        ("::ffff:127.0.0.1", (), False),
        ("::127.0.0.1", (), False),
        ("64:ff9b::127.0.0.1", (), False),
        ("64:ff9b::169.254.169.254", (), False),
        ("2002:7f00:1::1", (), False),
        ("2001:db8::1", (), False),
        ("", (), False),
        ("a.se", (), False),
        ("127.1", (), False),
        ("10.1.2.3", ("10.0.0.0/8",), True),
        ("11.1.2.3", ("10.0.0.0/8",), True),
        ("127.0.0.1", ("127.0.0.1/32",), True),
        ("::1", ("::1/128",), True),
        ("fd12::1", ("fd00::/8",), True),
        ("fd00:ec2::254", ("fd00::/8",), False),
        ("fd00:ec2::254", ("fd00:ec2::254/128",), True),
        ("169.254.169.254", ("0.0.0.0/0",), False),
        ("169.254.169.254", ("169.254.0.0/16",), True),
        ("168.63.129.16", ("168.0.0.0/8",), False),
        ("::ffff:10.0.0.1", ("10.0.0.0/8",), False),
        ("10.1.2.3", ("::/0",), False),
    ],
)
def test_only_what_is_open_to_everybody_or_named_is_connected_to(
    address: str, private: tuple[str, ...], *, allowed: bool
) -> None:
    assert Policy((), private).allows(address) is allowed


@given(st.ip_addresses())
def test_no_address_is_allowed_by_the_way(address: object) -> None:
    """What Python's own registries call anything but global is never allowed unless it is named."""
    if not address.is_global or address.is_multicast or address.is_link_local:  # type: ignore[attr-defined]
        assert not Policy((), ()).allows(str(address))


@pytest.mark.parametrize(
    ("url", "base", "read"),
    [
        ("https://a.se", None, "https://a.se/"),
        ("HTTPS://A.se:443/x", None, "https://a.se/x"),
        ("http://a.se:80/x?y=1#z", None, "http://a.se/x?y=1"),
        ("https://a.se:8443/x", None, "https://a.se:8443/x"),
        ("https://a.se/a b/å?q=ö", None, "https://a.se/a%20b/%C3%A5?q=%C3%B6"),
        ("https://a.se/arkis!R1_1/full/max/0/x.jpg", None, "https://a.se/arkis!R1_1/full/max/0/x.jpg"),
        ("https://a.se/id%2F7/full", None, "https://a.se/id%2F7/full"),
        ("https://å.se/", None, "https://xn--5ca.se/"),
        ("../b", "https://a.se/x/y/z", "https://a.se/x/b"),
        ("//b.se/c", "https://a.se/x", "https://b.se/c"),
        (" https://a.se/x ", None, "https://a.se/x"),
        ("https://a.se?x=1", None, "https://a.se/?x=1"),
    ],
)
def test_an_address_is_asked_as_it_was_read(url: str, base: str | None, read: str) -> None:
    assert read_address(url, base).url == read


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a.se/x",
        "file:///etc/passwd",
        "ftp://a.se/x",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "https://",
        "https:///x",
        "https://u:p@a.se/",
        "https://a.se\\@b.se/",
        "https://a.se/\r\nHost: b.se",
        "https://a.se:0/",
        "https://a.se:99999/",
        "https://a.se:x/",
        "https://[::1]/",
        "https://[::1/",
        "https://a..se/",
        "https://a.se/\ud800",
        "https://a_b.se/",
        "https://a.se/" + "x" * 10_000,
    ],
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(WebRefusedError):
        read_address(url)


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("https://a.se/x?id=1", "https://a.se/x?id=1"),
        ("https://user:pass@a.se/x", "https://a.se/x"),
        ("https://a.se/x?token=T&id=1", "https://a.se/x?token=…&id=1"),
        ("https://a.se/x?a=1;api_key=T", "https://a.se/x?a=1;api_key=…"),
        ("https://a.se/x?X-Amz-Signature=T&X-Amz-Date=T", "https://a.se/x?X-Amz-Signature=…&X-Amz-Date=…"),
        ("https://a.se/x?sig=T&page=3", "https://a.se/x?sig=…&page=3"),
        ("https://a.se/x?acces%73_token=T&page=3", "https://a.se/x?acces%73_token=…&page=3"),
        ("https://a.se/x;jsessionid=T/y;v=2?a=1", "https://a.se/x;jsessionid=…/y;v=2?a=1"),
        ("https://a.se/x;token=T", "https://a.se/x;token=…"),
        ("https://a.se/x#access_token=T", "https://a.se/x#access_token=…"),
        ("https://a.se/x?t=sk9Xa2Bq7Lm4Zp0Rt5Vw8Yc1", "https://a.se/x?t=…0a0e99d8"),
        ("https://a.se/x?sk9Xa2Bq7Lm4Zp0Rt5Vw8Yc1", "https://a.se/x?…0a0e99d8"),
        (
            "https://a.se/x?IIIF=SE_RA_1234567_A0001_00010.tif",
            "https://a.se/x?IIIF=SE_RA_1234567_A0001_00010.tif",
        ),
        ("https://a.se/x?id=stockholm-stadsarkiv-1887-42", "https://a.se/x?id=stockholm-stadsarkiv-1887-42"),
    ],
)
def test_secrets_are_not_shown(url: str, seen: str) -> None:
    assert masked(url) == seen


def test_two_pages_that_differ_in_a_hidden_value_stay_two() -> None:
    one, other = (masked(f"https://a.se/x?t=sk9Xa2Bq7Lm4Zp0Rt5Vw8Yc{last}") for last in "12")
    assert one != other
    assert one == masked("https://a.se/x?t=sk9Xa2Bq7Lm4Zp0Rt5Vw8Yc1")


def test_what_is_shown_is_one_short_line() -> None:
    assert shown("https://a.se/\x1b[31m\n") == "https://a.se/…[31m…"
    assert len(shown("https://a.se/" + "x" * 1000)) == 300


@given(st.text(max_size=80))
def test_any_text_is_an_address_that_reads_the_same_again_or_refused(text: str) -> None:
    try:
        address = read_address(text)
    except WebRefusedError:
        return
    assert address.url.isascii()
    assert read_address(address.url) == address


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("Thu, 01 Jan 1970 00:01:40", 90.0),
        ("soon", None),
        ("-3", None),
        ("", None),
        ("9" * 400, 999_999_999.0),
        ("Mon, 01 Jan 9999 00:00:00 GMT", 999_999_999.0),
        ("Mon, 01 Jan 9999", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
    ],
)
def test_a_host_says_when_it_wants_to_be_asked_again(header: str, seconds: float | None) -> None:
    assert retry_after(header, 10.0) == seconds
