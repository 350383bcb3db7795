"""A campaign's file becomes a value; plain lists of volumes are read in bulk, with the same outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allotment.errors import FindingsError, Severity
from allotment.platform.model import Defaults, Lane, Platform, Sources
from allotment.repository import Loaded, load_repository
from allotment.repository.model import (
    Campaign,
    FolderSource,
    ImagesSource,
    ManifestSource,
    ReferenceSource,
    Volume,
    Window,
)
from allotment.repository.volume_list import VolumeList

HEAD = "pipeline: read\nvolumes:\n"
ONE = HEAD + "  - {id: a, folder: scans/a}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("pipelines", "campaigns", "scans/a", "scans/b"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pipelines/read.yaml").write_text("steps: [{step: ocr}]\n")
    return tmp_path


def load(root: Path, text: str, platform: Platform | None = None) -> Loaded:
    (root / "campaigns/books.yaml").write_text(text)
    return load_repository(root, platform or Platform())


def campaign(root: Path, text: str, platform: Platform | None = None) -> Campaign:
    loaded = load(root, text, platform)
    assert loaded.findings == ()
    return loaded.checked().campaigns["books"]


def told(loaded: Loaded) -> list[tuple[str, int, int]]:
    return [(found.rule, found.position.line, found.position.column) for found in loaded.findings]


def test_every_key_and_every_source_is_read(root: Path) -> None:
    text = """
pipeline: read
window: {min: 2, max: 8}
priority: night
suspend: true
pack: 3
volumes:
  - R0001203
  - {id: b, folder: scans/b/}
  - {id: c, manifest: "https://iiif.example.org/c/manifest.json?a=1&b=2"}
  - {id: d, images: ["https://iiif.example.org/1.jpg", "http://IIIF.example.org:8080/2.jpg"]}
"""
    hosts = ("iiif.example.org", "http://iiif.example.org:8080")
    sources = Sources("https://iiif.example.org/{ref}/manifest", hosts)
    platform = Platform(lanes={"day": Lane(), "night": Lane(-5)}, sources=sources)
    books = campaign(root, text, platform)
    assert books == Campaign(
        name="books",
        pipeline="read",
        volumes=(
            Volume("R0001203", ReferenceSource("R0001203", "https://iiif.example.org/{ref}/manifest")),
            Volume("b", FolderSource("scans/b/")),
            Volume("c", ManifestSource("https://iiif.example.org/c/manifest.json?a=1&b=2")),
            Volume(
                "d", ImagesSource(("https://iiif.example.org/1.jpg", "http://IIIF.example.org:8080/2.jpg"))
            ),
        ),
        window=Window(2, 8),
        priority="night",
        suspend=True,
        pack=3,
        path=root / "campaigns/books.yaml",
    )
    assert isinstance(books.volumes[0].source, ReferenceSource)
    assert books.volumes[0].source.address == "https://iiif.example.org/R0001203/manifest"
    assert str(books.position("volumes", 1, "folder")).endswith("books.yaml:9:21")


def test_what_is_left_out_is_as_the_platform_says(root: Path) -> None:
    books = campaign(root, ONE, Platform(defaults=Defaults(window=5), lanes={"day": Lane(), "night": Lane()}))
    assert (books.window, books.priority, books.suspend, books.pack) == (Window(1, 5), "day", False, 1)


@pytest.mark.parametrize(
    ("written", "window"),
    [("8", Window(1, 8)), ("{max: 3}", Window(1, 3)), ("{min: 2, max: 2}", Window(2, 2))],
)
def test_forms_of_a_window(root: Path, written: str, window: Window) -> None:
    assert campaign(root, f"window: {written}\n{ONE}").window == window


def test_an_empty_priority_is_the_default_lane(root: Path) -> None:
    assert campaign(root, f'priority: ""\n{ONE}').priority == "bulk"


def test_a_template_without_a_scheme_makes_bare_ids_folders(root: Path) -> None:
    books = campaign(root, HEAD + "  - a\n  - b\n", Platform(sources=Sources("scans/{ref}")))
    assert books.volumes == (Volume("a", FolderSource("scans/a")), Volume("b", FolderSource("scans/b")))


def test_bare_ids_without_a_template_are_told_once(root: Path) -> None:
    (finding,) = load(root, HEAD + "".join(f"  - R{n}\n" for n in range(1000))).findings
    assert finding.rule == "no-template"
    assert finding.message.startswith("`R0`, `R1`, `R2` and 997 more: a bare id needs")


def test_hosts_that_the_platform_does_not_name_are_told_once_each(root: Path) -> None:
    text = HEAD + "".join(f"  - {{id: v{n}, manifest: https://{'ab'[n % 2]}.se/{n}}}\n" for n in range(10))
    loaded = load(root, text, Platform(sources=Sources(hosts=("a.se",))))
    (finding,) = loaded.findings
    assert finding.rule == "host-not-allowed"
    assert "`b.se` (5 volumes name it)" in finding.message


def test_all_findings_of_a_file_are_told_at_once(root: Path) -> None:
    text = """\
piplines: read
window: 0
priority: bluk
volumes:
  - 0012
  - {id: a, folder: ../x}
  - {id: a, foldr: scans/a}
  - {id: b, folder: scans/none}
"""
    assert told(load(root, text)) == [
        ("missing-key", 1, 1),
        ("unknown-key", 1, 1),
        ("out-of-range", 2, 9),
        ("unknown-lane", 3, 11),
        ("yaml-trap", 5, 5),
        ("folder-escapes", 6, 21),
        ("duplicate-volume", 7, 10),
        ("unknown-key", 7, 13),
        ("missing-folder", 8, 21),
    ]


def test_both_places_of_a_volume_that_is_there_twice_are_told(root: Path) -> None:
    (finding,) = load(root, ONE + "  - {id: a, folder: scans/b}\n").findings
    assert finding.message == "the volume `a` is on line 3 already (`volumes[0].id`)"
    assert finding.position.line == 4


def test_an_address_written_as_a_bare_id_is_told_how_to_write_it(root: Path) -> None:
    (finding,) = load(root, HEAD + "  - https://h.se/m.json\n").findings
    assert finding.hint == "write {id: NAME, manifest: https://h.se/m.json}"


def test_a_password_in_an_address_is_never_repeated(root: Path) -> None:
    first = '  - {id: a, manifest: "https://me:hush@h.se:99999/m"}\n'
    findings = load(root, HEAD + first + '  - {id: b, images: ["https://me:hush@h .se"]}\n').findings
    assert len(findings) == 2
    assert not any("hush" in str(finding) for finding in findings)


@pytest.mark.parametrize(
    "address",
    [
        "https://h.se:99999/",
        "https:///x",
        "https://h.se\\@evil.org/",
        "https://[::1/",
        "https://-a.se/",
        "h.se/x",
    ],
)
def test_unusual_addresses_are_refused(root: Path, address: str) -> None:
    text = HEAD + f"  - {{id: a, manifest: '{address}'}}\n"
    (finding,) = load(root, text, Platform(sources=Sources(hosts=("h.se", "evil.org")))).findings
    assert finding.rule == "bad-address"


def test_missing_folders_are_warnings_and_told_once_when_they_are_many(root: Path) -> None:
    few = load(root, HEAD + "".join(f"  - {{id: v{n}, folder: scans/v{n}}}\n" for n in range(3)))
    assert [(found.rule, found.severity) for found in few.findings] == [
        ("missing-folder", Severity.WARNING)
    ] * 3
    assert "books" in few.repository.campaigns
    many = load(root, HEAD + "".join(f"  - {{id: v{n}, folder: scans/v{n}}}\n" for n in range(500)))
    (finding,) = many.findings
    assert finding.message == "500 of 500 folders are not here, the first of them `scans/v0`"


def test_links_are_followed_as_long_as_they_stay_inside(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "a").mkdir()
    (root / "scans/inside").symlink_to(root / "scans/a")
    (root / "scans/dangling").symlink_to(root / "scans/none")
    (root / "scans/loop").symlink_to(root / "scans/loop")
    (root / "scans/out").symlink_to(outside)
    entries = {"1": "inside", "2": "dangling", "3": "loop", "4": "out", "5": "out/a", "6": "out/none"}
    for extra in (0, 100):  # with very many folders the disk is asked in another way
        lines = [f"  - {{id: x{name}, folder: scans/{folder}}}\n" for name, folder in entries.items()]
        for number in range(extra):
            (root / f"scans/v{number}").mkdir()
            lines.append(f"  - {{id: v{number}, folder: scans/v{number}}}\n")
        assert [(rule, line - 2) for rule, line, _ in told(load(root, HEAD + "".join(lines)))] == [
            ("missing-folder", 2),
            ("missing-folder", 3),
            ("folder-escapes", 4),
            ("folder-escapes", 5),
            ("folder-escapes", 6),
        ]


def test_a_campaign_of_a_broken_pipeline_has_no_finding_of_its_own_and_is_not_there(root: Path) -> None:
    (root / "pipelines/read.yaml").write_text("steps: []\n")
    loaded = load(root, ONE)
    assert [rule for rule, _, _ in told(loaded)] == ["empty-list"]
    assert loaded.repository.campaigns == {}
    assert {path.name for path in loaded.repository.broken} == {"read.yaml", "books.yaml"}
    with pytest.raises(FindingsError):
        loaded.checked()


def test_a_pipeline_in_a_misnamed_file_is_not_called_unknown(root: Path) -> None:
    (root / "pipelines/read.yaml").rename(root / "pipelines/read.yml")
    assert [rule for rule, _, _ in told(load(root, ONE))] == ["wrong-extension"]


def test_what_a_broken_platform_would_have_named_is_not_held_against_a_campaign(root: Path) -> None:
    platform = Platform(unread=frozenset({"lanes", "sources"}))
    text = "priority: night\n" + HEAD + "  - R1\n  - {id: a, manifest: https://h.se/m}\n"
    assert load(root, text, platform).findings == ()


def test_of_very_many_faults_of_one_kind_a_thousand_are_told_and_that_there_are_more(root: Path) -> None:
    findings = load(root, "pack: 0\n" + HEAD + "".join(f"  - {n}\n" for n in range(20_000))).findings
    assert [finding.rule for finding in findings] == ["out-of-range"] + ["yaml-trap"] * 1001
    assert findings[-1].message.startswith("there are more than 1,000 findings of this kind")
    assert findings[-1].position.line == 1004


@pytest.mark.parametrize(
    ("entry", "rule", "words"),
    [
        pytest.param(
            "{{id: v{0}, folder: scans/a, pages: 3}}", "unknown-key", "`estimate: {pages: 120}`", id="pages"
        ),
        pytest.param("{{id: v{0}}}", "one-of", "add `folder`, `manifest` or `images`", id="no source"),
        pytest.param("{{id: [v{0}], folder: scans/a}}", "wrong-type", "write text", id="names its number"),
    ],
)
def test_what_many_volumes_have_in_common_is_told_at_three_and_counted(
    entry: str, rule: str, words: str, root: Path
) -> None:
    for count in (3, 4, 5_000):
        text = HEAD + "".join(f"  - {entry.format(number)}\n" for number in range(count))
        findings = load(root, text).findings
        assert [each.rule for each in findings] == [rule] * 3
        assert words in findings[0].hint
        more = f"; so it is at {count - 3:,} more volumes"
        assert [each.message.endswith(more) for each in findings] == [False, False, count > 3]


def test_what_differs_between_volumes_is_told_at_each(root: Path) -> None:
    entries = "".join(f"  - {{id: v{number}, folder: scans/a, key{number}: 1}}\n" for number in range(5))
    assert len(load(root, HEAD + entries).findings) == 5


IDS = st.one_of(
    st.text("abR01-._", min_size=1, max_size=4),
    st.sampled_from(["cache", "events", "0012", "no", "1:20", "a" * 63, "a" * 64, "a\nb", "", "å"]),
)
FOLDERS = st.sampled_from(
    ["scans/a", "scans/b", "scans/å", "scans", "..", "/etc", "scans/../a", "scans//a", "a b", ""]
)
ENTRIES = st.one_of(
    st.lists(IDS, min_size=1, max_size=5),
    st.lists(st.fixed_dictionaries({"id": IDS, "folder": FOLDERS}), min_size=1, max_size=5),
    st.lists(
        st.one_of(IDS, st.fixed_dictionaries({"id": IDS}, optional={"folder": FOLDERS, "x": IDS})),
        min_size=1,
        max_size=5,
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ENTRIES, st.sampled_from([None, "scans/{ref}", "https://h.se/{ref}"]))
def test_reading_in_bulk_and_entry_by_entry_agree(
    root: Path, entries: list[Any], template: str | None
) -> None:
    text = yaml.safe_dump({"pipeline": "read", "volumes": entries}, allow_unicode=True)
    platform = Platform(sources=Sources(template))
    bulk = load(root, text, platform)
    with patch.object(VolumeList, "_plain", return_value=None):
        careful = load(root, text, platform)
    assert bulk.findings == careful.findings
    assert bulk.repository.campaigns == careful.repository.campaigns
