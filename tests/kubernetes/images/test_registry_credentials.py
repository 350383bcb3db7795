"""Credentials for registries are found where container tools keep them, and nowhere else."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.images.credentials import Credential, credential_for
from allotment.kubernetes.images.reference import Reference

HOST = "registry.example.org"
BOOKS = Reference(HOST, "books/read", "")
AUTH = base64.b64encode(b"reader:hush:hush").decode()
FOUND = Credential("reader", "hush:hush")


def asked(name: str, text: str) -> str:
    if name == "docker-credential-broken":
        raise FileNotFoundError(name)
    return json.dumps({"ServerURL": text, "Username": "helped", "Secret": text})


def test_no_file_is_no_credential(tmp_path: Path) -> None:
    assert credential_for(BOOKS, {}) is None
    assert credential_for(BOOKS, {"HOME": str(tmp_path)}) is None


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"auths": {HOST: {"auth": AUTH}}}, FOUND),
        ({"auths": {f"https://{HOST}": {"auth": AUTH}}}, FOUND),
        ({"auths": {f"https://{HOST}/v2/": {"auth": AUTH}}}, FOUND),
        ({"auths": {f"{HOST}/books": {"auth": AUTH}, HOST: {}}}, FOUND),
        ({"auths": {f"{HOST}/other": {"auth": AUTH}}}, None),
        ({"auths": {f"{HOST}.evil.example": {"auth": AUTH}}}, None),
        ({"auths": {HOST: {"auth": "no base64!"}}}, None),
        ({"auths": {HOST: {"auth": base64.b64encode(b"\xff\xfe").decode()}}}, None),
        ({"auths": {HOST: {"identitytoken": "token"}}}, Credential("<token>", "token")),
        ({"auths": [HOST]}, None),
        ({"credHelpers": {HOST: "pass"}}, Credential("helped", HOST)),
        ({"credsStore": "pass"}, Credential("helped", HOST)),
        ({"credsStore": "broken", "auths": {HOST: {"auth": AUTH}}}, FOUND),
        ({"credsStore": "../../bin/sh"}, None),
        ([], None),
    ],
)
def test_what_a_file_says(tmp_path: Path, said: Any, found: Credential | None) -> None:
    (tmp_path / "config.json").write_text(json.dumps(said), encoding="utf-8")
    assert credential_for(BOOKS, {"DOCKER_CONFIG": str(tmp_path)}, asked) == found


@pytest.mark.parametrize("name", ["https://index.docker.io/v1/", "docker.io"])
def test_dockers_own_registry_has_an_old_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"auths": {name: {"auth": AUTH}}}), encoding="utf-8")
    reference = Reference("docker.io", "library/python", "")
    assert credential_for(reference, {"DOCKER_CONFIG": str(tmp_path)}) == FOUND


def test_places_are_looked_at_in_order(tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / "run/containers").mkdir(parents=True)
    places: Mapping[str, str] = {
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
        "REGISTRY_AUTH_FILE": str(tmp_path / "named.json"),
    }
    for name in ("run/containers/auth.json", ".docker/config.json", "named.json"):
        entry = {"username": name, "password": "hush"}
        (tmp_path / name).write_text(json.dumps({"auths": {HOST: entry}}), encoding="utf-8")
        assert credential_for(BOOKS, places) == Credential(name, "hush")


def test_a_file_that_is_no_json_is_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    assert credential_for(BOOKS, {"DOCKER_CONFIG": str(tmp_path)}) is None


def test_a_secret_is_not_in_the_words_of_a_credential() -> None:
    assert "hush" not in repr(FOUND)
