"""The page Data and runs: what it shows, what it starts, and what it refuses."""

import dataclasses
import io
import json
import shutil
import time

import numpy as np
import pytest
from visits import Visit, words

from analysis import jobs
from analysis.jobs import places
from analysis.model import Figure, PublishedResult
from analysis.paths import Cache
from analysis.store import read, write
from tests.hand_made import put, ranking_of, worked_example

HOSTILE = "<script>alert(1)</script>"
LINK = "[x](javascript:alert(1))"


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A store whose names and texts would all like to be markup."""
    made = worked_example()
    task = made.tasks[0]
    queries = tuple(query._replace(tier=HOSTILE, attributes={LINK: HOSTILE}) for query in task.queries)
    task = type(task)(**{**vars(task), "title": LINK, "queries": queries})
    made = type(made)(**{**vars(made), "name": HOSTILE, "title": HOSTILE, "notes": (LINK,), "tasks": (task,)})
    cache = Cache(tmp_path / "cache")
    put(cache, made, {(HOSTILE, "lexical"): ranking_of(task, [["c-en"], ["c-ja"]], depth=10)})
    monkeypatch.setenv("BABELSCOPE_CACHE", str(cache.root))
    return Visit()


@pytest.fixture
def own(example_store, tmp_path, monkeypatch):
    """A visit to a copy of the worked example that the test may change."""
    root = shutil.copytree(example_store.cache.root, tmp_path / "store")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(root))
    return Visit()


def all_ended():
    end = time.time() + 60
    while any(job.state.status == "running" for job in jobs.listed()):
        assert time.time() < end, "waited in vain"
        time.sleep(0.05)
    return jobs.listed()


def button(page, label):
    return next(button for button in page.button if button.label == label)


def field(page, label):
    return next(field for field in page.text_input if field.label == label)


def test_the_card_and_the_runs(example):
    page = example.page("data")
    assert not page.exception
    said = words(page)
    assert "Worked example asks 2 queries in 3 languages." not in said  # queries are asked in two
    assert "Worked example asks 2 queries in 2 languages." in said
    assert "4 of 6 relevant pairs join a query to an answer in another language." in said
    assert "1 benchmark and 2 runs are stored here." in said
    assert "Everything stored here" in said


@pytest.mark.parametrize("part", ["here", "import", "run", "jobs"])
def test_every_part(example, part):
    page = example.page("data", part=part)
    assert not page.exception
    assert not page.error


@pytest.mark.parametrize("part", ["here", "import", "run", "jobs"])
def test_imported_scores(imported, part):
    page = imported.page("data", part=part)
    assert not page.exception
    assert not page.error


@pytest.mark.parametrize("part", ["here", "import", "run", "jobs"])
def test_hostile_names_stay_texts(hostile, part):
    page = hostile.page("data", part=part)
    assert not page.exception
    assert "<script" not in words(page)
    for element in (*page.markdown, *page.caption):
        assert "](" not in element.value


def test_one_system_in_full(example):
    page = example.page("data", part="run", about="multilingual-e5-large-instruct")
    assert not page.exception
    said = words(page)
    assert "Instruct: Given a web search query, retrieve relevant passages that answer the query\\nQuery: " in said
    for fact in ("1,024 numbers", "512 tokens, its prompt included", "the mean of all tokens", "MIT", "1.1 GB"):
        assert fact in said
    assert "274baa43b0e13e37fafa6428dbc7938e62e5c439" in said
    command = "python -m analysis run --benchmark example --systems multilingual-e5-large-instruct"
    assert [code.value for code in page.code] == [command]
    (chosen,) = (box for box in page.selectbox if box.label == "System")
    chosen.set_value("rrf-bm25-bge-m3").run()
    said = words(page)
    assert "BM25 (whitespace tokens), then BGE-M3 (dense vectors)" in said
    assert "8,192 tokens, its prompt included" in said
    assert page.code[0].value.splitlines()[1].startswith("python -m analysis convert-weights ")


def test_an_empty_store_offers_an_import_beside_the_first_build(empty):
    page = empty.page("data")
    assert not page.exception
    assert "Or bring your own" in words(page)
    assert page.file_uploader
    assert button(page, "Check the files").disabled


def test_a_store_that_was_emptied_says_what_to_do(own, first_start):
    cache = Cache(places.paths.cache().root)
    with write.writer(cache) as writer:
        for row in read.open_store(cache).benchmarks():
            writer.remove_benchmark(row.benchmark_id)
    page = own.page("data")
    assert not page.exception
    assert "Or bring your own" in words(page)


@pytest.mark.slow
def test_dropped_files_are_checked_then_imported(own):
    documents = [{"_id": f"d{n}", "text": f"{HOSTILE} {n}", "language": "en"} for n in range(3)]
    queries = [{"_id": "q", "text": "?", "language": "en"}]
    page = own.page("data", part="import")
    page.file_uploader[0].set_value(
        [
            ("corpus.jsonl", "".join(json.dumps(row) + "\n" for row in documents).encode(), "application/json"),
            ("queries.jsonl", "".join(json.dumps(row) + "\n" for row in queries).encode(), "application/json"),
            ("test.tsv", b"q\td1\t1\n", "text/plain"),
        ]
    ).run()
    assert "The first rows" in [expander.label for expander in page.expander]
    assert "<script" not in words(page)
    assert button(page, "Check the files").disabled  # no name yet
    field(page, "Name of the benchmark").set_value("-rf --yes").run()
    button(page, "Check the files").click().run()
    (checked,) = all_ended()
    assert checked.state.status == "done", checked.state.message
    page.run()
    assert "What was found" in words(page)
    assert "queries without a letter" in words(page)
    button(page, "Import").click().run()
    all_ended()
    page.run()
    assert "What was imported" in words(page)
    assert "-rf --yes" in [row.name for row in read.open_store(places.paths.cache()).benchmarks()]


@pytest.mark.slow
def test_a_faulty_run_ends_in_one_sentence(own, tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "bad.trec").write_text(f"q1 Q0 c-en 0 {LINK} tag\n", encoding="utf-8")
    monkeypatch.setenv(places.VARIABLE, str(tmp_path / "open"))
    page = own.page("data", part="import", kind="import-run")
    field(page, "Or a path on the server").set_value("bad.trec").run()
    assert field(page, "What the system is called").value == "bad"
    button(page, "Check the files").click().run()
    all_ended()
    page.run()
    (error,) = page.error
    assert "bad.trec, line 1" in error.value
    assert "[x](" not in error.value


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", "link"])
def test_paths_are_confined(own, tmp_path, monkeypatch, path):
    root = tmp_path / "open"
    root.mkdir()
    (root / "link").symlink_to("/etc/passwd")
    monkeypatch.setenv(places.VARIABLE, str(root))
    page = own.page("data", part="import", kind="import-run")
    field(page, "Or a path on the server").set_value(path).run()
    assert not page.exception
    assert "outside of what this server allows" in words(page)
    assert "root:" not in words(page)
    assert button(page, "Check the files").disabled


def test_without_allowed_folders_no_path_is_asked_for(own, monkeypatch):
    monkeypatch.delenv(places.VARIABLE, raising=False)
    page = own.page("data", part="import")
    assert "Or a path on the server" not in [field.label for field in page.text_input]


@pytest.mark.slow
def test_a_system_is_run_from_the_page(own):
    page = own.page("data", part="run")
    next(field for field in page.multiselect if field.label == "Systems").set_value(["bm25"])
    button(page, "Run").click().run()
    (job,) = all_ended()
    assert job.state.status == "done", job.state.message
    assert read.open_store(places.paths.cache()).has_results_of("bm25")
    page.run()
    assert "has run on Worked example" in words(page)


@pytest.mark.slow
def test_deleting_asks_for_the_name(own):
    page = own.page("data")
    field(page, "Its name").set_value("wrong")
    button(page, "Delete for good").click().run()
    assert "Nothing was deleted" in words(page)
    assert jobs.listed() == ()
    name = page.selectbox(key="managed-run").value.removeprefix("run ")
    field(page, "Its name").set_value(name)
    button(page, "Delete for good").click().run()
    (job,) = all_ended()
    assert job.state.status == "done"
    store = read.open_store(places.paths.cache())
    assert not store.has_results_of(name)


@pytest.mark.slow
def test_published_results_are_listed_and_deleted(own):
    cache = places.paths.cache()
    figures = (Figure("test", "default", "en", "en", "ndcg_at_10", 0.5),)
    with write.writer(cache) as writer:
        writer.add_published(1, PublishedResult("main", "good", "x.json", "0", None, None, None, None, figures))
    page = own.page("data")
    assert "1 benchmark, 2 runs and 1 published result are stored here." in words(page)
    page.selectbox(key="managed-run").set_value("published good").run()
    assert "1 published figure from x.json." in words(page)
    assert "its runs stay" in words(page)
    field(page, "Its name").set_value("good")
    button(page, "Delete for good").click().run()
    (job,) = all_ended()
    assert job.state.status == "done", job.state.message
    store = read.open_store(cache)
    assert store.published_sources([1]) == []
    assert store.has_results_of("good")


@pytest.mark.slow
def test_a_renamed_run_is_found_again(own):
    page = own.page("data")
    field(page, "New name").set_value("--to=x")
    button(page, "Rename").click().run()
    all_ended()
    assert "--to=x" in read.open_store(places.paths.cache()).system_labels()


def test_a_damaged_file_of_texts_is_named_and_the_rest_stays_usable(own):
    cache = places.paths.cache()
    (file,) = cache.documents.iterdir()
    file.write_bytes(b"PAR1 no more")
    page = own.page("data")
    assert not page.exception
    assert file.name in page.error[0].value
    assert "Everything stored here" in words(page)
    assert button(page, "Ranking (TREC)")


@pytest.mark.slow
def test_the_built_in_benchmark_can_be_built_again(own, played):
    button(own.page("data", part="import"), "Build Bedside again").click().run()
    assert played[jobs.FIRST_START].asked == ["start"]


@pytest.mark.slow
def test_a_file_is_made_by_a_job_and_offered(own):
    page = own.page("data")
    button(page, "Ranking (TREC)").click().run()
    all_ended()
    page.run()
    assert "Download" in [element.proto.label for element in page.get("download_button")]


@pytest.mark.slow
def test_a_queued_job_says_what_it_waits_for(own):
    cache = places.paths.cache()
    with write.locked(cache):
        jobs.launch("delete benchmark", "example", flags=("yes",))
        end = time.time() + 60
        while not any(job.queued for job in jobs.listed()):
            assert time.time() < end
            time.sleep(0.05)
        page = own.page("data")
        assert "Delete example: wait for another job to end" in words(page)
        assert "goes on by itself when that one ends" in words(page)
        button(page, "Cancel").click()
        page.run()
        all_ended()
    assert jobs.listed()[0].state.status == "cancelled"
    page = own.page("data", part="jobs")
    assert "cancelled" in words(page)
    assert "Start again" in [found.label for found in page.button]


def test_an_address_that_names_no_job_is_no_way_to_a_file(own):
    for name in ("../../etc/passwd", "first-start.json", "x"):
        page = own.page("data", part="import", job=name)
        assert not page.exception
        assert "What was" not in words(page)


@pytest.mark.slow
def test_vectors_are_checked_as_four_files(own):
    task = worked_example().tasks[0]
    page = own.page("data", part="import", kind="import-vectors")
    files = []
    for kind, rows in (("documents", task.documents), ("queries", task.queries)):
        matrix = io.BytesIO()
        np.save(matrix, np.eye(len(rows), 11) + 1)
        files.append((f"{kind}.npy", matrix.getvalue(), "application/octet-stream"))
        files.append((f"{kind}.txt", "\n".join(row.id for row in rows).encode(), "text/plain"))
    page.file_uploader[0].set_value(files).run()
    assert button(page, "Check the files").disabled  # no name yet
    field(page, "What the system is called").set_value("brought").run()
    button(page, "Check the files").click().run()
    (checked,) = all_ended()
    assert checked.state.status == "done", checked.state.message
    page.run()
    assert "one vector each" in words(page)
    assert not button(page, "Import").disabled  # the same files, as for any import


def test_the_card_says_how_the_concept_of_each_question_was_found(tmp_path, monkeypatch):
    counts = dict.fromkeys(("repeated", "exact", "substring", "nearest", "ambiguous", "undefined", "definitions"), 1)
    rows = [
        {"language": "en", "lines": 61, "untagged": 7, "answerable": 52, "asked": 52, **counts},
        {"language": "ja", "lines": 9, "untagged": 5, "answerable": 2, "asked": 0, **counts},
    ]
    made = {
        "coverage": rows,
        "linker": None,
        "least": 50,
        "hard_negatives": 1,
        "atoms": {"en": {"used": 1234, "obsolete": 5}},
        "definitions": {"used": 60, "suppressed": 3},
    }
    benchmark = dataclasses.replace(worked_example(), settings={"built": {"main": made}})
    with write.writer(Cache(tmp_path)) as writer:
        writer.add_benchmark(benchmark)
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path))
    said = words(Visit().page("data"))
    assert "The concept of 56 of 68 questions was found · no encoder linked the others · 1 concept in the" in said
    assert "left out, 2 of 50" in said
    assert "definitions: 60 used, 3 suppressed" in said
    assert "1,234" in said
