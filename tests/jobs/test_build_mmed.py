"""Task 1 from generated sources to a stored benchmark: by command, the same bytes again, whatever was killed."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mmed_builds import NAME, exported

from analysis.benchmarks.mmed_task1 import Options
from analysis.cli import main
from analysis.errors import InputError, JobCancelledError
from analysis.jobs import build_mmed
from analysis.jobs.nearest import Nearest
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems.weights import LoadOptions
from analysis.views import data

ROOT = Path(__file__).resolve().parents[2]
LETTERS = """
import numpy as np

def encode(texts, role):
    counts = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], float)
    return np.hstack([counts, 0.1 * np.ones((len(texts), 1))])
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("sources")
    for source, more in (("umls", ()), ("mmedbench", ("--questions", "30"))):
        told = ("generate-sources", source, str(root / source), "--seed", "3", "--concepts", "100", *more)
        assert main(told) == 0
    return root


def build(sources, *more):
    flags = ("--umls", sources / "umls", "--mmedbench", sources / "mmedbench", "--least", "15", "--negatives", "20")
    return ("build", "mmed-task1", *flags, *more)


MEASURES = ("ndcg_at_10", "recall_at_1", "recall_at_10", "recall_at_10_same", "recall_at_10_cross", "rr", "ap")


def test_from_generated_sources_to_pages_and_back(command, sources, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    code, out, err = command(*build(sources, "--run", "bm25"), cache=one)
    assert code == 0, err
    coverage = json.loads(out)["t1-alignment"]["coverage"]
    assert [(row["language"], row["asked"]) for row in coverage][-1] == ("ru", 0)
    assert {row["asked"] for row in coverage[:-1]} == {15}
    assert command(*build(sources), cache=two)[0] == 0
    assert exported(command, one, tmp_path / "beir") == exported(command, two, tmp_path / "beir-again")
    beir = ("import-benchmark", tmp_path / "beir", "--benchmark", "back", "--task", "t1-alignment", "--format", "beir")
    assert command(*beir, cache=two)[0] == 0
    assert command("run", "--benchmark", "back", "--systems", "bm25", cache=two)[0] == 0
    before, after = (
        json.loads(command("per-query", "--benchmark", name, "--format", "json", cache=cache)[1])
        for name, cache in ((NAME, one), ("back", two))
    )
    assert len(before) == len(after) == 75
    for first, second in zip(before, after, strict=True):
        assert {name: first[name] for name in MEASURES} == {name: second[name] for name in MEASURES}
        assert (first["query_id"], first["family"]) == (second["query_id"], second["family"])
    card = data.card(read.open_store(Cache(one)), NAME)
    assert [vars(row) for row in card.tasks[0].tagging.coverage] == coverage
    assert {found.attribute for found in card.tasks[0].attributes} >= {"tagged_by"}


def benchmark_of(sources, cache):
    options = Options(sources / "umls", sources / "mmedbench", least=15, negatives=20)
    return build_mmed.build_task1(cache, options=options, tagger=None, load=LoadOptions(), progress=silent)


def test_other_tasks_of_the_same_umls_stand_beside_it(sources, tmp_path):
    cache = Cache(tmp_path)
    address, made = benchmark_of(sources, cache)
    assert benchmark_of(sources, cache)[0] == address
    other = replace(made.tasks[0], name="t3-evidence", title="Evidence", default=False)
    built = {"built": {"t3-evidence": {"by": "hand"}}}
    second = replace(made, tasks=(other,), notes=("Evidence: more.",), settings={**made.settings, **built})
    assert build_mmed.stored(cache, second, progress=silent) == address
    store = read.open_store(cache)
    (row,) = store.benchmarks()
    assert [task.name for task in store.tasks(row.benchmark_id)] == ["t1-alignment", "t3-evidence"]
    assert set(row.settings["built"]) == {"t1-alignment", "t3-evidence"}
    assert row.notes == (*made.notes, "Evidence: more.")
    fewer = replace(made.tasks[0], judgements=made.tasks[0].judgements[1:])
    told = replace(made, notes=("Alignment: told anew.",))
    assert build_mmed.stored(cache, told, progress=silent) == address
    assert read.open_store(cache).benchmarks()[0].notes == (made.notes[0], "Evidence: more.", "Alignment: told anew.")
    less = replace(made, tasks=(fewer,))
    assert build_mmed.stored(cache, less, progress=silent) == f"{address}-2"
    assert len(read.open_store(cache).benchmarks()) == 2


@pytest.fixture
def letters(tmp_path, monkeypatch, command):
    """An encoder of the reader's own that counts letters."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "own_counted.py").write_text(LETTERS, encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    told = ("add-system", "letters", "--function", "own_counted:encode", "--folder", tmp_path / "code")
    assert command(*told, "--dimension", "27", cache=tmp_path / "cache")[0] == 0
    yield Cache(tmp_path / "cache")
    sys.modules.pop("own_counted", None)


def test_the_nearest_are_those_of_the_whole_table_whatever_the_blocks(letters, monkeypatch):
    monkeypatch.setattr("analysis.jobs.nearest.BLOCK", 7)
    candidates = [f"{chr(97 + n % 26)}{chr(97 + n * 7 % 26)}{chr(97 + n * 3 % 5)}" for n in range(40)]
    texts = ["abc", "dad", "zzz"]
    found = Nearest(letters, "letters", load=LoadOptions(allow_code=True), progress=silent)
    places, cosines = found.nearest(texts, candidates, k=12, what="words")

    def vectors(of):
        counts = np.array([[text.count(chr(97 + n)) for n in range(26)] + [0.1] for text in of])
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    table = vectors(texts) @ vectors(candidates).T
    np.testing.assert_allclose(cosines, -np.sort(-table, axis=1)[:, :12], atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(table, places, axis=1), cosines, atol=1e-6)
    assert all(len(set(row)) == 12 for row in places.tolist())


def test_a_tagger_links_more_and_is_asked_by_name(command, letters, sources):
    code, out, err = command(*build(sources, "--tagger", "letters", "--allow-code"), cache=letters.root)
    assert code == 0, err
    made = json.loads(out)["t1-alignment"]
    assert made["linker"] == "letters"
    assert sum(row["nearest"] for row in made["coverage"]) > 0
    assert made["hard_negatives"] == 20
    code, _, err = command(*build(sources, "--tagger", "bm25"), cache=letters.root)
    assert (code, err.splitlines()[-1]) == (
        1,
        "babelscope: system 'bm25': expected a dense one, which has one vector a text",
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("build", "mmed-task1"), "build mmed-task1 needs --umls: docs/licensed-sources.md says what to download"),
        (("build", "mmed-task1", "--umls", "x"), "needs --mmedbench"),
        (("build", "mmed-task1", "--umls", "x", "--mmedbench", "y", "--queries", "5"), "takes no --queries"),
        (("build", "mmed-task1", "--umls", "x", "--mmedbench", "y"), "y: no such file or folder"),
        (("build", "bedside", "--umls", "x"), "build bedside takes no --umls"),
        (("build", "icd10", "--tagger", "x"), "build icd10 takes no --tagger"),
        (("generate-sources", "umls", "x", "--concepts", "1"), "concepts 1: expected 40"),
    ],
)
def test_a_wrong_word_is_said(command, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments, cache=tmp_path / "cache")
    assert (code, out) == (1, "")
    assert says in err.splitlines()[-1]


def test_killed_and_cancelled_builds_go_on(command, sources, tmp_path):
    """Killed in the middle of its work, then cancelled before it stores; the third build is that of one left alone."""
    cache = Cache(tmp_path / "cache")
    arguments = [sys.executable, "-m", "analysis", *map(str, build(sources)), "--cache", str(cache.root)]
    process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(cache.terms.glob("MRCONSO-*.json")):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert read.open_store(cache) is None

    def cancel(step, done, total):
        if step == "store the benchmark":
            raise JobCancelledError("cancelled")

    options = Options(sources / "umls", sources / "mmedbench", least=15, negatives=20)
    heard = []
    with pytest.raises(JobCancelledError):
        build_mmed.build_task1(cache, options=options, tagger=None, load=LoadOptions(), progress=cancel)
    assert read.open_store(cache) is None
    build_mmed.build_task1(
        cache, options=options, tagger=None, load=LoadOptions(), progress=lambda step, *_: heard.append(step)
    )
    assert not [step for step in heard if step.startswith(("read MR", "look at"))]
    alone = Cache(tmp_path / "alone")
    benchmark_of(sources, alone)
    first, second = (exported(command, one.root, tmp_path / f"{one.root.name}-beir") for one in (cache, alone))
    assert first == second


def test_without_a_question_that_is_found_it_says_so(sources, tmp_path):
    options = Options(sources / "umls", sources / "mmedbench", least=1000)
    with pytest.raises(InputError, match="no language has 1000 questions"):
        build_mmed.build_task1(Cache(tmp_path), options=options, tagger=None, load=LoadOptions(), progress=silent)
    assert read.open_store(Cache(tmp_path)) is None
