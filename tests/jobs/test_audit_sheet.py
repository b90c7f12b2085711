"""Blind sheets: the same number in each language, answers and others alike, nothing that gives one away."""

import csv
import io
from collections import Counter

import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import audit_cells
from analysis.jobs import audit_sheet
from analysis.jobs.audit_sheet import LETTERS, SheetRequest
from analysis.store import audits
from tests.audited import LANGUAGES, N, again, made, rows, sheet, stored
from tests.hand_made import state


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("sheets"))


def test_each_language_has_as_many_rows_half_of_them_answers(store):
    found, shown, key = sheet(store, per_language=10)
    assert (found.n_rows, found.per_language) == (20, 10)
    assert Counter(row["query_language"] for row in shown) == {"en": 10, "ja": 10}
    told = Counter((row["query_language"], key[row["row"]]["benchmark_says"]) for row in shown)
    assert told == {(tag, says): 5 for tag in LANGUAGES for says in ("1", "")}
    documents = Counter(
        (row["query_language"], key[row["row"]]["benchmark_says"], row["document_language"]) for row in shown
    )
    for tag in LANGUAGES:  # the languages of answers and of others are the same: they tell nothing
        assert [documents[tag, "1", other] for other in LANGUAGES] == [documents[tag, "", other] for other in LANGUAGES]


def test_others_come_from_runs_and_are_no_answers(store):
    _, shown, key = sheet(store, per_language=20)
    for row in shown:
        of = key[row["row"]]
        n, document = of["query_id"][1:].split("-")[0], of["document_id_or_source"][1:].split("-")[0]
        assert (n == document) == (of["drawn"] == "relevant")
        if of["drawn"] != "relevant":
            assert of["drawn"].startswith("rank ")
            assert of["drawn"].endswith(" of dense")
            assert (int(document) - int(n)) % N in (1, 2, 3)


def test_without_a_run_others_are_random(tmp_path):
    _, _, key = sheet(stored(tmp_path / "cache", run=False), per_language=4)
    assert Counter(row["drawn"] for row in key.values()) == {"relevant": 4, "random": 4}


def test_nothing_in_a_sheet_says_which_is_which(store):
    found, shown, key = sheet(store, per_language=20, seed=3)
    assert set(shown[0]) == {"row", *audit_cells.PAIR, *audit_cells.FILLED}
    assert {row[name] for row in shown for name in audit_cells.FILLED} == {""}
    secrets = {row[name] for row in key.values() for name in ("query_id", "document_id_or_source", "drawn")}
    assert not [secret for secret in secrets if secret in found.text]
    assert all(set(row["row"]) <= {*LETTERS, "-"} for row in shown)  # no spreadsheet takes one for a number or a date
    for tag in LANGUAGES:  # shuffled: the answers do not stand together
        told = [key[row["row"]]["benchmark_says"] for row in shown if row["query_language"] == tag]
        assert told != sorted(told)
        assert told != sorted(told, reverse=True)


def test_the_same_request_is_the_same_sheet_and_another_seed_is_not(store):
    one, same, other = (sheet(store, per_language=6, seed=seed)[0] for seed in (11, 11, 12))
    assert (one.is_new, same.is_new, other.is_new) == (True, False, True)
    assert (one.text, one.key) == (same.text, same.key)
    assert one.text != other.text
    assert audit_sheet.again(one.sheet, "example", store.cache.root).text == one.text
    kept = [row.sheet for row in audits.sheets(store.cache, "example")]
    assert kept.count(one.sheet) == 1


@pytest.mark.parametrize("start", audit_cells.FORMULA)
def test_a_text_that_is_a_formula_is_made_inert_and_comes_back(start):
    text = f'{start}HYPERLINK("http://x","y")'
    assert audit_cells.inert(text) == f"'{text}"
    assert audit_cells.checksum([audit_cells.inert(text)]) == audit_cells.checksum([text])
    assert audit_cells.checksum(["'tis"]) != audit_cells.checksum(["tis"])


def test_formulas_among_the_texts_are_inert_in_the_file(tmp_path):
    found, shown, _ = sheet(stored(tmp_path / "cache", texts=lambda text: f"=cmd|{text}"), per_language=4)
    assert all(row["document"].startswith("'=cmd|") for row in shown)
    assert found.text.startswith("\ufeff")
    cells = [cell for row in csv.reader(io.StringIO(found.text[1:], newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(audit_cells.FORMULA)]


def test_translations_show_a_version_beside_its_source(store):
    _, shown, key = sheet(store, question="translation", per_language=N)
    assert Counter((row["source_language"], row["query_language"]) for row in shown) == {("en", "ja"): N}
    for row in shown:
        of = key[row["row"]]
        assert of["query_id"].replace("-ja", "-en") == of["document_id_or_source"]
        assert of["benchmark_says"] == ("0" if of["query_id"] == "q0-ja" else "1")


def test_tiers_come_in_turn(tmp_path):
    found, shown, key = sheet(
        stored(tmp_path / "cache", tiers=("synonym", "sibling", "related", None)), question="tier", per_language=9
    )
    told = Counter((row["query_language"], key[row["row"]]["benchmark_says"]) for row in shown)
    assert told == {(tag, tier): 3 for tag in LANGUAGES for tier in ("synonym", "sibling", "related")}
    assert "one of related, sibling, synonym" in found.instructions


def test_too_many_rows_are_refused_and_say_how_many_there_are(store):
    with pytest.raises(InputError, match=r"--per-language 81: expected 1 to 80, as many as en of main has"):
        sheet(store, per_language=81)
    assert sheet(store)[0].per_language == 30  # without a number
    with pytest.raises(InputError, match="main has nothing to ask of: a sheet for tier needs a query with a tier"):
        sheet(store, question="tier")
    with pytest.raises(InputError, match="question 'x': expected one of relevance, translation, tier"):
        audit_sheet.make(SheetRequest("example", question="x"), store.cache.root)


def test_the_command_writes_sheet_instructions_and_key_and_overwrites_nothing(store, tmp_path, capsys):
    out, key = tmp_path / "sheet.csv", tmp_path / "key.csv"
    asked = ["export-audit", "--benchmark", "example", "--per-language", "8", "-o", str(out), "--key", str(key)]
    asked += ["--cache", str(store.cache.root)]
    assert main(asked) == 0
    assert "16 rows, 8 in each query language; its key is kept in the store" in capsys.readouterr().err
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")
    assert len(rows(out.read_text(encoding="utf-8"))) == len(rows(key.read_text(encoding="utf-8"))) == 16
    assert "judgement: 1 for yes, 0 for no." in (tmp_path / "sheet.README.txt").read_text(encoding="utf-8")
    before = state(tmp_path)
    assert main(asked) == 1
    assert "sheet.csv: there already, expected a new name: it may hold somebody's judgements" in capsys.readouterr().err
    assert state(tmp_path) == before


@pytest.mark.parametrize("question", ["relevance", "translation", "tier"])
def test_imported_scores_have_nothing_to_ask_of(imported_store, question):
    with pytest.raises(InputError, match=r"main has no(thing|) "):
        audit_sheet.make(SheetRequest("imported", question=question), imported_store.cache.root)


def test_a_sheet_whose_texts_are_gone_is_not_written_again(tmp_path):
    store = stored(tmp_path / "cache")
    name = sheet(store, per_language=4)[0].sheet
    benchmark = made()
    (task,) = benchmark.tasks
    fewer = [query._replace(id=f"new-{query.id}", source_query=None) for query in task.queries]
    other = type(task)(**{**vars(task), "queries": tuple(fewer), "judgements": ()})
    again(store, type(benchmark)(**{**vars(benchmark), "version": "2", "tasks": (other,)}))
    with pytest.raises(InputError, match="main does not have its texts any more"):
        audit_sheet.again(name, "example", store.cache.root)
    with pytest.raises(InputError, match="sheet 'x': example has "):
        audit_sheet.again("x", "example", store.cache.root)
