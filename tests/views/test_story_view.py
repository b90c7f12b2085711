"""The story on lists that a reader can check: what is shown, counted, compared, and what is not."""

import json
from dataclasses import replace

import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.model import Document, Flag, Judgement, Query
from analysis.paths import Cache
from analysis.stats.proportion import wilson
from analysis.views.selection import Selection
from analysis.views.story import Found, Missed, Outcome, can_tell, page, story
from tests.hand_made import put, ranking_of, worked_example

EXAMPLE = Selection("example")


def families(n):
    """``n`` concepts asked in English and Japanese, one answer each, and twelve fillers that answer nothing."""
    made = worked_example()
    documents = [Document(f"a{number}", "en", f"answer {number}", family=f"c{number}") for number in range(n)]
    documents += [Document(f"f{number}", "en", f"filler {number}", family=f"f{number}") for number in range(12)]
    queries = tuple(
        Query(f"q{number}-{tag}", tag, f"{tag} {'x' * number}", family=f"c{number}")
        for number in range(n)
        for tag in ("en", "ja")
    )
    judgements = tuple(Judgement(query.id, f"a{query.family[1:]}", 1.0) for query in queries)
    task = replace(made.tasks[0], documents=tuple(documents), queries=queries, judgements=judgements)
    return replace(made, tasks=(task,))


def lists(task, rank_of):
    """A ranking in which each query has its answer at a rank, or not at all."""
    fillers = [document.id for document in task.documents if document.id.startswith("f")]
    found = []
    for query in task.queries:
        rank, answer = rank_of(query), f"a{query.family[1:]}"
        found.append(fillers[:3] if rank is None else [*fillers[: rank - 1], answer])
    return ranking_of(task, found, depth=13)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Forty concepts: ``lame`` finds every English one first, of the Japanese ones four; ``able`` finds all but two."""
    made = families(40)
    [task] = made.tasks
    rankings = {
        ("lame", "lexical"): lists(task, lambda query: 1 if query.language == "en" else _japanese(query)),
        ("able", "multilingual dense"): lists(task, lambda query: None if query.family in {"c0", "c1"} else 2),
        ("twin", "hybrid"): lists(task, lambda query: None if query.family in {"c0", "c1"} else 3),
    }
    return put(Cache(tmp_path_factory.mktemp("story")), made, rankings)


def _japanese(query):
    return {"c0": 1, "c1": 2, "c2": 10, "c3": 10}.get(query.family, 11 if int(query.family[1:]) % 2 else None)


def test_the_story_opens_on_the_system_and_languages_farthest_apart(store):
    told = story(store, EXAMPLE)
    assert told.system.name == "lame"
    assert (told.first.language, told.second.language) == ("en", "ja")
    assert told.languages == ("en", "ja")
    assert len(told.concepts) == 40


def test_how_often_is_counted_by_language_with_wilsons_interval(store):
    english, japanese = story(store, EXAMPLE).counts
    assert (english.near.value, english.near.n) == (1.0, 40)
    assert japanese.near.value == pytest.approx(4 / 40)
    low, high = wilson(4, 40)
    assert (japanese.near.low, japanese.near.high, japanese.near.method) == (low, high, "wilson")
    assert japanese.deep.value == pytest.approx(22 / 40)  # those at rank 11 are within the depth of the run


def test_over_all_languages_families_are_drawn_together(store):
    told = story(store, EXAMPLE)
    (lame,) = (one for one in told.performers if one.system.name == "lame")
    assert lame.everywhere.value == pytest.approx(44 / 80)
    assert lame.everywhere.method.startswith("percentile-joint")
    assert told.everywhere_deep.value == pytest.approx((40 + 22) / 80)
    assert told.deep == 13


def test_chance_is_what_so_many_documents_drawn_at_random_would_hold(store):
    assert story(store, EXAMPLE).chance == pytest.approx(13 / 52)  # one answer among 52 documents


def test_the_question_it_opens_on_ends_as_most_do_and_is_the_shortest(store):
    told = story(store, EXAMPLE)
    assert told.concept.family == "c4"  # the shortest of the 36 that are found in English and not in Japanese
    assert told.outcome == Outcome(36, 40)
    assert told.same_answers
    assert told.first.first[0] == Found(1, "en", "answer 4", True)
    assert told.first.missed == ()
    assert (told.first.best_rank, told.second.best_rank) == (1, None)
    assert told.second.missed == (Missed("en", "answer 4", None),)
    assert not any(found.right for found in told.second.first)


def test_a_question_is_chosen_and_the_rank_of_what_it_misses_is_told(store):
    told = story(store, EXAMPLE, family="c5", languages=("ja", "en"))
    assert (told.first.language, told.second.language) == ("ja", "en")
    assert told.first.missed == (Missed("en", "answer 5", 11),)
    assert (told.first.n_right, told.first.depth, len(told.first.first)) == (1, 13, 5)
    assert story(store, EXAMPLE, family="c0").outcome == Outcome(4, 40)


def test_what_helps_is_the_best_other_system_beyond_chance(store):
    told = story(store, EXAMPLE)
    assert told.help.performer.system.name == "able"  # the twin finds as many: the first of equal ones
    assert told.help.difference.value == pytest.approx((76 - 44) / 80)
    assert told.help.difference.n == 80
    assert told.help.p < 0.001
    assert (told.compared, told.untold) == (2, None)


def test_nothing_helps_the_best_one_and_a_twin_is_no_better(store):
    told = story(store, EXAMPLE._replace(systems=("able", "twin")), system="twin")
    assert told.help is None
    assert told.compared == 1
    assert "families that differ at all" in told.untold
    assert story(store, EXAMPLE._replace(systems=("able",))).compared == 0
    beside_another = story(store, EXAMPLE, system="twin")  # that one can be told from it, and is worse
    assert (beside_another.help, beside_another.compared, beside_another.untold) == (None, 2, None)


def test_names_that_are_not_there_are_as_if_nothing_was_asked(store):
    assert story(store, EXAMPLE, system="gone", family="gone", languages=("xx", "xx")) == story(store, EXAMPLE)
    same = story(store, EXAMPLE, languages=("ja", "ja"))
    assert (same.first.language, same.second.language) == ("ja", "en")


def test_too_few_questions_are_not_tested(example_store):
    told = story(example_store, EXAMPLE, system="bad")
    assert told.help is None
    assert told.untold.startswith("descriptive only: 2 paired queries")
    assert told.second.language == "ja"
    assert (told.second.first, told.second.best_rank) == ((), None)
    assert [missed.language for missed in told.second.missed] == ["en", "fr", "ja"]
    assert [found.right for found in told.first.first] == [False, True, False]


def test_flagged_items_can_be_left_out(tmp_path):
    made = families(3)
    [task] = made.tasks
    task = replace(task, flags=(Flag("query", "q0-en", "no letters"), Flag("document", "a1", "no text")))
    store = put(Cache(tmp_path), replace(made, tasks=(task,)), {("one", "lexical"): lists(task, lambda query: 1)})
    assert len(story(store, EXAMPLE).concepts) == 3
    assert [concept.family for concept in story(store, EXAMPLE._replace(without_flagged=True)).concepts] == ["c2"]


def test_a_task_whose_questions_stand_alone_has_no_story(store):
    alone = EXAMPLE._replace(where=(("language", "ja"),))
    assert can_tell(store, EXAMPLE)
    assert not can_tell(store, alone)
    with pytest.raises(InputError, match="no question of main is asked in several languages: expected queries"):
        story(store, alone)


def test_scores_without_rankings_have_no_story(imported_store):
    assert not can_tell(imported_store, Selection("imported"))
    with pytest.raises(InputError, match="needs rankings"):
        page(imported_store, Selection("imported"))


def test_the_command_line_shows_it(store, capsys):
    arguments = ["show", "story", "--benchmark", "example", "--cache", str(store.cache.root)]
    assert main([*arguments, "--system", "able"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["system"]["name"] == "able"
    assert told["compared"] == 2  # the others are compared all the same
    assert told["help"] is None
    assert main(arguments) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["help"]["performer"]["system"]["name"] == "able"
    assert told["second"]["missed"] == [{"language": "en", "text": "answer 4", "rank": None}]
