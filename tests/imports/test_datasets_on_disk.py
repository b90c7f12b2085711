"""Saved Hugging Face datasets: what is read, judgements from families, and what each fault says."""

import io
import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.paths import Cache
from tests.hand_made import state
from tests.imports.imported import grades, lines, stored, task_of, written

CORPUS = [
    {"_id": "d1", "text": "heart attack", "language": "en"},
    {"_id": "d2", "text": "infarto", "language": "es"},
    {"_id": "d3", "text": "broken bone", "language": "en"},
]
QUERIES = [
    {"_id": "q1", "text": "infarction", "language": "en", "tier": 2},
    {"_id": "q2", "text": "ataque", "language": "es", "tier": None},
]
QRELS = [
    {"query-id": "q1", "corpus-id": "d1", "score": 2},
    {"query-id": "q1", "corpus-id": "d2", "score": 1},
    {"query-id": "q2", "corpus-id": "d3", "score": 0},
]


def arrow(rows, *, stream=True, batch=2):
    table = pa.Table.from_pylist(rows)
    sink = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)
    return sink.getvalue()


def saved(name, rows, *, parts=1, **options):
    """The files of one saved dataset, as ``save_to_disk`` names them."""
    files = [f"data-{part:05}-of-{parts:05}.arrow" for part in range(parts)]
    listed = {"_data_files": [{"filename": file} for file in files], "_fingerprint": "0", "_split": None}
    found = {f"{name}/{file}": arrow(rows[part::parts], **options) for part, file in enumerate(files)}
    return {**found, f"{name}/state.json": json.dumps(listed), f"{name}/dataset_info.json": "{}"}


THREE = {**saved("corpus", CORPUS), **saved("queries", QUERIES), **saved("qrels", QRELS)}
PATENTS = [
    {"id": f"{number}-{tag}", "publication_number": number, "language": tag, "title": title, "abstract": abstract,
     "first_claim": claim, "office": "EP", "ipc": ["A61K"]}
    for number, tag, title, abstract, claim in (
        ("EP1", "en", "Salt", "A salt.", "1. Salt."), ("EP1", "de", "Salz", "Ein Salz.", None),
        ("EP2", "en", "Sugar", "A sugar.", " "))
]  # fmt: skip
ABOUT = [
    {"id": "a", "language": "fr", "query": "sel", "mode": "technical", "source_publication": "EP1"},
    {"id": "b", "language": "en", "query": "sweet", "mode": "general", "source_publication": "EP2"},
    {"id": "EP2", "language": "en", "query": "none of them", "mode": "general", "source_publication": None},
]


@pytest.fixture
def folder(tmp_path):
    return lambda files, name="saved": written(tmp_path / name, files)


def read(path, **options):
    return folders.read(path, options=Options(format="datasets", **options))


# What is read


@pytest.mark.parametrize(
    "files",
    [
        THREE,
        {**THREE, **saved("corpus", CORPUS, stream=False)},
        {
            **saved("all/corpus", CORPUS), **saved("all/queries", QUERIES), **saved("all/qrels", QRELS),
            "all/dataset_dict.json": '{"splits": ["corpus", "queries", "qrels"]}',
        },
        {
            **saved("corpus", CORPUS, batch=1), **saved("queries", QUERIES), **saved("qrels/test", QRELS),
            **saved("qrels/dev", QRELS[:1]), "qrels/dataset_dict.json": '{"splits": ["dev", "test"]}',
        },
    ],
    ids=["three", "file", "splits", "qrels in splits"],
)  # fmt: skip
def test_saved_datasets_in_every_layout(folder, cache, files):
    path = folder(files)
    path = path / "all" if (path / "all").is_dir() else path
    stored(cache, path, format="datasets")
    store, task = task_of(cache)
    assert store.corpus(task.task_id).ids == ("d1", "d2", "d3")
    assert store.corpus(task.task_id).languages == ("en", "es", "en")
    assert list(store.queries(task.task_id).tier) == ["2", None]
    assert grades(store, task) == {("q1", "d1"): 2, ("q1", "d2"): 1, ("q2", "d3"): 0}


def test_parts_are_read_in_their_order(folder):
    found = read(folder({**THREE, **saved("corpus", CORPUS, parts=2)}))
    assert [row.id for row in found.documents] == ["d1", "d3", "d2"]


def test_subsets_are_those_of_mteb(folder):
    files = {name: content for kind, rows in (("corpus", CORPUS), ("queries", QUERIES), ("qrels", QRELS))
             for subset in ("a", "b") for name, content in saved(f"{subset}-{kind}", rows).items()}  # fmt: skip
    found = read(folder(files))
    assert [row.id for row in found.documents] == ["d1", "d2", "d3"]
    assert [row.id for row in found.queries] == ["a:q1", "a:q2", "b:q1", "b:q2"]
    assert len(found.judgements) == 6


def test_every_language_version_of_the_source_is_relevant(folder):
    found = read(folder({**saved("corpus", PATENTS), **saved("queries", ABOUT)}), relevant_by="family")
    assert [(row.id, row.language, row.text, row.family) for row in found.documents] == [
        ("EP1-en", "en", "Salt A salt. 1. Salt.", "EP1"),
        ("EP1-de", "de", "Salz Ein Salz.", "EP1"),
        ("EP2-en", "en", "Sugar A sugar.", "EP2"),
    ]
    assert [(row.id, row.text, row.mode, row.family) for row in found.queries] == [
        ("a", "sel", "technical", "EP1"), ("b", "sweet", "general", "EP2"), ("EP2", "none of them", "general", "EP2"),
    ]  # fmt: skip
    assert [tuple(row) for row in found.judgements] == [("a", "EP1-en", 1), ("a", "EP1-de", 1), ("b", "EP2-en", 1)]


def test_families_judge_in_beir_folders_and_tables_too(folder):
    corpus = [{"_id": row["id"], "language": row["language"], "text": "x", "family": row["publication_number"]}
              for row in PATENTS]  # fmt: skip
    asked = [{"_id": row["id"], "language": row["language"], "text": "y", "src": row["source_publication"]}
             for row in ABOUT]  # fmt: skip
    path = folder({"corpus.jsonl": lines(corpus), "queries.jsonl": lines(asked)})
    for form in ("beir", "table"):
        found = folders.read(path, options=Options(format=form, relevant_by="family", renamed={"src": "family"}))
        assert [tuple(row) for row in found.judgements] == [("a", "EP1-en", 1), ("a", "EP1-de", 1), ("b", "EP2-en", 1)]
        assert [file.name for file in found.files] == ["corpus.jsonl", "queries.jsonl"]


# What is refused

CORPUS_FILE = "{folder}/corpus/data-00000-of-00001.arrow"
FULL = THREE["corpus/data-00000-of-00001.arrow"]
FAULTS = [
    ("nothing saved", dict.fromkeys(THREE), {},
     "{folder}: found no dataset_dict.json and no folder with state.json, expected what save_to_disk writes"),
    ("no queries", {name: None for name in THREE if name.startswith("queries")}, {},
     "{folder}: configurations corpus, qrels, expected one called queries"),
    ("no qrels", {name: None for name in THREE if name.startswith("qrels")}, {},
     "{folder}: configurations corpus, queries, expected one called qrels"),
    ("file missing", {"corpus/data-00000-of-00001.arrow": None}, {}, CORPUS_FILE + ": No such file or directory; "
     "expected a file"),
    ("part missing", {"corpus/state.json": '{"_data_files": [{"filename": "data-00001-of-00002.arrow"}]}'}, {},
     "{folder}/corpus: found 1 of 2 parts of data, expected part 00000 too"),
    ("cut", {"corpus/data-00000-of-00001.arrow": FULL[:-8]}, {},
     CORPUS_FILE + ": the end is missing; expected a whole Arrow file"),
    ("no Arrow", {"corpus/data-00000-of-00001.arrow": b"text"}, {},
     CORPUS_FILE + ", line 1: no column for the _id of a document among text, expected one called _id or id or "
     "corpus-id or corpus_id or doc-id or doc_id or docid or document_id or docno or did or iid (--map COLUMN=_id)"),
    ("no id", saved("corpus", [{"text": "x"}]), {},
     CORPUS_FILE + ": no column for the _id of a document among text, expected one called _id or id or corpus-id or "
     "corpus_id or doc-id or doc_id or docid or document_id or docno or did or iid (--map COLUMN=_id)"),
    ("no text", saved("corpus", [{"id": "x", "claims": "y"}]), {},
     CORPUS_FILE + ": no column for the text of a document among id, claims, expected one called text or contents or "
     "body or passage (--map COLUMN=text)"),
    ("null id", saved("corpus", [*CORPUS, {"_id": None, "text": "x", "language": "en"}]), {},
     CORPUS_FILE + ", row 4: _id is missing, expected an id"),
    ("id of another kind", saved("queries", [{"_id": True, "text": "x"}]), {},
     "{folder}/queries/data-00000-of-00001.arrow: column _id is bool, expected text or whole numbers"),
    ("grade of another kind", saved("qrels", [{"query-id": "q1", "corpus-id": "d1", "score": "high"}]), {},
     "{folder}/qrels/data-00000-of-00001.arrow: column score is string, expected numbers"),
    ("no state", {"corpus/state.json": "{"}, {}, "{folder}/corpus/state.json: Expecting property name enclosed in "
     "double quotes: line 1 column 2 (char 1); expected what save_to_disk writes"),
    ("state no object", {"corpus/state.json": "[1]"}, {},
     "{folder}/corpus/state.json: [1], expected a JSON object as save_to_disk writes"),
    ("no files", {"corpus/state.json": '{"_data_files": []}'}, {},
     "{folder}/corpus/state.json: _data_files [], expected a list of file names"),
    ("outside", {"corpus/state.json": '{"_data_files": [{"filename": "../x.arrow"}]}'}, {},
     '{folder}/corpus/state.json: _data_files [{"filename": "../x.arrow"}], expected a list of file names'),
    ("indices", {"corpus/state.json": '{"_data_files": [{"filename": "a"}], "_indices_data_files": [1]}'}, {},
     "{folder}/corpus/state.json: rows are chosen in another file, expected flatten_indices() before saving"),
    ("splits", {"dataset_dict.json": '{"splits": ["../corpus"]}'}, {},
     '{folder}/dataset_dict.json: splits ["../corpus"], expected a list of folders'),
    ("no family", {}, {"relevant_by": "family"},
     "--relevant-by family: no query says the family of a document, expected the field family in both "
     "(--map COLUMN=family)"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "options", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, changes, options, message):
    cache, before = kept
    path = folder({**THREE, **changes})
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="datasets", **options)
    assert str(error.value) == message.replace("{folder}", str(path))
    assert state(cache.root) == before


def test_a_damaged_file_is_named(folder):
    damaged = bytearray(FULL)
    damaged[8:40] = bytes(32)
    path = folder({**THREE, "corpus/data-00000-of-00001.arrow": bytes(damaged)})
    with pytest.raises(InputError, match=r"corpus/data-00000-of-00001\.arrow: .+; expected a whole Arrow file"):
        read(path)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match="no such folder, expected datasets as save_to_disk writes them"):
        read(tmp_path / "none")


# Out and in again

NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8)
NAMES = st.lists(NAME.filter(str.strip), min_size=1, max_size=5, unique=True)


@settings(max_examples=15, deadline=None)
@given(documents=NAMES, queries=NAMES)
def test_ids_and_texts_come_back_unchanged(tmp_path_factory, documents, queries):
    rows = {"corpus": [{"_id": name, "text": name} for name in documents],
            "queries": [{"_id": name, "text": name} for name in queries],
            "qrels": [{"query-id": name, "corpus-id": documents[0], "score": 1} for name in queries]}  # fmt: skip
    files = {name: content for kind, found in rows.items() for name, content in saved(kind, found).items()}
    found = read(written(tmp_path_factory.mktemp("saved"), files), document_language="und", query_language="und")
    assert [(row.id, row.text) for row in found.documents] == [(name, name) for name in documents]
    assert [(row.id, row.text) for row in found.queries] == [(name, name) for name in queries]
    assert [tuple(row) for row in found.judgements] == [(name, documents[0], 1) for name in queries]


@pytest.mark.slow
def test_export_and_import_again_give_the_same_measures(folder, tmp_path, capsys):
    def call(*arguments):
        assert main([*arguments, "--cache", str(tmp_path / "cache")]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    path = folder({**saved("corpus", PATENTS), **saved("queries", ABOUT)})
    call("import-benchmark", str(path), "--benchmark", "one", "--format", "datasets", "--relevant-by", "family")
    call("export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out"))
    call("import-benchmark", str(tmp_path / "out"), "--benchmark", "two", "--format", "beir")
    run = "a Q0 EP2-en 1 2.0 x\na Q0 EP1-de 2 1.0 x\nb Q0 EP2-en 1 1.0 x\n"
    (tmp_path / "run.trec").write_text(run, encoding="utf-8")
    answers = []
    for name in ("one", "two"):
        call("import-run", str(tmp_path / "run.trec"), "--benchmark", name, "--system", "x")
        answers.append(json.loads(call("per-query", "--benchmark", name, "--format", "json")))
    assert answers[0] == answers[1]
    assert {row["query_id"]: row["recall_at_10"] for row in answers[0]} == {"a": 0.5, "b": 1, "EP2": None}
    stores = [task_of(Cache(tmp_path / "cache"), name) for name in ("one", "two")]
    assert grades(*stores[0]) == grades(*stores[1])
    assert stores[0][1].checksum == stores[1][1].checksum
