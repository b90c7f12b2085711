"""Photograph every page for the README (``make pictures``). BABELSCOPE_CACHE chooses the store, built if missing."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from pages.shared import ui
from tests.browser.running import ROOT, app, chromium, settle

FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1440, 1000
TALL = {ui.MAP: 1180}
"""Pages whose picture would be cut."""

ALIGNMENT = "benchmark=bedside&task=t1-alignment"
ENCODERS = "all-minilm-l6-v2,use-multilingual-v3"
ADDRESSES = {
    ui.OVERVIEW: "benchmark=bedside&task=all",
    ui.ROUTES: f"benchmark=icd10&task=category&systems=bm25-cjk,{ENCODERS}&route=en,ja&system=all-minilm-l6-v2",
    ui.TIERS: "benchmark=bedside&task=t2-discrimination",
    ui.RECOVERABILITY: "benchmark=icd10&task=category",
    ui.FAIRNESS: "benchmark=bedside&task=t2-discrimination",
    ui.SIGNIFICANCE: "benchmark=bedside&task=t1-alignment",
    ui.QUERIES: f"{ALIGNMENT}&system=all-minilm-l6-v2&minus=use-multilingual-v3",
    ui.MAP: f"{ALIGNMENT}&system=all-minilm-l6-v2&beside=use-multilingual-v3",
    ui.CAUSES: ALIGNMENT,
    ui.PROBE: ALIGNMENT,
    ui.STORY: f"{ALIGNMENT}&system=all-minilm-l6-v2&step=3",
    ui.DATA: "benchmark=bedside",
    ui.METHOD: "benchmark=bedside",
}
"""What each page shows on its picture."""

NEEDED = (
    "build bedside --run all",
    "diagnose --benchmark bedside",
    "map --benchmark bedside --task t1-alignment",
    "build icd10",
    f"run --benchmark icd10 --task category --systems bm25-cjk,{ENCODERS}",
)
"""Commands that keep what is stored already."""


def prepare(cache):
    for words in NEEDED:
        subprocess.run([sys.executable, "-m", "analysis", *words.split(), "--cache", str(cache)], cwd=ROOT, check=True)


def photograph(page, url, link, address):
    page.goto(f"{url}/{link.address}?{address}")
    page.get_by_test_id("stApp").wait_for(timeout=60_000)
    settle(page, milliseconds=120_000)
    page.wait_for_timeout(1000)
    target = FOLDER / f"{link.address}.webp"
    Image.open(io.BytesIO(page.screenshot())).save(target, lossless=True, quality=100, method=6)
    print(target.relative_to(ROOT), f"{target.stat().st_size / 1000:.0f} kB")


def main():
    cache = Path(os.environ.get("BABELSCOPE_CACHE") or ROOT / "cache")
    prepare(cache)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, app(cache, Path(folder) / "log") as url, chromium() as browser:
        for link, address in ADDRESSES.items():
            size = {"width": WIDTH, "height": TALL.get(link, HEIGHT)}
            page = browser.new_page(viewport=size, color_scheme="light")
            photograph(page, url, link, address)
            page.close()


if __name__ == "__main__":
    main()
