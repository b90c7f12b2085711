import pytest

from analysis.errors import InputError
from analysis.model import SystemLabel
from analysis.views import routes
from analysis.views.selection import Selection

EXAMPLE = Selection("example", ("main",))


def cells(view, system):
    return {(cell.query_language, cell.document_language): cell for cell in view.cells if cell.system == system}


def test_the_cells_of_the_worked_example(example_store):
    found = cells(routes.routes(example_store, EXAMPLE), "good")
    values = {route: cell.value for route, cell in found.items() if cell.n}
    assert values == {
        ("en", "en"): 1, ("en", "fr"): 1, ("en", "ja"): 0, ("ja", "ja"): 1, ("ja", "en"): 1, ("ja", "fr"): 0,
    }  # fmt: skip


def test_an_empty_cell_is_missing_not_zero(example_store):
    cell = cells(routes.routes(example_store, EXAMPLE), "good")["fr", "en"]
    assert cell.value is None
    assert cell.low is None
    assert cell.n == 0


def test_one_answer_a_query_has_wilson_intervals(example_store):
    cell = cells(routes.routes(example_store, EXAMPLE), "good")["en", "en"]
    assert cell.method == "wilson"
    # Wilson for 1 of 1: (1 + z²/2 − z·sqrt(z²/4)) ÷ (1 + z²) = 1 ÷ (1 + z²)
    assert cell.low == pytest.approx(1 / (1 + 1.959964**2), abs=1e-6)
    assert cell.high == pytest.approx(1)


def test_k_moves_the_cells(example_store):
    at_3 = cells(routes.routes(example_store, EXAMPLE, k=3), "good")
    assert at_3["en", "fr"].value == 0  # rank 4
    assert at_3["en", "fr"].measure == "recall_at_3"


def test_preference_counts_what_stands_above_the_answer(example_store):
    found = cells(routes.routes(example_store, EXAMPLE), "good")
    # q2: one French filler above c-ja; French is 5 of 11 documents.
    assert found["ja", "fr"].preference == pytest.approx(11 / 5)
    assert found["ja", "en"].preference == 0
    assert found["en", "en"].preference is None  # nothing above rank 1


def test_a_shallow_run_says_so(example_store):
    assert routes.routes(example_store, EXAMPLE, k=100).shallow == (
        "bad: run is only 10 deep",
        "good: run is only 10 deep",
    )


def test_the_difference_is_paired(example_store):
    view = routes.route_difference(example_store, EXAMPLE, a="good", b="bad")
    values = {(cell.query_language, cell.document_language): cell.value for cell in view.cells if cell.n}
    assert values["en", "en"] == 0
    assert values["ja", "ja"] == 1


def test_the_queries_behind_a_cell_come_worst_first_with_every_system(example_store):
    found = routes.route_queries(example_store, EXAMPLE, system="bad", query_language="ja", document_language="en")
    assert found.title == "ja → en · bad · 1 of 1 queries fail"
    assert [system.name for system in found.systems] == ["bad", "good"]
    assert found.rows[0].ranks == (None, 3)
    assert found.rows[0].document_text == "answer en"


def test_bad_requests_are_refused(example_store):
    with pytest.raises(InputError, match="en, fr, ja"):
        routes.route_queries(example_store, EXAMPLE, system="bad", query_language="xx", document_language="en")
    with pytest.raises(InputError, match="no run"):
        routes.route_queries(
            example_store,
            EXAMPLE._replace(systems=("good",)),
            system="bad",
            query_language="en",
            document_language="en",
        )
    with pytest.raises(InputError, match="1 or more"):
        routes.routes(example_store, EXAMPLE, k=0)


LABELS = [SystemLabel(name, name, name.upper(), "lexical", 0) for name in "ab"]


def solid(system, source, target, value, n=100):
    return routes.RouteCell("main", system, source, target, "recall_at_10", value, None, None, None, None, "wilson", n)


def test_a_fall_to_nothing_leads_the_takeaway():
    found = {("a", "fr"): 0.9, ("a", "ja"): 0.2, ("b", "fr"): 0.4, ("b", "ja"): 0.0}
    sentence = routes._takeaway([solid(system, "en", tag, value) for (system, tag), value in found.items()], LABELS)
    assert sentence.bold == "B finds 40 of 100 French answers for an English query, and 0 of 100 Japanese ones."
    assert sentence.rest == "A finds 20 of 100 on the same route."


def test_where_all_answers_are_in_one_language_query_languages_are_compared():
    found = {("a", "en"): 0.9, ("a", "ja"): 0.6, ("b", "en"): 0.7, ("b", "ja"): 0.02}
    sentence = routes._takeaway([solid(system, tag, "en", value) for (system, tag), value in found.items()], LABELS)
    assert sentence.bold == "B finds 70 of 100 English answers for an English query, and 2 of 100 for a Japanese one."
    assert sentence.rest == "A finds 60 of 100 on the same route."


@pytest.mark.parametrize(
    ("n", "words"),
    [(29, "Every cell rests on fewer than 30 queries."), (30, "One route only rests on 30 or more queries.")],
)
def test_one_route_is_nothing_to_compare(n, words):
    assert routes._takeaway([solid("a", "en", "en", 0.9, n)], LABELS).rest == words
