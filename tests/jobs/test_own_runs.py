"""Runs of systems that a reader adds, takes out and adds anew: what is stored under other settings is never reused."""

import shutil

import pytest

from analysis.errors import InputError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems.made_by import CHANGED, OTHER_TOOL, made_by
from analysis.views import data


@pytest.fixture
def cache(example_store, tmp_path, monkeypatch):
    folder = shutil.copytree(example_store.cache.root, tmp_path / "store")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(folder))
    return Cache(folder)


def ran(cache, *systems):
    """What a run of these systems stored and kept."""
    report = run(cache, request=RunRequest("example", systems=systems), progress=silent)
    return report.stored, report.kept


def stored(cache, system):
    return next(row for row in read.open_store(cache).runs([1]) if row.system == system)


def row(cache, system):
    return next(row for row in data.runnable(read.open_store(cache), "example").systems if row.system.name == system)


def test_changed_settings_run_again_and_the_same_do_not(cache):
    own_systems.add(NewSystem("short", k1=0.9))
    assert ran(cache, "short") == (("main: short",), ())
    first = stored(cache, "short")
    own_systems.remove("short")
    assert stored(cache, "short").fingerprint == first.fingerprint  # its stored run stays
    assert made_by(stored(cache, "short")).reason == OTHER_TOOL
    with pytest.raises(InputError, match="'short' is not in the catalogue"):
        ran(cache, "short")
    own_systems.add(NewSystem("short", k1=0.9, title="Another title"))
    assert ran(cache, "short") == ((), ("main: short",))
    assert row(cache, "short").done == ("Worked example",)
    own_systems.remove("short")
    own_systems.add(NewSystem("short", k1=0.1))
    assert made_by(stored(cache, "short")).reason == CHANGED
    assert (row(cache, "short").done, row(cache, "short").outdated) == ((), ("Worked example",))
    assert ran(cache, "short") == (("main: short",), ())
    assert stored(cache, "short").fingerprint != first.fingerprint
    assert stored(cache, "short").provenance["settings"]["k1"] == 0.1
    assert (row(cache, "short").done, row(cache, "short").outdated) == (("Worked example",), ())


def test_a_system_with_the_settings_of_another_has_a_run_of_its_own(cache):
    own_systems.add(NewSystem("twin", k1=1.5, b=0.75))
    assert ran(cache, "bm25", "twin") == (("main: bm25", "main: twin"), ())
    own_systems.add(NewSystem("triplet", k1=1.5, b=0.75))
    assert ran(cache, "bm25", "triplet") == (("main: triplet",), ("main: bm25",))
    assert stored(cache, "triplet").system == "triplet"


def test_a_composition_runs_again_when_a_part_has_changed(cache):
    own_systems.add(NewSystem("short", k1=0.9))
    own_systems.add(NewSystem("fused", fuse=("short", "bm25-cjk")))
    ran(cache, "fused")
    first = stored(cache, "fused")
    for name in ("fused", "short"):
        own_systems.remove(name)
    own_systems.add(NewSystem("short", k1=0.1))
    own_systems.add(NewSystem("fused", fuse=("short", "bm25-cjk")))
    assert row(cache, "fused").outdated == ("Worked example",)
    assert ran(cache, "fused") == (("main: fused",), ())
    assert stored(cache, "fused").fingerprint != first.fingerprint
