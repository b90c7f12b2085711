"""Text stands out from what it lies on, 4.5 to 1 at least (WCAG 2, AA), in both themes."""

import re
import tomllib

import pytest

from analysis.charts import causes, significance, theme
from pages.shared import first_paint, tables
from tests.pages.visits import ROOT

ENOUGH = 4.5
THEMES = {"light": False, "dark": True}
CONFIG = tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["theme"]
STEPS = [step / 200 for step in range(201)]


def light(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dim, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dim + 0.05)


def backgrounds(name):
    """The page, its panels, the sidebar and the fields in it."""
    kinds = ("backgroundColor", "secondaryBackgroundColor")
    return {part[kind] for part in (CONFIG[name], CONFIG[name]["sidebar"]) for kind in kinds}


SCREEN, PRINT = first_paint.STYLE.read_text().split("@media print")
WRITTEN = re.compile(r"(?<![-\w])color:\s*([^;}]+?)(?:\s*!important)?\s*[;}]")


def text_colours(name):
    """Every text colour of the style sheet, by how it is written there, over each background."""
    written = set(WRITTEN.findall(SCREEN))
    text, accent = CONFIG[name]["textColor"], theme.paper(THEMES[name]).accent
    grey = float(re.search(r"--grey: color-mix\(in srgb, currentColor (\d+)%", SCREEN).group(1)) / 100
    for ground in backgrounds(name):
        known = {
            "inherit": text,
            "currentColor": text,
            "var(--grey)": theme.mix(ground, text, share=grey),
            "var(--bs-accent)": accent,
        }
        for colour in written:
            yield colour, known[colour], ground


def test_the_measure_of_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("name", THEMES)
def test_the_colours_of_the_app(name):
    """Text and links on every background, labels of tables, and white on buttons and chosen values."""
    found = CONFIG[name]
    pairs = [(found[kind], ground) for kind in ("textColor", "linkColor") for ground in backgrounds(name)]
    pairs.append((found["dataframeHeaderTextColor"], found["dataframeHeaderBackgroundColor"]))
    pairs.append(("#FFFFFF", found["primaryColor"]))
    assert [pair for pair in pairs if contrast(*pair) < ENOUGH] == []


@pytest.mark.parametrize("name", THEMES)
def test_the_colours_of_the_style_sheet(name):
    found = list(text_colours(name))
    assert len({written for written, _, _ in found}) >= 3
    assert [pair for pair in found if contrast(*pair[1:]) < ENOUGH] == []
    assert [colour for colour in WRITTEN.findall(PRINT) if contrast(colour, "#FFFFFF") < ENOUGH] == []


@pytest.mark.parametrize("name", THEMES)
def test_the_colours_of_charts_and_reports(name):
    page = theme.paper(THEMES[name])
    assert (page.background, page.panel, page.text) == tuple(
        CONFIG[name][kind] for kind in ("backgroundColor", "secondaryBackgroundColor", "textColor")
    )
    pairs = [
        (text, ground) for text in (page.text, page.secondary, page.accent) for ground in (page.background, page.panel)
    ]
    assert [pair for pair in pairs if contrast(*pair) < ENOUGH] == []


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("scale", [theme.ink, theme.difference_scale, causes.loss])
def test_black_or_white_reads_on_every_step_of_a_scale(scale, name):
    steps = [theme.colour_at(scale(THEMES[name]), step) for step in STEPS]
    assert [colour for colour in steps if contrast(theme.text_on(colour), colour) < ENOUGH] == []


@pytest.mark.parametrize("dark", THEMES.values(), ids=THEMES)
def test_numbers_in_cells_take_the_colour_that_reads(dark):
    """At every value that a chart or a table can draw."""
    for value in STEPS:
        ink, loss = (theme.colour_at(scale, value) for scale in (theme.ink(dark), causes.loss(dark)))
        apart = theme.colour_at(theme.difference_scale(dark), value)
        assert contrast(causes.text_colour(value, dark=dark), loss) >= ENOUGH
        assert contrast(significance.text_colour(value - 0.5, reach=0.5, dark=dark), apart) >= ENOUGH
        drawn = re.search("background:(#.{6});color:(#.{6})", tables.inked_share(value, dark=dark))
        assert drawn.group(1) == ink
        assert contrast(*drawn.groups()) >= ENOUGH
