"""Task 3 from generated sources to a stored benchmark: by command, the same bytes again, whatever was ended."""

import json
from dataclasses import replace

import pytest
from mmed_builds import NAME, exported

from analysis.benchmarks import mmed_task3
from analysis.benchmarks.mmed_task3 import Options
from analysis.cli import main
from analysis.errors import JobCancelledError
from analysis.jobs import build_evidence, build_mmed
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems.translator import Settings
from analysis.systems.weights import LoadOptions
from analysis.views import data
from tests.systems.tiny_translators import nllb

MEASURES = ("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10", "rr", "ap")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("sources")
    for source in ("umls", "bioasq"):
        told = ("generate-sources", source, str(root / source), "--seed", "3", "--concepts", "60", "--questions", "12")
        assert main(told) == 0
    return root


def build(sources, *more):
    given = ("--umls", sources / "umls", "--bioasq", sources / "bioasq" / "training13b.json")
    return ("build", "mmed-task3", *given, *(more or ("--translations", sources / "bioasq" / "translations.tsv")))


def per_query(command, benchmark, cache):
    rows = json.loads(command("per-query", "--benchmark", benchmark, "--format", "json", cache=cache)[1])
    return {row["query_id"]: {name: row[name] for name in (*MEASURES, "family")} for row in rows}


def test_from_generated_sources_to_pages_and_back(command, sources, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    code, out, err = command(
        *build(sources, "--translations", sources / "bioasq" / "translations.tsv", "--run", "bm25"), cache=one
    )
    assert code == 0, err
    made = json.loads(out)["t3-evidence"]
    assert [(row["passed"], row["flagged"], row["failed"], row["missing"]) for row in made["translations"]] == [
        (4, 3, 3, 1)
    ] * 5
    assert command(*build(sources), cache=two)[0] == 0
    assert exported(command, one, tmp_path / "beir") == exported(command, two, tmp_path / "beir-again")
    beir = ("import-benchmark", tmp_path / "beir", "--benchmark", "back", "--task", "t3-evidence", "--format", "beir")
    assert command(*beir, cache=two)[0] == 0
    assert command("run", "--benchmark", "back", "--systems", "bm25", cache=two)[0] == 0
    before, after = per_query(command, NAME, one), per_query(command, "back", two)
    assert len(before) == 11 + 5 * 10
    assert before == after
    subsets = [
        json.loads(command("compare", "--benchmark", name, "--format", "json", cache=cache)[1])["qa_subsets"]
        for name, cache in ((NAME, one), ("back", two))
    ]
    assert subsets[0] == subsets[1]
    assert subsets[0][0]["n_queries"] == {"pass": 20, "official": 20 + 15 + 11, "all": 61}
    (task,) = data.card(read.open_store(Cache(one)), NAME).tasks
    assert [vars(row) for row in task.translations.languages] == made["translations"]
    code, out, _ = command("show", "data", "--benchmark", NAME, cache=one)
    assert json.loads(out)["card"]["tasks"][0]["translations"]["n_without_snippet"] == 1


def test_task_1_and_task_3_of_one_umls_stand_side_by_side(command, sources, tmp_path):
    questions = (
        "generate-sources",
        "mmedbench",
        tmp_path / "m",
        "--seed",
        "3",
        "--concepts",
        "60",
        "--questions",
        "20",
    )
    assert command(*questions, cache=tmp_path)[0] == 0
    assert command(*build(sources), cache=tmp_path / "c")[0] == 0
    first = ("--umls", sources / "umls", "--mmedbench", tmp_path / "m", "--least", "5")
    code, _, err = command("build", "mmed-task1", *first, cache=tmp_path / "c")
    assert code == 0, err
    store = read.open_store(Cache(tmp_path / "c"))
    (row,) = store.benchmarks()
    tasks = [(task.name, task.is_default) for task in store.tasks(row.benchmark_id)]
    assert tasks == [("t1-alignment", True), ("t3-evidence", False)]  # whichever was built first
    cards = {card.task.name: card for card in data.card(store, NAME).tasks}
    assert cards["t1-alignment"].translations is None
    assert cards["t3-evidence"].tagging is None
    assert command("build", "mmed-task1", *first, cache=tmp_path / "c")[0] == 0
    options = Options(sources / "bioasq", sources / "bioasq" / "translations.tsv", sources / "umls")
    other = replace(mmed_task3.build(options, Cache(tmp_path / "c").terms), licence="Mine")
    for _ in range(2):
        build_mmed.stored(Cache(tmp_path / "c"), other, progress=silent)
    (again,) = read.open_store(Cache(tmp_path / "c")).benchmarks()
    assert (again.source, again.licence) == (row.source, "CC0 1.0; Mine")
    assert row.source.count("; ") == 1


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return nllb(tmp_path_factory.mktemp("models") / "tiny-nllb")


def by_model(sources, cache, model, *, progress=silent):
    options = Options(sources / "bioasq", umls=sources / "umls", languages=("es", "ja"))
    load = LoadOptions(offline=True, threads=1)
    return build_evidence.build_task3(
        cache, options=options, models=[str(model)], beams=1, load=load, progress=progress
    )


def test_a_build_ended_while_it_translates_goes_on(command, sources, model, tmp_path, monkeypatch):
    monkeypatch.setattr("analysis.systems.translator.CHUNK", 4)
    monkeypatch.setattr(build_evidence, "Settings", lambda beams: Settings(beams, longest=6))
    cache, alone = Cache(tmp_path / "cache"), Cache(tmp_path / "alone")

    def cancel(step, done, total):
        if step == "translate es into en" and done:
            raise JobCancelledError("cancelled")

    with pytest.raises(JobCancelledError):
        by_model(sources, cache, model, progress=cancel)
    assert read.open_store(cache) is None
    kept = {path: path.stat().st_mtime_ns for path in cache.translations.rglob("*.jsonl")}
    assert len(kept) == 4  # eleven questions in three chunks there, one of them back
    _, benchmark = by_model(sources, cache, model)
    assert kept.items() <= {path: path.stat().st_mtime_ns for path in cache.translations.rglob("*.jsonl")}.items()
    assert by_model(sources, alone, model)[1] == benchmark
    first, second = (exported(command, one.root, tmp_path / f"{one.root.name}-beir") for one in (cache, alone))
    assert first == second
    assert benchmark.settings["built"]["t3-evidence"]["translated_by"] == "tiny-nllb"
    assert len(benchmark.tasks[0].queries) == 33


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "build mmed-task3 needs --bioasq: docs/licensed-sources.md says what to download"),
        (("--bioasq", "x"), "needs --translations FILE or --translator MODEL, one of the two"),
        (("--bioasq", "x", "--translations", "y", "--translator", "z"), "one of the two"),
        (("--bioasq", "x", "--translations", "y", "--beams", "2"), "--beams is of a --translator"),
        (("--bioasq", "x", "--translations", "y", "--target-languages", "en"), "expected languages besides English"),
        (("--bioasq", "x", "--translations", "y", "--mmedbench", "z"), "build mmed-task3 takes no --mmedbench"),
        (("--bioasq", "x", "--translations", "y"), "x: no such file or folder"),
        (("--bioasq", "x", "--translator", "nowhere"), "translator 'nowhere': no such folder"),
    ],
)
def test_a_wrong_word_is_said(command, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = command("build", "mmed-task3", *arguments, cache=tmp_path / "cache")
    assert (code, out) == (1, "")
    assert says in err.splitlines()[-1]


def test_a_language_that_no_model_knows_ends_the_build_before_it_translates(command, sources, model, tmp_path):
    code, _, err = command(*build(sources, "--translator", model, "--target-languages", "es,ru"), cache=tmp_path)
    assert code == 1
    assert "translator tiny-nllb: does not translate English (en) into Russian (ru)" in err.splitlines()[-1]
    assert not Cache(tmp_path).translations.exists()
