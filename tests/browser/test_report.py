"""The HTML report opened from a file, without a network, full of texts that try to become markup."""

import pytest

from analysis.model import silent
from analysis.paths import Cache
from analysis.report import document
from analysis.views.selection import Selection
from tests.report.hostile import ENDING, PICTURE, SCRIPT, hostile_store

DRAWN = """() => {
    const places = [...document.querySelectorAll('.chart')];
    return places.length > 0 && places.every((one) => one.querySelector('.main-svg'));
}"""
LABELS = "() => [...document.querySelectorAll('.chart text')].map((one) => one.textContent)"
HOVER = """([chart, trace, point]) => {
    const figure = document.getElementById(chart);
    Plotly.Fx.hover(figure, [{curveNumber: trace, pointNumber: point}]);
    return [...figure.querySelectorAll('.hoverlayer text')].map((one) => one.textContent).join(' ');
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    store = hostile_store(Cache(folder / "cache"))
    document.write(store, Selection("example"), folder / "report.html", silent)
    return folder / "report.html"


@pytest.fixture
def opened(chrome, report):
    """Open the report in a theme; anything that it asks for, says or asks a person fails the test."""
    contexts, told = [], []

    def call(scheme="light"):
        context = chrome.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: told.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: told.append(request.url) if request.url != report.as_uri() else None)
        page.goto(report.as_uri())
        page.wait_for_function(DRAWN, timeout=60_000)
        return page

    yield call
    for context in contexts:
        context.close()
    assert not told


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_is_drawn_in_the_reader_s_theme(opened, scheme):
    page = opened(scheme)
    assert page.locator(".chart").count() == page.locator(".chart .main-svg:first-child").count() >= 10
    background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(252, 251, 249)", "dark": "rgb(21, 25, 28)"}[scheme]
    ink = page.evaluate("() => document.getElementById('chart-0').layout.font.color")
    assert ink == {"light": "#1C2126", "dark": "#E8E6E1"}[scheme]


def test_charts_follow_a_change_of_theme(opened):
    page = opened("light")
    page.emulate_media(color_scheme="dark")
    last = page.locator(".chart").count() - 1
    page.wait_for_function(f"() => document.getElementById('chart-{last}').layout.font.color === '#E8E6E1'")


def test_texts_of_others_are_shown_and_nothing_of_them_runs(opened):
    page = opened()
    assert page.evaluate("() => window.caught") is None
    assert page.locator("img, main a, main script").count() == 0
    assert page.locator(".chart a").count() == 0
    labels = page.evaluate(LABELS)
    for text in (SCRIPT, PICTURE):
        assert text in labels
        assert page.locator("td", has_text=text).count() > 0
    assert ENDING in page.locator("h3").all_inner_texts()
    figure = page.evaluate("() => document.getElementById('chart-0').data.findIndex((one) => one.hovertext)")
    assert "<script>" in page.evaluate(HOVER, ["chart-0", figure, 0]) or PICTURE in page.evaluate(
        HOVER, ["chart-0", figure, 0]
    )


def test_the_contents_lead_to_the_sections(opened):
    page = opened()
    page.get_by_role("link", name="Who is left behind?").click()
    assert page.url.endswith("#fairness")
    page.wait_for_function("() => Math.abs(document.getElementById('fairness').getBoundingClientRect().top) < 100")


def test_on_paper_charts_are_light_and_tables_unfolded(opened):
    page = opened("dark")
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("() => document.getElementById('chart-0').layout.font.color") == "#1C2126"
    assert page.evaluate("() => document.getElementById('chart-0').querySelector('.main-svg').clientWidth") == 1000
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    page.wait_for_function("() => document.getElementById('chart-0').layout.font.color === '#E8E6E1'")
