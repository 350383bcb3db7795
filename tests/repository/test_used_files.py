"""What was used: volumes only grow, recipes stay; every other change is found, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.errors import Finding, Severity
from allotment.repository.before import (
    Before,
    CampaignBefore,
    RecipeBefore,
    change_findings,
    removal_findings,
)
from allotment.repository.model import (
    Campaign,
    FolderSource,
    ImagesSource,
    ManifestSource,
    Pipeline,
    PrefixSource,
    ReferenceSource,
    Repository,
    Source,
    StepCall,
    Volume,
)
from allotment.repository.recipe import recipe_digest

IMAGE = "registry.example.org/read@sha256:" + "0" * 64


def volumes(words: str) -> tuple[Volume, ...]:
    """``a b=x``: volumes by id, with a folder of another name where one is given."""
    pairs = (word.partition("=") for word in words.split())
    return tuple(Volume(name, FolderSource(f"scans/{folder or name}")) for name, _, folder in pairs)


def campaign(words: str, pipeline: str = "read", name: str = "books") -> Campaign:
    return Campaign(name, pipeline, volumes(words), path=Path(f"campaigns/{name}.yaml"))


def before(words: str, pipeline: str = "read") -> Before:
    return Before({"books": CampaignBefore(pipeline, volumes(words), "main at 12ab")})


def found(was: Before, *now: Campaign) -> list[Finding]:
    return list(change_findings(was, Repository(Path(), campaigns={each.name: each for each in now})))


@pytest.mark.parametrize(
    ("was", "now", "rules"),
    [
        ("a b c", "a b c", []),
        ("a b c", "a b c d", ["volumes-appended"]),
        ("a b c", "a b", ["volume-removed"]),
        ("a b c", "b c", ["volume-removed"]),
        ("a b c", "x", ["volume-removed"] * 3),
        ("a b c", "a b=z c", ["volume-changed"]),
        ("a b c", "a=b b=a c", ["volume-changed"] * 2),
        ("a b c", "c a b", ["volume-moved"]),
        ("a b c", "b a c d", ["volume-moved"]),
        ("a b c", "a x b c", ["volume-inserted"]),
        ("a b c", "x y a b c z", ["volume-inserted"] * 2),
        ("a b c", "a b x", ["volume-removed"]),
        ("a b c", "x b c", ["volume-removed", "volume-inserted"]),
        ("a b c d", "d=q x b a", ["volume-removed", "volume-changed", "volume-moved", "volume-moved"]),
    ],
)
def test_the_volumes_of_a_used_campaign_only_grow(was: str, now: str, rules: list[str]) -> None:
    said = [finding.rule for finding in found(before(was), campaign(now))]
    assert [rule for rule in said if rule != "volume-inserted" or "volume-inserted" in rules] == rules


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1)
LISTS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "x"])),
    unique_by=lambda pair: pair[0],
    min_size=1,
).map(lambda pairs: " ".join(f"{name}={folder}" for name, folder in pairs))


@given(LISTS, LISTS)
def test_a_change_is_refused_unless_it_only_appends(was: str, now: str) -> None:
    old, new = volumes(was), volumes(now)
    findings = found(before(was), campaign(now))
    refused = [each for each in findings if each.severity is Severity.ERROR]
    assert bool(refused) == (new[: len(old)] != old)
    assert [each.rule for each in findings if each not in refused] == (
        ["volumes-appended"] if not refused and len(new) > len(old) else []
    )


@given(st.lists(IDS, min_size=2, max_size=2))
def test_each_volume_that_is_gone_is_named(lists: list[list[str]]) -> None:
    was, now = (" ".join(ids) for ids in lists)
    gone = [each.message for each in found(before(was), campaign(now)) if each.rule == "volume-removed"]
    assert [message.split("`")[1] for message in gone] == [each for each in lists[0] if each not in lists[1]]


def test_very_many_faults_of_one_kind_are_counted() -> None:
    many = " ".join(f"v{number}" for number in range(1000))
    findings = found(before(f"a {many}"), campaign("a"))
    assert len(findings) == 20
    assert findings[-1].message.endswith("(and 980 more like it)")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (FolderSource("scans/a"), FolderSource("scans/a/"), True),
        (FolderSource("scans/a"), ReferenceSource("a", "scans/{ref}"), True),
        (ManifestSource("https://x.org/a"), ReferenceSource("a", "https://x.org/{ref}"), True),
        (ManifestSource("https://x.org/a"), FolderSource("https://x.org/a"), False),
        (ManifestSource("https://x.org/a"), ImagesSource(("https://x.org/a",)), False),
        (ImagesSource(("https://x.org/a", "https://x.org/b")), ImagesSource(("https://x.org/a",)), False),
        (PrefixSource("s3://scans/a"), PrefixSource("s3://scans/b"), False),
    ],
)
def test_a_source_is_the_same_however_it_is_written(one: Source, other: Source, *, same: bool) -> None:
    was = Before({"books": CampaignBefore("read", (Volume("a", one),), "main at 12ab")})
    now = Campaign("books", "read", (Volume("a", other),))
    assert [each.rule for each in found(was, now)] == ([] if same else ["volume-changed"])


def test_a_used_campaign_keeps_its_pipeline() -> None:
    (finding,) = found(before("a"), campaign("a", pipeline="other"))
    assert finding.rule == "campaign-pipeline-changed"
    assert "`read` in main at 12ab" in finding.message


STEPS: list[dict[str, Any]] = [{"step": "ocr", "settings": {"size": 2, "deep": {"model": "a"}}}]


def calls(steps: list[dict[str, Any]]) -> tuple[StepCall, ...]:
    return tuple(StepCall(each["step"], each.get("settings", {})) for each in steps)


def recipe_found(was: dict[str, Any], now: dict[str, Any], *, used: bool = True) -> list[Finding]:
    recipe = RecipeBefore(was.get("image"), was.get("prepare"), calls(was["steps"]), "main at 12ab")
    campaigns = {"books": CampaignBefore("read", volumes("a"), "main at 12ab")} if used else {}
    pipeline = Pipeline("read", calls(now["steps"]), image=now.get("image"), prepare=now.get("prepare"))
    return list(change_findings(Before(campaigns, {"read": recipe}), Repository(Path(), {"read": pipeline})))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"steps": STEPS}, None),
        ({"steps": [{"settings": {"deep": {"model": "a"}, "size": 2}, "step": "ocr"}]}, None),
        (
            {"steps": [{"step": "ocr", "settings": {"size": 3, "deep": {"model": "a"}}}]},
            "`steps[0].settings.size` was 2",
        ),
        ({"steps": [{"step": "ocr", "settings": {"size": 2.0, "deep": {"model": "a"}}}]}, "size` was 2,"),
        (
            {"steps": [{"step": "ocr", "settings": {"size": 2, "deep": {"model": "b"}}}]},
            "deep.model` was `a`",
        ),
        (
            {"steps": [{"step": "ocr", "settings": {"size": 2}}]},
            "`steps[0].settings.deep` was something else",
        ),
        ({"steps": [{"step": "checksum", "settings": STEPS[0]["settings"]}]}, "`steps[0].step` was `ocr`"),
        ({"steps": [*STEPS, {"step": "checksum"}]}, "`steps[1]` was not there"),
        ({"steps": STEPS, "image": IMAGE}, "`image` was not there"),
        ({"steps": STEPS, "prepare": StepCall("fetch")}, "`prepare` was not there"),
    ],
)
def test_the_recipe_of_a_used_pipeline_is_frozen(now: dict[str, Any], said: str | None) -> None:
    findings = recipe_found({"steps": STEPS}, now)
    assert [finding.rule for finding in findings] == ([] if said is None else ["recipe-changed"])
    if said is not None:
        assert said in findings[0].message
        assert "campaign `books` used it that way in main at 12ab" in findings[0].message
        assert "read-v2.yaml" in findings[0].hint
    assert recipe_found({"steps": STEPS}, now, used=False) == []


SETTINGS = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, "a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from("xyz"), SETTINGS), st.dictionaries(st.sampled_from("xyz"), SETTINGS))
def test_a_difference_is_found_exactly_when_the_digest_of_the_recipe_differs(
    was: dict[str, Any], now: dict[str, Any]
) -> None:
    old, new = [{"step": "ocr", "settings": was}], [{"step": "ocr", "settings": now}]
    same = recipe_digest(None, None, calls(old)) == recipe_digest(None, None, calls(new))
    assert (recipe_found({"steps": old}, {"steps": new}) == []) == same


@pytest.mark.parametrize(
    ("now", "there", "rules"),
    [
        ([campaign("a b")], {"books"}, []),
        ([], {"books"}, []),
        ([], set(), ["campaign-removed"]),
        ([campaign("a b c", name="other")], {"other"}, ["campaign-renamed"]),
        ([campaign("a c", name="other")], {"other"}, ["campaign-removed"]),
        ([campaign("a b", pipeline="x", name="other")], {"other"}, ["campaign-removed"]),
    ],
)
def test_files_that_are_gone_or_renamed_are_told_of(
    now: list[Campaign], there: set[str], rules: list[str]
) -> None:
    repository = Repository(Path(), campaigns={each.name: each for each in now})
    findings = list(removal_findings(before("a b"), repository, there, lambda name: f"campaigns/{name}.yaml"))
    assert [finding.rule for finding in findings] == rules
    assert all(finding.severity is Severity.WARNING for finding in findings)
