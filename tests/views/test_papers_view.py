"""The figures that papers print: the file itself, and what stands beside them where their benchmark is stored."""

import csv
from collections import Counter
from dataclasses import replace

import pytest
from scipy.stats import friedmanchisquare

from analysis.errors import InputError
from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.languages import canonical
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems import catalogue
from analysis.views import papers, papers_measured
from analysis.views.evidence import measure_label
from analysis.views.selection import Selection
from tests.hand_made import put, put_scores, ranking_of, score_rows, worked_example, write_scores

MODELS = ("BAAI/bge-m3", "sentence-transformers/LaBSE", "embeddinggemma-300m", "Qwen3-0.6B", "nobody/nothing",
          "nomic-ai/nomic-embed-text-v2-moe", "intfloat__multilingual-e5-large-instruct", "SapBERT-XLMR")  # fmt: skip
"""Hub ids, a catalogue name, names on charts, one of another form, and one that no paper names."""

CHEMISTRY = Selection("chemclir-bench")


# The file


def test_every_figure_is_there_once_with_a_system_and_measure_that_are_known():
    with papers.FILE.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 159
    assert Counter(row["benchmark"] for row in rows) == {"mmed-bench-ir": 21, "chemclir-bench": 138}
    keys = [tuple(row[name] for name in row if name not in {"value", "plus_minus", "note"}) for row in rows]
    assert len(set(keys)) == 159
    own = {row["name"] for row in rows if not row["system"]}
    assert own == {"best system", "strongest system", "all eight systems"}
    assert {row["system"] for row in rows if row["system"]} <= {*catalogue.systems(catalogue.CATALOGUE), *papers.OTHERS}
    assert {row["paper"] for row in rows} == {"MMed-Bench-IR (arXiv 2606.24200)", "ChemCLIR-Bench"}
    assert {row["task"] for row in rows} <= {"", *papers.TASKS}
    for row in rows:
        assert row["measure"] in papers.LABELS or measure_label(row["measure"])
        assert all(canonical(tag).tag == tag for tag in (row["query_language"], row["document_language"]) if tag)
        assert float(row["value"].removeprefix("> ")) >= 0
        assert not row["plus_minus"] or float(row["plus_minus"]) > 0
        assert bool(row["place"]) == (row["benchmark"] == "mmed-bench-ir")


def test_every_figure_has_a_page_and_a_label_without_a_store():
    every = papers.everything()
    assert Counter(figure.page for figure in every) == {
        "overview": 108, "recoverability": 34, "fairness": 7, "routes": 6, "tiers": 2, "significance": 2,
    }  # fmt: skip
    assert set(papers_measured.PAGES) == {figure.page for figure in every}
    named = {(figure.system.short, figure.label, figure.task_title): figure for figure in every}
    assert len(named) == 159
    assert named["SapBERT", "nDCG@10 ja", "Task 3, evidence"].printed == "0.056"
    assert named["ColBERT-XM", "R@1 related", "Task 2, concept discrimination"].printed == "0.008"
    assert named["EmbeddingGemma", "R@10 en → de", "Google Patents"].printed == "0.18"
    assert named["BGE-M3", "k80 both", "All tasks"].written == "304 ± 75"
    assert named["LaBSE", "k80 cross", "All tasks"].written == "> 1000"
    assert named["RRF BM25 + BGE-M3", "MMed-IR", "All tasks"].own_name == "Hybrid RRF"
    assert not named["EmbeddingGemma", "floor", "Google Patents"].own_name  # the paper's "embeddinggemma"


# Beside what was measured


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Invented scores of eight models as the task google-patents, and of three as another benchmark."""
    folder = tmp_path_factory.mktemp("papers")
    rows = []
    for place, model in enumerate(MODELS):
        rows += [
            row | {"model": model, "recall_at_10": (row["number"] * (place + 3) % 5) / 4}
            for row in score_rows()
            if row["model"] == "large"
        ]
    cache, path = Cache(folder / "cache"), write_scores(folder / "s.csv", rows)
    put_scores(cache, write_scores(folder / "other.csv", score_rows()), name="other")
    request = ScoresRequest(path, "chemclir-bench", task="google-patents", family_from_id=True)
    import_scores(cache, request=request, progress=silent)
    return cache


@pytest.fixture(scope="module")
def store(cache):
    return read.open_store(cache)


def test_they_stand_beside_the_same_system_by_any_of_its_names(store):
    found = papers.figures(store, CHEMISTRY, page="overview")
    assert len(found) == 96  # eight systems, both tasks, though one is not stored
    stored = {figure.system.name for figure in found if figure.system.name in MODELS}
    assert stored == {*MODELS} - {"nobody/nothing"}
    mine = [row["recall_at_10_cross"] for row in score_rows() if row["model"] == "large"]
    means = [sum(mine[place::3]) / len(mine[place::3]) for place in range(3)]
    for figure in found:
        here = figure.measure == "recall_at_10_cross" and figure.task == "google-patents"
        if here and figure.system.name in MODELS:
            assert figure.measured == pytest.approx(sum(means) / 3)
            assert figure.measured_words == f"{sum(means) / 3:.2f}"
        if figure.task == "epo" or "_25_" in figure.measure or figure.system.name == "granite-278m-multilingual":
            assert figure.measured is None
    assert all(figure.published for figure in found)


def test_friedmans_test_of_eight_systems(store):
    google, epo = papers.figures(store, CHEMISTRY, page="significance")
    scores = [[(number * (place + 3) % 5) / 4 for number in range(40)] for place in range(8)]
    assert (google.printed, google.note) == ("809", "df 7")
    assert google.measured == pytest.approx(friedmanchisquare(*scores).statistic)
    assert (epo.printed, epo.measured) == ("310", None)
    some = papers.figures(store, CHEMISTRY._replace(systems=MODELS[:3]), page="significance")
    assert some == ()  # a test of all systems is of no chosen one


def test_only_the_chosen_systems_and_whole_tasks(store):
    asked = CHEMISTRY._replace(systems=("BAAI/bge-m3",))
    found = papers.figures(store, asked)
    assert {figure.system.name for figure in found} == {"BAAI/bge-m3"}
    assert len(found) == 18  # as many as the paper prints of it
    assert papers.figures(store, asked._replace(where=(("language", "en"),))) == ()
    with pytest.raises(InputError, match="unknown task"):
        papers.figures(store, CHEMISTRY._replace(tasks=("nothing",)))


def test_another_benchmark_has_no_paper(store, example_store):
    assert papers.figures(store, Selection("other")) == ()
    assert papers.figures(example_store, Selection("example")) == ()
    assert papers.builds(store, Selection("other")) == ()


def test_an_unknown_size_is_said(store):
    builds = papers.builds(store, CHEMISTRY)
    assert [(build.task, build.n_queries, build.n_printed) for build in builds] == [("google-patents", 40, None)]
    assert papers.another_build(builds) == ""
    found = papers.figures(store, CHEMISTRY)
    words = papers.beside(found, builds, where="below")
    assert words == (
        "below: measured here (not checked to be the paper’s build: its number of queries is not known for Google "
        "Patents)"
    )
    assert papers.remarks(found) == (
        "XRC of intfloat__multilingual-e5-large-instruct: hollow: it hardly retrieves across languages · "
        "Friedman χ² of all eight systems: df 7"
    )


def test_another_size_is_another_build_and_nothing_stands_beside_it(store, monkeypatch):
    monkeypatch.setitem(papers.N_QUERIES, ("chemclir-bench", "google-patents"), 198)
    builds = papers.builds(store, CHEMISTRY)
    assert papers.another_build(builds) == (
        "Another build than the paper’s: Google Patents asks 40 queries and the paper’s 198. Nothing measured on it "
        "stands beside printed figures."
    )
    found = papers.figures(store, CHEMISTRY)
    assert len(found) == 138
    assert not any(figure.measured_words or figure.measured for figure in found)
    assert papers.beside(found, builds, where="below") == "nothing measured here stands beside them"
    monkeypatch.setitem(papers.N_QUERIES, ("chemclir-bench", "google-patents"), 40)
    same, beside = papers.builds(store, CHEMISTRY), papers.figures(store, CHEMISTRY, page="overview")
    assert papers.beside(beside, same, where="x") == "x: measured here (on as many queries as in the paper)"


def ranked(tmp_path, benchmark, task, *systems, tier=None):
    """The worked example as a task of a paper: the English query finds its answers, the Japanese one its last."""
    made = worked_example()
    queries = tuple(query._replace(tier=tier) for query in made.tasks[0].queries)
    made = replace(made, name=benchmark, tasks=(replace(made.tasks[0], name=task, queries=queries),))
    lists = [["c-en", "c-fr", "c-ja"], ["f0-en", "f1-en", "f2-en", "c-ja"]]
    cache = Cache(tmp_path)
    put(cache, made, {(name, "multilingual dense"): ranking_of(made.tasks[0], lists, depth=11) for name in systems})
    return read.open_store(cache)


def by_label(store, benchmark, page):
    return {
        (figure.name, figure.label): (figure.measured, figure.measured_words)
        for figure in papers.figures(store, Selection(benchmark), page=page)
        if figure.measured_words
    }


def test_routes_and_depth_of_rankings(tmp_path):
    store = ranked(tmp_path, "chemclir-bench", "google-patents", "google/embeddinggemma-300m")
    assert by_label(store, "chemclir-bench", "routes") == {("embeddinggemma", "R@10 en → en"): (1.0, "1.00")}
    found = by_label(store, "chemclir-bench", "recoverability")
    assert found["embeddinggemma", "RRC@5"] == (0.5, "0.50")
    assert ("embeddinggemma", "floor") not in found  # the ranking ends above 1,000


def test_tiers_and_fairness_of_rankings(tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "N_QUERIES", {})
    store = ranked(tmp_path / "two", "mmed-bench-ir", "t2-discrimination", "colbert-xm", tier="related")
    assert by_label(store, "mmed-bench-ir", "tiers") == {("ColBERT-XM", "R@1 related"): (pytest.approx(1 / 6), "0.17")}
    store = ranked(tmp_path / "three", "mmed-bench-ir", "t3-evidence", "SapBERT", "bge-m3")
    found = by_label(store, "mmed-bench-ir", "fairness")
    assert found["SapBERT", "nDCG@10 en"] == (1.0, "1.00")
    low = found["SapBERT", "nDCG@10 ja"][0]
    assert found["BGE-M3", "fairness gap"][0] == pytest.approx(1 - low)
