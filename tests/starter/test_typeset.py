"""Pages set from text: the same for the same seed, and fit to be scans."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from allotment.starter.typeset import HEIGHT, WIDTH, typeset

TEXT = "Å, ä och ö\n\n" + "ord " * 30


def test_the_same_text_and_seed_give_the_same_bytes() -> None:
    assert typeset(TEXT, 7) == typeset(TEXT, 7)


@pytest.mark.parametrize(("text", "seed"), [(TEXT, 8), (TEXT + "mera", 7)])
def test_another_text_or_seed_gives_another_page(text: str, seed: int) -> None:
    assert typeset(text, seed) != typeset(TEXT, 7)


def test_a_page_is_grey_ink_on_grey_paper() -> None:
    page = Image.open(io.BytesIO(typeset(TEXT, 7)))
    assert (page.mode, page.size) == ("L", (WIDTH, HEIGHT))
    assert len([count for count in page.histogram() if count]) <= 16
    shades = page.histogram()
    assert sum(shades[:96]) > 2000
    assert sum(shades[200:]) > WIDTH * HEIGHT * 0.9


def test_a_text_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="too long for one page"):
        typeset("ord " * 500, 1)
