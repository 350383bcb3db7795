"""One fetch from the web: the right bytes, or one clear reason, within its time, whatever the server does."""

from __future__ import annotations

import gzip
import threading
import time

import pytest

from allotment.running.sources.web.client import Client, World
from allotment.running.sources.web.errors import UnreachableError, WebRefusedError
from tests.running.sources.archive import (
    Answer,
    Archive,
    Talk,
    answer,
    cut,
    dribble,
    endless,
    gzipped,
    in_turn,
    raw,
    redirect,
    silent,
)
from tests.running.sources.conftest import MakeClient, Time

LIMIT = 20_000
PATIENCE = 20.0
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n"
BOMB = gzip.compress(bytes(50_000_000))


def get(client: Client, url: str) -> bytes:
    return client.get(url, most_bytes=LIMIT, headers={"Accept-Encoding": "gzip"}).data


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (answer(b"page"), b"page"),
        (answer(b"x" * LIMIT), b"x" * LIMIT),
        (answer(b""), b""),
        (gzipped(b"page" * 1000), b"page" * 1000),
        (cut(HEAD + b"\r\npage"), b"page"),
        (raw(HEAD + b"transfer-encoding: chunked\r\n\r\n3\r\npag\r\n1\r\ne\r\n0\r\n\r\n"), b"page"),
        (answer(b"page and more", length=4), b"page"),
        (answer(b"page", length="4, 4"), b"page"),
    ],
)
def test_what_is_there_comes_whole(
    archive: Archive, client_of: MakeClient, behaviour: Answer, expected: bytes
) -> None:
    archive.answers["/p"] = behaviour
    assert get(client_of(), archive.url("/p")) == expected


@pytest.mark.parametrize(
    ("behaviour", "reason", "words"),
    [
        (
            answer(status="404 Not Found"),
            "source-missing",
            "it is not there: the server answers 404 (Not Found)",
        ),
        (answer(status="410 Gone"), "source-missing", "it is not there: the server answers 410 (Gone)"),
        (answer(status="403 Forbidden"), "source-refused", "the server answers 403 (Forbidden)"),
        (answer(status="204 No Content"), "source-refused", "the server answers 204 (No Content)"),
        (answer(status="302 Found"), "source-refused", "the server answers 302 (Found)"),
        (answer(b"x" * (LIMIT + 1)), "source-too-large", "larger than 20000 bytes"),
        (answer(b"x", length=10**15), "source-too-large", "larger than 20000 bytes"),
        (endless(HEAD + b"\r\n", b"x" * 4096), "source-too-large", "larger than 20000 bytes"),
        (
            endless(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1000\r\n" + b"x" * 4096 + b"\r\n"),
            "source-too-large",
            "larger than 20000 bytes",
        ),
        (answer(BOMB[:LIMIT], content_encoding="gzip"), "source-too-large", "larger than 20000 bytes"),
        (answer(b"page", content_encoding="br"), "source-refused", "comes packed as `br`"),
        (answer(b"page", content_encoding="gzip, gzip"), "source-refused", "comes packed as `gzip, gzip`"),
        (answer(b"page", content_encoding="gzip"), "source-unreadable", "damaged"),
    ],
)
def test_what_will_not_change_is_refused_at_once(
    archive: Archive, client_of: MakeClient, behaviour: Answer, reason: str, words: str
) -> None:
    archive.answers["/p"] = behaviour
    with pytest.raises(WebRefusedError) as refused:
        get(client_of(), archive.url("/p"))
    assert refused.value.reason == reason
    assert words in refused.value.message
    assert refused.value.message.startswith(archive.url("/p"))
    assert archive.paths() == ["/p"], "it is asked for once"


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (
            answer(status="503 Service Unavailable"),
            "the server answers 503 (Service Unavailable) (tried 2 times)",
        ),
        (answer(status="429 Too Many Requests"), "the server answers 429"),
        (cut(b""), "the connection was cut"),
        (cut(HEAD), "it was cut short"),
        (cut(HEAD + b"content-length: 100\r\n\r\npage"), "it was cut short"),
        (cut(HEAD + b"transfer-encoding: chunked\r\n\r\n1000\r\npage"), "it was cut short"),
        (cut(HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(bytes(999))[:20]), "it was cut short"),
        (raw(b"220 mail.example.org ready\r\n\r\n"), "does not speak HTTP"),
        (endless(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"), "does not speak HTTP"),
        (endless(b"", b"x" * 4096), "does not speak HTTP"),
        (silent(), "does not answer in time"),
        (silent(HEAD), "does not answer in time"),
        (silent(HEAD + b"content-length: 9\r\n\r\npage"), "does not answer in time"),
        (dribble(b"", b"H"), "was not there after"),
        (dribble(HEAD, b"y"), "was not there after"),
        (dribble(HEAD + b"content-length: 9999\r\n\r\n"), "was not there after"),
        (dribble(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "was not there after"),
    ],
)
def test_what_may_pass_is_tried_again_and_then_told(
    archive: Archive, client_of: MakeClient, behaviour: Answer, words: str
) -> None:
    archive.answers["/p"] = behaviour
    began = time.monotonic()
    whole_seconds = 0.9 if "was not there" in words else PATIENCE
    with pytest.raises(UnreachableError) as unreachable:
        get(client_of(whole_seconds=whole_seconds), archive.url("/p"))
    assert words in unreachable.value.message
    assert unreachable.value.message.startswith(archive.url("/p"))
    assert time.monotonic() - began < PATIENCE


def test_pauses_double_and_a_failure_that_passes_is_none(
    archive: Archive, client_of: MakeClient, clock: Time
) -> None:
    busy = answer(status="500 Internal Server Error")
    archive.answers["/p"] = in_turn(busy, cut(b""), answer(b"page", etag='"7"'))
    found = client_of(whole_seconds=60, tries=3).get(archive.url("/p"), most_bytes=LIMIT, headers={})
    assert (found.data, found.media_type, found.etag) == (b"page", "image/png", '"7"')
    assert clock.slept == [0.25, 0.5]


def test_a_host_that_is_busy_is_left_alone_by_everybody(
    archive: Archive, client_of: MakeClient, clock: Time
) -> None:
    archive.answers["/p"] = in_turn(answer(status="429 Too Many", retry_after="7"), answer(b"page"))
    client = client_of(whole_seconds=60)
    assert get(client, archive.url("/p")) == b"page"
    assert clock.slept == [pytest.approx(7, abs=1)]


@pytest.mark.parametrize("header", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_host_that_wants_to_be_left_alone_for_long_is_given_up(
    archive: Archive, client_of: MakeClient, clock: Time, header: str
) -> None:
    archive.answers["/p"] = answer(status="503 Service Unavailable", retry_after=header)
    with pytest.raises(UnreachableError, match="asks to be left alone for"):
        get(client_of(whole_seconds=10**9), archive.url("/p"))
    assert (archive.paths(), clock.slept) == (["/p"], [])


def test_connections_are_kept_and_a_dead_one_is_replaced(archive: Archive, client_of: MakeClient) -> None:
    archive.answers["/p"] = answer(b"page")
    archive.answers["/last"] = cut(HEAD + b"content-length: 4\r\n\r\npage")
    client = client_of()
    for path in ("/p", "/p", "/last", "/p"):
        assert get(client, archive.url(path)) == b"page"
    assert [asked.connection for asked in archive.asked][:3] == [1, 1, 1]
    assert archive.asked[3].connection == 2


def test_no_more_than_so_many_requests_go_to_a_host_at_once(archive: Archive, client_of: MakeClient) -> None:
    together = threading.Barrier(3)

    def wait_for_others(talk: Talk) -> None:
        together.wait(PATIENCE)
        answer(b"page")(talk)

    archive.answers["/p"] = wait_for_others
    client = client_of(per_host=3, read_seconds=PATIENCE, whole_seconds=PATIENCE)
    threads = [threading.Thread(target=get, args=(client, archive.url("/p"))) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(archive.asked) == 9
    assert archive.most_at_once == 3


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://169.254.169.254/latest/meta-data/", "does not let pages come from `http://169.254.169.254`"),
        ("http://127.0.0.1:1/p", "does not let pages come from `http://127.0.0.1:1`"),
        ("https://evil.example.org/p", "does not let pages come from `evil.example.org`"),
        ("//evil.example.org/p", "does not let pages come from `http://evil.example.org`"),
        ("file:///etc/passwd", "neither an https nor an http address"),
        ("gopher://127.0.0.1/x", "neither an https nor an http address"),
        ("http://user:hush@127.0.0.1/p", "holds a user or a password"),
        ("http://127.0.0.1\\@evil.example.org/", "no web address"),
        ("http://[::1]/p", "names no host by its name"),
        ("http://2130706433/p", "does not let pages come from"),
        ("/p", "leads in a circle"),
        ("HERE/p#2", "leads in a circle"),
        ("/1", "leads on and on, more than 5 times"),
        ("http://a:b:c/", "no web address"),
        ("", "the server answers 302 (Found)"),
    ],
)
def test_a_redirect_leads_nowhere_that_is_forbidden(
    archive: Archive, client_of: MakeClient, location: str, words: str
) -> None:
    for number in range(1, 10):
        archive.answers[f"/{number}"] = redirect(f"/{number + 1}", "307 Temporary Redirect")
    archive.answers["/p"] = redirect(location.replace("HERE", archive.host))
    with pytest.raises(WebRefusedError) as refused:
        get(client_of(), archive.url("/p"))
    assert words in refused.value.message
    assert "hush" not in refused.value.message


def test_a_redirect_to_an_allowed_place_is_followed(archive: Archive, client_of: MakeClient) -> None:
    archive.answers["/p"] = redirect("/a/b?x=1", "308 Permanent Redirect")
    archive.answers["/a/b"] = redirect("../c", "301 Moved Permanently")
    archive.answers["/c"] = answer(b"page")
    found = client_of().get(archive.url("/p"), most_bytes=LIMIT, headers={})
    assert (found.data, found.address) == (b"page", archive.url("/c"))
    assert archive.paths() == ["/p", "/a/b?x=1", "/c"]


@pytest.mark.parametrize(
    ("leads_to", "private"),
    [
        (["10.0.0.1"], ()),
        (["127.0.0.1"], ()),
        (["169.254.169.254"], ("0.0.0.0/0",)),
        (["93.184.216.34", "192.168.1.1"], ()),
        (["::1"], ()),
        (["::ffff:127.0.0.1"], ()),
        (["fe80::1%eth0"], ("::/0",)),
        (["no address"], ("127.0.0.0/8",)),
    ],
)
def test_a_name_that_leads_to_an_address_of_somebody_is_refused(
    client_of: MakeClient, leads_to: list[str], private: tuple[str, ...]
) -> None:
    world = World(resolve=lambda _host, _port: leads_to)
    client = client_of(world=world, hosts=("archive.test",), private=private)
    with pytest.raises(WebRefusedError) as refused:
        get(client, "https://archive.test/p")
    assert f"the name archive.test leads to {leads_to[-1]}" in refused.value.message


def test_an_address_that_is_closed_is_told_with_the_network_to_name(client_of: MakeClient) -> None:
    world = World(resolve=lambda host, _port: [host])
    client = client_of(world=world, hosts=("http://127.0.0.1",), private=())
    with pytest.raises(WebRefusedError) as refused:
        get(client, "http://127.0.0.1/p")
    assert "127.0.0.1 is not open to everybody" in refused.value.message
    assert "`private: [127.0.0.0/8]` under `sources`" in refused.value.message
    assert "leads to" not in refused.value.message


def test_the_connection_goes_to_the_address_that_was_looked_at(
    archive: Archive, client_of: MakeClient, clock: Time
) -> None:
    """The name leads elsewhere with every look: a connection goes to what was allowed, or there is none."""
    looks = []

    def resolve(host: str, port: int) -> list[str]:
        looks.append((host, port))
        return ["127.0.0.1"] if len(looks) == 1 else ["169.254.169.254"]

    archive.answers["/p"] = answer(b"page")
    world = World(resolve=resolve, monotonic=clock.monotonic, sleep=clock.sleep)
    client = client_of(world=world, hosts=(f"http://archive.test:{archive.port}",))
    url = f"http://archive.test:{archive.port}/p"
    assert get(client, url) == get(client, url) == b"page"
    assert looks == [("archive.test", archive.port)]
    assert archive.asked[0].headers["host"] == f"archive.test:{archive.port}"
    clock.sleep(3600)
    with pytest.raises(WebRefusedError, match=r"leads to 169\.254\.169\.254"):
        get(client, url)


def test_a_name_that_leads_nowhere_is_for_now(client_of: MakeClient) -> None:
    def resolve(_host: str, _port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    client = client_of(world=World(resolve=resolve), hosts=("archive.test",))
    with pytest.raises(UnreachableError, match=r"archive\.test leads nowhere: Name or service not"):
        get(client, "https://archive.test/p")


def test_the_next_address_of_a_name_is_tried(archive: Archive, client_of: MakeClient) -> None:
    archive.answers["/p"] = answer(b"page")
    world = World(resolve=lambda _host, _port: ["127.0.0.2", "127.0.0.1"])
    client = client_of(world=world, hosts=(f"http://archive.test:{archive.port}",))
    assert get(client, f"http://archive.test:{archive.port}/p") == b"page"


def test_secrets_of_an_address_are_not_told(archive: Archive, client_of: MakeClient) -> None:
    archive.answers["/p"] = answer(status="503 Busy")
    with pytest.raises(UnreachableError) as unreachable:
        get(client_of(), archive.url("/p?id=7&access_token=hush&X-Amz-Signature=hush"))
    assert "id=7" in unreachable.value.message
    assert "hush" not in unreachable.value.message
    assert "hush" in archive.paths()[0]
