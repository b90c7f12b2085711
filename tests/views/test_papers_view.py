"""The figures that papers print, beside measured ones."""

import csv

import pytest

from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.model import silent
from analysis.paths import Cache
from analysis.store.read import open_store
from analysis.views import papers
from analysis.views.selection import Selection
from tests.hand_made import put_scores, score_rows, write_scores

MODELS = {"large": "BAAI/bge-m3", "small": "sentence-transformers/LaBSE", "org/other": "nobody/nothing"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The invented scores of three models under the names of two printed ones, as the task epo."""
    folder = tmp_path_factory.mktemp("papers")
    rows = [row | {"model": MODELS[row["model"]]} for row in score_rows()]
    cache, path = Cache(folder / "cache"), write_scores(folder / "s.csv", rows)
    put_scores(cache, path, name="other")
    import_scores(cache, request=ScoresRequest(path, "chemclir-bench", task="epo"), progress=silent)
    return open_store(cache)


def test_printed_figures_of_stored_systems_stand_beside_what_was_measured(store):
    found = papers.figures(store, Selection("chemclir-bench"))
    assert {row.system.name for row in found} == {"BAAI/bge-m3", "sentence-transformers/LaBSE"}
    assert {row.task for row in found} == {"epo", None}
    rows = {(row.system.short, row.measure): row for row in found}
    cross = rows["bge-m3", "R@10 cross"]
    assert (cross.printed, cross.plus_minus) == ("0.47", "")
    mine = [row["recall_at_10_cross"] for row in score_rows() if row["model"] == "large"]
    by_language = [mine[place::3] for place in range(3)]
    assert cross.measured == pytest.approx(sum(sum(part) / len(part) for part in by_language) / 3)
    assert (rows["LaBSE", "k80 cross"].printed, rows["LaBSE", "k80 cross"].measured) == ("> 1000", None)
    assert (rows["bge-m3", "k80 both"].printed, rows["bge-m3", "k80 both"].plus_minus) == ("304", "75")


def test_only_the_chosen_systems_and_whole_tasks(store):
    asked = Selection("chemclir-bench", systems=("BAAI/bge-m3",))
    assert {row.system.name for row in papers.figures(store, asked)} == {"BAAI/bge-m3"}
    assert papers.figures(store, asked._replace(where=(("language", "en"),))) == ()


def test_another_benchmark_has_no_paper(store, example_store):
    assert papers.figures(store, Selection("other")) == ()
    assert papers.figures(example_store, Selection("example")) == ()


def test_the_file_is_sound():
    with papers.FILE.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    keys = [tuple(row[name] for name in row if name not in {"value", "plus_minus", "note"}) for row in rows]
    assert len(keys) == len(set(keys)) > 100
    assert {row["benchmark"] for row in rows} == {"mmed-bench-ir", "chemclir-bench"}
    for row in rows:
        assert float(row["value"].removeprefix("> ")) >= 0
        assert (row["query_language"] == "") == (row["document_language"] == "")
