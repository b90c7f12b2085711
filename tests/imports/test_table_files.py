"""Benchmarks in tables: every kind of file gives the same benchmark, and no fault is stored."""

import gzip
import io
from datetime import date
from math import log2

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.imports.report import Listed, report
from analysis.paths import Cache
from tests.hand_made import state
from tests.imports.imported import CORPUS, QUERIES, grades, lines, round_trip, stored, task_of, written

DOCUMENTS = {
    "doc_id": ["d1", "d2", "d3"],
    "contents": ["heart attack", 'infarto, "de"\nmiocardio', "broken bone"],
    "lang": ["en", "es", "en"],
    "family": ["c1", "c1", "c2"],
}
ASKED = {
    "qid": ["1", "02"],
    "query": ["attack of the heart", "ataque al corazón"],
    "lang": ["en", "es"],
    "year": ["2020", "1e3"],
}
JUDGED = {"query_id": ["1", "1", "02", "02"], "docno": ["d1", "d2", "d1", "d3"], "rel": ["2", "1.0", "1", "-0"]}
TABLES = {"documents": DOCUMENTS, "queries": ASKED, "qrels": JUDGED}
MAPPED = {"renamed": {"lang": "language"}}


def rows(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def delimited(table, mark=","):
    def cell(text):
        return '"' + text.replace('"', '""') + '"' if mark == "," and any(c in text for c in ',"\n') else text

    every = [list(table), *(list(row.values()) for row in rows(table))]
    return "".join(mark.join(map(cell, row)) + "\n" for row in every)


def parquet(table, **options):
    target = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), target, **options)
    return target.getvalue()


def in_kind(kind, tables):
    def content(table):
        if kind == "parquet":
            numbers = {"rel": list(map(float, table["rel"]))} if "rel" in table else {}
            return parquet({**table, **numbers}, row_group_size=2)
        if kind == "tsv":
            return delimited(
                {name: [text.replace("\n", " ") for text in column] for name, column in table.items()}, "\t"
            )
        return delimited(table) if kind == "csv" else lines(rows(table))

    return {f"{name}.{kind}": content(table) for name, table in tables.items()}


@pytest.fixture
def folder(tmp_path):
    """A folder of CSV files, some of them replaced; None leaves one out."""

    def made(changes=None, *, name="mine", kind="csv"):
        return written(tmp_path / name, {**in_kind(kind, TABLES), **(changes or {})})

    return made


# What is read


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_every_kind_of_table_is_the_same_benchmark(folder, cache, kind):
    stored(cache, folder(kind=kind), format="table", **MAPPED)
    store, task = task_of(cache)
    queries = store.queries(task.task_id)
    assert list(queries.id) == ["1", "02"]
    assert list(queries.language) == ["en", "es"]
    assert list(queries.text) == ASKED["query"]
    assert list(queries.attributes["year"]) == ["2020", "1e3"]
    assert store.corpus(task.task_id).ids == ("d1", "d2", "d3")
    expected = DOCUMENTS["contents"][1].replace("\n", " ") if kind == "tsv" else DOCUMENTS["contents"][1]
    assert store.corpus(task.task_id).texts[1] == expected
    assert grades(store, task) == {("1", "d1"): 2, ("1", "d2"): 1, ("02", "d1"): 1, ("02", "d3"): 0}


def test_packed_tables_and_those_of_different_kinds_are_read(folder, cache):
    files = in_kind("csv", TABLES)
    stored(cache, folder(), format="table", **MAPPED)
    before = state(cache.root)
    changes = {
        "documents.csv": None,
        "corpus.parquet.gz": gzip.compress(parquet(DOCUMENTS), mtime=0),
        "queries.csv": None,
        "queries.csv.gz": gzip.compress(b"\xef\xbb\xbf" + files["queries.csv"].replace("\n", "\r\n").encode()),
        "qrels.csv": None,
        "judgements/test.tsv.zst": pa.compress(delimited(JUDGED, "\t").encode(), "zstd", asbytes=True),
    }
    assert stored(cache, folder(changes, name="packed"), format="table", **MAPPED) == ("mine@1", False)
    assert state(cache.root) == before


def test_parquet_keeps_numbers_as_written_and_takes_lists_and_objects(folder):
    queries = pa.table(
        {
            "_id": pa.array([7, 12], pa.int64()),
            "text": pa.array(["a", "b"]).dictionary_encode(),
            "language": ["en", "fr"],
            "excluded_documents": [["d1", "d1", "x"], None],
            "metadata": [{"topic": "heart", "year": 2020}, {"topic": None, "year": 1}],
            "score_of": [0.5, float("nan")],
            "seen": [date(2020, 1, 2), None],
            "tags": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32())),
            "good": [True, False],
        }
    )
    corpus = pa.table({"_id": ["d1"], "title": pa.nulls(1), "text": ["x"], "language": ["en"], "image": [b"\xff\x00"]})
    qrels = pa.table({"q_id": [7, 12], "doc_id": ["d1", "d1"], "score": [1, 2]})
    changes = {
        "documents.parquet": parquet(corpus),
        "queries.parquet": parquet(queries),
        "qrels.parquet": parquet(qrels),
    }
    found = folders.read(folder(changes, kind="parquet"), options=Options(format="table"))
    first, second = found.queries
    assert (first.id, first.text, first.excluded_documents) == ("7", "a", ("d1", "x"))
    assert first.attributes == {
        "topic": "heart", "year": "2020", "score_of": "0.5", "seen": "2020-01-02", "tags": '{"k": "1"}', "good": "true",
    }  # fmt: skip
    assert (second.id, second.excluded_documents, second.attributes["year"]) == ("12", (), "1")
    assert "score_of" not in second.attributes
    assert found.n_number_ids == 2
    assert found.ignored == {"image": 1}
    assert [(row.query_id, row.grade) for row in found.judgements] == [("7", 1.0), ("12", 2.0)]


def test_a_csv_cell_may_hold_a_list_and_a_document_of_a_megabyte(folder):
    asked = {**ASKED, "excluded_documents": ['["d1", "d3"]', ""]}
    big = {**DOCUMENTS, "contents": ["x" * (1 << 20), "y", "z"]}
    changes = {"queries.csv": delimited(asked), "documents.csv": delimited(big)}
    found = folders.read(folder(changes), options=Options(format="table", **MAPPED))
    assert [query.excluded_documents for query in found.queries] == [("d1", "d3"), ()]
    assert len(found.documents[0].text) == 1 << 20


@pytest.mark.parametrize(
    "options", [{"renamed": {"meta.lang": "language", "meta.pub": "family"}}, {"language_key": "meta.lang"}]
)
def test_a_field_may_stand_inside_an_object(folder, options):
    meta = [{"lang": "fr", "pub": "p1"}, {"lang": "en", "pub": None}]
    corpus = pa.table({"_id": ["d1", "d2"], "text": ["x", "y"], "meta": meta})
    changes = {"documents.parquet": parquet(corpus), "queries.parquet": None, "queries.csv": "_id,text\n1,x\n"}
    path = folder(changes, kind="parquet")
    found = folders.read(path, options=Options(format="table", query_language="en", **options))
    assert [document.language for document in found.documents] == ["fr", "en"]
    assert [document.family for document in found.documents] == ["p1" if "renamed" in options else "d1", "d2"]


def test_the_users_names_come_before_the_known_ones(folder):
    documents = {"doc_id": ["d1"], "pub": ["p9"], "text": ["no"], "abstract": ["yes"], "meta": ["m"]}
    asked = {"topic": ["t1"], "pub": ["p1"], "query": ["no"], "abstract": ["asked"]}
    judged = {"pub": ["p1"], "answer": ["p9"], "score": ["1"]}
    changes = {
        "documents.csv": delimited(documents), "queries.csv": delimited(asked), "qrels.csv": delimited(judged)
    }  # fmt: skip
    options = Options(
        format="table", document_language="en", query_language="en",
        renamed={"abstract": "text", "pub": "_id", "answer": "corpus-id"},
    )  # fmt: skip
    with pytest.raises(InputError, match="no column for the query-id"):
        folders.read(folder(changes), options=options)
    changes["qrels.csv"] = delimited({"qid": ["p1"], "answer": ["p9"], "score": ["1"]})
    found = folders.read(folder(changes, name="other"), options=options)
    assert [(document.id, document.text) for document in found.documents] == [("p9", "yes")]
    (query,) = found.queries
    assert (query.id, query.text, query.attributes) == ("p1", "asked", {"topic": "t1", "query": "no"})
    assert found.judgements == (("p1", "p9", 1.0),)


def test_the_report_counts_both_sides_and_near_duplicates(folder):
    documents = {"_id": ["Café", "Cafe\u0301", "d3"], "text": ["x", "y", "z"]}
    judged = {"qid": ["1", "9", "02"], "docid": ["Café", "gone", "gone"], "grade": ["1", "1", "0"]}
    changes = {"documents.csv": delimited(documents), "qrels.csv": delimited(judged)}
    found = report(folders.read(folder(changes), options=Options(format="table", document_language="und", **MAPPED)))
    assert (found.n_documents, found.n_queries, found.n_judgements) == (3, 3, 3)
    assert found.doubts.near_duplicate_document_ids.n == 1
    assert found.doubts.dangling_documents == Listed(1, ("gone",))
    assert found.doubts.judgements_without_query == Listed(1, ("9",))
    assert found.doubts.queries_without_relevant == Listed(1, ("02",))


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), min_size=1, max_size=8).filter(
    str.strip
)


@settings(max_examples=25)
@given(
    documents=st.dictionaries(NAMES, NAMES, min_size=1, max_size=5),
    queries=st.dictionaries(NAMES, NAMES, min_size=1, max_size=3),
)
def test_csv_and_parquet_as_pyarrow_writes_them_hold_the_same(tmp_path_factory, documents, queries):
    root = tmp_path_factory.mktemp("hostile")
    asked, ones = list(queries), [1] * len(queries)
    tables = {
        "documents": pa.table({"_id": list(documents), "text": list(documents.values())}),
        "queries": pa.table({"_id": asked, "text": list(queries.values())}),
        "qrels": pa.table({"query-id": asked, "corpus-id": [next(iter(documents))] * len(asked), "score": ones}),
    }  # fmt: skip
    for name, table in tables.items():
        for kind, write in (("csv", pyarrow.csv.write_csv), ("parquet", pq.write_table)):
            (root / kind).mkdir(exist_ok=True)
            write(table, root / kind / f"{name}.{kind}")
    options = Options(format="table", document_language="und", query_language="und")
    csv, parquet = (folders.read(root / kind, options=options) for kind in ("csv", "parquet"))
    assert {row.id: row.text for row in csv.documents} == documents
    assert {row.id: row.text for row in csv.queries} == queries
    assert (csv.documents, csv.queries, csv.judgements) == (parquet.documents, parquet.queries, parquet.judgements)


# What is refused


def without(table, name):
    return {column: values for column, values in table.items() if column != name}


def damaged(table):
    content = bytearray(parquet(table, compression="zstd", use_dictionary=False))
    content[8:24] = b"\xff" * 16
    return bytes(content)


def bad_text():
    raw = pa.array([b"d1", b"\xff\xfe"], pa.binary())
    text = pa.StringArray.from_buffers(2, raw.buffers()[1], raw.buffers()[2])
    return parquet(pa.table({"_id": pa.array(["d1", "d2"]), "text": text}), use_dictionary=False)


EN, NOTHING, IMAGE = ["en", "en"], pa.array([None], pa.int8()), [{"bytes": b"\xff"}]
FAULTS = [
    (
        "no documents",
        {"documents.csv": None},
        "{folder}: found qrels.csv, queries.csv, expected one documents.* or corpus.* that is .parquet, .csv, "
        ".tsv, .jsonl (also .gz or .zst)",
    ),
    (
        "two tables",
        {"corpus.jsonl": "{}"},
        "{folder}: found corpus.jsonl, documents.csv, expected one documents.* or corpus.* that is .parquet, .csv, "
        ".tsv, .jsonl (also .gz or .zst)",
    ),
    (
        "no qrels",
        {"qrels.csv": None},
        "{folder}: found documents.csv, queries.csv, expected one file of judgements, such as qrels.csv or "
        "qrels/test.parquet",
    ),
    ("empty", {"documents.csv": ""}, "{folder}/documents.csv: the file is empty, expected a header and rows"),
    (
        "no id",
        {"documents.csv": delimited(without(DOCUMENTS, "doc_id"))},
        "{folder}/documents.csv, line 1: no column for the _id of a document among contents, lang, family, expected "
        "one called _id or id or corpus-id or corpus_id or doc-id or doc_id or docid or document_id or docno or did or "
        "iid (--map COLUMN=_id)",
    ),
    (
        "no text",
        {"queries.csv": delimited(without(ASKED, "query"))},
        "{folder}/queries.csv, line 1: no column for the text of a query among qid, lang, year, expected one called "
        "text or query or title or topic_title or question (--map COLUMN=text)",
    ),
    (
        "no grade",
        {"qrels.csv": delimited(without(JUDGED, "rel"))},
        "{folder}/qrels.csv, line 1: no column for the score of a judgement among query_id, docno, expected one called "
        "score or relevance or rel or label or grade or judgement (--map COLUMN=score)",
    ),
    (
        "no name",
        {"queries.csv": ",qid,query\n0,q1,x\n"},
        "{folder}/queries.csv, line 1: column 1 has no name, expected a name for each column",
    ),
    (
        "name twice",
        {"queries.csv": "qid,query,qid\nq1,x,q1\n"},
        "{folder}/queries.csv, line 1: column 'qid' stands twice, expected it once",
    ),
    (
        "width",
        {"documents.csv": 'doc_id,text,lang\nd1,"a\nb",en\nd2,x,y,en\n'},
        "{folder}/documents.csv, line 4: 4 cells, expected 3 as in the header",
    ),
    (
        "open quote",
        {"documents.csv": 'doc_id,text,lang\nd1,x,en\nd2,"x,en\n'},
        "{folder}/documents.csv, line 3: unexpected end of data; expected cells separated by commas",
    ),
    (
        "blank id",
        {"documents.csv": "doc_id,text,lang\nd1,x,en\n ,x,en\n"},
        "{folder}/documents.csv, line 3: _id is blank, expected an id",
    ),
    (
        "language",
        {"documents.csv": "doc_id,text,lang\nd1,x,\nd2,x,\n"},
        "{folder}/documents.csv, line 2: 'd1' has no language, expected a field language, --document-language, "
        "--language-key or --language-pattern (und where it is unknown) (1 more faults)",
    ),
    (
        "list",
        {"queries.csv": "qid,query,lang,excluded_documents\nq1,x,en,d1\n"},
        '{folder}/queries.csv, line 2: excluded_documents "d1", expected a list of document ids',
    ),
    (
        "grade",
        {"qrels.csv": "qid,docid,rel\n1,d1,high\n1,d2,1_0\n"},
        "{folder}/qrels.csv, line 2: grade 'high', expected a finite number (1 more faults)",
    ),
    (
        "judged blank",
        {"qrels.csv": "qid,docid,rel\n1,,1\n"},
        "{folder}/qrels.csv, line 2: corpus-id is blank, expected an id",
    ),
    (
        "no rows",
        {"qrels.csv": "qid,docid,rel\n"},
        "{folder}/qrels.csv: no judgements, expected one for each judged pair",
    ),
    (
        "null id",
        {"documents.csv": None, "documents.parquet": parquet({"_id": ["d1", None], "text": ["x", "y"], "lang": EN})},
        "{folder}/documents.parquet, row 2: _id is missing, expected an id",
    ),
    (
        "fractional ids",
        {"documents.csv": None, "documents.parquet": parquet({"_id": [1.0, 2.0], "text": ["x", "y"]})},
        "{folder}/documents.parquet: column _id is double, expected text or whole numbers",
    ),
    (
        "text is a number",
        {"documents.csv": None, "documents.parquet": parquet({"_id": [1, 2], "text": [1, 2]})},
        "{folder}/documents.parquet: column text is int64, expected text",
    ),
    (
        "grades in words",
        {"qrels.csv": None, "qrels.parquet": parquet({"qid": ["1"], "docid": ["d1"], "label": ["high"]})},
        "{folder}/qrels.parquet: column label is string, expected numbers",
    ),
    (
        "null grade",
        {"qrels.csv": None, "qrels.parquet": parquet({"qid": ["1"], "docid": ["d1"], "rel": NOTHING})},
        "{folder}/qrels.parquet, row 1: grade 'None', expected a finite number",
    ),
    (
        "binary",
        {"queries.csv": None, "queries.parquet": parquet({"qid": ["1"], "query": ["x"], "image": IMAGE})},
        "{folder}/queries.parquet: column image is struct<bytes: binary>, expected text, numbers, lists or objects",
    ),
    (
        "conflict",
        {"qrels.csv": None, "qrels.parquet": parquet({"qid": ["1", "1"], "docid": ["d1", "d1"], "label": [1, 2]})},
        "{folder}/qrels.parquet, row 2: query '1' and document 'd1' have grade 2 and in row 1 1; expected one grade",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, changes, message):
    cache, before = kept
    path = folder(changes)
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="table", **MAPPED)
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (parquet(DOCUMENTS)[:-40], "expected a whole Parquet file"),
        (damaged(DOCUMENTS), "expected a whole Parquet file"),
        (bad_text(), "expected a whole Parquet file"),
        (b"PAR1", "expected a whole Parquet file"),
    ],
    ids=["cut", "damaged", "no UTF-8", "first bytes only"],
)
def test_a_damaged_parquet_file_is_named(folder, kept, content, message):
    cache, before = kept
    path = folder({"documents.csv": None, "documents.parquet": content})
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="table", **MAPPED, document_language="en")
    assert str(error.value).startswith(f"{path}/documents.parquet: ")
    assert str(error.value).endswith(message)
    assert state(cache.root) == before


def test_lenient_drops_faulty_rows_and_lists_them(folder):
    changes = {
        "documents.csv": delimited(DOCUMENTS) + "d4,x\n,y,en,\n",
        "qrels.csv": delimited(JUDGED) + "1,d3,none\n,d1,1\n",
    }
    found = folders.read(folder(changes), options=Options(format="table", lenient=True, **MAPPED))
    assert [(mended.kind, mended.n) for mended in found.faults.mended()] == [
        ("document dropped", 2),
        ("judgement dropped", 2),
    ]
    assert (len(found.documents), len(found.judgements)) == (3, 4)


# Out and in again


@pytest.mark.slow
def test_tables_exported_as_beir_and_imported_again_give_the_same_measures(folder, tmp_path):
    arguments = ("--format", "table", "--map", "lang=language")
    first, second = round_trip(folder(kind="parquet"), tmp_path, *arguments)
    assert first == second
    assert [row["ndcg_at_10"] for row in first] == [pytest.approx(2 / (2 + 1 / log2(3))), 0]
    cache = Cache(tmp_path / "cache")
    (store, one), (_, two) = task_of(cache, "one"), task_of(cache, "two")
    assert grades(store, one) == grades(store, two)
    assert one.checksum == two.checksum


def test_beir_files_are_tables_too(tmp_path):
    files = {"corpus.jsonl": lines(CORPUS), "queries.jsonl": lines(QUERIES), "qrels/test.tsv": "q1\td1\t1\n"}
    path = written(tmp_path / "beir", files)
    table, beir = (folders.read(path, options=Options(format=name)) for name in ("table", "beir"))
    assert (table.documents, table.queries, table.judgements) == (beir.documents, beir.queries, beir.judgements)
