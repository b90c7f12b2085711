"""Dataset repositories of mteb tasks: where parts are found, how subsets are told apart, what each fault says."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.imports.report import report
from analysis.paths import Cache
from tests.hand_made import state
from tests.imports.imported import grades, lines, stored, task_of, written


def parquet(rows):
    columns = {name: [row.get(name) for row in rows] for name in rows[0]}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


EN = [{"_id": "1", "title": "", "text": "heart attack"}, {"_id": "2", "title": "T", "text": "broken bone"}]
FR = [{"_id": "1", "title": "", "text": "crise cardiaque"}, {"_id": "3", "title": "", "text": "fièvre"}]
ASKED_EN = [{"_id": "q1", "text": "infarction"}, {"_id": "q2", "text": "fracture"}]
ASKED_FR = [{"_id": "q1", "text": "infarctus"}, {"_id": "q3", "text": "température"}]


def judged(*rows):
    return [{"query-id": query, "corpus-id": document, "score": grade} for query, document, grade in rows]


PLAIN = {
    "corpus/test-00000-of-00002.parquet": parquet(EN[:1]),
    "corpus/test-00001-of-00002.parquet": parquet(EN[1:]),
    "queries/test-00000-of-00001.parquet": parquet(ASKED_EN),
    "data/test-00000-of-00001.parquet": parquet(judged(("q1", "1", 2), ("q2", "2", 1))),
}
TWO = {
    "en-corpus/test-00000-of-00001.parquet": parquet(EN),
    "en-queries/test-00000-of-00001.parquet": parquet(ASKED_EN),
    "en-qrels/test-00000-of-00001.parquet": parquet(judged(("q1", "1", 1), ("q2", "2", 1), ("q2", "3", 1))),
    "fr-corpus.jsonl": lines(FR),
    "fr-queries.jsonl": lines(ASKED_FR),
    "fr-qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\t1\t1\nq3\t3\t1\nq3\t9\t1\n",
}
HEADER = """---
configs:
- config_name: corpus
  data_files:
  - split: {split}
    path: {corpus}
- config_name: qrels
  data_files: [{{split: heart, path: heart/qrels.jsonl}}, {{split: lung, path: [lung/qrels.jsonl]}}]
- config_name: queries-en
  data_files: {{heart: heart/queries-en.jsonl, lung: lung/queries-en.jsonl}}
- config_name: queries-es
  data_files: heart/queries-es.jsonl
---
# A card
"""
SHARED = {
    "README.md": HEADER.format(split="heart", corpus="heart/corpus-*.jsonl"),
    "heart/corpus-1.jsonl": lines(EN[:1]),
    "heart/corpus-2.jsonl": lines(EN[1:]),
    "heart/qrels.jsonl": lines(judged(("q1", "1", 1), ("q2", "2", 1), ("q8", "2", 1))),
    "heart/queries-en.jsonl": lines(ASKED_EN),
    "heart/queries-es.jsonl": lines([{"_id": "q1", "text": "infarto"}]),
}
ENGLISH = {"query_language": "en", "document_language": "en"}


@pytest.fixture
def folder(tmp_path):
    return lambda files, name="task": written(tmp_path / name, files)


def read(path, **options):
    return folders.read(path, options=Options(format="mteb", **options))


def pairs(found):
    return {(row.query_id, row.document_id): row.grade for row in found.judgements}


# What is read


@pytest.mark.parametrize(
    "files",
    [
        PLAIN,
        {"corpus.jsonl": lines(EN), "queries.jsonl": lines(ASKED_EN), "qrels/test.tsv": "q1\t1\t2\nq2\t2\t1\n"},
        {
            "corpus.jsonl": lines(EN),
            "queries.jsonl": lines([{"id": row["_id"], "text": row["text"]} for row in ASKED_EN]),
            "qrels/test.jsonl": lines(judged(("q1", "1", 2), ("q2", "2", 1))),
            "qrels/dev.jsonl": lines(judged(("q1", "2", 1))),
            "top_ranked/test.jsonl": lines([{"query-id": "q1", "corpus-ids": ["1"]}]),
        },
        {
            "data/corpus-00000-of-00001.parquet": parquet(EN),
            "data/queries-00000-of-00001.parquet": parquet(ASKED_EN),
            "qrels/test-00000-of-00001.parquet": parquet(judged(("q1", "1", 2), ("q2", "2", 1))),
        },
        {
            "README.md": "---\ndataset_info: {}\nconfigs:\n- data_files: [{split: test, path: judged/a.jsonl}]\n"
            "- {config_name: corpus, data_files: [{split: corpus, path: a.jsonl}]}\n"
            "- {config_name: queries, data_files: {queries: b.jsonl}}\n---\n",
            "a.jsonl": lines(EN),
            "b.jsonl": lines(ASKED_EN),
            "judged/a.jsonl": lines(judged(("q1", "1", 2), ("q2", "2", 1))),
            "judged/b.jsonl": lines(judged(("q1", "1", 0))),
        },
    ],
    ids=["shards", "beir", "lines", "splits", "header"],
)
def test_the_same_task_in_every_layout(folder, cache, files):
    assert stored(cache, folder(files), format="mteb", **ENGLISH) == ("mine@1", True)
    store, task = task_of(cache)
    assert grades(store, task) == {("q1", "1"): 2, ("q2", "2"): 1}
    assert store.corpus(task.task_id).texts == ("heart attack", "T broken bone")
    assert list(store.queries(task.task_id).text) == ["infarction", "fracture"]
    assert "subset" not in store.queries(task.task_id).attributes


def test_ids_keep_their_names_unless_subsets_mean_something_else_by_them(folder):
    found = read(folder(TWO), language_key="subset")
    assert [(row.id, row.language, row.text) for row in found.documents] == [
        ("en:1", "en", "heart attack"), ("2", "en", "T broken bone"),
        ("fr:1", "fr", "crise cardiaque"), ("3", "fr", "fièvre"),
    ]  # fmt: skip
    assert [(row.id, row.language, row.attributes) for row in found.queries] == [
        ("en:q1", "en", {"subset": "en"}), ("q2", "en", {"subset": "en"}),
        ("fr:q1", "fr", {"subset": "fr"}), ("q3", "fr", {"subset": "fr"}),
    ]  # fmt: skip
    # en judges a document 3 that its corpus lacks: it is not fr's
    assert pairs(found) == {
        ("en:q1", "en:1"): 1, ("q2", "2"): 1, ("q2", "en:3"): 1, ("fr:q1", "fr:1"): 1, ("q3", "3"): 1, ("q3", "9"): 1,
    }  # fmt: skip
    assert report(found).notices == {
        "query ids that several subsets have: written subset:id": 2,
        "document ids that several subsets have: written subset:id": 2,
    }
    assert {row.family for row in found.queries} == {"en:q1", "q2", "fr:q1", "q3"}


def test_one_id_is_one_question_only_where_the_user_says_so(folder):
    found = read(folder(TWO), language_key="subset", parallel_ids=True)
    assert [row.family for row in found.queries] == ["question q1", "question q2", "question q1", "question q3"]


def test_documents_that_subsets_share_word_for_word_are_one_and_queries_never_are(folder):
    files = {**TWO, "fr-corpus.jsonl": lines([EN[0], FR[1]]), "fr-queries.jsonl": lines([ASKED_EN[0], ASKED_FR[1]])}
    found = read(folder(files), **ENGLISH)
    assert [row.id for row in found.documents] == ["1", "2", "3"]
    assert [row.id for row in found.queries] == ["en:q1", "q2", "fr:q1", "q3"]
    assert pairs(found)["fr:q1", "1"] == pairs(found)["en:q1", "1"] == 1
    assert found.n_repeats == 1
    apart = read(folder(files), subset_languages=("query",), document_language="en")
    assert [row.language for row in apart.queries] == ["en", "en", "fr", "fr"]
    assert [row.id for row in apart.documents] == ["1", "2", "3"]
    by_key = read(folder(files), language_key="subset")
    assert [(row.id, row.language) for row in by_key.documents][::2] == [("en:1", "en"), ("fr:1", "fr")]
    in_two = read(folder(files), subset_languages=("en=en:en", "fr=fr:fr"))
    assert [(row.id, row.language) for row in in_two.documents] == [
        ("en:1", "en"), ("2", "en"), ("fr:1", "fr"), ("3", "fr"),
    ]  # fmt: skip


def test_one_subset_alone_keeps_its_ids(folder):
    found = read(folder(TWO), subset="fr", query_language="fr", document_language="fr")
    assert [row.id for row in found.queries] == ["q1", "q3"]
    assert pairs(found) == {("q1", "1"): 1, ("q3", "3"): 1, ("q3", "9"): 1}
    assert found.queries[0].attributes == {"subset": "fr"}


def test_subsets_that_share_corpus_and_judgements_as_the_header_says(folder):
    found = read(folder(SHARED), split="heart", subset_languages=("query",), document_language="en")
    assert [(row.id, row.language) for row in found.queries] == [
        ("en:q1", "en"), ("q2", "en"), ("es:q1", "es"), ("q8", "und"),
    ]  # fmt: skip
    assert [row.id for row in found.documents] == ["1", "2"]
    assert pairs(found) == {("en:q1", "1"): 1, ("q2", "2"): 1, ("es:q1", "1"): 1, ("q8", "2"): 1}
    assert found.without_text == ("q8",)
    assert sorted(found.checksums()) == sorted(name for name in (
        "corpus-1.jsonl", "corpus-2.jsonl", "qrels.jsonl", "queries-en.jsonl", "queries-es.jsonl"))  # fmt: skip


def test_judgements_may_be_called_after_their_subset_alone(folder):
    english = {"corpus-en.jsonl": lines(EN), "queries-en.jsonl": lines(ASKED_EN), "en/test.tsv": "q1\t1\t1\n"}
    french = {"corpus-fr.jsonl": lines(FR), "queries-fr.jsonl": lines(ASKED_FR), "fr/test.tsv": "q1\t3\t1\n"}
    files = {**english, **french}
    assert pairs(read(folder(files), language_key="subset")) == {("en:q1", "en:1"): 1, ("fr:q1", "3"): 1}


@pytest.mark.parametrize(
    ("shape", "name", "expected"),
    [
        ("query-document", "eng-fra", ("en", "fr")),
        ("document-query", "eng-fra", ("fr", "en")),
        ("query_Latn-document_Latn", "eng_Latn-fra_Latn", ("en", "fr")),
        ("eng-fra=sw:ja", "eng-fra", ("sw", "ja")),
    ],
)
def test_languages_come_from_a_subset_only_as_the_user_says(folder, shape, name, expected):
    files = {f"{name}-{kind}": content for kind, content in (
        ("corpus.jsonl", lines(EN)), ("queries.jsonl", lines(ASKED_EN)), ("qrels.tsv", "q1\t1\t1\n"))}  # fmt: skip
    found = read(folder(files), subset_languages=(shape,))
    assert (found.queries[0].language, found.documents[0].language) == expected
    with pytest.raises(InputError, match="'q1' has no language"):
        read(folder(files), document_language="en")


def test_a_records_own_language_comes_first(folder):
    files = {"en-corpus.jsonl": lines([{**EN[0], "language": "de"}]), "en-queries.jsonl": lines(ASKED_EN[:1]),
             "en-qrels.tsv": "q1\t1\t1\n"}  # fmt: skip
    found = read(folder(files), subset_languages=("en=fr:fr",))
    assert (found.queries[0].language, found.documents[0].language) == ("fr", "de")


def test_instructions_become_an_attribute(folder):
    files = {**PLAIN, "instruction.jsonl": lines([{"query-id": "q2", "instruction": "only bones"}])}
    found = read(folder(files), **ENGLISH)
    assert [dict(row.attributes) for row in found.queries] == [{}, {"instruction": "only bones"}]
    asked = [{**ASKED_EN[0], "instruction": "briefly"}, ASKED_EN[1]]
    found = read(folder({**PLAIN, "queries/test-00000-of-00001.parquet": parquet(asked)}, "two"), **ENGLISH)
    assert [dict(row.attributes) for row in found.queries] == [{"instruction": "briefly"}, {}]


def test_whole_numbers_stay_ids_and_columns_may_be_mapped(folder):
    rows = pa.table({"docno": pa.array([7, 12], pa.int32()), "body": ["a", "b"], "n": [1.5, None]})
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    files = {**PLAIN, "corpus/test-00000-of-00002.parquet": sink.getvalue(),
             "corpus/test-00001-of-00002.parquet": sink.getvalue(),
             "data/test-00000-of-00001.parquet": parquet(judged(("q1", 7, 1.0)))}  # fmt: skip
    found = read(folder(files), renamed={"docno": "_id", "body": "text"}, **ENGLISH)
    assert [(row.id, row.text) for row in found.documents] == [("7", "a"), ("12", "b")]
    assert pairs(found) == {("q1", "7"): 1}
    assert found.n_repeats == 2


def test_a_mapped_id_is_written_after_its_subset_too(folder):
    def renamed(rows):
        return [{"docno" if name == "_id" else name: value for name, value in row.items()} for row in rows]

    files = {
        **TWO,
        "en-corpus/test-00000-of-00001.parquet": parquet(renamed(EN)),
        "fr-corpus.jsonl": lines(renamed(FR)),
    }
    found = read(folder(files), renamed={"docno": "_id"}, language_key="subset")
    assert [row.id for row in found.documents] == ["en:1", "2", "fr:1", "3"]


@pytest.mark.parametrize(("name", "renamed"), [("excluded_documents", {}), ("seen", {"seen": "excluded_documents"})])
def test_excluded_documents_are_named_as_the_documents_are(folder, name, renamed):
    asked = [{**ASKED_FR[0], name: ["1", "3"]}, ASKED_FR[1]]
    found = read(folder({**TWO, "fr-queries.jsonl": lines(asked)}), language_key="subset", renamed=renamed)
    assert found.queries[2].excluded_documents == ("fr:1", "3")


def test_merge_keys_of_a_header_are_refused_and_aliases_are_not(folder):
    header = HEADER.format(split="heart", corpus="heart/corpus-*.jsonl")
    aliased = header.replace("heart/queries-es.jsonl\n", "&a heart/queries-es.jsonl\nother: *a\n")
    assert aliased != header
    found = read(folder({**SHARED, "README.md": aliased}), split="heart", **ENGLISH)
    assert len(found.queries) == 4


# What is refused

BOMB = "---\nx0: &x0 [a]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 30)
) + "configs: [{config_name: *x29}]\n---\n"  # fmt: skip
"""A few lines that would be a list of 9 ** 29 items, written out."""
DAMAGED = PLAIN["corpus/test-00000-of-00002.parquet"]
NULL = parquet([{"_id": None, "text": "x"}, {"_id": "2", "text": "y"}])
FAULTS = [
    ("no queries", {"queries/test-00000-of-00001.parquet": None}, {},
     "{folder}: configurations corpus, default, expected one called queries"),
    ("no corpus", {name: None for name in PLAIN if name.startswith("corpus")}, {},
     "{folder}: configurations default, queries, expected one called corpus"),
    ("no qrels", {"data/test-00000-of-00001.parquet": None}, {},
     "{folder}: configurations corpus, queries, expected one called qrels"),
    ("no split", {"data/dev-00000-of-00001.parquet": b""}, {"split": "heart"},
     "{folder}: qrels has the splits dev, test, expected heart (--split chooses)"),
    ("a part is missing", {"corpus/test-00001-of-00002.parquet": None}, {},
     "{folder}/corpus: found 1 of 2 parts of test, expected part 00001 too"),
    ("no subset", {}, {"subset": "fr"}, "--subset 'fr': {folder} has default"),
    ("damaged", {"corpus/test-00000-of-00002.parquet": DAMAGED[:-9]}, {},
     "{folder}/corpus/test-00000-of-00002.parquet: Parquet magic bytes not found in footer. Either the file is "
     "corrupted or this is not a parquet file.; expected a whole Parquet file"),
    ("pointer", {"corpus/test-00000-of-00002.parquet": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"},
     {}, "{folder}/corpus/test-00000-of-00002.parquet: a pointer of Git LFS, expected the file itself (git lfs pull)"),
    ("null id", {"corpus/test-00001-of-00002.parquet": NULL}, {},
     "{folder}/corpus/test-00001-of-00002.parquet, row 1: _id is missing, expected an id"),
    ("id of another kind", {"queries/test-00000-of-00001.parquet": parquet([{"_id": 1.5, "text": "x"}])}, {},
     "{folder}/queries/test-00000-of-00001.parquet: column _id is double, expected text or whole numbers"),
    ("text of another kind", {"queries/test-00000-of-00001.parquet": parquet([{"_id": "1", "text": ["x"]}])}, {},
     "{folder}/queries/test-00000-of-00001.parquet: column text is list<element: string>, expected text"),
    ("no text", {"corpus/test-00000-of-00002.parquet": parquet([{"_id": "1", "image": "x"}])}, {},
     "{folder}/corpus/test-00000-of-00002.parquet: no column for the text of a document among _id, image, expected one "
     "called text or contents or body or passage (--map COLUMN=text)"),
    ("no grade", {"data/test-00000-of-00001.parquet": parquet([{"query-id": "q1", "corpus-id": "1"}])}, {},
     "{folder}/data/test-00000-of-00001.parquet: no column for the score of a judgement among query-id, corpus-id, "
     "expected one called score or relevance or rel or label or grade or judgement (--map COLUMN=score)"),
    ("null grade", {"data/test-00000-of-00001.parquet": parquet(judged(("q1", "1", 1), ("q2", "2", None)))}, {},
     "{folder}/data/test-00000-of-00001.parquet, row 2: grade 'None', expected a finite number"),
    ("header", {"README.md": "---\nconfigs: [}\n---\n"}, {},
     "{folder}/README.md, line 2: expected the node content, but found '}'; expected a header in YAML between two "
     "lines of ---"),
    ("merge keys", {"README.md": "---\na: &a {x: 1}\nb: {<<: *a}\n---\n"}, {},
     "{folder}/README.md, line 3: could not determine a constructor for the tag 'tag:yaml.org,2002:merge'; expected "
     "a header in YAML between two lines of ---"),
    ("configs", {"README.md": "---\nconfigs: corpus\n---\n"}, {},
     "{folder}/README.md: configs 'corpus', expected a list of configurations"),
    ("a name twice", {"README.md": "---\nconfigs: [{config_name: a, data_files: x}, {config_name: a}]\n---"}, {},
     "{folder}/README.md: config_name 'a', expected another name for each configuration"),
    ("data_files", {"README.md": "---\nconfigs: [{config_name: a, data_files: [{split: test, path: 1}]}]\n---\n"}, {},
     "{folder}/README.md: data_files [{'path': 1, 'split': 'test'}] of configuration a, expected files for each split"),
    ("bomb", {"README.md": BOMB}, {}, "{folder}/README.md: config_name [[[[[[[...], [...], [...], "
     "[...], [...], [...], ...], [[...], [...], [...], [..., expected another name for each configuration"),
    ("outside", {"README.md": "---\nconfigs: [{config_name: a, data_files: ../../etc/*}]\n---\n"}, {},
     "{folder}/README.md: data_files '../../etc/*', expected files inside the folder"),
    ("elsewhere", {"README.md": "---\nconfigs: [{config_name: a, data_files: 'hf://x/y.parquet'}]\n---\n"}, {},
     "{folder}/README.md: data_files 'hf://x/y.parquet', expected files inside the folder"),
    ("not fetched", {"README.md": HEADER.format(split="test", corpus="none/*.parquet")}, {"split": "heart"},
     "{folder}: no file of corpus, split test; expected those that its README names"),
    ("conflict", {"qrels/test.tsv": "q1\t1\t1\nq1\t1\t2\n"}, {},
     "{folder}/qrels/test.tsv, line 2: query 'q1' and document '1' have grade 2 and in line 1 1; expected one grade"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "options", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, changes, options, message):
    cache, before = kept
    path = folder({**PLAIN, **changes})
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="mteb", **{**ENGLISH, **options})
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset": "de"}, "--subset 'de': {folder} has en, fr"),
        ({"subset_languages": ("de=de:de",)},
         "--subset-languages 'de=de:de': expected NAME=QUERY:DOCUMENT with a subset of en, fr"),
        ({"subset_languages": ("en=en",)},
         "--subset-languages 'en=en': expected NAME=QUERY:DOCUMENT with a subset of en, fr"),
        ({"subset_languages": ("en",)},
         "--subset-languages 'en': expected NAME=QUERY:DOCUMENT, or a shape as query-document"),
        ({"subset_languages": ("query-query",)},
         "--subset-languages 'query-query': expected NAME=QUERY:DOCUMENT, or a shape as query-document"),
        ({"subset_languages": ("query-document",)},
         "--subset-languages 'query-document': subset 'en' has another shape, expected it of all"),
        ({"subset_languages": ("en=qq:en",), "query_language": "fr", "document_language": "fr"},
         "{folder}/en-queries/test-00000-of-00001.parquet, row 1: language 'qq': expected an ISO 639 code such as ru, "
         "with a script where needed (zh-Hant), or an English name such as Russian (1 more faults)"),
        ({"format": "beir", "subset": "en"}, "--subset: format beir, expected mteb or datasets or m3retrieve"),
    ],
)  # fmt: skip
def test_options_that_fit_no_subset(folder, kept, options, message):
    cache, before = kept
    path = folder(TWO)
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", **{"format": "mteb", **options})
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


def test_a_shared_corpus_has_one_language(folder):
    path = folder(SHARED)
    with pytest.raises(InputError) as error:
        read(path, split="heart", subset_languages=("en=en:en", "es=es:fr"))
    expected = f"--subset-languages: {path}/heart/corpus-1.jsonl would be in en and fr, expected one language for it"
    assert str(error.value) == expected


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match="no such folder, expected the dataset repository of an mteb task"):
        read(tmp_path / "none")


def test_lenient_keeps_what_is_sound(folder):
    files = {**PLAIN, "corpus/test-00001-of-00002.parquet": NULL,
             "data/test-00000-of-00001.parquet": parquet(judged(("q1", "1", 1), ("q2", "2", None)))}  # fmt: skip
    found = read(folder(files), lenient=True, **ENGLISH)
    assert [row.id for row in found.documents] == ["1", "2"]
    assert [(mended.kind, mended.n) for mended in found.faults.mended()] == [
        ("document dropped", 1), ("judgement dropped", 1)]  # fmt: skip


# Out and in again


@pytest.mark.slow
def test_predictions_fit_and_export_and_import_again_give_the_same_measures(folder, tmp_path, capsys):
    def call(*arguments):
        assert main([*arguments, "--cache", str(tmp_path / "cache")]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    predicted = {
        "mteb_model_meta": {"model_name": "org/x", "revision": "1"},
        "en": {"test": {"q1": {"1": 0.9, "2": 0.5}, "q2": {"1": 0.8, "2": 0.7}}},
        "fr": {"test": {"q1": {"1": 0.4, "3": 0.3}}},
    }
    (tmp_path / "predictions.json").write_text(json.dumps(predicted), encoding="utf-8")
    call("import-benchmark", str(folder(TWO)), "--benchmark", "one", "--format", "mteb", "--language-key", "subset")
    call("import-run", str(tmp_path / "predictions.json"), "--benchmark", "one", "--system", "x", "--format", "mteb")
    call("export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out"))
    call("export", "--benchmark", "one", "--run", "x", "--format", "trec", "-o", str(tmp_path / "out.trec"))
    call("import-benchmark", str(tmp_path / "out"), "--benchmark", "two", "--format", "beir")
    call("import-run", str(tmp_path / "out.trec"), "--benchmark", "two", "--system", "x")
    rows = [json.loads(call("per-query", "--benchmark", name, "--format", "json")) for name in ("one", "two")]
    assert rows[0] == rows[1]
    assert {row["query_id"]: row["rr"] for row in rows[0]} == {"en:q1": 1, "q2": 0.5, "fr:q1": 1, "q3": 0}
    stores = [task_of(Cache(tmp_path / "cache"), name) for name in ("one", "two")]
    assert grades(*stores[0]) == grades(*stores[1])
