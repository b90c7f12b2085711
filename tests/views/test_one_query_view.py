"""One query opened: answers, lists side by side and other versions, on lists that a reader can check."""

import json
from dataclasses import replace

import pytest

from analysis.cli import main
from analysis.errors import InputError, StoreError
from analysis.model import Flag, Judgement
from analysis.paths import Cache
from analysis.store import read
from analysis.views.one_query import Place, opened, words_in_common
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example

EXAMPLE = Selection("example")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The worked example with a junk grade, a grade below 1, a dangling answer, attributes and a flag."""
    made = worked_example()
    task = made.tasks[0]
    queries = (
        task.queries[0]._replace(tier="2", attributes={"office": "EPO"}),
        task.queries[1],
    )
    judgements = (
        *task.judgements, Judgement("q1", "f0-en", -1.0), Judgement("q1", "f1-fr", 0.5), Judgement("q1", "gone", 2.0)
    )  # fmt: skip
    task = replace(task, queries=queries, judgements=judgements, flags=(Flag("query", "q1", "no letters"),))
    lists = [["c-en", "f0-en", "f1-en", "c-fr"], ["c-ja"]]
    rankings = {
        ("good", "lexical"): ranking_of(task, lists, depth=10),
        ("other", "hybrid"): ranking_of(task, [["f3-fr", "c-en"], []], depth=10),
        ("third", "hybrid"): ranking_of(task, [["c-fr"], []], depth=10),
    }
    return put(Cache(tmp_path_factory.mktemp("one")), replace(made, tasks=(task,)), rankings)


def test_what_is_known_of_it(store):
    found = opened(store, EXAMPLE, query_id="q1")
    assert (found.query_id, found.text, found.language, found.family) == ("q1", "question one", "en", "c")
    assert found.attributes == {"tier": "2", "office": "EPO"}
    assert found.flags == ("no letters",)
    assert [label.name for label in found.systems] == ["good", "other", "third"]
    assert found.takeaway.bold == "3 of 3 systems have a right answer in the first 10."
    assert found.takeaway.rest == "The first comes from good, at rank 1."


def test_answers_with_rank_and_score_of_each_system(store):
    found = opened(store, EXAMPLE, query_id="q1")
    places = {answer.document_id: answer.places for answer in found.answers}
    assert places["c-en"] == (Place(1, 1.0), Place(2, 0.99), Place(None, None))
    assert places["c-fr"] == (Place(4, 0.97), Place(None, None), Place(1, 1.0))
    assert places["f0-en"] == (Place(2, 0.99), Place(None, None), Place(None, None))
    assert places["gone"] == (Place(None, None),) * 3
    by_id = {answer.document_id: answer for answer in found.answers}
    assert (by_id["gone"].language, by_id["gone"].text) == (None, "")
    assert [answer.document_id for answer in found.answers][-2:] == ["f0-en", "f1-fr"]  # no right answers
    assert found.answers[0].document_id == "c-en"  # in the query's language


def test_lists_are_aligned_by_document(store):
    found = opened(store, EXAMPLE, query_id="q1", shown=("good", "other"), k=2)
    assert [label.name for label in found.shown] == ["good", "other"]
    rows = {row.document_id: row for row in found.listed}
    assert list(rows) == ["c-en", "f3-fr", "f0-en"]
    assert rows["c-en"].places == (Place(1, 1.0), Place(2, 0.99))
    assert rows["f0-en"].places == (Place(2, 0.99), Place(None, None))
    assert (rows["c-en"].relevant, rows["c-en"].same_concept, rows["c-en"].grade) == (True, True, 1.0)
    assert (rows["f0-en"].relevant, rows["f0-en"].grade) == (False, -1.0)
    assert (rows["f3-fr"].relevant, rows["f3-fr"].grade, rows["f3-fr"].same_concept) == (False, None, False)


def test_the_first_two_systems_are_shown_where_none_is_named(store):
    assert [label.name for label in opened(store, EXAMPLE, query_id="q1").shown] == ["good", "other"]


def test_the_other_versions_of_a_question(store):
    first, second = opened(store, EXAMPLE, query_id="q2").versions
    assert (first.query_id, first.language, first.first) == ("q2", "ja", (1, None, None))
    assert (second.query_id, second.first) == ("q1", (1, 2, 1))


def test_a_query_that_nobody_judged(tmp_path):
    made = worked_example()
    task = replace(made.tasks[0], judgements=made.tasks[0].judgements[:3])
    rankings = {("good", "lexical"): ranking_of(task, [["c-en"], ["c-ja"]], depth=10)}
    found = opened(put(Cache(tmp_path), replace(made, tasks=(task,)), rankings), EXAMPLE, query_id="q2")
    assert found.answers == ()
    assert found.takeaway.bold == "Nothing is judged right for this query."
    assert [row.document_id for row in found.listed] == ["c-ja"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"query_id": "q9"}, "query 'q9': main has no such query"),
        ({"query_id": "q1", "shown": ("x",)}, "system 'x' has no ranking among the chosen ones: good, other, third"),
        ({"query_id": "q1", "shown": ("good",) * 5}, "5 systems, k 10: expected up to 4 systems"),
        ({"query_id": "q1", "k": 0}, "k 0: expected up to 4 systems and k from 1"),
    ],
)
def test_what_cannot_be_opened(store, asked, message):
    with pytest.raises(InputError, match=message):
        opened(store, EXAMPLE, **asked)


def test_a_damaged_ranking_is_named_where_it_is_needed(tmp_path):
    made = worked_example()
    ranking = ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)
    store = put(Cache(tmp_path), made, {("good", "lexical"): ranking, ("other", "hybrid"): ranking})
    runs = {run.system: run for run in store.runs([1])}
    (tmp_path / "hits" / runs["other"].hits_file).write_bytes(b"PAR1 no more")
    store = read.open_store(Cache(tmp_path))
    with pytest.raises(StoreError, match=runs["other"].hits_file):
        opened(store, EXAMPLE, query_id="q1")
    alone = opened(store, EXAMPLE._replace(systems=("good",)), query_id="q1")
    assert alone.listed[0].document_id == "c-en"


def test_words_in_common():
    assert words_in_common("Acute pain, acute", "acute chest pain") == ("acute",)  # as BM25 sees it: "pain," is a token
    assert words_in_common("2型糖尿病", "糖尿病の患者") == ("糖尿", "尿病")
    assert words_in_common("", "x") == ()


def test_the_command_line_opens_it_too(store, capsys):
    arguments = ["--benchmark", "example", "--cache", str(store.cache.root)]
    assert main(["query", "q1", *arguments, "--system", "other", "--k", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["document_id"] for row in told["listed"]] == ["f3-fr"]
    assert told["takeaway"]["bold"].startswith("3 of 3 systems")
    assert main(["query", "q9", *arguments]) == 1
    assert "query 'q9': main has no such query" in capsys.readouterr().err
    assert main(["show", "queries", *arguments]) == 0
    (view,) = json.loads(capsys.readouterr().out)
    assert [line["query_id"] for line in view["lines"]] == ["q1", "q2"]
    assert view["counts"]["all"] == 2
