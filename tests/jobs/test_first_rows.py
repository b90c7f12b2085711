"""The first rows of whatever is dropped."""

import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.jobs.first_rows import preview


def of(name, data):
    return preview(name, io.BytesIO(data if isinstance(data, bytes) else data.encode()))


def test_records_show_every_field_that_the_first_few_have():
    rows = [{"_id": "a", "text": "x", "n": 1}, {"_id": "b", "meta": {"l": "fr"}}, {"_id": "c"}, {"_id": "d", "late": 1}]
    found = of("corpus.jsonl", "\n".join(map(json.dumps, rows)))
    assert found.columns == ("_id", "text", "n", "meta")
    assert found.rows == (("a", "x", "1", ""), ("b", "", "", '{"l": "fr"}'), ("c", "", "", ""))
    assert found.named


def test_a_csv_is_named_by_its_first_row():
    found = of("t.csv", '\ufeffid,text\r\n1,"a, b"\r\n2,c\r\n')
    assert found.columns == ("id", "text")
    assert found.rows == (("1", "a, b"), ("2", "c"))


def test_qrels_with_and_without_a_header():
    assert of("test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n").columns == ("query-id", "corpus-id", "score")
    found = of("test.tsv", "q\td\t1\nq\te\t0\n")
    assert (found.columns, found.named) == (("column 1", "column 2", "column 3"), False)
    assert len(found.rows) == 2


def test_a_run_is_split_at_white_space():
    found = of("a.trec", "q Q0 d 1 0.5 tag\n" * 9)
    assert found.rows == (("q", "Q0", "d", "1", "0.5", "tag"),) * 3


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        lambda data: pa.compress(data, codec="zstd", asbytes=True),
        lambda data: pa.compress(data, codec="lz4", asbytes=True),
    ],
)
def test_packed_files_are_opened(pack):
    text = "".join(json.dumps({"_id": f"{number}", "text": "心" * 50}) + "\n" for number in range(9000))
    found = of("corpus.jsonl.gz", pack(text.encode()))
    assert found.rows[0] == ("0", "心" * 50)


def test_parquet():
    out = io.BytesIO()
    pq.write_table(pa.table({"q_id": ["a"] * 9, "score": [0.5] * 9}), out)
    found = preview("run.parquet", out)
    assert (found.columns, found.rows) == (("q_id", "score"), (("a", "0.5"),) * 3)
    assert out.tell() == 0


@pytest.mark.parametrize("data", [b"", b"\n\n", b"PAR1 not really", b"{broken", b"\0\0\0", b"\x1f\x8bnot gzip"])
def test_what_has_no_rows_has_no_preview(data):
    assert of("x", data) is None


@given(st.binary(max_size=400))
def test_nothing_breaks_it(data):
    found = of("x.csv", data)
    assert found is None or all(len(row) == len(found.columns) for row in found.rows)
