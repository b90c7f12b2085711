"""Doubtful items left out: the numbers of a store from which they were removed by hand."""

import zlib
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from analysis.cli.output import plain
from analysis.jobs.facts import facts
from analysis.model import Benchmark, Document, Flag, FlagCounts, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views import (
    composite,
    fairness,
    flags,
    method,
    overview,
    recoverability,
    routes,
    significance,
    slices,
    tiers,
)
from analysis.views.evidence import Evidence, parts
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example

TAGS = ("en", "ja")
TASKS = composite.TASKS
SYSTEMS = ("one", "other", "third")
OUT = Selection("flagged", without_flagged=True)


def keys(family):
    return {"family": f"f{family:02}", "sibling_group": f"s{family // 2}", "related_group": f"r{family // 4}"}


def task_of(name, *, flagged=(), families=14):
    """Each family is asked in two languages and has two answers in each, one of a higher grade."""
    documents = tuple(
        Document(f"d{n:02}-{tag}-{copy}", tag, f"{n} {tag} {copy}", **keys(n))
        for n in range(families)
        for tag in TAGS
        for copy in "ab"
    )
    queries = tuple(
        Query(f"q{n:02}-{tag}", tag, f"{n} {tag}?", **keys(n), tier=str(1 + n % 2))
        for n in range(families)
        for tag in TAGS
    )
    judgements = tuple(
        Judgement(query.id, document.id, 2.0 if document.id.endswith("a") else 1.0)
        for query in queries
        for document in documents
        if document.family == query.family
    )
    return Task(name, name, "?", documents, queries, judgements, default=name == TASKS[0], flags=tuple(flagged))


def some_flags(seed):
    """A query here and there, every answer of one family, and single answers of others."""
    draw = np.random.default_rng(seed)
    asked = [Flag("query", f"q{n:02}-{draw.choice(TAGS)}", "other script") for n in draw.choice(14, 3, replace=False)]
    whole = int(draw.integers(14))
    every = [Flag("document", f"d{whole:02}-{tag}-{copy}", "misaligned") for tag in TAGS for copy in "ab"]
    single = [
        Flag("document", f"d{n:02}-{draw.choice(TAGS)}-{draw.choice(['a', 'b'])}", "no text")
        for n in draw.choice(14, 5, replace=False)
    ]
    return tuple(dict.fromkeys([*asked, *every, *single]))


def without(task, *, keep_queries=False):
    """The task that is left when somebody removes what is flagged: queries, and judgements; the documents stay."""
    queries = {flag.id for flag in task.flags if flag.item == "query"}
    documents = {flag.id for flag in task.flags if flag.item == "document"}
    return replace(
        task,
        queries=tuple(row for row in task.queries if keep_queries or row.id not in queries),
        judgements=tuple(
            row for row in task.judgements if row.query_id not in queries and row.document_id not in documents
        ),
        flags=(),
    )


def order(system, task):
    """Answers drawn to the top by chance, for each query alike whatever else is asked."""
    lists = []
    for query in task.queries:
        draw = np.random.default_rng(zlib.crc32(f"{system} {query.id}".encode()))
        score = {row.id: draw.random() + 0.5 * (row.family == query.family) for row in task.documents}
        lists.append(sorted(score, key=score.__getitem__, reverse=True)[:40])
    return lists


def stored(root, tasks):
    cache = Cache(root)
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("flagged", "1", "Flagged", True, "CC0", "by hand", (), {}, tuple(tasks)))
    store = read.open_store(cache)
    rows = {row.name: row.task_id for row in store.tasks(store.benchmark("flagged").benchmark_id)}
    with write.writer(cache) as writer:
        for task in tasks:
            count = facts(store, rows[task.name])
            for name in SYSTEMS:
                ranking = ranking_of(task, order(name, task), depth=40)
                staged = name == "third"  # rescored the top 20 of the first
                writer.add_system(name, title=name, short=name, paradigm="lexical")
                writer.add_run(
                    rows[task.name],
                    name,
                    ranking=ranking,
                    keep_hits=100,
                    fingerprint=name,
                    provenance={"settings": {"pool": 20}} if staged else {},
                    parents=["one"] if staged else [],
                    facts=count.of,
                )
    return read.open_store(cache)


@pytest.fixture(scope="module", params=[1, 2])
def tasks(request):
    return [task_of(name, flagged=some_flags(request.param)) for name in TASKS]


@pytest.fixture(scope="module")
def store(tasks, tmp_path_factory):
    return stored(tmp_path_factory.mktemp("flagged"), tasks)


@pytest.fixture(scope="module")
def removed(tasks, tmp_path_factory):
    """Another store, of what is left of the tasks."""
    return stored(tmp_path_factory.mktemp("removed"), [without(task) for task in tasks])


@pytest.fixture(scope="module")
def unjudged(tasks, tmp_path_factory):
    """The same with every query, the flagged ones without a judgement: the same families are drawn."""
    return stored(tmp_path_factory.mktemp("unjudged"), [without(task, keep_queries=True) for task in tasks])


def test_the_leaderboard_is_that_of_what_is_left(store, removed):
    def numbers(rows):
        return [
            (row.system.name, row.n_queries, row.n_unjudged, key, found.n, found.value, found.other_mean, found.ceiling)
            for row in rows
            for key, found in row.measures.items()
        ]

    asked = ("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10", "recall_at_10_same", "recall_at_10_cross",
             "hit_at_1", "precision_at_10", "rr", "ap", "jbc_at_100", "language_transfer")  # fmt: skip
    mine = overview.overview(store, OUT, measures=asked)
    theirs = overview.overview(removed, Selection("flagged"), measures=asked)
    for ours, hand in zip(mine.tasks, theirs.tasks, strict=True):
        assert len(ours.rows) == len(SYSTEMS)
        for one, other in zip(numbers(ours.rows), numbers(hand.rows), strict=True):
            assert one == pytest.approx(other, abs=1e-12)
    counted = overview.overview(store, Selection("flagged"), measures=asked)
    assert numbers(counted.tasks[0].rows) != numbers(mine.tasks[0].rows)
    assert counted.tasks[0].rows[0].n_queries == 28


def test_composites_tiers_and_fairness_are_those_of_what_is_left(store, removed):
    hand = Selection("flagged")
    scores = [composite.composites(one, asked) for one, asked in ((store, OUT), (removed, hand))]
    assert [row.mmed_ir.value for row in scores[0]] == pytest.approx([row.mmed_ir.value for row in scores[1]])
    assert [row.mmed_ir.n for row in scores[0]] == [row.mmed_ir.n for row in scores[1]]
    for one, other in zip(tiers.tiers(store, OUT), tiers.tiers(removed, hand), strict=True):
        assert (one.system, one.tier, one.outcome_at_1) == (other.system, other.tier, other.outcome_at_1)
        for name in ("recall_at_1", "recall_at_5", "hit_at_1"):
            assert value(getattr(one, name)) == pytest.approx(value(getattr(other, name)))
        assert {key: value(found) for key, found in one.discrimination.items()} == {
            key: pytest.approx(value(found)) for key, found in other.discrimination.items()
        }
    for one, other in zip(fairness.fairness(store, OUT), fairness.fairness(removed, hand), strict=True):
        assert {tag: value(found) for tag, found in one.by_language.items()} == {
            tag: pytest.approx(value(found)) for tag, found in other.by_language.items()
        }
        assert value(one.gap) == pytest.approx(value(other.gap))


def value(interval):
    return interval.value, interval.n


def test_routes_and_the_queries_behind_them_are_those_of_what_is_left(store, removed):
    asked = OUT._replace(tasks=TASKS[:1])
    hand = Selection("flagged", TASKS[:1])
    mine, theirs = routes.routes(store, asked), routes.routes(removed, hand)
    for one, other in zip(mine.cells, theirs.cells, strict=True):
        assert (one.system, one.query_language, one.document_language, one.n) == (
            other.system, other.query_language, other.document_language, other.n)  # fmt: skip
        assert (one.value, one.retention) == pytest.approx((other.value, other.retention), nan_ok=True)
    cell = {"system": "one", "query_language": "en", "document_language": "ja", "k": 3}
    mine, theirs = routes.route_queries(store, asked, **cell), routes.route_queries(removed, hand, **cell)
    assert {(row.query_id, row.document_id, row.document_text, row.ranks) for row in mine.rows} == {
        (row.query_id, row.document_id, row.document_text, row.ranks) for row in theirs.rows
    }
    assert (mine.n_queries, mine.n_failing) == (theirs.n_queries, theirs.n_failing)
    apart = [
        routes.route_difference(one, chosen, a="one", b="other") for one, chosen in ((store, asked), (removed, hand))
    ]
    assert [cell.value for cell in apart[0].cells] == pytest.approx([cell.value for cell in apart[1].cells])


def test_depth_is_that_of_what_is_left(store, removed):
    mine = recoverability.recoverability(store, OUT, by_route=True, pooled=True)
    theirs = recoverability.recoverability(removed, Selection("flagged"), by_route=True, pooled=True)

    def numbers(row):
        return (
            row.system.name, row.query_language, row.depth, row.degenerate,
            row.curve and [(point.k, point.rrc, point.chance, point.ari, point.jbc) for point in row.curve.points],
            row.curve and (row.curve.n, row.curve.floor, row.curve.k_at_90_percent), row.xrc,
            row.candidate_miss, row.reranker_fault,
            [reach and (reach.value, reach.n) for reach in (row.k80_same, row.k80_cross, row.k80_both)],
        )  # fmt: skip

    for one, other in zip(mine.tasks, theirs.tasks, strict=True):
        assert list(map(numbers, (*one.rows, *one.routes))) == list(map(numbers, (*other.rows, *other.routes)))
    assert {row.system.name for row in mine.tasks[0].rows if row.candidate_miss is not None} == {"third"}
    assert list(map(numbers, mine.pooled)) == list(map(numbers, theirs.pooled))
    by_tier = [
        recoverability.split(one, chosen, by="tier") for one, chosen in
        ((store, OUT._replace(tasks=TASKS[:1])), (removed, Selection("flagged", TASKS[:1])))
    ]  # fmt: skip
    assert [(part.part, part.n) for part in by_tier[0]] == [(part.part, part.n) for part in by_tier[1]]


def same_but(view, *others):
    """A view as JSON without what says how much there is of it."""

    def pruned(found):
        if isinstance(found, dict):
            return {key: pruned(one) for key, one in found.items() if key not in {"n_flagged", *others}}
        return [pruned(one) for one in found] if isinstance(found, list) else found

    return pruned(plain(view))


def test_intervals_and_tests_are_those_of_a_store_without_these_judgements(store, unjudged):
    """With the same families the draws are the same: every figure, interval, p and sentence is."""
    hand = Selection("flagged")
    for view in (recoverability.recoverability, fairness.page, significance.significance):
        assert same_but(view(store, OUT)) == same_but(view(unjudged, hand))
    one, other = overview.overview(store, OUT), overview.overview(unjudged, hand)
    stays = ("created_at", "judged_at_10", "tie_range_ndcg_at_10", "n_unjudged")
    assert same_but(one, *stays) == same_but(other, *stays)
    assert significance.significance(store, OUT).order_agreement


def test_what_was_counted_with_all_documents_stays(store):
    row = overview.overview(store, OUT).tasks[0].rows[0]
    counted = next(
        found for found in overview.overview(store, Selection("flagged")).tasks[0].rows if found.system == row.system
    )
    assert row.distinct_documents_at_10 == counted.distinct_documents_at_10
    assert counted.tie_range_ndcg_at_10 is not None
    assert row.tie_range_ndcg_at_10 is None  # it rests on judgements that do not count any more


def test_each_query_alone_is_that_of_what_is_left(store, removed):
    task = store.tasks(store.benchmark("flagged").benchmark_id)[0]
    there = removed.tasks(removed.benchmark("flagged").benchmark_id)[0]
    mine = Evidence.load(store, task, selection=OUT, labels=store.system_labels())
    theirs = Evidence.load(removed, there, selection=Selection("flagged"), labels=removed.system_labels())
    assert list(mine.queries.id[mine.mask]) == list(theirs.queries.id)
    for key in ("ndcg_at_10", "recall_at_10", "ap", "rr"):
        np.testing.assert_allclose(mine.values(key)[:, mine.mask], theirs.values(key))
    assert (mine.document < task.n_documents).all()
    assert mine.ranks_of(mine.runs[1]).tolist() == mine.ranks[1:2].tolist()


# By hand


def example(*flagged):
    """The worked example with flags, run by ``good``: c-en 1, c-fr 4 for q1; c-ja 2, c-en 3 for q2."""
    made = worked_example()
    (task,) = made.tasks
    return replace(made, tasks=(replace(task, flags=flagged),))


@pytest.fixture
def good(tmp_path):
    def made(*flagged):
        benchmark = example(*flagged)
        ranking = ranking_of(
            benchmark.tasks[0],
            [["c-en", "f0-en", "f1-en", "c-fr", "f2-en", "f3-en"], ["f0-fr", "c-ja", "c-en", "f1-fr", "f2-fr"]],
            depth=10,
        )
        store = put(Cache(tmp_path), benchmark, {("good", "multilingual dense"): ranking})
        (task,) = overview.overview(store, Selection("example", without_flagged=True)).tasks
        return store, task.rows[0]

    return made


def test_a_flagged_document_is_neither_found_nor_missed(good):
    _, row = good(Flag("document", "c-fr", "no text"))
    q1, q2 = 1 / (1 + 1 / log2(3)), (1 / log2(3) + 1 / 2) / (1 + 1 / log2(3))  # of c-en and c-ja alone
    assert row.measures["ndcg_at_10"].value == pytest.approx((q1 + q2) / 2)
    assert row.measures["recall_at_10"].value == pytest.approx((1 / 2 + 1) / 2)
    assert row.measures["rr"].value == pytest.approx((1 + 1 / 2) / 2)
    assert row.n_queries == 2


def test_a_flagged_document_still_stands_above_the_answer(good):
    _, row = good(Flag("document", "c-ja", "no text"))
    assert row.measures["rr"].value == pytest.approx((1 + 1 / 3) / 2)  # q2 finds c-en at rank 3, as before


def test_a_flagged_query_is_in_no_mean(good):
    store, row = good(Flag("query", "q2", "no letters"))
    assert (row.n_queries, row.n_unjudged, row.measures["recall_at_10"].value) == (1, 0, pytest.approx(2 / 3))
    (fair,) = fairness.fairness(store, Selection("example", without_flagged=True))
    assert fair.best_language == fair.worst_language == "en" or fair.gap.value is None
    assert list(fair.by_language) == ["en"]


def test_a_query_without_another_answer_leaves_the_means_and_is_counted(good):
    _, row = good(*(Flag("document", name, "misaligned") for name in ("c-en", "c-fr", "c-ja")))
    assert (row.n_queries, row.n_unjudged) == (0, 2)
    assert row.measures["ndcg_at_10"].value is None
    assert row.tie_range_ndcg_at_10 is None


def test_a_query_has_its_home_with_the_documents_that_count(good):
    store, _ = good(Flag("document", "c-ja", "no text"))
    (task,) = store.tasks(1)
    queries = store.queries(task.task_id)
    column = slices.column(store, task, queries, attribute="no_home", without_flagged=True)
    assert list(column) == ["no", "yes"]
    assert list(slices.column(store, task, queries, attribute="no_home")) == ["no", "no"]
    asked = Selection("example", where=(("no_home", "yes"),), without_flagged=True)
    evidence = Evidence.load(store, task, selection=asked, labels=store.system_labels())
    assert list(evidence.mask) == [False, True]
    assert [name for name, _ in parts(evidence, "no_home")] == ["yes"]
    assert overview.absent(store, asked) == ()
    assert overview.absent(store, asked._replace(without_flagged=False)) == (("no_home", "yes"),)
    assert ("no_home", "yes") in overview.contents(store, without_flagged=True).slices
    assert ("no_home", "yes") not in overview.contents(store).slices


def test_what_stands_above_the_answers_of_flagged_queries_does_not_count(good):
    store, _ = good(Flag("query", "q2", "no letters"))

    def preferences(without):
        view = routes.routes(store, Selection("example", without_flagged=without))
        return {(cell.query_language, cell.document_language): cell.preference for cell in view.cells}

    assert preferences(without=False)["ja", "fr"] == pytest.approx(11 / 5)  # f0-fr alone; 5 of 11 documents are French
    assert set(preferences(without=True).values()) == {None}


def test_other_benchmarks_are_read_without_theirs_too(tmp_path):
    for name in ("here", "there"):
        made = example(Flag("query", "q1", "no text"))
        lists = {"one": ["c-en"], "two": ["f0-en", "c-en"], "three": ["f0-en", "f1-en", "c-en"]}
        runs = {
            (system, "lexical"): ranking_of(made.tasks[0], [found, found], depth=5) for system, found in lists.items()
        }
        store = put(Cache(tmp_path), replace(made, name=name, title=name), runs)
    for without, n in ((False, 2), (True, 1)):
        rows = significance.significance(store, Selection("here", without_flagged=without)).order_agreement
        assert [row.n_queries for row in rows if row.kind == "benchmarks"] == [(n, n)]


def test_languages_are_compared_on_the_families_that_both_have_left(tmp_path):
    """Where one language's query of a family is left out, the other one's is in the gap and not in the difference."""
    documents = tuple(Document(f"d{n}", "en", f"{n}", family=f"f{n}") for n in range(12))
    queries = tuple(Query(f"q{n}-{tag}", tag, "?", family=f"f{n}") for n in range(3) for tag in ("en", "fr"))
    judgements = tuple(Judgement(query.id, f"d{query.id[1]}", 1.0) for query in queries)
    main = Task("main", "Main", "?", documents, queries, judgements, default=True,
                flags=(Flag("query", "q0-fr", "other script"),))  # fmt: skip
    benchmark = Benchmark("flagged", "1", "F", True, "CC0", "by hand", (), {}, (main,))
    found = [["d0"], [], ["d1"], ["d1"], ["d2"], ["d5", "d2"]]  # RR in English 1, 1, 1; in French 0, 1, 1/2
    store = put(Cache(tmp_path), benchmark, {("one", "lexical"): ranking_of(main, found, depth=10)})
    (row,) = fairness.fairness(store, OUT)
    worst = (1 + 1 / log2(3)) / 2
    assert (row.best_language, row.worst_language) == ("en", "fr")
    assert row.gap.value == pytest.approx(1 - worst)
    assert row.paired_difference.value == pytest.approx(1 - worst)  # English on the same two families is 1 as well
    assert row.paired_difference.n == 4
    found[0] = []  # now English misses the family that French does not ask
    store = put(Cache(tmp_path / "other"), benchmark, {("one", "lexical"): ranking_of(main, found, depth=10)})
    (row,) = fairness.fairness(store, OUT)
    assert row.by_language["en"].value == pytest.approx(2 / 3)
    assert abs(row.paired_difference.value) == pytest.approx(1 - worst)


# Words


def test_every_answer_says_how_much_is_flagged(store, tasks):
    expected = FlagCounts(3, len({flag.id for flag in tasks[0].flags if flag.item == "document"}))
    for view in (
        overview.overview, tiers.page, fairness.page, recoverability.recoverability, significance.significance,
        method.page,
    ):  # fmt: skip
        for task in plain(view(store, OUT))["tasks"]:
            found = task.get("task", task)["n_flagged"]
            assert (found["queries"], found["documents"]) == expected[:2]
            assert found["reasons"]["other script"] == 3
    assert routes.routes(store, OUT._replace(tasks=TASKS[:1])).task.n_flagged[:2] == expected[:2]


def test_the_sentence_says_how_many_and_why(store):
    label = overview.contents(store).tasks[0]._replace(n_queries=300, n_documents=9000)
    some = label._replace(n_flagged=FlagCounts(12, 1040, {"other script": 1030, "no text": 22}))
    assert flags.sentence([some], left_out=False) == (
        "12 of 300 queries and 1,040 of 9,000 documents are flagged (1,030 other script, 22 no text); they are counted."
    )
    one = label._replace(n_flagged=FlagCounts(1, 0, {"no text": 1}))
    assert flags.sentence([one], left_out=True) == "1 of 300 queries is flagged (1 no text); it is left out."
    assert flags.sentence([some, one], left_out=True) == (
        "13 of 600 queries and 1,040 of 18,000 documents are flagged (1,030 other script, 23 no text); they are "
        "left out."
    )
    assert flags.total([label._replace(n_flagged=FlagCounts())]) == FlagCounts()
