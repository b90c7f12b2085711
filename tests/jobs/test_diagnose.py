"""Looking at what lies behind runs: with real encoders, and with what a kill, a cancel or another tool leave."""

import itertools
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import InputError, JobCancelledError, StoreError
from analysis.jobs import diagnose as job
from analysis.jobs.diagnose import DiagnoseRequest, diagnose
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read, write
from analysis.systems import tokenizers
from analysis.systems.made_by import CHANGED, OTHER_TOOL
from tests.hand_made import put, put_scores, ranking_of, score_rows, worked_example, write_scores
from tests.jobs.test_crashes import Server, command, kept

CATEGORY = DiagnoseRequest("icd10", ("category",))


def runs_of(cache, benchmark="example", task="main"):
    store = read.open_store(cache)
    row = next(row for row in store.tasks(store.benchmark(benchmark).benchmark_id) if row.name == task)
    return store, row.task_id, {run.system: run for run in store.runs([row.task_id])}


@pytest.fixture
def cache(tmp_path):
    """The worked example with BM25's own run, and a run that another tool made."""
    made = Cache(tmp_path / "cache")
    benchmark = worked_example()
    put(made, benchmark, {("theirs", "lexical"): ranking_of(benchmark.tasks[0], [["c-en"], ["c-ja"]], depth=10)})
    run(made, request=RunRequest("example", systems=("bm25",)), progress=silent)
    return made


def test_words_in_common_are_counted_and_another_tools_run_says_why_there_are_none(cache):
    report = diagnose(cache, request=DiagnoseRequest("example"), progress=silent)
    assert report.stored == ("main: bm25", "main: theirs")
    assert report.untold == (("main: theirs", OTHER_TOOL),)
    store, task_id, runs = runs_of(cache)
    found = store.diagnoses(task_id)
    assert (found[runs["bm25"].run_id].tokens_reason, found[runs["bm25"].run_id].vectors_reason) == (job.WORDS,) * 2
    words = store.word_matches(runs["bm25"].run_id)
    # "question one" shares no word with "answer fr"; 質問 is no word of the corpus at all
    assert words["is_known"].tolist() == [False, False]
    assert words["is_shared"].tolist() == [False, False]
    assert store.faults() == []


def test_what_was_looked_at_is_kept_and_the_store_with_it(cache):
    diagnose(cache, request=DiagnoseRequest("example", systems=("bm25",)), progress=silent)
    before = kept(cache)
    report = diagnose(cache, request=DiagnoseRequest("example", systems=("bm25",)), progress=silent)
    assert (report.stored, report.kept) == ((), ("main: bm25",))
    assert kept(cache) == before
    again = diagnose(cache, request=DiagnoseRequest("example", force=True), progress=silent)
    assert again.stored == ("main: bm25", "main: theirs")


def test_a_run_made_anew_is_looked_at_anew(cache):
    diagnose(cache, request=DiagnoseRequest("example"), progress=silent)
    run(cache, request=RunRequest("example", systems=("bm25",), force=True), progress=silent)
    store, task_id, runs = runs_of(cache)
    assert list(store.diagnoses(task_id)) == [runs["theirs"].run_id]
    assert diagnose(cache, request=DiagnoseRequest("example"), progress=silent).stored == ("main: bm25",)


def test_other_settings_than_the_runs_are_not_mistaken_for_them(cache, monkeypatch):
    entry = job.catalogue.entry("bm25")
    monkeypatch.setattr(job.catalogue, "entry", lambda name: replace(entry, tokens="cjk-bigrams"))
    report = diagnose(cache, request=DiagnoseRequest("example", systems=("bm25",)), progress=silent)
    assert report.untold == (("main: bm25", CHANGED),)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (DiagnoseRequest("nope"), "unknown benchmark"),
        (DiagnoseRequest("example", ("nope",)), "unknown task 'nope': example has main"),
        (DiagnoseRequest("example", systems=("nope",)), "system 'nope': example has runs of bm25, theirs"),
    ],
)
def test_what_is_unknown_is_refused(cache, request_, message):
    with pytest.raises(InputError, match=message):
        diagnose(cache, request=request_, progress=silent)


def test_scores_without_documents_are_refused(tmp_path):
    store = put_scores(Cache(tmp_path / "cache"), write_scores(tmp_path / "scores.csv", score_rows()))
    with pytest.raises(InputError, match="per-query scores only: a diagnosis needs documents"):
        diagnose(store.cache, request=DiagnoseRequest("imported"), progress=silent)


def test_an_empty_store_says_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="build bedside --run all"):
        diagnose(Cache(tmp_path), request=DiagnoseRequest("bedside"), progress=silent)


def test_cancelled_it_leaves_the_store_as_it_was(cache):
    before = kept(cache)

    def cancel(step, done, total):
        if step == "store what theirs sees":
            raise JobCancelledError("cancelled")

    with pytest.raises(JobCancelledError):
        diagnose(cache, request=DiagnoseRequest("example"), progress=cancel)
    assert kept(cache) == before
    assert runs_of(cache)[0].diagnoses(1) == {}
    diagnose(cache, request=DiagnoseRequest("example"), progress=silent)  # the lock is free again
    assert read.open_store(cache).orphans() == []


@pytest.mark.slow
def test_killed_before_any_change_of_a_file_it_leaves_the_store_old_or_new(cache):
    files, seen = kept(cache), set()
    with Server(cache, "diagnose", "--benchmark", "example") as server:
        for change in itertools.count(1):
            status = server.run(change=change)
            if not os.WIFSIGNALED(status):
                break
            store = read.open_store(cache)
            seen.add(len(store.diagnoses(1)))
            assert store.faults() == []
            if not store.diagnoses(1):
                left = kept(cache)
                assert {name: left.get(name) for name in files} == files
    assert os.WEXITSTATUS(status) == 0
    assert seen <= {0, 2}
    assert len(read.open_store(cache).diagnoses(1)) == 2
    with write.writer(cache):
        pass
    assert read.open_store(cache).orphans() == []


@pytest.mark.slow
def test_the_command_says_what_it_did_and_the_answer_is_shown(cache):
    done = command("diagnose", "--benchmark", "example", "--task", "main", cache=cache)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "looked at 1 runs, kept 0, nothing to tell of 1"
    assert f"main: theirs: {OTHER_TOOL}" in done.stderr
    (report,) = cache.jobs.glob("diagnose-*.result.json")
    assert json.loads(report.read_text())["outcome"] == "looked at 1 runs, kept 0, nothing to tell of 1"
    shown = json.loads(command("show", "causes", "--benchmark", "example", cache=cache).stdout)
    systems = {row["system"]["name"]: row for row in shown["tasks"][0]["systems"]}
    assert systems["bm25"]["rows"][0]["numbers"]["no_shared_word"]["value"] == 1.0
    assert systems["theirs"]["tokens_reason"] == OTHER_TOOL


# --- real encoders ----------------------------------------------------------------------------------------------------


def test_of_too_many_texts_whole_families_are_drawn(monkeypatch):
    families = np.array([f"f{number % 40}" for number in range(120)], dtype=object)
    assert job._drawn(families).tolist() == list(range(120))
    monkeypatch.setattr(job, "MOST", 50)
    drawn = job._drawn(families)
    assert len(drawn) == 48  # sixteen families of three
    assert set(np.bincount([int(name[1:]) for name in families[drawn]])) <= {0, 3}
    assert job._drawn(families).tolist() == drawn.tolist()
    assert len(job._drawn(np.array(["one"] * 60, dtype=object))) == 50


@pytest.fixture(scope="module")
def diagnosed(real_store, tmp_path_factory):
    """A copy of the real store whose runs of the category task were looked at; the chunks that were there before."""
    folder = Path(shutil.copytree(real_store, tmp_path_factory.mktemp("diagnosed") / "store"))
    chunks = encoded(folder)
    steps = []
    diagnose(Cache(folder), request=CATEGORY, progress=lambda *said: steps.append(said[0]))
    assert encoded(folder) == chunks  # nothing was encoded again
    assert not any(step.startswith(("load", "encode")) for step in steps)  # so no weights were loaded
    return Cache(folder)


def encoded(folder):
    return sorted((str(path), path.stat().st_mtime_ns) for path in (folder / "embeddings").rglob("*.npz"))


@pytest.mark.slow
def test_all_minilm_does_not_know_japanese_and_use_does(diagnosed):
    store, task_id, runs = runs_of(diagnosed, "icd10", "category")
    documents, queries = store.documents(task_id), store.queries(task_id)
    unknown = {}
    for name in ("all-minilm-l6-v2", "use-multilingual-v3"):
        found = store.text_tokens(runs[name].run_id)
        n = len(store.corpus(task_id))
        assert found.position.tolist() == [*range(n), *range(len(queries.id))]
        language = np.concatenate([documents.language[:n], queries.language])
        for tag in ("en", "ja"):
            mine = language == tag
            unknown[name, tag] = found.unknown_characters[mine].sum() / found.characters[mine].sum()
    assert unknown["all-minilm-l6-v2", "en"] == 0
    assert unknown["all-minilm-l6-v2", "ja"] > 0.4
    assert unknown["use-multilingual-v3", "ja"] < 0.1
    assert store.diagnoses(task_id)[runs["all-minilm-l6-v2"].run_id].token_limit == 256
    assert store.diagnoses(task_id)[runs["use-multilingual-v3"].run_id].token_limit is None
    assert store.faults() == []


@pytest.mark.slow
def test_the_aligned_space_is_told_from_the_one_that_is_not(diagnosed):
    store, task_id, runs = runs_of(diagnosed, "icd10", "category")
    aligned = {}
    for name in ("all-minilm-l6-v2", "use-multilingual-v3"):
        found = store.translations(runs[name].run_id)
        mine = (found.language == "en") & (found.other_language == "ja")
        assert sorted(found.family[mine]) == sorted(set(store.documents(task_id).family))
        aligned[name] = (found.cosine[mine] - found.random[mine]).mean()
    assert aligned["use-multilingual-v3"] > aligned["all-minilm-l6-v2"] + 0.1
    space = store.text_space(runs["all-minilm-l6-v2"].run_id)
    assert set(space.item) == {"document"}
    assert set(space.guessed_language) <= {"en", "es", "fr", "de", "zh", "ja"}


@pytest.mark.slow
def test_late_interaction_has_tokens_and_compositions_name_their_parts(diagnosed):
    store, task_id, runs = runs_of(diagnosed, "icd10", "category")
    found = {name: store.diagnoses(task_id)[run.run_id] for name, run in runs.items()}
    maxsim = found["maxsim-all-minilm"]
    assert (maxsim.tokens_reason, maxsim.vectors_reason) == (None, job.TOKENWISE)
    assert len(store.text_tokens(runs["maxsim-all-minilm"].run_id).tokens)
    assert found["rrf-bm25-use"].tokens_reason == "it is composed of BM25 and USE multilingual: look at these"
    assert found["bm25"].tokens_reason == job.WORDS


@pytest.mark.slow
def test_an_engine_that_tells_nothing_is_said_to_tell_nothing(diagnosed, monkeypatch):
    monkeypatch.setattr(tokenizers, "count", lambda *arguments, **options: None)
    request = replace(CATEGORY, systems=("use-multilingual-v3",), force=True)
    diagnose(diagnosed, request=request, progress=silent)
    store, task_id, runs = runs_of(diagnosed, "icd10", "category")
    run_id = runs["use-multilingual-v3"].run_id
    assert store.diagnoses(task_id)[run_id].tokens_reason == tokenizers.UNTOLD
    assert len(store.text_tokens(run_id).tokens) == 0
    assert len(store.text_space(run_id).position)


@pytest.mark.slow
def test_one_broken_encoder_does_not_end_the_others(diagnosed, monkeypatch):
    from analysis.errors import SystemLoadError

    def count(entry, *arguments, **options):
        raise SystemLoadError(f"{entry.name}: its tokeniser cannot be read")

    monkeypatch.setattr(tokenizers, "count", count)
    report = diagnose(diagnosed, request=replace(CATEGORY, force=True), progress=silent)
    assert ("category: all-minilm-l6-v2", "all-minilm-l6-v2: its tokeniser cannot be read") in report.untold
    assert "category: bm25" in report.stored
    with pytest.raises(SystemLoadError, match="its tokeniser cannot be read"):
        diagnose(diagnosed, request=replace(CATEGORY, systems=("all-minilm-l6-v2",), force=True), progress=silent)
