"""Audits counted by hand: accuracy, κ, AC1 and MAE by language, between raters, of slices; the paper's case."""

import json
from fractions import Fraction

import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from analysis.cli import main
from analysis.jobs.import_audit import AuditRequest, import_audit
from analysis.views import audits, audits_export
from analysis.views.audits import PEOPLE
from analysis.views.selection import Selection
from tests.audited import N, again, made, stored


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("audits"), run=False)


@pytest.fixture
def store(whole):
    yield whole
    whole.cache.notes.unlink(missing_ok=True)


def say(store, tmp_path, judgements, *, annotator="ann", **how):
    """Bring in judgements: (query, document) -> what is said."""
    lines = ["query_id,document_id,judgement,comment"]
    lines += [f"{query},{document},{said}," for (query, document), said in judgements.items()]
    path = tmp_path / f"{annotator}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    request = AuditRequest(path, "example", annotator=annotator, **how)
    import_audit(request, store.cache.root)


def view(store, **asked):
    return audits.audits(store, Selection("example", **asked))


def cell(found, rater="ann", language=None):
    (one,) = (row.agreed for row in found.cells if (row.rater, row.language) == (rater, language))
    return one


def answers(n, tag="en"):
    """As many pairs that the benchmark calls relevant."""
    return {(f"q{number}-{tag}", f"d{number}-{tag}"): 1 for number in range(n)}


def others(n, tag="en"):
    """As many that nobody has judged."""
    return {(f"q{number}-{tag}", f"d{(number + 1) % N}-{tag}"): 0 for number in range(n)}


def test_nothing_yet(store):
    found = view(store)
    assert (found.cells, found.pairs, found.disagreements, found.raters, found.sheets, found.remarks) == ((),) * 6
    assert found.takeaway == ("Nobody has audited this benchmark yet.", "")


def test_cells_by_hand(store, tmp_path):
    """In English 3 of 4 as the benchmark says, in Japanese 1 of 2."""
    said = {**answers(2), **others(2), **answers(1, "ja"), **others(1, "ja")}
    said["q1-en", "d1-en"], said["q0-ja", "d1-ja"] = 0, 1
    say(store, tmp_path, said)
    found = view(store)
    assert [(row.language, row.agreed.n, row.agreed.n_agreed) for row in found.cells] == [
        (None, 6, 4), ("en", 4, 3), ("ja", 2, 1),
    ]  # fmt: skip
    english = cell(found, language="en")
    assert english.value == 3 / 4
    assert (english.low, english.high) == pytest.approx(proportion_confint(3, 4, method="wilson"))
    # The benchmark: 1, 1, 0, 0; ann: 1, 0, 0, 0. By chance 1/2 · 1/4 + 1/2 · 3/4 = 1/2.
    assert english.kappa == pytest.approx((3 / 4 - 1 / 2) / (1 / 2))
    assert english.kappa == pytest.approx(cohen_kappa_score([1, 1, 0, 0], [1, 0, 0, 0]))
    # Shares over both: 3/8 and 5/8. By chance 2 · 3/8 · 5/8 = 15/32.
    assert english.ac1 == pytest.approx(float((Fraction(3, 4) - Fraction(15, 32)) / (1 - Fraction(15, 32))))
    assert (english.mae, english.few) == (None, True)
    assert found.takeaway.bold == "ann agrees with the benchmark on 4 of 6 judgements of relevance (30 to 90 %)."
    assert found.takeaway.rest == "Least in ja: 1 of 2. Fewer than 30 judgements: descriptive only."
    assert "Of 6 pairs 3 had no judgement in the benchmark: not relevant there." in found.remarks
    assert "3 shares of fewer than 30 judgements: descriptive only." in found.remarks


def test_the_case_of_the_paper(store, tmp_path):
    """31 of 32 are called faithful by one who never says no to the other 31: 96.9 %, κ 0, AC1 0.97."""
    say(store, tmp_path, {**answers(32), ("q5-en", "d5-en"): 0})
    found = view(store)
    agreed = cell(found)
    assert (agreed.n, agreed.n_agreed, agreed.few) == (32, 31, False)
    assert agreed.value == pytest.approx(0.969, abs=5e-4)
    assert agreed.kappa == pytest.approx(0)
    assert agreed.ac1 == pytest.approx(0.97, abs=5e-3)
    (remark,) = found.remarks
    assert remark == (
        "ann and the benchmark (relevance): κ is low although 96.9 % agree: 98.4 % of all labels are “relevant”, "
        "so that chance alone would agree on 96.9 %; AC1 does not depend on that."
    )


def test_one_label_throughout_leaves_kappa_undefined_and_says_why(store, tmp_path):
    say(store, tmp_path, answers(30))
    agreed = cell(view(store))
    assert (agreed.value, agreed.kappa, agreed.ac1) == (1, None, 1)
    assert agreed.remark == "both give one and the same label throughout: κ is not defined"


def test_raters_against_each_other_and_people_together(store, tmp_path):
    """Of four answers ann takes all, bob three, eve two: the majority takes three; the model takes none."""
    said = answers(4)
    pairs = list(said)
    say(store, tmp_path, said, annotator="ann")
    say(store, tmp_path, {**said, pairs[0]: 0}, annotator="bob")
    say(store, tmp_path, {**said, pairs[0]: 0, pairs[1]: 0}, annotator="eve")
    say(store, tmp_path, dict.fromkeys(said, 0), annotator="gpt", kind="model")
    found = view(store)
    assert {(row.rater, row.agreed.n_agreed) for row in found.cells if row.language is None} == {
        ("ann", 4), ("bob", 3), ("eve", 2), ("gpt", 0), (PEOPLE, 3),
    }  # fmt: skip
    assert {(row.first, row.second): row.agreed.n_agreed for row in found.pairs} == {
        ("ann", "bob"): 3, ("ann", "eve"): 2, ("bob", "eve"): 3,
        ("ann", "gpt"): 0, ("bob", "gpt"): 1, ("eve", "gpt"): 2, (PEOPLE, "gpt"): 1,
    }  # fmt: skip
    assert found.takeaway.bold == "3 people agree with the benchmark on 9 of 12 judgements of relevance."
    assert [[said.rater for said in row.said if said.differs] for row in found.disagreements] == [
        ["bob", "eve", "gpt"], ["eve", "gpt"], ["gpt"], ["gpt"],
    ]  # fmt: skip
    assert [(row.name, row.kind, row.n) for row in found.raters][-1] == ("gpt", "model", 4)


def test_an_even_split_is_tied_and_left_out(store, tmp_path):
    said = answers(4)
    say(store, tmp_path, said)
    say(store, tmp_path, {**said, next(iter(said)): 0}, annotator="bob")
    (together,) = (row for row in view(store).cells if (row.rater, row.language) == (PEOPLE, None))
    assert (together.agreed.n, together.agreed.n_agreed, together.n_tied) == (3, 3, 1)


def test_grades_have_a_mean_absolute_error(tmp_path):
    """The benchmark says 2, 1, 2, 1 and ann 2, 2, 0, 1: off by 0, 1, 2, 0; relevant or not they differ once."""
    graded = stored(tmp_path / "cache", grades=(2.0, 1.0), run=False)
    say(graded, tmp_path, dict(zip(answers(4), (2, 2, 0, 1), strict=True)))
    agreed = cell(view(graded))
    assert (agreed.mae, agreed.n_agreed) == (3 / 4, 3)
    (apart,) = view(graded).disagreements
    assert (apart.query_id, apart.told, apart.said[0].judgement) == ("q2-en", "relevant (2)", "0")


def test_tiers_and_translations(tmp_path):
    store = stored(tmp_path / "cache", tiers=("1", "3"), run=False)
    say(store, tmp_path, dict(zip(answers(4), ("1", "1", "1", "3"), strict=True)), question="tier")
    versions = {(f"q{n}-ja", f"q{n}-en"): 1 for n in range(3)}  # of q0 the benchmark says that it failed
    say(store, tmp_path, versions, question="translation", annotator="bob")
    found = view(store)
    assert (cell(found).n_agreed, cell(found).mae) == (3, 2 / 4)
    assert cell(found, "bob").n_agreed == 2
    told = {row.question: (row.query_id, row.told) for row in found.disagreements}
    assert told == {"tier": ("q1-en", "3"), "translation": ("q0-ja", "not faithful")}


def test_slices_are_those_of_the_queries(store, tmp_path):
    say(store, tmp_path, {**answers(5), **answers(2, "ja")})
    assert cell(view(store, where=(("ward", "even"),))).n == 3 + 1
    assert cell(view(store, where=(("audit_status", "fail"),))).n == 1
    statuses = {(row.status, row.agreed.n) for row in view(store).statuses}
    assert statuses == {("pass", 6), ("fail", 1)}
    nothing = view(store, where=(("language", "xx"),))
    assert nothing.takeaway == ("Nothing of these queries was audited.", "Without the choice there are 7 judgements.")


def test_what_is_gone_is_counted_and_in_no_number(tmp_path):
    store = stored(tmp_path / "cache", run=False)
    say(store, tmp_path, answers(3))
    benchmark = made()
    (task,) = benchmark.tasks
    kept = tuple(query for query in task.queries if query.id != "q1-en")
    judged = tuple(row for row in task.judgements if row.query_id != "q1-en")
    other = type(task)(**{**vars(task), "queries": kept, "judgements": judged})
    found = view(again(store, type(benchmark)(**{**vars(benchmark), "version": "2", "tasks": (other,)})))
    assert (cell(found).n, found.n_gone) == (2, 1)


def test_files_and_commands_say_the_same(store, tmp_path, capsys):
    say(store, tmp_path, {**answers(2), ("q0-en", "d0-en"): 0})
    found = view(store)
    assert main(["show", "audits", "--benchmark", "example", "--cache", str(store.cache.root)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["agreed"]["n"] for row in shown["cells"]] == [2, 2]
    assert [row["n"] for row in audits_export.cells(found)] == [2, 2]
    (apart,) = audits_export.disagreements(found)
    assert (apart["benchmark"], apart["judgement"], apart["differs"]) == ("relevant (1)", "0", True)
    text = audits_export.markdown(found)
    assert "| main | relevance | ann | all | 2 \\(few\\) | 0\\.50 |" in text
    assert "> question 0 en" in text
