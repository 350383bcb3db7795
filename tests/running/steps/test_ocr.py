"""The step `ocr` on typeset pages: what is read, where it stands, and that it is always the same."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from allotment.running.page import Page, PageRefused
from allotment.running.steps import Step, StepContext, StepSettingsError
from allotment.running.steps.ocr import Settings, create, read_settings
from allotment.starter.recall import recall
from allotment.starter.typeset import typeset
from tests.running.ocr.alto_rules import checked_alto, strings

TEXT = """Åre, en lördag i maj

Vår båt låg öppen för östanvinden, och sjön gick hög. Ändå rodde gubben Öberg ut efter näten.

Two hundred herring and one very small pike; nobody sang on the way home."""


def page(data: bytes, number: int = 1) -> Page:
    return Page("volume", number, f"{number:04d}", "p1.png", data, "image/png")


@pytest.fixture(scope="module")
def ocr() -> Iterator[Step]:
    """The step, made and used where nothing can be fetched."""

    def refuse(*_: object) -> None:
        raise AssertionError("the step reached for the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield create({"language": "sv"}, StepContext(threads=1))


@pytest.fixture(scope="module")
def typeset_page() -> bytes:
    return typeset(TEXT, seed=5)


@pytest.fixture(scope="module")
def outputs(ocr: Step, typeset_page: bytes) -> dict[str, bytes]:
    return dict(ocr(page(typeset_page), {}))


def test_a_typeset_page_is_read_with_its_dots_and_rings(outputs: dict[str, bytes]) -> None:
    read = outputs["txt"].decode()
    assert recall(TEXT, read).share >= 0.97
    assert "Öberg" in read
    assert "Åre, en lördag i maj" in read


def test_the_paragraphs_are_blocks_in_reading_order(outputs: dict[str, bytes]) -> None:
    blocks = outputs["txt"].decode().split("\n\n")
    assert [block.split()[0] for block in blocks] == ["Åre,", "Vår", "Two"]


def test_the_outputs_are_named_and_agree(outputs: dict[str, bytes]) -> None:
    assert sorted(outputs) == ["alto.xml", "txt", "words.json"]
    root = checked_alto(outputs["alto.xml"])
    content = json.loads(outputs["words.json"])
    words = [word["text"] for line in content["lines"] for word in line["words"]]
    assert strings(root) == words == outputs["txt"].decode().split()
    assert content["language"] == "sv"


def test_words_stand_where_their_ink_is(outputs: dict[str, bytes], typeset_page: bytes) -> None:
    grey = Image.open(io.BytesIO(typeset_page))
    content = json.loads(outputs["words.json"])
    words = [word for line in content["lines"] for word in line["words"]]
    assert len(words) > 30
    for word in words:
        left, top, width, height = word["box"]
        assert darkest(grey.crop((left, top, left + width, top + height))) < 90, word
        letters = len(word["text"])
        assert letters * 5 < width < letters * 26 + 16, word
    ink = grey.point([255 if value < 90 else 0 for value in range(256)])
    for word in words:
        left, top, width, height = word["box"]
        ink.paste(0, (left - 8, top - 2, left + width + 8, top + height + 2))
    assert ink.histogram()[255] < 200  # what is left are specks


def darkest(grey: Image.Image) -> int:
    return next(value for value, count in enumerate(grey.histogram()) if count)


def test_the_same_page_gives_the_same_bytes_whatever_was_read_before(
    ocr: Step, typeset_page: bytes, outputs: dict[str, bytes]
) -> None:
    ocr(page(typeset("Something else", seed=1)), {})
    assert ocr(page(typeset_page), {}) == outputs


def test_more_threads_give_the_same_bytes(typeset_page: bytes, outputs: dict[str, bytes]) -> None:
    two = create({"language": "sv"}, StepContext(threads=2))
    assert two(page(typeset_page), {}) == outputs


def test_a_blank_page_has_empty_outputs(ocr: Step) -> None:
    blank = ocr(page(picture(Image.new("L", (500, 700), 230))), {})
    assert blank["txt"] == b""
    assert strings(checked_alto(blank["alto.xml"])) == []
    assert json.loads(blank["words.json"])["lines"] == []


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (31, 31)])
def test_pages_of_odd_sizes_are_read_as_empty(ocr: Step, size: tuple[int, int]) -> None:
    assert ocr(page(picture(Image.new("L", size, 255))), {})["txt"] == b""


def test_small_writing_on_a_large_scan_is_read_at_its_full_size(ocr: Step, typeset_page: bytes) -> None:
    scan = Image.new("L", (3600, 2700), 224)
    scan.paste(Image.open(io.BytesIO(typeset_page)), (1800, 1200))
    read = ocr(page(picture(scan)), {})
    assert recall(TEXT, read["txt"].decode()).share >= 0.9
    boxes = [line["box"] for line in json.loads(read["words.json"])["lines"]]
    assert all(left >= 1800 and top >= 1200 for left, top, _, _ in boxes)


def test_writing_that_stands_on_end_is_read(ocr: Step) -> None:
    straight = Image.open(io.BytesIO(typeset("A line that was written along the margin of a page", seed=3)))
    for turn in (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270):
        read = ocr(page(picture(straight.transpose(turn))), {})["txt"].decode()
        assert "margin" in read, turn


def test_a_single_narrow_figure_stays_upright(ocr: Step) -> None:
    image = Image.open(io.BytesIO(typeset(TEXT, seed=5)))
    face = ImageFont.load_default(34)
    ImageDraw.Draw(image).text((400, 740), "7", font=face, fill=30)
    assert "7" in ocr(page(picture(image)), {})["txt"].decode().split()


@pytest.mark.parametrize("mode", ["1", "RGBA", "CMYK"])
def test_pages_of_other_modes_are_read_too(ocr: Step, typeset_page: bytes, mode: str) -> None:
    form = "JPEG" if mode == "CMYK" else "PNG"
    converted = Image.open(io.BytesIO(typeset_page)).convert(mode)
    file = io.BytesIO()
    converted.save(file, format=form)
    assert recall(TEXT, ocr(page(file.getvalue()), {})["txt"].decode()).share >= 0.9


def test_a_page_that_is_no_image_is_refused(ocr: Step) -> None:
    with pytest.raises(PageRefused, match="not an image"):
        ocr(page(b"Dear sister"), {})


def test_a_page_over_the_limit_is_refused() -> None:
    small = create({}, StepContext(max_pixels=1000))
    with pytest.raises(PageRefused, match="megapixels"):
        small(page(picture(Image.new("L", (100, 100)))), {})


def test_unsure_lines_are_left_out(typeset_page: bytes) -> None:
    strict = create({"min_confidence": 1}, StepContext())
    assert strict(page(typeset_page), {})["txt"] == b""


def picture(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


# ---- settings and libraries --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"languages": "sv"}, "no setting `languages`; did you mean `language`"),
        ({"language": False}, "a language tag such as `sv`.*in quotes if it is `no`; not False"),
        ({"language": "sv_SE"}, "a language tag"),
        ({"min_confidence": 2}, "from 0 to 1, not 2"),
        ({"min_confidence": True}, "from 0 to 1, not True"),
        ({"min_confidence": float("nan")}, "from 0 to 1, not nan"),
        ({"max_side": 100}, "from 320 to 10,000, not 100"),
        ({"max_side": 999.5}, "a whole number of pixels"),
        ({"max_side": float("inf")}, "a whole number of pixels"),
        ({"max_side": "big"}, "a whole number of pixels"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_words(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(StepSettingsError, match=words):
        create(settings, StepContext())


def test_settings_have_defaults() -> None:
    assert read_settings({}) == Settings(language=None, min_confidence=0.5, max_side=2000)
    assert read_settings({"min_confidence": 0, "max_side": 1000.0}) == Settings(None, 0.0, 1000)


def test_missing_libraries_are_named_with_the_way_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(StepSettingsError, match=r"pip install 'allotment\[ocr\] @ git\+https:"):
        create({}, StepContext())


def test_importing_the_step_imports_none_of_its_libraries() -> None:
    code = (
        "import sys, allotment.running.steps.ocr as step;"
        "print([name for name in ('rapidocr', 'onnxruntime', 'cv2', 'numpy', 'PIL') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
