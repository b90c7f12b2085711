"""Photograph Language routes for the README: ``make pictures`` (BABELSCOPE_CACHE chooses the store)."""

import os
import tempfile
from pathlib import Path

from tests.browser.running import ROOT, app, chromium, settle

TARGET = ROOT / "docs" / "pictures" / "routes.png"
ADDRESS = (
    "routes?benchmark=icd10&task=category&systems=bm25-cjk,all-minilm-l6-v2,use-multilingual-v3"
    "&route=en,ja&system=all-minilm-l6-v2"
)


def main():
    cache = os.environ.get("BABELSCOPE_CACHE") or ROOT / "cache"
    with tempfile.TemporaryDirectory() as folder, app(cache, Path(folder) / "log") as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 1000}, color_scheme="light", device_scale_factor=1)
        page.goto(f"{url}/{ADDRESS}")
        page.wait_for_selector(".js-plotly-plot", timeout=120_000)
        settle(page)
        page.wait_for_timeout(1500)
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(TARGET))
    print(TARGET)


if __name__ == "__main__":
    main()
