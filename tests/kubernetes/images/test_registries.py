"""A registry is asked as container tools ask it, and whatever it answers is an answer in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from allotment.kubernetes.images import ImageVerdict, State, check_image
from allotment.kubernetes.images.registry import MOST, Registries
from tests.kubernetes.images.registry_server import (
    IDENTITY,
    PASSWORD,
    USER,
    FakeRegistry,
    Reply,
    registry,
)

FITS = {"io.allotment.runner": "1"}


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with registry() as found:
        yield found


def checked(image: str, environ: Mapping[str, str] | None = None, seconds: float = 10) -> ImageVerdict:
    return check_image(image, injected=False, fetch=Registries(environ or {}, seconds=seconds))


def docker_config(folder: Path, said: object) -> Mapping[str, str]:
    (folder / "config.json").write_text(json.dumps(said), encoding="utf-8")
    return {"DOCKER_CONFIG": str(folder)}


def test_an_image_is_looked_at_by_two_questions(fake: FakeRegistry) -> None:
    digest = fake.image(FITS)
    assert checked(fake.named(digest)).state is State.FINE
    assert len(fake.asked) == 2
    assert fake.asked[0] == f"/v2/team/read/manifests/{digest}"
    assert fake.authorizations == [None, None]


def test_of_an_index_the_manifest_of_the_clusters_platform_counts(fake: FakeRegistry) -> None:
    arm, amd = fake.image({}, machine="arm64"), fake.image(FITS)
    assert checked(fake.named(fake.index({"arm64": arm, "amd64": amd}))).state is State.FINE
    assert f"/v2/team/read/manifests/{arm}" not in fake.asked


def test_each_image_is_asked_for_once(fake: FakeRegistry) -> None:
    fetch = Registries({})
    image = fake.named(fake.image(FITS))
    for _ in range(3):
        assert check_image(image, injected=True, fetch=fetch).state is State.FINE
    assert len(fake.asked) == 2


def entry_of(fake: FakeRegistry) -> str:
    return f"127.0.0.1:{fake.port}"


@pytest.mark.parametrize("auth", ["bearer", "basic"])
def test_a_user_who_has_logged_in_is_shown_what_is_not_for_everybody(auth: str, tmp_path: Path) -> None:
    with registry(auth) as fake:
        image = fake.named(fake.image(FITS))
        assert checked(image).state is State.UNTOLD
        assert "docker login 127.0.0.1" in checked(image).remedy
        entry = {"username": USER, "password": PASSWORD}
        environ = docker_config(tmp_path, {"auths": {entry_of(fake): entry}})
        assert checked(image, environ).state is State.FINE
        environ = docker_config(tmp_path, {"auths": {entry_of(fake): {**entry, "password": "false"}}})
        assert "to this user (401)" in checked(image, environ).said


def test_an_identity_token_is_changed_for_a_token(tmp_path: Path) -> None:
    with registry("bearer") as fake:
        environ = docker_config(tmp_path, {"auths": {entry_of(fake): {"identitytoken": IDENTITY}}})
        assert checked(fake.named(fake.image(FITS)), environ).state is State.FINE


def _is_elsewhere(fake: FakeRegistry, digest: str) -> Reply:
    return Reply(307, b"", {"Location": f"http://127.0.0.1:{fake.port}/store/{digest}?signed=1"})


def test_a_blob_may_be_in_a_store_of_its_own(fake: FakeRegistry) -> None:
    digest = fake.image(FITS)
    config = json.loads(fake.stored[digest])["config"]["digest"]
    fake.instead[f"/blobs/{config}"] = _is_elsewhere(fake, config)
    assert checked(fake.named(digest)).state is State.FINE
    assert fake.asked[-1] == f"/store/{config}"


def test_secrets_stay_with_the_registry(tmp_path: Path) -> None:
    with registry("basic") as fake, registry() as store:
        digest = fake.image(FITS)
        config = json.loads(fake.stored[digest])["config"]["digest"]
        store.stored[config] = fake.stored[config]
        fake.instead[f"/blobs/{config}"] = _is_elsewhere(store, config)
        entry = {"username": USER, "password": PASSWORD}
        environ = docker_config(tmp_path, {"auths": {entry_of(fake): entry}})
        assert checked(fake.named(digest), environ).state is State.FINE
        assert store.authorizations == [None]


PAGE = Reply(
    200, b"<html><title>Sign in to the guests' network</title></html>", {"Content-Type": "text/html"}
)
UNKNOWN = b'{"errors": [{"code": "NAME_UNKNOWN"}]}'


@pytest.mark.parametrize(
    ("reply", "state", "words"),
    [
        (Reply(401, b"{}"), State.UNTOLD, "does not show team/read to everybody (401)"),
        (Reply(401, b"{}", {"WWW-Authenticate": "Negotiate"}), State.UNTOLD, "(401)"),
        (Reply(401, b"{}", {"WWW-Authenticate": "Bearer"}), State.UNTOLD, "(401)"),
        (Reply(403, b"{}"), State.UNTOLD, "(403)"),
        (Reply(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}'), State.WRONG, "has no such image"),
        (Reply(404, UNKNOWN), State.UNTOLD, "(404)"),
        (Reply(404, b"<html>not found</html>"), State.UNTOLD, "is no registry"),
        (Reply(429, b"{}", {"Retry-After": "3600"}), State.UNTOLD, "too often (429)"),
        (Reply(500, b"oops"), State.UNTOLD, "answers 500"),
        (Reply(204, b""), State.UNTOLD, "answers 204"),
        (PAGE, State.UNTOLD, "not what the digest says"),
        (Reply(200, b"{}" + b" " * MOST), State.UNTOLD, "more than 4096 KiB"),
        (Reply(200, b"[" * 100_000), State.UNTOLD, "not what the digest says"),
        (Reply(302, b"", {"Location": "/v2/team/read/manifests/on"}), State.UNTOLD, "(404)"),
        (Reply(302, b"", {"Location": "https://169.254.169.254/latest"}), State.UNTOLD, "is not asked"),
        (Reply(302, b"", {"Location": "http://192.0.2.1/"}), State.UNTOLD, "without encryption"),
        (Reply(302, b"", {"Location": "file:///etc/passwd"}), State.UNTOLD, "without encryption"),
        (Reply(302, b"", {"Location": "http://127.0.0.1:99999/"}), State.UNTOLD, "without encryption"),
    ],
)
def test_an_answer_that_is_no_manifest(fake: FakeRegistry, reply: Reply, state: State, words: str) -> None:
    digest = fake.image(FITS)
    fake.instead[f"/manifests/{digest}"] = reply
    if reply.headers.get("Location", "").endswith("/on"):
        fake.instead["/manifests/on"] = Reply(404, UNKNOWN)
    verdict = checked(fake.named(digest))
    assert verdict.state is state
    assert words in verdict.said
    assert verdict.remedy


def test_an_address_that_sends_to_itself_comes_to_an_end(fake: FakeRegistry) -> None:
    digest = fake.image(FITS)
    fake.instead[f"/manifests/{digest}"] = Reply(302, b"", {"Location": f"/v2/team/read/manifests/{digest}"})
    assert "without end" in checked(fake.named(digest)).said
    assert len(fake.asked) == 4


def test_a_slow_answer_is_not_waited_for(fake: FakeRegistry) -> None:
    digest = fake.image(FITS)
    fake.instead[f"/manifests/{digest}"] = Reply(200, b" " * 1000, drip=True)
    verdict = checked(fake.named(digest), seconds=0.3)
    assert (verdict.state, "longer than 0.3 seconds" in verdict.said) == (State.UNTOLD, True)


def test_a_registry_that_does_not_answer_is_not_asked_again(fake: FakeRegistry) -> None:
    fetch = Registries({}, seconds=0.3)
    slow, other = fake.image(FITS), fake.image({})
    fake.instead[f"/manifests/{slow}"] = Reply(200, b" " * 1000, drip=True)
    for digest in (slow, other):
        assert check_image(fake.named(digest), injected=True, fetch=fetch).state is State.UNTOLD
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    "manifest",
    [
        {"schemaVersion": 1, "fsLayers": []},
        {"config": "sha256:nonsense"},
        {"config": {"digest": "sha256:../../../secrets"}},
        {"config": {"digest": 7}},
    ],
)
def test_a_manifest_of_another_kind_is_strange(fake: FakeRegistry, manifest: Mapping[str, object]) -> None:
    verdict = checked(fake.named(fake.put(manifest)))
    assert (verdict.state, "strange" in verdict.said) == (State.UNTOLD, True)


@pytest.mark.parametrize("manifests", ["none", [], [1, {}, {"platform": {"os": 1}}]])
def test_an_index_without_platforms_is_for_none(fake: FakeRegistry, manifests: object) -> None:
    verdict = checked(fake.named(fake.put({"manifests": manifests})))
    assert (verdict.state, "but for none" in verdict.said) == (State.WRONG, True)


def test_an_index_without_our_platform_is_for_another(fake: FakeRegistry) -> None:
    index = fake.index({"arm64": fake.image(FITS, machine="arm64")})
    verdict = checked(fake.named(index))
    assert (verdict.state, verdict.said) == (State.WRONG, "it is not for linux/amd64, but for linux/arm64")


@pytest.mark.parametrize(
    ("labels", "words"), [({}, "no runner in it"), ({"io.allotment.runner": "0"}, "contract '0'")]
)
def test_an_image_without_a_runner_that_we_know(
    fake: FakeRegistry, labels: Mapping[str, str], words: str
) -> None:
    verdict = checked(fake.named(fake.image(labels)))
    assert (verdict.state, words in verdict.said) == (State.WRONG, True)


@pytest.mark.parametrize("config", [{"config": None}, {"config": {"Labels": [], "Env": "A=1"}}])
def test_a_configuration_of_other_types_says_nothing(
    fake: FakeRegistry, config: Mapping[str, object]
) -> None:
    entry = {"digest": fake.put({"os": "linux", "architecture": "amd64", **config})}
    assert "no runner in it" in checked(fake.named(fake.put({"config": entry}))).said


def test_a_registry_in_the_open_sends_nobody_into_a_private_network() -> None:
    addresses = {"registry.example.org": ("93.184.216.34",), "store.example.org": ("10.0.0.7",)}
    from allotment.kubernetes.images.asking import Asking, Question, UnaskedError
    from allotment.kubernetes.images.reference import reference_of

    home = reference_of("registry.example.org/a@sha256:" + "0" * 64)
    asking = Asking(home, lambda host, _port: addresses[host], 0.1)
    with pytest.raises(UnaskedError, match=r"store\.example\.org is at an address that is not asked"):
        asking.ask(Question("https://store.example.org/blob"))


def test_nobody_at_the_address_is_said_so() -> None:
    with registry() as fake:
        gone = fake.named(fake.image(FITS))
    assert "127.0.0.1 does not answer" in checked(gone).said
