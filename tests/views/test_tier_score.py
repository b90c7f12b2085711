"""The score of task 2 where queries carry a tier: each tier first, then their mean."""

import numpy as np
import pytest

from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.views import composite, tiers
from analysis.views.evidence import Evidence, chosen_tasks
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of

FOUND = {"related": (0, 0, 0, 0), "sibling": (1, 0), "synonym": (1, 1)}
"""By tier, whether each query has its answer at rank 1."""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    hits = [(tier, n, hit) for tier, found in FOUND.items() for n, hit in enumerate(found)]
    documents = tuple(Document(f"{tier}-{n}", "en", f"{tier} {n}", f"{tier}-{n}") for tier, n, _ in hits)
    queries = tuple(Query(f"q-{row.id}", "en", row.text, row.family, tier=row.id.split("-")[0]) for row in documents)
    judgements = tuple(Judgement(query.id, query.family, 1.0) for query in queries)
    task = Task("t2-discrimination", "Discrimination", "?", documents, queries, judgements, default=True)
    lists = [
        [query.family if hit else documents[(place + 1) % len(documents)].id]
        for place, (query, (*_, hit)) in enumerate(zip(queries, hits, strict=True))
    ]
    made = Benchmark("tiered", "1", "Tiered", False, "CC0", "by hand", (), {}, (task,))
    runs = {("half", "lexical"): ranking_of(task, lists, depth=1)}
    store = put(Cache(tmp_path_factory.mktemp("tiered")), made, runs)
    (row,) = chosen_tasks(store, Selection("tiered"))
    return Evidence.load(store, row, selection=Selection("tiered"), labels=store.system_labels())


def test_a_large_tier_weighs_no_more_than_a_small_one(evidence):
    found = composite.task_score(evidence)
    assert found.value.tolist() == [0.5]  # (0 + 1/2 + 1) / 3; over all queries it would be 3/8
    # Two siblings drawn of two: both found, one, or none, with 1/4, 1/2, 1/4; the other tiers never change.
    shares = [np.mean(np.isclose(found.draws[:, 0], value)) for value in (1 / 3, 1 / 2, 2 / 3)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.04)
    interval = found.intervals()["half"]
    assert (interval.low, interval.high, interval.n) == (pytest.approx(1 / 3), pytest.approx(2 / 3), 8)


def test_tiers_stand_in_the_order_of_their_difficulty(evidence):
    (task,) = tiers.page(evidence.store, Selection("tiered")).tasks
    assert [row.tier for row in task.rows] == [None, "synonym", "sibling", "related"]
    assert [row.recall_at_1.value for row in task.rows] == [3 / 8, 1, 0.5, 0]
    assert (
        task.takeaway.bold
        == "half puts an answer at rank 1 for 100 of 100 synonym queries and 0 of 100 related queries."
    )
    assert task.validation is None
    assert task.compares
