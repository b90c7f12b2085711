"""The tests of routes and systems on data small enough for scipy, statsmodels and a literal second opinion."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from analysis.errors import InputError
from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.model import Benchmark, Document, Judgement, Query, Task, silent
from analysis.paths import Cache
from analysis.store import read
from analysis.views import significance
from analysis.views.evidence import Evidence, chosen_tasks
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of
from tests.published_files import put_published, put_results

TAGS = ("en", "ja")
FAMILIES = 40
SKILL = {"weak": (0.5, 0.2), "good": (0.9, 0.7), "fair": (0.8, 0.4), "twin": (0.9, 0.7)}


def task():
    """Every concept is asked in two languages, at two levels, and has two answers in each language."""
    documents = tuple(
        Document(f"d{n:02}-{tag}{copy}", tag, f"{n} {tag}", family=f"f{n:02}")
        for n in range(FAMILIES)
        for tag in TAGS
        for copy in "ab"
    )
    queries = tuple(
        Query(f"q{n:02}-{tag}", tag, f"{n}?", family=f"f{n:02}", mode="plain" if n % 4 else "formal")
        for n in range(FAMILIES)
        for tag in TAGS
    )
    judgements = tuple(
        Judgement(query.id, document.id, 1.0)
        for query in queries
        for document in documents
        if document.family == query.family
    )
    return Task("main", "Main", "One concept a question.", documents, queries, judgements, default=True)


def lists_of(task, *, same, cross, seed):
    """Each answer is found with the chance of its route, before fillers."""
    rng = np.random.default_rng(seed)
    found = []
    for query in task.queries:
        own = [document for document in task.documents if document.family == query.family]
        hit = [d.id for d in own if rng.random() < (same if d.language == query.language else cross)]
        fillers = [document.id for document in task.documents if document.family != query.family]
        found.append([*hit, *rng.choice(fillers, 12 - len(hit), replace=False)])
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    main = task()
    seeds = {"weak": 1, "good": 2, "fair": 3, "twin": 2}
    rankings = {
        (name, "multilingual dense"): ranking_of(
            main, lists_of(main, same=same, cross=cross, seed=seeds[name]), depth=12
        )
        for name, (same, cross) in SKILL.items()
    }
    benchmark = Benchmark("parallel", "1", "Parallel", True, "CC0", "by hand", (), {}, (main,))
    return put(Cache(tmp_path_factory.mktemp("significance")), benchmark, rankings)


@pytest.fixture(scope="module")
def view(store):
    return significance.significance(store, Selection("parallel"))


@pytest.fixture(scope="module")
def evidence(store):
    selection = Selection("parallel")
    (row,) = chosen_tasks(store, selection)
    return Evidence.load(store, row, selection=selection, labels=store.system_labels())


def flipped(evidence, apart, *, resamples=4000):
    """A literal sign-flip p of a balanced mean: whole families flip in both languages."""
    rng = np.random.default_rng(5)
    spoken = [evidence.judged.query_language == code for code in range(2)]
    observed = abs(np.mean([apart[own].mean() for own in spoken]))
    reached = 0
    for _ in range(resamples):
        signs = rng.choice([-1, 1], FAMILIES)[evidence.family]
        reached += abs(np.mean([(signs * apart)[own].mean() for own in spoken])) >= observed - 1e-12
    return (1 + reached) / (resamples + 1)


def test_tax_is_the_paired_difference_with_its_tests(view, evidence):
    (found,) = view.tasks
    apart = evidence.values("recall_at_10_same") - evidence.values("recall_at_10_cross")
    assert [row.system.name for row in found.tax] == [run.system for run in evidence.runs]
    for row, own in zip(found.tax, apart, strict=True):
        assert row.delta.value == pytest.approx(own.mean())  # as many queries in either language
        assert row.delta.low < row.delta.value < row.delta.high
        assert (row.delta.aggregate, row.delta.method) == ("balanced", "bca-joint, B = 10000")
        assert (row.win, row.tie, row.loss) == ((own > 0).sum(), (own == 0).sum(), (own < 0).sum())
        assert (row.delta.n, row.n_families, row.note) == (80, 40, None)
        assert row.p == pytest.approx(flipped(evidence, own), abs=0.01)
        unequal = own[own != 0]
        total = len(unequal) * (len(unequal) + 1) / 2
        won = stats.rankdata(np.abs(unequal))[unequal > 0].sum()
        assert row.rank_biserial == pytest.approx(2 * won / total - 1)
    adjusted = multipletests([row.p for row in found.tax], method="holm")[1]
    assert [row.p_holm for row in found.tax] == pytest.approx(adjusted)


def test_language_transfer_has_the_bca_interval_of_scipy(evidence):
    """Every family has both languages once, so that balanced means are plain means over families."""
    keys = ("recall_at_10_same", "recall_at_10_cross")
    found = evidence.intervals(("ndcg_at_10", *keys, "language_transfer"))
    for place in range(len(evidence.runs)):
        same, cross = (evidence.values(key)[place].reshape(FAMILIES, 2).mean(axis=1) for key in keys)
        theirs = stats.bootstrap(
            (same, cross),
            lambda same, cross, axis: 100 * cross.mean(axis=axis) / same.mean(axis=axis),
            paired=True,
            n_resamples=10_000,
            method="BCa",
            rng=np.random.default_rng(1),
        ).confidence_interval
        interval = found["language_transfer"][place]
        assert interval.value == pytest.approx(100 * cross.mean() / same.mean())
        assert (interval.low, interval.high) == pytest.approx(theirs, abs=0.06 * (theirs.high - theirs.low))
        assert interval.method == found[keys[0]][place].method == "bca-joint, B = 10000"
        assert found["ndcg_at_10"][place].method == "percentile-joint, B = 2000"


def test_the_difference_of_two_systems_is_paired_and_bca(evidence):
    names = [run.system for run in evidence.runs]
    good, fair = names.index("good"), names.index("fair")
    values = evidence.values("recall_at_10")
    apart = (values[good] - values[fair]).reshape(FAMILIES, 2).mean(axis=1)
    theirs = stats.bootstrap((apart,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(2))
    low, high = theirs.confidence_interval
    mean, ours_low, ours_high = evidence.difference("recall_at_10", first=good, second=fair)
    assert mean == pytest.approx(apart.mean())
    assert (ours_low, ours_high) == pytest.approx((low, high), abs=0.06 * (high - low))


def test_families_add_up_to_the_mean(evidence):
    values = evidence.values("recall_at_10_cross").copy()
    values[0, evidence.judged.query_language == 1] = np.nan
    values[1, :7] = np.nan
    for balanced in (True, False):
        shares = evidence.family_shares(values, balanced=balanced)
        assert np.nansum(shares, axis=0) == pytest.approx(evidence.mean(values, balanced=balanced).value)
    assert np.isnan(shares[:3, 1]).all()


def test_pairs_are_read_in_two_families_and_in_the_full_matrix(view, evidence):
    (found,) = view.tasks
    means = dict(zip([run.system for run in evidence.runs], evidence.values("recall_at_10").mean(axis=1), strict=True))
    assert len(found.pairs) == 6
    for row in found.pairs:
        assert row.delta.value == pytest.approx(means[row.a.name] - means[row.b.name])
        assert row.delta.value >= 0
    best = [row for row in found.pairs if significance.BEST in row.p_holm]
    adjacent = [row for row in found.pairs if significance.ADJACENT in row.p_holm]
    assert len({row.a.name for row in best}) == 1
    assert [row.b.name for row in adjacent[:-1]] == [row.a.name for row in adjacent[1:]]
    assert adjacent[0].a.name == best[0].a.name
    for name, mine in ((significance.BEST, best), (significance.ADJACENT, adjacent)):
        assert len(mine) == 3
        expected = np.full(3, np.nan)
        known = [row.p is not None for row in mine]
        expected[known] = multipletests([row.p for row in mine if row.p is not None], method="holm")[1]
        np.testing.assert_allclose(np.array([row.p_holm[name] for row in mine], float), expected)
    told = [row for row in found.pairs if row.p is not None]
    assert [row.p_bh for row in told] == pytest.approx(multipletests([row.p for row in told], method="fdr_bh")[1])


def test_identical_systems_differ_by_nothing(store):
    (found,) = significance.significance(store, Selection("parallel"), descriptive=True).tasks
    (twins,) = [row for row in found.pairs if {row.a.name, row.b.name} == {"good", "twin"}]
    assert (twins.delta.value, twins.delta.low, twins.delta.high, twins.p) == (0, 0, 0, 1)
    assert "BCa undefined" in twins.delta.method
    assert twins.note == "descriptive only: 0 families that differ at all, a test needs 10"


def test_friedman_blocks_by_query(view, evidence):
    (found,) = view.tasks
    values = evidence.values("recall_at_10")
    theirs = stats.friedmanchisquare(*values)
    row = found.friedman
    assert (row.statistic, row.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (row.df, row.n, row.note) == (3, 80, None)
    assert dict(row.average_ranks) == pytest.approx(
        dict(zip([run.system for run in evidence.runs], stats.rankdata(-values, axis=0).mean(axis=1), strict=True))
    )
    assert row.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 80)), rel=1e-3)  # Demšar, table 5
    assert any({"good", "twin"} <= set(group) for group in row.joined)


def test_global_tax_counts_answers(view):
    rows = {row.system.name: row for row in view.tasks[0].global_tax}
    assert rows["good"].odds_ratio.n == 80
    assert rows["good"].n_answers == 320
    assert rows["fair"].odds_ratio.low > 1  # 0.8 against 0.4


def test_order_agreement_of_subsets(view):
    rows = {(row.a, row.b): row for row in view.order_agreement}
    formal = rows["main: all queries", "main: mode=formal"]
    assert formal.kind == "subsets"
    assert (formal.n, formal.n_queries) == (4, (80, 20))
    assert 0 < formal.kendall <= formal.spearman <= 1
    assert ("main: language=en", "main: language=ja") in rows
    assert not [name for pair in rows for name in pair if "family=" in name]  # too many values


def test_a_pooled_measure_keeps_its_mean_and_interval(store, evidence):
    (found,) = significance.significance(store, Selection("parallel"), measure="hit_at_1").tasks
    assert found.measure.label == "Hit@1"
    assert {row.delta.method for row in found.pairs} == {"percentile-joint, B = 2000"}
    assert "Hit@1" in found.caption
    with pytest.raises(InputError, match="unknown measure"):
        significance.significance(store, Selection("parallel"), measure="nope")


def test_sentences_come_from_the_data(view):
    (found,) = view.tasks
    assert found.takeaway.bold.startswith("Crossing languages costs 4 of 4 systems R@10, fair the most: 0.")
    assert "cannot be told apart at R@10: 0.00" in found.takeaway.rest
    assert found.caption.startswith("R@10 · 80 queries of 40 families in 2 languages")
    assert "families have several" in found.friedman.caution


def test_too_little_is_descriptive_only(example_store):
    (found,) = significance.significance(example_store, Selection("example")).tasks
    assert [(row.p, row.p_holm, row.note) for row in found.tax] == [
        (None, None, "descriptive only: 2 paired queries, a test needs 30")
    ] * 2
    assert found.friedman.statistic is None
    assert found.friedman.note == "Friedman's test needs 3 systems"
    (shown,) = significance.significance(example_store, Selection("example"), descriptive=True).tasks
    assert [row.p for row in shown.tax] == [1, 1]  # one family: both assignments reach it
    assert all(row.note.startswith("descriptive only") for row in shown.tax)


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Scores without rankings: three models, 36 queries of 18 families, the last query missing from the worst."""
    folder = tmp_path_factory.mktemp("scores")
    rng = np.random.default_rng(4)
    lines = ["model,query_id,query_language,recall_at_10,recall_at_10_same,recall_at_10_cross"]
    for level, model in ((0.2, "low"), (0.5, "middle"), (0.8, "high")):
        for n in range(36 if model != "low" else 35):
            same, cross = rng.binomial(4, level) / 4, rng.binomial(4, level / 2) / 4
            lines.append(f"{model},p{n // 2}_{n},{TAGS[n % 2]},{(same + cross) / 2},{same},{cross}")
    file = folder / "scores.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    cache = Cache(folder / "cache")
    import_scores(cache, request=ScoresRequest(file, "theirs", "main", True), progress=silent)
    return read.open_store(cache)


def test_imported_scores_are_tested_as_far_as_they_go(imported):
    view = significance.significance(imported, Selection("theirs"))
    (found,) = view.tasks
    assert len(found.tax) == 3
    assert {row.delta.method for row in found.tax} == {"bca-stratified, B = 10000"}
    assert {row.n_families for row in found.tax} == {18}
    assert found.friedman.n == 36  # the missing query counts 0
    assert [row.a.name for row in found.pairs] == ["high", "high", "middle"]
    assert found.global_tax == ()
    assert any("rank of every answer" in note for note in found.notes)


def test_what_imported_scores_lack_is_named(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("model,query_id,query_language,rr\na,q,en,1\nb,q,en,0.5\n", encoding="utf-8")
    cache = Cache(tmp_path / "cache")
    import_scores(cache, request=ScoresRequest(file, "theirs", "main", False), progress=silent)
    (found,) = significance.significance(read.open_store(cache), Selection("theirs")).tasks
    assert found.measure.key == "rr"  # the first there is, for want of R@10
    assert found.tax == ()
    assert "No cross-lingual tax: the imported scores lack recall_at_10_same and recall_at_10_cross." in found.notes
    assert found.pairs[0].note.startswith("descriptive only: 1 paired queries")


def test_benchmarks_are_compared_by_the_systems_they_share(store, tmp_path):
    main = task()
    names = (("good", 2), ("fair", 3), ("weak", 1))
    rankings = {
        (name, "multilingual dense"): ranking_of(
            main, lists_of(main, same=SKILL[name][0], cross=SKILL[name][1], seed=seed), depth=12
        )
        for name, seed in names
    }
    for name in ("one", "two"):
        benchmark = Benchmark(name, "1", name, True, "CC0", "by hand", (), {"of": name}, (main,))
        put(Cache(tmp_path), benchmark, rankings)
    stored = put_published(Cache(tmp_path), put_results(tmp_path / "results"))  # has no queries to compare
    rows = significance.significance(stored, Selection("one")).order_agreement
    (row,) = [row for row in rows if row.kind == "benchmarks"]
    assert (row.a, row.b, row.n, row.spearman, row.kendall) == ("one/main", "two/main", 3, 1, 1)
    two = significance.significance(stored, Selection("one", systems=("good", "fair"))).order_agreement
    assert not [row for row in two if row.kind == "benchmarks"]  # two systems have no order to speak of
