"""Script runs of pages in a process of its own: the first sight of a store, and again with what is remembered."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.performance.row import Row, late, seconds
from tests.performance.run_files import peak_memory

ROOT = Path(__file__).resolve().parents[2]
NAMES = tuple(sorted(path.stem for path in (ROOT / "pages").glob("[a-z]*.py") if path.stem != "start"))
MAPPED = "t1-alignment"
TIMES = 20


class Sight(NamedTuple):
    page: str
    first: float  # seconds of the first script run over this store
    again: list[float]  # of further ones in the same session


def visited(cache, names=NAMES, **parameters):
    """What each page takes in one fresh process, and the most memory that it holds."""
    asked = [*names, *(f"{key}={value}" for key, value in parameters.items())]
    done = subprocess.run(
        [sys.executable, "-m", "tests.performance.pages", *asked],
        cwd=ROOT,
        env=os.environ | {"BABELSCOPE_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found = json.loads(done.stdout)
    return [Sight(*sight) for sight in found["pages"]], found["peak"]


def map_page(cache):
    """The page with two maps side by side."""
    (sight,), _ = visited(
        cache, ("map",), benchmark="bedside", task=MAPPED, beside="use-multilingual-v3", times=3 * TIMES
    )
    return Row(
        "the page Embedding map with Bedside's alignment as two encoders place it: script run",
        "–",
        None,
        "p95 < 500 ms",
        f"again {1000 * statistics.median(sight.again):.0f} ms, 95 of 100 within {1000 * late(sight.again):.0f} ms; "
        f"first sight in a fresh process {1000 * sight.first:.0f} ms",
    )


def warm_pages(deep, shallow, *, work):
    """Every page over a large store, and over the same with short lists; the row of the slowest, and a table of all."""
    found, peak = visited(deep)
    others, _ = visited(shallow)
    slowest = max(found, key=lambda sight: late(sight.again))
    ratios = {
        a.page: statistics.median(a.again) / statistics.median(b.again) for a, b in zip(found, others, strict=True)
    }
    row = Row(
        f"warm pages, {work}; the slowest",
        "the same page at depth 10",
        max(ratios.values()),
        "p95 < 500 ms, ≤ 1.3×, < 1.5 GB",
        f"{slowest.page}: 95 of 100 within {1000 * late(slowest.again):.0f} ms; the process of all pages held "
        f"{peak:,.0f} MB at most",
    )
    return [row], list(_table(found, others, ratios))


def _table(found, others, ratios):
    yield "Script runs of every page over that store; first sight counts what is remembered afterwards:"
    yield ""
    yield "| page | again, median | p95 | at depth 10 | ratio | first sight | at depth 10 |"
    yield "|---|---|---|---|---|---|---|"
    for deep, shallow in zip(found, others, strict=True):
        numbers = (statistics.median(deep.again), late(deep.again), statistics.median(shallow.again))
        cells = [f"{1000 * number:.0f} ms" for number in numbers]
        cells += [f"{ratios[deep.page]:.2f}×", f"{deep.first:.2f} s", f"{shallow.first:.2f} s"]
        yield f"| {deep.page} | {' | '.join(cells)} |"


def _sight(name, parameters, times):
    from tests.pages.visits import Visit

    opened = []
    first = seconds(lambda: opened.append(Visit().page(name, **parameters)))
    (app,) = opened
    again = [seconds(app.run) for _ in range(times)]
    if said := [*app.exception, *app.error]:
        raise RuntimeError(f"{name}: {said[0].value}")
    return Sight(name, first, again)


def main(arguments):
    parameters = dict(one.split("=") for one in arguments if "=" in one)
    times = int(parameters.pop("times", TIMES))
    names = [one for one in arguments if "=" not in one]
    sights = [_sight(name, parameters, times) for name in names]
    print(json.dumps({"pages": sights, "peak": peak_memory()}))


if __name__ == "__main__":
    main(sys.argv[1:])
