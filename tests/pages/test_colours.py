"""The colours of pages: text can be read, and seats can be told apart, in light and dark and by everybody."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from arena.games.samurai.show.drawing import SamuraiDrawing
from arena.pages import game_page, plots
from arena.pages.parts import viewer_style
from arena.pages.seat import style as play_style
from arena.pages.site.figures import SHADES

FOLDER = Path(game_page.__file__).parent / "viewer"
VIEWER = viewer_style()
SAMURAI = SamuraiDrawing.style
SITE = (FOLDER.parent / "site" / "site.css").read_text(encoding="utf-8")
WATCH = (FOLDER.parent / "live" / "pages" / "watch.css").read_text(encoding="utf-8")
AUTHORS = (FOLDER.parent / "web" / "me.css").read_text(encoding="utf-8")

LIGHT, DARK = 0, 1
# Machado, Oliveira, Fernandes 2009, severity 1: linear RGB as people see it who lack one kind of cones.
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
"""From linear RGB to CIE XYZ."""


def colours(css: str, theme: int) -> dict[str, str]:
    """The custom properties of a style sheet, in light or dark."""
    found = {}
    for name, value in re.findall(r"--([\w-]+):(light-dark\([^)]*\)|#\w+)", css):
        both = re.findall(r"#\w{6}\b", value)
        assert both, f"--{name}: {value}"
        found[name] = both[theme] if len(both) > 1 else both[0]
    return found


def linear(colour: str) -> np.ndarray:
    srgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2: 1 to 21."""
    light, dark = sorted((float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, sight: np.ndarray) -> np.ndarray:
    seen = np.clip(sight @ linear(colour), 0, 1)
    xyz = XYZ @ seen
    f = xyz / [0.95047, 1.0, 1.08883]
    f = np.where(f > (6 / 29) ** 3, np.cbrt(f), f / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measures_are_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert lab("#ff0000", SIGHTS["normal"]) == pytest.approx([53.24, 80.09, 67.20], abs=0.1)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(theme: int) -> None:
    found = colours(VIEWER, theme)
    for ground in ("paper", "card", "soft"):
        assert contrast(found["ink"], found[ground]) >= 7, ground
        assert contrast(found["faint"], found[ground]) >= 4.5, ground
    for word in ("link", "bad", "good", "gain"):
        for ground in ("paper", "card"):
            assert contrast(found[word], found[ground]) >= 4.5, (word, ground)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_numbers_and_names_on_the_map_can_be_read(theme: int) -> None:
    ink, ground = colours(VIEWER, theme)["ink"], colours(SAMURAI, theme)
    for kind in ("sea", "land", "village", "city", "edo"):
        assert contrast(ink, ground[kind]) >= 4.5, kind
    assert contrast(ground["piece-ink"], ground["piece"]) >= 7


@pytest.mark.parametrize("seat", range(5))
def test_what_stands_on_a_seats_colour_can_be_read(seat: int) -> None:
    found = colours(VIEWER, LIGHT)
    assert contrast(found[f"s{seat}"], found[f"i{seat}"]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_each_seats_mark_stands_out_from_its_ground(theme: int) -> None:
    """By its colour or by its outline."""
    found = colours(VIEWER, theme)
    for seat in range(5):
        assert max(contrast(found[line], found["card"]) for line in (f"s{seat}", "outline")) >= 3


@pytest.mark.parametrize("sight", SIGHTS)
def test_seats_can_be_told_apart(sight: str) -> None:
    found = colours(VIEWER, LIGHT)
    seen = [lab(found[f"s{seat}"], SIGHTS[sight]) for seat in range(5)]
    nearest = min(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen, 2))
    assert nearest >= 28


@pytest.mark.parametrize("name", ["samurai", "gardener"])
def test_classes_of_a_drawing_never_meet_those_of_the_page(name: str) -> None:
    folder = Path(game_page.__file__).parents[1] / "games" / name / "show"
    own = {"new", "gain", "mark", "said", "gained", "score", "may", "spot"}
    for source in folder.glob("*.py"):
        text = source.read_text(encoding="utf-8")
        if source.name not in ("drawing.py", "shapes.py"):
            continue
        for classes in re.findall(r'class_?="([^"{]*)"', text):
            assert all(word.startswith("d-") or word in own for word in classes.split()), (source.name, classes)
        for word in re.findall(r"^[^\"']*?\.(d-[\w-]+|[a-z][\w-]*)\{", text, re.MULTILINE):
            assert word.startswith("d-"), (source.name, word)
    shared = set(re.findall(r"\.([a-z][\w-]*)", VIEWER))
    assert not any(word.startswith("d-") for word in shared)


@pytest.mark.parametrize(
    "sheet",
    [VIEWER, play_style(SAMURAI), VIEWER + WATCH, VIEWER + SITE + AUTHORS],
    ids=["viewer", "play", "live", "authors"],
)
def test_every_colour_that_a_page_uses_has_a_value(sheet: str) -> None:
    used, defined = (set(re.findall(pattern, sheet)) for pattern in (r"var\((--[\w-]+)\)", r"(--[\w-]+):"))
    assert used
    assert not used - defined


def test_colours_of_a_drawing_never_replace_those_of_the_page() -> None:
    assert not {*colours(VIEWER, LIGHT)} & {*colours(SAMURAI, LIGHT)}


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_numbers_on_every_shade_of_the_heat_map_can_be_read(theme: int) -> None:
    shades = re.findall(r"\.h(\d+)\{background:light-dark\((.*?),(.*?)\);color:light-dark\((.*?),(.*?)\)\}", SITE)
    assert [int(shade[0]) for shade in shades] == list(range(SHADES + 1))
    for number, *colours_of in shades:
        assert contrast(colours_of[theme], colours_of[2 + theme]) >= 4.5, number


def test_names_beside_lines_can_be_read() -> None:
    for light, dark in plots.DARK.items():
        if light != plots.LINE:
            assert contrast(light, "#ffffff") >= 4.5, light
            assert contrast(dark, "#1f2229") >= 4.5, dark
    assert len({*plots.DARK.values()}) == len(plots.DARK) == len(plots.COLOURS) + 4
