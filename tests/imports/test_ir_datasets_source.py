"""Benchmarks of the library ir_datasets: from datasets registered by hand, without a network."""

import builtins
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from tests.hand_made import state
from tests.imports.imported import grades, stored, task_of

ir_datasets = pytest.importorskip("ir_datasets")

DOCS = "d1\theart attack\nd2\tbroken bone\n"
TOPICS = "q1\tinfarction\nq2\tfracture\n"
QRELS = "q1 0 d1 2\nq2 0 d2 1\nq2 0 d1 0\n"
ENGLISH = {"query_language": "en", "document_language": "en"}
NUMBER = itertools.count()


@pytest.fixture
def registered(tmp_path):
    """Register a dataset of the library; its id."""

    def made(dataset):
        name = f"by-hand-{next(NUMBER)}/test"
        ir_datasets.registry.register(name, dataset)
        return Path(name)

    return made


@pytest.fixture
def local(tmp_path, registered):
    def made(**files):
        kinds = {"docs": "docs_tsv", "queries": "queries_tsv", "qrels": "qrels_trec"}
        texts = {"docs": DOCS, "queries": TOPICS, "qrels": QRELS, **files}
        paths = {}
        for kind, content in texts.items():
            if content is not None:
                (tmp_path / kind).write_text(content, encoding="utf-8")
                paths[kinds[kind]] = str(tmp_path / kind)
        return registered(ir_datasets.create_dataset(**paths))

    return made


def read(name, **options):
    return folders.read(name, options=Options(format="ir_datasets", **options))


class Article(NamedTuple):
    doc_id: str
    title: str
    text: str
    url: str

    def default_text(self):
        return f"{self.title} {self.text}"


class Topic(NamedTuple):
    query_id: str
    title: str
    description: str
    number: int

    def default_text(self):
        return self.title


class Articles(ir_datasets.formats.BaseDocs):
    def docs_iter(self):
        return iter([Article("d1", "Herz", "Infarkt", "u"), Article("d2", "", "Knochen", "u")])

    def docs_cls(self):
        return Article

    def docs_lang(self):
        return "de"


class Topics(ir_datasets.formats.BaseQueries):
    def queries_iter(self):
        return iter([Topic("q1", "heart", "about hearts", 7)])

    def queries_cls(self):
        return Topic

    def queries_lang(self):
        return "en"


class Judgements(ir_datasets.formats.BaseQrels):
    def __init__(self, rows):
        self.rows = rows

    def qrels_iter(self):
        return iter(self.rows)

    def qrels_defs(self):
        return {}


def test_a_dataset_becomes_a_task(local, cache):
    name = local()
    assert stored(cache, name, format="ir_datasets", **ENGLISH) == ("mine@1", True)
    store, task = task_of(cache)
    assert store.corpus(task.task_id).texts == ("heart attack", "broken bone")
    assert list(store.queries(task.task_id).text) == ["infarction", "fracture"]
    assert grades(store, task) == {("q1", "d1"): 2, ("q2", "d2"): 1, ("q2", "d1"): 0}
    assert store.benchmark("mine").source == f"{name} (ir_datasets {ir_datasets.__version__})"


def test_texts_languages_and_attributes_are_those_of_the_library(registered):
    judged = [ir_datasets.formats.GenericQrel("q1", "d1", 1)]
    dataset = ir_datasets.Dataset(Articles(), Topics(), Judgements(judged))
    found = read(registered(dataset), query_language="ja", document_language="ja")
    assert [(row.id, row.language, row.text) for row in found.documents] == [
        ("d1", "de", "Herz Infarkt"), ("d2", "de", "Knochen"),
    ]  # fmt: skip
    assert [(row.language, row.text, row.attributes) for row in found.queries] == [
        ("en", "heart", {"description": "about hearts", "number": "7"}),
    ]  # fmt: skip
    assert found.ignored == {"url": 2}


def test_out_and_in_again(local, tmp_path, capsys):
    arguments = ["--cache", str(tmp_path / "cache")]
    languages = ["--query-language", "en", "--document-language", "en"]
    imported = ["import-benchmark", str(local()), "--benchmark", "one", "--format", "ir_datasets", *languages]
    assert main([*imported, *arguments]) == 0, capsys.readouterr().err
    assert main(["export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out"), *arguments]) == 0
    found = folders.read(tmp_path / "out", options=Options())
    again = read(local(), **ENGLISH)
    assert (found.documents, found.queries, found.judgements) == (again.documents, again.queries, again.judgements)


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({"qrels": None}, {}, "'{name}' has docs, queries, expected qrels too (an id below it may have them)"),
        ({"queries": None}, {}, "'{name}' has docs, qrels, expected queries too (an id below it may have them)"),
        ({"docs": None}, {}, "'{name}' has queries, qrels, expected docs too (an id below it may have them)"),
        ({}, {"query_language": None}, "{name}, query 1: 'q1' has no language, expected a field language, "
         "--query-language, --language-key or --language-pattern (und where it is unknown) (1 more faults)"),
        ({"docs": DOCS + "d1\tother\n"}, {}, "{name}, document 3: document id 'd1' has another text than in document "
         "1; expected one row for each id"),
        ({"qrels": QRELS + "q1 0 d1 1\n"}, {}, "{name}, judgement 4: query 'q1' and document 'd1' have grade 1 and in "
         "judgement 1 2; expected one grade"),
        ({"qrels": "\n"}, {}, "{name}: no judgements, expected one for each judged pair"),
        ({"qrels": "q1 d1 1\n"}, {},
         "{name}, judgement 1: expected 4 columns, got 3; expected what ir_datasets can load here"),
        ({"docs": ""}, {}, "the files hold no sound documents, expected at least one"),
        ({}, {"relevant_by": "family"}, "--relevant-by family: no query says the family of a document, expected the "
         "field family in both (--map COLUMN=family)"),
        ({}, {"renamed": {"body": "text"}}, "--map body=text: no document or query has 'body', expected it in one"),
        ({}, {"subset": "en"}, "--subset: format ir_datasets, expected mteb or datasets or m3retrieve"),
    ],
)  # fmt: skip
def test_a_fault_is_one_sentence_and_nothing_is_stored(local, kept, files, options, message):
    cache, before = kept
    name = local(**files)
    with pytest.raises(InputError) as error:
        stored(cache, name, name="faulty", format="ir_datasets", **{**ENGLISH, **options})
    assert str(error.value) == message.replace("{name}", str(name))
    assert state(cache.root) == before


def test_an_unknown_id():
    with pytest.raises(InputError) as error:
        read(Path("no/such/id"))
    assert str(error.value) == f"'no/such/id': no such dataset in ir_datasets {ir_datasets.__version__}, expected an id"


def test_what_cannot_be_fetched_is_one_sentence(registered):
    class Gone(Articles):
        def docs_iter(self):
            raise OSError("no route to host\nmore")

    judged = [ir_datasets.formats.GenericQrel("q1", "d1", 1)]
    name = registered(ir_datasets.Dataset(Gone(), Topics(), Judgements(judged)))
    with pytest.raises(InputError) as error:
        read(name)
    assert str(error.value) == f"{name}, document: no route to host; expected what ir_datasets can load here"


def test_without_the_library_one_sentence_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **named):
        if name == "ir_datasets":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError) as error:
        read(Path("beir/scifact/test"))
    assert str(error.value) == "ir_datasets is not installed; expected it (pip install ir_datasets)"
