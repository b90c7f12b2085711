"""One name a system, whatever others call it."""

import pytest

from analysis.systems.catalogue import CATALOGUE, catalogue
from analysis.systems.names import among, known_as, pinned


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("BAAI/bge-m3", "bge-m3"),
        ("baai__BGE-M3", "bge-m3"),
        ("BGE-M3", "bge-m3"),
        ("ibm-granite/granite-embedding-278m-multilingual", "granite-278m-multilingual"),
        ("granite-embedding-278m-multilingual", "granite-278m-multilingual"),
        ("Granite-278m", "granite-278m-multilingual"),
        ("sentence-transformers/all-MiniLM-L6-v2", "all-minilm-l6-v2"),
        ("somebody/bge-m3", "somebody/bge-m3"),  # a tuned one, for all we know
        ("intfloat/multilingual-e5-small", "intfloat/multilingual-e5-small"),  # ours has 4-bit weights
        ("mteb/baseline-bm25s", "mteb/baseline-bm25s"),
    ],
)
def test_a_system_of_the_catalogue_has_one_name(name, known):
    assert known_as(name) == known


def test_every_system_is_known_by_its_own_names():
    hubs = {}
    for entry in catalogue(CATALOGUE).values():
        hub = entry.model or entry.name
        hubs.setdefault(hub, entry.name)  # of several tables of one model the first
        assert {known_as(entry.name), known_as(entry.short_title)} == {entry.name}
        assert known_as(hub) == hubs[hub]


def test_beside_stored_systems_the_stored_name_is_kept():
    assert among("BAAI/bge-m3", []) == "bge-m3"
    assert among("BAAI/bge-m3", ["BGE-M3"]) == "BGE-M3"
    assert among("BAAI/bge-m3", ["BGE-M3", "BAAI/bge-m3"]) == "BAAI/bge-m3"
    assert among("lab/own", ["bge-m3"]) == "lab/own"


def test_pinned_revisions():
    assert pinned("BAAI/bge-m3") == pinned("bge-m3") == catalogue(CATALOGUE)["bge-m3"].revision
    assert pinned("all-minilm-l6-v2") is None  # its revision is that of a package
    assert pinned("lab/own") is None
