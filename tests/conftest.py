"""Stores shared by the tests: one made by hand, one built with real encoders once a test run."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from analysis.benchmarks import icd10, invented
from analysis.benchmarks.invented import Request
from analysis.jobs.build import build_icd10
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from tests import confusion
from tests.hand_made import put, put_scores, ranking_of, score_rows, worked_example, write_scores

os.environ["HF_HUB_OFFLINE"] = "1"
settings.register_profile("babelscope", deadline=None)  # how long an example takes says how busy the machine is
settings.load_profile("babelscope")


@pytest.fixture(scope="session")
def example_store(tmp_path_factory):
    """The worked example run by ``good`` (its ranks) and ``bad`` (finds only English, nothing for q2)."""
    benchmark = worked_example()
    good = ranking_of(
        benchmark.tasks[0],
        [["c-en", "f0-en", "f1-en", "c-fr", "f2-en", "f3-en"], ["f0-fr", "c-ja", "c-en", "f1-fr", "f2-fr"]],
        depth=10,
    )
    bad = ranking_of(benchmark.tasks[0], [["f0-en", "c-en", "f1-en"], []], depth=10)
    cache = Cache(tmp_path_factory.mktemp("example"))
    return put(cache, benchmark, {("good", "multilingual dense"): good, ("bad", "lexical"): bad})


@pytest.fixture(scope="session")
def imported_store(tmp_path_factory):
    """A store whose only benchmark, ``imported``, has per-query scores without rankings."""
    folder = tmp_path_factory.mktemp("imported")
    return put_scores(Cache(folder / "cache"), write_scores(folder / "scores.csv", score_rows()))


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory):
    """A folder that all workers of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def icd10_sources(shared_folder):
    """A folder with the real ICD-10 wheel, downloaded once."""
    folder = shared_folder / "sources"
    with locked(shared_folder / "sources.lock"):
        icd10.wheel(folder)
    return folder


@pytest.fixture(scope="session")
def once(shared_folder):
    """Builds a cache folder once for all workers: called with its name and what fills it."""

    def made(name, build):
        folder, mark = shared_folder / name, shared_folder / f"{name}.built"
        with locked(shared_folder / f"{name}.lock"):
            if not mark.exists():
                build(folder)
                mark.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def bedside_vectors(shared_folder):
    """Where the test of the first start leaves what it has encoded, so that no other test encodes it again."""
    return shared_folder / "bedside-vectors"


@pytest.fixture(scope="session")
def real_store(once, icd10_sources):
    """The cache folder of a small real store: ICD-10 with every system that works here, built once a test run."""

    def build(folder):
        shutil.copytree(icd10_sources, folder / "sources", dirs_exist_ok=True)
        cache = Cache(folder)
        address = build_icd10(cache, options=icd10.Options(concepts=60), progress=silent)
        run(cache, request=RunRequest(benchmark=address), progress=silent)

    return once("real-store", build)


@pytest.fixture(scope="session")
def confusion_folder(once):
    """Invented UMLS, and a cache folder with task 2 of MMed-Bench-IR built of it."""

    def build(folder):
        folder.mkdir()
        confusion.build(folder)

    return once("confusion", build)


@pytest.fixture(scope="session")
def invented_patents(once):
    """A folder with invented patents, queries and a transcript, made once a test run."""
    return once("patents", lambda folder: invented.write(folder, Request("patents", seed=4, concepts=47, questions=20)))


@pytest.fixture
def own_store(real_store, tmp_path):
    """A copy of the real store that a test may change."""
    return Path(shutil.copytree(real_store, tmp_path / "store"))


class locked:  # noqa: N801 (reads as a statement)
    """Hold a file lock, so that only one worker builds what all share."""

    def __init__(self, path):
        self._handle = path.open("a")

    def __enter__(self):
        fcntl.flock(self._handle, fcntl.LOCK_EX)

    def __exit__(self, *error):
        self._handle.close()
