"""From a red cell to the reason: a cell of a heatmap, a failing query, a tag on it, and the tag in other hands."""

import csv
import re

from playwright.sync_api import expect

from tests.browser.running import app, settle
from tests.browser.test_flows import click_cell

SYSTEMS = "systems=all-minilm-l6-v2,use-multilingual-v3"


def test_from_a_cell_to_a_tagged_query_in_the_export(visit, own_store, tmp_path):
    with app(own_store, tmp_path / "log") as url:
        page = visit(f"{url}/routes?task=category&{SYSTEMS}")
        settle(page)
        click_cell(page, "all-minilm-l6-v2", "en", "ja")  # one
        page.get_by_role("link", name=re.compile("in the Query explorer")).click()  # two
        first = page.locator("a.inside").first
        expect(first).to_be_visible(timeout=60_000)
        assert {"asked=en", "answers=ja", "system=all-minilm-l6-v2", "least=11"} <= set(
            page.url.split("?")[1].split("&")
        )
        asked = first.inner_text()
        first.click()  # three
        expect(page.get_by_role("heading", name="Lists side by side")).to_be_visible(timeout=60_000)
        settle(page)
        expect(page.locator(".question")).to_contain_text(asked)
        tag(page, "Ana", "language preference", "the answers are English")
        expect(page.get_by_role("button", name="Take back “language preference”")).to_be_visible(timeout=30_000)

        other = visit(f"{url}/queries?task=category&{SYSTEMS}&tag=language+preference")
        settle(other)
        expect(other.locator("table").last).to_contain_text("language preference", timeout=30_000)
        other.locator("a.inside").first.click()
        expect(other.locator("body")).to_contain_text("the answers are English", timeout=30_000)
        expect(other.get_by_role("button", name="Take back")).to_have_count(0)

        why = visit(page.url)
        why.get_by_role("link", name=re.compile("What causes it")).click()  # four
        expect(why.get_by_role("heading", name="all-MiniLM, cause by cause")).to_be_visible(timeout=60_000)
        settle(why)
        why.get_by_role("radio", name="What if").click()  # five
        expect(why.locator("body")).to_contain_text("Ranked anew from stored vectors", timeout=60_000)
        settle(why)
        expect(why.get_by_role("heading", name="The difference, route by route")).to_be_visible()
        why.get_by_role("combobox", name="What if").click()
        why.get_by_role("option", name="Fuse runs by their ranks (RRF)").click()
        expect(why.locator(".takeaway").first).to_contain_text("RRF of all-MiniLM + ", timeout=60_000)

        page.get_by_role("button", name="Back to the list").click()
        expect(page.get_by_role("heading", name="Lists side by side")).to_have_count(0, timeout=30_000)
        page.get_by_role("radio", name="Tags and notes").click()
        expect(page.get_by_role("heading", name="All that was said")).to_be_visible(timeout=30_000)
        with page.expect_download() as started:
            page.get_by_role("button", name="CSV", exact=True).click()
        with started.value.path().open(encoding="utf-8", newline="") as file:
            (row,) = csv.DictReader(file)
        assert (row["author"], row["tag"], row["note"]) == ("Ana", "language preference", "the answers are English")
        assert (row["query_language"], row["document_language"], row["system"]) == ("en", "ja", "all-minilm-l6-v2")


def test_the_keyboard_turns_the_pages_and_leaves_what_is_typed_alone(visit, own_store, tmp_path):
    with app(own_store, tmp_path / "log") as url:
        page = visit(f"{url}/queries?task=category&{SYSTEMS}")
        settle(page)
        page.locator("a.inside").first.click()
        expect(page.locator("body")).to_contain_text("1 of ", timeout=60_000)
        settle(page)
        before = opened(page)
        page.keyboard.press("ArrowRight")
        expect(page.locator("body")).to_contain_text("2 of ", timeout=30_000)
        assert opened(page) != before
        settle(page)
        page.get_by_label("Note").click()
        page.keyboard.type("word")
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(1000)
        assert opened(page) != before
        page.locator("h1").first.click()
        page.keyboard.press("ArrowLeft")
        page.wait_for_url(f"**query={before}*", timeout=30_000)
        page.keyboard.press("Escape")
        expect(page.locator("a.inside").first).to_be_visible(timeout=30_000)
        page.wait_for_function("!location.search.includes('query=')", timeout=30_000)


def opened(page):
    return re.search(r"query=([^&]+)", page.url)[1]


def tag(page, author, name, note):
    page.get_by_label("Your name").fill(author)
    page.get_by_label("Your name").press("Tab")
    settle(page)
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_label("Note").fill(note)
    page.get_by_role("button", name="Keep it").click()
