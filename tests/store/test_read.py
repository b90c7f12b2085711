"""What was stored comes back as it was written; what is damaged is named."""

import datetime
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from analysis.errors import InputError, StoreError
from analysis.model import NEVER, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from tests.store import by_hand
from tests.store.by_hand import RANKING, TASK, add_run, benchmark, stored, tampered

N = int(NEVER)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two runs for tests that change nothing."""
    return stored(Cache(tmp_path_factory.mktemp("rank=3 it's [shared]")), "bm25", "dense")[0]


@pytest.fixture
def own(cache):
    """The same for a test that damages it."""
    return stored(cache, "bm25", "dense")[0]


def run_of(store, system="bm25", task_id=1):
    return next(run for run in store.runs([task_id]) if run.system == system)


def test_nothing_stored_is_none(cache):
    assert read.open_store(cache) is None


def test_a_benchmark_comes_back(store):
    [row] = store.benchmarks()
    assert row[:9] == (1, "hand", "1", "By hand", True, "CC0", "these tests", ("Four texts.",), {"size": 4})
    assert row.current
    age = datetime.datetime.now(datetime.UTC).replace(tzinfo=None) - row.built_at
    assert row.built_at.microsecond == 0
    assert datetime.timedelta(0) <= age < datetime.timedelta(minutes=5)


def test_a_task_comes_back(store):
    [task] = store.tasks(1)
    assert task[:6] == (1, "main", "By hand", "A complaint asks for its disease.", True, True)
    assert (task.n_documents, task.n_queries, task.n_negative_grades) == (4, 2, 1)
    assert task.checksum == write.task_checksum(TASK)
    assert store.tasks(2) == []


def test_the_default_task_comes_first(cache):
    second = replace(TASK, name="second", default=True)
    store, first = stored(cache, made=benchmark(replace(TASK, default=False), second))
    assert first.name == "second"
    assert [task.name for task in store.tasks(1)] == ["second", "main"]


def test_queries_and_documents_come_back(store):
    queries, documents = store.queries(1), store.documents(1)
    assert list(queries.id) == ["q-en", "q-fr"]
    assert list(queries.text) == ["chest pain", "souffle court"]
    assert list(queries.tier) == ["1", None]
    assert list(queries.mode) == [None, "general"]
    assert list(queries.source_query) == ["q", None]
    assert list(queries.strategy) == [None, None]
    assert list(documents.id) == ["a-en", "a-fr", "b-en", "b-fr", "gone"]
    assert list(documents.language) == ["en", "fr", "en", "fr", None]
    assert list(documents.sibling_group) == ["heart", "heart", None, None, None]
    assert store.corpus_languages(1) == {"en": 2, "fr": 2}


def test_a_dangling_document_is_judged_but_not_in_the_corpus(store):
    rows = store.judgements(1)
    assert list(zip(rows.query, rows.document, rows.grade, rows.language, strict=True)) == [
        (0, 0, 2.0, "en"),
        (0, 1, 0.5, "fr"),
        (0, 4, 1.0, None),
        (1, 2, 1.0, "en"),
    ]
    assert store.corpus(1).ids == ("a-en", "a-fr", "b-en", "b-fr")


def test_every_grade_is_kept_for_those_who_ask(store):
    rows = store.judgements(1, all_grades=True)
    assert list(rows.grade) == [2.0, 0.5, 0.0, -1.0, 1.0, 1.0]
    assert list(rows.document) == [0, 1, 2, 3, 4, 2]


def test_a_system_sees_corpus_and_questions(store):
    corpus, questions = store.corpus(1), store.questions(1)
    assert corpus.languages == ("en", "fr", "en", "fr")
    assert corpus.texts == ("heart attack", "crise cardiaque", "asthma", "asthme")
    assert list(corpus.tie_order) == [3, 2, 1, 0]  # b-fr, the largest id, comes first among equals
    assert (questions.ids, questions.languages) == (("q-en", "q-fr"), ("en", "fr"))
    assert questions.texts == ("chest pain", "souffle court")


def test_only_documents_of_the_corpus_leave_a_ranking(store):
    excluded = store.questions(1).excluded
    assert list(excluded) == [1]
    assert excluded[1].tolist() == [3]  # b-fr; neither the dangling document nor an unknown one
    assert excluded[1].dtype == np.int32


def test_ranks_of_relevant_documents_come_from_the_whole_ranking(store):
    run = run_of(store)
    assert store.ranks([run.run_id]).tolist() == [[2, N, N, 2]]
    assert (run.depth, run.hits_kept, run.n_hits) == (10, 2, 4)


def test_hits_come_back_in_order_up_to_what_was_kept(store):
    run = run_of(store)
    assert store.hits(run) == [(0, 1, 2, 0.9), (0, 2, 0, 0.8), (1, 1, 1, 0.5), (1, 2, 2, 0.1 + 0.2)]
    assert store.hits(run, [1]) == [(1, 1, 1, 0.5), (1, 2, 2, 0.1 + 0.2)]
    assert store.hits(run, np.array([1, 0]), top=1) == [(0, 1, 2, 0.9), (1, 1, 1, 0.5)]
    assert store.hits(run, []) == []
    assert store.hits(run, [7]) == []


def test_texts_of_some_documents(store):
    assert store.texts(1, [3, 0]) == {0: "heart attack", 3: "asthme"}
    assert store.texts(1, []) == {}


def test_query_scores_come_back(store):
    scores = store.query_scores([run_of(store).run_id])
    assert scores["depth"].tolist() == [[3, 2]]
    assert scores["tied_at_10"].tolist() == [[False, True]]
    np.testing.assert_array_equal(scores["ndcg_at_10_low"], [[0.25, np.nan]])
    assert scores["first_sibling_rank"].tolist() == [[1, N]]
    assert scores["first_related_rank"].tolist() == [[N, N]]
    assert scores["outcome_at_1"].tolist() == [["sibling", None]]
    np.testing.assert_array_equal(scores["judged_at_10"], [[np.nan, np.nan]])
    assert "run_id" not in scores


def test_runs_stand_in_the_order_asked(cache):
    _, task = stored(cache, "a")
    turned = replace(RANKING, document=np.array([0, 2, 3, 2, 1], np.int32))
    with write.writer(cache) as writer:
        add_run(writer, task.task_id, "b", ranking=turned)
    store = read.open_store(cache)
    a, b = run_of(store, "a").run_id, run_of(store, "b").run_id
    assert store.ranks([b, a, b]).tolist() == [[1, N, N, 1], [2, N, N, 2], [1, N, N, 1]]
    assert store.query_scores([b, a])["depth"].shape == (2, 2)
    assert store.language_above([b, a]) == [(0, "en", "en", 1), (1, "en", "en", 1)]
    assert store.concentration(b) == {5: (4, 1.0), 10: (4, 0.5)}


def test_no_run_is_no_row(store):
    assert store.ranks([]).shape == (0, 0)
    assert store.runs([]) == []
    assert store.language_above([]) == []


def test_runs_of_different_length_are_not_mixed(cache):
    store, task = stored(cache, "bm25")
    with write.writer(cache) as writer:
        writer.add_refusal(task.task_id, "bm25", reason="too large", fingerprint="f")  # stays complete
        writer.add_system("maxsim", title="MaxSim", short="maxsim", paradigm="late interaction")
        writer.add_refusal(task.task_id, "maxsim", reason="too large", fingerprint="f")
    store = read.open_store(cache)
    runs = [run.run_id for run in store.runs([task.task_id])]
    assert len(runs) == 2
    with pytest.raises(StoreError, match="expected complete runs of one task"):
        store.ranks(runs)
    with pytest.raises(StoreError, match="expected complete runs of one task"):
        store.query_scores(runs)


def test_a_run_comes_back_with_its_provenance(store):
    run = run_of(store, "dense")
    assert (run.task_id, run.system, run.title, run.short, run.paradigm) == (1, "dense", "DENSE", "dens", "lexical")
    assert (run.status, run.reason, run.fingerprint) == ("complete", None, "f")
    assert run.provenance == {"seconds": 1.5, "libraries": {"numpy": "2"}}
    assert run.parents == ("first", "second")


def test_hits_go_out_with_the_users_ids(store, tmp_path):
    target = tmp_path / "o'run.parquet"
    store.export_hits(run_of(store), target)
    with duckdb.connect() as cursor:
        rows = cursor.execute("SELECT * FROM read_parquet(?)", [str(target)]).fetchall()
    assert rows == [
        ("q-en", "b-en", 1, 0.9),
        ("q-en", "a-en", 2, 0.8),
        ("q-fr", "a-fr", 1, 0.5),
        ("q-fr", "b-en", 2, 0.1 + 0.2),
    ]
    assert [path.name for path in tmp_path.glob("*run*")] == ["o'run.parquet"]


def test_a_run_that_cannot_be_written_leaves_nothing(own, tmp_path):
    run = run_of(own)
    (own.cache.hits / run.hits_file).write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=run.hits_file):
        own.export_hits(run, tmp_path / "out.parquet")
    assert not list(tmp_path.glob("out*"))


def test_a_refusal_has_no_hits(cache, tmp_path):
    _, task = stored(cache)
    with write.writer(cache) as writer:
        writer.add_system("maxsim", title="MaxSim", short="maxsim", paradigm="late interaction")
        writer.add_refusal(task.task_id, "maxsim", reason="20,000 texts are too many", fingerprint="f")
    store = read.open_store(cache)
    run = run_of(store, "maxsim")
    assert (run.status, run.reason, run.depth, run.hits_kept, run.n_hits) == (
        "refused",
        "20,000 texts are too many",
        0,
        0,
        0,
    )
    for act in (lambda: store.hits(run), lambda: store.export_hits(run, tmp_path / "out")):
        with pytest.raises(StoreError, match="20,000 texts are too many"):
            act()


def test_ids_are_opaque(cache):
    composed, decomposed = "é", unicodedata.normalize("NFD", "é")
    ids = ["007", "7", "7.0", composed, decomposed, "A", "a", " a ", "", "日本", "q\x00", "NULL", "null"]
    documents = tuple(Document(name, "en", f"text of {name}", family=name) for name in ids)
    queries = tuple(Query(name, "en", name, family=name) for name in ids)
    judgements = tuple(Judgement(name, name, float(place + 1)) for place, name in enumerate(ids))
    store, task = stored(cache, made=benchmark(Task("ids", "Ids", "?", documents, queries, judgements)))
    assert list(store.queries(task.task_id).id) == list(store.documents(task.task_id).id) == ids
    assert store.corpus(task.task_id).texts == tuple(f"text of {name}" for name in ids)
    rows = store.judgements(task.task_id)
    places = list(range(len(ids)))
    assert (rows.query.tolist(), rows.document.tolist()) == (places, places)
    assert rows.grade.tolist() == [float(place + 1) for place in places]


def test_a_task_may_be_empty(cache):
    store, task = stored(cache, made=benchmark(Task("none", "None", "?", (), (), ())))
    with write.writer(cache) as writer:
        none = np.zeros(0, np.int32)
        empty = replace(RANKING, query=none, document=none, score=np.zeros(0))
        add_run(writer, task.task_id, ranking=empty, n_queries=0)
    store = read.open_store(cache)
    assert len(store.corpus(1)) == len(store.questions(1)) == 0
    run = run_of(store)
    assert (run.n_hits, store.hits(run), store.ranks([run.run_id]).shape) == (0, [], (1, 0))
    assert store.faults() == []


def test_what_a_benchmark_is_called(cache):
    for version in ("small", "large"):
        with write.writer(cache) as writer:
            writer.add_benchmark(benchmark(version=version))
    store = read.open_store(cache)
    assert store.benchmark("hand").version == "large"
    assert store.benchmark("hand@small").version == "small"
    for unknown in ("", "hand@", "hand@tiny", "HAND", "small"):
        with pytest.raises(InputError, match="stored are hand@large, hand@small"):
            store.benchmark(unknown)


def test_sixteen_threads_read_at_once(store):
    run = run_of(store)

    def ask(_):
        return (
            store.ranks([run.run_id]).tolist(),
            store.hits(run, [0]),
            store.corpus(1).texts[3],
            store.benchmark("hand").version,
        )

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(64)))
    assert answers == [([[2, N, N, 2]], [(0, 1, 2, 0.9), (0, 2, 0, 0.8)], "asthme", "1")] * 64


def test_sixteen_threads_open_a_store_at_once(cache):
    stored(cache, "bm25")
    read.generations.shared_connection.cache_clear()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: read.open_store(cache).corpus_languages(1), range(64)))
    assert answers == [{"en": 2, "fr": 2}] * 64


def test_a_sound_store_has_no_faults(store):
    assert store.faults() == []
    assert store.orphans() == []


def test_a_flipped_byte_is_found(own):
    hits = own.cache.hits / run_of(own).hits_file
    texts = own.cache.documents / own.tasks(1)[0].documents_file
    for path in (hits, texts):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert own.faults() == [
        f"{path}: its SHA-256 differs from the one recorded when it was written" for path in (hits, texts)
    ]


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"nothing of the kind " * 50])
def test_a_damaged_file_is_named_when_it_is_read(own, damage):
    run = run_of(own)
    (own.cache.hits / run.hits_file).write_bytes(damage)
    (own.cache.documents / own.tasks(1)[0].documents_file).write_bytes(damage)
    for act in (lambda: own.hits(run), lambda: own.corpus(1), lambda: own.texts(1, [0])):
        with pytest.raises(StoreError, match=r"[0-9a-f]{32}\.parquet: .+ \(python -m analysis check lists"):
            act()
    assert len(own.faults()) == 2


def test_a_missing_file_is_found(own):
    run = run_of(own)
    path = own.cache.hits / run.hits_file
    path.unlink()
    assert own.faults() == [f"{path}: missing"]
    with pytest.raises(StoreError, match=run.hits_file):
        own.hits(run)
    assert own.ranks([run.run_id]).shape == (1, 4)  # pages that need no hits go on


def test_lost_rows_are_found(cache):
    store, _ = stored(cache, "bm25")
    with tampered(store.path) as cursor:
        for sql in (
            "DELETE FROM relevant_rank WHERE rank IS NULL",
            "DELETE FROM query_score WHERE query = 1",
            "DELETE FROM document WHERE document = 0",
            "DELETE FROM query WHERE query = 1",
        ):
            cursor.execute(sql).fetchall()
    assert read.open_store(cache).faults() == [
        "task 1 (main): 3 documents of 4, 1 queries of 2",
        "run 1 (bm25 on main): 2 ranks for 4 judgements, 1 query rows for 2 queries",
    ]


def test_a_damaged_block_of_the_store_is_found(own):
    read.generations.shared_connection.cache_clear()
    content = own.path.read_bytes()
    assert content.count(b"souffle court") == 1
    own.path.write_bytes(content.replace(b"souffle court", b"soufflE court"))
    assert any(fault.startswith(f"table query: {own.path}: ") for fault in own.faults())
    with pytest.raises(StoreError, match=own.path.name):
        own.queries(1)


def test_orphans_are_listed_and_swept_by_the_next_writer(own):
    cache = own.cache
    left = [
        cache.documents / f"{'0' * 32}.parquet",
        cache.hits / f"{'1' * 32}.parquet",
        cache.hits / f"{'2' * 32}.parquet.tmp",
        cache.root / "store-99.0123abcd.tmp",
        cache.root / "store-99.0123abcd.tmp.wal",
    ]
    for path in left:
        path.touch()
    spill = cache.root / "store-99.0123abcd.tmp.tmp"  # DuckDB's folder for what does not fit into memory
    spill.mkdir()
    (spill / "duckdb_temp_storage").touch()
    assert own.orphans() == sorted([*left, spill])
    with write.writer(cache):
        assert not [path for path in (*left, spill) if path.exists()]
    assert read.open_store(cache).orphans() == []


def test_what_a_running_job_has_written_is_no_orphan(cache):
    store, task = stored(cache, "bm25")
    with write.writer(cache) as writer:
        add_run(writer, task.task_id, "dense")
        assert len(list(cache.hits.glob("*.parquet"))) == 2
        assert store.orphans() == []


@pytest.mark.parametrize("name", ["store-7.duckdb", "../store-7.duckdb", "", "store.duckdb", "\udcff"])
def test_current_that_names_nothing_is_an_error(cache, name):
    stored(cache)
    cache.current.write_text(name + "\n", encoding="utf-8", errors="surrogateescape")
    for act in (lambda: read.open_store(cache), lambda: write.writer(cache).__enter__()):
        with pytest.raises(StoreError, match=r"CURRENT: names .+ expected a file store-<number>\.duckdb"):
            act()


def test_without_current_the_newest_generation_counts(cache):
    store, _ = stored(cache, "bm25")
    cache.current.unlink()
    assert read.open_store(cache).path == store.path
    with write.writer(cache):
        pass
    assert [run.system for run in read.open_store(cache).runs([1])] == ["bm25"]


@pytest.mark.parametrize("content", [b"", b"something else " * 1000])
def test_a_file_that_is_no_store_is_an_error(tmp_path, content):
    cache = Cache(tmp_path)
    (tmp_path / "store-1.duckdb").write_bytes(content)
    cache.current.write_text("store-1.duckdb\n")
    for act in (lambda: read.open_store(cache), lambda: write.writer(cache).__enter__()):
        with pytest.raises(StoreError, match=r"store-1\.duckdb: .*not a valid DuckDB database"):
            act()
    assert (tmp_path / "store-1.duckdb").read_bytes() == content


def test_the_bare_path_works_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store, _ = stored(Cache(tmp_path.relative_to(tmp_path)), "bm25")
    assert store.hits(run_of(store), [0], top=1) == [(0, 1, 2, 0.9)]
    assert by_hand.files(store.cache)


def test_a_new_system_does_not_renumber_the_old_ones(cache):
    store = stored(cache, "zeta")[0]
    paradigm = store.system_labels()["zeta"].paradigm
    for name in ("alpha", "zeta"):  # zeta comes again under another title, as a second run brings it
        with write.writer(cache) as writer:
            writer.add_system(name, title=f"new {name}", short=name, paradigm=paradigm)
    labels = read.open_store(cache).system_labels()
    assert list(labels) == ["alpha", "zeta"]
    assert [(label.title, label.member) for label in labels.values()] == [("new alpha", 1), ("new zeta", 0)]
