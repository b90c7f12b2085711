"""Runs as objects and tables: JSON, CBOR, mteb's predictions, CSV, JSON Lines and Parquet, and the fast way of TREC."""

import gzip
import json

import cbor2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.imports import run_formats, run_lines, run_objects, runs
from analysis.imports.lines import Block, opened
from analysis.imports.run_rows import Choices, RowFaults
from analysis.imports.runs import Known
from analysis.jobs.import_run import ImportRequest, import_run
from analysis.model import silent
from analysis.paths import Cache
from tests.hand_made import put, ranking_of, state, worked_example

RUN = {"q1": {"c-en": 2.0, "c-fr": 1.0}, "q2": {"f0-en": 0.5}}
META = {"mteb_model_meta": {"model_name": "org/m", "revision": "r1"}}
SHAPE = 'expected {"query": {"document": score}}'
MTEB_SHAPE = 'expected {"subset": {"split": {"query": {"document": score}}}}, or the same without subsets'
NUMBER = "expected a finite number"
LINE = '{"qid": "q1", "docno": "c-en", "score": 2}\n'
NAMES = {"query": "query_id or q_id or qid", "document": "doc_id or document_id or docno or docid"}


def lz4(data):
    return pa.compress(data, codec="lz4", asbytes=True)


def as_ranx(run):
    """As ranx's ``save`` writes it: LZ4 within LZ4."""
    return lz4(lz4(cbor2.dumps(run)))


def table(**columns):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


def known(queries=("q1", "q2"), documents=("c-en", "c-fr", "f0-en")):
    return Known(queries, documents, np.ones(len(documents), bool), np.ones(len(queries), bool))


def listed(path, *, against=None, **options):
    """Query -> documents, best first, with their scores."""
    against = against or known()
    found = runs.read(path, known=against, **options)
    lists = {}
    ranking = found.ranking
    for query, document, score in zip(ranking.query, ranking.document, ranking.score, strict=True):
        lists.setdefault(against.queries[query], []).append((against.documents[document], score))
    return lists


EXPECTED = {query: list(documents.items()) for query, documents in RUN.items()}
ROWS = [(query, name, score) for query, documents in RUN.items() for name, score in documents.items()]
QUERY, DOCUMENT, SCORE = map(list, zip(*ROWS, strict=True))


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (as_ranx(RUN), {}),
        (as_ranx(RUN), {"format": "ranx"}),
        (lz4(cbor2.dumps(RUN)), {}),
        (cbor2.dumps(RUN), {"format": "ranx"}),
        (lz4(json.dumps(RUN).encode()), {}),
        (lz4("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in ROWS).encode()), {}),
        (gzip.compress(table(query_id=QUERY, doc_id=DOCUMENT, score=SCORE), mtime=0), {}),
        (json.dumps({**META, "en": {"test": RUN}}), {}),
        (json.dumps({"en": {"test": RUN}, **META}, indent=1), {"format": "mteb"}),
        (json.dumps({"test": RUN}), {"format": "mteb"}),
        (json.dumps({**META, "test": RUN}), {}),
        ("".join(json.dumps({"qid": q, "score": s, "docno": d, "rank": [0]}) + "\n" for q, d, s in ROWS), {}),
        (
            "\r\n".join(json.dumps({"q_id": q, "doc_id": d, "score": s}) + " \n" for q, d, s in ROWS),
            {"format": "jsonl"},
        ),
        (
            "".join(json.dumps({"key": q, "doc": d, "s": s, "score": 0}) + "\n" for q, d, s in ROWS),
            {"format": "jsonl", "choices": Choices(columns={"key": "query_id", "doc": "doc_id", "s": "score"})},
        ),
        (
            "qid,key,docno,score\n" + "".join(f"x,{q},{d},{s}\n" for q, d, s in ROWS),
            {"choices": Choices(columns={"key": "query_id"})},
        ),
        (table(a=QUERY, docid=DOCUMENT, score=SCORE), {"choices": Choices(columns={"a": "query_id"})}),
    ],
)
def test_every_format_holds_the_same_run(file, content, options):
    assert listed(file(content), **options) == EXPECTED


def test_numbers_are_ids_as_they_are_written(file):
    lines = '{"qid": 7, "docno": 12345678901234567890, "score": 1}\n{"qid": "7", "docno": "7.0", "score": 2e0}\n'
    found = listed(file(lines), against=known(("7",), ("12345678901234567890", "7.0")))
    assert found == {"7": [("7.0", 2.0), ("12345678901234567890", 1.0)]}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    benchmark = worked_example()
    ranking = ranking_of(benchmark.tasks[0], [["c-en", "f0-en"], []], depth=10)
    return put(Cache(tmp_path_factory.mktemp("store")), benchmark, {("good", "lexical"): ranking})


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        (as_ranx({"q1": {"c-en": "x"}}), {}, f", entry 1: query 'q1', document 'c-en': score 'x', {NUMBER}"),
        (as_ranx({"q1": {"c-en": float("nan")}}), {}, f", entry 1: query 'q1', document 'c-en': score 'nan', {NUMBER}"),
        (as_ranx({"q1": {"c-en": True}}), {}, f", entry 1: query 'q1', document 'c-en': score 'True', {NUMBER}"),
        (as_ranx({"q1": {"c-en": 2**70}}), {}, f", entry 1: query 'q1', document 'c-en': score '{2**70}', {NUMBER}"),
        (as_ranx({"q1": 1.0}), {}, f", query 'q1': 'None', {SHAPE}"),
        (as_ranx({1: {"c-en": 1.0}}), {}, f": '1.0' as an id, {SHAPE}"),
        (as_ranx({"q1": {2: 1.0}}), {}, f": '2.0' as an id, {SHAPE}"),
        (as_ranx({}), {}, ": the file is empty: no rows, expected a run (--lenient stores an empty one)"),
        (lz4(cbor2.dumps(RUN)[:-3]), {}, f": premature end of stream (expected to read at least 8 bytes, got 5 instead)"
         f", {SHAPE}"),
        (lz4(cbor2.dumps(RUN) + b"x"), {}, f": bytes after the map, {SHAPE}"),
        (lz4(b"\xbf\x62q1\xa0\xff"), {}, f": a map without a length, {SHAPE}"),
        (as_ranx(RUN)[:-6], {}, ": Truncated compressed stream; expected a whole file, plain, gzip, Zstandard or LZ4"),
        ('{"q1": {"c-en": 1}} x', {}, f", line 1: Extra data, {SHAPE}"),
        ('\n\n{"q1": {"c-en": 1}', {}, f", line 3: Expecting ',' delimiter, {SHAPE}"),
        ('{"q1"', {}, f", line 1: Expecting ':' delimiter, {SHAPE}"),
        ('{"q1": {"c-en": 1, "c-fr', {}, f", line 1: Unterminated string starting at, {SHAPE}"),
        ('{"q1": {"c-en": ' + "[" * 100_000, {}, f": nested too deep, {SHAPE}"),
        (json.dumps({**META, "en": {"test": RUN}, "es": {"test": RUN}}), {},
         ": it holds en / test, es / test; expected --subset with one of them"),
        (json.dumps({**META, "en": {"test": RUN, "dev": RUN}}), {},
         ": it holds en / test, en / dev; expected --split with one of them"),
        (json.dumps({"test": RUN, "dev": RUN}), {"format": "mteb"},
         ": it holds no subset / test, no subset / dev; expected --split with one of them"),
        (json.dumps({**META, "en": {"test": RUN}}), {"subset": "fr"},
         ": it holds en / test; expected --subset and --split to name one of them"),
        ('{"mteb_model_meta": {}, "en": {"test": {"q1": {"c-en": NaN}}}}', {},
         f", entry 1: query 'q1', document 'c-en': score 'nan', {NUMBER}"),
        ('{"en": {"test": {"q1": {"c-en": "1"}}}}', {"format": "mteb"},
         f", entry 1: query 'q1', document 'c-en': score '1', {NUMBER}"),
        ('{"en": {"test": {"q1": 1}}}', {"format": "mteb"}, ": none of its 1 queries is in the task: it has 'test', "
         "expected such as 'q1', 'q2'"),
        ('{"en": {"test": 1}}', {"format": "mteb"}, f", query 'test': '1.0', {MTEB_SHAPE}"),
        ('{"en": 1}', {"format": "mteb"}, f", line 1: Expecting an object, {MTEB_SHAPE}"),
        ("[]", {"format": "mteb"}, f", line 1: Expecting an object, {MTEB_SHAPE}"),
        (json.dumps(RUN), {"subset": "en"}, ": read as json; expected an mteb file for --subset and --split"),
        (json.dumps(RUN), {"columns": {"a": "score"}}, ": read as json; expected csv, jsonl, parquet for --map"),
        (LINE + "x\n", {}, ", line 2: Expecting value, expected one JSON object"),
        (LINE + '\n["q1"]\n', {}, ", line 3: \"['q1']\", expected one JSON object"),
        (LINE + '{"qid": "q1", "docno": "c-fr"}\n', {}, ", line 2: 0 columns for the score, expected one called score "
         "among qid, docno"),
        (LINE.replace("}", ', "doc_id": "c-fr"}'), {}, f", line 1: 2 columns for the document, expected one called "
         f"{NAMES['document']} among qid, docno, score, doc_id"),
        (LINE.replace('"q1"', "1.5"), {}, ", line 1: query '1.5', expected text"),
        (LINE.replace('"c-en"', "null"), {}, ", line 1: document 'None', expected text"),
        (LINE.replace("2}", '"2"}'), {}, f", line 1: query 'q1', document 'c-en': score '2', {NUMBER}"),
        (LINE.replace("2}", "NaN}"), {}, f", line 1: query 'q1', document 'c-en': score 'nan', {NUMBER}"),
        (LINE.replace("2}", "1" * 400 + "}"), {},
         f", line 1: query 'q1', document 'c-en': score '{'1' * 40}', {NUMBER}"),
        (LINE + LINE, {}, ", line 2: query 'q1' has document 'c-en' again, first in line 1; expected it once"),
        (LINE + "[" * 100_000 + "\n", {}, ", line 2: nested too deep, expected one JSON object"),
        ("qid,docno,score\nq1,c-en,1\n", {"columns": {"key": "query_id"}},
         ", line 1: 0 columns for the query, expected one called key among qid, docno, score"),
        (gzip.compress(b"PAR1" + bytes(40), mtime=0), {}, None),
    ],
)  # fmt: skip
def test_a_fault_is_one_sentence_and_the_store_stays_as_it_was(store, file, content, options, says):
    path = file(content)
    before = state(store.cache.root)
    with pytest.raises(InputError) as caught:
        import_run(store.cache, request=ImportRequest(path, "example", "new", **options), progress=silent)
    assert state(store.cache.root) == before
    message = str(caught.value)
    assert message == f"{path}{says}" if says else message.endswith("; expected a Parquet file")


def test_a_column_is_mapped_to_a_field_of_a_run(file):
    with pytest.raises(InputError, match=r"^--map a=text: expected a field among query_id, doc_id, score$"):
        listed(file("qid,docno,score\n"), choices=Choices(columns={"a": "text"}))


TWO = {**META, "en": {"test": {"1": {"a": 2, "b": 1}, "2": {"a": 1}}}, "es": {"test": {"1": {"b": 3, "a": 4}}}}


def test_one_subset_is_read_by_raw_ids_else_by_its_prefix(file):
    path = file(json.dumps(TWO))
    raw, prefixed = known(("1", "2"), ("a", "b")), known(("en:1", "es:1", "2"), ("a", "en:b", "es:b"))
    assert listed(path, against=raw, choices=Choices(subset="es")) == {"1": [("a", 4), ("b", 3)]}
    assert listed(path, against=prefixed, choices=Choices(subset="es", split="test")) == {
        "es:1": [("a", 4), ("es:b", 3)]
    }
    found = listed(path, against=prefixed)  # no query of the task is in two subsets: all of them are one run
    assert found == {"en:1": [("a", 2), ("en:b", 1)], "2": [("a", 1)], "es:1": [("a", 4), ("es:b", 3)]}
    with pytest.raises(InputError, match="expected --subset"):
        listed(path, against=raw)
    with pytest.raises(InputError, match="expected --subset"):
        listed(path, against=known(("en:1", "2"), ("a", "b")))  # nothing of es is in the task


def test_another_choice_is_another_run_and_the_same_is_kept(store, file, tmp_path):
    import shutil

    cache = Cache(tmp_path / "copy")
    shutil.copytree(store.cache.root, cache.root)
    path = file(json.dumps({**META, "en": {"a": RUN, "b": {"q1": {"c-fr": 1.0}}}}))

    def outcome(split):
        request = ImportRequest(path, "example", "new", split=split)
        return import_run(cache, request=request, progress=silent).outcome

    assert [outcome(split) for split in ("a", "a", "b")] == ["stored", "kept", "replaced"]


@pytest.mark.parametrize("form", ["json", "mteb", "jsonl", "csv"])
def test_a_file_in_many_pieces_reads_as_one(file, form, monkeypatch):
    queries, documents = tuple(f"q{n}é" for n in range(7)), tuple(f"d{n}東" for n in range(5))
    run = {q: {d: i * 1.25e-1 + 10 * j for j, d in enumerate(documents)} for i, q in enumerate(queries)}
    rows = [(q, d, s) for q, scores in run.items() for d, s in scores.items()]
    content = {
        "json": json.dumps(run, ensure_ascii=False),
        "mteb": json.dumps({**META, "s": {"t": run}}, indent=2),
        "jsonl": "".join(json.dumps({"qid": q, "docid": d, "score": s}) + "\n" for q, d, s in rows),
        "csv": "qid,docid,score\n" + "".join(f'{q},"{d}",{s}\n' for q, d, s in rows),
    }[form]
    against = known(queries, documents)
    whole = listed(file(content), against=against)
    for name in ("texts", "blocks"):
        monkeypatch.setattr(f"analysis.imports.lines.Source.{name}.__defaults__", (70,))
    assert listed(file(content), against=against) == whole
    assert sum(map(len, whole.values())) == 35


@settings(max_examples=100, deadline=None)
@given(
    run=st.dictionaries(
        st.text(max_size=4), st.dictionaries(st.text(max_size=4), st.floats(allow_nan=False)), min_size=1
    ),
    size=st.integers(1, 9),
    indent=st.sampled_from([None, 1]),
)
def test_json_in_pieces_is_what_json_loads_says(tmp_path_factory, run, size, indent):
    path = tmp_path_factory.mktemp("pieces") / "run"
    path.write_text(json.dumps(run, indent=indent), encoding="utf-8")
    with opened(path) as source:
        pieces = source.texts(size)
        source.texts = lambda: pieces
        reader = run_objects._Json(source, SHAPE)
        found = [(query, list(reader.value())) for query in reader.members()]
        reader.end()
    assert found == [(query, list(documents.items())) for query, documents in run.items()]


def test_a_long_value_of_cbor_is_refused_before_it_is_held(file, monkeypatch):
    monkeypatch.setattr(run_objects, "LONGEST", 1 << 17)
    content = lz4(lz4(cbor2.dumps({"q1": {"d" * (1 << 20): 1.0}})))
    with pytest.raises(InputError, match=r"a value of more than 131,072 bytes"):
        listed(file(content))


TOKENS = ["q1", "d1", "#x", '"a', "1", "2.5", "-1e3", "nan", "inf", "x", "é", "\x1c", "\0"]
BETWEEN = [" ", " ", " ", " ", " ", " ", "\t", "  ", "\v"]
lines = st.lists(
    st.tuples(
        st.lists(st.sampled_from(TOKENS), min_size=5, max_size=7),
        st.lists(st.sampled_from(BETWEEN), min_size=7, max_size=7),
        st.sampled_from(["\n", "\n", "\r\n", " \n"]),
    ).map(lambda parts: "".join(a + b for a, b in zip(parts[0], parts[1], strict=False)).strip(" \t\v") + parts[2]),
    min_size=1,
    max_size=4,
)
sound = st.tuples(*(st.sampled_from(TOKENS[:7]),) * 3, st.sampled_from(["0", "7", "1.5", "nan", "-inf"]),
                  st.floats(allow_nan=False, allow_infinity=False).map(repr), st.sampled_from(["t", "u"]))  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    text=st.one_of(
        lines.map("".join),
        st.tuples(
            st.lists(sound, min_size=1, max_size=5), st.sampled_from([" ", "\t"]), st.sampled_from(["\n", "\r\n"])
        ).map(lambda made: "".join(made[1].join(row) + made[2] for row in made[0])),
    )
)  # fmt: skip
def test_the_fast_way_gives_the_rows_of_the_careful_one(tmp_path_factory, text):
    data = text.encode()
    made = run_lines._table(data)
    assume(made is not None)
    path = tmp_path_factory.getbasetemp() / "empty"
    path.touch()
    block, faults = Block(data, 5), RowFaults()
    with opened(path) as source:
        careful = run_lines._trec_rows(run_lines._split(source, block, 6), faults)
    fast = run_lines._table_rows(block, made)
    assert not faults.counts
    assert fast.query.to_pylist() == careful.query.to_pylist()
    assert fast.document.to_pylist() == careful.document.to_pylist()
    for name in ("score", "rank", "number"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(careful, name))
    assert sorted(fast.tags) == sorted(careful.tags)


def test_sound_lines_go_the_fast_way():
    assert run_lines._table(b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1e-3 t") is not None
    assert run_lines._table(b"q1\t0\td1\t1\t2\tt\r\n") is not None


def test_packed_parquet_takes_no_more_room_than_is_bounded(file, monkeypatch):
    monkeypatch.setattr("analysis.imports.lines.UNPACKED", 100)
    content = gzip.compress(table(query_id=QUERY, doc_id=DOCUMENT, score=SCORE), mtime=0)
    with pytest.raises(InputError, match=r": unpacks to more than 100 bytes, expected a plain file$"):
        listed(file(content))


def test_the_older_shape_of_mteb_is_told_by_its_three_levels(store, tmp_path):
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"test": RUN}))
    with opened(path) as source:
        assert run_formats.format_of(source, None) == "mteb"
    path.write_text(json.dumps(RUN))
    with opened(path) as source:
        assert run_formats.format_of(source, None) == "json"
