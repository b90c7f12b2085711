"""A running app and a Chromium for the browser tests and the README's picture."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


NO_WEBGL = """
const original = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return String(kind).includes("webgl") ? null : original.call(this, kind, ...rest);
};
"""


@contextlib.contextmanager
def bare(browser, url, *, width, height):
    """A session without WebGL; a page error fails, and so does a request to anywhere but the app at ``url``."""
    context = browser.new_context(viewport={"width": width, "height": height})
    context.add_init_script(NO_WEBGL)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    try:
        yield page
        assert page.evaluate("() => document.createElement('canvas').getContext('webgl2')") is None
        assert page.locator('[data-testid="stException"]').count() == 0
        here = (url, url.replace("http", "ws"), "data:", "blob:")
        assert [address for address in asked if not address.startswith(here)] == []
    finally:
        context.close()


@contextlib.contextmanager
def chromium():
    """A headless Chromium: the system's where there is one, else Playwright's own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def app(cache, log, *, environment=None):
    """The app on its own port over a cache folder; yields its address and ends only what it started."""
    port = free_port()
    with Path(log).open("wb") as output:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "streamlit",
                "run",
                "app.py",
                f"--server.port={port}",
                "--server.headless=true",
                "--server.address=127.0.0.1",
            ],
            cwd=ROOT,
            env=os.environ | {"BABELSCOPE_CACHE": str(cache), "HF_HUB_OFFLINE": "1"} | (environment or {}),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield wait_until_up(f"http://127.0.0.1:{port}", process, log)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)


def wait_until_up(url, process, log, *, seconds=90):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as reply:
            if reply.status == 200:
                return url
        time.sleep(0.05)
    raise RuntimeError(f"the app did not come up:\n{Path(log).read_text(errors='replace')[-2000:]}")


SETTLED = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const drawn = (chart) => chart.querySelector('.js-plotly-plot .main-svg');
    return app?.dataset.testScriptState === 'notRunning' && app.dataset.testConnectionState === 'CONNECTED'
        && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"], [data-testid="stSpinner"]')
        && [...document.querySelectorAll('[data-testid="stPlotlyChart"]')].every(drawn);
}"""


def settle(page, *, milliseconds=60_000, pause=150):
    """Wait until the page's script run has ended, all of its charts are drawn, and it stays so."""
    page.wait_for_function(SETTLED, timeout=milliseconds)
    page.wait_for_timeout(pause)
    page.wait_for_function(SETTLED, timeout=milliseconds)
