"""A benchmark is looked for in a file: what is found, in which formats, ended and taken up again, and faults."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.cli import main
from analysis.errors import InputError, JobCancelledError
from analysis.imports import training as files
from analysis.jobs import training as job
from analysis.jobs.training import TrainingRequest, look_through
from analysis.model import Benchmark, Document, Query, Task, silent
from analysis.paths import Cache
from analysis.store import read, training, write
from analysis.store.text_keys import Keys, Sums
from analysis.store.training import LEAST, SPAN
from analysis.views import data
from analysis.views import training as view
from tests.hand_made import state
from tests.overlapping import FILE, LONG, put_overlapping

FOUND = {  # by hand: kind, and the line where it stands first
    "a1": ("exact", 2),
    "a2": ("normalised", 3),
    "a3": ("span", 5),
    "a4": ("inside", 6),
    "b1": ("normalised", 2),
    "b3": ("span", 5),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The benchmark, stored once."""
    folder = tmp_path_factory.mktemp("planted")
    put_overlapping(Cache(folder))
    return folder


@pytest.fixture
def cache(planted, tmp_path):
    return Cache(Path(shutil.copytree(planted, tmp_path / "store")))


def lines(path, texts=FILE):
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def look(cache, path, **more):
    look_through(cache, request=TrainingRequest("overlapping", path, **more), progress=silent)
    return found(cache, path.name)


def found(cache, name):
    store = read.open_store(cache)
    told = view.found_in(store, "overlapping", name)
    return told, {row.id: (row.kind, row.row) for row in view.matches(store, told)}


def test_everything_planted_is_found_and_nothing_else(cache, tmp_path):
    told, matches = look(cache, lines(tmp_path / "train.txt"))
    assert matches == FOUND
    assert (told.n_rows, told.n_texts, told.every) == (7, 7, 1)
    rows = {(row.task, row.item, row.language): row for row in told.texts}
    english = rows["first", "query", "en"]
    assert (english.n, english.exact, english.normalised, english.inside, english.span) == (4, 1, 0, 1, 1)
    assert english.short == 1  # a5
    assert rows["first", "query", "fr"].normalised == 1
    assert rows["second", "query", "ja"].found == 0
    assert rows["first", "document", "en"].found == 0
    assert told.concepts == ()
    assert told.takeaway.bold == "6 of 8 queries occur in train.txt."
    assert told.takeaway.rest == "3 of them as a whole text; no document does."
    card = data.card(read.open_store(cache), "overlapping")
    assert card.trainings == (told,)
    assert read.open_store(cache).faults() == []


def test_words_in_a_row_count_as_they_are_said_to():
    assert (SPAN, LEAST) == (13, 8)
    words = LONG.split()
    assert " ".join(words[:12]) in FILE[3]
    assert " ".join(words[:13]) not in FILE[3]
    assert " ".join(words[:13]) in FILE[4].lower()


def records():
    """The lines as records, the texts in two columns and a list, with a column of concepts."""
    return [
        {"query": FILE[0], "pos": [FILE[1]], "cui": "c1"},
        {"query": FILE[2], "pos": [FILE[3]], "cui": "c7"},
        {"query": None, "pos": list(FILE[4:]), "cui": None},
    ]


def write_jsonl(path):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in records()), encoding="utf-8")
    return path


def write_table(path, separator):
    quote = (lambda text: f'"{text}"') if separator == "," else str
    rows = [separator.join(("text", "cui"))]
    rows += [separator.join((quote(text), "c1" if place == 1 else "")) for place, text in enumerate(FILE)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_parquet(path):
    pq.write_table(pa.table({"text": list(FILE), "cui": ["", "c1", *[None] * 5], "n": range(7)}), path)
    return path


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (lambda folder: write_table(folder / "train.csv", ","), 2),
        (lambda folder: write_table(folder / "train.tsv", "\t"), 2),
        (lambda folder: write_parquet(folder / "train.parquet"), 1),
    ],
    ids=["csv", "tsv", "parquet"],
)
def test_tables_are_read_as_imports_read_them(cache, tmp_path, make, first):
    told, matches = look(cache, make(tmp_path))
    shift = first - 1
    assert matches == {name: (kind, line + shift) for name, (kind, line) in FOUND.items()} | {
        "c1": ("exact", 2 + shift)
    }
    assert [(row.task, row.n, row.found) for row in told.concepts] == [("first", 5, 1), ("second", 3, 1)]


def test_lists_of_texts_and_packed_lines(cache, tmp_path):
    plain = write_jsonl(tmp_path / "train.jsonl")
    packed = tmp_path / "train.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    squeezed = tmp_path / "train.jsonl.zst"
    squeezed.write_bytes(pa.compress(plain.read_bytes(), "zstd", asbytes=True))
    expected = {"a1": ("exact", 1), "a2": ("normalised", 2), "a3": ("span", 3), "a4": ("inside", 3)}
    expected |= {"b1": ("normalised", 1), "b3": ("span", 3), "c1": ("exact", 1)}
    for path in (plain, packed, squeezed):
        told, matches = look(cache, path)
        assert matches == expected
        assert (told.n_rows, told.n_texts) == (3, 7)
    assert len(data.card(read.open_store(cache), "overlapping").trainings) == 3


def test_columns_that_are_named_are_the_ones_that_are_read(cache, tmp_path):
    path = write_jsonl(tmp_path / "train.jsonl")
    _, matches = look(cache, path, columns=("query",), concept="none")
    assert matches == {"a2": ("normalised", 2)}
    _, matches = look(cache, path, lines=True)
    assert {name: kind for name, (kind, _) in matches.items()} == {
        "a1": "inside",  # of a line of JSON
        "a3": "span",
        "a4": "inside",
        "b1": "inside",
        "b3": "span",
    }


def test_the_same_file_read_the_same_way_takes_its_place(cache, tmp_path):
    path = lines(tmp_path / "train.txt")
    look(cache, path)
    look(cache, path)
    assert len(view.trainings(read.open_store(cache), 1)) == 1
    lines(path, FILE[:1])
    told, matches = look(cache, path)  # another file of the same name; the earlier one stays
    assert matches == {}
    assert told.takeaway.bold == "None of 8 queries occurs in train.txt."
    assert len(view.trainings(read.open_store(cache), 1)) == 2
    with write.writer(cache) as writer:
        writer.remove_benchmark(1)
    store = read.open_store(cache)
    assert store._rows("SELECT count(*) FROM training_match") == [(0,)]


def export(cache):
    store = read.open_store(cache)
    (told,) = view.trainings(store, 1)
    return [*view.matches(store, told)], told.texts, told.concepts, told.n_rows, told.n_texts


class Ending:
    """Ends a job at the nth time that the file is looked through."""

    def __init__(self, after):
        self.left = after

    def __call__(self, step, done, total):
        if step.startswith("look through"):
            self.left -= 1
            if not self.left:
                raise JobCancelledError("cancelled")


@pytest.mark.parametrize("after", [1, 2, 4])
def test_an_ended_search_is_taken_up_where_it_stopped(cache, tmp_path, monkeypatch, after):
    monkeypatch.setattr(files, "BLOCK", 80)  # a line a batch
    monkeypatch.setattr(job, "SAVED", 1)
    path = lines(tmp_path / "train.txt")
    whole = Cache(Path(shutil.copytree(cache.root, tmp_path / "whole")))
    looked = []
    monkeypatch.setattr(training.Search, "look", counting(training.Search.look, looked))
    look(whole, path)
    n_batches = len(looked)
    before = state(cache.root)
    with pytest.raises(JobCancelledError):
        look_through(cache, request=TrainingRequest("overlapping", path), progress=Ending(after))
    kept = {
        name: bytes_ for name, bytes_ in state(cache.root).items() if not name.startswith(("training", "store.lock"))
    }
    assert kept == {name: bytes_ for name, bytes_ in before.items() if name != "store.lock"}
    del looked[:]
    look(cache, path)
    assert len(looked) == n_batches - (after - 1)
    assert export(cache) == export(whole)
    assert list(cache.training.iterdir()) == []


def counting(act, calls):
    def counted(*arguments):
        calls.append(arguments)
        return act(*arguments)

    return counted


FAULTS = [
    ("train.txt", b"fine\n\xff\xfe\n", "train.txt, line 2: byte 0xFF, expected UTF-8"),
    ("train.jsonl", b'{"text": "a"}\n{"text": 12}\n', "line 2: text is 12, expected a text, a list of texts or null"),
    ("train.jsonl", b'{"text": "a"}\n{"text": ["a", {}]}\n', "line 2: text is {}, expected a text"),
    ("train.jsonl", b'{"text": "a"}\n{"text"\n{"text": "b"}\n', "line 2: "),
    ("train.jsonl", b'{"text": "a"}\n{"words": "b"}\n', "line 2: no text among words, expected one of text, title"),
    ("train.csv", b"id,words\n1,a\n", "no text among id, words, expected one of text, title"),
    ("train.csv", b"text,n\na,1\nb\n", "line 3: 1 cells, expected 2 as in the header"),
    ("train.csv", b"", "the file is empty"),
    ("train.txt.gz", b"\x1f\x8b\x08\x00broken", "expected a whole file"),
    ("train.parquet", b"PAR1 no more", "expected a whole Parquet file"),
]


@pytest.mark.parametrize(("name", "content", "words"), FAULTS)
def test_a_fault_names_file_line_value_and_what_was_expected(cache, tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        look(cache, path)
    assert name in str(raised.value)
    assert words in str(raised.value)
    assert view.trainings(read.open_store(cache), 1) == ()


def test_a_column_that_is_not_there_is_named(cache, tmp_path):
    path = write_table(tmp_path / "train.csv", ",")
    with pytest.raises(InputError, match=r"train.csv: no column 'words' among text, cui"):
        look(cache, path, columns=("text", "words"))
    with pytest.raises(InputError, match=r"train.csv: no column 'umls' among text"):
        look(cache, path, concept="umls")
    with pytest.raises(InputError, match=r"nowhere.txt: No such file"):
        look(cache, tmp_path / "nowhere.txt")


def test_keys_of_runs_are_those_of_their_words():
    draw = np.random.default_rng(3)
    words = draw.integers(0, 2**63, 500).astype(np.uint64)
    words[200:220] = words[40:60]  # the same twenty words elsewhere
    sums = Sums(words)
    first = np.arange(480)
    for length in (1, 8, 13, 20):
        keys = sums.keys(first, length)
        assert keys[40] == keys[200]
        others = np.unique(np.delete(keys, range(200, 221)))
        assert len(others) == 480 - 21  # no two different runs share one


def test_of_several_rows_the_first_is_noted():
    keys = Keys(np.array([5, 7, 9], np.uint64))
    met = keys.meet(np.array([7, 8, 5, 7], np.uint64), np.array([3, 3, 4, 5]))
    assert met.tolist() == [0, 2, 3]
    keys.meet(np.array([9, 5], np.uint64), np.array([8, 9]))
    assert keys.rows(np.array([5, 7, 9], np.uint64)).tolist() == [4, 3, 8]
    assert Keys(np.zeros(0, np.uint64)).meet(np.array([1], np.uint64), np.array([1])).tolist() == []


@pytest.mark.parametrize(("most", "found_at_all"), [(1000, {"d", "e", "q"}), (29, {"e", "q"})])
def test_spans_of_very_many_words_of_documents_are_sampled(tmp_path, monkeypatch, most, found_at_all):
    monkeypatch.setattr(training, "MOST_WORDS", most)
    monkeypatch.setattr(training, "TEXTS", 2)
    cache, words = Cache(tmp_path / "store"), [f"w{n}" for n in range(30)]
    documents = (
        Document("d", "en", " ".join(words), "d"),  # shares its second to fourteenth word
        Document("e", "en", " ".join(f"x{n}" for n in range(30)), "e"),  # shares 25 words
        Document("f", "en", "short", "f"),
    )
    query = Query("q", "en", " ".join(f"y{n}" for n in range(20)), "q1")
    task = Task("main", "Main", "?", documents, (query,), ())
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("overlapping", "1", "Long", False, "CC0", "by hand", (), {}, (task,)))
    texts = [" ".join(words[1:14]), " ".join(f"x{n}" for n in range(3, 28)), " ".join(f"y{n}" for n in range(1, 14))]
    told, matches = look(cache, lines(tmp_path / "train.txt", texts))
    assert set(matches) == found_at_all
    assert told.every == (1 if most == 1000 else SPAN)
    assert ("spans of documents at every 13th word" in told.caption) == (most == 29)


def test_the_commands(cache, tmp_path, capsys):
    folder = ["--cache", str(cache.root)]
    path = write_table(tmp_path / "train.csv", ",")

    def said(*arguments, code=0):
        assert main([*arguments, *folder]) == code
        return capsys.readouterr()

    counts = json.loads(
        said("separation", "--benchmark", "overlapping", "--against", str(path), "--format", "json").out
    )
    english = next(row for row in counts if (row["task"], row["language"]) == ("first", "en"))
    assert (english["file"], english["found"], english["n"]) == ("train.csv", 3, 4)
    assert {row["item"]: row["found"] for row in counts if row["task"] == "second"}["concept"] == 1
    listed = said("separation", "--benchmark", "overlapping", "--file", "train.csv", "--ids", "--format", "csv").out
    assert listed.splitlines()[0] == "file,task,item,id,language,family,kind,row"
    assert "train.csv,first,query,a4,en,c4,inside,7" in listed
    pairs = json.loads(said("separation", "--benchmark", "overlapping", "--format", "json").out)
    assert pairs["pairs"][0]["near"] == {"of_a": 2, "n_a": 5, "of_b": 2, "n_b": 3}
    table = said("separation", "--benchmark", "overlapping", "--format", "csv").out
    assert "First,Second,queries_normalised,,1,5,3," in table
    card = json.loads(said("card", "--benchmark", "overlapping", "--format", "json").out)
    assert card["trainings"][0]["checksum"] == english["sha256"]
    told = said("card", "--benchmark", "overlapping").out
    assert "### train.csv" in told
    assert "first: 1 of 5 concepts occur." in told
    for wrong, words in (
        (("--ids",), "--ids goes with --against or --file"),
        (("--columns", "text"), "--columns goes with --against"),
        (("--file", "train.csv", "--columns", "text"), "--columns goes with --against"),
        (("--forget", "train.csv", "--ids"), "--ids goes with --against or --file"),
        (("--file", "other.csv"), "was looked for in train.csv"),
        (("--file", "x", "--against", "y"), "--against and --file: expected one of them"),
    ):
        assert words in said("separation", "--benchmark", "overlapping", *wrong, code=1).err
    assert "forgotten" in said("separation", "--benchmark", "overlapping", "--forget", "train.csv").err
    assert "no file yet" in said("separation", "--benchmark", "overlapping", "--forget", "train.csv", code=1).err
