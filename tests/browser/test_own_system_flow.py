"""A system of one's own through the browser: added, run on Bedside, standing on the Overview, taken out again."""

import re

from playwright.sync_api import expect

from analysis.paths import Cache
from analysis.store import read
from tests.browser.running import app, settle


def test_add_bm25_with_other_settings_run_it_and_see_it(visit, tmp_path, bedside_questions):
    with app(bedside_questions, tmp_path / "log") as url:
        page = visit(f"{url}/data?benchmark=bedside&part=run&own=bm25", width=1280)
        expect(page.locator("h1")).to_have_text("What is here, and how do I bring my own?", timeout=60_000)
        settle(page)
        page.get_by_label("Name", exact=True).fill("short-words")
        page.get_by_label("k1", exact=True).fill("0.4")
        page.get_by_role("button", name="Show what would be in force").click()
        expect(page.locator("body")).to_contain_text("lexical, whitespace, k1 0.4, b 0.75. Nothing is kept yet.")
        page.get_by_role("button", name="Add it").click()
        expect(page.locator("body")).to_contain_text("Added short-words: lexical, whitespace, k1 0.4, b 0.75.")
        settle(page)

        systems = page.locator('[data-testid="stMultiSelect"]').filter(has_text="Systems")
        systems.get_by_role("button", name="Clear all").click()
        systems.locator("input").fill("short-words")
        systems.locator("input").press("Enter")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator("body")).to_contain_text("Installed; has run on every task", timeout=120_000)

        page.get_by_role("link", name="Overview").click()
        expect(page.locator("h1")).to_contain_text("Which system", timeout=60_000)
        settle(page)
        expect(page.locator("table").first).to_contain_text("short-words")

        page.goto(f"{url}/data?benchmark=bedside&part=run")
        settle(page)
        page.get_by_text("Remove a system of your own").click()
        page.get_by_role("button", name="Remove it").click()
        expect(page.locator("body")).to_contain_text("Removed short-words.")
        expect(page.get_by_text(re.compile("Remove a system"))).to_have_count(0)
        assert read.open_store(Cache(bedside_questions)).has_results_of("short-words")  # its runs stay
