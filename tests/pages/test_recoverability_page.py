"""The page of depth: the slider, the split, and what it says where there is nothing to measure."""

import csv
import io
import re

import pytest
from visits import Visit, parameters, words

from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from pages.shared import recoverability_table
from tests.hand_made import put, ranking_of

PLACE = re.compile(r"A top-(\d+) re-ranker of ([\w -]+) can fix at most ([\d.]+) %")


@pytest.fixture
def alone(tmp_path, monkeypatch, first_start):
    """A visit to a store in which no question has an answer in another language."""
    documents = tuple(Document(f"d{n}", "en", f"text {n}", family=f"d{n}") for n in range(4))
    query = Query("q", "en", "question", family="d0")
    task = Task("main", "Alone", "Which?", documents, (query,), (Judgement("q", "d0", 1.0),), default=True)
    benchmark = Benchmark("alone", "1", "Alone", False, "CC0", "by hand", (), {}, (task,))
    cache = Cache(tmp_path / "alone")
    put(cache, benchmark, {("good", "lexical"): ranking_of(task, [["d0", "d1"]], depth=4)})
    monkeypatch.setenv("BABELSCOPE_CACHE", str(cache.root))
    return Visit()


def slider(page):
    return page.select_slider(key="recoverability-k")


def test_the_page_answers_its_question_with_charts_tables_and_numbers(full):
    page = full.page("recoverability", task="category")
    assert not page.exception
    assert not page.error
    said = words(page)
    assert PLACE.search(said)
    assert "K for 90 %" in said
    assert "k80 both" in said
    assert len(page.get("plotly_chart")) == 4
    assert len(page.get("download_button")) == 2
    assert "Which of two stages loses the answer" in said
    assert "this system does not retrieve the thing whose depth is measured: BM25" in said


def test_the_slider_moves_the_sentence_the_stack_and_the_table_together(example):
    page = example.page("recoverability")
    assert slider(page).value == "10"  # the run ends there
    assert "A top-10 re-ranker of good can fix at most 100 %; 0 % is unreachable." in words(page)
    slider(page).set_value("3").run()
    assert parameters(page) == {"k": "3"}
    said = words(page)
    assert "A top-3 re-ranker of good can fix at most 50 %; 0 % is unreachable." in said
    assert "Where the answer stands at K = 3" in said
    assert "RRC@3" in said
    assert 'title="RRC@3 0.5000' in said
    slider(page).set_value("10").run()
    assert parameters(page) == {}


def test_the_address_sets_the_slider_and_a_k_that_is_not_offered_does_not(example):
    page = example.page("recoverability", k="2")
    assert slider(page).value == "2"
    assert "A top-2 re-ranker of good can fix at most 0 %" in words(page)
    assert slider(example.page("recoverability", k="7")).value == "10"


def test_moving_the_slider_asks_the_store_nothing_new(example, monkeypatch):
    page = example.page("recoverability")
    monkeypatch.setattr("analysis.stats.bootstrap.pooled_draws", None)
    slider(page).set_value("1").run()
    assert not page.exception
    assert "A top-1 re-ranker" in words(page)


@pytest.mark.parametrize("by", ["language", "route"])
def test_a_split_lives_in_the_address_and_shows_every_part(example, by):
    page = example.page("recoverability")
    page.selectbox(key="recoverability-by").select(by).run()
    assert parameters(page) == {"by": by}
    assert not page.exception
    said = words(page)
    names = ["en", "ja"] if by == "language" else ["en → fr", "en → ja", "ja → en", "ja → fr"]
    for name in names:
        assert f'<span dir="auto">{name}</span>' in said
    assert "1*" in said  # one query each
    assert "fewer than 30 queries" in said
    assert example.page("recoverability", by=by).selectbox(key="recoverability-by").value == by


def test_an_attribute_of_few_values_is_offered(full):
    page = full.page("recoverability", task="category", systems="bm25,all-minilm-l6-v2")
    offered = page.selectbox(key="recoverability-by").options
    assert offered[:3] == ["Nothing", "Query language", "Route"]
    assert len(offered) == len(set(offered))


def test_a_pool_too_small_is_said_in_grey(example):
    assert "The pool is too small for depth questions" in words(example.page("recoverability"))


def test_queries_without_an_own_language_have_no_reading_cost(full):
    page = full.page("recoverability", task="parallel-titles", systems="all-minilm-l6-v2")
    assert not page.exception
    assert "XRC is undefined here" in words(page)
    assert len(page.get("plotly_chart")) == 2


def test_without_answers_in_another_language_the_page_says_so(alone):
    page = alone.page("recoverability")
    assert not page.exception
    assert "no question has an answer in another language than its own" in words(page)
    assert not page.get("plotly_chart")


def test_scores_alone_are_not_enough(imported_store, monkeypatch, first_start):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(imported_store.cache.root))
    page = Visit().page("recoverability")
    assert not page.exception
    assert "This benchmark has per-query scores only: depth needs rankings." in words(page)


def test_no_system_is_one_sentence(full):
    assert "No system is chosen" in words(full.page("recoverability", systems=""))


def test_the_depth_over_all_tasks_comes_when_it_is_asked_for(full):
    page = full.page("recoverability", task="category")
    assert "Over all tasks" in words(page)
    count = words(page).count("k80 both")
    page.toggle[0].set_value(True).run()
    assert not page.exception
    assert parameters(page)["pooled"] == "yes"
    assert words(page).count("k80 both") == count + 1


def test_a_benchmark_of_one_task_has_nothing_to_pool(example):
    page = example.page("recoverability")
    assert "Over all tasks" not in words(page)
    assert not page.toggle


def test_the_csv_files_carry_exactly_what_is_drawn(example_store):
    from analysis.views import recoverability
    from analysis.views.selection import Selection
    from pages.shared import tables

    task = recoverability.at(recoverability.recoverability(example_store, Selection("example")).tasks[0], k=3)
    read = [
        list(csv.DictReader(io.StringIO(tables.as_csv(*rows).decode("utf-8-sig"))))
        for rows in (recoverability_table.curve_numbers(task), recoverability_table.numbers(task.rows))
    ]
    drawn = {(row.system.name, point.k): point.rrc for row in task.rows for point in row.curve.points}
    assert {(line["system"], int(line["k"])): float(line["rrc"]) for line in read[0]} == drawn
    good = {line["number"]: line for line in read[1] if line["system"] == "good"}
    assert float(good["RRC@3"]["value"]) == 0.5
    assert float(good["XRC at 0.5"]["value"]) == 3
    assert (good["k80 cross"]["value"], good["k80 cross"]["bound"]) == ("4", "exact")
    bad = {line["number"]: line for line in read[1] if line["system"] == "bad"}
    assert (bad["k80 cross"]["value"], bad["k80 cross"]["bound"]) == ("", "> 10")
