"""Every page in both themes: steady while it comes, nothing cut, nothing grave (axe-core), no error on the console."""

from urllib.parse import quote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from analysis.paths import Cache
from analysis.store import read
from pages.shared import ui
from tests.browser import steady
from tests.browser.running import settle

VIEWS = {
    "routes": ("task=category&route=en%2Cja&system=all-minilm-l6-v2",),
    "queries": ("", "part=change", "part=notes", "query={query}"),
    "causes": ("", "part=what-if"),
    "data": ("", "part=import", "part=run"),
}
"""What pages show by their parameters."""

DARK = """() => [...document.querySelectorAll('style')].some((style) => style.textContent.includes('invert(1)'))"""
"""Whether the server has drawn for the dark theme: only then charts are turned for paper."""

NOT_FOUND = {f"/{page.address}/_stcore/{name}" for page in ui.PAGES for name in ("health", "host-config")}
"""Streamlit does not know at which path it is served: it asks under the page's own path first, then at the root. No
setting changes that, so that every page opened by its address logs these two as not found."""


@pytest.fixture(scope="module")
def watched(chrome):
    """A page, and what its console called an error."""
    context = chrome.new_context(viewport={"width": 1280, "height": 1000})
    context.add_init_script(steady.SHIFTS)
    page, errors = context.new_page(), []
    page.on("console", lambda said: errors.append((said.text, said.location["url"])) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append((str(error), page.url)))
    yield page, errors
    context.close()


@pytest.fixture(scope="module")
def query(real_store):
    """The id of a query, as an address has it."""
    store = read.open_store(Cache(real_store))
    [benchmark] = store.benchmarks()
    [task] = [task for task in store.tasks(benchmark.benchmark_id) if task.is_default]
    return quote(store.queries(task.task_id).id[0])


def grave(page, axe, **options):
    """What axe-core finds serious or critical: rule, element and what is wrong with it."""
    found = axe.run(page, options={"resultTypes": ["violations"], "preload": False} | options).response["violations"]
    return [
        (rule["id"], node["html"][:200], node["failureSummary"])
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def errors_of_ours(errors):
    return [
        (words, url) for words, url in errors if "404 (Not Found)" not in words or urlsplit(url).path not in NOT_FOUND
    ]


@pytest.mark.parametrize(
    ("link", "part"),
    [(link, part) for link in ui.PAGES for part in VIEWS.get(link.address, ("",))],
    ids=lambda value: getattr(value, "address", value),
)
def test_page(watched, running_app, query, link, part):
    page, errors = watched
    errors.clear()
    page.emulate_media(color_scheme="light")
    page.goto(f"{running_app}/{link.address}?{part.format(query=query)}")
    expect(page.locator("h1")).to_have_text(link.question, timeout=60_000)
    settle(page)
    moved, largest = steady.shift(page)
    assert moved < 0.05, largest
    assert steady.overflow(page) == []
    axe = Axe()
    assert grave(page, axe) == []
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", "dark")
    page.wait_for_function(DARK, timeout=30_000)  # the page draws itself anew, in the theme that it now has
    settle(page)
    assert grave(page, axe, runOnly=["color-contrast"]) == []
    assert errors_of_ours(errors) == []
