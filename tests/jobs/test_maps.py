"""Maps: coordinates and vectors that are brought, and maps drawn of runs, stored with all that decides them."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.geometry import projection
from analysis.jobs.draw_map import SEED, MapRequest, draw_map
from analysis.jobs.give_map import Given, give_map
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import projections, read
from analysis.views import embedding_map
from analysis.views.selection import Selection
from tests.hand_made import state

MINE = MapRequest("example", systems=("mine",))
IDS = ["c-en", "c-fr", "c-ja", "f0-en", "f0-fr", "f1-en"]


@pytest.fixture
def cache(example_store, tmp_path):
    return Cache(shutil.copytree(example_store.cache.root, tmp_path / "store"))


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("id,x,y\n" + "".join(f"{name},{n},{-n}\n" for n, name in enumerate([*IDS, "q1", "q2"])))
    return path


def test_coordinates_are_kept_as_they_are(cache, points):
    report = give_map(cache, given=Given(coordinates=points), request=MINE, progress=silent)
    assert (report.task, report.stored) == ("main", ("mine",))
    store = read.open_store(cache)
    (row,) = projections.projections(store, 1)
    assert (row.system, row.method, row.dimensions, row.n_points, row.k) == ("mine", "given", 2, 8, None)
    found = projections.points(store, row)
    assert found.x.tolist() == list(range(8))
    assert found.is_query.tolist() == [False] * 6 + [True] * 2
    assert found.neighbours.shape == (8, 0)
    assert store.faults() == []
    assert store.system_labels()["mine"].paradigm == "unknown"
    before = projections.points_file(store, row)
    give_map(cache, given=Given(coordinates=points), request=MINE, progress=silent)
    (again,) = projections.projections(read.open_store(cache), 1)
    assert projections.points_file(store, again) != before
    assert before.exists()  # the generation before is kept
    before.unlink()
    projections.points_file(store, again).write_bytes(b"")
    assert "SHA-256 differs" in read.open_store(cache).faults()[0]


def test_a_map_follows_its_system_and_goes_with_its_benchmark(cache, points):
    give_map(cache, given=Given(coordinates=points), request=MapRequest("example", systems=("good",)), progress=silent)
    where = ["--cache", str(cache.root)]
    assert main(["rename", "run", "--system", "good", "--to", "better", *where]) == 0
    assert [row.system for row in projections.projections(read.open_store(cache), 1)] == ["better"]
    assert main(["delete", "benchmark", "example", "--yes", *where]) == 0
    assert read.open_store(cache).benchmarks() == []
    assert read.open_store(cache).faults() == []


@pytest.mark.parametrize(
    ("given", "request_", "message"),
    [
        (Given(), MINE, "either vectors with their ids, or a table"),
        (Given(vectors="v.npy"), MINE, "--vectors and --ids belong together"),
        (Given(coordinates="p.csv", vectors="v.npy", ids="i"), MINE, "either vectors"),
        (Given(coordinates="p.csv"), MapRequest("example"), "0 systems: expected one name"),
        (Given(coordinates="p.csv"), MapRequest("example", systems=("a,b",)), "without comma"),
        (Given(coordinates="p.csv"), MapRequest("nope", systems=("a",)), "unknown benchmark"),
        (Given(coordinates="p.csv"), dataclasses.replace(MINE, dimensions=4), "dimensions 4: expected 2 to 3"),
        (Given(coordinates="p.csv"), dataclasses.replace(MINE, neighbours=1), "neighbours 1: expected 2 to 200"),
        (Given(coordinates="p.csv"), dataclasses.replace(MINE, min_distance=2.0), "min-distance 2.0: expected 0 to 1"),
    ],
)
def test_what_does_not_belong_together_is_refused_and_nothing_changes(cache, given, request_, message):
    before = state(cache.root)
    with pytest.raises(InputError, match=message):
        give_map(cache, given=given, request=request_, progress=silent)
    assert state(cache.root) == before


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            MapRequest("example", systems=("good",)),
            "'good': the run came from another tool, so its encoder is not known",
        ),
        (MapRequest("example", systems=("none",)), "'none': main has runs of bad, good"),
    ],
)
def test_a_run_without_vectors_cannot_be_drawn(cache, request_, message):
    with pytest.raises(InputError, match=message):
        draw_map(cache, request=request_, progress=silent)
    assert draw_map(cache, request=MapRequest("example"), progress=silent).stored == ()


def test_vectors_are_laid_out_with_their_neighbours(cache, tmp_path, monkeypatch):
    """Three concepts in three directions: the nearest of c-en are c-fr and c-ja, whatever the language."""
    monkeypatch.setattr(projection, "umap", lambda rows, **_: projection.principal(rows, dimensions=2))
    rng = np.random.default_rng(1)
    concept = np.array([0, 0, 0, 1, 1, 2])
    np.save(tmp_path / "v.npy", np.eye(3)[concept] + 0.01 * rng.random((6, 3)))
    (tmp_path / "ids.txt").write_text("\n".join(IDS))
    np.save(tmp_path / "q.npy", np.eye(3)[[0, 0]] + 0.01 * rng.random((2, 3)))
    (tmp_path / "qids.txt").write_text("q1\nq2\n")
    given = ["--vectors", "v.npy", "--ids", "ids.txt", "--query-vectors", "q.npy", "--query-ids", "qids.txt"]
    paths = [text if text.startswith("--") else str(tmp_path / text) for text in given]
    asked = ["map", "--benchmark", "example", "--system", "mine", "--neighbours", "4", "--cache", str(cache.root)]
    assert main([*asked, *paths]) == 0
    store = read.open_store(cache)
    (row,) = projections.projections(store, 1)
    assert (row.method, row.seed, row.k, row.trustworthiness) == ("umap", SEED, 15, None)
    found = projections.points(store, row)
    assert found.neighbours.shape == (8, 4)
    assert {frozenset(found.neighbours[place]) for place in (0, 1, 2, 6, 7)} <= {
        frozenset({0, 1, 2, 6, 7} - {place}) for place in (0, 1, 2, 6, 7)
    }
    assert (found.cosines[:3] > 0.99).all()
    view = embedding_map.embedding_map(store, Selection("example"), systems=("mine",))
    assert view.pictures[0].numbers["translation_near"].n == 7  # f1 is there in one language only
    assert view.pictures[0].numbers["translation_near"].value == 1.0


@pytest.mark.slow
def test_real_encoders_are_drawn_once_and_one_seed_gives_one_map(real_store, tmp_path, capsys):
    cache = Cache(shutil.copytree(real_store, tmp_path / "store"))
    request = MapRequest("icd10", "category", most=200)
    report = draw_map(cache, request=request, progress=silent)
    assert set(report.stored) == {"all-minilm-l6-v2", "use-multilingual-v3"}
    assert draw_map(cache, request=request, progress=silent).kept == report.stored
    store = read.open_store(cache)
    task = next(row for row in store.tasks(store.benchmark("icd10").benchmark_id) if row.name == "category")
    first = {row.system: row for row in projections.projections(store, task.task_id)}
    for row in first.values():
        assert row.n_points <= 200 < row.n_texts
        assert len(row.vectors_checksum) == 64
        assert row.trustworthiness > 0.8
    view = embedding_map.embedding_map(store, Selection("icd10", ("category",)), systems=tuple(first))
    spoken = np.bincount(view.language) / view.n
    documents = store.documents(task.task_id).language
    assert spoken.max() - spoken.min() < 0.05 or len(set(documents)) == 1
    same = [picture.numbers["same_language"].value for picture in view.pictures]
    assert same[0] > same[1] > view.chance - 0.05  # all-MiniLM keeps languages apart, USE does not
    again = draw_map(
        cache, request=dataclasses.replace(request, systems=("all-minilm-l6-v2",), force=True), progress=silent
    )
    assert again.stored == ("all-minilm-l6-v2",)
    store = read.open_store(cache)
    second = {row.system: row for row in projections.projections(store, task.task_id)}["all-minilm-l6-v2"]
    before, after = (projections.points(store, row) for row in (first["all-minilm-l6-v2"], second))
    np.testing.assert_array_equal(before.x, after.x)
    assert main(["show", "map", "--benchmark", "icd10", "--task", "category", "--cache", str(cache.root)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [picture["system"]["name"] for picture in shown["pictures"]] == list(report.stored)
    assert len(shown["pictures"][0]["points"]) == view.n
