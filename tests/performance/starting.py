"""How long until something is on the screen: with nothing prepared, and with a store that is there."""

import contextlib
import re
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import expect

from analysis import jobs
from tests.browser.running import app, chromium, settle
from tests.performance.row import Row

OVERVIEW = "has the highest MMed-IR"
HEAVY = ("torch", "umap", "numba", "faiss", "sentence_transformers", "transformers", "sklearn", "bm25s")
TRACED = {"PYTHONPROFILEIMPORTTIME": "1"}
"""Python itself writes each module that it imports to the log, with the microseconds that it took."""
IMPORTED = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s+([\w.]+)$", re.MULTILINE)


def imported(log):
    """Seconds that a process has spent on imports so far, and the packages that it has imported."""
    found = IMPORTED.findall(log.read_text(errors="replace"))
    if not found:
        raise RuntimeError(f"{log.name} names no import")
    return sum(int(microseconds) for microseconds, _ in found) / 1e6, {name.split(".")[0] for _, name in found}


def first_start():
    """A fresh process and an empty cache folder until Chromium shows the Overview of what was built meanwhile."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        cache, log = Path(name) / "cache", Path(name) / "log"
        began = time.perf_counter()
        with app(cache, log, environment=TRACED) as url, _ended(cache):
            page = browser.new_page()
            page.goto(url)
            expect(page.locator("p.takeaway", has_text=OVERVIEW)).to_be_visible(timeout=600_000)
            page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
            taken = time.perf_counter() - began
            server, _ = imported(log)
            job, _ = imported(cache / "jobs" / f"{jobs.FIRST_START}.log")
    return Row(
        "first start: empty cache folder until the Overview is on the screen",
        "–",
        None,
        "≤ 60 s, imports ≤ 10 s",
        f"{taken:.0f} s, of which {server:.1f} s imports of the app and {job:.1f} s of the job that builds",
    )


@contextlib.contextmanager
def _ended(cache):
    """Ends the job that the page began."""
    try:
        yield
    finally:
        jobs.cancel(jobs.FIRST_START, cache)
        while (state := jobs.state(jobs.FIRST_START, cache)) and state.status == "running":
            time.sleep(0.2)


def start_path(cache, *, times=5):
    """A fresh process over a store that is there, until the Overview is painted; what it imports, it says itself."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        log = Path(name) / "log"
        runs = [_opened(browser, cache, log) for _ in range(times)]
        _opened(browser, cache, log, environment=TRACED)  # not timed
        seconds, packages = imported(log)
    unwanted = sorted(packages & set(HEAVY))
    said = f"imported {', '.join(unwanted)}" if unwanted else f"none of {', '.join(HEAVY)} imported"
    up, title, words, drawn = (statistics.median(stage) for stage in zip(*runs, strict=True))
    return Row(
        "start path: fresh process, stored results, until the Overview's title and menu are painted",
        "–",
        None,
        "≤ 3 s",
        f"server up {up:.1f} s, title and menu {title:.1f} s, answer {words:.1f} s, charts {drawn:.1f} s "
        f"(medians of {times}); "
        f"imports {seconds:.1f} s; {said}",
    )


def _opened(browser, cache, log, *, environment=None):
    """Seconds from the start of the process until the server answers, and title, answer and charts stand."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    began = time.perf_counter()
    with app(cache, log, environment=environment) as url:
        up = time.perf_counter()
        page = context.new_page()
        page.goto(url)
        page.locator("h1").wait_for(timeout=60_000)
        title = time.perf_counter()
        page.locator("p.takeaway").first.wait_for(timeout=60_000)
        words = time.perf_counter()
        settle(page, pause=0)
        drawn = time.perf_counter()
        context.close()
    return up - began, title - began, words - began, drawn - began
