"""Queries for publications: modes, strategies, samples and plans; what models are asked, and how answers are read."""

import json
from collections import Counter

import pytest

from analysis.benchmarks import document_queries as queries
from analysis.benchmarks.document_queries import Asked, Wanted
from analysis.benchmarks.query_prompts import CRITERIA, Wish, candidate, query_of, scores_of, verifier, written_in
from analysis.errors import InputError

HOMES = {"EP1": frozenset({"en", "de"}), "EP2": frozenset({"en", "fr"}), "EP3": frozenset({"de", "fr"})}


def asked(key, language, text="what", mode="technical", strategy=""):
    return Asked("", key, language, text, mode, strategy, "line 2")


def kept(*rows, **wanted):
    found, left = queries.chosen(rows, HOMES, Wanted(**wanted))
    return [(row.key, row.language, row.strategy) for row in found], dict(left)


def test_the_corpus_says_the_strategy_where_the_table_does_not():
    found, left = kept(asked("EP1", "en"), asked("EP1", "fr"), asked("EP2", "ja", strategy="all"))
    assert found == [("EP1", "en", "random-existing"), ("EP1", "fr", "random-missing"), ("EP2", "ja", "all")]
    assert left == {}


def test_what_is_left_out_is_counted_by_language_and_reason():
    found, left = kept(
        asked("EP1", "en"),
        asked("EP1", "en"),
        asked("EP9", "en"),
        asked("EP1", "de", strategy="random-missing"),
        asked("EP1", "fr", strategy="random"),  # says nothing of its home
        asked("EP1", "ja", mode="general"),
        asked("EP3", "ru"),
        modes=("technical",),
        languages=("en", "de", "fr"),
    )
    assert found == [("EP1", "en", "random-existing"), ("EP1", "fr", "random")]
    assert left == {
        ("en", queries.REPEATED): 1,
        ("en", queries.NO_PUBLICATION): 1,
        ("de", queries.OTHERWISE): 1,
        ("ja", queries.NOT_ASKED_FOR): 1,
        ("ru", queries.NO_LANGUAGE): 1,
    }


def test_a_number_without_its_office_is_enough_where_one_office_has_it():
    assert kept(asked("1", "en"))[0] == [("EP1", "en", "random-existing")]
    found, left = queries.chosen([asked("1", "en")], {**HOMES, "US1": frozenset({"en"})}, Wanted())
    assert (found, dict(left)) == ([], {("en", queries.NO_PUBLICATION): 1})


def test_a_sample_has_as_many_of_each_kind_and_stays_when_others_come():
    rows = [asked(f"EP{n % 3 + 1}", tag, f"query {n}") for n in range(30) for tag in ("en", "de")]
    sample, left = kept(*rows, most=4)
    assert Counter((tag, strategy) for _, tag, strategy in sample) == {
        (tag, strategy): 4 for tag in ("en", "de") for strategy in ("random-existing", "random-missing")
    }
    assert left == {("en", queries.BEYOND): 22, ("de", queries.BEYOND): 22}
    texts = {row.text for row in queries.chosen(rows, HOMES, Wanted(most=4))[0]}
    assert texts != {row.text for row in queries.chosen(rows, HOMES, Wanted(most=4, seed=2))[0]}
    more = [*rows, asked("EP1", "fr", "one more")]
    assert texts == {row.text for row in queries.chosen(more, HOMES, Wanted(most=4))[0]} - {"one more"}


def test_a_plan_has_homes_as_its_strategies_say():
    homes = {f"P{n}": frozenset(tags) for n, tags in enumerate((("en", "de"), ("en", "fr"), ("de", "fr")) * 4)}
    plans = queries.plan("t", homes, Wanted(most=2))
    assert len({(row.key, row.language, row.mode) for row in plans}) == len(plans)
    for row in plans:
        if row.strategy != "all":
            assert (row.language in homes[row.key]) == (row.strategy == "random-existing")
    cells = Counter((row.language, row.mode, row.strategy) for row in plans)
    assert set(cells.values()) == {2}
    assert len(cells) == 3 * 2 * 3
    every = {row.key for row in plans if row.strategy == "all" and row.mode == "general"}
    assert len(every) == 2
    assert plans == queries.plan("t", dict(reversed(homes.items())), Wanted(most=2))
    only = queries.plan("t", homes, Wanted(strategies=("random-missing",), modes=("general",), languages=("ja",)))
    assert {(row.language, row.mode, row.strategy) for row in only} == {("ja", "general", "random-missing")}
    assert len(only) == 12


@pytest.mark.parametrize(
    ("word", "mode"), [("Semantic", "general"), ("general", "general"), ("technical", "technical")]
)
def test_a_mode_has_other_words(word, mode):
    assert queries.mode_of(word) == mode


def test_unknown_words_are_refused():
    with pytest.raises(InputError, match="mode 'casual': expected technical or general"):
        queries.mode_of("casual")
    with pytest.raises(
        InputError, match="strategy 'some': expected one of random-existing, random-missing, random, all"
    ):
        queries.strategy_of("some")
    assert queries.strategy_of("random_missing") == "random-missing"


WISH = Wish("Title\nAbstract", "de", "ja", "general")


def test_prompts_say_what_is_wanted_and_differ():
    prompts = [candidate(WISH, number) for number in (1, 2, 3)]
    assert len({prompt.user for prompt in prompts}) == 3
    assert all("Write one query in Japanese" in prompt.user for prompt in prompts)
    assert all("Below is a patent in German" in prompt.user for prompt in prompts)
    assert all("<text>\nTitle\nAbstract\n</text>" in prompt.user for prompt in prompts)
    judge = verifier(WISH, "これは何")
    assert "<query>\nこれは何\n</query>" in judge.user
    assert all(name in judge.system and name in judge.user for name in CRITERIA)
    assert len(Wish("x" * 99_999, "de", "ja", "general").shown) == 6000


@pytest.mark.parametrize(
    ("answer", "query"),
    [
        ('{"query": " what \\n is "}', "what is"),
        ('{"query": ""}', None),
        ('{"query": "what", "why": "because"}', None),
        ('```json\n{"query": "what"}\n```', None),
        ('{"query": ["what"]}', None),
        ("what", None),
        ("[]", None),
        ("", None),
    ],
)
def test_a_candidate_is_read_strictly(answer, query):
    assert query_of(answer) == query


FULL = dict.fromkeys(CRITERIA, 5)


@pytest.mark.parametrize(
    "answer",
    [
        {**FULL, "fidelity": 6},
        {**FULL, "fidelity": 0},
        {**FULL, "fidelity": 4.5},
        {**FULL, "fidelity": True},
        {**FULL, "fidelity": "5"},
        {**FULL, "more": 5},
        {name: 5 for name in CRITERIA if name != "length"},
    ],
)
def test_scores_are_read_strictly(answer):
    assert scores_of(json.dumps(answer)) is None


def test_scores_add_up_and_pass():
    found = scores_of(json.dumps({**FULL, "wording": 3}))
    assert (found.total, found.passes) == (23, True)
    assert not scores_of(json.dumps({**FULL, "wording": 2})).passes


def test_a_query_is_in_a_script_of_its_language():
    assert written_in("これは何", "ja")
    assert not written_in("what is it", "ja")
    assert not written_in("123", "en")
