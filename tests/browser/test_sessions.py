"""Several people look while jobs store: nobody is disturbed, and everybody sees the new results at the next click."""

import re
import subprocess
import sys

from playwright.sync_api import expect

from analysis.cli import main
from tests.browser.running import ROOT, app, settle

PAGES = {
    "Language routes": "Which language pairs fail?",
    "Fairness": "Who is left behind?",
    "Overview": "Which system, and can I trust the difference?",
}
WRONG = '[data-testid="stAlertContentError"], [data-testid="stException"]'


def start(cache, *arguments):
    """A job in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "analysis", *arguments, "--cache", str(cache)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_pages_stay_whole_while_jobs_import_and_run(visit, own_store, tmp_path):
    of_category = ("--benchmark", "icd10", "--task", "category")
    file = tmp_path / "run.txt"
    main(["export", *of_category, "--run", "bm25", "--format", "trec", "-o", str(file), "--cache", str(own_store)])
    with app(own_store, tmp_path / "log") as url:
        sessions = [visit(f"{url}/overview?task=category"), visit(f"{url}/routes?task=category&systems=bm25")]
        for page in sessions:
            settle(page)
            expect(page.locator("body")).not_to_contain_text("theirs")
        jobs = [
            start(own_store, "import-run", str(file), *of_category, "--system", "theirs"),
            start(own_store, "run", "--benchmark", "icd10", "--systems", "bm25,bm25-cjk", "--force"),
            start(own_store, "import-run", str(file), *of_category, "--system", "theirs too"),
        ]
        looks = 0
        while any(job.poll() is None for job in jobs) or not looks:
            for page in sessions:
                for name, question in PAGES.items():
                    page.get_by_role("link", name=name, exact=True).click()
                    expect(page.locator("h1").first).to_have_text(question, timeout=60_000)
                    settle(page)
                    assert page.locator(WRONG).all_inner_texts() == []
                    looks += 1
        assert [job.wait() for job in jobs] == [0, 0, 0]
        assert looks >= 6
        for page in sessions:
            page.get_by_role("link", name="Overview", exact=True).click()
            settle(page)
        expect(sessions[0].locator("table").first).to_contain_text(re.compile("theirs"), timeout=30_000)
        assert "systems=bm25" in sessions[1].url
        sessions[1].get_by_label("Systems").first.click()
        expect(sessions[1].get_by_role("option", name="theirs too")).to_be_visible(timeout=30_000)
