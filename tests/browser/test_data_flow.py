"""Bring a benchmark and a run through the browser, look at what came of them, and delete the run again."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.running import app, settle

DOCUMENTS = [
    {"_id": f"d{number}-{tag}", "title": "", "text": f"{word} number {number}", "language": tag, "family": f"f{number}"}
    for number in range(4)
    for tag, word in (("en", "disease"), ("fr", "maladie"))
]
QUERIES = [
    {"_id": f"q{number}-{tag}", "text": f"{word} {number}?", "language": tag, "family": f"f{number}"}
    for number in range(4)
    for tag, word in (("en", "illness"), ("fr", "souffrance"))
]


@pytest.fixture
def files(tmp_path):
    """Three files of a BEIR folder and a run of it, with a name and a text that would like to be markup."""
    documents = [*DOCUMENTS, {"_id": "<b>d</b>", "text": "<script>alert(1)</script>", "language": "en"}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUERIES), encoding="utf-8")
    judged = [(query["_id"], document["_id"]) for query in QUERIES for document in DOCUMENTS
              if query["family"] == document["family"]]  # fmt: skip
    qrels = "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{document}\t1\n" for query, document in judged)
    (tmp_path / "test.tsv").write_text(qrels, encoding="utf-8")
    run = [(query["_id"], document["_id"], 1 / (place + 1)) for query in QUERIES
           for place, document in enumerate(DOCUMENTS)]  # fmt: skip
    lines = [f"{query} Q0 {document} 0 {score} mine\n" for query, document, score in run]
    (tmp_path / "mine.trec").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def drop(page, *paths):
    page.locator('input[type="file"]').set_input_files(paths)
    settle(page)


def fill(page, label, text):
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")
    settle(page)


def test_bring_a_benchmark_and_a_run_and_delete_the_run(visit, tmp_path, files, bedside_questions):
    with app(bedside_questions, tmp_path / "log") as url:
        page = visit(f"{url}/data?part=import")
        expect(page.locator("h1")).to_have_text("What is here, and how do I bring my own?", timeout=60_000)
        settle(page)
        drop(page, files / "corpus.jsonl", files / "queries.jsonl", files / "test.tsv")
        expect(page.locator("body")).to_contain_text("maladie number 0")  # the first rows
        fill(page, "Name of the benchmark", "own & <i>")
        page.get_by_role("button", name="Check the files").click()
        expect(page.get_by_role("heading", name="What was found")).to_be_visible(timeout=60_000)
        expect(page.locator("body")).to_contain_text("9")
        expect(page.locator("body")).to_contain_text("language fr")
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_role("heading", name="What was imported")).to_be_visible(timeout=60_000)
        assert not list((bedside_questions / "uploads").iterdir())  # used up

        page.goto(f"{url}/data?part=import&kind=import-run&benchmark=own%20%26%20%3Ci%3E")
        settle(page)
        drop(page, files / "mine.trec")
        page.get_by_role("button", name="Check the files").click()
        expect(page.get_by_role("heading", name="What was found")).to_be_visible(timeout=60_000)
        expect(page.locator("body")).to_contain_text("64 read, 64 ranked")
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_role("link", name=re.compile("Open it in the Overview")).click(timeout=60_000)
        expect(page.locator("h1")).to_contain_text("Which system", timeout=60_000)
        settle(page)
        expect(page.locator("table").first).to_contain_text("mine")

        page.goto(f"{url}/data?benchmark=own%20%26%20%3Ci%3E")
        settle(page)
        page.get_by_text("Delete", exact=True).first.click()
        confirm = page.get_by_label("Its name", exact=True).first
        confirm.fill("not mine")
        page.get_by_role("button", name="Delete for good").first.click()
        expect(page.locator("body")).to_contain_text("Nothing was deleted")
        confirm.fill("mine")
        page.get_by_role("button", name="Delete for good").first.click()
        expect(page.locator("body")).to_contain_text("No system has run on this task yet", timeout=60_000)
