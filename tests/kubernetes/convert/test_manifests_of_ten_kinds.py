"""Ten manifests of kinds that people have: explained as stored, valid to the letter, and converted once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

from allotment.kubernetes.convert import Asked, Converted, convert, hunks
from tests.kubernetes.convert.converted_manifests import MANIFESTS, NAMES, golden, said

CLAIMS = Asked((1, 36))
NOT_OF_KUBERNETES = {"RayJob"}


def _converted(name: str) -> Converted:
    return convert((MANIFESTS / name).read_text(encoding="utf-8"), name, CLAIMS)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for document in yaml.safe_load_all(text):
        yield from document["items"] if document["kind"] == "List" else [document]


@pytest.mark.parametrize("name", NAMES)
def test_each_line_is_explained_as_stored(name: str) -> None:
    code, text = said(name)
    assert text == golden(name).read_text(encoding="utf-8"), (
        "python -m tests.kubernetes.convert.converted_manifests writes what is new"
    )
    assert code == (1 if "left alone:" in text else 0)


@pytest.mark.parametrize("name", NAMES)
def test_every_changed_line_has_a_reason(name: str) -> None:
    assert all(change.reasons for change in _converted(name).changes if change.sign != " ")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_made_is_valid(name: str) -> None:
    for each in _objects(_converted(name).text):
        if each["kind"] not in NOT_OF_KUBERNETES:
            kubernetes_validate.validate(each, "1.36", strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_converting_what_was_converted_changes_nothing(name: str) -> None:
    once = _converted(name)
    twice = convert(once.text, name, CLAIMS)
    assert twice.text == once.text
    assert not twice.is_changed


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_about_gpus_is_as_it_was(name: str) -> None:
    before = [_without_gpus(each) for each in _objects((MANIFESTS / name).read_text(encoding="utf-8"))]
    after = [
        _without_gpus(each)
        for each in _objects(_converted(name).text)
        if each["kind"] != "ResourceClaimTemplate"
    ]
    assert after == before


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_of_the_diff_are_those_of_both_texts(name: str) -> None:
    done = _converted(name)
    before = (MANIFESTS / name).read_text(encoding="utf-8")
    assert "".join(each.text for each in done.changes if each.sign != "+") == before
    assert "".join(each.text for each in done.changes if each.sign != "-") == done.text
    old, new = before.split("\n"), done.text.split("\n")
    for hunk in hunks(done.changes):
        kept = [each.text.rstrip("\n") for each in hunk.changes if each.sign != "+"]
        made = [each.text.rstrip("\n") for each in hunk.changes if each.sign != "-"]
        assert old[hunk.old_start - 1 : hunk.old_start - 1 + hunk.old_count] == kept
        assert new[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_count] == made


@pytest.mark.parametrize("name", NAMES)
def test_counts_that_are_honoured_as_they_are_stay_byte_for_byte(name: str) -> None:
    text = (MANIFESTS / name).read_text(encoding="utf-8")
    assert convert(text, name, Asked((1, 37), as_claims=False)).text == text


def _without_gpus(value: Any) -> Any:
    """A value without what counts, claims or selects cards, and without what would be left empty."""
    if isinstance(value, dict):
        kept = {
            key: _without_gpus(each)
            for key, each in value.items()
            if "gpu" not in key and "mig-" not in key and key not in {"claims", "resourceClaims"}
        }
        return {key: each for key, each in kept.items() if each not in ({}, [])}
    if isinstance(value, list):
        found = [_without_gpus(each) for each in value if not _is_about_cards(each)]
        return [each for each in found if each not in ({}, [])]
    return value


def _is_about_cards(value: Any) -> bool:
    return isinstance(value, dict) and "nvidia.com/gpu" in str(value.get("key")) and "values" in value
