"""Parts of the queries by any attribute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views import overview, slices
from analysis.views.evidence import Evidence, parts
from analysis.views.selection import Selection

QUERIES = (
    Query("a-en", "en", "a", "a", tier="1", source_query="a", attributes={"specialty": "heart", "year": "9"}),
    Query("a-fr", "fr", "a", "a", tier="2", source_query="a", attributes={"specialty": "heart", "year": "10"}),
    Query("b-en", "en", "b", "b", tier="1", attributes={"specialty": "lung"}),
    Query("c-en", "en", "c", "c"),
)
JUDGEMENTS = (
    Judgement("a-en", "d-en", 1.0),
    Judgement("a-en", "d-fr", 1.0),
    Judgement("a-fr", "d-en", 2.0),
    Judgement("b-en", "d-en", 0.5),  # not relevant
    Judgement("b-en", "gone", 1.0),  # relevant, but not in the corpus: no home either
    Judgement("c-en", "d-en", 0.0),  # nothing relevant at all
)
DOCUMENTS = (Document("d-en", "en", "d", "d"), Document("d-fr", "fr", "d", "d"))
MAIN = Task("main", "Main", "?", DOCUMENTS, QUERIES, JUDGEMENTS, default=True)
OTHER = Task("other", "Other", "?", DOCUMENTS, (Query("o", "fr", "o", "o"),), (Judgement("o", "d-fr", 1.0),))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("slices"))
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("b", "1", "B", True, "CC0", "by hand", (), {}, (MAIN, OTHER)))
    return read.open_store(cache)


def chosen(store, *where, task=0):
    row = store.tasks(store.benchmark("b").benchmark_id)[task]
    queries = store.queries(row.task_id)
    return list(queries.id[slices.mask(store, row, queries, where=where)])


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ((), ["a-en", "a-fr", "b-en", "c-en"]),
        ((("tier", "1"),), ["a-en", "b-en"]),
        ((("family", "a"),), ["a-en", "a-fr"]),
        ((("source_query", "a"),), ["a-en", "a-fr"]),
        ((("specialty", "heart"),), ["a-en", "a-fr"]),
        ((("specialty", "heart"), ("specialty", "lung")), ["a-en", "a-fr", "b-en"]),
        ((("specialty", "heart"), ("language", "en")), ["a-en"]),
        ((("language", "en"), ("specialty", "heart"), ("specialty", "lung")), ["a-en", "b-en"]),
        ((("no_home", "yes"),), ["a-fr", "b-en"]),
        ((("no_home", "no"),), ["a-en"]),
        ((("specialty", "skin"),), []),
    ],
)
def test_values_of_one_attribute_are_alternatives_and_attributes_combine(store, where, ids):
    assert chosen(store, *where) == ids


def test_an_attribute_of_another_task_is_known_and_empty(store):
    assert chosen(store, ("specialty", "heart"), task=1) == []
    assert chosen(store, ("language", "fr"), task=1) == ["o"]


def test_an_unknown_attribute_is_refused_with_those_there_are(store):
    with pytest.raises(InputError, match=r"unknown query attribute 'colour': main has .* specialty, year, no_home"):
        chosen(store, ("colour", "red"))
    for name in ("id", "text", "sibling_group", "attributes"):
        with pytest.raises(InputError, match="unknown query attribute"):
            chosen(store, (name, "x"))


def test_scores_alone_do_not_know_the_home_of_answers(imported_store):
    task = imported_store.tasks(1)[0]
    with pytest.raises(InputError, match=r"unknown query attribute 'no_home': main has .*specialty, number$"):
        slices.column(imported_store, task, imported_store.queries(task.task_id), attribute="no_home")


@given(st.lists(st.sampled_from([("language", "en"), ("language", "fr"), ("specialty", "lung"), ("tier", "2")])))
def test_a_mask_is_what_a_literal_reading_says(store, where):
    def asked(query):
        said = {"language": query.language, "tier": query.tier, **query.attributes}
        return all(
            said.get(name) in [value for other, value in where if other == name] for name in {name for name, _ in where}
        )

    assert chosen(store, *where) == [query.id for query in QUERIES if asked(query)]


def test_numbers_stand_by_their_size_and_before_words():
    assert slices.values(np.array(["10", None, "9", "b", "a", "9"], dtype=object)) == ("9", "10", "a", "b")


def test_one_value_takes_the_place_of_those_asked_for():
    where = (("tier", "1"), ("language", "en"), ("tier", "2"))
    assert slices.narrowed(where, "tier", "2") == (("language", "en"), ("tier", "2"))


def test_the_sidebar_offers_what_splits_the_queries_into_few_parts(store):
    offered = overview.contents(store, "b", tasks=("main",)).slices
    assert offered == (
        ("language", "en"),
        ("language", "fr"),
        ("tier", "1"),
        ("tier", "2"),
        ("family", "a"),
        ("family", "b"),
        ("family", "c"),
        ("specialty", "heart"),
        ("specialty", "lung"),
        ("year", "9"),
        ("year", "10"),
        ("no_home", "no"),
        ("no_home", "yes"),
    )
    assert overview.contents(store, "b", tasks=("other",)).slices == ()


def test_an_attribute_of_many_values_is_not_offered_but_known(imported_store):
    offered = overview.contents(imported_store).slices
    assert {name for name, _ in offered} == {"language", "mode", "specialty", "family"}  # 20 families, 40 numbers
    where = (("number", "7"), ("number", "99"), ("specialty", "heart"))
    assert overview.absent(imported_store, Selection("imported", where=where)) == (("number", "99"),)


def test_parts_stay_inside_the_slice(store):
    row = store.tasks(store.benchmark("b").benchmark_id)[0]
    asked = Selection("b", where=(("language", "en"), ("language", "fr")))
    found = parts(Evidence.load(store, row, selection=asked, labels={}), "language")
    assert [(value, int(part.mask.sum())) for value, part in found] == [("en", 3), ("fr", 1)]
    only = Evidence.load(store, row, selection=Selection("b", where=(("tier", "1"),)), labels={})
    assert [(value, int(part.mask.sum())) for value, part in parts(only, "specialty")] == [("heart", 1), ("lung", 1)]
