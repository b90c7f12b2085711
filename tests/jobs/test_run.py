"""Runs as jobs: what a kill leaves, what a second start repeats, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import InputError, JobCancelledError, StoreError, SystemRefusedError
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems import late_interaction

ROOT = Path(__file__).resolve().parents[2]


def runs_of(folder, task="category"):
    store = read.open_store(Cache(folder))
    row = next(row for row in store.tasks(store.benchmark("icd10").benchmark_id) if row.name == task)
    return {run.system: run for run in store.runs([row.task_id])}


@pytest.mark.slow
def test_every_available_system_ran_with_its_provenance(real_store):
    runs = runs_of(real_store)
    expected = {
        "bm25",
        "bm25-cjk",
        "all-minilm-l6-v2",
        "use-multilingual-v3",
        "rrf-bm25-use",
        "maxsim-all-minilm",
        "use-maxsim",
    }
    assert expected <= set(runs)
    provenance = runs["all-minilm-l6-v2"].provenance
    assert provenance["libraries"]["torch"].startswith("2.13.0")
    assert provenance["settings"]["pooling"] == "mean"
    assert runs["rrf-bm25-use"].parents == ("bm25", "use-multilingual-v3")


@pytest.mark.slow
def test_the_collapse_is_there(real_store):
    """Real encoders on real titles: English finds English, and the English-centric encoder loses Japanese."""
    from analysis.views import routes
    from analysis.views.selection import Selection

    store = read.open_store(Cache(real_store))
    view = routes.routes(store, Selection("icd10", ("category",), ("all-minilm-l6-v2", "use-multilingual-v3")))
    value = {(cell.system, cell.query_language, cell.document_language): cell.value for cell in view.cells}
    assert value["all-minilm-l6-v2", "en", "en"] > 0.5
    assert value["all-minilm-l6-v2", "en", "ja"] < 0.2
    assert value["use-multilingual-v3", "en", "ja"] > value["all-minilm-l6-v2", "en", "ja"] + 0.2


@pytest.mark.slow
def test_a_second_start_keeps_what_is_stored(own_store):
    report = run(
        Cache(own_store), request=RunRequest("icd10", systems=("bm25", "use-multilingual-v3")), progress=silent
    )
    assert report.stored == ()
    assert len(report.kept) == 6


@pytest.mark.slow
def test_force_runs_again_with_the_same_ranks_and_encodes_nothing(own_store):
    before = runs_of(own_store)["use-multilingual-v3"]
    store = read.open_store(Cache(own_store))
    ranks = store.ranks([before.run_id])
    run(
        Cache(own_store),
        request=RunRequest("icd10", ("category",), ("use-multilingual-v3",), force=True),
        progress=silent,
    )
    after = runs_of(own_store)["use-multilingual-v3"]
    assert after.run_id != before.run_id
    assert after.provenance["encoded_texts"] == 0  # every vector came from the cache
    assert np.array_equal(read.open_store(Cache(own_store)).ranks([after.run_id]), ranks)


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "analysis", *arguments, "--cache", str(folder)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def routes_csv(folder):
    command = [sys.executable, "-m", "analysis", "routes", "--benchmark", "icd10", "--format", "csv"]
    done = subprocess.run([*command, "--cache", str(folder)], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def wait_for(condition, process, *, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)


def step_of(folder):
    files = sorted((folder / "jobs").glob("run-*.json"))
    return json.loads(files[-1].read_text())["step"] if files else ""


def chunks(folder):
    return sorted(path.relative_to(folder) for path in (folder / "embeddings").rglob("*.npz"))


def stored_texts(folder):
    return sum(len(np.load(folder / path)["hashes"]) for path in chunks(folder))


@pytest.mark.slow
def test_killed_in_the_middle_it_leaves_the_store_and_goes_on_without_encoding_again(own_store):
    current = (own_store / "CURRENT").read_text()
    scores = routes_csv(own_store)
    for path in chunks(own_store):
        (own_store / path).unlink()
    command = ("run", "--benchmark", "icd10", "--systems", "all-minilm-l6-v2,use-multilingual-v3", "--force")
    process = start(own_store, *command)
    wait_for(lambda: chunks(own_store), process)  # the first vectors are on the disk
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()

    saved = {path: (own_store / path).stat().st_mtime_ns for path in chunks(own_store)}
    encoded = stored_texts(own_store)
    assert encoded > 0
    assert (own_store / "CURRENT").read_text() == current
    again = routes_csv(own_store)
    assert again == scores

    process = start(own_store, *command)
    _, narration = process.communicate(timeout=240)
    assert process.returncode == 0, narration
    assert {path: (own_store / path).stat().st_mtime_ns for path in saved} == saved  # nothing done was done again
    spaces = {}
    for path in chunks(own_store):
        spaces.setdefault(path.parent, []).append(np.load(own_store / path)["hashes"])
    for hashes in spaces.values():
        every = np.concatenate(hashes)
        assert len(np.unique(every, axis=0)) == len(every)  # no text was encoded twice
    assert (
        subprocess.run(
            [sys.executable, "-m", "analysis", "check", "--cache", str(own_store)], cwd=ROOT, check=False
        ).returncode
        == 0
    )


@pytest.mark.slow
def test_cancelled_it_leaves_the_store_as_it_was(own_store):
    before = (own_store / "CURRENT").read_text(), sorted(path.name for path in (own_store / "hits").iterdir())

    def cancel(step, done, total):
        if step.startswith("store USE"):
            raise JobCancelledError("cancelled")

    request = RunRequest("icd10", ("category",), ("bm25", "use-multilingual-v3"), force=True)
    with pytest.raises(JobCancelledError):
        run(Cache(own_store), request=request, progress=cancel)
    assert (own_store / "CURRENT").read_text() == before[0]
    assert "bm25" in runs_of(own_store)
    run(Cache(own_store), request=request, progress=silent)  # the lock is free again, and leftovers are gone
    assert read.open_store(Cache(own_store)).orphans() == []


@pytest.mark.slow
def test_interrupted_at_the_keyboard_it_says_so(own_store):
    for path in chunks(own_store):
        (own_store / path).unlink()
    process = start(own_store, "run", "--benchmark", "icd10", "--systems", "all-minilm-l6-v2", "--force")
    wait_for(lambda: step_of(own_store), process)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, narration = process.communicate(timeout=120)
    assert process.returncode == 130
    assert narration.splitlines()[-1].startswith("babelscope: cancelled")
    (file,) = (own_store / "jobs").glob("run-*.json")
    assert json.loads(file.read_text())["status"] == "cancelled"


@pytest.mark.slow
def test_a_refusal_is_an_error_by_name_and_a_note_with_all(own_store, monkeypatch):
    monkeypatch.setattr(late_interaction, "LIMIT", 10)
    with pytest.raises(SystemRefusedError, match="limit 10"):
        run(
            Cache(own_store),
            request=RunRequest("icd10", ("category",), ("maxsim-all-minilm",), depth=50),
            progress=silent,
        )
    report = run(Cache(own_store), request=RunRequest("icd10", ("category",), depth=50), progress=silent)
    assert [item for item, _ in report.refused] == ["category: maxsim-all-minilm"]
    kept = runs_of(own_store)["maxsim-all-minilm"]
    assert kept.status == "complete"  # an earlier complete run stays


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (RunRequest("icd10", systems=("nope",)), "nope"),
        (RunRequest("icd10", ("nope",), ("bm25",)), "category"),
        (RunRequest("icd10", systems=("bm25",), depth=0), "depth 0"),
        (RunRequest("other", systems=("bm25",)), "unknown benchmark"),
    ],
)
@pytest.mark.slow
def test_what_is_unknown_is_refused(real_store, request_, message):
    with pytest.raises(InputError, match=message):
        run(Cache(real_store), request=request_, progress=silent)


def test_an_empty_store_says_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="build bedside"):
        run(Cache(tmp_path), request=RunRequest("icd10", systems=("bm25",)), progress=silent)
