"""The builder and its schema check, on data small enough to read."""

import json
import shutil

import pytest

from analysis.benchmarks import bedside
from analysis.benchmarks.bedside import LANGUAGES
from analysis.errors import InputError


@pytest.fixture(scope="module")
def tasks():
    return {task.name: task for task in bedside.build().tasks}


def test_t1_asks_for_the_definition_in_every_language(tasks):
    task = tasks["t1-alignment"]
    concepts = len(bedside.load())
    assert task.default
    assert len(task.queries) == len(task.documents) == 6 * concepts
    assert len(task.judgements) == 36 * concepts  # all 36 routes
    query = next(query for query in task.queries if query.id == "type-2-diabetes-ja-patient")
    relevant = {row.document_id for row in task.judgements if row.query_id == query.id}
    assert relevant == {f"type-2-diabetes-{tag}" for tag in LANGUAGES}


def test_t2_leaves_the_terms_own_text_out(tasks):
    task = tasks["t2-discrimination"]
    assert task.exclude_self
    text = {document.id: document.text for document in task.documents}
    for query in task.queries:
        assert query.excluded_documents
        assert all(bedside.folded(text[name]) == bedside.folded(query.text) for name in query.excluded_documents)
    judged = {(row.query_id, row.document_id) for row in task.judgements}
    assert not [1 for query in task.queries for name in query.excluded_documents if (query.id, name) in judged]


def test_t2_knows_siblings_and_relatives(tasks):
    query = {query.family: query for query in tasks["t2-discrimination"].queries if query.language == "en"}
    assert query["type-1-diabetes"].sibling_group == query["type-2-diabetes"].sibling_group
    assert query["type-1-diabetes"].sibling_group != query["hypothyroidism"].sibling_group
    assert query["type-1-diabetes"].related_group == query["hypothyroidism"].related_group == "IV"


def test_t3_asks_for_english_evidence(tasks):
    task = tasks["t3-evidence"]
    assert {document.language for document in task.documents} == {"en"}
    assert {query.language for query in task.queries} == set(LANGUAGES)
    answers = {query.id: sum(row.query_id == query.id for row in task.judgements) for query in task.queries[:12]}
    assert min(answers.values()) >= 3


def test_no_query_is_asked_in_two_tasks(tasks):
    seen = [bedside.folded(query.text) for task in tasks.values() for query in task.queries]
    ids = [query.id for task in tasks.values() for query in task.queries]
    assert len(set(ids)) == len(ids)
    t1, t2, t3 = ({(query.language, bedside.folded(query.text)) for query in task.queries} for task in tasks.values())
    assert not (t1 & t2) | (t1 & t3) | (t2 & t3)
    assert len(seen) == len(ids)


def test_the_card_says_what_it_is():
    benchmark = bedside.build()
    words = " ".join(benchmark.notes)
    assert "no clinician or native speaker has reviewed it" in words
    assert "Not for clinical decisions" in words
    assert benchmark.licence == "CC BY 4.0"
    assert benchmark.parallel


@pytest.fixture
def copied(tmp_path):
    return shutil.copytree(bedside.FOLDER, tmp_path / "bedside")


def spoil(path, line, change):
    rows = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(rows[line - 1])
    change(row)
    rows[line - 1] = json.dumps(row, ensure_ascii=False)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "line", "change", "says"),
    [
        ("concepts.jsonl", 2, lambda row: row.update(cui="11860"), "concepts.jsonl, line 2: cui '11860'"),
        ("concepts.jsonl", 1, lambda row: row.update(icd10="E119"), "icd10 'E119'"),
        ("concepts.jsonl", 3, lambda row: row.pop("groups"), "concepts.jsonl, line 3: keys"),
        ("ja.jsonl", 4, lambda row: row.update(forms=row["forms"][:1]), "ja.jsonl, line 4: forms"),
        ("fr.jsonl", 1, lambda row: row.update(forms=[row["preferred"].upper(), "b"]), "expected no repetition"),
        ("ru.jsonl", 5, lambda row: row.update(definition=" x"), "ru.jsonl, line 5: text ' x'"),
        ("es.jsonl", 1, lambda row: row.update(definition="cafe\u0301"), "NFC"),
        ("evidence.jsonl", 1, lambda row: row.update(concept="nothing"), "expected 3 snippets"),
        ("zh.jsonl", 1, lambda row: row.update(concept="nothing"), "a line in zh.jsonl"),
    ],
)
def test_a_fault_is_named_with_its_place(copied, file, line, change, says):
    spoil(copied / file, line, change)
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        bedside.load(copied)


def test_a_line_that_is_no_json_and_a_file_that_is_not_there(copied):
    (copied / "en.jsonl").write_text("{\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"en.jsonl, line 1"):
        bedside.load(copied)
    (copied / "en.jsonl").unlink()
    with pytest.raises(InputError, match="no such file"):
        bedside.load(copied)


def test_groups_that_do_not_divide_the_concepts_are_refused():
    first, second, third = bedside.load()[:3]
    from dataclasses import replace

    chain = [
        replace(first, icd10="A01", groups=("x",)),
        replace(second, icd10="B02", groups=("x", "y")),
        replace(third, icd10="C03", groups=("y",)),
    ]
    with pytest.raises(InputError, match="share siblings"):
        bedside.sibling_groups(chain)
