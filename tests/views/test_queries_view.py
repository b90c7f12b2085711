"""Which queries fail: counted, filtered and put in order, on lists that a reader can check."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.model import Document, Judgement, Query
from analysis.paths import Cache
from analysis.views.queries import ORDERS, OUTCOMES, Asked, FirstRanks, queries
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example

EXAMPLE = Selection("example")
FAILING = Selection("failing")
LISTS = {  # ranks of the English and the French answer of each query, 0 where there is none in the list of 10
    "one": {"a": (1, 2), "b": (1, 0), "c": (9, 3), "d": (0, 0)},
    "two": {"a": (2, 1), "b": (0, 0), "c": (1, 8), "d": (0, 7)},
    "three": {"a": (1, 5), "b": (3, 4), "c": (0, 0), "d": (0, 0)},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Four questions in English with an answer in English and one in French, among ten fillers, and three systems."""
    made = worked_example()
    names = ("a", "b", "c", "d")
    documents = [
        Document(f"{name}-{tag}", tag, f"answer {name}", family=name) for name in names for tag in ("en", "fr")
    ]
    documents += [Document(f"f{n}", "en", "filler", family=f"f{n}") for n in range(12)]
    asked = tuple(Query(f"q-{name}", "en", f"Question {name.upper()}", family=name) for name in names)
    judged = tuple(Judgement(f"q-{name}", f"{name}-{tag}", 1.0) for name in names for tag in ("en", "fr"))
    task = replace(made.tasks[0], documents=tuple(documents), queries=asked, judgements=judged)
    rankings = {}
    for system, ranks in LISTS.items():
        lists = [_list(name, *ranks[name]) for name in names]
        rankings[(system, "lexical")] = ranking_of(task, lists, depth=10)
    cache = Cache(tmp_path_factory.mktemp("failing"))
    return put(cache, replace(made, name="failing", tasks=(task,)), rankings)


def _list(name, english, french):
    places = {english: f"{name}-en", french: f"{name}-fr"}
    fillers = iter(f"f{n}" for n in range(12))
    return [places.get(rank) or next(fillers) for rank in range(1, 11)]


def found(store, **asked):
    return list(queries(store, FAILING, Asked(a="one", b="two", **asked)).ids)


def test_ranks_of_the_worked_example(example_store):
    view = queries(example_store, EXAMPLE, Asked(a="good", b="bad"))
    assert [label.name for label in view.systems] == ["good", "bad"]
    lines = {line.query_id: line for line in view.lines}
    assert lines["q1"].first == (FirstRanks(1, 1, 4), FirstRanks(2, 2, None))
    assert lines["q2"].first == (FirstRanks(2, 2, 3), FirstRanks(None, None, None))
    assert view.ids == ("q2", "q1")  # the worst answered first
    assert view.counts == {
        "all": 2, "first": 1, "second": 0, "both": 1, "neither": 0, "nobody": 0, "everybody": 1
    }  # fmt: skip
    assert view.takeaway.bold == "0 of 2 queries defeat all 2 systems: none has a right answer in the first 10."


def test_which_answers_count(example_store):
    def counts(**asked):
        view = queries(example_store, EXAMPLE, Asked(a="good", b="bad", **asked))
        return view.n_domain, view.counts["first"], view.counts["nobody"]

    assert counts(answers="other") == (2, 2, 0)
    assert counts(answers="other", k=3) == (2, 1, 1)
    assert counts(answers="ja") == (2, 1, 1)  # q1 has a Japanese answer that nobody returned
    assert counts(answers="ja", query_language="ja") == (1, 1, 0)
    assert queries(example_store, EXAMPLE, Asked(query_language="fr")).n_domain == 0


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({"outcome": "first", "order": "benchmark"}, ["q-b"]),
        ({"outcome": "second", "order": "benchmark"}, ["q-d"]),
        ({"outcome": "both", "order": "benchmark"}, ["q-a", "q-c"]),
        ({"outcome": "neither"}, []),
        ({"outcome": "nobody", "k": 1, "order": "benchmark"}, ["q-d"]),
        ({"outcome": "nobody", "answers": "other", "k": 2, "order": "benchmark"}, ["q-b", "q-c", "q-d"]),
        ({"outcome": "everybody", "order": "benchmark"}, ["q-a"]),
        ({"least": 2, "order": "benchmark"}, ["q-c", "q-d"]),  # one: 1, 1, 3, none
        ({"least": 2, "most": 10, "order": "benchmark"}, ["q-c"]),
        ({"most": 1, "order": "benchmark"}, ["q-a", "q-b"]),
        ({"apart": 3, "order": "benchmark"}, ["q-b", "q-d"]),  # apart by 0, 10, 2, 4
        ({"text": "QUESTION b"}, ["q-b"]),
        ({"text": "q-c"}, ["q-c"]),
        ({"text": " D "}, ["q-d"]),  # a family
        ({"ids": ("q-a", "q-d", "unknown"), "order": "benchmark"}, ["q-a", "q-d"]),
        ({"order": "depth"}, ["q-d", "q-c", "q-a", "q-b"]),
        ({"order": "gap"}, ["q-b", "q-a", "q-d", "q-c"]),  # two ÷ one: 11, 1, 7/11, 1/3
        ({"order": "behind"}, ["q-c", "q-d", "q-a", "q-b"]),
        ({"order": "language"}, ["q-b", "q-a", "q-d", "q-c"]),  # French ÷ English in one: 11, 2, 1, 1/3
        ({"order": "spread"}, ["q-b", "q-c", "q-d", "q-a"]),  # largest ÷ smallest: 11, 11, 11/7, 1
    ],
)
def test_filters_and_orders(store, asked, ids):
    assert found(store, **asked) == ids


def test_pages(store):
    view = queries(store, FAILING, Asked(order="benchmark"), start=1, n=2)
    assert [line.query_id for line in view.lines] == ["q-b", "q-c"]
    assert view.ids == ("q-a", "q-b", "q-c", "q-d")


def test_one_system_and_none(store):
    alone = queries(store, FAILING._replace(systems=("three",)))
    assert alone.counts == {"all": 4, "nobody": 2, "everybody": 2}
    assert alone.takeaway.bold == "three has a right answer in the first 10 for 2 of 4 queries."
    assert [alone.asked.a, alone.asked.b] == ["three", None]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(a="four"), "system 'four' has no run of main among the chosen ones: one, three, two"),
        (Asked(answers="xx"), "language 'xx': main has en, fr"),
        (Asked(query_language="xx"), "language 'xx': main has en, fr"),
        (Asked(outcome="x"), "outcome 'x': expected one of all, first"),
        (Asked(order="x"), "order 'x': expected one of depth, gap"),
        (Asked(least=5, most=4), "ranks 5 to 4"),
        (Asked(k=0), "k 0"),
    ],
)
def test_what_cannot_be_asked(store, asked, message):
    with pytest.raises(InputError, match=message):
        queries(store, FAILING, asked)


def test_imported_scores_have_no_ranks(imported_store):
    with pytest.raises(InputError, match="the query explorer needs rankings"):
        queries(imported_store, Selection("imported"))


@given(
    outcome=st.sampled_from(list(OUTCOMES)),
    order=st.sampled_from(list(ORDERS)),
    k=st.integers(1, 12),
    answers=st.sampled_from(["any", "same", "other", "fr"]),
)
def test_counts_are_what_a_filter_lets_through(store, outcome, order, k, answers):
    view = queries(store, FAILING, Asked(outcome=outcome, order=order, k=k, answers=answers))
    assert len(view.ids) == view.counts[outcome]
    assert len(set(view.ids)) == len(view.ids)
    counts = view.counts
    assert counts["first"] + counts["second"] + counts["both"] + counts["neither"] == counts["all"] == view.n_domain
    assert counts["nobody"] <= counts["neither"]
    assert np.array_equal(sorted(view.ids), sorted(queries(store, FAILING, view.asked._replace(order="benchmark")).ids))
