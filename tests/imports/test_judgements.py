"""Judgements in objects and tables, beside those of BEIR and TREC in their own tests."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports import judgements
from analysis.imports.faults import Faults
from analysis.imports.parts import Options
from analysis.imports.report import Listed, report, table
from tests.hand_made import state
from tests.imports.imported import GOOD, QUERIES, grades, lines, round_trip, stored, task_of, written

OBJECT = {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 1, "d3": 0}}
ROWS = [(query, document, grade) for query, documents in OBJECT.items() for document, grade in documents.items()]


def ranx_table():
    query, document, score = zip(*ROWS, strict=True)
    target = pa.BufferOutputStream()
    pq.write_table(pa.table({"q_id": query, "doc_id": document, "score": score}), target)
    return target.getvalue().to_pybytes()


@pytest.fixture
def folder(tmp_path):
    """The common folder with other judgements."""

    def made(name, content, *, changes=None):
        return written(tmp_path / "mine", {**GOOD, "qrels/test.tsv": None, name: content, **(changes or {})})

    return made


def read(path, content, name="qrels.json"):
    path = written(path, {name: content}) / name
    return judgements.read(path, faults=Faults(lenient=False), renamed={})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("qrels/test.json", json.dumps(OBJECT)),
        ("qrels.json", json.dumps(OBJECT, indent=2).replace(": 1", ": 1.0")),
        ("qrels.json.gz", gzip.compress(b"\xef\xbb\xbf \n" + json.dumps(OBJECT).encode(), mtime=0)),
        ("qrels/test.jsonl", lines({"query_id": q, "doc_id": d, "relevance": g} for q, d, g in ROWS)),
        ("qrels/test.parquet", ranx_table()),
        ("qrels.csv", "docid,rel,qid\n" + "".join(f'"{d}",{g},{q}\n' for q, d, g in ROWS)),
        ("qrels/test.trec", "".join(f"{q} {n % 3}.5 {d} {g}\r\n" for n, (q, d, g) in enumerate(ROWS))),
    ],
    ids=["object", "indented", "packed", "lines", "ranx table", "csv", "any iteration"],
)
def test_every_file_of_judgements_is_the_same(folder, cache, name, content):
    stored(cache, folder(name, content), format="beir")
    assert grades(*task_of(cache)) == {(query, document): grade for query, document, grade in ROWS}


def test_a_query_with_an_empty_object_is_judged_without_a_relevant_document(folder):
    content = json.dumps({"q2": {}, "q1": {"d1": 1}, "q9": {}})
    found = folders.read(folder("qrels.json", content), options=Options(query_language="en"))
    assert found.judgements == (("q1", "d1", 1.0),)
    assert found.without_text == ("q9",)
    doubts = report(found).doubts
    assert doubts.queries_without_relevant == Listed(2, ("q2", "q9"))
    assert doubts.queries_without_judgements == Listed(0, ())
    assert doubts.judgements_without_query == Listed(1, ("q9",))
    words = "judged queries without a relevant document: left out of every mean"
    assert (words, "2", "'q2'; 'q9'") in table(report(found))


def test_markup_and_formulas_in_ids_are_kept_as_they_are(tmp_path):
    names = ["<b onclick=x>", "=2+3", '@SUM("a")', "a b\tc\nd", "007"]
    found = read(tmp_path, json.dumps({name: {name: 1} for name in names}))
    assert list(found.grades) == [(name, name) for name in names]


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
            st.integers(-(10**9), 10**9) | st.floats(-1e300, 1e300),
            max_size=3,
        ),
        max_size=4,
    ).filter(lambda found: any(found.values())),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_an_object_reads_as_python_wrote_it(tmp_path_factory, found, indent, escaped):
    path = tmp_path_factory.mktemp("any")
    made = read(path, json.dumps(found, indent=indent, ensure_ascii=escaped))
    expected = {(q, d): float(grade) for q, documents in found.items() for d, grade in documents.items()}
    assert {pair: row.grade for pair, row in made.grades.items()} == expected
    assert list(made.first) == list(found)


def test_of_two_grades_for_a_pair_a_lenient_import_keeps_the_higher(tmp_path):
    path = written(tmp_path, {"q.json": '{"q1": {"d1": 1, "d2": 0}, "q1": {"d1": 3, "d2": true, "d3": 1}}'}) / "q.json"
    faults = Faults(lenient=True)
    found = judgements.read(path, faults=faults, renamed={})
    assert {pair: row.grade for pair, row in found.grades.items()} == {
        ("q1", "d1"): 3,
        ("q1", "d2"): 0,
        ("q1", "d3"): 1,
    }
    assert [mended.kind for mended in faults.mended()] == [
        "conflicting grade: the higher kept",
        "judgement dropped",
    ]


FINITE = "expected a finite number"
FAULTS = [
    ("cut", '{"q1": {"d1": 1}, "q2": {"', "line 1: Unterminated string starting at, " + judgements.SHAPE),
    ("cut later", '{"q1": {"d1": 1},\n"q2": {"d1"\n', "line 3: Expecting ':' delimiter, " + judgements.SHAPE),
    ("a grade alone", '{"q1": {"d1": 1},\n"q2": 1}', "query 'q2': '1', " + judgements.SHAPE),
    ("a list", '{"q1": {"d1": 1},\n"q2": ["d1"]}', "query 'q2': \"['d1']\", " + judgements.SHAPE),
    (
        "a word",
        '{"q1": {"d1": 1, "d2": "high"}}',
        "entry 2: query 'q1', document 'd2': grade 'high', expected a finite number",
    ),
    ("NaN", '{"q1": {"d1": NaN}}', "entry 1: query 'q1', document 'd1': grade 'nan', expected a finite number"),
    ("too large", '{"q1": {"d1": 1e999}}', "entry 1: query 'q1', document 'd1': grade '1e999', " + FINITE),
    (
        "null, true",
        '{"q1": {"d1": null, "d2": true}}',
        "entry 1: query 'q1', document 'd1': grade 'None', expected a finite number (1 more faults)",
    ),
    ("blank", '{"q1": {"": 1}}', "entry 1: query 'q1', document '': corpus-id is blank, expected an id"),
    ("blank query", '{" ": {}}', "entry 1: query-id is blank, expected an id"),
    (
        "conflict",
        '{"q1": {}, "q2": {"d1": 1, "d1": 2}}',
        "entry 3: query 'q2' and document 'd1' have grade 2 and in entry 2 1; expected one grade",
    ),
    ("half a pair", '{"q1": {"\\ud83d": 1}}', "half a surrogate pair, expected whole characters"),
    ("deep", '{"q":' * 5000 + "1" + "}" * 5000, "nested too deep, " + judgements.SHAPE),
    ("nothing", "{}", "no judgements, expected one for each judged pair"),
    ("lines", '{"query-id": "q1", "corpus-id": "d1"}\n', "line 1: grade 'None', expected a finite number"),
    ("other lines", '{"a": "q1", "b": "d1", "score": 1}\n', "line 1: query-id is missing, expected an id"),
    (
        "an id that is a list",
        '{"query-id": ["q1"], "corpus-id": "d1", "score": 1}\n',
        'line 1: query-id ["q1"], expected a string',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, content, message):
    cache, before = kept
    path = folder("qrels.json", content)
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty")
    start = f"{path}/qrels.json"
    mark = ", " if message.startswith(("line", "entry", "query")) else ": "
    assert str(error.value) == f"{start}{mark}{message}"
    assert state(cache.root) == before


@pytest.mark.slow
def test_an_object_exported_and_imported_again_gives_the_same_measures(folder, tmp_path):
    content = json.dumps({"q1": {"d1": 2, "gone": 0.5}, "q2": {"d2": 1, "d1": -1}})
    changes = {"queries.jsonl": lines([{**QUERIES[0], "text": "attack of the heart"}, QUERIES[1]])}
    path = folder("qrels.json", content, changes=changes)
    first, second = round_trip(path, tmp_path, "--format", "beir")
    assert first == second
    assert [(row["query_id"], row["recall_at_10"]) for row in first] == [("q1", 1), ("q2", 0)]


@pytest.mark.parametrize("name", ["{", '{"q1": {"d1": 1}}', "PAR1", "<top>"])
@pytest.mark.parametrize("ending", ["tsv", "trec"])
def test_an_id_that_looks_like_another_kind_of_file_is_an_id(tmp_path, name, ending):
    name = name.replace(" ", "")
    content = f"{name}\td1\t1\n" if ending == "tsv" else f"{name} 0 d1 1\n"
    assert list(read(tmp_path, content, f"test.{ending}").grades) == [(name, "d1")]
