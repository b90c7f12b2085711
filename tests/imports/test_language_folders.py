"""A folder for each language, and queries paired by what is relevant to them."""

import gzip

import pytest

from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.imports.report import report, table
from analysis.model import parallel
from tests.hand_made import state
from tests.imports.imported import command, grades, lines, round_trip, stored, task_of, written

TEXTS = {
    "en": ({"1": "heart attack", "2": "broken bone"}, {"7": "attack of the heart", "8": "bone"}),
    "fr": ({"1": "crise cardiaque", "2": "os cassé"}, {"7": "crise du coeur", "8": "os"}),
    "zho": ({"1": "心臟病發作", "2": "骨折"}, {"7": "心臟病", "8": "骨折了"}),
}
QRELS = {"en": "7\t1\t1\n8\t2\t2\n", "fr": "7\t1\t1\n8\t2\t1\n", "zho": "7\t1\t0\n8\t2\t1\n"}


def rows(texts):
    return lines({"_id": name, "text": text} for name, text in texts.items())


FILES = {
    f"{tag}/{name}": content
    for tag, (documents, queries) in TEXTS.items()
    for name, content in {
        "corpus.jsonl": rows(documents),
        "queries.jsonl": rows(queries),
        "qrels/test.tsv": QRELS[tag],
    }.items()
}
SHARED = dict.fromkeys(f"{tag}/corpus.jsonl" for tag in TEXTS) | {
    "corpus.jsonl": lines({"_id": name, "text": text, "language": "en"} for name, text in TEXTS["en"][0].items())
}


@pytest.fixture
def folder(tmp_path):
    """Three folders, some files replaced; None leaves one out."""

    def made(changes=None, *, name="mine"):
        return written(tmp_path / name, {**FILES, **(changes or {})})

    return made


# A folder for each language


def test_the_same_id_in_three_folders_is_three_documents_and_three_queries(folder, cache):
    stored(cache, folder())
    store, task = task_of(cache)
    corpus, queries = store.corpus(task.task_id), store.queries(task.task_id)
    assert corpus.ids == ("en:1", "en:2", "fr:1", "fr:2", "zho:1", "zho:2")
    assert corpus.texts[::2] == ("heart attack", "crise cardiaque", "心臟病發作")
    assert corpus.languages == ("en", "en", "fr", "fr", "zh", "zh")
    assert list(queries.id) == ["en:7", "en:8", "fr:7", "fr:8", "zho:7", "zho:8"]
    assert list(queries.language) == ["en", "en", "fr", "fr", "zh", "zh"]
    assert list(queries.family) == list(queries.id)
    assert grades(store, task) == {
        ("en:7", "en:1"): 1, ("en:8", "en:2"): 2, ("fr:7", "fr:1"): 1,
        ("fr:8", "fr:2"): 1, ("zho:7", "zho:1"): 0, ("zho:8", "zho:2"): 1,
    }  # fmt: skip
    assert not store.benchmark("mine").parallel
    assert len(store.benchmark("mine").settings["tasks"]["main"]["files"]) == 9


def test_one_id_is_one_question_only_when_the_user_says_so(folder):
    path = folder()
    apart, together = (folders.read(path, options=Options(parallel_ids=given)) for given in (False, True))
    assert [query.family for query in together.queries] == ["question 7", "question 8"] * 3
    assert (parallel(apart.queries), parallel(together.queries)) == (False, True)
    assert [document.family for document in together.documents] == [document.id for document in together.documents]
    assert together.judgements == apart.judgements


def test_the_corpus_may_stand_above_the_folders(folder):
    found = folders.read(folder(SHARED), options=Options(parallel_ids=True))
    assert [document.id for document in found.documents] == ["1", "2"]
    assert [query.id for query in found.queries] == ["en:7", "en:8", "fr:7", "fr:8", "zho:7", "zho:8"]
    assert [(row.query_id, row.document_id) for row in found.judgements][2:4] == [("fr:7", "1"), ("fr:8", "2")]
    assert not {query.family for query in found.queries} & {document.family for document in found.documents}


def test_a_record_may_say_another_language_and_its_family_and_exclude_documents(folder):
    queries = [
        {"id": 7, "text": "x", "language": "de", "family": "f", "excluded_documents": ["2", "9"]},
        {"id": 8, "text": "y", "metadata": {"lang": "sv"}},
        {"id": 9, "text": "z"},
    ]
    found = folders.read(
        folder({"en/queries.jsonl": lines(queries)}), options=Options(parallel_ids=True, language_key="metadata.lang")
    )
    first, second, third = found.queries[:3]
    assert (first.id, first.language, first.family, first.excluded_documents) == ("en:7", "de", "f", ("en:2", "en:9"))
    assert (second.language, second.family) == ("sv", "question 8")
    assert (third.id, third.language) == ("en:9", "en")


def test_a_judged_query_without_a_text_has_the_language_of_its_folder(folder):
    found = folders.read(folder({"zho/qrels/test.tsv": "7\t1\t1\n99\t2\t1\n"}), options=Options(query_language="en"))
    assert found.without_text == ("zho:99",)
    assert found.queries[-1].language == "zh"


def test_mapped_ids_packed_files_and_other_judgements(folder):
    changes = {
        "fr/corpus.jsonl": None,
        "fr/corpus.jsonl.gz": gzip.compress(rows(TEXTS["fr"][0]).encode()),
        "zho/qrels/test.tsv": None,
        "zho/qrels.json": '{"7": {"1": 1}}',
        "en/queries.jsonl": lines([{"nr": 7, "_id": "no", "text": "x"}]),
        "en/qrels/test.tsv": "7\t1\t1\n",
    }
    found = folders.read(folder(changes), options=Options(renamed={"nr": "_id"}))
    assert found.queries[0].id == "en:7"
    assert ("zho:7", "zho:1", 1) in found.judgements


def test_the_report_says_how_ids_are_written(folder):
    found = report(folders.read(folder(), options=Options()))
    assert (found.n_documents, found.n_queries, found.n_judgements) == (6, 6, 6)
    assert ("ids written after their folder, such as en:1", "12", "") in table(found)
    assert found.doubts.judgements_without_query.n == found.doubts.dangling_documents.n == 0


FAULTS = [
    (
        "no language",
        {"images/a.png": b"x"},
        {},
        "{folder}/images: language 'images': expected an ISO 639 code such as ru, with a script where needed "
        "(zh-Hant), or an English name such as Russian; a folder for each language has no other folders",
    ),
    (
        "no queries in one",
        {"fr/queries.jsonl": None},
        {},
        "{folder}/fr: found corpus.jsonl, qrels/test.tsv, expected one queries.jsonl (also .gz or .zst)",
    ),
    (
        "no corpus in one",
        {"zho/corpus.jsonl": None},
        {},
        "{folder}/zho: found qrels/test.tsv, queries.jsonl, expected one corpus.jsonl (also .gz or .zst)",
    ),
    (
        "a fault in one",
        {"fr/corpus.jsonl": '{"_id": "1"}\n{"text": "x"}\n'},
        {},
        "{folder}/fr/corpus.jsonl, line 2: _id is missing, expected an id",
    ),
    (
        "id no text",
        {"fr/corpus.jsonl": '{"_id": ["1"]}\n'},
        {},
        '{folder}/fr/corpus.jsonl, line 1: _id ["1"], expected a string',
    ),
    (
        "twice",
        {"en/queries.jsonl": '{"_id": "7", "text": "x"}\n{"_id": "7", "text": "y"}\n'},
        {},
        "{folder}/en/queries.jsonl, line 2: query id 'en:7' has another text than in line 1; "
        "expected one row for each id",
    ),
    (
        "conflict",
        {"en/qrels/test.tsv": "7\t1\t1\n7\t1\t2\n"},
        {},
        "{folder}/en/qrels/test.tsv, line 2: query '7' and document '1' have grade 2 and in line 1 1; "
        "expected one grade",
    ),
    (
        "dotted id",
        {},
        {"renamed": {"meta.id": "_id"}},
        "--map meta.id=_id: expected a column without a dot where each language has a folder",
    ),
    (
        "no folders",
        {"queries.jsonl": rows({"1": "x"}), "corpus.jsonl": rows({"1": "x"}), "qrels.txt": "1 0 1 1\n"},
        {"parallel_ids": True},
        "--parallel-ids: {folder} has no folder for each language, expected such as en and ja",
    ),
    (
        "other format",
        {},
        {"format": "table", "parallel_ids": True},
        f"--parallel-ids: format table, expected {' or '.join(folders.OWN_FORMATS['--parallel-ids'])}",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "options", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, changes, options, message):
    cache, before = kept
    path = folder(changes)
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", **options)
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


@pytest.mark.slow
def test_folders_exported_as_beir_and_imported_again_give_the_same_measures(folder, tmp_path):
    first, second = round_trip(folder(), tmp_path, "--format", "beir", "--parallel-ids")
    assert first == second
    assert {row["query_id"]: row["recall_at_10"] for row in first}["en:7"] == 1


# Queries paired by what is relevant to them

ASKED = [("0", "english", "A stroke?"), ("1", "english", "What is a rash?"), ("2", "german", "Was ist ein Schlag?"),
         ("3", "german", "Was ist ein Ausschlag?"), ("4", "german", "Was?")]  # fmt: skip
OFFSET = {
    "corpus.jsonl": lines({"_id": str(n), "text": f"text {n}", "language": "en"} for n in range(10, 15)),
    "topics.jsonl": lines({"qid": name, "language": tag, "query": text} for name, tag, text in ASKED),
    "qrels.txt": "0 0 10 2\n0 0 11 1\n0 0 12 0\n1 0 12 1\n2 0 11 1\n2 0 10 1\n3 0 12 2\n4 0 13 0\n",
}
PAIRED = {"format": "trec", "family_by_judgements": True}


def test_queries_with_the_same_relevant_documents_are_one_question(tmp_path):
    found = folders.read(written(tmp_path, OFFSET), options=Options(**PAIRED))
    assert [(query.id, query.family) for query in found.queries] == [
        ("0", "0"), ("1", "1"), ("2", "0"), ("3", "1"), ("4", "4"),
    ]  # fmt: skip
    assert report(found).notices == {folders.PAIRED: 4}
    without = folders.read(tmp_path, options=Options(format="trec"))
    assert [query.family for query in without.queries] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"qrels.txt": "0 0 10 1\n1 0 12 1\n2 0 10 1\n3 0 10 1\n"},
            "--family-by-judgements: queries '2' and '3' are both in de and have the same relevant documents, expected "
            "one query in a language for each set",
        ),
        (
            {"topics.jsonl": lines([{"qid": "0", "language": "en", "query": "x", "family": "f"}])},
            "--family-by-judgements: query '0' says its family, 'f'; expected none that does",
        ),
        (
            {"qrels.txt": "0 0 10 1\n1 0 12 1\n2 0 11 1\n"},
            "--family-by-judgements: no two queries have the same relevant documents, expected some",
        ),
    ],
    ids=["ambiguous", "own family", "none"],
)
def test_queries_that_cannot_be_paired_are_refused(tmp_path, kept, changes, message):
    cache, before = kept
    with pytest.raises(InputError) as error:
        stored(cache, written(tmp_path, {**OFFSET, **changes}), name="faulty", **PAIRED)
    assert str(error.value) == message
    assert state(cache.root) == before


def test_the_options_are_flags_of_the_command(folder, tmp_path):
    cache = tmp_path / "cache"
    command(cache, "import-benchmark", folder(), "--benchmark", "a", "--format", "beir", "--parallel-ids")
    path = written(tmp_path / "offset", OFFSET)
    arguments = ("--format", "trec", "--family-by-judgements", "--topic-field", "title")
    command(cache, "import-benchmark", path, "--benchmark", "b", *arguments)
    found = command(cache, "list", "benchmarks", "--format", "csv")
    assert "a" in found
    assert "b" in found
