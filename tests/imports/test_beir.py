"""Benchmarks in folders: what is read, what each fault says, and that nothing of a faulty one is stored."""

import gzip
import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.imports.report import Listed, report, table
from analysis.jobs.import_benchmark import BenchmarkRequest, read_benchmark, store_benchmark
from analysis.model import Flag, FlagCounts, silent
from analysis.paths import Cache
from analysis.store import read
from tests.hand_made import put, state, worked_example
from tests.imports.imported import CORPUS, GOOD, QRELS, QUERIES, grades, lines, stored, task_of, written


@pytest.fixture
def folder(tmp_path):
    def made(changes=None, *, name="mine"):
        return written(tmp_path / name, {**GOOD, **(changes or {})})

    return made


# What is read


def test_a_folder_becomes_a_task_with_every_field(folder, cache):
    assert stored(cache, folder()) == ("mine@1", True)
    store, task = task_of(cache)
    assert (task.name, task.n_documents, task.n_queries, task.is_default) == ("main", 3, 2, True)
    assert store.benchmark("mine").parallel
    queries = store.queries(task.task_id)
    assert list(queries.tier) == ["2", None]
    assert list(queries.attributes["topic"]) == [None, "heart"]
    assert list(queries.family) == ["c1", "c1"]
    assert store.corpus(task.task_id).languages == ("en", "es", "en")
    assert grades(store, task) == {("q1", "d1"): 2, ("q1", "d2"): 1, ("q2", "d1"): 1, ("q2", "d3"): 0}


def test_the_same_content_is_stored_once_and_other_content_is_refused(folder, cache):
    path = folder()
    stored(cache, path)
    before = state(cache.root)
    assert stored(cache, path) == ("mine@1", False)
    packed = folder(dict.fromkeys(GOOD) | {f"{n}.gz": gzip.compress(t.encode(), mtime=0) for n, t in GOOD.items()},
                    name="packed")  # fmt: skip
    assert stored(cache, packed) == ("mine@1", False)
    other = folder({"qrels/test.tsv": QRELS.replace("\t0", "\t1")}, name="other")
    with pytest.raises(InputError, match="'mine' has a task 'main' with other content; expected another name"):
        stored(cache, other)
    assert state(cache.root) == before
    assert stored(cache, other, name="another") == ("another@1", True)


def test_another_task_joins_the_benchmark_and_what_was_stored_stays(folder, cache):
    first, second = folder(), folder({"qrels/test.tsv": "q1\td3\t1\n"}, name="second")
    stored(cache, first, task="google")
    documents = state(cache.documents)
    assert stored(cache, second, task="epo") == ("mine@1", True)
    store = read.open_store(cache)
    row = store.benchmark("mine")
    tasks = store.tasks(row.benchmark_id)
    assert [(task.name, task.is_default) for task in tasks] == [("google", True), ("epo", False)]
    assert [len(grades(store, task)) for task in tasks] == [4, 1]
    assert list(row.settings["tasks"]) == ["google", "epo"]
    assert row.parallel
    assert documents.items() <= state(cache.documents).items()
    before = state(cache.root)
    assert stored(cache, first, task="google") == stored(cache, second, task="epo") == ("mine@1", False)
    with pytest.raises(InputError, match="'mine' has a task 'epo' with other content; expected another name"):
        stored(cache, first, task="epo")
    assert state(cache.root) == before
    single = [{**row, "language": "en"} for row in QUERIES]
    stored(cache, folder({"queries.jsonl": lines(single)}, name="third"), task="single")
    assert not read.open_store(cache).benchmark("mine").parallel


def test_a_benchmark_that_was_not_imported_takes_no_task(folder, cache):
    put(cache, worked_example(), {})
    with pytest.raises(InputError, match="'example' is stored already and was not imported; expected another name"):
        stored(cache, folder(), name="example", task="more")


@pytest.mark.parametrize(
    "changes",
    [
        {"qrels/test.tsv": QRELS.partition("\n")[2]},
        {"qrels/test.tsv": QRELS.replace("query-id\tcorpus-id\tscore", "qid\tdocid\trel").replace("\n", "\r\n")},
        {"qrels/test.tsv": b"\xef\xbb\xbf" + QRELS.encode()},
        {"qrels/test.tsv": QRELS.rstrip("\n")},
        {"qrels/test.tsv": "q1\tQ0\td1\t2\nq1\tQ0\td2\t1\nq2\tQ0\td1\t1\nq2\tQ0\td3\t0\n"},
        {"qrels/test.tsv": None, "qrels/test.trec": "q1 0 d1 2\nq1\t0  d2 1\n q2 0.5 d1 1.0 \n\nq2 0 d3 0\n"},
        {"qrels/test.tsv": None, "qrels/any.txt": "q1 0 d1 2\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d3 0"},
        {"qrels/test.tsv": None, "qrels.txt": "q1 0 d1 2\nq1 0 d2 1\nq2 0 d1 1\nq2 0 d3 0\n"},
        {"qrels/test.tsv": None, "qrels/test.tsv.zst": pa.compress(QRELS.encode(), "zstd", asbytes=True)},
        {"qrels/train.tsv": "q1\td3\t1\n"},
        {"qrels/test.tsv": "corpus-id\tscore\tquery-id\nd1\t2\tq1\nd2\t1\tq1\nd1\t1e0\tq2\nd3\t-0\tq2\n"},
        {"qrels/test.tsv": QRELS + "q1\td1\t2.0\n"},
    ],
    ids=["no header", "crlf", "bom", "no end", "trec.tsv", "trec", "txt", "beside", "zst", "split", "order", "repeat"],
)
def test_judgements_in_every_spelling_are_the_same(folder, cache, changes):
    stored(cache, folder(changes))
    assert grades(*task_of(cache)) == {("q1", "d1"): 2, ("q1", "d2"): 1, ("q2", "d1"): 1, ("q2", "d3"): 0}


def test_trec_topics_beside_a_corpus(folder, cache):
    path = folder(
        {
            "queries.jsonl": None,
            "qrels/test.tsv": None,
            "topics.tsv": "30_1\tfirst “topic\n-7\tsecond\n",
            "qrels.trec": "30_1 0 d1 1\n-7 0 d2 1\n301 0 d3 1\n",
        }
    )
    stored(cache, path, format="trec", query_language="English")
    store, task = task_of(cache)
    queries = store.queries(task.task_id)
    assert list(queries.id) == ["30_1", "-7", "301"]
    assert list(queries.text) == ["first “topic", "second", ""]
    assert list(queries.language) == ["en", "en", "en"]


def test_topics_with_a_header_have_fields(folder):
    path = folder(
        {"queries.jsonl": None, "topics.tsv": "ID\tlanguage\tQuery\tmode\nq1\tja\t心筋梗塞\thard\nq2\teng\tx\t\n"}
    )
    found = folders.read(path, options=Options(format="trec"))
    assert [(q.id, q.language, q.text, q.mode) for q in found.queries] == [
        ("q1", "ja", "心筋梗塞", "hard"),
        ("q2", "en", "x", None),
    ]


def test_the_language_comes_from_the_field_then_the_key_then_the_id_then_the_flag(folder):
    rows = [
        {"_id": "a_fr", "language": "de", "metadata": {"lang": "ja"}},
        {"_id": "b_fr", "metadata": {"lang": "jp"}},
        {"_id": "c_fr", "language": None},
        {"_id": "d", "language": " "},
    ]
    found = folders.read(
        folder({"corpus.jsonl": lines(rows)}),
        options=Options(language_key="metadata.lang", language_pattern="_(..)$", document_language="zho"),
    )
    assert [document.language for document in found.documents] == ["de", "ja", "fr", "zh"]
    assert list(found.notices.values()) == [1]


def test_two_scripts_of_one_language_are_both_written(folder):
    rows = [{"_id": "d1", "text": "病", "language": "zh-TW"}, {"_id": "d2", "text": "病", "language": "cmn"}]
    found = folders.read(folder({"corpus.jsonl": lines(rows)}), options=Options())
    assert [document.language for document in found.documents] == ["zh-Hant", "zh-Hans"]


def test_columns_may_be_mapped(folder):
    rows = [{"_id": "d1", "contents": "x", "meta": {"lang": "fr", "patent": "p1"}}]
    found = folders.read(
        folder({"corpus.jsonl": lines(rows), "qrels/test.tsv": "question\tpassage\tscore\nq1\td1\t1\n"}),
        options=Options(
            renamed={
                "contents": "text",
                "meta.lang": "language",
                "meta.patent": "family",
                "question": "query-id",
                "passage": "corpus-id",
            }
        ),
    )
    assert found.documents == (("d1", "fr", "x", "p1", None, None),)
    assert found.judgements == (("q1", "d1", 1.0),)


def test_titles_lead_their_texts_and_what_is_empty_is_counted(folder):
    rows = [
        {"_id": "1", "title": None, "text": ""},
        {"_id": "2", "title": "", "text": None},
        {"_id": "3", "title": "T"},
        {"_id": "4", "text": " \u00a0 "},
        {"_id": "5", "title": "T", "text": " ok "},
    ]
    found = folders.read(folder({"corpus.jsonl": lines(rows)}), options=Options(document_language="en"))
    assert [document.text for document in found.documents] == ["", "", "T", " \u00a0 ", "T  ok "]
    assert report(found).doubts.empty_documents == Listed(4, ("1", "2", "3"))


def test_only_a_line_feed_ends_a_line_of_json(folder):
    text = "one\u2028two\u2029three\u0085four"
    found = folders.read(
        folder({"corpus.jsonl": lines([{"_id": "d", "text": text, "language": "en"}])}), options=Options()
    )
    assert [document.text for document in found.documents] == [text]


def test_ids_that_look_like_something_else_stay_text(folder, cache):
    names = [
        "007",
        "7",
        "7.0",
        "60FF77E1-5395-4812-87B8-66280F26136A",
        "2020-01-01",
        "true",
        "=1+1",
        "1e5",
        "a#b",
        " x",
    ]
    rows = [*({"_id": name, "text": name} for name in names), '{"_id":1.50,"text":"n"}\n', '{"_id":12,"text":"n"}\n']
    qrels = "".join(f"q1\t{name}\t1\n" for name in names)
    stored(cache, folder({"corpus.jsonl": lines(rows), "qrels/test.tsv": qrels}), document_language="und")
    store, task = task_of(cache)
    assert store.corpus(task.task_id).ids == (*names, "1.50", "12")
    assert {document for _, document in grades(store, task)} == set(names)


# What is reported


def test_the_report_counts_what_deserves_a_look(folder):
    corpus = [
        *CORPUS,
        {"_id": "007", "text": "heart attack ", "language": "en", "url": "x"},
        {"_id": "7", "text": "Cafe\u0301", "language": "fr"},
        {"_id": "q1", "text": "other", "language": "en"},
        {"_id": "q2", "title": "T", "text": "ataque al corazón", "language": "es"},
        CORPUS[0],
    ]
    queries = [
        *QUERIES,
        {"_id": "q3", "text": "MRI scan of the head", "language": "ja"},
        {"_id": "Q3", "text": "", "language": "ja", "excluded_documents": ["d1", "none"]},
    ]
    qrels = QRELS + "q1\tgone\t1\nq1\t07\t-1\nq9\td1\t0.5\nq1\td1\t2\n"
    found = report(
        folders.read(
            folder({"corpus.jsonl": lines(corpus), "queries.jsonl": lines(queries), "qrels/test.tsv": qrels}),
            options=Options(),
        )
    )
    assert (found.n_documents, found.n_queries, found.n_judgements, found.n_relevant) == (7, 5, 7, 4)
    assert found.grades == {"-1": 1, "0": 1, "0.5": 1, "1": 3, "2": 1}
    assert (found.n_fractional_grades, found.n_negative_grades, found.n_repeats) == (1, 1, 2)
    assert found.doubts.queries_without_judgements == Listed(2, ("q3", "Q3"))
    assert found.doubts.queries_without_relevant == Listed(1, ("q9",))
    assert found.doubts.judgements_without_query == Listed(1, ("q9",))
    assert found.doubts.dangling_documents == Listed(2, ("07", "gone"))
    assert found.doubts.empty_queries == Listed(1, ("Q3",))
    assert found.doubts.duplicate_documents == Listed(2, ("d1", "007"))
    assert found.doubts.near_duplicate_document_ids == Listed(1, ("'007' ~ '7' ~ '07'",))
    assert found.doubts.near_duplicate_query_ids == Listed(1, ("'q3' ~ 'Q3'",))
    assert [text.partition(":")[0] for text in found.doubts.suspicious_queries.examples] == ["q3"]
    assert (found.doubts.self_retrieval, found.doubts.same_id_other_text) == (Listed(1, ("q2",)), Listed(1, ("q1",)))
    assert found.doubts.excluded_unknown == Listed(1, ("none",))
    assert found.ignored_fields == {"url": 1}
    assert [(row.language, row.n_queries, row.n_documents) for row in found.languages] == [
        ("en", 1, 4),
        ("es", 1, 2),
        ("ja", 2, 0),
        ("fr", 0, 1),
    ]
    assert not found.parallel
    assert "lack a query language" in found.parallel_because
    assert ("judged documents that are not in the corpus: no system can find them", "2", "'07'; 'gone'") in table(found)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([("a", "en"), ("a", "fr"), ("b", "en"), ("b", "fr")], True),
        ([("a", "en"), ("a", "fr"), ("b", "en")], False),
        ([("a", "en"), ("b", "en")], False),
        ([("a", "en"), ("a", "fr"), ("a", "fr")], True),
    ],
)
def test_parallel_means_every_family_in_every_language(folder, asked, expected):
    rows = [
        {"_id": f"q{n}", "text": "x", "family": family, "language": tag} for n, (family, tag) in enumerate(asked, 1)
    ]
    found = folders.read(folder({"queries.jsonl": lines(rows), "qrels/test.tsv": "q1\td1\t1\n"}), options=Options())
    assert report(found).parallel is folders.parallel(found.queries) is expected


def test_a_query_that_is_a_document_leaves_its_ranking_only_when_asked_and_never_for_its_id_alone(folder):
    corpus = [{"_id": "A", "text": "same text"}, {"_id": "1", "text": "the answer"}]
    queries = [{"_id": "A", "text": "same text "}, {"_id": "1", "text": "a question"}]
    path = folder(
        {"corpus.jsonl": lines(corpus), "queries.jsonl": lines(queries), "qrels/test.tsv": "A\t1\t1\n1\t1\t1\n"}
    )
    for exclude_self, expected in ((False, [(), ()]), (True, [("A",), ()])):
        options = Options(exclude_self=exclude_self, document_language="en", query_language="en")
        found = folders.read(path, options=options)
        assert [query.excluded_documents for query in found.queries] == expected
    assert [document.family for document in found.documents] == ["A", "document 1"]


def test_doubtful_queries_and_documents_are_flagged_and_nothing_of_them_is_changed(folder, cache):
    texts = [
        ("zh", "小行星危害地球"),
        ("zh", "Combatting marriage"),
        ("ja", "....... 12"),
        ("ja", " "),
        ("ja", "COVID-19 の 症状"),
    ]
    rows = [{"_id": f"q{n}", "text": text, "language": tag} for n, (tag, text) in enumerate(texts)]
    corpus = [
        *CORPUS,
        {"_id": "d4", "text": "", "language": "en"},
        {"_id": "d5", "text": "сердце болит", "language": "es"},
        {"_id": "d6", "title": "a title", "text": "", "language": "en"},  # its title is its text
    ]
    files = {"queries.jsonl": lines(rows), "corpus.jsonl": lines(corpus), "qrels/test.tsv": "q0\td1\t1\nq9\td1\t1\n"}
    path = folder(files)
    found = folders.read(path, options=Options(query_language="en"))
    expected = (
        Flag("query", "q1", "other script"),
        Flag("query", "q2", "no letters"),
        Flag("query", "q3", "no text"),
        Flag("query", "q9", "no text"),  # judged, and in no file of queries
        Flag("document", "d4", "no text"),
        Flag("document", "d5", "other script"),
    )
    assert found.flags == expected
    assert all(not query.attributes for query in found.queries)
    assert report(found).doubts.letterless_queries == Listed(1, ("q2",))
    assert report(found).n_flagged == FlagCounts(4, 2, {"no text": 3, "other script": 2, "no letters": 1})
    reasons = "3 no text, 2 other script, 1 no letters; --without-flagged leaves them out"
    assert ("flagged", "4 queries, 2 documents", reasons) in table(report(found))
    stored(cache, path, query_language="en")
    store, task = task_of(cache)
    assert store.flags(task.task_id) == expected
    assert task.n_queries == 6


def test_sound_texts_are_not_flagged(folder):
    found = folders.read(folder(), options=Options())
    assert found.flags == ()
    assert "flagged" not in [row[0] for row in table(report(found))]


def test_the_same_files_flagged_otherwise_are_flagged_anew(folder, cache):
    """As a later version of the program would."""
    path = folder()
    made = read_benchmark(BenchmarkRequest(path, "mine"), progress=silent).benchmark
    (task,) = made.tasks
    doubtful = replace(made, tasks=(replace(task, flags=(Flag("query", "q1", "misaligned"),)),))
    assert store_benchmark(cache, benchmark=doubtful, progress=silent) == ("mine@1", True)
    before = state(cache.root)
    assert store_benchmark(cache, benchmark=doubtful, progress=silent) == ("mine@1", False)
    assert state(cache.root) == before
    assert stored(cache, path) == ("mine@1", False)
    store, row = task_of(cache)
    assert store.flags(row.task_id) == ()
    assert len(store.benchmarks()) == 1


def test_metadata_never_takes_a_name_that_means_something_else(folder):
    row = {"_id": "q1", "id": 7, "text": "x", "language": "en", "year": 2020, "task": "t", "ok": True, "none": None,
           "metadata": {"language": "fr", "year": 1e3, "deep": {"a": [1]}}}  # fmt: skip
    path = folder({"queries.jsonl": lines([row]), "qrels/test.tsv": "q1\td1\t1\n"})
    assert folders.read(path, options=Options()).queries[0].attributes == {
        "year": "2020", "field.task": "t", "field.id": "7", "ok": "true", "metadata.language": "fr",
        "metadata.year": "1000.0", "deep": '{"a": ["1"]}',
    }  # fmt: skip


# What is refused

FAULTS: list[tuple[str, dict, dict, str]] = [
    (
        "no corpus",
        {"corpus.jsonl": None},
        {},
        "{folder}: found qrels/test.tsv, queries.jsonl, expected one corpus.jsonl (also .gz or .zst)",
    ),
    (
        "two corpora",
        {"corpus.jsonl.gz": b""},
        {},
        "{folder}: found corpus.jsonl, corpus.jsonl.gz, expected one corpus.jsonl (also .gz or .zst)",
    ),
    (
        "no queries",
        {"queries.jsonl": None},
        {},
        "{folder}: found corpus.jsonl, qrels/test.tsv, expected one queries.jsonl (also .gz or .zst)",
    ),
    (
        "no topics",
        {},
        {"format": "trec", "split": "test"},
        "{folder}: found corpus.jsonl, qrels/test.tsv, queries.jsonl, expected one file of "
        "topics, such as topics.tsv (also .gz or .zst)",
    ),
    (
        "no qrels",
        {"qrels/test.tsv": None},
        {},
        "{folder}: found no qrels, expected qrels/test.tsv, or TREC qrels in qrels/test.trec, "
        "qrels/test.txt or qrels.txt (--split chooses)",
    ),
    (
        "no split",
        {},
        {"split": "dev"},
        "{folder}: found qrels/test.tsv, expected qrels/dev.tsv, or TREC qrels in "
        "qrels/dev.trec, qrels/dev.txt or qrels.txt (--split chooses)",
    ),
    (
        "two qrels",
        {"qrels/test.trec": "q1 0 d1 1\n"},
        {},
        "{folder}: found qrels/test.trec, qrels/test.tsv, expected one file of judgements for --split test",
    ),
    (
        "no JSON",
        {"corpus.jsonl": lines([CORPUS[0], "{'_id': 1}\n", *CORPUS[1:]])},
        {},
        "{folder}/corpus.jsonl, line 2: Expecting property name enclosed in double quotes at "
        "column 2 in \"{'_id': 1}\", expected a JSON object",
    ),
    (
        "cut JSON",
        {"corpus.jsonl": '{"_id": "d1"\n'},
        {},
        "{folder}/corpus.jsonl, line 1: Expecting ',' delimiter at column 13 in '{\"_id\": "
        '"d1"\', expected a JSON object',
    ),
    (
        "a list",
        {"queries.jsonl": '["q1", "x"]\n'},
        {},
        '{folder}/queries.jsonl, line 1: \'["q1", "x"]\', expected a JSON object in braces',
    ),
    (
        "NaN",
        {"queries.jsonl": '\n{"_id": "q1", "x": NaN}\n'},
        {},
        "{folder}/queries.jsonl, line 2: NaN in a JSON object, expected a number or null",
    ),
    (
        "key twice",
        {"queries.jsonl": '{"_id": "q1", "_id": "q2"}\n'},
        {},
        "{folder}/queries.jsonl, line 1: key '_id' stands twice in an object, expected it once",
    ),
    (
        "surrogate",
        {"queries.jsonl": '{"_id": "q1", "text": "\\ud800"}\n'},
        {},
        '{folder}/queries.jsonl, line 1: half a surrogate pair in \'{"_id": "q1", "text": '
        '"\\\\ud800"}\', expected whole characters',
    ),
    (
        "deep",
        {"queries.jsonl": '{"a":' * 3000 + "1" + "}" * 3000 + "\n"},
        {},
        "{folder}/queries.jsonl, line 1: "
        '\'{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":…\' '
        "is nested too deep, expected a flat JSON object",
    ),
    (
        "id missing",
        {"corpus.jsonl": '{"text": "x"}\n'},
        {},
        "{folder}/corpus.jsonl, line 1: _id is missing, expected an id",
    ),
    (
        "id blank",
        {"corpus.jsonl": '{"_id": " "}\n'},
        {},
        "{folder}/corpus.jsonl, line 1: _id is blank, expected an id",
    ),
    (
        "id a list",
        {"corpus.jsonl": '{"_id": ["d1"]}\n'},
        {},
        '{folder}/corpus.jsonl, line 1: _id ["d1"], expected a string',
    ),
    (
        "id true",
        {"corpus.jsonl": '{"_id": true}\n'},
        {},
        "{folder}/corpus.jsonl, line 1: _id true, expected a string",
    ),
    (
        "text an object",
        {"corpus.jsonl": '{"_id": "d1", "language": "en", "text": {"en": "x"}}\n'},
        {},
        '{folder}/corpus.jsonl, line 1: text {"en": "x"}, expected a string',
    ),
    (
        "excluded no list",
        {"queries.jsonl": '{"_id": "q1", "language": "en", "excluded_documents": "d1"}\n'},
        {},
        '{folder}/queries.jsonl, line 1: excluded_documents "d1", expected a list of document ids',
    ),
    (
        "attribute name",
        {"queries.jsonl": '{"_id": "q1", "language": "en", "a=b": "c"}\n'},
        {},
        "{folder}/queries.jsonl, line 1: field 'a=b', expected a name for an attribute that is not blank and has no =",
    ),
    (
        "no language",
        {"corpus.jsonl": lines([CORPUS[0], {"_id": "d2"}, {"_id": "d3"}])},
        {},
        "{folder}/corpus.jsonl, line 2: 'd2' has no language, expected a field language, "
        "--document-language, --language-key or --language-pattern (und where it is unknown) "
        "(1 more faults)",
    ),
    (
        "no query language",
        {"queries.jsonl": '{"_id": "q1", "text": "x"}\n'},
        {"document_language": "en"},
        "{folder}/queries.jsonl, line 1: 'q1' has no language, expected a field language, "
        "--query-language, --language-key or --language-pattern (und where it is unknown)",
    ),
    (
        "language code",
        {"corpus.jsonl": '{"_id": "d1", "language": "qq"}\n'},
        {},
        "{folder}/corpus.jsonl, line 1: language 'qq': expected an ISO 639 code such as ru, "
        "with a script where needed (zh-Hant), or an English name such as Russian",
    ),
    (
        "document twice",
        {"corpus.jsonl": lines([*CORPUS, {**CORPUS[0], "text": "x"}])},
        {},
        "{folder}/corpus.jsonl, line 4: document id 'd1' has another text than in line 1; expected one row for each id",
    ),
    (
        "document in two languages",
        {"corpus.jsonl": lines([*CORPUS, {**CORPUS[0], "language": "fr"}])},
        {},
        "{folder}/corpus.jsonl, line 4: document id 'd1' has another language than in line 1; "
        "expected one row for each id",
    ),
    (
        "query twice",
        {"queries.jsonl": lines([*QUERIES, {**QUERIES[0], "text": "x"}])},
        {},
        "{folder}/queries.jsonl, line 3: query id 'q1' has another text than in line 1; expected one row for each id",
    ),
    (
        "conflict",
        {"qrels/test.tsv": QRELS + "q1\td1\t1\n"},
        {},
        "{folder}/qrels/test.tsv, line 6: query 'q1' and document 'd1' have grade 1 and in "
        "line 2 2; expected one grade",
    ),
    (
        "NaN grade",
        {"qrels/test.tsv": QRELS + "q1\td3\tnan\nq2\td2\tinf\n"},
        {},
        "{folder}/qrels/test.tsv, line 6: grade 'nan', expected a finite number (1 more faults)",
    ),
    (
        "huge grade",
        {"qrels/test.tsv": QRELS + "q1\td3\t1e999\n"},
        {},
        "{folder}/qrels/test.tsv, line 6: grade '1e999', expected a finite number",
    ),
    (
        "grade with _",
        {"qrels/test.tsv": QRELS + "q1\td3\t1_0\n"},
        {},
        "{folder}/qrels/test.tsv, line 6: grade '1_0', expected a finite number",
    ),
    (
        "unknown header",
        {"qrels/test.tsv": "a\tb\tc\nq1\td1\t1\n"},
        {},
        "{folder}/qrels/test.tsv, line 1: grade 'c', expected a finite number",
    ),
    (
        "two columns",
        {"qrels/test.tsv": QRELS + "q1\td3\n"},
        {},
        "{folder}/qrels/test.tsv, line 6: 2 columns in 'q1\\td3', expected 3 columns separated "
        "by tabs: query-id, corpus-id, score",
    ),
    (
        "spaces in a tsv",
        {"qrels/test.tsv": "q1 d1 1\n"},
        {},
        "{folder}/qrels/test.tsv, line 1: 1 columns in 'q1 d1 1', expected 3 columns separated "
        "by tabs: query-id, corpus-id, score",
    ),
    (
        "prels",
        {"qrels/test.tsv": None, "qrels/test.trec": "q1 d1 1 2 0.5\n"},
        {},
        "{folder}/qrels/test.trec, line 1: 5 columns in 'q1 d1 1 2 0.5', expected 4 columns: "
        "query, iteration, document, grade",
    ),
    (
        "blank id",
        {"qrels/test.tsv": QRELS + " \td1\t1\n"},
        {},
        "{folder}/qrels/test.tsv, line 6: query id ' ', expected one that is not blank",
    ),
    (
        "empty qrels",
        {"qrels/test.tsv": ""},
        {},
        "{folder}/qrels/test.tsv: the file is empty: no rows",
    ),
    (
        "header only",
        {"qrels/test.tsv": "query-id\tcorpus-id\tscore\n"},
        {},
        "{folder}/qrels/test.tsv: no rows below the header, expected one for each judged pair",
    ),
    (
        "empty corpus",
        {"corpus.jsonl": "\n\n"},
        {},
        "the files hold no sound documents, expected at least one",
    ),
    (
        "Latin-1",
        {"corpus.jsonl": lines(CORPUS).encode() + '{"_id": "é"}\n'.encode("latin-1")},
        {},
        "{folder}/corpus.jsonl, line 4: byte 0xE9, expected UTF-8",
    ),
    (
        "unknown field",
        {},
        {"renamed": {"a": "colour"}},
        "--map a=colour: unknown field 'colour', expected one of _id, title, text, language, "
        "family, sibling_group, related_group, tier, mode, strategy, audit_status, "
        "source_query, excluded_documents, query-id, corpus-id, score",
    ),
    (
        "unknown column",
        {},
        {"renamed": {"lang": "language"}},
        "--map lang=language: no document or query has 'lang', expected it in one",
    ),
    (
        "flag",
        {},
        {"query_language": "qq"},
        "--query-language: language 'qq': expected an ISO 639 code such as ru, with a script where "
        "needed (zh-Hant), or an English name such as Russian",
    ),
    (
        "pattern",
        {},
        {"language_pattern": "("},
        "--language-pattern '(': missing ), unterminated subpattern at position 0; expected a regex",
    ),
    (
        "several files",
        {"queries.jsonl": "x\n", "corpus.jsonl": "y\n", "qrels/test.tsv": QRELS + "z\n"},
        {},
        "{folder}/queries.jsonl, line 1: Expecting value at column 1 in 'x', expected a JSON object (2 more faults)",
    ),
]


@pytest.mark.parametrize(("changes", "options", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, changes, options, message):
    cache, before = kept
    path = folder(changes)
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", **options)
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match=r"no such folder, expected one with corpus\.jsonl"):
        folders.read(tmp_path / "none", options=Options())


def test_lenient_keeps_what_is_sound_and_lists_every_row(folder, cache):
    path = folder(
        {
            "corpus.jsonl": lines([*CORPUS, "{\n", {**CORPUS[0], "text": "x"}, {"_id": "d4", "text": "y"}]),
            "queries.jsonl": lines([*QUERIES, {**QUERIES[0], "text": "x"}, {"text": "no id"}]),
            "qrels/test.tsv": QRELS + "q1\td1\t3\nq1\td3\tnan\nq2\td2\n",
        }
    )
    found = report(folders.read(path, options=Options(lenient=True)))
    assert [(mended.kind, mended.n) for mended in found.mended] == [
        ("query again with other content: the first kept", 1),
        ("query dropped", 1),
        ("document dropped", 1),
        ("document again with other content: the first kept", 1),
        ("language not given: und", 1),
        ("conflicting grade: the higher kept", 1),
        ("judgement dropped", 2),
    ]
    assert found.mended[-1].places[1].startswith(f"{path}/qrels/test.tsv, line 8: 2 columns")
    stored(cache, path, lenient=True)
    store, task = task_of(cache)
    assert store.corpus(task.task_id).texts[0] == "heart attack"
    assert store.corpus(task.task_id).languages[-1] == "und"
    assert list(store.queries(task.task_id).attributes["ambiguous_id"]) == ["yes", None]
    assert store.flags(task.task_id) == (Flag("query", "q1", "ambiguous id"),)
    assert grades(store, task)["q1", "d1"] == 3
    assert store.benchmark("mine").settings["tasks"]["main"]["report"]["mended"][-1]["n"] == 2


# Out and in again

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = TEXT.filter(str.strip)
TABLE_NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=12).filter(
    str.strip
)


@settings(max_examples=12)
@given(
    documents=st.dictionaries(NAME, TEXT, min_size=1, max_size=6),
    queries=st.dictionaries(NAME, TEXT, min_size=1, max_size=4),
    absent=TABLE_NAME,
    escaped=st.booleans(),
)
def test_hostile_ids_and_texts_come_back_unchanged(tmp_path_factory, documents, queries, absent, escaped):
    root = tmp_path_factory.mktemp("hostile")
    (root / "qrels").mkdir()
    for file, rows in (("corpus.jsonl", documents), ("queries.jsonl", queries)):
        found = (json.dumps({"_id": name, "text": text}, ensure_ascii=escaped) + "\n" for name, text in rows.items())
        (root / file).write_bytes("".join(found).encode())
    (root / "qrels" / "test.tsv").write_bytes(f"{absent}\t{absent}\t1\n".encode())
    cache = Cache(root / "cache")
    stored(cache, root, document_language="und", query_language="und")
    store, task = task_of(cache)
    corpus, asked = store.corpus(task.task_id), store.queries(task.task_id)
    assert dict(zip(corpus.ids, corpus.texts, strict=True)) == documents
    assert dict(zip(asked.id, asked.text, strict=True)) == {absent: ""} | queries
    assert grades(store, task) == {(absent, absent): 1.0}


def test_export_and_import_again_give_the_same_benchmark_and_the_same_measures(folder, tmp_path, capsys):
    def call(*arguments):
        assert main([*arguments, "--cache", str(tmp_path / "cache")]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    corpus = [*CORPUS, {"_id": "q2", "text": "ataque al corazón", "language": "es", "family": "c1"}]
    corpus[0] = {**corpus[0], "sibling_group": "s", "related_group": "r"}
    queries = [{**QUERIES[0], "text": "attack of the heart", "sibling_group": "s"}, QUERIES[1]]
    qrels = QRELS + "q2\tgone\t0.123456789\nq2\td2\t1\n"
    path = folder({"corpus.jsonl": lines(corpus), "queries.jsonl": lines(queries), "qrels/test.tsv": qrels})
    call("import-benchmark", str(path), "--benchmark", "one", "--format", "beir", "--exclude-self")
    call("export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out"))
    call("import-benchmark", str(tmp_path / "out"), "--name", "two", "--format", "beir")
    answers = []
    for name in ("one", "two"):
        call("run", "--benchmark", name, "--systems", "bm25")
        rows = json.loads(call("per-query", "--benchmark", name, "--format", "json"))
        scores = json.loads(call("scores", "--benchmark", name, "--format", "json"))["systems"]
        answers.append((rows, scores))
    assert answers[0] == answers[1]
    assert [row["recall_at_10_same"] for row in answers[0][0]] == [1, 0]  # q2's own document shares its words alone
    assert [row["rr"] for row in answers[0][0]] == [1, 0]
    cache = Cache(tmp_path / "cache")
    (store, one), (_, two) = task_of(cache, "one"), task_of(cache, "two")
    assert grades(store, one) == grades(store, two)
    assert one.checksum == two.checksum


def test_a_dry_run_reports_and_touches_nothing(folder, tmp_path, capsys):
    arguments = ["import-benchmark", str(folder()), "--benchmark", "b", "--format", "beir", "--cache"]
    assert main([*arguments, str(tmp_path / "cache"), "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["n_judgements"] == 4
    assert "judgements: 4 (3 relevant)" in err
    assert "parallel: yes (each of 1 families is asked in all 2 query languages)" in err
    assert not (tmp_path / "cache").exists()
    assert main([*arguments, str(tmp_path / "cache")]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "stored b@1: 3 documents, 2 queries"


def test_bad_flags_are_one_line(folder, tmp_path, capsys):
    arguments = [
        "import-benchmark",
        str(folder()),
        "--benchmark",
        "b",
        "--format",
        "beir",
        "--cache",
        str(tmp_path / "c"),
    ]
    assert main([*arguments, "--map", "lang"]) == 1
    assert "--map 'lang': expected COLUMN=FIELD, such as lang=language" in capsys.readouterr().err
    assert main([*arguments, "--task", "a,b"]) == 1
    assert "name 'a,b': expected one without @ and comma" in capsys.readouterr().err
