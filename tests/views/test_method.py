"""The page Method defines what the product shows."""

import pytest

from analysis.errors import InputError
from analysis.metrics import catalogue
from analysis.views import method
from analysis.views.overview import MEASURES
from analysis.views.selection import Selection

TERMS = {term.name: term for section in method.sections() for term in section.terms}


def test_every_term_has_words_and_a_source_and_none_comes_twice():
    names = [term.name for section in method.sections() for term in section.terms]
    assert len(names) == len(set(names))
    for term in TERMS.values():
        assert term.definition.endswith(".")
        assert term.source


@pytest.mark.parametrize("key", MEASURES)
def test_every_measure_of_the_overview_is_defined(key):
    stem = catalogue.measure(key).label.split("@")[0]
    assert any(name.split("@")[0] == stem for name in TERMS)


def test_a_measure_brings_its_formula_and_mean():
    found = TERMS["R@10 cross"]
    assert found.formula == "relevant in other languages with r ≤ 10 ÷ all such"
    assert found.mean == "over the query languages' means"
    assert TERMS["nDCG@10"].mean == "over all queries"


def test_runs_say_where_they_come_from(example_store):
    name = example_store.benchmarks()[0].name
    view = method.page(example_store, Selection(name))
    assert {(run.task, run.system.name, run.depth) for run in view.runs} == {("main", "good", 10), ("main", "bad", 10)}
    assert view.limits[0].startswith("Not for clinical decisions")
    assert {run.system.name for run in method.page(example_store, Selection(name, systems=("bad",))).runs} == {"bad"}
    with pytest.raises(InputError, match="unknown system 'nobody'"):
        method.page(example_store, Selection(name, systems=("nobody",)))
