"""Visits to a full and to an empty cache folder."""

import pytest
from visits import FirstStart, Visit

from analysis import jobs


@pytest.fixture
def full(real_store, monkeypatch):
    """A visit to a real store."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(real_store))
    return Visit()


@pytest.fixture
def first_start(monkeypatch):
    """The first-start job, played by the test."""
    played = FirstStart()
    for name in ("state", "start_first", "cancel"):
        monkeypatch.setattr(jobs, name, getattr(played, name))
    return played


@pytest.fixture
def empty(tmp_path, monkeypatch, first_start):
    """A visit to an empty cache folder."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path))
    return Visit()
