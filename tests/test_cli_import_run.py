"""The command `import-run`: what it prints, what it stores, and what it leaves as it was."""

import json
from dataclasses import replace
from math import log2

import pytest

from analysis.cli import main
from analysis.model import Judgement
from analysis.paths import Cache
from analysis.store import read
from tests.hand_made import put, ranking_of, worked_example

RUN = "".join(
    f"{query} Q0 {name} {rank} {10 - rank} tag\n"
    for query, names in {"q1": ["f0-en", "c-en", "c-fr"], "q2": ["c-ja", "f0-en", "c-en"]}.items()
    for rank, name in enumerate(names)
)
READING = ("scores", "routes", "recoverability", "tiers", "fairness", "compare", "per-query")


@pytest.fixture
def cache(tmp_path):
    """The worked example with a judged document outside the corpus, and one run of it."""
    made = worked_example()
    task = made.tasks[0]
    task = replace(task, judgements=(*task.judgements, Judgement("q1", "gone", 1.0)))
    ranking = ranking_of(task, [["c-en", "f0-en"], ["f0-fr", "c-en"]], depth=10)
    return put(Cache(tmp_path / "cache"), replace(made, tasks=(task,)), {("good", "lexical"): ranking}).cache


@pytest.fixture
def command(capsys, cache):
    def call(*arguments):
        code = main([*arguments, "--cache", str(cache.root)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def bring(command, tmp_path):
    def call(text, *flags, system="mine", benchmark="example"):
        path = tmp_path / "run.trec"
        path.write_text(text, encoding="utf-8")
        return command("import-run", str(path), "--benchmark", benchmark, "--system", system, *flags)

    return call


def answer(command, name, *flags):
    code, out, err = command(name, "--benchmark", "example", "--format", "json", *flags)
    assert code == 0, err
    return json.loads(out)


def test_a_run_is_stored_once_and_a_new_one_replaces_it(command, bring, cache):
    code, out, err = bring(RUN)
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == "stored main: mine: 6 rows"
    assert bring(RUN)[2].splitlines()[-1] == "kept (the same file was stored before) main: mine: 6 rows"
    first = cache.current.read_text()
    rows = {row["query_id"]: row for row in answer(command, "per-query", "--system", "mine")}
    assert (rows["q1"]["rr"], rows["q2"]["rr"]) == (0.5, 1)
    assert rows["q1"]["recall_at_10"] == 2 / 4  # the document outside the corpus counts below the line
    err = bring(RUN.replace("c-ja", "f1-en"))[2]
    assert err.splitlines()[-1] == "stored in place of the run before main: mine: 6 rows"
    assert cache.current.read_text() != first
    assert command("check")[0] == 0


def test_the_table_says_what_is_in_the_file(bring):
    text = RUN.replace("f0-en 1 9", "f0-en 1 8") + "q9 Q0 c-en 1 1 other\n"  # in q2 c-en may stand at 2 or 3
    ideal = 1 + 1 / log2(3) + 1 / 2
    one = (1 / log2(3) + 1 / 2) / (ideal + 1 / log2(5))
    lines = dict(line.split("  ", 1) for line in bring(text, "--dry-run")[2].splitlines() if "  " in line)
    assert {name: value.strip() for name, value in lines.items()} == {
        "file": "run.trec (trec)",
        "rows": "7 read, 6 ranked",
        "queries": "2 of the task's 2",
        "judged queries missing": "0",
        "unknown queries": "1 (q9)",
        "unjudged queries": "0",
        "documents a query": "3 to 3, median 3",
        "tied across rank 10": f"0 queries; nDCG@10 from {(one + (1 + 1 / 2) / ideal) / 2:.4f} to "
        f"{(one + (1 + 1 / log2(3)) / ideal) / 2:.4f}",
        "rank against score": "0 queries (the rank column is ignored)",
        "run tags": "tag, other: 2, expected one in a run",
    }


def test_the_report_stays_with_the_run(bring, cache):
    bring(RUN + "q1 Q0\nq2 Q0 f0-fr 1 0.5\n", "--lenient")
    store = read.open_store(cache)
    [run] = [row for row in store.runs([1]) if row.system == "mine"]
    report = run.provenance["report"]
    assert (report["dropped"], report["mended"], report["n_rows"]) == ({"columns": 1}, {"tag": 1}, 8)
    assert [fault[0] for fault in report["faults"]] == [7, 8]
    assert (run.depth, run.n_hits, run.paradigm, run.provenance["lenient"]) == (4, 7, "unknown", True)


def test_a_system_of_the_catalogue_is_called_as_there(bring, cache):
    bring(RUN, system="use-multilingual-v3")
    assert read.open_store(cache).system_labels()["use-multilingual-v3"].paradigm == "multilingual dense"


def test_a_dry_run_and_a_fault_store_nothing(command, bring, cache):
    before = (cache.current.read_text(), cache.current.parent.joinpath(cache.current.read_text().strip()).read_bytes())
    assert bring(RUN, "--dry-run")[2].splitlines()[-1] == "checked, nothing stored: main: mine: 6 rows"
    code, out, err = bring(RUN + "q1 Q0 nowhere 9 0 tag\n")
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].endswith(
        "run.trec, line 7: document 'nowhere' is not in the corpus, expected one of its ids "
        "(--allow-unknown-documents keeps it as non-relevant)"
    )
    after = (cache.current.read_text(), cache.current.parent.joinpath(cache.current.read_text().strip()).read_bytes())
    assert before == after


def test_unknown_documents_push_others_down_and_change_no_other_run(command, bring, cache, tmp_path):
    text = RUN + "q1 Q0 nowhere 0 99 tag\nq2 Q0 elsewhere 0 8.5 tag\nq1 Q0 gone 0 0 tag\n"
    before = {name: answer(command, name, "--system", "good") for name in READING}
    tasks = command("list", "tasks", "--format", "json")[1]
    assert "unknown documents       3, kept as non-relevant" in bring(text, "--allow-unknown-documents")[2]
    assert {name: answer(command, name, "--system", "good") for name in READING} == before
    assert command("list", "tasks", "--format", "json")[1] == tasks
    rows = {row["query_id"]: row for row in answer(command, "per-query", "--system", "mine")}
    assert (rows["q1"]["rr"], rows["q2"]["rr"]) == (1 / 3, 1)
    assert rows["q1"]["recall_at_10"] == 3 / 4  # a judged document is relevant wherever it is
    export = command("export", "--benchmark", "example", "--run", "mine", "--format", "trec")[1]
    assert export.splitlines()[0].split()[:4] == ["q1", "Q0", "nowhere", "1"]
    store = read.open_store(cache)
    assert len(store.corpus(1)) == 11
    assert command("check")[0] == 0
    code, _, err = bring("q1 Q0 nowhere 1 1 t\n", system="third")  # known to the store, still outside the corpus
    assert code == 1
    assert "line 1: document 'nowhere' is not in the corpus" in err
    assert bring("q1 Q0 nowhere 1 1 t\n", "--lenient", system="third")[0] == 0
    assert store.documents(1).id.tolist() == read.open_store(cache).documents(1).id.tolist()


def test_an_empty_run_counts_zero_everywhere(command, bring):
    code, _, err = bring("")
    assert code == 1
    assert err.splitlines()[-1].endswith("the file is empty: no rows, expected a run (--lenient stores an empty one)")
    assert bring("", "--lenient")[0] == 0
    for name in READING:
        assert answer(command, name)
    [row] = answer(command, "scores", "--system", "mine")["systems"]
    assert (row["measures"]["ndcg_at_10"]["value"], row["n_missing"], row["depth"]) == (0, 2, 0)
    assert command("show", "overview", "--benchmark", "example")[0] == 0
    assert command("check")[0] == 0


def test_the_task_may_be_left_out_where_there_is_one(command, bring, cache):
    made = worked_example()
    two = replace(made, name="two", tasks=(made.tasks[0], replace(made.tasks[0], name="other", default=False)))
    put(cache, two, {})
    code, _, err = bring(RUN, benchmark="two")
    assert (code, err) == (2, "babelscope: --task is needed: two has main, other\n")
    assert bring(RUN, "--task", "other", benchmark="two")[2].splitlines()[-1] == "stored other: mine: 6 rows"


def test_a_benchmark_of_scores_takes_no_run(capsys, imported_store, tmp_path):
    (tmp_path / "run").write_text(RUN)
    arguments = ["import-run", str(tmp_path / "run"), "--benchmark", "imported", "--system", "s"]
    assert main([*arguments, "--cache", str(imported_store.cache.root)]) == 1
    assert "per-query scores only: a run needs documents" in capsys.readouterr().err


def test_a_subset_of_an_mteb_file_is_chosen_by_name(bring):
    run = {"q1": {"f0-en": 2.0, "c-en": 1.0}, "q2": {"c-ja": 1.0}}
    text = json.dumps({"mteb_model_meta": {}, "en": {"test": run}, "fr": {"test": run}})
    code, _, err = bring(text)
    assert code == 1
    assert err.splitlines()[-1].endswith(": it holds en / test, fr / test; expected --subset with one of them")
    code, _, err = bring(text, "--subset", "fr")
    assert code == 0, err
    assert "stored main: mine: 3 rows" in err


def test_columns_are_mapped(bring):
    text = "key,docno,score\nq1,c-en,1\n"
    code, _, err = bring(text, "--format", "csv", "--map", "key=query_id")
    assert code == 0, err
    for wrong, says in (
        ("key", "--map 'key': expected COLUMN=FIELD"),
        ("key=text", "--map key=text: expected a field"),
    ):
        code, _, err = bring(text, "--format", "csv", "--map", wrong)
        assert code == 1
        assert says in err.splitlines()[-1]
