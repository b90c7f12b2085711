"""Queries with images from end to end: a folder of M3Retrieve's layout, a tiny random CLIP, its run, and the pages."""

import contextlib
import io
import json
import os

import numpy as np
import pytest
from PIL import Image as Pillow
from visits import Visit, words

from analysis.cli import main
from analysis.errors import InputError
from analysis.jobs.run import RunRequest, run
from analysis.jobs.what_if import WhatIf, planned
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems.made_by import OF_IMAGES, no_vectors
from tests.imports.imported import lines, written
from tests.systems import tiny_models

SYSTEMS = {"seen-text": "text", "seen": "image", "seen-both": "text-image-mean"}


def call(cache, *arguments, fails=False):
    """What a command prints, or where it is to fail its last line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*map(str, arguments), "--cache", str(cache)])
    assert code == int(fails), err.getvalue()
    return err.getvalue().splitlines()[-1] if fails else out.getvalue()


def picture(seed):
    rng = np.random.default_rng(seed)
    return Pillow.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8)).resize((60, 48))


def specialty(name, seed):
    """Three documents, one of them an image, and three queries; the image that a query asks with is the document's."""
    queries = [
        {"_id": "q1", "text": f"what is wrong with this {name}", "image": f"images/{seed}.png"},
        {"_id": "q2", "caption": f"a {name} seen from above", "img_path": f"images/{seed + 1}.png"},
        {"_id": "q3", "text": f"a {name}", "image_path": [f"images/{seed + 2}.png"]},
    ]
    corpus = [
        {"_id": "d1", "text": f"pain of the {name}"},
        {"_id": "d2", "text": f"swelling of the {name}"},
        {"_id": "d3", "text": "", "image_path": f"images/{seed + 2}.png"},
    ]
    qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\nq3\td3\t1\n"
    return {"corpus.jsonl": lines(corpus), "queries.jsonl": lines(queries), "qrels/test.tsv": qrels}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A cache folder with the benchmark ``pictures``, three systems of one model, and what they ranked."""
    root = tmp_path_factory.mktemp("images")
    for seed, name in ((1, "knee"), (11, "wrist")):
        folder = written(root / "m3" / "IT2I" / name, specialty(name, seed))
        (folder / "images").mkdir()
        for number in range(seed, seed + 3):
            picture(number).save(folder / "images" / f"{number}.png")
    tiny_models.clip(root / "clip", dimension=64)
    cache = root / "cache"
    call(cache, "import-benchmark", root / "m3", "--benchmark", "pictures", "--format", "m3retrieve",
         "--query-language", "en", "--document-language", "en")  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BABELSCOPE_CACHE", str(cache))
        for name, reads in SYSTEMS.items():
            call(cache, "add-system", name, "--folder", root / "clip", "--reads", reads)
        call(cache, "run", "--benchmark", "pictures", "--systems", ",".join(SYSTEMS))
    return root


@pytest.fixture
def visit(made, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(made / "cache"))
    return Visit()


def stored(made):
    store = read.open_store(Cache(made / "cache"))
    (task,) = store.tasks(store.benchmark("pictures").benchmark_id)
    return store, task, {row.system: row for row in store.runs([task.task_id])}


def test_a_run_says_what_it_read(made):
    store, _, runs = stored(made)
    assert {name: row.provenance["images"] for name, row in runs.items()} == {
        "seen-text": {"queries": 0, "documents": 2},
        "seen": {"queries": 6, "documents": 2},
        "seen-both": {"queries": 6, "documents": 2},
    }
    settings = runs["seen-both"].provenance["settings"]
    assert (settings["reads"], settings["dimension"], settings["max_length"]) == ("text-image-mean", 64, 77)
    assert runs["seen"].provenance["encoded_images"] == 6  # each once for three systems, queries and documents
    assert runs["seen"].provenance["libraries"]["pillow"]
    assert store.system_labels()["seen"].paradigm == "multimodal dense"
    assert store.faults() == []


def test_the_image_of_a_document_is_found_by_the_same_image(made):
    """A query's image that is a document's: cosine 1, so rank 1, and nNDCG@10 is 1 on that query."""
    store, task, runs = stored(made)
    ids = store.documents(task.task_id).id
    first = {hit.query: ids[hit.document] for hit in store.hits(runs["seen"], top=1)}
    queries = list(store.queries(task.task_id).id)
    assert first[queries.index("IT2I/knee:q3")] == "IT2I/knee:d3"
    assert first[queries.index("IT2I/wrist:q3")] == "IT2I/wrist:d3"
    asked = ("scores", "--benchmark", "pictures", "--by", "specialty", "--format", "json")
    rows = [row for row in json.loads(call(made / "cache", *asked))["systems"] if row["system"] == "seen"]
    found = {row["slice"]["value"]: row["measures"]["ndcg_at_10"] for row in rows}
    assert set(found) == {"knee", "wrist"}
    assert all(0 < measure["value"] <= 1 for measure in found.values())


def test_a_run_is_made_again_once_an_image_has_changed(made, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(made / "cache"))
    request = RunRequest("pictures", systems=("seen",))
    assert run(Cache(made / "cache"), request=request, progress=silent).stored == ()
    file = made / "m3" / "IT2I" / "knee" / "images" / "1.png"
    before = file.read_bytes()
    picture(77).save(file)
    assert run(Cache(made / "cache"), request=request, progress=silent).stored == ("main: seen",)
    assert stored(made)[2]["seen"].provenance["encoded_images"] == 1  # the others are known by their bytes
    file.write_bytes(before)


def test_missing_and_damaged_images_end_a_run_in_one_sentence(made, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(made / "cache"))
    file = made / "m3" / "IT2I" / "wrist" / "images" / "12.png"
    before, kept = file.read_bytes(), stored(made)[2]["seen"].fingerprint
    file.unlink()
    told = call(made / "cache", "run", "--benchmark", "pictures", "--systems", "seen", fails=True)
    assert "image 'images/12.png' of query 'IT2I/wrist:q2': expected the file in " in told
    file.write_bytes(before[: len(before) // 2])
    told = call(made / "cache", "run", "--benchmark", "pictures", "--systems", "seen", fails=True)
    assert f"{file.resolve()}: a damaged image: " in told
    file.write_bytes(before)
    assert stored(made)[2]["seen"].fingerprint == kept


def test_pages_open_on_what_was_seen(visit):
    page = visit.page("overview", benchmark="pictures")
    assert not page.exception
    assert "seen-both" in words(page)
    page = visit.page("data", benchmark="pictures", part="run")
    assert not page.exception
    assert "CLIP B/32 image" in words(page)


def test_the_picture_of_a_query_and_text_beside_image(visit):
    page = visit.page("queries", benchmark="pictures", query="IT2I/knee:q1")
    assert not page.exception
    assert "The image of the query: images/1.png" in words(page)
    said = words(visit.page("overview", benchmark="pictures"))
    assert "nDCG@10 is what M3Retrieve calls nNDCG@10" in said
    assert "Text, image, or both?" in said
    assert "Of one and the same model, " in said
    assert "nDCG@10 is what M3Retrieve calls nNDCG@10" in words(visit.page("method", benchmark="pictures"))


def test_a_picture_cannot_be_typed_and_the_probe_says_so(visit):
    page = visit.page("probe", benchmark="pictures", encoder="seen-both", mode="one", text="a swollen knee")
    assert not page.exception
    assert "seen-both reads the image of a query when it runs on a benchmark. No image can be typed" in words(page)
    asked = ("probe", "pain of the knee", "--encoder", "seen-text", "--benchmark", "pictures", "--format", "json")
    answer = json.loads(call(os.environ["BABELSCOPE_CACHE"], *asked))
    assert "No image can be typed" not in json.dumps(answer)
    assert "pain of the knee" in json.dumps(answer)


def test_what_looks_at_texts_alone_says_why_not(made, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(made / "cache"))
    _, _, runs = stored(made)
    assert [no_vectors(row) for row in runs.values()] == [OF_IMAGES] * 3
    with pytest.raises(InputError, match="it has nothing of the kind that could be changed here"):
        planned(WhatIf("pictures", "main", "centre", ("seen",)))


def test_why_it_fails_counts_tokens_and_leaves_vectors_out(made, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(made / "cache"))
    call(made / "cache", "diagnose", "--benchmark", "pictures")
    store, task, runs = stored(made)
    found = store.diagnoses(task.task_id)
    text, image = found[runs["seen-text"].run_id], found[runs["seen"].run_id]
    assert (text.token_limit, text.tokens_reason, text.vectors_reason) == (77, None, OF_IMAGES)
    assert (image.tokens_reason, image.vectors_reason) == (OF_IMAGES, OF_IMAGES)


def test_a_benchmark_without_images_is_refused_and_the_page_knows(made, visit, tmp_path):
    cache = made / "cache"
    plain = {"corpus.jsonl": lines([{"_id": "d1", "text": "a knee", "language": "en"}]),
             "queries.jsonl": lines([{"_id": "q1", "text": "knee", "language": "en"}]),
             "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n"}  # fmt: skip
    call(cache, "import-benchmark", written(tmp_path / "plain", plain), "--benchmark", "plain", "--format", "beir")
    told = call(cache, "run", "--benchmark", "plain", "--systems", "seen", fails=True)
    assert "seen: it reads the image of a query, and no query of this task has one" in told
    call(cache, "run", "--benchmark", "plain", "--systems", "seen-text")
    page = visit.page("data", benchmark="plain", part="run")
    assert "It reads the image of a query, and no query here has one" in words(page)
    assert "seen" not in next(field for field in page.multiselect if field.label == "Systems").options
    rows = json.loads(call(cache, "list", "systems", "--format", "json"))
    needs = {row["system"]: row["needs"] for row in rows}
    assert (needs["seen"], needs["seen-text"], needs["clip-vit-b-32-image"]) == (
        "queries with images", None, "queries with images",
    )  # fmt: skip
