"""Judgements of audits: all of a file or nothing, each fault by its line, the same again known, others on request."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.jobs import import_audit
from analysis.jobs.import_audit import AuditRequest
from analysis.jobs.manage import rename_benchmark
from analysis.model import silent
from analysis.store import audits, notes
from tests.audited import LANGUAGES, N, again, filled, made, said, sheet, stored
from tests.hand_made import state
from tests.store.test_notes import BASE


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("audits"), tiers=("synonym", "sibling"))


@pytest.fixture
def store(whole):
    yield whole
    whole.cache.notes.unlink(missing_ok=True)


def bring(store, path, **how):
    return import_audit.import_audit(AuditRequest(path, "example", **how), store.cache.root)


def table(path, *lines, header="query_id,document_id,judgement,annotator"):
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_filled_sheet_says_what_each_row_was(store, tmp_path, separator):
    _, shown, key = sheet(store, per_language=6)
    path = filled(tmp_path / "back.csv", shown, lambda row: "1", separator=separator)
    done = bring(store, path)
    assert done[:5] == (12, 0, 12, 0, 0)
    assert (done.annotators, done.is_sheet) == (("ann",), True)
    found = {(row.query_id, row.other_id): row for row in said(store)}
    assert set(found) == {(row["query_id"], row["document_id_or_source"]) for row in key.values()}
    one = next(iter(found.values()))
    assert (one.judgement, one.kind, one.question, one.task, one.file) == (
        "1",
        "human",
        "relevance",
        "main",
        "back.csv",
    )


def test_a_sheet_may_come_back_sorted_shortened_and_half_empty(store, tmp_path):
    _, shown, _ = sheet(store, per_language=6)
    some = sorted(shown, key=lambda row: row["query"])[:7]
    done = bring(store, filled(tmp_path / "back.csv", some, lambda row: "1" if row["query_language"] == "en" else ""))
    n = sum(row["query_language"] == "en" for row in some)
    assert (done.n_rows, done.n_empty, done.added) == (7, 7 - n, n)


def test_the_same_again_is_known_and_other_judgements_only_come_on_request(store, tmp_path):
    _, shown, _ = sheet(store, per_language=6)
    path = filled(tmp_path / "a.csv", shown, lambda row: "1")
    bring(store, path)
    before = said(store)
    assert bring(store, path)[2:5] == (0, 0, 12)
    other = filled(tmp_path / "b.csv", shown, lambda row: "0" if row is shown[3] else "1")
    with pytest.raises(InputError, match=r"b\.csv, line 5: judgement '0', but ann said '1' before; --replace takes"):
        bring(store, other)
    assert said(store) == before
    assert bring(store, other, replace=True, dry_run=True)[2:5] == (0, 1, 11)
    assert said(store) == before
    assert bring(store, other, replace=True)[2:5] == (0, 1, 11)
    assert sorted(row.judgement for row in said(store)) == ["0"] + ["1"] * 11


def test_several_annotators_stand_beside_each_other(store, tmp_path):
    _, shown, _ = sheet(store, per_language=6)
    bring(store, filled(tmp_path / "a.csv", shown, lambda row: "1", annotator=""), annotator="ann")
    bring(store, filled(tmp_path / "b.csv", shown, lambda row: "0", annotator="bob"))
    bring(store, filled(tmp_path / "m.csv", shown, lambda row: "0", annotator="judge"), kind="model")
    assert {(row.annotator, row.kind) for row in said(store)} == {
        ("ann", "human"), ("bob", "human"), ("judge", "model"),
    }  # fmt: skip
    with pytest.raises(InputError, match="'judge' is a model in what is stored, expected --kind model or another name"):
        bring(store, table(tmp_path / "t.csv", "q9-en,d1-ja,0,judge"))
    asked = ["delete", "audits", "--benchmark", "example", "--annotator", "bob", "--cache", str(store.cache.root)]
    assert main(asked) == 2
    assert len(said(store)) == 36
    assert main([*asked, "--yes"]) == 0
    assert {row.annotator for row in said(store)} == {"ann", "judge"}
    with pytest.raises(InputError, match="annotator 'bob': example has judgements of ann, judge"):
        import_audit.forget("example", "bob", folder=store.cache.root)


SHEET_FAULTS = {
    "an unknown row": (lambda row: row | {"row": "zzzzz-zzzzz"}, "line 2: row 'zzzzz-zzzzz', expected one of a sheet"),
    "another text": (
        lambda row: row | {"document": "something else"},
        "other texts than when the sheet was written, expected those: were columns sorted apart",
    ),
    "a word": (lambda row: row | {"judgement": "yes"}, "line 2: judgement 'yes', expected a finite number"),
    "off the scale": (lambda row: row | {"judgement": "2"}, "line 2: judgement '2', expected one of 0, 1"),
    "nobody": (lambda row: row | {"annotator": " "}, "annotator is blank, expected a name (or --annotator NAME"),
    "a comma in a name": (lambda row: row | {"annotator": "a, b"}, "annotator 'a, b': expected 1 to 60 printable"),
}


@pytest.mark.parametrize("fault", SHEET_FAULTS)
def test_a_fault_in_a_sheet_names_file_line_and_value_and_changes_nothing(store, tmp_path, fault):
    change, words = SHEET_FAULTS[fault]
    _, shown, _ = sheet(store, per_language=6)
    good = [row | {"judgement": "1", "annotator": "ann"} for row in shown]
    path = filled(tmp_path / "back.csv", shown, lambda row: "1")
    lines = [list(good[0]), *(list(row.values()) for row in (change(good[0]), *good[1:]))]
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n", encoding="utf-8")
    before = state(store.cache.root)
    with pytest.raises(InputError) as refused:
        bring(store, path)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert words in str(refused.value)
    assert state(store.cache.root) == before


def test_a_row_twice_names_the_first_and_how_many_faults_follow(store, tmp_path):
    _, shown, _ = sheet(store, per_language=6)
    path = filled(tmp_path / "back.csv", [*shown, shown[0], shown[1]], lambda row: "1")
    with pytest.raises(InputError, match=r"back\.csv, line 14: ann judges .* again, first in line 2; .* \(1 more"):
        bring(store, path)


TABLE_FAULTS = {
    "q99-en,d1-en,1,ann": "query 'q99-en', expected one that main has",
    "q1-en,d99-en,1,ann": "document 'd99-en', expected one that main has",
    "q1-en,d1-en,nan,ann": "judgement 'nan', expected a finite number",
    "q1-en,d1-en,1": "3 cells, expected 4 as in the header",
}


@pytest.mark.parametrize("line", TABLE_FAULTS)
def test_a_fault_in_a_table(store, tmp_path, line):
    path = table(tmp_path / "t.csv", "q2-en,d2-en,1,ann", line)
    with pytest.raises(InputError) as refused:
        bring(store, path)
    assert str(refused.value) == f"{path}, line 3: {TABLE_FAULTS[line]}"
    assert said(store) == []


def test_tables_of_every_kind(store, tmp_path):
    bring(store, table(tmp_path / "a.tsv", "q1-en\td1-ja\t1", header="qid\tdocno\tlabel"), annotator="ann")
    text = table(tmp_path / "b.csv", "q1-en,en,d1-ja,0.5,gpt,why", header="query,lang,doc_id,score,model,comment")
    bring(store, text, kind="model", column="model")
    line = json.dumps({"query_id": "q1-en", "corpus-id": "d1-ja", "judgement": 1, "annotator": "bob"})
    (tmp_path / "c.jsonl").write_text(line + "\n", encoding="utf-8")
    bring(store, tmp_path / "c.jsonl")
    columns = {"query_id": ["q1-en"], "doc_id": ["d1-ja"], "relevance": [0], "annotator": ["eve"]}
    pq.write_table(pa.table(columns), tmp_path / "d.parquet")
    bring(store, tmp_path / "d.parquet")
    assert [(row.annotator, row.judgement, row.comment) for row in said(store)] == [
        ("ann", "1", ""), ("gpt", "0.5", "why"), ("bob", "1", ""), ("eve", "0", ""),
    ]  # fmt: skip


def test_a_language_has_to_be_the_one_of_the_query(store, tmp_path):
    header = "query_id,language,document_id,judgement,annotator"
    with pytest.raises(InputError, match="line 2: language 'ja', expected 'en' as query 'q1-en' has"):
        bring(store, table(tmp_path / "t.csv", "q1-en,ja,d1-en,1,ann", header=header))
    bring(store, table(tmp_path / "t.csv", "q1-en,eng,d1-en,1,ann", header=header))


def test_translations_and_tiers_have_their_own_answers(store, tmp_path):
    header = "query_id,judgement,annotator"
    bring(store, table(tmp_path / "t.csv", "q1-ja,0,ann", header=header), question="translation")
    assert [(row.query_id, row.other_id) for row in said(store)] == [("q1-ja", "q1-en")]
    with pytest.raises(InputError, match="judgement '2', expected 1 for yes or 0 for no"):
        bring(store, table(tmp_path / "t.csv", "q2-ja,2,ann", header=header), question="translation")
    with pytest.raises(InputError, match="query 'q1-en' is no version of one in another language in main"):
        bring(store, table(tmp_path / "t.csv", "q1-en,1,ann", header=header), question="translation")
    with pytest.raises(InputError, match="judgement '1', expected one of sibling, synonym"):
        bring(store, table(tmp_path / "t.csv", "q2-ja,d2-ja,1,ann"), question="tier")
    bring(store, table(tmp_path / "t.csv", "q2-ja,d2-ja,sibling,ann"), question="tier")


def test_what_does_not_fit_together_is_refused(store, tmp_path):
    path = table(tmp_path / "t.csv", "q1-en,d1-en,1,ann")
    for how, words in (
        ({"question": "x"}, "question 'x': expected one of"),
        ({"kind": "x"}, "kind 'x': expected one of human, model"),
        ({"annotator": "a", "column": "b"}, "--annotator and --annotator-column: expected one of them"),
        ({"annotator": "bob"}, "annotator 'ann', expected 'bob' as was said, or no name"),
        ({"task": "x"}, "task 'x': example has main"),
    ):
        with pytest.raises(InputError, match=words):
            bring(store, path, **how)
    _, shown, _ = sheet(store, per_language=6)
    with pytest.raises(InputError, match="is of question 'relevance', expected 'tier' as was asked for"):
        bring(store, filled(tmp_path / "s.csv", shown, lambda row: "1"), question="tier")


def test_judgements_outlive_a_rebuild_and_follow_a_new_name(tmp_path):
    store = stored(tmp_path / "cache")
    _, shown, _ = sheet(store, per_language=6)
    bring(store, filled(tmp_path / "a.csv", shown, lambda row: "1"))
    other = made(texts=lambda text: f"other {text}")
    store = again(store, type(other)(**{**vars(other), "version": "2"}))
    assert len(said(store)) == 12
    rename_benchmark(store.cache, "example", "renamed", progress=silent)
    assert said(store) == []
    assert len(audits.listed(store.cache, "renamed")) == 12
    assert [row.benchmark for row in audits.sheets(store.cache, "renamed")] == ["renamed"]


def test_a_file_of_notes_from_before_has_no_audits_and_takes_some(store, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(notes, "STEPS", notes.STEPS[:1])
        notes.add(store.cache, BASE)
    assert (said(store), audits.sheets(store.cache, "example")) == ([], [])
    version = notes.version(store.cache)
    bring(store, table(tmp_path / "t.csv", "q1-en,d1-en,1,ann"))
    assert (len(said(store)), len(notes.listed(store.cache, "example"))) == (1, 1)
    assert notes.version(store.cache) != version


def test_the_command_says_what_became_of_a_file(store, tmp_path, capsys):
    lines = [f"q{n}-{tag},d{n}-{tag},1,ann" for n in range(N) for tag in LANGUAGES]
    path = table(tmp_path / "t.csv", *lines, "q0-en,d1-en,,ann")
    asked = ["import-audit", str(path), "--benchmark", "example", "--cache", str(store.cache.root)]
    assert main([*asked, "--dry-run"]) == 0
    words = "a table of 81 rows, 1 without a judgement; by ann: 80 added, 0 replaced, 0 known"
    assert capsys.readouterr().err.strip() == f"checked, nothing stored: {words}"
    assert said(store) == []
    assert main(asked) == 0
    assert capsys.readouterr().err.strip() == f"stored: {words}"
    assert main(["list", "audits", "--format", "csv", "--by", "ward", "--benchmark", "example", *asked[-2:]]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.startswith("benchmark,task,question,rater,kind,language,n,n_agreed,value,low,high,kappa,ac1,mae,few")
    assert [row.split(",")[5:9] for row in rows if row.endswith(",even")] == [
        ["", "40", "40", "1.0"], ["en", "20", "20", "1.0"], ["ja", "20", "20", "1.0"],
    ]  # fmt: skip
