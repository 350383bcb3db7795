"""Colours as they are seen: how far they are apart, and how they stand out from the page."""

from __future__ import annotations

import itertools
import math

import pytest

from allotment.pictures.palette import DARK, LIGHT, MANY, REST, THEMES, Paints, fill, paint, variables

Colour = tuple[float, float, float]
SIGHTS: dict[str, tuple[Colour, Colour, Colour]] = {  # Machado, Oliveira and Fernandes, at full strength
    "any": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour: str) -> Colour:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def oklab(red: float, green: float, blue: float) -> Colour:
    """Björn Ottosson's space, in which distances are about as they are seen."""
    long = max(0.0, 0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = max(0.0, 0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = max(0.0, 0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def seen(colour: str, sight: str) -> Colour:
    parts = linear(colour)
    red, green, blue = (
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, parts, strict=True)))) for row in SIGHTS[sight]
    )
    return oklab(red, green, blue)


@pytest.mark.parametrize("sight", list(SIGHTS))
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_no_two_colours_are_near_to_any_sight(colours: tuple[str, ...], sight: str) -> None:
    for one, other in itertools.combinations(colours, 2):
        assert math.dist(seen(one, sight), seen(other, sight)) > 0.08, (one, other)


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_colours_stand_out_from_the_page(theme: str, colours: tuple[str, ...]) -> None:
    for colour in (*colours, THEMES[theme]["rest"], THEMES[theme]["accent"], THEMES[theme]["alarm"]):
        assert contrast(colour, THEMES[theme]["surface"]) >= 3, colour


@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize("word", ["ink", "soft", "accent", "alarm", "good"])
@pytest.mark.parametrize("ground", ["page", "surface"])
def test_words_can_be_read(theme: str, word: str, ground: str) -> None:
    assert contrast(THEMES[theme][word], THEMES[theme][ground]) >= 4.5


def test_both_themes_have_the_same_names() -> None:
    light, dark = ({each.split(":")[0] for each in variables(theme).split(";")} for theme in THEMES)
    assert light == dark
    assert len(LIGHT) == len(DARK) == MANY == len(set(LIGHT)) == len(set(DARK))


def test_what_has_no_paint_of_its_own_has_that_of_the_rest() -> None:
    assert [paint(place) for place in (0, MANY - 1, MANY, 99, -1)] == [0, MANY - 1, REST, REST, REST]
    paints = Paints("p", {"a": 0, "b": MANY + 1})
    assert [paints.fill(each) for each in "abc"] == [fill("p", 0), fill("p", REST), fill("p", REST)]
