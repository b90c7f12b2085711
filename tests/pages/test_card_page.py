"""The card of a benchmark on Data and runs: sections, files it is looked for in, own runs before published ones."""

import time

import pytest
from visits import Visit, words

from analysis import jobs
from analysis.jobs import places
from analysis.jobs.training import TrainingRequest, look_through
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.views import training
from tests.overlapping import FILE, put_overlapping
from tests.published_files import put_published, put_results


@pytest.fixture
def visit(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "store")
    put_overlapping(cache)
    monkeypatch.setenv("BABELSCOPE_CACHE", str(cache.root))
    (tmp_path / "train.txt").write_text("\n".join(FILE), encoding="utf-8")
    return Visit()


def looked(tmp_path):
    request = TrainingRequest("overlapping", tmp_path / "train.txt")
    look_through(places.paths.cache(), request=request, progress=silent)


def test_the_card_says_what_its_tasks_share_and_what_occurs_elsewhere(visit, tmp_path):
    page = visit.page("data")
    assert not page.exception
    said = words(page)
    assert "First and Second share 1 of 3 different queries." in said
    assert "It was looked for in no file yet" in said
    looked(tmp_path)
    page = visit.page("data")
    assert not page.exception
    said = words(page)
    assert "6 of 8 queries occur in train.txt." in said
    assert "Too short" in said
    labels = [element.proto.label for element in page.get("download_button")]
    for label in ("Whole card (Markdown)", "Whole card (JSON)", "CSV of words", "CSV of all that occurs"):
        assert label in labels
    headers = [header.value for header in (*page.header, *page.subheader)]
    order = ["Separation", "Against training files", "About this benchmark", "Everything stored here"]
    assert [header for header in headers if header in order] == sorted(order, key=headers.index)


def test_own_runs_stand_before_what_others_published(visit, tmp_path):
    put_published(places.paths.cache(), put_results(tmp_path / "results"))
    page = visit.page("data", benchmark="overlapping")
    assert not page.exception
    labels = [expander.label for expander in page.expander]
    assert labels.index("Runs on other tasks") < labels.index("Published results")
    tables = [element.proto.body for element in page.get("html") if "<table" in element.proto.body]
    own = next(place for place, table in enumerate(tables) if 'aria-label="Runs on First"' in table)
    published = next(place for place, table in enumerate(tables) if 'aria-label="Published results"' in table)
    assert own < published
    assert "published" not in tables[own]


@pytest.mark.slow
def test_a_file_is_looked_through_from_the_page(visit, tmp_path, monkeypatch):
    monkeypatch.setenv(places.VARIABLE, str(tmp_path))
    page = visit.page("data")
    button = next(button for button in page.button if button.label == "Look for it")
    assert button.disabled
    field = next(field for field in page.text_input if field.key == "training-path")
    field.set_value("../etc/passwd").run()
    assert "outside of what this server allows" in words(page)
    next(field for field in page.text_input if field.key == "training-path").set_value("train.txt").run()
    next(button for button in page.button if button.label == "Look for it").click().run()
    end = time.time() + 60
    while any(job.state.status == "running" for job in jobs.listed()):
        assert time.time() < end, "waited in vain"
        time.sleep(0.05)
    (job,) = jobs.listed()
    assert job.state.status == "done", job.state.message
    assert jobs.result(job.name).outcome.startswith("6 of 8 queries occur in train.txt.")
    (found,) = training.trainings(read.open_store(places.paths.cache()), 1)
    assert sum(row.found for row in found.texts) == 6
    page = visit.page("data", part="jobs")
    assert "Look for overlapping in a training file" in words(page)
