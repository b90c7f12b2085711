"""The Overview of a benchmark that has the three tasks."""

import pytest
from visits import Visit, words

from analysis.jobs.build import build_bedside
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache


@pytest.fixture(scope="module")
def bedside_store(tmp_path_factory):
    """Bedside with two systems that are quick."""
    cache = Cache(tmp_path_factory.mktemp("bedside"))
    address = build_bedside(cache, progress=silent)
    run(cache, request=RunRequest(address, systems=("bm25", "use-multilingual-v3")), progress=silent)
    return cache.root


@pytest.mark.slow
def test_the_three_tasks_and_their_mean_lead_the_page(bedside_store, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(bedside_store))
    page = Visit().page("overview")
    assert not page.exception
    said = words(page)
    assert "USE multilingual has the highest MMed-IR" in said
    assert {"Alignment", "Discrimination", "Evidence"} <= set(said.replace("<", " ").replace(">", " ").split())
    assert "no clinician or native speaker has reviewed it" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["routes", "tiers", "fairness"])
def test_every_page_opens_on_it(bedside_store, monkeypatch, name):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(bedside_store))
    for task in ("t1-alignment", "t2-discrimination", "t3-evidence"):
        page = Visit().page(name, task=task)
        assert not page.exception
        assert not page.error
