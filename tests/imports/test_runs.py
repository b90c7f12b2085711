"""Run files: what is read, the one sentence that each fault gets, and that a fault leaves the store as it was."""

import contextlib
import csv
import gzip
import hashlib
import io
import json

import cbor2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import runs
from analysis.imports.runs import Depth, Known
from analysis.jobs.import_run import ImportRequest, import_run
from analysis.model import Benchmark, Document, Judgement, Query, Task, silent
from analysis.paths import Cache
from analysis.store import write
from tests.hand_made import put, ranking_of, state, worked_example

DOCUMENTS = tuple(f"d{number}" for number in range(15))  # d10 sorts before d2: ids are compared as text
QUERIES = ("q0", "q1", "q2", "q3")
GOOD = "q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\nq2 Q0 d3 1 0.5 tag\n"


def known(queries=QUERIES, documents=DOCUMENTS, **others):
    settings = {"in_corpus": np.ones(len(documents), bool), "judged": np.ones(len(queries), bool)} | others
    return Known(queries=queries, documents=documents, **settings)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The worked example with one run of it."""
    benchmark = worked_example()
    ranking = ranking_of(benchmark.tasks[0], [["c-en", "f0-en"], []], depth=10)
    return put(Cache(tmp_path_factory.mktemp("store")), benchmark, {("good", "lexical"): ranking})


def refusal(store, path, **options):
    """What an import says, after checking that it left the store as it was to the byte."""
    before = state(store.cache.root)
    request = ImportRequest(path, benchmark="example", system="new", **options)
    with pytest.raises(InputError) as caught:
        import_run(store.cache, request=request, progress=silent)
    assert state(store.cache.root) == before
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def listed(found, documents=DOCUMENTS, queries=QUERIES):
    """Document ids of each query, best first."""
    names = [*documents, *found.unknown_documents]
    lists = {}
    for query, document in zip(found.ranking.query, found.ranking.document, strict=True):
        lists.setdefault(queries[query], []).append(names[document])
    return lists


ROW = "q1 Q0 c-en 1 2.0 t\n"
NUMBER = "expected a finite number"
SIX = "expected 6: query, iteration, document, rank, score, tag"
FOREIGN = "is not in the corpus, expected one of its ids (--allow-unknown-documents keeps it as non-relevant)"
SHAPE = 'expected {"query": {"document": score}}'
LINE_ENDS = "a carriage return inside the line, expected lines to end with \\n"
CUT = "Compressed file ended before the end-of-stream marker was reached"
WHOLE = "expected a whole file, plain, gzip, Zstandard or LZ4"
QUERY_NAMES = "expected one called query_id or q_id or qid among"


def table(**columns):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", ": the file is empty: no rows, expected a run (--lenient stores an empty one)"),
        ("\n  \n\r\n", ": the file is empty: no rows, expected a run (--lenient stores an empty one)"),
        (b"\xef\xbb\xbf", ": the file is empty: no rows, expected a run (--lenient stores an empty one)"),
        (ROW + "q1\n", f", line 2: 1 column, {SIX}"),
        (ROW + "\nq1 Q0\n", f", line 3: 2 columns, {SIX}"),
        ("q1 c-en 1\n", f", line 1: 3 columns, {SIX} (query, document, rank needs --format msmarco)"),
        ("q1 c-en 1 0.5\n", f", line 1: 4 columns, {SIX}"),
        (ROW + "q1 Q0 c-fr 1 2.0\n", ", line 2: 5 columns, expected 6: the tag is missing"),
        ("query Q0 doc rank score tag\n" + ROW, f", line 1: score 'score', {NUMBER}"),
        (ROW.replace("2.0", "nan"), f", line 1: score 'nan', {NUMBER}"),
        (ROW.replace("2.0", "NaN"), f", line 1: score 'NaN', {NUMBER}"),
        (ROW.replace("2.0", "inf"), f", line 1: score 'inf', {NUMBER}"),
        (ROW.replace("2.0", "-Infinity"), f", line 1: score '-Infinity', {NUMBER}"),
        (ROW.replace("2.0", "1e999"), f", line 1: score '1e999', {NUMBER}"),
        (ROW.replace("2.0", "2,0"), f", line 1: score '2,0', {NUMBER}"),
        (ROW.replace("2.0", "2_0"), f", line 1: score '2_0', {NUMBER}"),
        (ROW.replace("2.0", "0x2"), f", line 1: score '0x2', {NUMBER}"),
        (ROW.replace("2.0", "２"), f", line 1: score '２', {NUMBER}"),
        (ROW + "q1 Q0 f0-en 2 x t\nq2\nq2 Q0 f0-en 1 y t\n", f", line 2: score 'x', {NUMBER}; 2 more faults follow"),
        (ROW * 2 + "q1\n", ", line 2: query 'q1' has document 'c-en' again, first in line 1; expected it once"
         "; 1 more fault follows"),
        ("q2" + ROW[2:] + ROW * 3, ", line 3: query 'q1' has document 'c-en' again, first in line 2; expected it once"
         "; 1 more fault follows"),
        (ROW.replace("c-en", "c-EN"), f", line 1: document 'c-EN' {FOREIGN}"),
        (ROW.replace("c-en", "c-en\u00a0x"), f", line 1: document 'c-en\\xa0x' {FOREIGN}"),
        ("q1 Q0 c en 1 2.0 t\n", ", line 1: document 'c', rank 'en', score '1', tag '2.0 t', expected a document id "
         "without a blank"),
        ("Q1 Q0 c-en 1 2.0 t\n01 Q0 c-en 1 2.0 t\n", ": none of its 2 queries is in the task: it has 'Q1', '01', "
         "expected such as 'q1', 'q2'"),
        (ROW.encode() + b"q1 Q0 \xe9 2 1.0 t\n", ", line 2: byte 0xE9, expected UTF-8"),
        (ROW.encode("utf-16"), ", line 1: byte 0xFF, expected UTF-8"),
        (ROW.replace("\n", "\r") * 2, f", line 1: {LINE_ENDS}"),
        (ROW + "q1 Q0 f0-en 2 1.0\rt\n", f", line 2: {LINE_ENDS}"),
        ("# ir_metadata.start\n# tag: x\n" + ROW, ", line 3: 'q1 Q0 c-en 1 2.0 t', expected '# ir_metadata.end' "
         "before the first row"),
        ("# ir_metadata.start\n# tag: x\n", ", line 1: '# ir_metadata.start', expected '# ir_metadata.end' after it"),
        ("# a comment\n" + ROW, f", line 1: 3 columns, {SIX} (query, document, rank needs --format msmarco)"),
        (gzip.compress(ROW.encode() * 99, mtime=0)[:-9], f": {CUT}; {WHOLE}"),
        (pa.compress(ROW.encode() * 99, codec="zstd", asbytes=True)[:-4], f": Truncated compressed stream; {WHOLE}"),
        (b"BZh91AY", ": packed with bzip2, expected a file that is plain, gzip, Zstandard or LZ4"),
        (b"\x04\x22\x4d\x18__", f": Truncated compressed stream; {WHOLE}"),
        ('{"q1": {"c-en": "x"}}', f", entry 1: query 'q1', document 'c-en': score 'x', {NUMBER}"),
        ('{"q1": {"c-en": 1, "c-fr": NaN}}', f", entry 2: query 'q1', document 'c-fr': score 'nan', {NUMBER}"),
        ('{"q1": {"c-en": true}}', f", entry 1: query 'q1', document 'c-en': score 'True', {NUMBER}"),
        ('{"q1": {"c-en": 1, "c-en": 2}}', ", entry 2: query 'q1' has document 'c-en' again, first in entry 1; "
         "expected it once"),
        ('{"q1": {"\\ud800": 1}}', ": id '\\ud800', expected text without half a surrogate"),
        ('{"q1": {"c-en": 1}\n,}', f", line 2: Expecting property name enclosed in double quotes, {SHAPE}"),
        ('{"q1": ["c-en"]}', f", query 'q1': \"['c-en']\", {SHAPE}"),
        ("query_id,doc_id,score\nq1,c-en,1\nq1,c-fr\n", ", line 3: 2 cells, expected 3 as in the header"),
        ('query_id,doc_id,score\nq1,"c-\nen",1\nq1,c-fr,-\n', f", line 2: document 'c-\\nen' {FOREIGN}"
         "; 1 more fault follows"),
        ('query_id,doc_id,score\nq1,"c-en,1\n', ", line 2: unexpected end of data; expected cells separated by commas"),
        (table(q=["q1"], doc_id=["c-en"], score=[1.0]), f": 0 columns for the query, {QUERY_NAMES} q, doc_id, score"),
        (table(query_id=[1.5], doc_id=["c-en"], score=[1.0]), ": column query_id is double, expected text"),
        (table(query_id=["q1", None], doc_id=["c-en"] * 2, score=[1.0, 2]),
         ": column query_id has 1 empty ids, expected none"),
        (table(query_id=["q1"], doc_id=["c-en"], score=["1"]), ": column score is string, expected numbers"),
        (table(query_id=["q1"] * 2, doc_id=["c-en", "c-fr"], score=[1.0, None]),
         f", row 2: query 'q1', document 'c-fr': score 'None', {NUMBER}"),
    ],
)  # fmt: skip
def test_a_fault_is_one_sentence_and_the_store_stays_as_it_was(store, file, content, says):
    assert refusal(store, file(content)) == says


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("q1 c-en 1\nq1 c-fr one\n", {"format": "msmarco"}, ", line 2: rank 'one', expected a whole number from 0"),
        ("q1 c-en 1.5\n", {"format": "msmarco"}, ", line 1: rank '1.5', expected a whole number from 0"),
        ("q1 c-en -1\n", {"format": "msmarco"}, ", line 1: rank '-1', expected a whole number from 0"),
        (ROW, {"format": "msmarco"}, ", line 1: 4 or more columns, expected 3: query, document, rank"),
        ("q1 c-en\n", {"format": "msmarco"}, ", line 1: 2 columns, expected 3: query, document, rank"),
        ("q1,c-en,1\n", {"format": "csv"}, f", line 1: 0 columns for the query, {QUERY_NAMES} q1, c-en, 1"),
        ("PAR1 but no table", {"format": "parquet"}, None),
        ("x Q0 c-en 1 1 t\n", {"lenient": True}, ": none of its 1 queries is in the task: it has 'x', "
         "expected such as 'q1', 'q2'"),
        (b"q1 Q0 \xff 1 1 t\n", {"lenient": True}, ", line 1: byte 0xFF, expected UTF-8"),
        (ROW * 2, {"allow_unknown_documents": True}, ", line 2: query 'q1' has document 'c-en' again, first in line 1; "
         "expected it once"),
    ],
)  # fmt: skip
def test_faults_that_a_flag_does_not_lift(store, file, content, options, says):
    message = refusal(store, file(content), **options)
    assert message == says if says else message.endswith("; expected a Parquet file")


def test_a_missing_file_and_an_impossible_name_leave_the_store_as_it_was(store, tmp_path, file):
    assert refusal(store, tmp_path / "none") == ": No such file or directory; expected a file"
    before = state(store.cache.root)
    for wrong, says in (
        ({"system": "a,b"}, "system 'a,b': expected a name without a comma"),
        ({"task": "other"}, "task 'other': example has main"),
        ({"benchmark": "none"}, "unknown benchmark 'none': stored are example@1"),
        ({"format": "xml"}, "format 'xml': expected one of trec, ranx, mteb, pyterrier, msmarco, csv, jsonl, parquet"),
    ):
        request = ImportRequest(file(ROW), **({"benchmark": "example", "system": "new"} | wrong))
        with pytest.raises(InputError, match=f"^{says}$"):
            import_run(store.cache, request=request, progress=silent)
    assert state(store.cache.root) == before


def test_the_order_is_by_score_then_by_the_larger_id_and_the_rank_is_not_looked_at(file):
    text = "q1 0 d2 1 9 t\nq2 0 d5 7 -1 t\nq1 0 d10 1 10 t\nq1 0 d3 1 1e1 t\nq2 0 d4 8 -.5 t\nq1 0 d1 1 5E-1 t\n"
    found = runs.read(file(text), known=known())
    assert listed(found) == {"q1": ["d3", "d10", "d2", "d1"], "q2": ["d4", "d5"]}
    assert found.report.n_rank_disagrees == 1  # q2; in q1 all ranks are equal and say nothing
    assert found.report.n_ties_against_rank == 0
    assert found.report.depth == Depth(2, 3.0, 4)
    assert found.ranking.depth == 4


def test_a_rank_column_that_orders_ties_another_way_is_counted(file):
    text = "q1 0 d1 1 5 t\nq1 0 d2 2 5 t\nq1 0 d3 3 4 t\nq2 0 d2 1 5 t\nq2 0 d1 2 5 t\n"
    found = runs.read(file(text), known=known())
    assert listed(found) == {"q1": ["d2", "d1", "d3"], "q2": ["d2", "d1"]}
    assert (found.report.n_rank_disagrees, found.report.n_ties_against_rank) == (0, 1)


def test_scores_are_doubles(file):
    near = f"q1 0 d1 1 {1 + 2**-40!r} t\nq1 0 d2 2 1.0 t\n"  # equal in single precision, where d2 would lead
    assert listed(runs.read(file(near), known=known())) == {"q1": ["d1", "d2"]}


def test_ids_are_text_and_white_space_is_ascii(file):
    queries, documents = ("007", "7", "7.0", "#q"), ("d\u00a01", "a#b", "東京", 'say"x', "1e5", "100000")
    text = (
        "\ufeff007 0 d\u00a01 1 1 t\n 7\t\t0 a#b \v1 1 t x y\n7.0 0 東京 1 1 t\r\n"
        '#q 0 say"x 1 1 t\n7 0 1e5 2 0 t\n7 0 100000 3 -1 t'
    )
    found = runs.read(file(text), known=known(queries, documents))
    assert listed(found, documents, queries) == {
        "007": ["d\u00a01"], "7": ["a#b", "1e5", "100000"], "7.0": ["東京"], "#q": ['say"x']
    }  # fmt: skip
    assert found.report.tags == ("t", "t x y")


def test_an_ir_metadata_header_is_skipped_and_lines_keep_their_numbers(file):
    header = "# ir_metadata.start\n# tag: t\n# ir_metadata.end\n"
    assert listed(runs.read(file(header + GOOD), known=known())) == {"q1": ["d1", "d2"], "q2": ["d3"]}
    with pytest.raises(InputError, match="line 7: 1 column, expected 6"):
        runs.read(file(header + GOOD + "q\n"), known=known())


def test_lenient_keeps_what_is_sound_and_lists_the_rest(file):
    text = (
        GOOD + "q1 Q0 d1 4 3.0 tag\nq1 Q0 d1 5 2.5 tag\nq3 Q0 d4 1 nan tag\nq3 Q0\nq2 Q0 d6 2 0.25\n"
        "q2 Q0 x1 3 0.7 tag\nq2 Q0 x2 3 0.1 tag\nq9 Q0 x3 1 1 tag\n"
    )
    found = runs.read(file(text), known=known(), lenient=True)
    assert listed(found) == {"q1": ["d1", "d2"], "q2": ["x1", "d3", "d6", "x2"]}
    assert found.ranking.score.tolist() == [3.0, 1.0, 0.7, 0.5, 0.25, 0.1]
    assert found.unknown_documents == ("x1", "x2")
    report = found.report
    assert (report.n_rows, report.n_ranked, report.n_unknown_documents) == (11, 6, 2)
    assert report.dropped == {"columns": 1, "score": 1, "duplicate": 2}
    assert report.mended == {"tag": 1, "unknown document": 2}
    assert [(fault.number, fault.kind) for fault in report.faults] == [
        (4, "duplicate"), (5, "duplicate"), (6, "score"), (7, "columns"), (8, "tag"), (9, "unknown document"),
        (10, "unknown document"),
    ]  # fmt: skip
    assert (report.n_missing, report.missing) == (2, ("q0", "q3"))
    assert (report.n_unknown_queries, report.unknown_queries) == (1, ("q9",))


def test_unknown_documents_may_be_allowed_and_are_no_fault_then(file):
    text = GOOD + "q1 Q0 x 3 9 tag\nq2 Q0 d14 3 9 tag\n"
    outside = np.arange(15) < 14  # d14 is judged, and not in the corpus
    found = runs.read(file(text), known=known(in_corpus=outside), allow_unknown_documents=True)
    assert listed(found) == {"q1": ["x", "d1", "d2"], "q2": ["d14", "d3"]}
    assert (found.report.n_unknown_documents, found.report.mended, found.report.faults) == (2, {}, ())
    with pytest.raises(InputError, match=r"line 4: document 'x' .* 1 more fault follows"):
        runs.read(file(text), known=known(in_corpus=outside))


def test_excluded_documents_leave_before_ranks_and_nothing_counts_beyond_rank_1000(file):
    documents = tuple(f"d{number:04d}" for number in range(1100))
    text = "".join(f"q1 Q0 {name} 0 {-place} t\n" for place, name in enumerate(documents))
    excluded = {1: np.array([0, 5], dtype=np.int32), 2: np.array([1], dtype=np.int32)}
    found = runs.read(file(text), known=known(documents=documents, excluded=excluded))
    kept = [name for place, name in enumerate(documents) if place not in {0, 5}][:1000]
    assert listed(found, documents) == {"q1": kept}
    assert (found.report.n_excluded, found.report.n_too_deep, found.ranking.depth) == (2, 98, 1000)


def test_unknown_ids_near_a_known_one_are_named_and_never_taken_for_it(file):
    text = "7 0 e\u0301 1 1 t\n7 0 D1 2 1 t\n07 0 d1 1 1 t\n8 0 d1 1 1 t\n"
    found = runs.read(file(text), known=known(("7", "9"), ("é", "d1")), lenient=True)
    assert (found.report.n_near, found.report.near) == (3, (("07", "7"), ("e\u0301", "é"), ("D1", "d1")))
    assert found.unknown_documents == ("e\u0301", "D1")
    assert len(found.ranking.query) == 2


def test_a_judged_query_is_missed_and_an_unjudged_one_is_counted(file):
    found = runs.read(file(GOOD), known=known(judged=np.array([True, True, False, False])))
    assert (found.report.n_missing, found.report.missing, found.report.n_unjudged) == (1, ("q0",), 1)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (gzip.compress(GOOD.encode(), mtime=0), {}),
        (gzip.compress(gzip.compress(GOOD.encode(), mtime=0), mtime=0), {}),
        (pa.compress(GOOD.encode(), codec="zstd", asbytes=True), {}),
        (GOOD.replace("\n", "\r\n").rstrip(), {}),
        (GOOD, {"format": "pyterrier"}),
        (GOOD, {"format": "ranx"}),
        ('\n{"q1": {"d2": 1, "d1": 2.0}, "q2": {"d3": 0.5}, "q3": {}}', {}),
        ('{"q1": {"d2": 1, "d1": 2.0}, "q2": {"d3": 0.5}}', {"format": "ranx"}),
        ("query_id,doc_id,score\nq1,d1,2\nq2,d3,.5\nq1,d2,1\n", {}),
        ("qid,rank,docno,score\nq1,0,d1,2\n\nq2,0,d3,.5\nq1,9,d2,1\n", {"format": "csv"}),
        ("q1\td1\t1\nq2\td3\t1\nq1\td2\t2\n", {"format": "msmarco"}),
        (table(q_id=["q2", "q1", "q1"], doc_id=["d3", "d1", "d2"], score=pa.array([5, 4, 3], pa.float32())), {}),
        (
            table(
                query_id=pa.array(["q2", "q1", "q1"]).dictionary_encode(),
                doc_id=pa.array(["d3", "d1", "d2"], pa.large_string()),
                score=[5, 4, 3],
            ),
            {"format": "parquet"},
        ),
    ],
)
def test_every_format_holds_the_same_run(file, content, options):
    found = runs.read(file(content, "run.gz"), known=known(), **options)  # the name says nothing
    assert listed(found) == {"q1": ["d1", "d2"], "q2": ["d3"]}


def test_packing_changes_neither_content_nor_checksum_and_is_named(file):
    plain = runs.read(file(GOOD), known=known()).report
    packed = runs.read(file(gzip.compress(GOOD.encode(), mtime=0)), known=known()).report
    assert plain.sha256 == packed.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert (plain.packed, packed.packed) == ((), ("gzip",))


def test_a_file_of_many_blocks_reads_as_one(file, monkeypatch):
    rows = [f"q{n % 4} Q0 d{n // 4} 1 {n * 37 % 23} t\n" for n in range(60)]
    path = file("\n".join(["".join(rows)]))
    whole = runs.read(path, known=known())
    monkeypatch.setattr("analysis.imports.lines.Source.blocks.__defaults__", (50,))
    pieces = runs.read(path, known=known())
    np.testing.assert_array_equal(whole.ranking.document, pieces.ranking.document)
    np.testing.assert_array_equal(whole.ranking.score, pieces.ranking.score)
    with pytest.raises(InputError, match="line 61: 1 column"):
        runs.read(file("".join(rows) + "é\n"), known=known())
    with pytest.raises(InputError, match=r"line 2: longer than 50 bytes, expected shorter lines"):
        runs.read(file(rows[0] + "q" * 200), known=known())


def random_case(seed):
    """Judgements and a run with many ties, missing queries and grades below 0; scores are exact in single precision."""
    draw = np.random.default_rng(seed)

    def some(values):
        return dict(zip(draw.permutation(DOCUMENTS)[: len(values)].tolist(), values.tolist(), strict=True))

    qrels = {query: some(draw.integers(-1, 4, draw.integers(1, 13))) for query in QUERIES}
    qrels = {query: grades for query, grades in qrels.items() if max(grades.values()) >= 0}
    asked = draw.permutation(QUERIES)[: draw.integers(1, 5)].tolist()
    return qrels, {query: some(draw.integers(-4, 5, draw.integers(1, 16)) / 8) for query in asked}


def written(run, seed):
    """The run as the bytes of one of eight formats."""
    draw = np.random.default_rng(seed)
    rows = [(query, name, score) for query, scores in run.items() for name, score in scores.items()]
    rows = [rows[place] for place in draw.permutation(len(rows))]
    trec = "".join(f"{query} Q0\t{name} {draw.integers(9)} {score!r} t\n" for query, name, score in rows).encode()
    query, name, score = map(list, zip(*rows, strict=True))
    return [
        trec,
        gzip.compress(trec, mtime=0),
        pa.compress(trec, codec="zstd", asbytes=True),
        json.dumps(run).encode(),
        "".join(["query_id,doc_id,score\n", *(f"{a},{b},{c!r}\n" for a, b, c in rows)]).encode(),
        table(query_id=query, doc_id=name, score=score),
        pa.compress(pa.compress(cbor2.dumps(run), codec="lz4", asbytes=True), codec="lz4", asbytes=True),
        "".join(json.dumps({"qid": a, "docno": b, "score": c}) + "\n" for a, b, c in rows).encode(),
    ][seed % 8]


TREC_EVAL = {
    "ndcg_at_10": "ndcg_cut_10",
    "recall_at_1": "recall_1",
    "recall_at_5": "recall_5",
    "recall_at_10": "recall_10",
    "rr": "recip_rank",
    "ap": "map",
}


@pytest.fixture(scope="module")
def random_runs(tmp_path_factory):
    """The values of each query that the store gives of 100 random files: 20 tasks with five runs each."""
    tasks = []
    for seed in range(0, 100, 5):
        qrels, _ = random_case(seed)
        pairs = [Judgement(query, name, grade) for query, grades in qrels.items() for name, grade in grades.items()]
        documents = tuple(Document(name, "en", name, family=name) for name in DOCUMENTS)
        queries = tuple(Query(name, "en", name, family=name) for name in QUERIES)
        tasks.append(Task(f"t{seed}", f"t{seed}", "?", documents, queries, tuple(pairs), default=not seed))
    cache, folder = Cache(tmp_path_factory.mktemp("random")), tmp_path_factory.mktemp("files")
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("random", "1", "Random", False, "", "", (), {}, tuple(tasks)))
    for seed in range(100):
        path = folder / f"run{seed}"
        path.write_bytes(written(random_case(seed)[1], seed))
        request = ImportRequest(path, "random", f"s{seed % 5}", task=f"t{seed - seed % 5}")
        import_run(cache, request=request, progress=silent)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["per-query", "--benchmark", "random", "--format", "csv", "--cache", str(cache.root)]) == 0
    return {
        (int(row["task"][1:]) + int(row["system"][1:]), row["query_id"]): row
        for row in csv.DictReader(io.StringIO(printed.getvalue()))
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_stored_values_of_a_random_file_equal_pytrec_eval(random_runs, seed):
    qrels, _ = random_case(seed - seed % 5)
    judge = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recip_rank", "map", "recall.1,5,10"})
    theirs = judge.evaluate(random_case(seed)[1])
    for query in QUERIES:
        row = random_runs[seed, query]
        for ours, name in TREC_EVAL.items():
            if max(qrels.get(query, {"": 0}).values()) < 1:  # nothing to find
                assert row[ours] == "", (ours, query)
            else:  # pytrec_eval omits queries that the run lacks: they are 0
                value = theirs.get(query, {}).get(name, 0.0)
                assert float(row[ours]) == pytest.approx(value, abs=1e-12), (ours, query)


@settings(max_examples=200)
@given(content=st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(
    ["q1", "Q0", "d1", "d2", "1", "-0.0", "nan", " ", "\n", "\r\n", "\t", "{", "}", ":", '"', ",", "\ufeff", "score"]
), max_size=40).map(lambda parts: " ".join(parts).encode())))  # fmt: skip
def test_whatever_is_in_a_file_it_is_read_or_refused_in_one_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "run"
    path.write_bytes(content)
    for lenient in (False, True):
        try:
            found = runs.read(path, known=known(), lenient=lenient)
        except InputError as error:
            says = str(error)
        else:
            says = str(path)
            assert np.isfinite(found.ranking.score).all()
        assert says.startswith(str(path))


@settings(max_examples=50)
@given(
    rows=st.dictionaries(
        st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), st.integers(-3, 3), min_size=1
    ),
    random=st.randoms(use_true_random=False),
)
def test_the_order_of_the_lines_does_not_matter(tmp_path_factory, rows, random):
    path = tmp_path_factory.mktemp("order") / "run"
    lines = [f"{query} Q0 {name} 1 {score} t\n" for (query, name), score in rows.items()]
    path.write_text("".join(lines))
    first = listed(runs.read(path, known=known()))
    random.shuffle(lines)
    path.write_text("".join(lines))
    assert listed(runs.read(path, known=known())) == first
    for query, names in first.items():
        assert names == sorted(names, key=lambda name, query=query: (rows[query, name], name), reverse=True)
