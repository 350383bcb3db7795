"""The line that `checksum` keeps of a page, and that `sha256sum` would write the same."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from allotment.running.steps import Page, StepContext, StepSettingsError
from allotment.running.steps.checksum import create


def page(source: str, data: bytes = b"ink") -> Page:
    return Page(volume="v", number=1, name="0001", source=source, data=data)


def test_a_page_is_its_digest_and_its_source() -> None:
    outputs = create({}, StepContext())(page("p1.png"), {})
    assert outputs == {"txt": f"{hashlib.sha256(b'ink').hexdigest()}  p1.png\n".encode()}


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
@pytest.mark.parametrize("name", ["p1.png", "två ord å.png", "back\\slash.png", "line\nfeed.png", "c\rr.png"])
def test_sha256sum_writes_the_same_line_and_accepts_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"ink")
    line = create({}, StepContext())(page(name), {})["txt"]
    theirs = subprocess.run(["sha256sum", name], cwd=tmp_path, capture_output=True, check=True).stdout
    assert line == theirs
    subprocess.run(
        ["sha256sum", "--check", "--strict"], cwd=tmp_path, input=line, capture_output=True, check=True
    )


def test_a_name_that_is_not_unicode_is_kept_as_it_is() -> None:
    name = b"caf\xe9.png".decode(errors="surrogateescape")
    assert create({}, StepContext())(page(name), {})["txt"].endswith(b"  caf\xe9.png\n")


def test_there_are_no_settings() -> None:
    with pytest.raises(StepSettingsError, match=r"no setting `algorithm`.*leave `settings` out"):
        create({"algorithm": "md5"}, StepContext())
