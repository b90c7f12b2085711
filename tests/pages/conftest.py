"""Visits to a full and to an empty cache folder."""

import shutil

import pytest
from visits import PlayedJob, Visit

from analysis import jobs
from analysis.jobs.build import build_bedside
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache


@pytest.fixture
def full(real_store, monkeypatch):
    """A visit to a real store."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(real_store))
    return Visit()


@pytest.fixture(scope="session")
def bedside_store(once, bedside_vectors):
    """Bedside with two systems that are quick."""

    def build(folder):
        cache = Cache(folder)
        if bedside_vectors.exists():
            shutil.copytree(bedside_vectors, cache.embeddings)
        address = build_bedside(cache, progress=silent)
        run(cache, request=RunRequest(address, systems=("bm25", "use-multilingual-v3")), progress=silent)

    return once("bedside", build)


@pytest.fixture
def bedside(bedside_store, monkeypatch):
    """A visit to it."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(bedside_store))
    return Visit()


@pytest.fixture(autouse=True)
def _no_build(monkeypatch):
    """A page over an empty store builds a benchmark for minutes, and goes on when the test has ended: none may."""
    begin = jobs.begin

    def begin_small(name, *rest, **more):
        assert name not in (jobs.FIRST_START, jobs.ADD_ICD10), f"{name} is to be played: take the fixture first_start"
        return begin(name, *rest, **more)

    monkeypatch.setattr(jobs, "begin", begin_small)


@pytest.fixture
def played(monkeypatch):
    """The jobs that pages start, played by the test."""
    known = {name: PlayedJob(name) for name in (jobs.FIRST_START, jobs.ADD_ICD10)}
    monkeypatch.setattr(jobs, "state", lambda name, folder=None: known[name].said)
    monkeypatch.setattr(jobs, "begin", lambda name, folder=None: known[name].begin())
    monkeypatch.setattr(jobs, "cancel", lambda name, folder=None: known[name].asked.append("cancel"))
    return known


@pytest.fixture
def first_start(played):
    """The first-start job."""
    return played[jobs.FIRST_START]


@pytest.fixture
def adding(played):
    """The job that adds ICD-10."""
    return played[jobs.ADD_ICD10]


@pytest.fixture
def empty(tmp_path, monkeypatch, first_start):
    """A visit to an empty cache folder."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path))
    return Visit()


@pytest.fixture
def example(example_store, monkeypatch, first_start):
    """A visit to the worked example: ``good`` finds c-fr at rank 4 and c-en at rank 3, ``bad`` only English.

    ``bad`` leaves one of the two queries unanswered.
    """
    monkeypatch.setenv("BABELSCOPE_CACHE", str(example_store.cache.root))
    return Visit()


@pytest.fixture
def imported(imported_store, monkeypatch, first_start):
    """A visit to a store that has scores of each query and no rankings."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(imported_store.cache.root))
    return Visit()
