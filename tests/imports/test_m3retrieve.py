"""M3Retrieve's folders: what is read, slices by specialty and task, and what each fault says."""

import json

import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.jobs.import_benchmark import UPLOADED, BenchmarkRequest, read_benchmark
from analysis.model import Image, silent
from tests.hand_made import state
from tests.imports.imported import grades, lines, stored, task_of, written

QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n"


def of(specialty):
    return {
        "corpus.jsonl": lines(
            [
                {"_id": "d1", "text": f"{specialty} one"},
                {"_id": "d2", "text": "shared"},
                {"_id": "d3", "image_path": "d.png"},
            ]
        ),
        "queries.jsonl": lines(
            [
                {"_id": "q1", "caption": f"about {specialty}", "image_path": ["images/<b>.png"]},
                {"_id": "q2", "text": "more", "img_path": "../x.png"},
            ]
        ),
        "qrels/test.tsv": QRELS,
    }


def under(folder, files):
    return {f"{folder}/{name}": content for name, content in files.items()}


ENGLISH = {"query_language": "en", "document_language": "en"}
TREE = {**under("IT2I/Cardiology", of("heart")), **under("VisualContext/Thorax and Lung", of("lung"))}


@pytest.fixture
def folder(tmp_path):
    return lambda files, name="m3": written(tmp_path / name, files)


def read(path, **options):
    return folders.read(path, options=Options(format="m3retrieve", **{**ENGLISH, **options}))


def test_one_folder_is_a_benchmark_without_slices(folder, cache):
    stored(cache, folder(of("heart")), format="m3retrieve", **ENGLISH)
    store, task = task_of(cache)
    queries = store.queries(task.task_id)
    assert list(queries.text) == ["about heart", "more"]
    assert list(queries.attributes["image"]) == ["images/<b>.png", "../x.png"]
    assert set(queries.attributes) == {"image"}
    assert grades(store, task) == {("q1", "d1"): 1, ("q2", "d2"): 1}


def test_folders_give_specialty_and_task(folder):
    found = read(folder(TREE))
    heart, lung = "IT2I/Cardiology", "VisualContext/Thorax and Lung"
    assert [(row.id, row.text) for row in found.documents] == [
        (f"{heart}:d1", "heart one"), ("d2", "shared"), (f"{heart}:d3", ""),
        (f"{lung}:d1", "lung one"), (f"{lung}:d3", ""),
    ]  # fmt: skip
    assert found.n_repeats == 1
    assert [(row.id, row.attributes) for row in found.queries[::2]] == [
        (f"{heart}:q1", {"specialty": "Cardiology", "retrieval_task": "IT2I", "subset": heart,
                         "image": "images/<b>.png"}),
        (f"{lung}:q1", {"specialty": "Thorax and Lung", "retrieval_task": "VisualContext", "subset": lung,
                        "image": "images/<b>.png"}),
    ]  # fmt: skip
    assert set(found.checksums()) == {
        f"{name}/{file}" for name, file in (
            ("IT2I/Cardiology", "corpus.jsonl"), ("IT2I/Cardiology", "queries.jsonl"), ("Cardiology/qrels", "test.tsv"),
            ("VisualContext/Thorax and Lung", "corpus.jsonl"), ("VisualContext/Thorax and Lung", "queries.jsonl"),
            ("Thorax and Lung/qrels", "test.tsv"))
    }  # fmt: skip
    assert not found.ignored


def test_where_images_are_is_kept_and_none_is_opened(folder, cache):
    path = folder(TREE)
    heart = path / "IT2I" / "Cardiology"
    (heart / "images").mkdir()
    (heart / "images" / "<b>.png").write_bytes(b"no image at all")
    (heart / "d.png").write_bytes(b"nor this")
    (path / "IT2I" / "x.png").write_bytes(b"nor this")
    found = read(path)
    assert found.notices[folders.ABSENT] == 3  # those of the other folder
    assert not [flag for flag in found.flags if flag.reason == "no text"]  # an image says what a text would
    stored(cache, path, format="m3retrieve", **ENGLISH)
    store, task = task_of(cache)
    root, place = str(path.resolve()), "IT2I/Cardiology"
    assert [image for image in store.images(task.task_id) if image.place == place] == [
        Image("query", f"{place}:q1", "images/<b>.png", root, place),
        Image("query", f"{place}:q2", "../x.png", root, place),
        Image("document", f"{place}:d3", "d.png", root, place),
    ]
    assert list(store.questions(task.task_id).images) == [0, 1, 2, 3]
    corpus = store.corpus(task.task_id)
    assert [corpus.ids[position] for position in corpus.images] == [f"{place}:d3", "VisualContext/Thorax and Lung:d3"]
    assert store.n_images(task.task_id) == {"query": 4, "document": 2}
    assert store.faults() == []


def test_uploaded_images_are_said_to_go(tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    path = written(tmp_path / "cache" / "uploads" / "1" / "m3", of("heart"))
    request = BenchmarkRequest(path, "mine", options=Options(format="m3retrieve", **ENGLISH))
    assert UPLOADED in read_benchmark(request, progress=silent).benchmark.notes


def test_the_same_benchmark_from_elsewhere_says_where_its_images_are_now(folder, cache):
    stored(cache, folder(of("heart"), "before"), format="m3retrieve", **ENGLISH)
    after = folder(of("heart"), "after")
    assert stored(cache, after, format="m3retrieve", **ENGLISH) == ("mine@1", False)
    store, task = task_of(cache)
    assert {image.folder for image in store.images(task.task_id)} == {str(after.resolve())}


def test_other_images_of_documents_are_another_benchmark(folder, cache):
    stored(cache, folder(of("heart"), "before"), format="m3retrieve", **ENGLISH)
    other = {**of("heart"), "corpus.jsonl": of("heart")["corpus.jsonl"].replace("d.png", "e.png")}
    with pytest.raises(InputError, match="has a task 'main' with other content"):
        stored(cache, folder(other, "after"), format="m3retrieve", **ENGLISH)


def test_a_document_with_two_images_is_a_fault(folder):
    twice = of("heart")["corpus.jsonl"] + lines([{"_id": "d3", "img": "e.png"}])
    with pytest.raises(InputError, match="line 4: document id 'd3' has another image, 'e"):
        read(folder({**of("heart"), "corpus.jsonl": twice}))


def test_one_specialty_of_a_tree(folder):
    found = read(folder(TREE), subset="IT2I/Cardiology")
    assert [row.id for row in found.queries] == ["q1", "q2"]
    assert found.queries[0].attributes["specialty"] == "Cardiology"


@pytest.mark.slow
def test_out_and_in_again_with_the_same_measures_for_each_specialty(folder, tmp_path, capsys):
    def call(*arguments):
        assert main([*arguments, "--cache", str(tmp_path / "cache")]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    run = {"IT2I/Cardiology:q1": {"IT2I/Cardiology:d1": 2.0}, "VisualContext/Thorax and Lung:q1": {"d2": 1.0}}
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    call("import-benchmark", str(folder(TREE)), "--benchmark", "one", "--format", "m3retrieve",
         "--query-language", "en", "--document-language", "en")  # fmt: skip
    call("export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out"))
    call("import-benchmark", str(tmp_path / "out"), "--benchmark", "two", "--format", "beir")
    answers = []
    for name in ("one", "two"):
        call("import-run", str(tmp_path / "run.json"), "--benchmark", name, "--system", "x", "--format", "ranx")
        found = json.loads(call("scores", "--benchmark", name, "--by", "specialty", "--format", "json"))
        answers.append({row["slice"]["value"]: row["measures"]["rr"]["value"] for row in found["systems"]})
    assert answers == [{"Cardiology": 0.5, "Thorax and Lung": 0}] * 2


FAULTS = [
    ("nothing", {"corpus.jsonl": None}, {},
     "{folder}: found no corpus.jsonl with queries.jsonl, expected them here or one or two below"),
    ("no qrels", {"qrels/test.tsv": None}, {},
     "{folder}: found corpus.jsonl, queries.jsonl, expected one qrels/test.tsv (or .jsonl, .parquet; --split chooses)"),
    ("two qrels", {"qrels/test.jsonl": ""}, {}, "{folder}: found qrels/test.jsonl, qrels/test.tsv, expected "
     "one qrels/test.tsv (or .jsonl, .parquet; --split chooses)"),
    ("no split", {}, {"split": "dev"},
     "{folder}: found corpus.jsonl, qrels/test.tsv, queries.jsonl, expected one qrels/dev.tsv (or .jsonl, .parquet; "
     "--split chooses)"),
    ("two corpora", {"corpus.parquet": b""}, {},
     "{folder}: found corpus.jsonl, corpus.parquet, expected one corpus"),
    ("here and below", TREE, {},
     "{folder}: found a corpus here and in IT2I/Cardiology, expected one or the other"),
    ("no subset", {}, {"subset": "Cardiology"}, "--subset 'Cardiology': {folder} has no subsets"),
    ("no id", {"queries.jsonl": lines([{"caption": "x"}])}, {},
     "{folder}/queries.jsonl, line 1: _id is missing, expected an id"),
    ("text of another kind", {"queries.jsonl": lines([{"_id": "q1", "caption": ["x"]}])}, {},
     '{folder}/queries.jsonl, line 1: text ["x"], expected a string'),
    ("no JSON", {"corpus.jsonl": "{}}\n"}, {}, "{folder}/corpus.jsonl, line 1: Extra data at column 3 in '{}}', "
     "expected a JSON object"),
    ("grade", {"qrels/test.tsv": QRELS + "q1\td2\tyes\n"}, {},
     "{folder}/qrels/test.tsv, line 4: grade 'yes', expected a finite number"),
    ("no language", {}, {"document_language": None}, "{folder}/corpus.jsonl, line 1: 'd1' has no language, expected "
     "a field language, --document-language, --language-key or --language-pattern (und where it is unknown) "
     "(2 more faults)"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "options", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, changes, options, message):
    cache, before = kept
    path = folder({**of("heart"), **changes})
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="m3retrieve", **{**ENGLISH, **options})
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


def test_a_folder_of_a_tree_without_judgements_is_named(folder):
    path = folder({**TREE, "IT2I/Cardiology/qrels/test.tsv": None})
    with pytest.raises(InputError) as error:
        read(path)
    expected = "found corpus.jsonl, queries.jsonl, expected one qrels/test.tsv (or .jsonl, .parquet; --split chooses)"
    assert str(error.value) == f"{path}/IT2I/Cardiology: {expected}"


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match="no such folder, expected one of M3Retrieve"):
        read(tmp_path / "none")
