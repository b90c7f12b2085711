"""Vectors that somebody brings: ranked as by hand, stored with where they come from, or refused whole."""

import hashlib
import shutil

import numpy as np
import pytest

from analysis.cli import main
from analysis.jobs.import_vectors import FILES
from analysis.paths import Cache
from analysis.store import rankings, read
from analysis.systems.made_by import BROUGHT, no_vectors
from analysis.views import method
from analysis.views.selection import Selection
from tests.hand_made import state, worked_example

TASK = worked_example().tasks[0]
DOCUMENTS, QUERIES = ([row.id for row in rows] for rows in (TASK.documents, TASK.queries))


@pytest.fixture
def cache(example_store, tmp_path):
    return Cache(shutil.copytree(example_store.cache.root, tmp_path / "store"))


@pytest.fixture
def folder(tmp_path):
    """Random vectors of differing lengths, their rows in another order than the task's."""
    random = np.random.default_rng(3)
    (tmp_path / "mine").mkdir()
    for kind, ids in (("documents", DOCUMENTS), ("queries", QUERIES)):
        matrix = random.normal(size=(len(ids), 5)) * random.uniform(1, 9, (len(ids), 1))
        np.save(tmp_path / "mine" / f"{kind}.npy", matrix)
        (tmp_path / "mine" / f"{kind}.txt").write_text("".join(f"{name}\n" for name in reversed(ids)), encoding="utf-8")
    return tmp_path / "mine"


@pytest.fixture
def command(cache, folder, capsys):
    def call(*flags, system="mine"):
        told = ["--benchmark", "example", "--system", system, *flags, "--cache", str(cache.root)]
        return main(["import-vectors", str(folder), *told]), capsys.readouterr().err

    return call


def by_hand(folder, *, unit):
    """The order of the documents for each query, by the definition."""
    documents, queries = (np.load(folder / f"{kind}.npy")[::-1] for kind in ("documents", "queries"))
    if unit:
        documents = documents / np.linalg.norm(documents, axis=1, keepdims=True)
    return (-(queries @ documents.T)).argsort(axis=1)


def run_of(cache, system="mine"):
    store = read.open_store(cache)
    return store, next(row for row in store.runs([1]) if row.system == system)


@pytest.mark.parametrize("flags", [[], ["--inner-product"]])
def test_ranked_as_by_hand(command, cache, folder, flags):
    assert not np.array_equal(by_hand(folder, unit=True), by_hand(folder, unit=False))
    code, said = command(*flags)
    assert code == 0, said
    found = rankings.of_run(*run_of(cache))
    assert found.document.reshape(len(QUERIES), -1).tolist() == by_hand(folder, unit=not flags).tolist()
    assert "documents                     11, one vector each" in said
    assert "stored: main: mine" in said
    assert f"similarity                    {'inner product' if flags else 'cosine'}" in said


def test_where_it_comes_from_is_kept(command, cache, folder):
    assert command()[0] == 0
    store, run = run_of(cache)
    assert run.provenance["vectors"] == "brought by the user"
    assert run.provenance["sha256"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES
    }
    assert no_vectors(run) == BROUGHT
    (origin,) = method.page(store, Selection("example", systems=("mine",))).runs
    assert origin.settings["note"] == "Vectors brought by the user: 5 dimensions, exact search by cosine."
    assert store.system_labels()["mine"].paradigm == "multilingual dense"
    assert store.faults() == []


def test_the_same_files_are_stored_once_and_others_replace_them(command, cache, folder):
    assert command("--paradigm", "biomedical dense")[0] == 0
    before = run_of(cache)[1].fingerprint
    assert "kept (the same files were stored before)" in command()[1]
    assert run_of(cache)[1].fingerprint == before
    assert "stored in place of the run before" in command("--inner-product")[1]
    store, run = run_of(cache)
    assert run.fingerprint != before
    assert store.system_labels()["mine"].paradigm == "biomedical dense"  # as it was called


def test_a_dry_run_stores_nothing(command, cache, folder):
    before = {name: digest for name, digest in state(cache.root).items() if not name.startswith("jobs/")}
    code, said = command("--dry-run")
    assert (code, "checked, nothing stored: main: mine" in said) == (0, True)
    assert {name: digest for name, digest in state(cache.root).items() if not name.startswith("jobs/")} == before


def lines(folder, change):
    file = folder / "documents.txt"
    file.write_text("\n".join(change(file.read_text(encoding="utf-8").split())), encoding="utf-8")


def numbers(folder, change, kind="documents"):
    matrix = np.load(folder / f"{kind}.npy")
    np.save(folder / f"{kind}.npy", change(matrix))


def spoilt(matrix):
    matrix[2, 1] = np.nan
    return matrix


FAULTS = {
    "queries.txt: is not there; expected a folder with documents.npy": lambda folder: (folder / "queries.txt").unlink(),
    "documents.txt, line 1: id 'x', expected a document of the task": lambda f: lines(f, lambda ids: ["x", *ids[1:]]),
    "documents.txt, line 2: id 'f3-fr' again, first in line 1": lambda f: lines(f, lambda ids: [ids[0], *ids[:-1]]),
    "documents.txt: 10 ids, expected 11": lambda folder: lines(folder, lambda ids: ids[1:]),
    "documents.npy, row 3, id 'f2-fr': a vector of length nan": lambda folder: numbers(folder, spoilt),
    "queries.npy: vectors of 4 numbers, expected 5 as the documents' have": lambda folder: numbers(
        folder, lambda matrix: matrix[:, :4], "queries"
    ),
    "documents.npy: numbers of type complex128": lambda folder: numbers(folder, lambda matrix: matrix + 1j),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_and_stores_nothing(command, cache, folder, fault):
    FAULTS[fault](folder)
    code, said = command()
    assert code == 1
    assert fault in said.splitlines()[-1]
    assert not read.open_store(cache).has_results_of("mine")


def test_every_text_needs_its_vector(command, folder):
    numbers(folder, lambda matrix: matrix[2:])
    lines(folder, lambda ids: ids[2:])
    assert "no row for 2 of the task's 11 document ids, first 'f3-en'" in command()[1]


def test_zeros_have_no_cosine_but_an_inner_product(command, folder):
    numbers(folder, lambda matrix: matrix * (np.arange(len(matrix)) > 0)[:, None])
    assert "row 1, id 'f3-fr': a vector of length 0.0, expected finite and above 0" in command()[1]
    assert command("--inner-product")[0] == 0


def test_names_and_tasks_that_cannot_be(command):
    assert "expected one without comma" in command(system="a,b")[1]
    assert "task 'nope': example has main" in command("--task", "nope")[1]
