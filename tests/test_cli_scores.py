"""The command line over imported scores, and over parts of the queries by any attribute."""

import csv
import io
import json
from dataclasses import replace

import pandas as pd
import pytest

from analysis.cli import main
from analysis.model import Judgement, Query
from analysis.paths import Cache
from tests.hand_made import put, ranking_of, score_rows, worked_example, write_scores


@pytest.fixture
def command(capsys, imported_store):
    def call(*arguments, cache=imported_store.cache.root):
        code = main([*arguments, "--cache", str(cache)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """The worked example with a third query, in a language without documents, and a free attribute."""
    made = worked_example()
    task = made.tasks[0]
    queries = (
        *(query._replace(attributes={"topic": "one"}) for query in task.queries),
        Query("q3", "de", "Frage", family="c", tier="2", attributes={"topic": "two"}),
    )
    judgements = (*task.judgements, Judgement("q3", "c-en", 1.0))
    task = replace(task, queries=queries, judgements=judgements)
    lists = [["c-en"], ["c-ja", "c-en"], ["f0-en", "c-en"]]
    cache = Cache(tmp_path_factory.mktemp("ranked"))
    put(cache, replace(made, tasks=(task,)), {("good", "lexical"): ranking_of(task, lists, depth=10)})
    return cache.root


def systems(answer):
    assert answer[0] == 0, answer[2]
    return json.loads(answer[1])["systems"]


def test_import_scores_says_what_it_stored_and_stores_it_once(command, tmp_path):
    path = str(write_scores(tmp_path / "s.csv", score_rows()))
    arguments = ("import-scores", path, "--benchmark", "mine", "--family-from-id", "--task", "t")
    code, out, err = command(*arguments, cache=tmp_path / "cache")
    assert (code, out) == (0, "")
    assert "small lacks 4 of 40 queries: they count 0" in err
    assert "stored mine@1: 40 queries; measures recall_at_10, rr_at_10" in err
    assert err.splitlines()[-1].endswith("attributes specialty, number")
    assert "kept (the same file was stored before) mine@1" in command(*arguments, cache=tmp_path / "cache")[2]
    tasks = json.loads(command("list", "tasks", "--format", "json", cache=tmp_path / "cache")[1])
    assert [(task["task"], task["n_documents"], task["n_queries"]) for task in tasks] == [("t", 0, 40)]
    runs = json.loads(command("list", "runs", "--format", "json", cache=tmp_path / "cache")[1])
    assert {run["depth"] for run in runs} == {None}
    assert command("check", cache=tmp_path / "cache")[0] == 0


def test_a_repaired_language_is_told(command, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("model,query_id,query_language,rr\nm,q,jp,1\n", encoding="utf-8")
    code, _, err = command("import-scores", str(path), "--benchmark", "mine", cache=tmp_path / "cache")
    assert code == 0
    assert "line 2: jp is a country's code, taken as ja (Japanese)" in err.splitlines()


def test_a_faulty_file_is_one_clear_line(command, tmp_path):
    rows = score_rows()
    rows[2]["rr_at_10"] = 7
    code, out, err = command(
        "import-scores", str(write_scores(tmp_path / "s.csv", rows)), "--benchmark", "b", cache=tmp_path / "cache"
    )
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].endswith("s.csv, line 4: rr_at_10 '7', expected a number from 0 to 1")
    assert json.loads(command("list", "benchmarks", "--format", "json", cache=tmp_path / "cache")[1]) == []


def test_scores_are_the_imported_measures_and_what_hits_would_tell_is_null(command):
    rows = systems(command("scores", "--benchmark", "imported", "--format", "json"))
    frame = pd.DataFrame(score_rows())
    for row in rows:
        assert list(row["measures"]) == [
            "recall_at_10",
            "rr_at_10",
            "recall_at_10_same",
            "recall_at_10_cross",
            "language_transfer",
            "task_score",
        ]
        mine = frame.loc[frame["model"] == row["system"], "rr_at_10"]
        assert row["measures"]["rr_at_10"]["value"] == pytest.approx(mine.sum() / 40)
        assert row["n_missing"] == 40 - len(mine)
        for name in ("depth", "n_tied_at_10", "tie_range_ndcg_at_10", "judged_at_10", "distinct_documents_at_10"):
            assert row[name] is None


def test_fairness_and_per_query_answer_from_scores(command):
    rows = systems(command("fairness", "--benchmark", "imported", "--format", "json"))
    assert {row["measure"] for row in rows} == {"recall_at_10"}
    assert all(set(row["by_language"]) == {"en", "de", "fr"} and row["p"] is None for row in rows)
    table = list(csv.DictReader(io.StringIO(command("per-query", "--benchmark", "imported", "--format", "csv")[1])))
    assert len(table) == 120
    first = next(row for row in table if row["system"] == "large")
    given = score_rows()[0]
    assert {name: first[name] for name in ("query_id", "query_language", "mode", "specialty")} == {
        name: given[name] for name in ("query_id", "query_language", "mode", "specialty")
    }
    assert first["family"] == "p0"
    assert float(first["recall_at_10"]) == given["recall_at_10"]
    assert sum(row["recall_at_10_same"] == "" for row in table) == 12
    assert "ndcg_at_10" not in first
    assert "first_same_rank" not in first


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("routes",), "this benchmark has per-query scores only: language routes need rankings"),
        (("tiers",), "this benchmark has per-query scores only: difficulty tiers need rankings"),
        (("show", "routes"), "this benchmark has per-query scores only: language routes need rankings"),
        (("run", "--systems", "bm25"), "this benchmark has per-query scores only: a run needs documents to rank"),
        (("export", "--format", "trec", "--run", "large"), "this benchmark has per-query scores only: --format trec"),
        (("export", "--format", "beir"), "this benchmark has per-query scores only: --format beir"),
        (("probe", "pain", "--encoder", "bm25"), "per-query scores only: a live query needs documents to search"),
        (("scores", "--by", "no_home"), "--by 'no_home': expected a query attribute of main: language, tier"),
        (("scores", "--where", "no_home=yes"), "unknown query attribute 'no_home'"),
        (("scores", "--where", "colour=red"), "unknown query attribute 'colour': main has language, tier"),
    ],
)
def test_what_scores_cannot_tell_is_one_clear_line(command, arguments, says):
    code, out, err = command(*arguments, "--benchmark", "imported")
    assert (code, out) == (1, "")
    assert says in err.splitlines()[-1]


def test_where_and_by_take_a_free_attribute(command):
    def counts(*arguments):
        rows = systems(
            command("scores", "--benchmark", "imported", "--system", "large", "--format", "json", *arguments)
        )
        return {row.get("slice", {}).get("value"): row["n_queries"] for row in rows}

    frame = pd.DataFrame(score_rows()).query("model == 'large'")
    sizes = frame["specialty"].value_counts().to_dict()
    assert counts("--by", "specialty") == sizes
    assert counts("--where", "specialty=lung, chest") == {None: sizes["lung, chest"]}
    assert counts("--where", "specialty=bone=marrow") == {None: sizes["bone=marrow"]}
    heart, lung = "specialty=heart", "specialty=lung, chest"
    assert counts("--where", heart, "--where", lung) == {None: sizes["heart"] + sizes["lung, chest"]}
    assert counts("--where", heart, "--where", lung, "--by", "specialty") == {
        name: sizes[name] for name in ("heart", "lung, chest")
    }
    german = frame.query("specialty == 'heart' and query_language == 'de'")
    assert counts("--where", heart, "--where", "language=de") == {None: len(german)}
    assert counts("--by", "family")["p7"] == 2
    assert list(counts("--by", "number")) == [str(number) for number in range(40)]


def test_where_and_by_take_no_home(command, ranked):
    rows = systems(command("scores", "--benchmark", "example", "--by", "no_home", "--format", "json", cache=ranked))
    assert [(row["slice"], row["n_queries"]) for row in rows] == [
        ({"attribute": "no_home", "value": "no"}, 2),
        ({"attribute": "no_home", "value": "yes"}, 1),
    ]
    assert [row["measures"]["rr"]["value"] for row in rows] == [1, 0.5]
    where = ("--where", "no_home=yes", "--where", "topic=two")
    [row] = systems(command("scores", "--benchmark", "example", *where, "--format", "json", cache=ranked))
    assert row["n_queries"] == 1
    [row] = systems(command("tiers", "--benchmark", "example", *where[:2], "--format", "json", cache=ranked))[:1]
    assert row["hit_at_1"]["n"] == 1
    routes = command("routes", "--benchmark", "example", "--by", "topic", "--format", "json", cache=ranked)
    assert {cell["slice"]["value"] for cell in json.loads(routes[1])["cells"]} == {"one", "two"}


def test_exports_carry_the_attributes(command, ranked, tmp_path):
    command("export", "--benchmark", "example", "--format", "beir", "-o", str(tmp_path), cache=ranked)
    lines = (tmp_path / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    first, *_, last = (json.loads(line) for line in lines)
    assert (first["metadata"], "tier" in first) == ({"topic": "one"}, False)
    assert (last["metadata"], last["tier"]) == ({"topic": "two"}, "2")
    table = command("per-query", "--benchmark", "example", "--format", "csv", cache=ranked)[1]
    assert [row["topic"] for row in csv.DictReader(io.StringIO(table))] == ["one", "one", "two"]
    latex = command("export", "--benchmark", "imported", "--format", "latex")[1]
    assert "System & R@10 & RR@10 & R@10 same & R@10 cross & LT\\% \\\\" in latex


def test_pyterriers_table_is_read_with_a_language_said_on_the_command_line(command, tmp_path):
    path = tmp_path / "perquery.csv"
    path.write_text("name,qid,measure,value\nm,1,nDCG@10,0.5\nm,2,nDCG@10,0.25\n", encoding="utf-8")
    arguments = ("import-scores", str(path), "--benchmark", "mine")
    cache = tmp_path / "cache"
    code, _, err = command(*arguments, cache=cache)
    assert code == 1
    assert "column query_language is missing" in err.splitlines()[-1]
    code, _, err = command(*arguments, "--query-language", "sw", cache=cache)
    assert code == 0, err
    [row] = systems(command("scores", "--benchmark", "mine", "--format", "json", cache=cache))
    assert row["measures"]["ndcg_at_10"]["value"] == pytest.approx(0.375)
