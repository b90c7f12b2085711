"""Which languages a page shows."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.model import Document, Judgement, Query
from analysis.paths import Cache
from analysis.views import fairness, language_choice, recoverability, routes, tiers
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example

TAGS = ("en", "ru", "ja", "ar", "de", "hi", "th", "ko", "fr", "uk", "el", "he", "bn", "fa")
ASKED = Selection("many")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Fourteen languages: an answer in each, two queries in each but one in Russian and three in Persian."""
    made = worked_example()
    documents = tuple(Document(f"d-{tag}", tag, tag, family="c") for tag in TAGS)
    counts = {tag: {"ru": 1, "fa": 3}.get(tag, 2) for tag in TAGS}
    queries = tuple(Query(f"q-{tag}-{n}", tag, tag, family="c") for tag in TAGS for n in range(counts[tag]))
    judgements = tuple(Judgement(query.id, document.id, 1.0) for query in queries for document in documents)
    task = replace(made.tasks[0], documents=documents, queries=queries, judgements=judgements)
    lists = [
        [f"d-{query.language}", "d-en", "d-ru"] if query.language not in {"en", "ru"} else ["d-en"] for query in queries
    ]
    cache = Cache(tmp_path_factory.mktemp("many"))
    return put(
        cache, replace(made, name="many", tasks=(task,)), {("good", "lexical"): ranking_of(task, lists, depth=10)}
    )


def test_all_languages_are_offered_and_those_of_most_queries_shown_first(store):
    labels = language_choice.offered(store, ASKED)
    assert tuple(label.tag for label in labels) == TAGS
    assert (labels[1].name, labels[1].script, labels[1].covered) == ("Russian", "Cyrillic", (1, 1, 0))
    assert language_choice.most_covered(labels) == tuple(tag for tag in TAGS if tag not in {"ru", "bn"})


def test_few_languages_are_all_shown_without_scripts(example_store):
    labels = language_choice.offered(example_store, Selection("example"))
    assert [(label.tag, label.script) for label in labels] == [("en", None), ("fr", None), ("ja", None)]
    assert language_choice.most_covered(labels) == ("en", "fr", "ja")


def test_route_cells_of_some_languages_are_those_of_all(store):
    whole, some = routes.routes(store, ASKED), routes.routes(store, ASKED, languages=("fa", "en", "ja"))
    assert some.languages == ("en", "ja", "fa")
    assert some.caption.endswith("3 of 14 languages shown")
    kept = {(cell.query_language, cell.document_language): cell for cell in whole.cells}
    assert {(cell.query_language, cell.document_language): cell for cell in some.cells} == {
        pair: cell for pair, cell in kept.items() if set(pair) <= {"en", "ja", "fa"}
    }
    assert len(some.cells) == 9


def test_more_than_twelve_stand_by_script(store):
    view = routes.routes(store, ASKED)
    assert view.languages == ("en", "de", "fr", "ru", "uk", "ja", "ar", "fa", "hi", "th", "ko", "el", "he", "bn")
    assert view.scripts[:8] == ("Latin", "Latin", "Latin", "Cyrillic", "Cyrillic", "Japanese", "Arabic", "Arabic")
    assert "languages shown" not in view.caption
    assert routes.routes(store, ASKED, languages=TAGS[:12]).scripts == ()


def test_a_difference_is_narrowed_alike(store):
    apart = routes.route_difference(store, ASKED, a="good", b="good", languages=("en", "fa"))
    assert apart.languages == ("en", "fa")
    assert [cell.value for cell in apart.cells] == [0.0] * 4


def test_gaps_of_fairness_are_over_all_languages(store):
    (whole,), (some,) = fairness.page(store, ASKED).tasks, fairness.page(store, ASKED, languages=("en", "ja")).tasks
    assert (some.languages, some.scripts) == (("en", "ja"), ())
    assert some.rows == whole.rows
    assert some.caption.endswith("2 of 14 languages shown, gaps are over all")
    assert len(whole.scripts) == 14


def test_recoverability_by_route_of_some_languages(store):
    whole = {part.part: part for part in recoverability.split(store, ASKED, by="route")}
    some = recoverability.split(store, ASKED, by="route", languages=("ja", "fa"))
    assert [part.part for part in some] == ["ja → fa", "fa → ja"]
    assert all(whole[part.part] == part for part in some)
    by_language = recoverability.split(store, ASKED, by="language", languages=("ja", "fa"))
    assert [part.part for part in by_language] == ["ja", "fa"]


def test_what_stands_at_rank_1_of_some_languages_is_that_of_all(store):
    (whole,), (some,) = tiers.page(store, ASKED).tasks, tiers.page(store, ASKED, languages=("ja", "fa")).tasks
    assert len(whole.by_language["good"]) == 14
    assert some.by_language["good"] == {tag: whole.by_language["good"][tag] for tag in ("ja", "fa")}
    assert some.rows == whole.rows


def test_languages_that_a_task_lacks(store):
    assert routes.routes(store, ASKED, languages=("xx", "en")).languages == ("en",)
    with pytest.raises(InputError, match="languages xx: expected some of en, ru, ja"):
        routes.routes(store, ASKED, languages=("xx",))


@given(st.lists(st.sampled_from(TAGS), unique=True), st.sets(st.sampled_from(TAGS)))
def test_what_is_shown_is_known_and_asked_for_once_each(known, asked):
    if known and asked and not asked & set(known):
        with pytest.raises(InputError):
            language_choice.shown(known, asked)
        return
    shown = language_choice.shown(known, asked)
    assert sorted(shown) == sorted(tag for tag in known if not asked or tag in asked)
    if len(shown) <= language_choice.MOST:
        assert shown == tuple(tag for tag in known if tag in shown)
    else:
        scripts = language_choice.scripts(shown)
        assert len({*scripts}) == 1 + sum(a != b for a, b in itertools.pairwise(scripts))
