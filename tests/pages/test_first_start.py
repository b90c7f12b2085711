import pytest
from visits import job, parameters, words

from analysis import paths
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.store import write

PAGES = ("overview", "routes", "probe")


@pytest.mark.parametrize("name", PAGES)
def test_an_empty_cache_says_what_will_be_done_and_starts_it_once(empty, first_start, name):
    page = empty.page(name)
    assert not page.exception
    assert first_start.asked == ["start"]
    assert "its own clinical benchmark in six languages" in words(page)
    page.run()
    assert first_start.asked == ["start"]


def test_the_app_itself_leads_there(empty, first_start):
    app = empty.app()
    assert not app.exception
    assert "Which system" in app.title[0].value
    assert first_start.asked == ["start"]


def test_a_running_job_shows_step_count_speed_and_times(empty, first_start):
    first_start.said = job("running", "encode all-MiniLM", done=250, total=1000)
    page = empty.page("overview")
    said = words(page)
    assert "Now: encode all-MiniLM" in said
    assert "250 of 1,000 · 50 texts/s · 1 min 15 s so far · about 12 s left in this step" in said
    assert "read titles" in said
    assert page.get("progress")[0].proto.value == 25
    assert first_start.asked == []


def test_the_button_cancels(empty, first_start):
    first_start.said = job("running", "encode all-MiniLM", done=1, total=10)
    empty.page("overview").button[0].click().run()
    assert first_start.asked == ["cancel"]


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        ("failed", "no network: the package index did not answer", "no network: the package index did not answer"),
        ("cancelled", "cancelled", "was cancelled"),
        ("stopped", "the process ended", "was interrupted"),
    ],
)
def test_a_job_that_ended_badly_says_so_and_waits_for_the_button(empty, first_start, status, message, said):
    first_start.said = job(status, "read titles", message=message)
    page = empty.page("overview")
    assert first_start.asked == []
    assert said in words(page)
    assert page.button[0].label == "Try again"
    page.button[0].click().run()
    assert first_start.asked == ["start"]
    assert "is being built" in words(page)


def test_a_job_that_dies_at_once_is_not_started_for_ever(empty, first_start):
    first_start.dies = True  # and leaves no word
    page = empty.page("overview")
    page.run()
    assert first_start.asked == ["start"]
    assert "did not start" in words(page)


def test_what_is_there_is_shown_while_the_rest_runs(full, first_start):
    first_start.said = job("running", "encode all-MiniLM", done=5, total=10)
    page = full.page("routes")
    assert "More systems are being run. Now: encode all-MiniLM" in words(page)
    assert page.get("plotly_chart")


def test_a_benchmark_without_results_is_not_shown_while_it_runs(without_runs, first_start):
    first_start.said = job("running", "search BM25", done=0, total=1)
    page = without_runs.page("routes")
    assert "Nothing is here yet" in words(page)
    assert [box.label for box in page.selectbox] == ["Interface language"]


def test_a_build_cut_short_can_be_finished_beside_what_it_left(full, first_start):
    first_start.said = job("cancelled", "search BM25", message="cancelled")
    page = full.page("overview")
    assert page.get("plotly_chart")
    assert [button.label for button in page.sidebar.button] == ["Finish the first build"]  # ICD-10 is there


@pytest.fixture
def without_runs(empty, tmp_path):
    """A visit to a store that holds a benchmark nobody has run."""
    task = Task(
        "main",
        "Main",
        "?",
        (Document("d", "en", "d", "f"),),
        (Query("q", "en", "q", "f"),),
        (Judgement("q", "d", 1.0),),
    )
    benchmark = Benchmark("tiny", "1", "Tiny", False, "CC0", "by hand", (), {}, (task,))
    with write.writer(paths.cache(tmp_path)) as writer:
        writer.add_benchmark(benchmark)
    return empty


@pytest.mark.parametrize("name", PAGES)
def test_a_benchmark_without_runs_says_what_to_do_next(without_runs, name):
    page = without_runs.page(name)
    assert not page.exception
    assert "python -m analysis run --benchmark tiny --task main --systems all" in words(page)


def test_a_build_cut_short_before_the_first_run_offers_to_go_on(without_runs, first_start):
    first_start.said = job("cancelled", "search BM25", message="cancelled")
    page = without_runs.page("overview")
    assert "was cancelled" in words(page)
    assert [button.label for button in page.button] == ["Try again"]


def test_a_button_adds_icd10_and_the_page_keeps_its_benchmark(bedside, adding):
    page = bedside.page("overview")
    assert "11,255 real code titles" in words(page)
    page.sidebar.button[0].click().run()
    assert adding.asked == ["start"]
    assert parameters(page)["benchmark"] == "bedside"
    assert "Adding ICD-10: starting" in words(page)
    page.sidebar.button[0].click().run()
    assert adding.asked == ["start", "cancel"]


def test_adding_that_failed_says_why_and_can_be_tried_again(bedside, adding):
    adding.said = job("failed", "read titles", message="no network", name=adding.name)
    page = bedside.page("overview")
    assert "Adding ICD-10 failed: no network" in words(page)
    assert page.sidebar.button[0].label == "Add ICD-10"
