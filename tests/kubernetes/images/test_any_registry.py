"""Whatever a registry answers, there is a verdict in words and no exception."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.images import ImageVerdict, State, check_image
from allotment.kubernetes.images.registry import Registries
from tests.kubernetes.images.registry_server import FakeRegistry, Reply, registry

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.sampled_from(["linux", "amd64"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
KEYS = ["config", "manifests", "mediaType", "os", "architecture", "platform", "digest", "Labels", "Env"]
NEAR = st.dictionaries(
    st.sampled_from(KEYS), JSON | st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4), max_size=4
)
HEADER = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)
CHALLENGE = st.builds("{} {}".format, st.sampled_from(["Bearer", "Basic", "bearer", ""]), HEADER) | st.builds(
    'Bearer realm="{}",service={}'.format, HEADER, HEADER
)
LOCATION = st.builds(
    "{}{}".format, st.sampled_from(["", "/", "http://", "https://[", "//", "http://localhost:"]), HEADER
)


def checked(fake: FakeRegistry, digest: str) -> ImageVerdict:
    verdict = check_image(fake.named(digest), injected=False, fetch=Registries({}, seconds=5))
    assert verdict.said.isprintable()
    assert verdict.remedy or verdict.state is State.FINE
    return verdict


@given(NEAR, NEAR)
@settings(max_examples=60, deadline=None)
def test_any_manifest_and_any_configuration(
    manifest: Mapping[str, object], config: Mapping[str, object]
) -> None:
    with registry() as fake:
        checked(fake, fake.put(manifest))
        checked(fake, fake.put({**manifest, "config": {"digest": fake.put(config)}}))


@given(CHALLENGE, st.binary(max_size=20) | JSON.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=60, deadline=None)
def test_any_challenge_and_any_token(challenge: str, token: bytes) -> None:
    with registry() as fake:
        digest = fake.image({})
        mine = challenge.replace('realm="', f'realm="http://127.0.0.1:{fake.port}/')
        fake.instead["/manifests/" + digest] = Reply(401, b"{}", {"WWW-Authenticate": mine})
        fake.instead[""] = Reply(200, token)
        assert checked(fake, digest).state is State.UNTOLD


@given(LOCATION)
@settings(max_examples=60, deadline=None)
def test_any_redirect(location: str) -> None:
    with registry() as fake:
        digest = fake.image({})
        fake.instead["/manifests/" + digest] = Reply(307, b"", {"Location": location})
        assert checked(fake, digest).state is not State.FINE
