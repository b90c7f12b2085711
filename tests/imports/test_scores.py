"""Files of per-query scores: what is read, and the one sentence that each fault gets."""

import gzip
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.imports import scores
from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from tests.hand_made import put_scores, score_rows, write_scores

HEADER = "model,query_id,query_language,mode,recall_at_10,rr_at_10\n"
GOOD = HEADER + "m,p1_a,en,general,0.5,1\nm,p1_b,fr,technical,0,0.25\nn,p1_b,fr,technical,1,1.0\n"


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def test_a_file_becomes_systems_queries_and_measures(file):
    found = scores.read(file(GOOD))
    assert found.systems == ("m", "n")
    assert [(query.id, query.language, query.family, query.mode) for query in found.queries] == [
        ("p1_a", "en", "p1_a", "general"),
        ("p1_b", "fr", "p1_b", "technical"),
    ]
    assert list(found.values) == ["recall_at_10", "rr_at_10"]
    np.testing.assert_array_equal(found.values["recall_at_10"], [[0.5, 0], [np.nan, 1]])
    np.testing.assert_array_equal(found.values["rr_at_10"], [[1, 0.25], [np.nan, 1]])
    np.testing.assert_array_equal(found.present, [[True, True], [False, True]])


def test_the_family_is_the_id_up_to_its_first_underscore(file):
    found = scores.read(file(GOOD), family_from_id=True)
    assert [query.family for query in found.queries] == ["p1", "p1"]


def test_known_columns_are_attributes_of_their_own_and_others_are_free(file):
    found = scores.read(
        file(
            "rr,model,n_relevant,query_id,query_language,tier,strategy,audit_status,source_query,family,recall_10\n"
            '1,m,3,q,zh-Hant,2,random,pass,s,f,"a,b"\n'
        )
    )
    [query] = found.queries
    assert query[:4] == ("q", "zh-Hant", "", "f")
    assert (query.tier, query.strategy, query.audit_status, query.source_query) == ("2", "random", "pass", "s")
    assert query.attributes == {"n_relevant": "3", "recall_10": "a,b"}
    assert list(found.values) == ["rr"]


def test_ids_are_opaque_and_blank_lines_and_a_byte_order_mark_are_nothing(file):
    found = scores.read(file(b"\xef\xbb\xbfmodel,query_id,query_language,rr\r\n\r\nm,007,en,1\r\nm,7 ,en,0\r\n\r\n"))
    assert [query.id for query in found.queries] == ["007", "7 "]


def test_languages_are_one_tag_however_they_are_spelt(file):
    rows = "m,a,jpn-Jpan,1\nm,b,zh_CN,1\nm,c,cmn,1\nm,d,jp,1\nm,e,kr,1\nn,d,ja,1\nn,e,kr,1\n"
    found = scores.read(file("model,query_id,query_language,rr\n" + rows))
    assert [query.language for query in found.queries] == ["ja", "zh", "zh", "ja", "kr"]
    assert found.notices == (
        "line 5: jp is a country's code, taken as ja (Japanese)",
        "line 6: kr is Kanuri; was Korean (ko) meant?",
    )
    both = scores.read(file("model,query_id,query_language,rr\nm,a,zh,1\nm,b,zh-TW,1\nm,c,en,1\n"))
    assert [query.language for query in both.queries] == ["zh-Hans", "zh-Hant", "en"]
    assert both.notices == ()


def test_gzip_is_the_same_file(file):
    plain, packed = scores.read(file(GOOD)), scores.read(file(gzip.compress(GOOD.encode(), mtime=0), "scores.csv.gz"))
    assert plain.checksum == packed.checksum
    np.testing.assert_array_equal(plain.values["rr_at_10"], packed.values["rr_at_10"])


def test_a_measure_may_be_undefined_on_a_query_where_that_is_in_its_nature(file):
    head = "model,query_id,query_language,recall_at_10_same,jbc_at_10\n"
    found = scores.read(file(head + "m,a,en,,\nm,b,en,1,0\nn,a,en,,\nn,b,en,0,1\n"))
    np.testing.assert_array_equal(found.values["recall_at_10_same"], [[np.nan, 1], [np.nan, 0]])
    assert found.present.all()


ROWS = GOOD.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty, expected a header with model, query_id, query_language and a measure"),
        ("\n\n", "the file is empty"),
        (HEADER, "no rows below the header"),
        (
            GOOD.replace("query_language", "lang"),
            "line 1: column query_language is missing, found model",
        ),
        (GOOD.replace("mode,", "recall_at_10,", 1), "line 1: column 'recall_at_10' stands twice"),
        (GOOD.replace("mode,", ",", 1), "line 1: column '' is no name"),
        (GOOD.replace("mode,", "no_home,", 1), "line 1: column 'no_home' has a meaning of its own"),
        (GOOD.replace("mode,", "text,", 1), "line 1: column 'text' has a meaning of its own"),
        (GOOD.replace("rr_at_10", "language_transfer"), "line 1: column 'language_transfer' is a ratio of two means"),
        (
            GOOD.replace("recall_at_10", "recall_10").replace("rr_at_10", "RR"),
            "line 1: no column is a measure, expected one such as recall_at_10",
        ),
        (ROWS[0] + ROWS[1] + "m,p1_b,fr,technical,0\n", "line 3: 5 cells, expected 6"),
        (ROWS[0] + "m,p1_b,fr,technical,0,1,2\n", "line 2: 7 cells, expected 6"),
        (GOOD.replace("0.5", ""), "line 2: recall_at_10 is empty, expected a value"),
        (GOOD.replace("0.5", "  "), "line 2: recall_at_10 is empty"),
        (GOOD.replace("m,p1_a", ",p1_a"), "line 2: model is empty"),
        (GOOD.replace("m,p1_a", "m,"), "line 2: query_id is empty"),
        (GOOD.replace("en,general", "en,"), "line 2: mode is empty"),
        (GOOD.replace("0.5", "half"), "line 2: recall_at_10 'half', expected a finite number"),
        (GOOD.replace("0.5", "0_5"), "line 2: recall_at_10 '0_5', expected a finite number"),
        (GOOD.replace("0.5", "NaN"), "line 2: recall_at_10 'NaN', expected a finite number"),
        (GOOD.replace("0.25", "-inf"), "line 3: rr_at_10 '-inf', expected a finite number"),
        (GOOD.replace("0.25", "1.01"), "line 3: rr_at_10 '1.01', expected a number from 0 to 1"),
        (GOOD.replace("0.25", "-0.1"), "line 3: rr_at_10 '-0.1', expected a number from 0 to 1"),
        (GOOD.replace("a,en", "a,xx"), "line 2: language 'xx': expected an ISO 639 code"),
        (GOOD + "m,p1_a,en,general,0.5,1\n", "line 5: m and 'p1_a' again, first in line 2"),
        (GOOD.replace("n,p1_b,fr", "n,p1_b,en"), "line 4: query 'p1_b' has language 'en' and in line 3 'fr'"),
        (
            GOOD.replace("n,p1_b,fr,technical", "n,p1_b,fr,general"),
            "line 4: query 'p1_b' has mode 'general' and in line 3 'technical'",
        ),
        (
            GOOD.replace("mode,", "topic,").replace("n,p1_b,fr,technical", "n,p1_b,fr,x"),
            "line 4: query 'p1_b' has topic 'x' and in line 3 'technical'",
        ),
        (GOOD.replace("n,p1", '"n,n",p1'), "line 4: model 'n,n': expected a name without a comma"),
        (GOOD.encode() + b"m,\xe9,en,general,0,0\n", "line 5: byte 0xE9, expected UTF-8"),
        (GOOD + 'm,"q,en,general,0,0\n', "line 5: unexpected end of data"),
        (b"\x1f\x8bnot gzip at all", "expected a whole file, plain, gzip, Zstandard or LZ4"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-12], "expected a whole file, plain, gzip, Zstandard or LZ4"),
        (
            "model,query_id,query_language,recall_at_10_same\nm,a,en,1\nn,a,en,\n",
            "line 3: query 'a' has recall_at_10_same in line 2 and none in line 3",
        ),
    ],
)
def test_a_fault_names_file_line_value_and_what_was_expected(file, text, says):
    path = file(text)
    with pytest.raises(InputError) as caught:
        scores.read(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.csv.*No such file"):
        scores.read(tmp_path / "absent.csv")


def test_a_family_column_and_a_family_from_the_id_are_one_too_many(file):
    with pytest.raises(InputError, match="column family, expected none"):
        scores.read(file(GOOD.replace("mode,", "family,")), family_from_id=True)
    with pytest.raises(InputError, match="query_id '_a': expected a family before the first _"):
        scores.read(file(GOOD.replace("p1_a", "_a")), family_from_id=True)


def test_a_line_is_the_physical_one_and_further_faults_are_counted(file):
    text = HEADER + 'm,a,en,"two\nlines",1,1\nm,b,en,x,2,1\nm,c,en,x,1,1\nm,d,en,x,1,?\n'
    with pytest.raises(InputError, match=r"line 4: recall_at_10 '2'.*\(1 more rows are faulty\)"):
        scores.read(file(text))


@settings(max_examples=60)
@given(st.dictionaries(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), st.floats(0, 1), min_size=1, max_size=21))
def test_every_score_comes_back_as_it_was_written(tmp_path_factory, wanted):
    rows = [
        {"model": model, "query_id": f"q{number}", "query_language": "en", "ap": value}
        for (model, number), value in wanted.items()
    ]
    found = scores.read(write_scores(tmp_path_factory.mktemp("s") / "s.csv", rows))
    back = {
        (system, int(query.id[1:])): found.values["ap"][place, column]
        for place, system in enumerate(found.systems)
        for column, query in enumerate(found.queries)
        if found.present[place, column]
    }
    assert back == wanted
    assert np.isnan(found.values["ap"][~found.present]).all()


# Into the store


def test_a_file_is_a_benchmark_of_one_task_without_documents(cache, file):
    store = put_scores(cache, file(GOOD), name="mine")
    benchmark = store.benchmark("mine")
    assert (benchmark.version, benchmark.title, benchmark.parallel) == ("1", "mine", False)
    [task] = store.tasks(benchmark.benchmark_id)
    assert (task.name, task.n_documents, task.n_queries, task.is_default) == ("main", 0, 2, True)
    runs = store.runs([task.task_id])
    assert [(run.system, run.status, run.paradigm) for run in runs] == [
        ("m", "complete", "unknown"),
        ("n", "complete", "unknown"),
    ]
    stored = store.scores(task.task_id, [run.run_id for run in runs])
    assert list(stored) == ["recall_at_10", "rr_at_10"]
    np.testing.assert_array_equal(stored["recall_at_10"], [[0.5, 0], [np.nan, 1]])
    assert list(store.queries(task.task_id).mode) == ["general", "technical"]
    assert (store.faults(), store.orphans()) == ([], [])


def test_the_same_file_is_stored_once(cache, file):
    first = put_scores(cache, file(GOOD)).path
    request = ScoresRequest(file(gzip.compress(GOOD.encode(), mtime=0), "again.gz"), "imported", family_from_id=True)
    report = import_scores(cache, request=request, progress=silent)
    assert (report.stored, report.address) == (False, "imported@1")
    assert read.open_store(cache).path == first


@pytest.mark.parametrize("changes", [{"task": "other"}, {"family_from_id": False}, {"path": "other"}])
def test_a_name_that_stands_for_something_else_is_refused(cache, file, changes):
    before = put_scores(cache, file(GOOD)).path
    path = file(GOOD.replace("0.25", "0.26"), "other.csv") if "path" in changes else file(GOOD)
    asked = {"family_from_id": True, **changes, "path": path}
    with pytest.raises(InputError, match="benchmark 'imported' is stored already with other content"):
        import_scores(cache, request=ScoresRequest(benchmark="imported", **asked), progress=silent)
    assert read.open_store(cache).path == before


@pytest.mark.parametrize("name", ["a@b", "a,b", " "])
def test_a_name_that_no_address_can_hold_is_refused(cache, file, name):
    for request in (ScoresRequest(file(GOOD), name), ScoresRequest(file(GOOD), "fine", task=name)):
        with pytest.raises(InputError, match="expected one without @ and comma"):
            import_scores(cache, request=request, progress=silent)


def test_a_fault_leaves_nothing(cache, file):
    with pytest.raises(InputError):
        put_scores(cache, file(GOOD.replace("0.25", "2")))
    assert read.open_store(cache) is None


def test_a_catalogued_system_keeps_its_paradigm(cache, file):
    names = "bm25", "sentence-transformers/all-MiniLM-L6-v2", "x/same", "y/same", "z/alone"
    put_scores(cache, file("model,query_id,query_language,rr\n" + "".join(f"{name},q,en,1\n" for name in names)))
    labels = read.open_store(cache).system_labels()
    assert labels["bm25"].paradigm == "lexical"
    assert labels["bm25"].title == "BM25 (whitespace tokens)"
    assert labels[names[1]][1:4] == (names[1], "all-MiniLM-L6-v2", "English-centric dense")
    assert [labels[name].short for name in names[2:]] == ["x/same", "y/same", "alone"]


def test_a_system_that_is_stored_keeps_its_words(example_store, file, tmp_path):
    cache = Cache(shutil.copytree(example_store.cache.root, tmp_path / "copy"))
    put_scores(cache, file("model,query_id,query_language,rr\ngood,q,en,1\n"))
    assert read.open_store(cache).system_labels()["good"][:4] == ("good", "GOOD", "good", "multilingual dense")


def test_what_a_system_lacks_is_reported(cache, tmp_path):
    request = ScoresRequest(write_scores(tmp_path / "s.csv", score_rows()), "imported", family_from_id=True)
    report = import_scores(cache, request=request, progress=silent)
    assert (report.stored, report.address, report.n_queries) == (True, "imported@1", 40)
    assert report.missing == (("small", 4),)
    assert report.attributes == ("specialty", "number")
    assert report.measures == ("recall_at_10", "rr_at_10", "recall_at_10_same", "recall_at_10_cross")
