"""The view of depth: the worked example by hand, and a random store against literal loops."""

from math import ceil, inf, isnan, log10, nan

import numpy as np
import pytest
from scipy import stats

from analysis.errors import InputError
from analysis.jobs.facts import facts
from analysis.metrics import depth as metrics
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.stats.bootstrap import stratified_draws
from analysis.store import read, write
from analysis.store.read import Store
from analysis.views import recoverability as views
from analysis.views.evidence import SEED, strata
from analysis.views.recoverability import Reach, recoverability
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example

EXAMPLE = Selection("example")
RANDOM = Selection("random")
TAGS = ("en", "fr", "ja")
N_FAMILIES = 14
POOL = 5
DEPTHS = {"one": 40, "two": 25}


def by_system(rows):
    return {row.system.name: row for row in rows}


@pytest.fixture(scope="module")
def example(example_store):
    return recoverability(example_store, EXAMPLE).tasks[0]


class TestWorkedExample:
    @pytest.fixture
    def good(self, example):
        return by_system(example.rows)["good"]

    def test_reading_cost_and_k80(self, good):
        assert good.xrc["0.5"] == views.ReadingCost(3.0, "exact")
        reached = [(reach.value, reach.censored, reach.n) for reach in (good.k80_same, good.k80_cross, good.k80_both)]
        assert reached == [(2, False, 2), (4, False, 2), (4, False, 2)]
        assert good.k80_cross.se == 0  # one family: every draw is the same

    def test_curve(self, good):
        assert [(point.k, point.rrc) for point in good.curve.points] == [(1, 0), (2, 0), (3, 0.5), (5, 1), (10, 1)]
        assert [point.jbc for point in good.curve.points] == [0, 0, 0.5, 1, 1]
        assert [point.ari for point in good.curve.points] == [0, 0, 0, None, None]
        assert good.curve.floor == 0
        assert good.curve.k_at_90_percent == 4
        assert good.curve.n == 2
        assert good.curve.method == "percentile-joint, B = 2000"

    def test_knee(self, good):
        assert good.curve.knee == views.Knee(k=2, rrc=0, late=True, clear=True, spread=(2, 2))

    def test_chance_is_that_of_two_answers_among_eleven_documents(self, good):
        for point in good.curve.points:
            assert point.chance == pytest.approx(stats.hypergeom.sf(0, 11, 2, point.k))

    def test_a_pool_of_eleven_is_too_small(self, example, good):
        assert (good.depth, good.corpus_size, good.pool_too_small) == (10, 11, True)
        assert example.notes[0].startswith("The pool is too small for depth questions: ")

    def test_sentences(self, example, good):
        assert example.takeaway.bold == "A top-100 re-ranker of good can fix at most 100 %; 0 % is unreachable."
        assert example.takeaway.rest == "Of bad it can fix at most 0 %; 100 % is unreachable."
        assert good.takeaway.bold == (
            "The run is only 10 deep: a re-ranker of all of it can fix at most 100 %; 0 % is unreachable."
        )
        assert "From K = 2 on, reading deeper pays more." in good.takeaway.rest
        assert example.caption.startswith("2 queries with an answer in another language, 2 of them")

    def test_a_system_that_finds_nothing_is_hollow_and_censored(self, example):
        bad = by_system(example.rows)["bad"]
        assert bad.degenerate is True
        assert bad.takeaway.rest == views.HOLLOW
        assert bad.curve.floor == 1
        assert bad.curve.knee is None
        assert bad.curve.k_at_90_percent is None
        assert bad.xrc["0.5"] == views.ReadingCost(5.0, "at_least")  # same at 2 and never: 10 ÷ 2
        assert bad.xrc["0.8"] == views.ReadingCost(None, "undefined")
        assert bad.k80_same == bad.k80_cross == bad.k80_both == Reach(None, True, None, 2)

    def test_the_frontier_is_among_those_that_retrieve(self, example):
        rows = by_system(example.rows)
        assert rows["good"].on_frontier is True
        assert rows["bad"].on_frontier is None

    def test_a_k_beyond_the_run_adds_nothing_and_says_so(self, example, good):
        assert (good.curve.at_k.k, good.curve.at_k.rrc, good.curve.at_k.deeper) == (100, 1, 0)
        assert [point.k for point in good.curve.points][-1] == 10
        assert "good: run is only 10 deep" in example.notes

    def test_the_readers_own_k_is_on_the_curve_and_leaves_the_knee_alone(self, example_store):
        good = by_system(recoverability(example_store, EXAMPLE, k=4).tasks[0].rows)["good"]
        assert [point.k for point in good.curve.points] == [1, 2, 3, 4, 5, 10]
        assert (good.curve.at_k.k, good.curve.at_k.rrc) == (4, 1)
        assert good.curve.knee.k == 2
        assert good.takeaway.bold == "A top-4 re-ranker can fix at most 100 %; 0 % is unreachable."

    def test_routes(self, example_store):
        found = recoverability(example_store, EXAMPLE, by_route=True).tasks[0].routes
        routes = {(row.query_language, row.document_language): row for row in found if row.system.name == "good"}
        assert set(routes) == {("en", "fr"), ("en", "ja"), ("ja", "en"), ("ja", "fr")}
        assert routes["en", "fr"].k80_cross.value == 4
        assert routes["en", "fr"].xrc["0.5"].value == 4
        assert routes["ja", "fr"].k80_cross == Reach(None, True, None, 1)
        assert routes["ja", "fr"].xrc["0.5"] == views.ReadingCost(5.0, "at_least")  # 10 ÷ 2
        assert [point.rrc for point in routes["ja", "en"].curve.points] == [0, 0, 1, 1, 1]
        assert routes["ja", "en"].curve.points[0].chance == pytest.approx(1 / 11)

    def test_a_slice(self, example_store):
        view = recoverability(example_store, EXAMPLE._replace(where=(("language", "ja"),)))
        good = by_system(view.tasks[0].rows)["good"]
        assert good.curve.n == 1
        assert good.k80_cross.value == 3


@pytest.mark.parametrize(
    ("change", "k", "says"),
    [
        ({}, 0, "k 0: expected 1 or more"),
        ({"tasks": ("nope",)}, 1, "main"),
        ({"systems": ("nope",)}, 1, "good"),
        ({"benchmark": "nope"}, 1, "example@1"),
    ],
)
def test_bad_requests_are_refused(example_store, change, k, says):
    with pytest.raises(InputError, match=says):
        recoverability(example_store, EXAMPLE._replace(**change), k=k)


def test_scores_without_rankings_have_no_depth(example_store, monkeypatch):
    stored = Store.tasks
    monkeypatch.setattr(
        Store, "tasks", lambda self, number: [task._replace(n_documents=0) for task in stored(self, number)]
    )
    task = recoverability(example_store, EXAMPLE).tasks[0]
    assert task.reason == "this benchmark has per-query scores only: depth needs rankings"
    assert task.rows == ()


def test_without_answers_in_other_languages_there_is_no_curve(tmp_path):
    whole = worked_example()
    (task,) = whole.tasks
    mine = tuple(
        judgement
        for judgement, query in ((j, next(q for q in task.queries if q.id == j.query_id)) for j in task.judgements)
        if judgement.document_id == f"c-{query.language}"
    )
    alone = Task("main", "Alone", "Alone.", task.documents, task.queries, mine, default=True)
    run = ranking_of(alone, [["c-en"], ["f0-en", "c-ja"]], depth=10)
    store = put(
        Cache(tmp_path),
        Benchmark("alone", "1", "Alone", True, "CC0", "by hand", (), {}, (alone,)),
        {("a", "lexical"): run},
    )
    view = recoverability(store, Selection("alone"), by_route=True)
    (row,) = view.tasks[0].rows
    assert row.curve is None
    assert row.reason == views.NO_CROSS
    assert row.xrc["0.5"] == views.ReadingCost(None, "undefined")
    assert row.k80_both is None
    assert row.degenerate is None
    assert row.on_frontier is None
    assert view.tasks[0].takeaway.bold == f"There is no depth to measure: {views.NO_CROSS}."
    assert view.tasks[0].routes == ()


def test_a_curve_near_its_chord_has_no_clear_knee(tmp_path):
    documents = [
        Document("answer", "fr", "", family="c"),
        *(Document(f"f{n}", "en", "", family="f") for n in range(29)),
    ]
    queries = tuple(Query(f"q{n}", "en", "", family="c") for n in range(10))
    mine = tuple(Judgement(query.id, "answer", 1.0) for query in queries)
    task = Task("main", "Straight", "Straight.", tuple(documents), queries, mine, default=True)
    # RRC is 0, 0.3, 0.5, 0.7, 1 at K = 1, 2, 3, 5, 10, where the chord is 0, 0.30, 0.48, 0.70, 1
    ranks = (2, 2, 2, 3, 3, 4, 5, 6, 8, 10)
    run = ranking_of(task, [[*(f"f{n}" for n in range(rank - 1)), "answer"] for rank in ranks], depth=10)
    store = put(
        Cache(tmp_path), Benchmark("straight", "1", "", True, "CC0", "", (), {}, (task,)), {("a", "lexical"): run}
    )
    (row,) = recoverability(store, Selection("straight")).tasks[0].rows
    assert row.curve.knee == views.Knee(k=3, rrc=0.5, late=False, clear=False, spread=(3, 3))
    assert row.takeaway.rest == "The top 8 holds 90 % of what it finds in its top 10. The curve has no clear knee."


# A random store: two tasks, a two-stage system, a perfect one, one with empty lists


def random_task(name, *, fillers):
    documents = [Document(f"{name}-{n}-{tag}", tag, "", family=f"{n}") for n in range(N_FAMILIES) for tag in TAGS]
    documents += [Document(f"{name}-f{n}", TAGS[n % 3], "", family=f"filler {n}") for n in range(fillers)]
    queries = [Query(f"{name}-q{n}-{tag}", tag, "", family=f"{n}") for n in range(N_FAMILIES) for tag in TAGS]
    judgements = [
        Judgement(query.id, f"{name}-{query.family}-{tag}", 1.0)
        for number, query in enumerate(queries)
        for tag in (TAGS if number % 5 else ("en",))  # some have one answer, and so no same or no cross one
    ]
    return Task(name, name, name, tuple(documents), tuple(queries), tuple(judgements), default=name == "one")


def random_run(task, *, pull, depth, seed):
    """Rankings by noise, of a chosen strength ``pull`` towards the query's family."""
    rng = np.random.default_rng(seed)
    lists = []
    for query in task.queries:
        near = np.array([document.family == query.family for document in task.documents])
        order = np.argsort(-(rng.normal(size=len(near)) + pull * near), kind="stable")
        lists.append([task.documents[place].id for place in order[:depth]])
    return ranking_of(task, lists, depth=depth)


@pytest.fixture(scope="module")
def random_store(tmp_path_factory):
    return build_random(Cache(tmp_path_factory.mktemp("random")), parallel=True)


def build_random(cache, *, parallel):
    tasks = (random_task("one", fillers=120), random_task("two", fillers=60))
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("random", "1", "Random", parallel, "CC0", "by chance", (), {}, tasks))
    store = read.open_store(cache)
    rows = {row.name: row for row in store.tasks(store.benchmark("random").benchmark_id)}
    runs = {(task.name, name): run for task in tasks for name, run in runs_of(task).items()}
    with write.writer(cache) as writer:
        for (task, name), run in runs.items():
            two_stage = name.startswith("second")
            writer.add_system(name, title=name, short=name, paradigm="two-stage" if two_stage else "lexical")
            writer.add_run(
                rows[task].task_id,
                name,
                ranking=run,
                keep_hits=100,
                fingerprint=name,
                provenance={"settings": {"pool": 60 if name == "second-deep" else POOL}} if two_stage else {},
                parents=["nowhere" if name == "second-orphan" else "first", "other"] if two_stage else [],
                facts=facts(store, rows[task].task_id).of,
            )
    return read.open_store(cache)


def runs_of(task):
    depth = DEPTHS[task.name]
    best = [
        [d.id for d in sorted(task.documents, key=lambda d: (d.family != query.family, d.language == query.language))]
        for query in task.queries
    ]
    found = {
        "first": random_run(task, pull=1.5, depth=depth, seed=1),
        "second": random_run(task, pull=1.0, depth=depth, seed=2),
        "second-orphan": random_run(task, pull=2.5, depth=depth, seed=3),
        "second-deep": random_run(task, pull=1.0, depth=depth, seed=7),
        "perfect": ranking_of(task, [names[:depth] for names in best], depth=depth),
    }
    found["uneven"] = random_run(task, pull=-9 if task.name == "one" else 2.5, depth=depth, seed=4)
    if task.name == "one":
        found["empty"] = ranking_of(task, [["one-f0"], *([] for _ in task.queries[1:])], depth=depth)
    return found


class Literal:
    """Depths of one system on one task, query by query."""

    def __init__(self, name, system):
        fillers = {"one": 120, "two": 60}[name]
        self.task = random_task(name, fillers=fillers)
        run = runs_of(self.task)[system]
        ids = [document.id for document in self.task.documents]
        self.lists = [
            [ids[document] for document in run.document[run.query == place]] for place in range(len(self.task.queries))
        ]
        self.language = {document.id: document.language for document in self.task.documents}
        self.size = len(ids)

    def depth_of(self, place, wanted):
        """First rank of an answer whose language is wanted; NaN without such an answer, infinite beyond the run."""
        query = self.task.queries[place]
        answers = {
            judgement.document_id
            for judgement in self.task.judgements
            if judgement.query_id == query.id and wanted(query.language, self.language[judgement.document_id])
        }
        if not answers:
            return nan
        return next((float(rank) for rank, name in enumerate(self.lists[place], 1) if name in answers), inf)

    def depths(self, wanted):
        return np.array([self.depth_of(place, wanted) for place in range(len(self.lists))])

    @property
    def cross(self):
        return self.depths(lambda asked, answered: asked != answered)

    @property
    def same(self):
        return self.depths(lambda asked, answered: asked == answered)

    @property
    def weights(self):
        """(B, Q): how often each draw holds each query."""
        families = np.array([query.family for query in self.task.queries], dtype=object)
        family, draws = strata(families, np.zeros(len(families)), parallel=True)
        return draws[:, family].astype(int)


def nearest_rank(depths, share):
    known = sorted(value for value in depths if not isnan(value))
    return known[max(ceil(share * len(known) - 1e-9), 1) - 1]


def drawn_k80(depths, weights):
    return np.array([nearest_rank(np.repeat(depths, row), 0.8) for row in weights])


@pytest.fixture(scope="module")
def random_rows(random_store):
    view = recoverability(random_store, RANDOM, k=10, by_route=True, pooled=True)
    return view, {(task.task.name, row.system.name): row for task in view.tasks for row in task.rows}


@pytest.mark.parametrize("system", ["first", "second", "perfect"])
def test_points_and_bands_are_those_of_a_literal_bootstrap(random_rows, system):
    literal, row = Literal("one", system), random_rows[1]["one", system]
    cross, weights = literal.cross, literal.weights
    known = ~np.isnan(cross)
    assert row.curve.n == known.sum()
    assert [point.k for point in row.curve.points] == [1, 2, 3, 5, 10, 20, 30, 40]
    for point in row.curve.points:
        found = cross[known] <= point.k
        assert point.rrc == pytest.approx(found.mean())
        shares = (weights[:, known] @ found) / weights[:, known].sum(axis=1)
        low, high = np.quantile(shares, [0.025, 0.975])
        assert (point.low, point.high) == pytest.approx((low, high))
        assert point.rrc + point.deeper + row.curve.floor == pytest.approx(1)
    shares = [point.rrc for point in row.curve.points]
    assert shares == sorted(shares)
    reached = [k for k in range(1, 41) if (cross[known] <= k).mean() >= 0.9 * (cross[known] <= 40).mean() - 1e-12]
    assert row.curve.k_at_90_percent == reached[0]


def test_chance_is_averaged_over_the_queries(random_rows):
    literal, row = Literal("one", "first"), random_rows[1]["one", "first"]
    answers = [
        sum(
            judgement.query_id == query.id and literal.language[judgement.document_id] != query.language
            for judgement in literal.task.judgements
        )
        for query in literal.task.queries
    ]
    for point in row.curve.points:
        expected = [stats.hypergeom.sf(0, literal.size, c, point.k) for c in answers if c]
        assert point.chance == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("system", ["first", "second", "second-orphan"])
def test_k80_and_its_standard_error(random_rows, system):
    literal, row = Literal("two", system), random_rows[1]["two", system]
    gold = ~np.isnan(literal.cross) & ~np.isnan(literal.same)
    for kind, found in (
        ("same", literal.same),
        ("cross", literal.cross),
        ("both", np.maximum(literal.same, literal.cross)),
    ):
        depths = np.where(gold, found, nan)
        reach, point = getattr(row, f"k80_{kind}"), nearest_rank(depths, 0.8)
        assert reach.n == gold.sum()
        assert reach.censored == (point == inf)
        assert reach.value == (None if point == inf else point)
        drawn = drawn_k80(depths, literal.weights)
        if point == inf or np.isinf(drawn).mean() > 0.05:
            assert reach.se is None
        else:
            assert reach.se == pytest.approx(np.std(drawn[np.isfinite(drawn)], ddof=1))


def test_some_depths_have_a_standard_error_and_some_are_censored(random_rows):
    reaches = [row.k80_both for row in random_rows[1].values()]
    assert any(reach.se is not None and reach.se > 0 for reach in reaches)
    assert any(reach.censored for reach in reaches)


def test_knee_and_its_spread(random_rows):
    literal, row = Literal("one", "first"), random_rows[1]["one", "first"]
    ks = [1, 2, 3, 5, 10, 20, 30]  # 40, where the run ends, is not on the grid

    def knee(shares):
        apart = [
            abs(log10(k) / log10(30) - (y - shares[0]) / (shares[-1] - shares[0]))
            for k, y in zip(ks, shares, strict=True)
        ]
        return next(k for k, d in zip(ks, apart, strict=True) if d >= max(apart) - 1e-12)

    cross, weights = literal.cross, literal.weights
    known = ~np.isnan(cross)
    found = cross[known][:, np.newaxis] <= np.array(ks)
    shares = (weights[:, known] @ found) / weights[:, known].sum(axis=1)[:, np.newaxis]
    drawn = [knee(row) for row in shares]
    assert row.curve.knee.k == knee(found.mean(axis=0))
    assert row.curve.knee.spread == (nearest_rank(drawn, 0.05), nearest_rank(drawn, 0.95))


def test_reading_cost(random_rows):
    for system in ("first", "second", "perfect"):
        literal, row = Literal("one", system), random_rows[1]["one", system]
        for share in (0.5, 0.8):
            cross, same = nearest_rank(literal.cross, share), nearest_rank(literal.same, share)
            cost = row.xrc[str(share)]
            if same == inf:
                assert cost == views.ReadingCost(None, "undefined")
            elif cross == inf:
                assert cost == views.ReadingCost(40 / same, "at_least")
            else:
                assert cost == views.ReadingCost(cross / same, "exact")


def test_which_stage_fails(random_rows):
    first, second = Literal("one", "first").cross, Literal("one", "second").cross
    known = ~np.isnan(first)
    row = random_rows[1]["one", "second"]
    assert row.candidate_miss == pytest.approx((first[known] > POOL).mean())
    assert row.reranker_fault == pytest.approx(((first <= POOL) & (second > 10))[known].mean())
    assert 0 < row.candidate_miss < 1
    assert row.reranker_fault > 0
    for name in ("first", "second-orphan", "second-deep"):  # one stage; a first that never ran; one above the pool
        assert random_rows[1]["one", name].candidate_miss is None
        assert random_rows[1]["one", name].reranker_fault is None


def test_a_first_stage_outside_the_selection_still_counts(random_store, random_rows):
    view = recoverability(random_store, RANDOM._replace(systems=("second",)), k=10)
    assert view.tasks[0].rows[0].candidate_miss == random_rows[1]["one", "second"].candidate_miss


def test_an_empty_run(random_rows):
    row = random_rows[1]["one", "empty"]
    assert row.curve.floor == 1
    assert all(point.rrc == 0 and point.high == 0 for point in row.curve.points)
    assert row.k80_both == Reach(None, True, None, row.k80_both.n)
    assert row.takeaway.bold == "A top-10 re-ranker can fix at most 0 %; 100 % is unreachable."


def test_perfect_ranks_have_no_knee(random_rows):
    row = random_rows[1]["one", "perfect"]
    assert all(point.rrc == 1 and point.low == 1 and point.ari is None for point in row.curve.points)
    assert row.curve.knee is None
    assert row.takeaway.bold == "A top-10 re-ranker can fix at most 100 %; 0 % is unreachable."


def test_routes_of_the_random_store(random_rows):
    literal = Literal("one", "first")
    rows = [row for row in random_rows[0].tasks[0].routes if row.system.name == "first"]
    assert len(rows) == 6
    for row in rows:
        route = (row.query_language, row.document_language)
        depths = literal.depths(lambda asked, answered, route=route: (asked, answered) == route)
        asked = [place for place, query in enumerate(literal.task.queries) if query.language == row.query_language]
        depths = depths[asked]
        known = depths[~np.isnan(depths)]
        assert row.curve.n == len(known)
        assert row.curve.at_k.rrc == pytest.approx((known <= 10).mean())
        assert row.recall_at_10_cross is None


def test_pooled_over_tasks_down_to_the_shallowest_run(random_rows):
    pooled = by_system(random_rows[0].pooled)
    assert set(pooled) == set(runs_of(random_task("two", fillers=60)))  # the empty one ran on one task only
    assert pooled["second-deep"].k80_cross.censored  # it is 30, which the shallower task cannot show
    row = pooled["first"]
    parts = [Literal(name, "first") for name in DEPTHS]
    columns = []
    for literal in parts:
        same, cross = literal.same, literal.cross
        columns.append(np.where(np.isnan(same), nan, cross))
    cross = np.concatenate(columns)
    cross = np.where(cross > 25, inf, cross)
    assert row.task is None
    assert row.depth == 25
    assert row.k80_cross.n == np.count_nonzero(~np.isnan(cross))
    point = nearest_rank(cross, 0.8)
    assert row.k80_cross.value == (None if point == inf else point)
    weights = np.concatenate([literal.weights for literal in parts], axis=1)  # the tasks share their families
    same = np.concatenate([np.where(np.isnan(literal.cross), nan, literal.same) for literal in parts])
    drawn = drawn_k80(np.where(same > 25, inf, same), weights)
    assert np.isinf(drawn).mean() > 0.05
    assert row.k80_same.se is None
    both = np.concatenate([gold_both(Literal(name, "second-orphan")) for name in DEPTHS])
    drawn = drawn_k80(np.where(both > 25, inf, both), weights)
    assert 0 < np.isinf(drawn).mean() <= 0.05 or np.isfinite(drawn).all()
    assert pooled["second-orphan"].k80_both.se == pytest.approx(np.std(drawn[np.isfinite(drawn)], ddof=1))


def gold_both(literal):
    return np.maximum(literal.same, literal.cross)


def test_pooled_over_tasks_that_are_not_parallel(tmp_path):
    store = build_random(Cache(tmp_path), parallel=False)
    pooled = by_system(recoverability(store, RANDOM, pooled=True).pooled)
    parts = [Literal(name, "second-orphan") for name in DEPTHS]
    both = np.concatenate([gold_both(literal) for literal in parts])
    queries = [query for literal in parts for query in literal.task.queries]
    family = np.unique([query.family for query in queries], return_inverse=True)[1]
    language = np.array([TAGS.index(query.language) for query in queries])
    drawn_apart = stratified_draws(family, language, seed=SEED)
    drawn = drawn_k80(np.where(both > 25, inf, both), drawn_apart.draws[:, drawn_apart.family].astype(int))
    finite = drawn[np.isfinite(drawn)]
    assert len(finite) >= 0.95 * len(drawn)
    assert pooled["second-orphan"].k80_both.se == pytest.approx(np.std(finite, ddof=1))


def test_pooling_is_asked_for_and_needs_two_tasks(random_store):
    assert recoverability(random_store, RANDOM).pooled == ()
    assert recoverability(random_store, RANDOM._replace(tasks=("one",)), pooled=True).pooled == ()


def test_a_pooled_figure_is_hollow_if_one_task_is(random_rows):
    view, rows = random_rows
    assert [rows[task, "uneven"].degenerate for task in DEPTHS] == [True, False]
    pooled = by_system(view.pooled)
    assert pooled["uneven"].degenerate is True
    assert pooled["uneven"].takeaway == (
        "On one and two together, 80 % of the questions have their first answer in another language below its top 25.",
        views.HOLLOW,
    )
    assert pooled["perfect"].degenerate is False


def test_documents_left_out_for_a_query_are_not_in_its_pool(tmp_path):
    whole = worked_example()
    (task,) = whole.tasks
    documents = task.documents[:-1]  # ten
    queries = tuple(query._replace(excluded_documents=("f0-en", "f1-en", "gone")) for query in task.queries)
    mine = (*task.judgements, Judgement("q1", "gone", 1.0))  # not in the corpus: neither an answer nor in the pool
    alone = Task("main", "Less", "Less.", documents, queries, mine, exclude_self=True, default=True)
    run = ranking_of(alone, [["c-en"], ["c-ja"]], depth=5)
    store = put(Cache(tmp_path), Benchmark("less", "1", "", True, "CC0", "", (), {}, (alone,)), {("a", "lexical"): run})
    (row,) = recoverability(store, Selection("less")).tasks[0].rows
    assert row.curve.points[0].chance == pytest.approx(2 / 8)
    assert (row.depth, row.corpus_size, row.pool_too_small) == (5, 10, True)  # exactly half


@pytest.mark.parametrize(
    ("point", "drawn", "se"),
    [
        (4.0, [3, 4, 5, 4], np.std([3, 4, 5, 4], ddof=1)),
        (4.0, [3.0] * 10 + [4] * 9 + [inf], np.std([3.0] * 10 + [4] * 9, ddof=1)),  # 5 % censored
        (4.0, [3.0] * 9 + [4] * 9 + [inf, inf], None),
        (inf, [3, 4, 5, 4], None),
        (4.0, [4, nan, nan], None),  # one draw holds such a query
    ],
)
def test_the_standard_error_is_left_out_where_depths_are_censored(point, drawn, se):
    reach = views._reach(point, np.array(drawn, dtype=float), 7)
    assert reach.se == (None if se is None else pytest.approx(se))
    assert reach.censored is (point == inf)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1, "100 %"), (0.784, "78 %"), (0.004, "0.4 %"), (0.996, "99.6 %"), (0.9996, "99.96 %")],
)
def test_a_little_is_not_nothing(share, text):
    assert views._percent(share) == text


def test_a_bound_is_no_reason_to_stand_on_the_frontier(example):
    good = by_system(example.rows)["good"]

    def row(cost, bound, gain):
        interval = good.recall_at_10_cross._replace(value=gain)
        return views.replace(good, xrc={"0.5": views.ReadingCost(cost, bound)}, recall_at_10_cross=interval)

    rows = [row(2.0, "exact", 0.5), row(1.5, "at_least", 0.4), row(1.0, "at_least", 0.9), row(None, "undefined", 1.0)]
    assert views._on_frontier(rows) == [True, False, True, None]


def test_ks_are_the_whole_grid_up_to_the_run(random_rows):
    row = random_rows[1]["two", "first"]
    assert [point.k for point in row.curve.points] == [*metrics.grid(25), 25]


class TestAnotherK:
    @pytest.mark.parametrize("k", [1, 5, 20, 40])
    def test_moving_k_along_the_curves_gives_what_asking_for_it_gives(self, random_store, k):
        asked = recoverability(random_store, RANDOM, k=k).tasks[0]
        assert views.at(recoverability(random_store, RANDOM, k=10).tasks[0], k=k) == asked

    def test_beyond_the_end_of_a_run_nothing_is_added(self, random_store):
        deep, shallow = (task.rows[0] for task in recoverability(random_store, RANDOM).tasks)
        assert (deep.depth, shallow.depth) == (40, 25)
        moved = views.rows_at([deep, shallow], k=40)[1]
        assert (moved.curve.at_k.k, moved.curve.at_k.deeper) == (40, 0)
        assert moved.curve.at_k.rrc == moved.curve.points[-1].rrc
        assert moved.takeaway.bold.startswith("The run is only 25 deep")

    def test_a_reader_chooses_on_the_grid_as_far_as_the_deepest_run_goes(self, random_store):
        (one, two) = recoverability(random_store, RANDOM).tasks
        assert views.cuts(two.rows) == (1, 2, 3, 5, 10, 20)
        assert views.cuts([*one.rows, *two.rows]) == (1, 2, 3, 5, 10, 20, 30)
        assert views.cuts(()) == ()

    def test_a_k_of_no_curve_is_refused(self, random_store):
        with pytest.raises(InputError, match="k 17: expected one of 1, 2, 3, 5, 10, 20, 30, 40"):
            views.at(recoverability(random_store, RANDOM).tasks[0], k=17)


class TestSplit:
    def test_parts_are_what_the_selection_of_each_value_gives(self, random_store):
        one = RANDOM._replace(tasks=("one",))
        parts = {part.part: part for part in views.split(random_store, one, by="language")}
        assert set(parts) == set(TAGS)
        for tag, part in parts.items():
            alone = recoverability(random_store, one._replace(where=(("language", tag),))).tasks[0]
            for found, expected in zip(part.rows, alone.rows, strict=True):
                assert found.curve.points == expected.curve.points
                assert (found.k80_cross.value, found.k80_cross.n) == (expected.k80_cross.value, expected.k80_cross.n)
                assert found.k80_cross.se is None
                assert part.n == found.curve.n

    def test_routes_are_those_of_the_view(self, random_store):
        one = RANDOM._replace(tasks=("one",))
        parts = views.split(random_store, one, by=views.ROUTE)
        routes = recoverability(random_store, one, by_route=True).tasks[0].routes
        assert [row.curve for part in parts for row in part.rows] == [row.curve for row in routes]
        names = {f"{row.query_language} → {row.document_language}" for row in routes}
        assert {part.part for part in parts} == names

    def test_an_unknown_attribute_is_one_sentence(self, random_store):
        with pytest.raises(InputError, match="unknown query attribute 'colour'"):
            views.split(random_store, RANDOM._replace(tasks=("one",)), by="colour")
