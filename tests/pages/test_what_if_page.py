"""What if, on the page: the quick is shown at once, the slow is a job, and what is kept stands beside the runs."""

import shutil
import time

import pytest
from visits import Visit, parameters, words

from analysis import jobs
from analysis.paths import Cache
from analysis.store import read


@pytest.fixture
def own(example_store, tmp_path, monkeypatch):
    """A visit to a copy of the worked example in which runs may be stored."""
    root = shutil.copytree(example_store.cache.root, tmp_path / "store")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(root))
    return Visit()


def options(page, label):
    return next(field for field in page.selectbox if field.label == label).options


def test_fused_runs_are_shown_beside_the_first(own):
    page = own.page("causes", part="what-if", system="good", what="rrf", smoothing="10")
    assert not page.exception
    said = words(page)
    assert "RRF of good + bad, k = 10" in said
    assert "R@10 cross" in said
    assert "Ranked anew from stored vectors and lists, not estimated" in said
    assert options(page, "What if") == [
        "Fuse runs by their ranks (RRF)",
        "Fuse runs by their scores",
        "Take the documents in the query's language out of the pool",
    ]
    assert len(page.get("plotly_chart")) == 2
    next(field for field in page.selectbox if field.label == "What if").set_value("other-languages").run()
    assert parameters(page)["what"] == "other-languages"
    assert "other languages only: R@10 cross" in words(page)


def test_one_run_alone_cannot_be_fused(own):
    page = own.page("causes", part="what-if", systems="good", system="good", what="rrf")
    assert not page.exception
    assert "good, other languages only" in words(page)


def test_what_takes_long_is_offered_as_a_job(own, monkeypatch):
    monkeypatch.setattr(jobs.what_if, "QUICK_ROWS", 1)
    page = own.page("causes", part="what-if", system="good", what="rrf")
    assert not page.exception
    assert "longer than a page should wait" in words(page)
    assert "Make it" in [button.label for button in page.button]


@pytest.mark.slow
def test_a_job_makes_it_and_keeps_it_as_a_run(own, monkeypatch, tmp_path):
    monkeypatch.setattr(jobs.what_if, "QUICK_ROWS", 1)
    page = own.page("causes", part="what-if", system="good", what="rrf")
    next(button for button in page.button if button.label == "Make it").click().run()
    all_ended()
    page = own.page("causes", part="what-if", system="good", what="rrf")
    assert "RRF of good + bad, k = 60" in words(page)
    next(field for field in page.text_input if field.label == "Name").set_value("fused")
    next(button for button in page.button if button.label == "Keep it").click().run()
    all_ended()
    store = read.open_store(Cache(tmp_path / "store"))
    assert [run.parents for run in store.runs([1]) if run.system == "fused"] == [("good", "bad")]
    assert "fused" in words(own.page("overview"))


def all_ended():
    end = time.time() + 120
    while any(job.state.status == "running" for job in jobs.listed()):
        assert time.time() < end
        time.sleep(0.05)
    assert {job.state.status for job in jobs.listed()} == {"done"}, [job.state.message for job in jobs.listed()]
