"""Task scores, MMed-IR, tiers and fairness on data small enough for a slow second opinion."""

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.jobs.facts import facts
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views import composite, fairness, overview, tiers
from analysis.views.selection import Selection
from tests.hand_made import ranking_of

TAGS = ("en", "ja")
FAMILIES = [f"f{n:02}" for n in range(12)]
DEPTH = 30
ANSWERS = {"t1-alignment": 2, "t2-discrimination": 4, "t3-evidence": 3}


def ties(family):
    """Two families are siblings, four are related."""
    number = int(family[1:])
    return {"family": family, "sibling_group": f"s{number // 2}", "related_group": f"r{number // 4}"}


def one_task(name, *, answers):
    """Every family is asked in both languages; its answers come in turn in both."""
    documents = tuple(
        Document(f"{family}-{n}", TAGS[n % 2], f"{family} {n}", **ties(family))
        for family in FAMILIES
        for n in range(answers)
    )
    queries = tuple(
        Query(f"{name}-{family}-{tag}", tag, f"{name} {family} {tag}", **ties(family))
        for family in FAMILIES
        for tag in TAGS
    )
    judgements = tuple(
        Judgement(query.id, document.id, 1.0)
        for query in queries
        for document in documents
        if document.family == query.family
    )
    return Task(name, name, "?", documents, queries, judgements, default=name.startswith("t1"))


def stored(cache, tasks, orders):
    """A store with those tasks, each run by every system of ``orders`` (name -> function of a task giving lists)."""
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("small", "1", "Small", True, "CC0", "by hand", (), {}, tuple(tasks)))
    store = read.open_store(cache)
    rows = store.tasks(store.benchmark("small").benchmark_id)
    with write.writer(cache) as writer:
        for task in tasks:
            row = next(row for row in rows if row.name == task.name)
            count = facts(store, row.task_id)
            for name, order in orders.items():
                ranking = ranking_of(task, order(task), depth=DEPTH)
                writer.add_system(name, title=name, short=name, paradigm="lexical")
                writer.add_run(row.task_id, name, ranking=ranking, keep_hits=100, fingerprint=name, provenance={},
                               parents=[], facts=count.of)  # fmt: skip
    return read.open_store(cache)


def perfect(task):
    """Every answer first."""
    return [
        sorted(
            (document.id for document in task.documents), key=lambda name: (not name.startswith(query.family), name)
        )[:DEPTH]
        for query in task.queries
    ]


def noisy(task):
    """Answers drawn to the top more or less, by chance."""
    rng = np.random.default_rng(len(task.documents))
    lists = []
    for query in task.queries:
        pull = rng.random() * (2 if query.language == "en" else 1)
        score = {document.id: rng.random() + pull * (document.family == query.family) for document in task.documents}
        lists.append(sorted(score, key=score.__getitem__, reverse=True)[:DEPTH])
    return lists


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    tasks = [one_task(name, answers=answers) for name, answers in ANSWERS.items()]
    return stored(Cache(tmp_path_factory.mktemp("composite")), tasks, {"perfect": perfect, "noisy": noisy})


def dcg(ranks):
    return sum(1 / np.log2(rank + 1) for rank in ranks if rank <= 10)


def relation(query, document):
    if document.family == query.family:
        return "same"
    if document.sibling_group == query.sibling_group:
        return "sibling"
    return "related" if document.related_group == query.related_group else "unrelated"


def worth(name, query, ranked):
    """What one ranking is worth to the parts of a task's score."""
    kinds = [relation(query, document) for document in ranked]
    ranks = [place for place, kind in enumerate(kinds, 1) if kind == "same"]
    if name == "t1-alignment":
        return {"ndcg": dcg(ranks) / dcg([1, 2]), "r1": sum(rank <= 1 for rank in ranks) / 2}
    if name == "t3-evidence":
        return {"r5": sum(rank <= 5 for rank in ranks) / 3}
    first = {
        kind: kinds.index(kind) if kind in kinds else 10**9 for kind in ("same", "sibling", "related", "unrelated")
    }
    return {kind: float(first["same"] < first[kind]) for kind in ("sibling", "related", "unrelated")}


def literal_scores():
    """What each query of the noisy system is worth, by family."""
    found = {family: [] for family in FAMILIES}
    for name, answers in ANSWERS.items():
        task = one_task(name, answers=answers)
        documents = {document.id: document for document in task.documents}
        for query, order in zip(task.queries, noisy(task), strict=True):
            found[query.family].append(worth(name, query, [documents[document] for document in order]))
    return found


def literal_mmed_ir(families, scores):
    """MMed-IR of some families, each as often as it stands there."""
    pooled = {}
    for family in families:
        for values in scores[family]:
            for key, value in values.items():
                pooled.setdefault(key, []).append(value)
    mean = {key: sum(values) / len(values) for key, values in pooled.items()}
    t1 = (mean["ndcg"] + mean["r1"]) / 2
    t2 = (mean["sibling"] + mean["related"] + mean["unrelated"]) / 3
    return t1, t2, mean["r5"], (t1 + t2 + mean["r5"]) / 3


def test_scores_and_intervals_agree_with_a_slow_literal_bootstrap(store):
    scores = literal_scores()
    t1, t2, t3, whole = literal_mmed_ir(FAMILIES, scores)
    view = overview.overview(store, Selection("small", systems=("noisy",)))
    assert [task.rows[0].task_score.value for task in view.tasks] == pytest.approx([t1, t2, t3])
    (found,) = [row.mmed_ir for row in composite.composites(store, Selection("small")) if row.system.name == "noisy"]
    assert found.value == pytest.approx(whole)
    rng = np.random.default_rng(1)
    drawn = np.array([literal_mmed_ir(rng.choice(FAMILIES, len(FAMILIES)), scores) for _ in range(1500)])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert (found.low, found.high) == pytest.approx((low[3], high[3]), abs=0.012)
    for place, task in enumerate(view.tasks):
        interval = task.rows[0].task_score
        assert (interval.low, interval.high) == pytest.approx((low[place], high[place]), abs=0.02)


def test_a_constant_score_has_no_width_and_reaches_its_ceiling(store):
    (found,) = [row.mmed_ir for row in composite.composites(store, Selection("small")) if row.system.name == "perfect"]
    assert found.low == found.high == pytest.approx(found.value)
    # R@1 can reach 1/2 of two answers: Task 1 at most (1 + 1/2) ÷ 2; the others reach 1.
    assert found.ceiling == pytest.approx((0.75 + 1 + 1) / 3)
    assert found.value == pytest.approx(found.ceiling)


def test_the_best_composite_leads_the_takeaway(store):
    view = overview.overview(store, Selection("small"))
    assert [row.system.name for row in view.composites] == ["perfect", "noisy"]
    assert view.composite_takeaway.bold.startswith("perfect has the highest MMed-IR, 0.92")
    assert view.composite_takeaway.rest.startswith("noisy follows with 0.")


def test_a_system_without_a_task_has_no_composite(tmp_path):
    tasks = [one_task("t1-alignment", answers=2), one_task("t2-discrimination", answers=4)]
    store = stored(Cache(tmp_path), tasks, {"perfect": perfect})
    assert composite.composites(store, Selection("small")) == ()


def test_tiers_count_what_stood_above_and_at_rank_1(store):
    rows = {(row.task, row.system.name): row for row in tiers.tiers(store, Selection("small"))}
    best = rows["t2-discrimination", "perfect"]
    assert {name: interval.value for name, interval in best.discrimination.items()} == {
        "sibling": 1,
        "related": 1,
        "unrelated": 1,
    }
    assert best.outcome_at_1["same concept"]["same"] + best.outcome_at_1["same concept"]["other"] == 1
    noisy_row = rows["t2-discrimination", "noisy"]
    assert sum(share for shares in noisy_row.outcome_at_1.values() for share in shares.values()) == pytest.approx(1)


def test_examples_are_the_queries_of_one_outcome(store):
    row = next(row for row in tiers.tiers(store, Selection("small", ("t1-alignment",), ("noisy",))))
    count = 0
    for relation, shares in row.outcome_at_1.items():
        for language, share in shares.items():
            found = tiers.examples(
                store, Selection("small", ("t1-alignment",)), system="noisy", relation=relation, language=language
            )
            assert len(found) == round(share * 24)
            assert all(
                (example.query_language == example.document_language) == (language == "same") for example in found
            )
            assert [example.answer_rank == 1 for example in found] == [relation == "same concept"] * len(found)
            count += len(found)
    assert count == 24


def test_examples_are_of_exactly_one_task(store):
    with pytest.raises(InputError, match="3 tasks: expected one of"):
        tiers.examples(store, Selection("small"), system="noisy", relation="sibling", language="same")


def test_unknown_outcomes_are_refused(store):
    with pytest.raises(InputError, match="sibling"):
        tiers.examples(store, Selection("small", ("t1-alignment",)), system="noisy", relation="cousin", language="same")


def test_the_gap_of_the_worked_example_names_both_languages(example_store):
    row = {row.system.name: row for row in fairness.fairness(example_store, Selection("example"))}["good"]
    assert row.gap.value == pytest.approx(0.1407, abs=5e-5)
    assert (row.best_language, row.worst_language) == ("en", "ja")
    assert row.paired_difference.value == pytest.approx(row.gap.value)
    assert row.p is None  # one family is too little to test
    assert set(row.by_language) == {"en", "ja"}


def test_one_language_has_no_gap(example_store):
    row = fairness.fairness(example_store, Selection("example", where=(("language", "en"),)))[0]
    assert row.gap.value is None
    assert row.best_language is None
    assert row.paired_difference is None


def test_the_gap_of_twelve_families_is_tested_by_family(store):
    rows = [row for row in fairness.fairness(store, Selection("small")) if row.system.name == "noisy"]
    assert all(row.gap.low <= row.gap.value <= row.gap.high for row in rows)
    assert all(row.p is None for row in rows)  # 12 queries a language are fewer than 30


def test_over_several_tasks_the_widest_gap_is_named_with_its_task(store):
    view = fairness.page(store, Selection("small"))
    gaps = {(row.gap.value, task.task.title, row.system.short) for task in view.tasks for row in task.rows}
    gap, title, system = max(gaps)
    assert view.takeaway.bold.startswith(f"The widest gap is {gap:.2f}: {system} asked in ")
    assert view.takeaway.bold.endswith(f"({title}).")
    assert view.takeaway.rest == "perfect is the most even on every task."
    assert fairness.page(store, Selection("small", tasks=("t3-evidence",))).takeaway is None
