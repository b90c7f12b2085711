"""One Chromium and one app over the shared real store for all browser tests of a run."""

import contextlib
import os
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Error

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.jobs.build import build_bedside
from analysis.model import silent
from analysis.paths import Cache
from tests.browser.running import app, chromium


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def chrome():
    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(chromium())
        except Error as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no Chromium here (make browser installs one): {error}")
        yield browser


@pytest.fixture(scope="session")
def running_app(real_store, tmp_path_factory):
    with app(real_store, tmp_path_factory.mktemp("app") / "log") as url:
        yield url


@pytest.fixture
def visit(chrome):
    """Open a page in a browser session of its own; a page error fails the test."""
    contexts = []

    def open_page(url, *, width=1440):
        context = chrome.new_context(viewport={"width": width, "height": 1000})
        contexts.append(context)
        page = context.new_page()
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            boxes = page.locator('[data-testid="stException"]').all_inner_texts()
            assert not boxes
        context.close()


@pytest.fixture
def bedside_questions(tmp_path):
    """The cache folder of a store with Bedside and no run."""
    cache = Cache(tmp_path / "cache")
    build_bedside(cache, progress=silent)
    return cache.root


@pytest.fixture
def no_network(tmp_path):
    """The environment of an app that cannot reach beyond this machine, and the file of what it tried to reach."""
    tried = tmp_path / "tried"
    hook = str(Path(__file__).parent / "no_network")
    return {"PYTHONPATH": hook, "NO_NETWORK_LOG": str(tried), "HF_HUB_OFFLINE": "0"}, tried
