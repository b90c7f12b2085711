"""Views over imported per-query scores, against plain pandas means."""

import numpy as np
import pandas as pd
import pytest

from analysis.errors import InputError
from analysis.paths import Cache
from analysis.views import fairness, overview, routes, tiers
from analysis.views.evidence import Evidence, parts
from analysis.views.selection import Selection
from tests.hand_made import put_scores, score_rows, write_scores

KEYS = ("recall_at_10", "rr_at_10", "recall_at_10_same", "recall_at_10_cross")


@pytest.fixture(scope="module")
def frame():
    """The file with a row for every model and query: what a model lacks counts 0, what is undefined stays out."""
    found = pd.DataFrame(score_rows()).replace("", np.nan)
    index = pd.MultiIndex.from_product(
        [found["model"].unique(), found["query_id"].unique()], names=["model", "query_id"]
    )
    full = found.set_index(["model", "query_id"]).reindex(index).reset_index()
    for name in ("query_language", "mode", "specialty"):
        full[name] = full["query_id"].map(found.groupby("query_id")[name].first())
    for key in KEYS:
        defined = full["query_id"].map(found.groupby("query_id")[key].first().notna())
        full[key] = full[key].where(full[key].notna() | ~defined, 0.0)
    return full.astype(dict.fromkeys(KEYS, float))


def evidence_of(store, **selection):
    task = store.tasks(store.benchmark("imported").benchmark_id)[0]
    return Evidence.load(store, task, selection=Selection("imported", **selection), labels=store.system_labels())


@pytest.fixture(scope="module")
def evidence(imported_store):
    return evidence_of(imported_store)


def balanced(frame, key):
    return frame.groupby("query_language")[key].mean().mean()


def test_there_are_scores_and_no_ranks(evidence):
    assert not evidence.has_ranks
    assert evidence.imported == KEYS
    assert evidence.facts == {}
    with pytest.raises(InputError, match="per-query scores only: cats need rankings"):
        evidence.need_ranks("cats need rankings")


def test_values_are_the_files_and_zero_where_a_model_lacks_the_query(evidence, frame):
    for key in KEYS:
        for place, run in enumerate(evidence.runs):
            mine = frame[frame["model"] == run.system].set_index("query_id")[key]
            np.testing.assert_array_equal(evidence.values(key)[place], mine[evidence.queries.id].to_numpy(float))


def test_a_query_that_only_another_system_has_is_missing_whoever_is_chosen(imported_store):
    alone = evidence_of(imported_store, systems=("small",))
    assert alone.domain.sum() == 40
    assert alone.missing.sum() == 4
    assert list(alone.queries.id[alone.missing[0]]) == ["p18_36", "p18_37", "p19_38", "p19_39"]
    np.testing.assert_array_equal(alone.values("rr_at_10")[0, alone.missing[0]], 0)


def test_a_measure_that_was_not_imported_is_refused(evidence):
    for key in ("ndcg_at_10", "judged_at_10", "recall_at_5"):
        with pytest.raises(InputError, match=f"measure '{key}': main has only scores of recall_at_10, rr_at_10"):
            evidence.values(key)


def test_means_are_pooled_or_balanced_as_the_measure_says(evidence, frame):
    found = evidence.intervals(KEYS)
    for place, run in enumerate(evidence.runs):
        mine = frame[frame["model"] == run.system]
        assert found["rr_at_10"][place].value == pytest.approx(mine["rr_at_10"].mean())
        assert found["rr_at_10"][place].other_mean == pytest.approx(balanced(mine, "rr_at_10"))
        for key in ("recall_at_10", "recall_at_10_same", "recall_at_10_cross"):
            interval = found[key][place]
            assert interval.value == pytest.approx(balanced(mine, key))
            assert interval.low < interval.value < interval.high
            assert "stratified" in interval.method
            assert interval.ceiling is None
        assert found["recall_at_10_same"][place].n == 36


def test_language_transfer_is_the_ratio_on_the_queries_that_have_both(evidence, frame):
    both = frame[frame["recall_at_10_same"].notna()]
    for place, run in enumerate(evidence.runs):
        mine = both[both["model"] == run.system]
        expected = 100 * balanced(mine, "recall_at_10_cross") / balanced(mine, "recall_at_10_same")
        assert evidence.intervals(("language_transfer",))["language_transfer"][place].value == pytest.approx(expected)


def test_intervals_draw_as_many_families_in_each_language_as_it_has(evidence, frame):
    mine = frame[frame["model"] == "large"].assign(family=lambda rows: rows["query_id"].str.split("_").str[0])
    groups = mine.groupby(["query_language", "family"])["rr_at_10"].agg(["sum", "count"])
    rng = np.random.default_rng(1)
    picked = [
        rows.to_numpy()[rng.integers(len(rows), size=(4000, len(rows)))].sum(axis=1)
        for _, rows in groups.groupby("query_language")
    ]
    total = np.sum(picked, axis=0)
    low, high = np.quantile(total[:, 0] / total[:, 1], [0.025, 0.975])
    found = evidence.intervals(("rr_at_10",))["rr_at_10"][0]
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
    assert found.method == "percentile-stratified, B = 2000"


def test_parts_are_all_of_an_attribute(evidence, frame):
    found = parts(evidence, "specialty")
    assert [value for value, _ in found] == ["bone=marrow", "heart", "lung, chest"]
    assert sum(part.mask.sum() for _, part in found) == 40
    for value, part in found:
        mine = frame[(frame["model"] == "large") & (frame["specialty"] == value)]
        assert part.intervals(("rr_at_10",))["rr_at_10"][0].value == pytest.approx(mine["rr_at_10"].mean())


def test_the_overview_leads_with_the_first_measure_and_shows_all(imported_store, frame):
    view = overview.overview(imported_store, Selection("imported"))
    assert [measure.key for measure in view.measures] == [*KEYS, "language_transfer"]
    [task] = view.tasks
    assert task.lead.key == "recall_at_10"
    order = sorted(("large", "small", "org/other"), key=lambda name: -balanced(frame[frame["model"] == name], KEYS[0]))
    assert [row.system.name for row in task.rows] == order
    assert "R@10" in task.takeaway.bold
    assert "nDCG" not in task.takeaway.bold + task.takeaway.rest + task.caption
    assert "imported per-query scores" in task.caption
    assert "small has no score for 4 of 40" in task.coverage_note
    assert {row.system.name: row.n_missing for row in task.rows} == {"large": 0, "small": 4, "org/other": 0}
    blank = ("depth", "hits_kept", "n_hits", "n_tied_at_10", "tie_range_ndcg_at_10", "judged_at_10", "n_dangling")
    assert all(getattr(row, name) is None for row in task.rows for name in blank)


def test_ndcg_leads_where_it_was_imported(tmp_path):
    rows = [
        {"model": "m", "query_id": f"q{n}", "query_language": "en", "rr": n / 4, "ndcg_at_10": n / 8} for n in range(4)
    ]
    store = put_scores(Cache(tmp_path / "cache"), write_scores(tmp_path / "s.csv", rows))
    [task] = overview.overview(store, Selection("imported")).tasks
    assert task.lead.key == "ndcg_at_10"
    assert task.rows[0].measures["ndcg_at_10"].value == pytest.approx(3 / 16)
    assert task.rows[0].degenerate is None
    assert "do not tell same-language" in task.takeaway.rest
    [fair] = fairness.page(store, Selection("imported")).tasks
    assert fair.measure.key == "ndcg_at_10"


def test_fairness_compares_languages_by_the_first_measure(imported_store, frame):
    [task] = fairness.page(imported_store, Selection("imported")).tasks
    assert task.measure.label == "R@10"
    assert task.caption.startswith("R@10 by query language (en, de, fr) · 40 queries")
    assert "R@10" in task.takeaway.bold
    for row in task.rows:
        means = frame[frame["model"] == row.system.name].groupby("query_language")["recall_at_10"].mean()
        assert row.gap.value == pytest.approx(means.max() - means.min())
        assert (row.best_language, row.worst_language) == (means.idxmax(), means.idxmin())
        assert row.paired_difference is None  # the languages are not asked the same things
        assert {tag: found.value for tag, found in row.by_language.items()} == pytest.approx(means.to_dict())


@pytest.mark.parametrize(
    ("view", "says"),
    [
        (routes.routes, "language routes need rankings"),
        (tiers.page, "difficulty tiers need rankings"),
        (tiers.tiers, "difficulty tiers need rankings"),
    ],
)
def test_what_needs_rankings_says_so(imported_store, view, says):
    with pytest.raises(InputError, match=f"this benchmark has per-query scores only: {says}"):
        view(imported_store, Selection("imported"))
