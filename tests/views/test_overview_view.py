from dataclasses import replace

import pytest
import pytrec_eval

from analysis.errors import InputError
from analysis.model import Judgement, Query
from analysis.paths import Cache
from analysis.views import overview
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example


def board(store, selection):
    (task,) = overview.overview(store, selection).tasks
    return task.rows


@pytest.fixture(scope="module")
def rows(example_store):
    view = overview.overview(example_store, Selection("example"))
    return {row.system.name: row for row in view.tasks[0].rows}


def test_the_worked_example_reaches_the_leaderboard(rows):
    measures = rows["good"].measures
    assert measures["recall_at_10"].value == pytest.approx(2 / 3)
    assert measures["recall_at_10_same"].value == 1
    assert measures["recall_at_10_cross"].value == 0.5
    assert measures["ndcg_at_10"].value == pytest.approx(0.6011, abs=5e-5)
    assert measures["language_transfer"].value == 50
    assert measures["hit_at_1"].value == 0.5
    assert measures["rr"].value == 0.75


def test_both_means_and_their_names_stand_beside_each_other(rows):
    assert rows["good"].measures["recall_at_10"].aggregate == "balanced"
    assert rows["good"].measures["ndcg_at_10"].aggregate == "pooled"
    assert rows["good"].measures["ndcg_at_10"].other_mean == pytest.approx(rows["good"].measures["ndcg_at_10"].value)


def test_one_family_leaves_no_spread(rows):
    interval = rows["good"].measures["ndcg_at_10"]
    assert interval.low == interval.high == pytest.approx(interval.value)
    assert interval.method == "percentile-joint, B = 2000"
    assert interval.n == 2


def test_the_ceiling_of_recall_at_1_is_a_third(example_store):
    view = overview.overview(example_store, Selection("example"), measures=("recall_at_1", "hit_at_1"))
    assert view.tasks[0].rows[0].measures["recall_at_1"].ceiling == pytest.approx(1 / 3)
    assert view.tasks[0].rows[0].measures["hit_at_1"].ceiling is None


def test_a_query_missing_from_the_run_counts_zero_and_is_said_aloud(example_store, rows):
    assert rows["bad"].n_missing == 1
    assert rows["bad"].measures["hit_at_1"].value == 0
    assert rows["bad"].measures["rr"].value == 0.25  # 1/2 and 0
    note = overview.overview(example_store, Selection("example")).tasks[0].coverage_note
    assert "bad returned nothing for 1 of 2" in note


def test_degeneracy_and_depth(rows):
    assert rows["good"].degenerate is False
    assert rows["bad"].degenerate is True
    assert rows["good"].depth == 10  # as searched, though the lists are shorter


def test_best_first_and_the_sentence_says_so(example_store):
    task = overview.overview(example_store, Selection("example")).tasks[0]
    assert [row.system.name for row in task.rows] == ["good", "bad"]
    assert task.takeaway.bold.startswith("good leads with nDCG@10 0.60")


def test_a_slice_keeps_only_its_queries(example_store):
    view = overview.overview(example_store, Selection("example", where=(("language", "en"),)))
    row = view.tasks[0].rows[0]
    assert row.n_queries == 1
    assert row.measures["ndcg_at_10"].value == pytest.approx(0.6714, abs=5e-5)


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection("other"), "example@1"),
        (Selection("example", tasks=("nope",)), "main"),
        (Selection("example", systems=("nope",)), "good"),
        (Selection("example", where=(("colour", "red"),)), "tier"),
    ],
)
def test_what_is_unknown_is_refused_with_what_is_known(example_store, selection, names):
    with pytest.raises(InputError, match=names):
        overview.overview(example_store, selection)


def test_contents_offer_what_is_stored(example_store):
    contents = overview.contents(example_store)
    assert contents.benchmark.address == "example"
    assert [system.name for system in contents.systems] == ["bad", "good"]  # by paradigm
    assert [task.name for task in contents.tasks] == ["main"]
    assert contents.slices == (("language", "en"), ("language", "ja"))


def test_what_trec_eval_c_would_show_is_said_where_it_differs(example_store, tmp_path):
    """A third query has a judgement of 0 only: trec_eval -c divides by three, this leaderboard by two."""
    assert all(row.trec_eval_c is None for row in board(example_store, Selection("example")))
    made = worked_example()
    task = made.tasks[0]
    task = replace(
        task,
        queries=(*task.queries, Query("q3", "en", "in vain", family="z"), Query("q4", "en", "nobody", family="y")),
        judgements=(*task.judgements, Judgement("q3", "f0-en", 0.0)),
    )
    ranking = ranking_of(task, [["c-en"], ["c-ja"], ["f0-en"], []], depth=10)
    store = put(Cache(tmp_path), replace(made, tasks=(task,)), {("good", "lexical"): ranking})
    (row,) = board(store, Selection("example"))
    assert (row.n_queries, row.n_unjudged) == (2, 2)
    assert row.trec_eval_c == pytest.approx(2 / 3)
    qrels = {query.id: {} for query in task.queries[:3]}
    for judgement in task.judgements:
        qrels[judgement.query_id][judgement.document_id] = int(judgement.grade)
    run = {"q1": {"c-en": 1.0}, "q2": {"c-ja": 1.0}, "q3": {"f0-en": 1.0}}
    judged = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    mean = sum(values["ndcg_cut_10"] for values in judged.values()) / 3
    assert row.measures["ndcg_at_10"].value * row.trec_eval_c == pytest.approx(mean)


def test_concentration_is_of_all_queries_or_not_said(example_store):
    whole = board(example_store, Selection("example"))
    part = board(example_store, Selection("example", where=(("language", "ja"),)))
    assert all(row.distinct_documents_at_10 for row in whole)
    assert all(row.distinct_documents_at_10 is row.largest_document_share_at_10 is None for row in part)
