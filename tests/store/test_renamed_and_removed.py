"""Rename, remove, and how much space things take."""

import dataclasses

import numpy as np
import pytest
from by_hand import DOCUMENTS, JUDGEMENTS, QUERIES, RANKING, TASK, benchmark, facts

from analysis.model import Document, Figure, Flag, Image, Judgement, PublishedResult, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.store.texts import Part, Side, looked_into


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


def add_run(writer, task_id, name, *, parents=()):
    writer.add_system(name, title=name.upper(), short=name, paradigm="lexical")
    writer.add_run(
        task_id,
        name,
        ranking=RANKING,
        keep_hits=10,
        fingerprint=name,
        provenance={},
        parents=parents,
        facts=lambda _: facts(),
    )


@pytest.fixture
def stored(cache):
    """Two versions of a benchmark; the first has a run, and one composed of it."""
    other = dataclasses.replace(TASK, queries=(*QUERIES, Query("q-new", "fr", "fièvre", family="c")))
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark())
        writer.add_benchmark(benchmark(other, version="2"))
        task_id = writer.task_id("hand", version="1", task="main")
        add_run(writer, task_id, "lone")
        add_run(writer, task_id, "base")
        add_run(writer, task_id, "fused", parents=("base", "lone"))
        figure = Figure("test", "default", "en", "en", "ndcg_at_10", 0.5)
        published = PublishedResult("main", "base", "x.json", "0", None, None, None, None, (figure,))
        writer.add_published(task_id, published)
        writer.flag(task_id, dataclasses.replace(TASK, flags=(Flag("query", "q-en", "no text"),)))
        writer.place_images(task_id, dataclasses.replace(TASK, images=(Image("query", "q-en", "a.png", "/data"),)))
    return read.open_store(cache)


def rows_by_table(store):
    names = [name for (name,) in store._rows("SELECT table_name FROM duckdb_tables() ORDER BY table_name")]
    return {name: store._rows(f"SELECT count(*) FROM {name}")[0][0] for name in names}


def test_a_removed_benchmark_leaves_nothing_but_its_systems(cache, stored):
    for row in stored.benchmarks():
        with write.writer(cache) as writer:
            writer.remove_benchmark(row.benchmark_id)
    after = read.open_store(cache)
    left = {name: n for name, n in rows_by_table(after).items() if n}
    assert left == {"migration": rows_by_table(stored)["migration"], "system": 3}
    assert after.faults() == []


def test_a_removed_version_leaves_the_other_whole(cache, stored):
    first = stored.benchmark("hand@1")
    with write.writer(cache) as writer:
        writer.remove_benchmark(first.benchmark_id)
    after = read.open_store(cache)
    assert [(row.name, row.version) for row in after.benchmarks()] == [("hand", "2")]
    (task,) = after.tasks(after.benchmark("hand").benchmark_id)
    assert task.n_queries == 3
    assert after.faults() == []
    assert stored.benchmark("hand@1").version == "1"  # a page that still reads the generation before


def test_files_of_what_was_removed_go_with_the_next_but_one_generation(cache, stored):
    before = {path.name for path in cache.hits.iterdir()}
    with write.writer(cache) as writer:
        writer.remove_benchmark(stored.benchmark("hand@1").benchmark_id)
    assert {path.name for path in cache.hits.iterdir()} == before
    with write.writer(cache):
        pass
    assert not list(cache.hits.iterdir())


def test_a_renamed_benchmark_keeps_everything_else(cache, stored):
    with write.writer(cache) as writer:
        writer.rename_benchmark("hand", new="x'; DROP TABLE run; --")
    after = read.open_store(cache)
    assert {(row.name, row.version, row.title) for row in after.benchmarks()} == {
        ("x'; DROP TABLE run; --", "1", "By hand"),
        ("x'; DROP TABLE run; --", "2", "By hand"),
    }
    assert rows_by_table(after) == rows_by_table(stored)
    assert after.faults() == []


def test_a_title_that_was_the_name_follows_it(cache):
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark(name="mine", title="mine"))
        writer.rename_benchmark("mine", new="ours")
    assert [(row.name, row.title) for row in read.open_store(cache).benchmarks()] == [("ours", "ours")]


def test_a_renamed_system_keeps_runs_colours_and_children(cache, stored):
    with write.writer(cache) as writer:
        writer.rename_system("base", new="found", title="Found", short="fd")
    after = read.open_store(cache)
    assert {name: label.member for name, label in after.system_labels().items()} == {"lone": 0, "found": 1, "fused": 2}
    (task,) = after.tasks(after.benchmark("hand@1").benchmark_id)
    runs = {run.system: run for run in after.runs([task.task_id])}
    assert runs["fused"].parents == ("found", "lone")
    assert (runs["found"].title, runs["found"].short) == ("Found", "fd")
    assert after.children(task.task_id, "found") == ("fused",)
    assert after.children(task.task_id, "fused") == ()
    assert after._rows("SELECT DISTINCT system FROM published UNION SELECT system FROM published_source") == [
        ("found",)
    ]
    assert not after.has_results_of("base")
    assert after.has_results_of("found")
    assert after.faults() == []


def test_sizes_are_those_of_the_files(cache, stored):
    (task,) = stored.tasks(stored.benchmark("hand@1").benchmark_id)
    (run, *_) = stored.runs([task.task_id])
    assert stored.hits_bytes(run) == (cache.hits / run.hits_file).stat().st_size
    assert stored.documents_bytes(task) == (cache.documents / task.documents_file).stat().st_size
    space = stored.storage()
    assert space.total == sum(path.stat().st_size for path in cache.root.rglob("*") if path.is_file())
    assert space.total == space.generation + space.hits + space.documents + space.embeddings + space.rest
    (cache.hits / run.hits_file).unlink()
    assert stored.hits_bytes(run) is None


def texts_task(texts, *, name="main", query="q"):
    documents = tuple(Document(f"d{place}", "en", text, f"f{place}") for place, text in enumerate(texts))
    return Task(
        name,
        name,
        "?",
        documents,
        (Query("q", "en", query, "f0"),),
        (Judgement("q", "d0", 1.0),),
        default=name == "main",
    )


def test_tokens_are_words_or_single_characters(cache):
    tasks = (
        texts_task(["Heart-attack, heart ATTACK!", "心筋梗塞とコーヒー 2x", "", "الذبحة الصدرية"], query="l’été, déjà"),
        texts_task(["a heart", "A Heart 心"], name="other"),
    )
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark(*tasks))
    store = read.open_store(cache)
    first, second = (task.task_id for task in store.tasks(store.benchmark("hand").benchmark_id))
    parts = [Part(task, None) for task in (first, second)]
    with looked_into(store, [first, second]) as texts:
        found, shared = texts.lengths(), texts.shared_words(parts, by_language=False)
    counts = {item: found[Side(first, item, None)] for item in ("query", "document")}
    lengths = [4, 4 + 1 + 4 + 1, 0, 2]
    assert counts["document"].n == 4
    assert counts["document"].mean == pytest.approx(np.mean(lengths))
    assert counts["document"].deviation == pytest.approx(np.std(lengths, ddof=1))
    assert counts["document"].median == np.median(lengths)
    assert counts["query"] == (1, 3.0, None, 3.0)
    # heart attack | 心 筋 梗 塞 と コ ー ヒ 2x | two Arabic words: 13; a heart 心: 3; both: heart 心
    documents = {(row.a, row.b): row.shared for row in shared if row.a_item == row.b_item == "document"}
    assert documents == {(0, 0): 13, (0, 1): 2, (1, 1): 3}


def test_judgements_across_languages_are_counted(cache):
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark())
    store = read.open_store(cache)
    (task,) = store.tasks(store.benchmark("hand").benchmark_id)
    # relevant: q-fr → b-en across languages, q-en → a-en within, q-en → gone in none
    assert store.judgement_counts(task.task_id) == (len(JUDGEMENTS), 3, 1)
    assert store.query_languages(task.task_id) == {"en": 1, "fr": 1}
    assert len(DOCUMENTS) == 4
