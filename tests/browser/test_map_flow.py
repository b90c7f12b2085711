"""From a map to its texts: an outline drawn by hand, its texts brought out in both pictures, the Query explorer.

Without WebGL and without a network.
"""

import contextlib
import re

import pytest
from playwright.sync_api import expect

from analysis.jobs.draw_map import MapRequest
from analysis.jobs.give_map import Given, give_map
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from tests.browser.running import app, bare, settle

SYSTEMS = ("all-minilm-l6-v2", "use-multilingual-v3")
LARGE = """() => {
    const out = {x: 0, x2: 0};
    for (const trace of document.querySelector('.js-plotly-plot')._fullData)
        if (trace.customdata)
            out[trace.xaxis] += Array.from(trace.marker.size).filter(size => size > 6).length;
    return out;
}"""


DRAWN = """() => {
    const figure = document.querySelector('.js-plotly-plot');
    const words = [...figure.querySelectorAll('.infolayer text')].map((one) => one.textContent);
    return {
        kinds: [...new Set(figure._fullData.map((trace) => trace.type))],
        ends: ['USE multilingual ahead', 'all-MiniLM ahead'].filter((end) => words.some((one) => one.includes(end))),
    };
}"""


@pytest.fixture
def mapped(own_store, tmp_path):
    """Sixty queries in a row and as many documents in another, as two systems might place them."""
    cache = Cache(own_store)
    store = read.open_store(cache)
    task = next(row for row in store.tasks(store.benchmark("icd10").benchmark_id) if row.name == "category")
    ids = {"query": store.queries(task.task_id).id[:60], "document": store.documents(task.task_id).id[:60]}
    for system, sign in zip(SYSTEMS, (1, -1), strict=True):
        rows = [f"{name},{n},{sign * (item == 'query')},{item}" for item in ids for n, name in enumerate(ids[item])]
        (tmp_path / "points.csv").write_text("id,x,y,item\n" + "\n".join(rows))
        request = MapRequest("icd10", "category", systems=(system,))
        give_map(cache, given=Given(coordinates=tmp_path / "points.csv"), request=request, progress=silent)
    return own_store


def outline(page):
    """Draw a closed line around the left half of the first picture."""
    plot = page.locator('.nsewdrag[data-subplot="xy"]')
    expect(plot).to_be_visible(timeout=60_000)
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    middle = box["y"] + box["height"] / 2
    left, right = box["x"] + 1, box["x"] + box["width"] / 2
    page.mouse.move(left, middle - 200)
    page.mouse.down()
    for x, y in ((right, middle - 200), (right, middle + 200), (left, middle + 200), (left, middle - 200)):
        page.mouse.move(x, y, steps=6)
    page.mouse.up()


def test_an_outline_is_listed_brought_out_on_both_sides_and_taken_along(chrome, mapped, no_network, tmp_path):
    environment, tried = no_network
    with (
        app(mapped, tmp_path / "log", environment=environment) as url,
        bare(chrome, url, width=1440, height=1000) as page,
    ):
        page.goto(f"{url}/map?task=category&system={SYSTEMS[0]}&beside={SYSTEMS[1]}")
        expect(page.get_by_role("heading", name="Placed most differently")).to_be_visible(timeout=60_000)
        settle(page)
        chosen = page.get_by_role("heading", name=re.compile(r"\d+ texts chosen"))
        for _ in range(3):  # a busy machine may draw the chart anew under the pointer
            outline(page)
            with contextlib.suppress(AssertionError):
                expect(chosen).to_be_visible(timeout=20_000)
                break
        expect(chosen).to_be_visible(timeout=60_000)
        settle(page)
        n = int(re.match(r"\d+", chosen.inner_text())[0])
        assert 0 < n < 120
        assert page.evaluate(LARGE) == {"x": n, "x2": n}
        link = page.get_by_role("link", name=re.compile("in the Query explorer"))
        queries = int(re.match(r"[\d,]+", link.inner_text())[0])
        link.click()
        expect(page.locator("body")).to_contain_text(f"of {queries} queries", timeout=60_000)
        page.go_back()
        expect(chosen).to_be_visible(timeout=60_000)
        settle(page)
        page.locator("a.inside").first.click()
        expect(page.get_by_role("heading", name="Nearest in the space itself")).to_be_visible(timeout=60_000)
        page.goto(f"{page.url}&colour=difference")
        expect(page.locator("p.takeaway").first).to_contain_text("texts less than", timeout=60_000)
        settle(page)
        assert page.evaluate(DRAWN) == {"kinds": ["scatter"], "ends": ["USE multilingual ahead", "all-MiniLM ahead"]}
    assert not tried.exists(), tried.read_text()
