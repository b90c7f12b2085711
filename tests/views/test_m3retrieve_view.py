"""M3Retrieve's layout from invented sources to numbers: traps counted as planted, slices, names, text against image."""

import contextlib
import io
import json

import numpy as np
import pytest
from PIL import Image as Pillow

from analysis.benchmarks import invented
from analysis.benchmarks.invented import Request
from analysis.benchmarks.invented.m3retrieve import FOLDERS, SIDE
from analysis.cli import main
from analysis.imports import folder as folders
from analysis.imports.m3retrieve import GRADED
from analysis.imports.parts import Options
from analysis.jobs.facts import facts
from analysis.jobs.import_benchmark import BenchmarkRequest, read_benchmark, store_benchmark
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views import m3retrieve, overview, pictures
from analysis.views.selection import Selection
from tests.hand_made import ranking_of

ENGLISH = Options(format="m3retrieve", query_language="en", document_language="en")
QUESTIONS = 20


def written(folder, **how):
    return invented.write(folder, Request("m3retrieve", questions=QUESTIONS, concepts=60, **how))


def stored(cache, folder, name):
    request = BenchmarkRequest(folder, name, options=ENGLISH)
    made = read_benchmark(request, progress=silent).benchmark
    store_benchmark(cache, benchmark=made, progress=silent)
    return made


def run(cache, benchmark):
    """Three systems of one model: what reads the image finds every answer, what reads both has another one before."""
    (task,) = benchmark.tasks
    known = {document.id for document in task.documents}
    right = {query.id: [] for query in task.queries}
    for judgement in task.judgements:
        if judgement.document_id in known:
            right[judgement.query_id].append(judgement.document_id)
    lists = {"text": [[] for _ in right], "image": list(right.values())}
    lists["text-image-mean"] = [["shared", *found] for found in right.values()]
    store = read.open_store(cache)
    (row,) = store.tasks(store.benchmark(benchmark.name).benchmark_id)
    count = facts(store, row.task_id)
    with write.writer(cache) as writer:
        for reads, name in (("image", "sees"), ("text-image-mean", "sees-both"), ("text", "says")):
            writer.add_system(name, title=name, short=name, paradigm="multimodal dense")
            writer.add_run(
                row.task_id,
                name,
                ranking=ranking_of(task, lists[reads], depth=10),
                keep_hits=10,
                fingerprint=name,
                provenance={"settings": {"name": name, "folder": "one-model", "reads": reads}},
                parents=[],
                facts=count.of,
            )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with the sound sources as ``pictures`` and the malformed ones as ``traps``, and what was planted."""
    root = tmp_path_factory.mktemp("m3")
    cache, planted = Cache(root / "cache"), {}
    for name, malformed in (("pictures", False), ("traps", True)):
        planted[name] = written(root / name, malformed=malformed)
        run(cache, stored(cache, root / name, name))
    return read.open_store(cache), planted, root


def test_what_was_planted_is_what_the_import_counts(made):
    _, planted, root = made
    told, n = planted["traps"], QUESTIONS // 10 * len(FOLDERS)
    assert {words: count for words, count in told.items() if words not in ("folders", "queries", "documents")} == {
        "documents that every folder has": 1,
        "queries whose text stands in caption": n,
        "queries whose image stands in a list": n,
        "queries whose image is not there": n,
        "queries whose image lies outside the folder": n,
        "judgements of grade 2": n,
        "judged documents outside the corpus": n,
        "queries without judgements": n,
        "documents with an image and no text": n,
    }
    found = folders.read(root / "traps", options=ENGLISH)
    assert found.notices[folders.ABSENT] == 2 * n
    assert found.notices[GRADED] == n
    assert (len(found.queries), len(found.documents)) == (told["queries"], told["documents"] + 1)
    assert found.n_repeats == len(FOLDERS) - 1  # the document that every folder has
    assert len({row.id for row in found.queries} - found.judged) == n
    assert sum(row.document_id not in {one.id for one in found.documents} for row in found.judgements) == n
    sound = folders.read(root / "pictures", options=ENGLISH).notices
    assert not {folders.ABSENT, GRADED} & {words for words, count in sound.items() if count}


def test_every_picture_is_a_picture_and_another_one(made):
    files = sorted((made[2] / "pictures").rglob("*.png"))
    assert len(files) == QUESTIONS * len(FOLDERS)
    seen = set()
    for file in files:
        with Pillow.open(file) as image:
            assert (image.size, image.mode) == ((SIDE, SIDE), "RGB")
            seen.add(np.asarray(image).tobytes())
    assert len(seen) == len(files)


def test_the_measure_has_m3retrieves_name_where_judgements_are_binary(made, example_store):
    store, _, _ = made
    assert m3retrieve.measure_name(store, Selection("pictures")) == m3retrieve.SAME
    n = QUESTIONS // 10 * len(FOLDERS)
    assert m3retrieve.measure_name(store, Selection("traps")).startswith(f"{n} judgements of other grades than 0 and 1")
    assert m3retrieve.measure_name(example_store, Selection("example")) == ""


def test_text_image_and_both_beside_each_other(made):
    """The answer alone: rank 1, nDCG 1 where nothing dangles. Behind another document: rank 2, 1 ÷ log₂ 3. None: 0."""
    store, _, _ = made
    found = m3retrieve.reads(store, Selection("pictures"))
    assert [(row.system.name, row.reads) for row in found.rows] == [
        ("says", "text"), ("sees", "image"), ("sees-both", "text-image-mean"),
    ]  # fmt: skip
    judged, dangling = QUESTIONS - QUESTIONS // 10, QUESTIONS // 10
    ideal = 1 + 1 / np.log2(3)
    first = (judged - dangling + dangling / ideal) / judged
    second = ((judged - dangling) / np.log2(3) + dangling / np.log2(3) / ideal) / judged
    assert [row.value.value for row in found.rows] == pytest.approx([0, first, second])
    assert found.takeaway.bold == "Of one and the same model, image alone finds most."
    assert m3retrieve.reads(store, Selection("pictures", systems=("says",))) is None


@pytest.mark.parametrize(("attribute", "values"), [
    ("specialty", ["Cardiology", "Dermatology", "Thorax and Lung"]), ("retrieval_task", ["IT2I", "VisualContext"]),
])  # fmt: skip
@pytest.mark.parametrize("command", ["scores", "tiers", "fairness", "routes", "recoverability", "compare"])
def test_every_command_takes_specialty_and_task(made, command, attribute, values):
    out = io.StringIO()
    asked = [command, "--benchmark", "pictures", "--by", attribute, "--format", "json"]
    with contextlib.redirect_stdout(out):
        assert main([*asked, "--cache", str(made[0].cache.root)]) == 0
    answer = json.loads(out.getvalue())
    rows = answer.get("systems") or answer.get("cells") or answer["pairs"]
    assert list(dict.fromkeys(row["slice"]["value"] for row in rows)) == values


def test_with_one_language_the_overview_does_not_say_that_answers_are_in_another(made):
    (task,) = overview.overview(made[0], Selection("pictures")).tasks
    assert task.takeaway.rest.endswith(
        "Every answer here is in its query's own language, so there is nothing across languages to measure."
    )


def test_the_picture_of_a_query_or_why_not(made, example_store):
    store, _, root = made
    of = Selection("traps", ("main",))
    found = pictures.of_query(store, of, "IT2I/Cardiology:q0")
    with Pillow.open(io.BytesIO(found.png)) as shown:
        assert (shown.format, shown.size, found.path, found.trouble) == ("PNG", (SIDE, SIDE), "images/0.png", None)
    outside = pictures.of_query(store, of, "IT2I/Cardiology:q5")
    (root / "outside.png").write_bytes(found.png)
    assert outside.png is None
    assert "'../../../outside.png' of query 'IT2I/Cardiology:q5': expected the file in" in outside.trouble
    assert pictures.of_query(store, of, "IT2I/Cardiology:q5").png is None  # though the file is there now
    assert pictures.of_query(store, of, "IT2I/Cardiology:q4").png is None
    assert pictures.of_query(example_store, Selection("example", ("main",)), "q1") is None
