"""PyTerrier's per-query table: what is read, and the one sentence that each fault gets."""

import io
import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.errors import InputError
from analysis.imports import scores
from analysis.imports.perquery import measure_key
from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read

HEADER = "name,qid,measure,value\n"
GOOD = HEADER + "m,1-en,nDCG@10,0.5\nm,1-en,RR,1\nm,1-fr,RR,0\nm,1-fr,nDCG@10,0.25\nn,1-en,nDCG@10,1\nn,1-en,RR,0.5\n"


def test_rows_of_a_system_and_query_become_one(file):
    found = scores.read(file(GOOD), language_pattern="-(..)$")
    assert found.systems == ("m", "n")
    assert [(query.id, query.language) for query in found.queries] == [("1-en", "en"), ("1-fr", "fr")]
    np.testing.assert_array_equal(found.values["ndcg_at_10"], [[0.5, 0.25], [1, np.nan]])
    np.testing.assert_array_equal(found.values["rr"], [[1, 0], [0.5, np.nan]])


def test_a_language_comes_from_the_pattern_else_the_option_else_a_column(file):
    def languages(text, **options):
        return [query.language for query in scores.read(file(text), **options).queries]

    assert languages(GOOD, query_language="sw") == ["sw", "sw"]
    assert languages(GOOD, query_language="sw", language_pattern="fr") == ["sw", "fr"]
    assert languages("name,qid,measure,value,query_language,mode\nm,1,AP,0.5,yo,x\n") == ["yo"]
    assert languages("model,query_id,rr\nm,1,0.5\n", query_language="eng") == ["en"]  # the wide table too


def test_the_table_is_what_pandas_writes_with_and_without_its_index(file):
    rows = [("bm25", "1", "nDCG@10", 0.123456789012345), ("bm25", "1", "AP", 1e-05)]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    for index in (True, False):
        text = io.StringIO()
        frame.to_csv(text, index=index)
        found = scores.read(file(text.getvalue()), query_language="en")
        assert [found.values[key].item() for key in ("ndcg_at_10", "ap")] == [0.123456789012345, 1e-05]
        assert not found.queries[0].attributes


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("nDCG@10", "NDCG@10", "ndcg_cut_10", "ndcg_cut.10"), "ndcg_at_10"),
        (("nDCG(dcg='exp-log2')@5",), "ndcg_exponential_at_5"),
        (("R@100", "recall_100", "recall.100"), "recall_at_100"),
        (("P@5", "P_5", "P.5"), "precision_at_5"),
        (("Success@1", "success_1"), "hit_at_1"),
        (("RR@10",), "rr_at_10"),
        (("RR", "recip_rank"), "rr"),
        (("AP", "map"), "ap"),
    ],
)
def test_names_are_those_of_ir_measures_and_trec_eval(names, key):
    assert {measure_key(name) for name in (*names, key)} == {key}


@pytest.mark.parametrize("name", ["nDCG", "MAP@10", "Recall@10", "R@", "R@x", "AP(rel=2)", "num_q", "", "rr@10"])
def test_no_other_name_is_taken_for_one(name):
    with pytest.raises(InputError, match="expected one such as"):
        measure_key(name)


NAMED = "expected one such as nDCG@10, R@10, P@10, Success@10, RR or AP"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEADER + "m,1,nDCG,0.5\n", f", line 2: measure 'nDCG', {NAMED}"),
        (HEADER + "m,1,AP,1\nm,1,R(rel=2)@10,0.5\nm,2\n", f", line 3: measure 'R(rel=2)@10', {NAMED} "
         "(1 more rows are faulty)"),
        (HEADER + "m,1,AP,x\n", ", line 2: AP 'x', expected a finite number"),
        (HEADER + "m,1,AP,nan\n", ", line 2: AP 'nan', expected a finite number"),
        (HEADER + "m,1,P@10,1.5\n", ", line 2: P@10 '1.5', expected a number from 0 to 1"),
        (HEADER + "m,1,AP\n", ", line 2: 3 cells, expected 4 as in the header"),
        (HEADER + "m,1,AP,1\nm,1,map,1\n", ", line 3: m and '1' have ap again, expected it once"),
        (HEADER + "m,1,AP,1\nm,1,RR,1\n\nm,2,RR,1\n", ": m and '2' have no ap, expected every measure for each query"),
        (HEADER.replace("value", "value,tier") + "m,1,AP,1,a\nm,1,RR,1,b\n", ", line 3: query '1' has tier 'b' and "
         "before 'a'"),
        (HEADER + "m,,AP,1\n", ", line 2: query_id is empty, expected a value"),
        (HEADER, ", line 1: no column is a measure, expected one such as recall_at_10 or ndcg_at_10 among model, "
         "query_id, query_language"),
        (HEADER.replace("value", "value,query_language") + "m,1,AP,1,en\n", ", line 1: column query_language, expected "
         "none where an option says the language"),
    ],
)  # fmt: skip
def test_a_fault_names_line_value_and_what_was_expected(file, text, says):
    path = file(text)
    with pytest.raises(InputError) as caught:
        scores.read(path, query_language="en")
    assert str(caught.value) == f"{path}{says}"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, r", line 1: column query_language is missing, found model, query_id, ndcg_at_10, rr "
         r"\(or --query-language, --language-pattern\)$"),
        ({"language_pattern": "-(fr)$"},
         r", line 2: query_language is empty, expected a value \(1 more rows are faulty\)$"),
        ({"language_pattern": "("}, r"^--language-pattern '\(': .*; expected a regex$"),
        ({"query_language": "xx"}, r", line 2: .*'xx'"),
    ],
)  # fmt: skip
def test_a_language_is_never_guessed(file, options, says):
    with pytest.raises(InputError, match=says):
        scores.read(file(GOOD), **options)


def test_other_languages_are_another_benchmark_and_the_same_are_kept(file, tmp_path):
    cache, path = Cache(tmp_path / "cache"), file(GOOD)

    def stored(**options):
        request = ScoresRequest(path, "b", **options)
        return import_scores(cache, request=request, progress=silent).stored

    assert [stored(query_language=tag) for tag in ("en", "en")] == [True, False]
    with pytest.raises(InputError, match="stored already with other content or settings"):
        stored(query_language="fr")
    store = read.open_store(cache)
    [task] = store.tasks(store.benchmark("b").benchmark_id)
    assert store.queries(task.task_id).language.tolist() == ["en", "en"]


def test_the_order_of_the_rows_does_not_matter(file):
    rows = GOOD.removeprefix(HEADER).splitlines(keepends=True)
    first = scores.read(file(GOOD), query_language="en")
    for order in itertools.islice(itertools.permutations(rows), 0, 720, 60):
        again = scores.read(file(HEADER + "".join(order)), query_language="en")
        values = {
            (system, query.id, key): value
            for key, cube in again.values.items()
            for system, row in zip(again.systems, cube, strict=True)
            for query, value in zip(again.queries, row, strict=True)
        }
        for key, cube in first.values.items():
            for system, row in zip(first.systems, cube, strict=True):
                for query, value in zip(first.queries, row, strict=True):
                    np.testing.assert_equal(values[system, query.id, key], value)
