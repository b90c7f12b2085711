"""What tasks share, counted by hand and against sets of Python."""

import dataclasses
import itertools
import random
import unicodedata

import pytest

from analysis.model import Benchmark, Document, Query, Task
from analysis.paths import Cache
from analysis.store import read, texts, write
from analysis.views import benchmark_card, data
from analysis.views.separation import Near, Shared, Side
from tests.hand_made import worked_example
from tests.overlapping import overlapping, put_overlapping


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    return data.card(put_overlapping(Cache(tmp_path_factory.mktemp("overlapping"))), "overlapping")


def test_pairs_by_hand(card):
    (pair,) = card.separation.pairs
    assert (pair.a, pair.b) == ("First", "Second")
    assert pair.shared == (
        Shared("concepts", 1, 5, 3),
        Shared("queries", 0, 5, 3),
        Shared("queries_normalised", 1, 5, 3),
        Shared("documents", 1, 2, 2),
        Shared("documents_normalised", 1, 2, 2),
    )
    # a1 and b1 have the same ten words; a3 has the fourteen of b3 and one more: 14/15
    assert pair.near == Near(2, 5, 2, 3)
    assert pair.near.smaller == (2, 3)
    assert Near(1, 2, 4, 9).smaller == (1, 2)
    assert card.separation.takeaway.bold == "First and Second share 1 of 3 different queries."
    assert card.separation.takeaway.rest == "First and Second ask about the same 1 of 3 concepts."


def test_words_by_hand(card):
    found = card.separation
    # aspirin is a drug un médicament | aspirin is a drug nothing: four of seven
    assert found.jaccard(Side("First", "document"), Side("Second", "document")) == pytest.approx(4 / 7)
    by_language = {
        (row.a_item, row.b_item, row.language): (row.shared, row.of_a, row.of_b)
        for row in found.words
        if row.a != row.b and row.language
    }
    assert by_language["document", "document", "en"] == (4, 4, 5)
    assert ("document", "document", "fr") not in by_language  # the second task has none
    assert card.overlaps == (data.Overlap("First", "Second", 4, 4 / 7),)


def test_texts_by_hand(card):
    first = card.texts[0]
    whole, french = first.of("query"), first.of("query", "fr")
    lengths = [10, 2, 15, 10, 2]  # words of a1 to a5
    assert (whole.words.n, whole.words.mean, whole.words.median) == (5, sum(lengths) / 5, 10)
    assert (whole.tokens, whole.share, french.share) == (39, 1, 1 / 5)
    assert (french.tokens, french.vocabulary, french.type_token) == (2, 2, 1)
    (queries, documents) = first.balances
    assert (queries.largest, queries.largest_share, queries.smallest, queries.smallest_share) == ("en", 0.8, "fr", 0.2)
    assert queries.entropy == pytest.approx(0.721928, abs=1e-6)  # -0.8 log2 0.8 - 0.2 log2 0.2
    assert documents.entropy == 1
    assert first.of("query", "en").answers == (2, 1)  # a1: d1 and, in French, d2
    assert (whole.answers, french.answers, first.of("document").answers) == ((2, 1), (0, 0), None)
    assert card.texts[1].of("query", "ja").scripts == (("Han", 1.0),)
    assert card.texts[1].of("query").scripts[0][0] == "Latin"


def test_one_task_is_compared_by_its_languages(example_store):
    found = data.card(example_store, "example").separation
    assert found.between == "languages"
    assert found.parts == ("en", "fr", "ja")
    assert found.note == "There is one task, so no pair of tasks: its languages are compared instead."
    pairs = {(pair.a, pair.b): pair for pair in found.pairs}
    assert pairs["en", "ja"].of("concepts") == Shared("concepts", 1, 1, 1)  # both ask for c
    assert pairs["en", "fr"].of("queries") is None  # nobody asks in French
    assert pairs["en", "fr"].near is None
    # answer filler en 0 1 2 3 | answer filler fr 0 1 2 3
    assert found.jaccard(Side("en", "document"), Side("fr", "document")) == pytest.approx(6 / 8)
    assert found.takeaway.bold == "No query of one language is asked in another."


def test_one_task_in_one_language_says_so(tmp_path):
    made = worked_example()
    task = made.tasks[0]
    spoken = tuple(row._replace(language="en") for row in task.documents)
    queries = tuple(row._replace(language="en") for row in task.queries)
    with write.writer(Cache(tmp_path)) as writer:
        writer.add_benchmark(
            dataclasses.replace(made, tasks=(dataclasses.replace(task, documents=spoken, queries=queries),))
        )
    found = data.card(read.open_store(Cache(tmp_path)), "example").separation
    assert found.takeaway.bold == "There is one task, in English: nothing to compare it with."
    assert found.pairs == found.words == ()


def words(text):
    """The words of a text without SQL: runs of letters, marks and digits; Han and kana one by one."""
    found, run = set(), ""
    for letter in unicodedata.normalize("NFC", text).lower() + " ":
        alone = unicodedata.name(letter, "").startswith(("CJK UNIFIED", "HIRAGANA", "KATAKANA"))
        if run and (alone or unicodedata.category(letter)[0] in "ZPSC"):
            found.add(run)
            run = ""
        if alone:
            found.add(letter)
        elif unicodedata.category(letter)[0] not in "ZPSC":
            run += letter
    return found


def compact(text):
    """Letters, marks and digits of a text without SQL."""
    return "".join(
        letter for letter in unicodedata.normalize("NFC", text).lower() if unicodedata.category(letter)[0] in "LMN"
    )


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Three tasks of texts that are drawn, of few words: many are alike."""
    draw = random.Random(5)
    parts = [
        "Alpha",
        "alpha",
        "beta",
        "Élan",
        "E\u0301lan",
        "β-test",
        "x2",
        "心",
        "筋梗",
        "かな",
        "добрый",
        "день",
        "…",
        "?!",
    ]

    def text():
        return draw.choice([" ", "  ", ", "]).join(draw.choices(parts, k=draw.randint(1, 12)))

    tasks = tuple(
        Task(
            f"t{number}",
            f"Task {number}",
            "?",
            tuple(Document(f"d{n}", draw.choice(["en", "ru"]), text(), f"f{n % 5}") for n in range(40)),
            tuple(Query(f"q{n}", draw.choice(["en", "ru"]), text(), f"f{draw.randint(0, 30)}") for n in range(60)),
            (),
        )
        for number in range(3)
    )
    made = Benchmark("drawn", "1", "Drawn", False, "CC0", "drawn", (), {}, tasks)
    cache = Cache(tmp_path_factory.mktemp("drawn"))
    with write.writer(cache) as writer:
        writer.add_benchmark(made)
    return tasks, data.card(read.open_store(cache), "drawn").separation


def test_jaccards_are_those_of_sets(drawn):
    tasks, found = drawn
    held = {
        Side(task.title, item): set().union(*(words(row.text) for row in rows))
        for task in tasks
        for item, rows in (("query", task.queries), ("document", task.documents))
    }
    assert set(found.sides) == set(held)
    for a, b in itertools.product(held, repeat=2):
        expected = len(held[a] & held[b]) / len(held[a] | held[b])
        assert found.jaccard(a, b) == pytest.approx(expected)
        assert found.jaccard(a, b) == found.jaccard(b, a)
        assert 0 <= found.jaccard(a, b) <= 1
    assert all(found.jaccard(side, side) == 1 for side in held)


def test_shared_queries_and_near_ones_are_those_of_sets(drawn):
    tasks, found = drawn
    named = {task.title: task for task in tasks}
    assert len(found.pairs) == 3
    for pair in found.pairs:
        a, b = named[pair.a].queries, named[pair.b].queries
        keys = [{compact(row.text) for row in rows} - {""} for rows in (a, b)]
        assert pair.of("queries_normalised") == Shared(
            "queries_normalised", len(keys[0] & keys[1]), len(keys[0]), len(keys[1])
        )
        concepts = [{row.family for row in rows} for rows in (a, b)]
        assert pair.of("concepts").shared == len(concepts[0] & concepts[1])
        sets = [[words(row.text) for row in rows] for rows in (a, b)]
        alike = [
            sum(any(mine and len(mine & other) / len(mine | other) >= 0.9 for other in others) for mine in own)
            for own, others in (sets, sets[::-1])
        ]
        assert pair.near == Near(alike[0], 60, alike[1], 60)
        assert alike[0]  # some are


def test_near_duplicates_are_left_out_where_there_are_too_many(drawn, monkeypatch, tmp_path):
    monkeypatch.setattr(texts, "MOST_PAIRS", 0)
    found = data.card(put_overlapping(Cache(tmp_path)), "overlapping").separation
    assert not found.near_looked_for
    assert found.pairs[0].near is None


def test_scores_without_texts_have_nothing_to_compare(imported_store):
    card = data.card(imported_store, "imported")
    assert card.separation.takeaway.bold == "No text is stored: nothing can be compared."
    assert card.separation.pairs == ()
    assert "nothing can be compared" in benchmark_card.markdown(card)


def test_markdown_has_every_part_and_keeps_texts_as_they_are(tmp_path):
    made = overlapping()
    tasks = (dataclasses.replace(made.tasks[0], title="A | <b>"), made.tasks[1])
    with write.writer(Cache(tmp_path)) as writer:
        writer.add_benchmark(dataclasses.replace(made, tasks=tasks))
    told = benchmark_card.markdown(data.card(read.open_store(Cache(tmp_path)), "overlapping"))
    parts = [line for line in told.splitlines() if line.startswith("## ")]
    assert parts == ["## Size", "## Separation", "## Against training files", "## Source, licence and limits"]
    assert "A \\| \\<b\\>" in told
    assert "| 1 of 5 and 3 | 0 of 5 and 3 | 1 of 5 and 3 |" in told
    assert "It was looked for in no file." in told
    assert "- A limit.\n- For research on retrieval. Not for clinical decisions." in told
    tables = [list(group) for is_row, group in itertools.groupby(told.splitlines(), is_of_table) if is_row]
    assert len(tables) == 5  # sizes, texts of two tasks, pairs, words
    for rows in tables:
        assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
        assert len(rows) > 2


def is_of_table(line):
    return line.startswith("|")
