"""Parallel texts in tables: what is asked and found, in every kind of table, and what each fault says."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.imports.report import report, table
from analysis.jobs.import_benchmark import BenchmarkRequest, read_benchmark
from analysis.model import Flag, silent
from analysis.paths import Cache
from analysis.store import read
from tests.hand_made import state
from tests.imports.imported import grades, stored, task_of
from tests.imports.invented import sentences, shifted

HEADER = ["tuid", "paper", "en", "fr", "ja"]
ROWS = [
    ["a:1", "A", "the heart", "le cœur", "心臓"],
    ["a:2", "A", "a fever", "la fièvre", ""],
    ["b/1", "B", "the heart", "un cœur", "心"],
    ["b/2", "B", "", "  ", "薬"],
]
TABLE = "".join("\t".join(row) + "\n" for row in (HEADER, *ROWS))
OPTIONS = {"format": "parallel", "languages": ("en", "fr", "ja")}


@pytest.fixture
def parallel(file):
    """Read a table of parallel texts."""

    def made(content=TABLE, name="rows.tsv", **options):
        return folders.read(file(content, name), options=Options(**{**OPTIONS, **options}))

    return made


# What is read


def test_every_text_asks_for_its_row_in_every_other_language(parallel):
    found = parallel()
    names = ["a:1:en", "a:1:fr", "a:1:ja", "a:2:en", "a:2:fr", "b/1:en", "b/1:fr", "b/1:ja", "b/2:ja"]
    assert [row.id for row in found.queries] == [row.id for row in found.documents] == names
    assert [row.language for row in found.documents] == ["en", "fr", "ja", "en", "fr", "en", "fr", "ja", "ja"]
    judged = {(row.query_id, row.document_id): row.grade for row in found.judgements}
    assert set(judged.values()) == {1.0}
    assert sorted(judged) == sorted(
        (f"{row}:{asked}", f"{row}:{answer}")
        for row, tags in (("a:1", "en fr ja"), ("a:2", "en fr"), ("b/1", "en fr ja"))
        for asked in tags.split()
        for answer in tags.split()
        if asked != answer
    )
    assert [row.source_query for row in found.queries[:4]] == ["a:1", "a:1", "a:1", "a:2"]
    assert [row.family for row in found.queries[:4]] == [row.family for row in found.documents[:4]]
    assert found.notices == {
        "rows without a text in en: nothing of it": 1,
        "rows without a text in fr: nothing of it": 1,
        "rows without a text in ja: nothing of it": 1,
        "rows with a text in one language only: nothing is relevant to it": 1,
        "rows whose column 'paper' is not kept": 4,
    }


def test_documents_that_read_the_same_in_the_language_of_the_query_leave_its_ranking(parallel):
    excluded = {row.id: row.excluded_documents for row in parallel().queries}
    assert excluded["a:1:en"] == excluded["b/1:en"] == ("a:1:en", "b/1:en")
    assert excluded["a:1:fr"] == ("a:1:fr",)
    assert report(parallel()).doubts.self_retrieval.n == 0


def test_rows_of_a_document_are_drawn_together_and_are_siblings(parallel):
    found = parallel(family_column="paper")
    assert {row.family for row in found.queries} == {"A", "B"}
    assert [row.family for row in found.documents][:4] == ["row a:1"] * 3 + ["row a:2"]
    assert {row.sibling_group for row in (*found.queries, *found.documents)} == {"A", "B"}
    assert {row.sibling_group for row in parallel().queries} == {None}


def test_rows_without_ids_are_called_by_their_physical_line(parallel):
    found = parallel("en\tfr\n\none\tun\n\ntwo\tdeux\n", languages=("en", "fr"))
    assert [row.id for row in found.queries] == ["3:en", "3:fr", "5:en", "5:fr"]


def test_columns_may_be_called_otherwise(parallel):
    text = "key,eng_Latn,Français,level\n007,one,un,easy\n7,two,deux,\n"
    renamed = {"key": "_id", "Français": "fr", "level": "tier"}
    found = parallel(text, "x.csv", languages=("eng_Latn", "fr"), renamed=renamed)
    assert [(row.id, row.language, row.tier) for row in found.queries] == [
        ("007:en", "en", "easy"),
        ("007:fr", "fr", "easy"),
        ("7:en", "en", None),
        ("7:fr", "fr", None),
    ]


def parquet(rows):
    names, *cells = rows
    sink = io.BytesIO()
    columns = zip(*cells, strict=True)
    pq.write_table(pa.table({name: list(column) for name, column in zip(names, columns, strict=True)}), sink)
    return sink.getvalue()


def test_every_kind_of_table_is_the_same_benchmark(parallel, cache, file):
    quoted = "".join(",".join(f'"{cell}"' for cell in row) + "\r\n" for row in (HEADER, *ROWS))
    lines = "".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in ROWS)
    first = parallel()
    for content, name in ((quoted, "x.csv"), (lines, "x.jsonl"), (parquet([HEADER, *ROWS]), "x.parquet"),
                          (pa.compress(TABLE.encode(), "gzip", asbytes=True), "x.tsv.gz"),
                          (b"\xef\xbb\xbf" + TABLE.rstrip("\n").encode(), "y.tsv")):  # fmt: skip
        other = parallel(content, name)
        assert (other.queries, other.documents, other.judgements) == (first.queries, first.documents, first.judgements)
    assert stored(cache, file(TABLE, "x.tsv"), **OPTIONS) == ("mine@1", True)
    assert stored(cache, file(lines, "x.jsonl"), **OPTIONS) == ("mine@1", False)
    store, task = task_of(cache)
    assert task.exclude_self
    assert len(grades(store, task)) == 14


def test_a_sample_asks_whole_documents_of_the_same_corpus(parallel):
    rows = [
        [f"{paper}{row}", paper, f"text {paper} {row}", f"texte {paper} {row}"] for paper in "PQRST" for row in range(4)
    ]
    text = "".join("\t".join(row) + "\n" for row in (["id", "paper", "en", "fr"], *rows))
    found = parallel(text, languages=("en", "fr"), family_column="paper", queries=5)
    papers = {row.family for row in found.queries}
    assert len(papers) == 2
    assert len(found.queries) == len(found.judgements) == 16
    assert len(found.documents) == 40
    assert found.notices["rows that are documents and not asked (--queries)"] == 12
    again = parallel(text, languages=("en", "fr"), family_column="paper", queries=5)
    assert again.queries == found.queries


# What is refused

FAULTS = [
    ("one language", TABLE, {"languages": ("en",)}, "--languages 'en': expected two or more, such as en,fr"),
    ("no language", TABLE, {"languages": ()}, "--languages '': expected two or more, such as en,fr"),
    (
        "language twice",
        TABLE,
        {"languages": ("en", "fr", "eng")},
        "--languages: 'en' and 'eng' are both en, expected each language once",
    ),
    (
        "unknown language",
        TABLE,
        {"languages": ("en", "qq")},
        "--languages: language 'qq': expected an ISO 639 code such as ru, with a script where needed (zh-Hant), or an "
        "English name such as Russian",
    ),
    (
        "no such column",
        TABLE,
        {"languages": ("en", "zh")},
        "{file}, line 1: no column for the zh of a row among tuid, paper, en, fr, ja, expected one called zh "
        "(--map COLUMN=zh)",
    ),
    (
        "no such document column",
        TABLE,
        {"family_column": "doc"},
        "{file}, line 1: no column for the family of a row among tuid, paper, en, fr, ja, expected one called doc "
        "(--map COLUMN=family)",
    ),
    (
        "mapped the wrong way",
        TABLE,
        {"renamed": {"en": "English"}},
        "--map en=English: unknown field 'English', expected one of _id, en, fr, ja, tier, mode, strategy, "
        "audit_status",
    ),
    (
        "no text at all",
        "id\ten\tfr\n1\tone\t\n2\ttwo\t \n",
        {"languages": ("en", "fr")},
        "{file}: no row has a text in 'fr', expected some (--languages)",
    ),
    ("empty", "", {}, "{file}: the file is empty, expected a header and rows"),
    ("header only", "en\tfr\tja\n", {}, "{file}: no row has a text in 'en', expected some (--languages)"),
    (
        "column twice",
        "en\tfr\tja\ten\na\tb\tc\td\n",
        {},
        "{file}, line 1: column 'en' stands twice, expected it once",
    ),
    (
        "width",
        TABLE + "c\tC\tx\ty\n",
        {},
        "{file}, line 6: 4 cells, expected 5 as in the header",
    ),
    (
        "row twice",
        TABLE + "a:1\tC\tx\ty\tz\na:1\tC\tx\ty\tz\n",
        {},
        "{file}, line 6: row id 'a:1' again, as in line 2; expected each id once (1 more faults)",
    ),
    ("blank id", TABLE + " \tC\tx\ty\tz\n", {}, "{file}, line 6: _id is blank, expected an id"),
    (
        "blank document",
        TABLE + "c\t\tx\ty\tz\n",
        {"family_column": "paper"},
        "{file}, line 6: family is blank, expected a document",
    ),
    ("no UTF-8", TABLE.encode() + b"c\tC\t\xe9\ty\tz\n", {}, "{file}, line 6: byte 0xE9, expected UTF-8"),
    (
        "lone carriage return",
        TABLE + "c\tC\tx\ry\tz\tz\n",
        {},
        "{file}, line 6: a carriage return inside the line, expected lines to end with \\n",
    ),
    ("no queries", TABLE, {"queries": 0}, "--queries 0: expected 1 or more"),
]


@pytest.mark.parametrize(("content", "options", "message"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(file, kept, content, options, message):
    cache, before = kept
    path = file(content, "rows.tsv")
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", **{**OPTIONS, **options})
    assert str(error.value) == message.replace("{file}", str(path))
    assert state(cache.root) == before


def test_options_of_parallel_texts_are_refused_elsewhere(file):
    for flag, options in (
        ("--languages", {"languages": ("en", "fr")}),
        ("--family", {"family_column": "x"}),
        ("--queries", {"queries": 3}),
    ):
        with pytest.raises(InputError) as error:
            folders.read(file("x"), options=Options(format="beir", **options))
        assert str(error.value) == f"{flag}: format beir, expected parallel or tmx"


def test_a_folder_or_nothing_is_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError) as error:
            folders.read(path, options=Options(**OPTIONS))
        assert str(error.value) == f"{path}: no such file, expected a table with a column for each language"


def test_lenient_keeps_what_is_sound(parallel):
    found = parallel(TABLE + "a:1\tC\tx\ty\tz\nw\n \tC\tx\ty\tz\nlast\tC\tx\ty\tz\n", lenient=True)
    assert [(row.kind, row.n) for row in found.faults.mended()] == [
        ("row again: the first kept", 1),
        ("row dropped", 2),
    ]
    assert found.queries[0].text == "the heart"
    assert found.queries[-1].id == "last:ja"


# Rows that do not belong together


def broken():
    texts = sentences(300)
    texts["zh"] = shifted(texts["zh"], 130, 170, 2)
    rows = [[f"s{n}", f"paper {n // 100}", *(texts[tag][n] for tag in texts)] for n in range(300)]
    return "".join("\t".join(row) + "\n" for row in (["id", "paper", *texts], *rows))


def test_misaligned_rows_are_reported_and_flagged(file, cache):
    path = file(broken(), "rows.tsv")
    options = Options(format="parallel", languages=("en", "fr", "ru", "zh"), family_column="paper")
    found = read_benchmark(BenchmarkRequest(path, "mine", "main", options), progress=silent)
    check = {row.language: row for row in found.report.alignment}["zh"]
    assert check.sentence.startswith(f"Chinese: {check.n_misaligned} of 300 rows seem to belong to other rows, ")
    assert "all of them in paper 1 (s1" in check.sentence
    assert check.sentence.endswith("2 rows too late): a data fault, not a collapse")
    assert found.benchmark.notes[0] == check.sentence
    assert ("alignment zh", f"{check.n_misaligned} of 300 rows misaligned", check.sentence) in table(found.report)
    (task,) = found.benchmark.tasks
    wrong = [flag for flag in task.flags if flag.reason == "misaligned"]
    assert {flag.id.partition(":")[2] for flag in wrong} == {"zh"}
    assert len(wrong) == 2 * check.n_misaligned == 2 * found.report.n_flagged.queries
    assert Flag("query", "s150:zh", "misaligned") in wrong
    assert Flag("document", "s150:zh", "misaligned") in wrong
    stored(cache, path, format="parallel", languages=("en", "fr", "ru", "zh"), family_column="paper")
    store = read.open_store(cache)
    row = store.benchmark("mine")
    assert row.notes[0] == check.sentence
    assert row.settings["tasks"]["main"]["report"]["alignment"][3]["stretches"][0]["document"] == "paper 1"
    assert set(store.flags(store.tasks(row.benchmark_id)[0].task_id)) == set(task.flags)


def test_a_query_that_is_not_asked_is_not_flagged(file):
    path = file(broken(), "rows.tsv")
    options = Options(format="parallel", languages=("en", "zh"), family_column="paper", queries=1)
    found = folders.read(path, options=options)
    asked = {row.id for row in found.queries}
    assert len({row.family for row in found.queries}) == 1
    assert {flag.id for flag in found.flags if flag.item == "query"} <= asked
    assert len({flag.id for flag in found.flags if flag.item == "document"}) > 30


# Out and in again


@pytest.mark.slow
def test_out_as_beir_and_trec_and_in_again_measures_the_same(file, tmp_path, capsys):
    def call(*arguments):
        assert main([*arguments, "--cache", str(tmp_path / "cache")]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    path = file(broken(), "rows.tsv")
    languages = ("--languages", "en,fr,ru,zh", "--family", "paper", "--queries", "100")
    call("import-benchmark", str(path), "--benchmark", "one", "--format", "parallel", *languages)
    call("run", "--benchmark", "one", "--systems", "bm25", "--keep-hits", "1000")
    call("export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out"))
    call("export", "--benchmark", "one", "--run", "bm25", "--format", "trec", "-o", str(tmp_path / "run.trec"))
    call("import-benchmark", str(tmp_path / "out"), "--benchmark", "two", "--format", "beir")
    call("import-run", str(tmp_path / "run.trec"), "--benchmark", "two", "--system", "again")
    answers = []
    for name, system in (("one", "bm25"), ("two", "again")):
        rows = json.loads(call("per-query", "--benchmark", name, "--system", system, "--format", "json"))
        answers.append([{key: value for key, value in row.items() if key != "system"} for row in rows])
    assert answers[0] == answers[1]
    assert len(answers[0]) == 400
    assert all(row["recall_at_10_same"] is None for row in answers[0])
    cache = Cache(tmp_path / "cache")
    (store, one), (_, two) = task_of(cache, "one"), task_of(cache, "two")
    assert one.checksum == two.checksum
    assert grades(store, one) == grades(store, two)
