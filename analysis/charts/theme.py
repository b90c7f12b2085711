"""Colours, marks and layout that every chart shares: one colour a system, one a language, one ink for scores."""

from __future__ import annotations

import html
import itertools
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.views.selection import Interval, SystemLabel

FONT = '"Source Sans", "Source Sans Pro", sans-serif'
CLEAR = "rgba(0,0,0,0)"
BLACK, WHITE = "#000000", "#FFFFFF"

PARADIGM_COLOURS = {
    "lexical": "#7A7F85",
    "english-centric dense": "#D55E00",
    "biomedical dense": "#A6480A",
    "multilingual dense": "#0072B2",
    "late interaction": "#8C5AA8",
    "hybrid": "#009E73",
    "two-stage": "#C79100",
    "multimodal": "#4B5D16",
}
"""From Okabe and Ito, so that no two differ by red against green alone."""

LANGUAGE_COLOURS = {
    "en": "#0072B2",
    "es": "#D55E00",
    "fr": "#009E73",
    "ja": "#CC79A7",
    "zh": "#E69F00",
    "ru": "#56B4E9",
    "de": "#6B6F76",
}
OTHER_LANGUAGES = ("#8C5AA8", "#4B5D16", "#A6480A", "#1F7480", "#B0486F", "#5B7FA6", "#8A7A3C", "#3F6B4F")
"""For a language without a colour of its own: always the same one of these."""

SCRIPT_COLOURS = {
    "Latin": "#0072B2",
    "Arabic": "#009E73",
    "Cyrillic": "#56B4E9",
    "Devanagari": "#D55E00",
    "Simplified": "#E69F00",
    "Traditional": "#C79100",
    "Japanese": "#CC79A7",
    "Bangla": "#A6480A",
}
"""Of what is written in most languages; any other script has always the same one of the colours above."""

APART_COLOURS = ("#0B6470", "#D55E00", "#8C5AA8", "#C79100", "#0072B2", "#B0486F", "#4B5D16", "#6B6F76")
"""For up to eight things without a colour of their own that stand beside each other."""
APART_SYMBOLS = ("circle", "square", "triangle-up", "cross", "pentagon", "x", "star", "triangle-down")
"""The mark of each, so that colour is not all that tells them apart."""

UNKNOWN_PARADIGM = "#5B6168"
DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "diamond", "square", "triangle-up")
LIGHTNESS = (0.0, 0.35, -0.30, 0.55)
"""How far each member of a paradigm moves towards white (or, below zero, towards black)."""

Scale = tuple[tuple[float, str], ...]

INK_LIGHT: Scale = (
    (0, "#F4F0E8"),
    (0.1, "#E3E8E4"),
    (0.35, "#A9CACB"),
    (0.6, "#5C9DA3"),
    (0.8, "#1F7480"),
    (1, "#06414C"),
)
INK_DARK: Scale = (
    (0, "#1B2024"),
    (0.1, "#20292C"),
    (0.35, "#2E5054"),
    (0.6, "#4B878B"),
    (0.8, "#70B2B3"),
    (1, "#9ADBD8"),
)
DIFFERENCE_LIGHT: Scale = (
    (0, "#0B4F8A"),
    (0.25, "#6A9FCE"),
    (0.42, "#C4D6E4"),
    (0.5, "#F4F0E8"),
    (0.58, "#F0D3B4"),
    (0.75, "#E39F5E"),
    (1, "#9C4F0D"),
)
DIFFERENCE_DARK: Scale = (
    (0, "#7DB8EA"),
    (0.25, "#4176A6"),
    (0.42, "#263A4A"),
    (0.5, "#1B2024"),
    (0.58, "#43331F"),
    (0.75, "#A66F35"),
    (1, "#F0B16A"),
)


@dataclass(frozen=True)
class Paper:
    """The colours of the page that a chart lies on."""

    background: str
    panel: str
    text: str
    secondary: str  # captions, tick labels
    lines: str
    accent: str


LIGHT = Paper("#FCFBF9", "#F3F0EA", "#1C2126", "#5B6168", "#E3DED4", "#0B6470")
DARK = Paper("#15191C", "#1D2226", "#E8E6E1", "#A3A8AD", "#32393F", "#4FB0B4")


class Rgb(NamedTuple):
    """Three channels, 0 to 255."""

    red: int
    green: int
    blue: int


def paper(dark: bool) -> Paper:
    """The page colours of the theme in force."""
    return DARK if dark else LIGHT


def ink(dark: bool) -> Scale:
    """The scale of scores, always from 0 to 1: the more was found, the more ink."""
    return INK_DARK if dark else INK_LIGHT


def difference_scale(dark: bool) -> Scale:
    """The scale of differences: blue, paper at a true zero, orange."""
    return DIFFERENCE_DARK if dark else DIFFERENCE_LIGHT


def paradigm_colour(paradigm: str, *, dark: bool = False) -> str:
    """The colour of a family of systems; slate for one that the palette does not know."""
    name = paradigm.casefold()
    if "medical" in name:
        name = "biomedical dense"
    if name.startswith("multimodal"):
        name = "multimodal"
    colour = PARADIGM_COLOURS.get(name, UNKNOWN_PARADIGM)
    return mix(colour, "#FFFFFF", share=0.28) if dark else colour


def system_colour(label: SystemLabel, *, dark: bool = False) -> str:
    """The colour of a system, the same on every page: its paradigm's, lighter or darker by its place in it."""
    colour = paradigm_colour(label.paradigm, dark=dark)
    step = LIGHTNESS[label.member % len(LIGHTNESS)]
    return mix(colour, "#FFFFFF" if step > 0 else "#000000", share=abs(step))


def system_dash(label: SystemLabel) -> str:
    """The line style that tells a system from the others of its paradigm without colour."""
    return DASHES[label.member % len(DASHES)]


def system_symbol(label: SystemLabel) -> str:
    """The mark that tells a system from the others of its paradigm without colour."""
    return SYMBOLS[label.member % len(SYMBOLS)]


def language_colour(tag: str, *, dark: bool = False) -> str:
    """The colour of a language, the same on every page."""
    base = tag.split("-", maxsplit=1)[0]
    colour = LANGUAGE_COLOURS.get(base) or OTHER_LANGUAGES[zlib.crc32(base.encode()) % len(OTHER_LANGUAGES)]
    return mix(colour, "#FFFFFF", share=0.22) if dark else colour


def script_colour(script: str, *, dark: bool = False) -> str:
    """The colour of a script by its English name, where languages are too many for a colour each."""
    colour = SCRIPT_COLOURS.get(script) or OTHER_LANGUAGES[zlib.crc32(script.encode()) % len(OTHER_LANGUAGES)]
    return mix(colour, "#FFFFFF", share=0.22) if dark else colour


def apart_colour(place: int, *, dark: bool = False) -> str:
    """The colour of one of a few things that have none of their own."""
    colour = APART_COLOURS[place % len(APART_COLOURS)]
    return mix(colour, "#FFFFFF", share=0.28) if dark else colour


def mix(colour: str, other: str, *, share: float) -> str:
    """Two hex colours mixed in RGB; ``share`` of the second, 0 to 1."""
    pairs = zip(channels(colour), channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


def channels(colour: str) -> Rgb:
    """The channels of a colour written ``#RRGGBB``."""
    return Rgb(int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16))


def luminance(colour: str) -> float:
    """How light a colour is, 0 to 1: relative luminance, WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (c / 255 for c in channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_on(colour: str) -> str:
    """Black or white, whichever stands out more: at least 4.58 to 1, which no softer pair reaches on every colour."""
    return WHITE if luminance(colour) < 0.179 else BLACK


def see_through(colour: str, *, alpha: float) -> str:
    """A hex colour with an opacity."""
    red, green, blue = channels(colour)
    return f"rgba({red},{green},{blue},{alpha})"


def colour_at(scale: Scale, position: float) -> str:
    """The colour of a scale at a position from 0 to 1, for marks outside a chart."""
    place = min(max(position, 0.0), 1.0)
    for (low, first), (high, second) in itertools.pairwise(scale):
        if place <= high:
            return mix(first, second, share=(place - low) / (high - low))
    return scale[-1][1]


def dress(figure: go.Figure, *, dark: bool, height: int) -> go.Figure:
    """Give a figure the page's font, colours and quiet frame."""
    page = paper(dark)
    figure.update_layout(
        height=height,
        font={"family": FONT, "size": 14, "color": page.text},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        dragmode=False,
        modebar={"bgcolor": CLEAR, "color": page.secondary, "activecolor": page.text},
        hoverlabel={
            "bgcolor": page.panel,
            "bordercolor": page.lines,
            "align": "left",
            "font": {"family": FONT, "size": 14, "color": page.text},
        },
    )
    quiet = {
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
        "automargin": True,
        "color": page.secondary,
    }
    figure.update_xaxes(**quiet)
    figure.update_yaxes(**quiet)
    return figure


def interval_bars(found: Sequence[Interval], *, dark: bool) -> dict[str, object]:
    """Thin horizontal lines over the intervals of marks, as Plotly's ``error_x``."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [(one.high or 0) - (one.value or 0) for one in found],
        "arrayminus": [(one.value or 0) - (one.low or 0) for one in found],
        "thickness": 1,
        "width": 0,
        "color": see_through(paper(dark).text, alpha=0.35),
    }


def hatch(dark: bool) -> dict[str, object]:
    """Lines over what is to be read with care, as the marker of a bar."""
    line = see_through(paper(dark).text, alpha=0.45)
    return {
        "color": CLEAR,
        "line": {"width": 0},
        "pattern": {"shape": "/", "fgcolor": line, "bgcolor": CLEAR, "size": 7, "solidity": 0.12},
    }


def difference_reach(largest: float) -> float:
    """Where a scale of differences ends on both sides: the next quarter, at least 0.25."""
    return max(math.ceil(largest * 4 - 1e-9) / 4, 0.25)


def head(figure: go.Figure, words: str, *, left: float, top: float = 1, dark: bool) -> None:
    """A line above a plot; ``left`` and ``top`` are shares of the figure's width and height."""
    figure.add_annotation(
        x=left,
        y=top,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        yshift=6,
        text=words,
        showarrow=False,
        font={"size": 14, "color": paper(dark).text},
    )


def plain(text: str) -> str:
    """A text of others for a label or hover: Plotly reads a part of HTML there, links among it, and formulas."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def chip(colour: str) -> str:
    """A small square of a colour for the text of a title."""
    return f'<span style="color:{colour}">■</span>'


def legend(*, dark: bool) -> dict[str, object]:
    """A legend above the plot, in one line."""
    return {
        "orientation": "h",
        "traceorder": "normal",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "font": {"size": 13, "color": paper(dark).text},
    }


def cell_text(value: float) -> str:
    """Two decimals without the leading zero: .42, .00, 1.00, −.10."""
    shown = f"{abs(value):.2f}"
    sign = "−" if value < 0 and float(shown) else ""
    return sign + (shown[1:] if shown.startswith("0") else shown)


def number_cells(
    values: list[list[float | None]], texts: list[list[str]], *, size: int, colour: str, **axes: str
) -> go.Heatmap:
    """Cells with their numbers in one text colour, as a heatmap has no more.

    Args:
        values: places on the colour axis; None leaves the cell open.
        texts: what stands in them.
        size: of the text.
        colour: of the text.
        **axes: of a panel.
    """
    return go.Heatmap(
        z=values,
        text=texts,
        texttemplate="%{text}",
        coloraxis="coloraxis",
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        textfont={"size": size, "color": colour},
        **axes,
    )
