import re

import pytest

from analysis.charts import theme
from analysis.views.selection import SystemLabel


def label(paradigm, member=0):
    return SystemLabel("s", "S", "s", paradigm, member)


@pytest.mark.parametrize(
    ("paradigm", "colour"),
    [
        ("lexical", "#7A7F85"),
        ("English-centric dense", "#D55E00"),
        ("biomedical dense", "#A6480A"),
        ("biomedical multilingual dense", "#A6480A"),
        ("multilingual medical", "#A6480A"),
        ("multilingual dense", "#0072B2"),
        ("late interaction", "#8C5AA8"),
        ("hybrid", "#009E73"),
        ("two-stage", "#C79100"),
        ("multimodal dense", "#4B5D16"),
    ],
)
def test_the_first_system_of_a_paradigm_has_its_colour(paradigm, colour):
    assert theme.system_colour(label(paradigm)) == colour


def test_members_of_a_paradigm_differ_in_lightness_dash_and_mark():
    members = [label("multilingual dense", place) for place in range(4)]
    for tell in (theme.system_colour, theme.system_dash, theme.system_symbol):
        assert len({tell(member) for member in members}) == 4


def test_languages_have_fixed_colours_and_scripts_share_them():
    assert theme.language_colour("en") == "#0072B2"
    assert theme.language_colour("zh-Hant") == theme.language_colour("zh") == "#E69F00"
    assert theme.language_colour("ar") == theme.language_colour("ar")


def test_an_unknown_paradigm_has_a_colour_too():
    assert re.fullmatch("#[0-9A-F]{6}", theme.system_colour(label("quantum"), dark=True))


@pytest.mark.parametrize("dark", [False, True])
def test_the_ink_runs_from_nothing_to_found(dark):
    scale = theme.ink(dark)
    assert [place for place, _ in scale] == [0, 0.1, 0.35, 0.6, 0.8, 1]
    assert theme.colour_at(scale, 0) == scale[0][1]
    assert theme.colour_at(scale, 2) == scale[-1][1]


def test_the_light_ink_is_the_one_of_the_design():
    assert [colour for _, colour in theme.ink(dark=False)] == [
        "#F4F0E8",
        "#E3E8E4",
        "#A9CACB",
        "#5C9DA3",
        "#1F7480",
        "#06414C",
    ]


def test_half_way_between_two_colours():
    assert theme.mix("#000000", "#FFFFFF", share=0.5) == "#808080"
    assert theme.colour_at(((0, "#000000"), (1, "#FFFFFF")), 0.5) == "#808080"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("BM25 & <b>x</b>", "BM25 &amp; &lt;b&gt;x&lt;/b&gt;"),
        ('<a href="https://a.b">"c"</a>', '&lt;a href="https://a.b"&gt;"c"&lt;/a&gt;'),
        ("$x^2$", "&#36;x^2&#36;"),
        ("USE → MaxSim", "USE → MaxSim"),
    ],
)
def test_a_text_of_others_holds_nothing_that_plotly_reads(text, made):
    assert theme.plain(text) == made
