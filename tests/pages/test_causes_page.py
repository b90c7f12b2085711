"""Why it fails: looked at, not looked at, empty, and without rankings."""

import csv
import io
import shutil

import pytest
from visits import PlayedJob, Visit, job, words

from analysis import jobs
from analysis.jobs import Job, JobRequest
from analysis.jobs.diagnose import DiagnoseRequest, diagnose
from analysis.model import silent
from analysis.paths import Cache
from pages.shared import causes_table


@pytest.fixture(scope="module")
def looked_at(bedside_store, once):
    """Bedside with two quick systems, looked at."""

    def build(folder):
        shutil.copytree(bedside_store, folder)
        diagnose(Cache(folder), request=DiagnoseRequest("bedside", ("t1-alignment",)), progress=silent)

    return once("bedside-looked-at", build)


@pytest.fixture
def told(looked_at, monkeypatch):
    """A visit to it."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(looked_at))
    return Visit()


@pytest.fixture
def asked(monkeypatch):
    """The jobs that the page starts."""
    started = []
    monkeypatch.setattr(jobs, "launch", lambda command, **options: started.append((command, options["options"])))
    return started


@pytest.mark.slow
def test_the_page_answers_with_a_map_a_verdict_a_system_and_tables(told):
    page = told.page("causes")
    assert not page.exception
    said = words(page)
    assert "share no word with an answer in another language" in said
    assert "Query and answer have no word in common" in said
    assert "What stands out" in said
    assert len(page.get("plotly_chart")) == 3
    assert page.get("download_button")
    assert "has not been looked at yet" not in said


@pytest.mark.slow
def test_one_system_is_looked_at_cause_by_cause_and_the_address_says_which(told):
    page = told.page("causes", system="use-multilingual-v3")
    said = words(page)
    assert "USE multilingual, cause by cause" in said
    assert "A token of USE multilingual covers" in said
    assert "USE multilingual reads whole texts." in said
    assert "Two languages in one space" in said
    assert "The documents in the way" in said
    page.selectbox(key="causes-system").select("bm25").run()
    said = words(page)
    assert "BM25, cause by cause" in said
    assert "Tokens: it compares words, which have no vectors." in said
    assert "Two languages in one space" not in said


@pytest.mark.slow
def test_the_csv_has_every_number_with_its_interval(told):
    from analysis.views import causes
    from analysis.views.selection import Selection
    from analysis.views.source import open_source

    (task,) = causes.page(open_source(), Selection("bedside", ("t1-alignment",))).tasks
    header, rows = causes_table.numbers(task)
    found = {tuple(row[1:5]): dict(zip(header, row, strict=True)) for row in rows}
    words_ = found["bm25", "ja", None, "no_shared_word"]
    assert words_["low"] <= words_["value"] <= words_["high"]
    assert found["use-multilingual-v3", "en", "ja", "centroid_distance"]["value"] > 0
    assert found["use-multilingual-v3", "en", "ja", "alignment"]["low"] > 0.2
    assert found["use-multilingual-v3", None, None, "skewness_of_n_10"]["value"] > 1
    assert len(found) == len(rows)
    from pages.shared.tables import as_csv

    assert len(list(csv.reader(io.StringIO(as_csv(header, rows).decode("utf-8-sig"))))) == len(rows) + 1


@pytest.mark.slow
def test_what_nobody_has_looked_at_is_offered_and_the_lists_tell_already(bedside, asked):
    page = bedside.page("causes", task="t3-evidence")
    assert not page.exception
    said = words(page)
    assert "What 2 systems on this task see of a text has not been looked at yet." in said
    assert "Nobody has looked at the vectors yet." in said
    assert len(page.get("plotly_chart")) == 2  # without the space
    page.button(key="diagnose").click().run()
    assert asked == [("diagnose", {"benchmark": "bedside", "task": "t3-evidence"})]


@pytest.mark.slow
def test_a_running_job_is_shown_instead_of_the_button(bedside, monkeypatch):
    played = PlayedJob("diagnose-20260101-000000-ab")
    state = job("running", "tokens of all-MiniLM", done=3, total=10, name=played.name)
    request = JobRequest(("diagnose", "--benchmark=bedside", "--task=t1-alignment"))
    monkeypatch.setattr(jobs, "listed", lambda folder=None: (Job(state, 0.0, False, request),))
    monkeypatch.setattr(jobs, "state", lambda name, folder=None: state if name == played.name else None)
    page = bedside.page("causes")
    assert not page.exception
    assert "Look at what lies behind the runs of bedside: tokens of all-MiniLM" in words(page)
    assert "has not been looked at yet" not in words(page)
    assert "diagnose" not in [button.key for button in page.button]


@pytest.mark.slow
def test_why_the_last_look_ended_badly_is_said(bedside, monkeypatch):
    state = job("failed", "encode", message="the disk is full", name="diagnose-20260101-000000-ab")
    request = JobRequest(("diagnose", "--benchmark=bedside"))
    monkeypatch.setattr(jobs, "listed", lambda folder=None: (Job(state, 0.0, False, request),))
    page = bedside.page("causes")
    assert "The last time it ended badly: the disk is full." in words(page)
    assert page.button(key="diagnose")


def test_the_worked_example_has_lists_alone(example):
    page = example.page("causes")
    assert not page.exception
    assert "What 2 systems on this task see of a text" in words(page)


def test_an_empty_cache_starts_the_first_build(empty):
    page = empty.page("causes")
    assert not page.exception
    assert "Nothing is here yet" in words(page)


def test_scores_without_documents_say_so(imported):
    page = imported.page("causes")
    assert not page.exception
    assert "This benchmark has per-query scores only: the causes of failure need rankings." in words(page)


def test_the_menu_has_the_page(example):
    app = example.page("overview")
    assert "Why it fails" in words(app)
