"""Audits on Data and runs: nothing yet, numbers, disagreements, a sheet made and brought back."""

import shutil

import pytest
from visits import Visit, words

from analysis.jobs.import_audit import AuditRequest, import_audit
from analysis.store import audits as kept
from tests.audited import filled, said, sheet, stored

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The example with judgements: ann contradicts the benchmark on one of twelve rows, a model on all."""
    folder = tmp_path_factory.mktemp("audits")
    store = stored(folder / "cache")
    _, shown, key = sheet(store, per_language=6)

    def told(row):
        return key[row["row"]]["benchmark_says"] or "0"

    one = next(row for row in shown if told(row) == "1")
    rows = [row | {"comment": HOSTILE if row is one else ""} for row in shown]
    path = folder / "back.csv"
    filled(path, rows, lambda row: "0" if row["row"] == one["row"] else told(row))
    import_audit(AuditRequest(path, "example"), store.cache.root)
    filled(path, shown, lambda row: "1" if told(row) == "0" else "0", annotator="judge")
    import_audit(AuditRequest(path, "example", kind="model"), store.cache.root)
    return store


@pytest.fixture
def visit(whole, tmp_path, monkeypatch):
    """A visit to a copy of it."""
    root = shutil.copytree(whole.cache.root, tmp_path / "store")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(root))
    return Visit()


def button(page, label):
    return next(button for button in page.button if button.label == label)


def box(page, label):
    return next(box for box in page.selectbox if box.label == label)


def test_nothing_yet_names_both_commands(example):
    page = example.page("data")
    assert not page.exception
    assert "Nobody has audited this benchmark yet." in words(page)
    (commands,) = [code.value for code in page.code]
    assert commands.splitlines() == [
        "python -m analysis export-audit --benchmark example --task main -o sheet.csv",
        "python -m analysis import-audit sheet.csv --benchmark example --annotator NAME",
    ]


def test_numbers_pairs_and_disagreements(visit):
    page = visit.page("data")
    assert not page.exception
    shown = words(page)
    assert "ann agrees with the benchmark on 11 of 12 judgements of relevance (65 to 99 %)." in shown
    assert "ann and judge say the same of 1 of 12" in shown
    assert "Fewer than 30 judgements: descriptive only." in shown
    assert 'title="11 of 12: 0.9167; κ 0.8333' in shown
    assert "8 of 12 disagreements, those with most voices against the benchmark first" in shown
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    box(page, "Judged otherwise by").set_value("ann").run()
    assert "1 of 1 disagreement," in words(page)
    opened = box(page, "Open one in the Query explorer")
    opened.set_value(opened.options[0]).run()
    assert "Open the query, its answers and lists" in words(page)


def test_a_sheet_is_made_from_the_page(visit, whole):
    page = visit.page("data")
    page.number_input[0].set_value(4)
    button(page, "Make the sheet").click().run()
    assert not page.exception
    assert not page.error
    assert "8 rows, 0 of them judged · seed 1" in words(page)
    assert len(kept.sheets(whole.cache, "example")) == 1  # the copy alone has the new one
    page.number_input[0].set_value(500)
    button(page, "Make the sheet").click().run()
    (told,) = page.error
    assert told.value.startswith("--per-language 500: expected 1 to 80")


def test_a_file_is_refused_checked_and_brought_in(visit, whole):
    page = visit.page("data")

    def bring(label, name):
        uploader = next(field for field in page.file_uploader if field.label == "Judgements")
        uploader.upload("mine.csv", b"query_id,document_id,judgement\nq1-en,d1-en,1\n", "text/csv")
        next(field for field in page.text_input if field.label.startswith("Who judged")).set_value(name)
        button(page, label).click().run()
        assert not page.exception

    bring("Bring it in", "")
    (told,) = page.error
    assert told.value.startswith("mine.csv, line 2: annotator is blank, expected a name")
    bring("Check the file", "bob")
    (told,) = page.info
    assert told.value == (
        "Checked, nothing stored: a table of 1 row, 0 without a judgement; by bob: 1 added, 0 replaced, 0 known."
    )
    assert "bob" not in words(page)
    bring("Bring it in", "bob")
    assert not page.error
    assert "2 people agree with the benchmark on 12 of 13 judgements of relevance." in words(page)
    assert "bob" not in {row.annotator for row in said(whole)}  # the copy alone has it
