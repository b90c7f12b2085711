"""The command line as other programs use it: shapes, exit codes, one clear last line."""

import csv
import io
import json
from collections import Counter

import duckdb
import pytest
import pytrec_eval

from analysis.cli import main
from analysis.errors import BabelscopeError
from analysis.report.latex import escaped

INTERVAL = {"value", "aggregate", "other_mean", "ceiling", "low", "high", "level", "method", "n"}


@pytest.fixture
def command(capsys, real_store):
    def call(*arguments, cache=real_store):
        code = main([*arguments, "--cache", str(cache)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def parsed(answer):
    """The CSV a command printed, as rows."""
    return list(csv.DictReader(io.StringIO(answer[1])))


pytestmark = pytest.mark.slow  # all of them stand on the real store


def test_list_benchmarks_tasks_systems_runs(command):
    benchmarks = json.loads(command("list", "benchmarks", "--format", "json")[1])
    assert benchmarks[0]["benchmark"] == "icd10"
    tasks = json.loads(command("list", "tasks", "--benchmark", "icd10", "--format", "json")[1])
    assert [task["task"] for task in tasks] == ["category", "parallel-titles", "discrimination"]
    assert {row["system"] for row in json.loads(command("list", "systems", "--format", "json")[1])} >= {
        "bm25",
        "use-maxsim",
    }
    runs = json.loads(command("list", "runs", "--benchmark", "icd10", "--task", "category", "--format", "json")[1])
    assert {run["status"] for run in runs} == {"complete"}


def test_scores_have_the_promised_shape(command):
    answer = json.loads(command("scores", "--benchmark", "icd10", "--task", "category", "--format", "json")[1])
    assert set(answer) == {"benchmark", "systems", "composites"}
    row = answer["systems"][0]
    assert {
        "task",
        "system",
        "paradigm",
        "depth",
        "n_queries",
        "n_missing",
        "n_unjudged",
        "n_tied_at_10",
        "tie_range_ndcg_at_10",
        "judged_at_10",
        "degenerate",
        "measures",
    } <= set(row)
    assert {
        "ndcg_at_10",
        "recall_at_1",
        "recall_at_50_cross",
        "hit_at_1",
        "rr",
        "language_transfer",
        "jbc_at_100",
        "same_language_irrelevant_at_10",
        "task_score",
    } <= set(row["measures"])
    assert set(row["measures"]["ndcg_at_10"]) == INTERVAL
    interval = row["measures"]["recall_at_10_cross"]
    assert interval["low"] <= interval["value"] <= interval["high"]
    assert interval["aggregate"] == "balanced"
    assert interval["method"] == "bca-joint, B = 10000"
    assert row["measures"]["ndcg_at_10"]["method"] == "percentile-joint, B = 2000"


def test_routes_have_the_promised_shape_and_nulls(command):
    cells = json.loads(command("routes", "--benchmark", "icd10", "--format", "json")[1])["cells"]
    assert {
        "task",
        "system",
        "query_language",
        "document_language",
        "measure",
        "value",
        "retention",
        "preference",
        "low",
        "high",
        "method",
        "n",
    } <= set(cells[0])
    parallel = [cell for cell in cells if cell["task"] == "parallel-titles"]
    diagonal = [cell for cell in parallel if cell["query_language"] == cell["document_language"]]
    assert diagonal
    assert all(cell["value"] is None and cell["n"] == 0 for cell in diagonal)
    category = [cell for cell in cells if cell["task"] == "category"]
    assert all(cell["value"] is not None and cell["low"] <= cell["value"] <= cell["high"] for cell in category)


def test_per_query_matches_pytrec_eval_on_the_exported_run(command, tmp_path):
    """What is stored and what another judge computes from the exported files is the same number."""
    rows = parsed(
        command(
            "per-query",
            "--benchmark",
            "icd10",
            "--task",
            "category",
            "--system",
            "use-multilingual-v3",
            "--format",
            "csv",
        )
    )
    ours = {row["query_id"]: float(row["ndcg_at_10"]) for row in rows}
    command(
        "export",
        "--benchmark",
        "icd10",
        "--task",
        "category",
        "--run",
        "use-multilingual-v3",
        "--format",
        "trec",
        "-o",
        str(tmp_path / "run"),
    )
    command("export", "--benchmark", "icd10", "--task", "category", "--format", "qrels", "-o", str(tmp_path / "qrels"))
    with (tmp_path / "qrels").open() as qrels, (tmp_path / "run").open() as run:
        judge = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"ndcg_cut.10"})
        theirs = {query: values["ndcg_cut_10"] for query, values in judge.evaluate(pytrec_eval.parse_run(run)).items()}
    assert ours.keys() == theirs.keys()
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_per_query_leaves_undefined_empty(command):
    rows = parsed(
        command(
            "per-query",
            "--benchmark",
            "icd10",
            "--task",
            "parallel-titles",
            "--system",
            "bm25",
            "--format",
            "csv",
        )
    )
    assert all(row["first_same_rank"] == "" and row["recall_at_10_same"] == "" for row in rows)
    assert any(row["first_cross_rank"] == "" for row in rows)


def test_by_language_splits_the_rows(command):
    rows = json.loads(
        command(
            "scores",
            "--benchmark",
            "icd10",
            "--task",
            "category",
            "--system",
            "bm25",
            "--by",
            "language",
            "--format",
            "json",
        )[1]
    )["systems"]
    assert [row["slice"]["value"] for row in rows] == ["de", "en", "es", "fr", "ja", "zh"]
    whole = json.loads(
        command("scores", "--benchmark", "icd10", "--task", "category", "--system", "bm25", "--format", "json")[1]
    )["systems"][0]
    assert sum(row["n_queries"] for row in rows) == whole["n_queries"]


def test_recoverability_has_the_promised_shape(command):
    rows = json.loads(command("recoverability", "--benchmark", "icd10", "--format", "json")[1])["systems"]
    row = next(row for row in rows if row["task"] == "category" and row["system"] == "use-maxsim")
    assert {
        "task",
        "system",
        "degenerate",
        "depth",
        "corpus_size",
        "rrc",
        "rrc_low",
        "rrc_high",
        "chance",
        "knee",
        "k_at_90_percent",
        "floor",
        "ari",
        "xrc",
        "k80_same",
        "k80_cross",
        "k80_both",
        "candidate_miss",
        "reranker_fault",
    } <= set(row)
    assert set(row["rrc"]) == set(row["rrc_low"]) == set(row["rrc_high"]) == set(row["chance"])
    assert all(row["rrc_low"][k] <= share <= row["rrc_high"][k] for k, share in row["rrc"].items())
    assert row["rrc"]["50"] <= row["rrc"][str(row["depth"])] == pytest.approx(1 - row["floor"])
    assert "100" in row["ari"]
    assert set(row["knee"]) == {"k", "rrc", "late", "clear", "spread"}
    assert {name: set(cost) for name, cost in row["xrc"].items()} == {
        "0.5": {"value", "bound"},
        "0.8": {"value", "bound"},
    }
    assert {"value", "censored", "se"} <= set(row["k80_cross"])
    assert 0 < row["candidate_miss"] + row["reranker_fault"] < 1
    assert all(row["candidate_miss"] is None for row in rows if row["system"] != "use-maxsim")
    assert all(row["k80_same"] is None for row in rows if row["task"] == "parallel-titles")
    assert not any("slice" in row for row in rows)


def test_recoverability_agrees_with_the_ranks_of_each_query(command):
    asked = ("--benchmark", "icd10", "--task", "category", "--system", "all-minilm-l6-v2", "--format")
    queries = parsed(command("per-query", *asked, "csv"))
    (row,) = json.loads(command("recoverability", *asked, "json", "--k", "7")[1])["systems"]
    ranks = [int(query["first_cross_rank"] or 10**6) for query in queries]  # in category every query has a cross one
    assert row["n"] == len(ranks)
    assert row["rrc"] == pytest.approx({k: sum(rank <= int(k) for rank in ranks) / len(ranks) for k in row["rrc"]})
    assert "7" in row["rrc"]


def test_recoverability_by_route_by_language_and_pooled(command):
    asked = ("recoverability", "--benchmark", "icd10", "--system", "use-multilingual-v3", "--format")
    flat = parsed(command(*asked, "csv", "--by-route", "--where", "language=ja", "--k", "20"))
    routes = {(row["query_language"], row["document_language"]) for row in flat}
    assert routes == {("", ""), *(("ja", tag) for tag in ("en", "es", "fr", "de", "zh"))}
    assert {(row["task"], row["k"]) for row in flat} == {
        ("category", "20"),
        ("parallel-titles", "20"),
        ("discrimination", ""),  # its answers are in the query's own language
    }
    assert all(0 <= float(row["low"]) <= float(row["rrc"]) <= float(row["high"]) <= 1 for row in flat if row["k"])
    rows = json.loads(command(*asked, "json", "--by", "language", "--pooled")[1])["systems"]
    assert {row["slice"]["value"] for row in rows} == {"en", "es", "fr", "de", "ja", "zh"}
    pooled = [row for row in rows if row["task"] is None]
    assert len(pooled) == 6
    assert all(row["rrc"] is None and row["k80_both"]["n"] > 0 for row in pooled)
    table = command(*asked, "table")[1].splitlines()
    assert table[0].startswith("task ")
    assert len(table) == 4


def test_compare_has_the_promised_shape(command):
    base = ("compare", "--benchmark", "icd10", "--format", "json")
    answer = json.loads(command(*base, "--task", "category")[1])
    assert {"friedman", "tax", "pairs", "global_tax", "order_agreement"} <= set(answer)
    assert {"task", "statistic", "df", "p", "n"} <= set(answer["friedman"])
    tax = {"task", "system", "delta", "p", "p_holm", "win", "tie", "loss", "rank_biserial", "note"}
    assert answer["tax"]
    assert all(tax <= set(row) and set(row["delta"]) == INTERVAL for row in answer["tax"])
    assert all({"task", "a", "b", "delta", "p", "p_holm", "p_bh", "family"} <= set(row) for row in answer["pairs"])
    n = len(answer["tax"])
    families = Counter(row["family"] for row in answer["pairs"])
    assert families == {"all pairs": n * (n - 1) / 2, "best against the rest": n - 1, "adjacent ranks": n - 1}
    assert all(set(row["odds_ratio"]) == INTERVAL for row in answer["global_tax"])
    assert all({"a", "b", "spearman", "kendall", "n"} <= set(row) for row in answer["order_agreement"])
    whole = json.loads(command(*base)[1])
    assert [row["task"] for row in whole["friedman"]] == ["category", "parallel-titles", "discrimination"]
    assert {row["task"] for row in whole["tax"]} == {"category"}  # elsewhere no answer is in the query's language
    assert {row["task"] for row in whole["notes"] if row["note"].startswith("No cross-lingual tax")} == {
        "parallel-titles",
        "discrimination",
    }
    assert any(row["a"] == "category" and row["b"] == "parallel-titles" for row in whole["order_agreement"])


def test_compare_as_rows_by_slice_and_by_another_measure(command):
    base = ("compare", "--benchmark", "icd10", "--task", "category", "--format", "csv", "--by", "language")
    rows = parsed(command(*base, "--measure", "ndcg_at_10"))
    assert {row["slice"] for row in rows} == {"de", "en", "es", "fr", "ja", "zh"}
    assert {"friedman", "tax", "all pairs", "global tax"} <= {row["test"] for row in rows}
    assert command("compare", "--benchmark", "icd10", "--measure", "nope")[0] == 1


def test_show_gives_the_page_as_json(command):
    for name in ("overview", "recoverability"):
        view = json.loads(command("show", name, "--benchmark", "icd10")[1])
        assert view["tasks"][0]["takeaway"]["bold"]
    view = json.loads(command("show", "significance", "--benchmark", "icd10", "--task", "category")[1])
    assert view["tasks"][0]["takeaway"]["bold"].startswith("Crossing languages costs")
    assert (
        json.loads(command("show", "routes", "--benchmark", "icd10", "--task", "category")[1])[0]["languages"][0]
        == "en"
    )


def test_probe_answers(command):
    answer = json.loads(
        command(
            "probe",
            "heart attack",
            "--encoder",
            "use-multilingual-v3",
            "--benchmark",
            "icd10",
            "--format",
            "json",
            "--k",
            "3",
        )[1]
    )
    assert [hit["rank"] for hit in answer["hits"]] == [1, 2, 3]
    assert answer["n_documents"] > 0


def test_probe_asks_several_side_by_side(command):
    asked = ("probe", "heart attack", "--encoder", "bm25", "--encoder", "use-multilingual-v3", "--benchmark", "icd10")
    answers = json.loads(command(*asked, "--format", "json", "--k", "2")[1])
    assert [answer["system"]["name"] for answer in answers] == ["bm25", "use-multilingual-v3"]
    lines = command(*asked, "--format", "csv", "--k", "2")[1].splitlines()
    assert lines[0].startswith("system,rank,document_id")
    assert [line.split(",")[0] for line in lines[1:]][-2:] == ["use-multilingual-v3"] * 2


def test_exports_to_beir_csv_parquet_and_latex(command, tmp_path):
    base = ("export", "--benchmark", "icd10", "--task", "category")
    assert command(*base, "--format", "beir", "-o", str(tmp_path / "beir"))[0] == 0
    corpus = [
        json.loads(line) for line in (tmp_path / "beir" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {"_id", "title", "text", "language", "family"} <= set(corpus[0])
    assert (
        (tmp_path / "beir" / "qrels" / "test.tsv")
        .read_text(encoding="utf-8")
        .startswith("query-id\tcorpus-id\tscore\n")
    )
    out = command(*base, "--run", "all-minilm-l6-v2", "--format", "csv")[1]
    assert out.startswith("query_id,document_id,rank,score\n")
    command(*base, "--run", "all-minilm-l6-v2", "--format", "parquet", "-o", str(tmp_path / "run.parquet"))
    (count,) = duckdb.execute("SELECT count(*) FROM read_parquet(?)", [str(tmp_path / "run.parquet")]).fetchall()[0]
    assert count == out.count("\n") - 1
    latex = command(*base, "--format", "latex")[1]
    systems = json.loads(command("list", "systems", "--format", "json")[1])
    names = [row["short"] for row in systems if row["has_run"]]
    assert {row["system"] for row in systems} >= {"labse", "bge-m3-reranker"}  # not run, with what they need
    assert names
    assert all(f"{escaped(name)} & 0." in latex for name in names)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("scores", "--benchmark", "nope"), "unknown benchmark 'nope'"),
        (("scores", "--benchmark", "icd10", "--task", "nope"), "unknown task 'nope'"),
        (("scores", "--benchmark", "icd10", "--system", "nope"), "unknown system 'nope'"),
        (("scores", "--benchmark", "icd10", "--where", "language"), "attribute=value"),
        (("scores", "--benchmark", "icd10", "--by", "colour"), "--by 'colour'"),
        (("routes", "--benchmark", "icd10", "--k", "0"), "k 0"),
        (("recoverability", "--benchmark", "icd10", "--k", "0"), "k 0"),
        (("export", "--benchmark", "icd10", "--format", "trec"), "--task is needed"),
        (("export", "--benchmark", "icd10", "--task", "category", "--run", "nope", "--format", "trec"), "--run 'nope'"),
        (("export", "--benchmark", "icd10", "--task", "category", "--format", "beir"), "-o PATH"),
        (("build", "icd10", "--languages", "en,xx"), "en,xx"),
        (("build", "icd10", "--add-language", "ru"), "TAG=FILE.csv"),
        (("build", "icd10", "--add-language", "xx=x.csv"), "language 'xx': expected an ISO 639 code"),
        (("build", "icd10", "--add-language", "rus=a.csv", "--add-language", "ru=b.csv"), "ru: given 2 times"),
        (("build", "icd10", "--concepts", "0"), "concepts 0"),
        (("run", "--benchmark", "icd10", "--systems", ","), "names separated by commas"),
    ],
)
def test_a_failure_ends_with_one_clear_line_and_exit_1(command, own_store, arguments, says):
    code, out, err = command(*arguments, cache=own_store)
    assert code == 1
    assert out == ""
    assert says in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("babelscope: ")


@pytest.mark.parametrize("arguments", [("nope",), ("scores",), ("list", "nope"), ("export", "--benchmark", "icd10")])
def test_wrong_usage_is_exit_2(arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2


def test_check_finds_damage(command, own_store):
    assert command("check", cache=own_store)[0] == 0
    hit = next((own_store / "hits").glob("*.parquet"))
    hit.write_bytes(hit.read_bytes()[:-8] + b"damaged!")
    code, _, err = command("check", cache=own_store)
    assert code == 1
    assert hit.name in err


def test_an_empty_cache_lists_nothing_and_says_what_to_do(command, tmp_path):
    assert json.loads(command("list", "benchmarks", "--format", "json", cache=tmp_path)[1]) == []
    code, _, err = command("scores", "--benchmark", "icd10", cache=tmp_path)
    assert code == 1
    assert "build bedside" in err


def test_every_error_is_one_of_ours(command, monkeypatch):
    from analysis.cli import read as commands

    def fail(options):
        raise BabelscopeError("one clear line")

    monkeypatch.setattr(commands, "check", fail)
    assert command("check")[2] == "babelscope: one clear line\n"
