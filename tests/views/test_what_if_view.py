"""A changed ranking beside the run it was made of, on lists that a reader can check."""

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.model import Ranking
from analysis.views.routes import routes
from analysis.views.selection import Selection
from analysis.views.what_if import CHANGED, what_if
from tests.hand_made import ranking_of, worked_example

EXAMPLE = Selection("example")


def test_before_and_after_by_hand(example_store):
    """good finds c-fr of q1 at 4; now it is first, and c-ja second."""
    task = worked_example().tasks[0]
    better = ranking_of(task, [["c-fr", "c-ja", "c-en"], ["c-ja", "c-en", "c-fr"]], depth=10)
    view = what_if(example_store, EXAMPLE, base="good", ranking=better, words="Mended")
    measures = {row.measure.key: row for row in view.measures}
    cross = measures["recall_at_10_cross"]
    assert (cross.before.value, cross.after.value, cross.delta.value) == (0.5, 1.0, 0.5)
    assert measures["ndcg_at_10"].after.value == pytest.approx(1.0)
    assert view.takeaway.rest.startswith("R@10 cross 0.50 → 1.00")
    cells = {(cell.system, cell.query_language, cell.document_language): cell.value for cell in view.heatmaps.cells}
    assert (cells["good", "en", "ja"], cells[CHANGED, "en", "ja"]) == (0.0, 1.0)
    apart = {(cell.query_language, cell.document_language): cell.value for cell in view.difference.cells}
    assert (apart["en", "ja"], apart["en", "en"]) == (1.0, 0.0)


def test_the_run_itself_changes_nothing(example_store):
    task = worked_example().tasks[0]
    same = ranking_of(
        task,
        [["c-en", "f0-en", "f1-en", "c-fr", "f2-en", "f3-en"], ["f0-fr", "c-ja", "c-en", "f1-fr", "f2-fr"]],
        depth=10,
    )
    view = what_if(example_store, EXAMPLE, base="good", ranking=same, words="Nothing")
    assert all(row.delta.value == 0 for row in view.measures)
    assert view.takeaway.bold == "Nothing: R@10 cross does not change by more than chance."
    before = routes(example_store, EXAMPLE._replace(systems=("good",)))
    for system in ("good", CHANGED):
        mine = [cell for cell in view.heatmaps.cells if cell.system == system]
        assert [cell.value for cell in mine] == [cell.value for cell in before.cells]


def test_an_empty_list_finds_nothing(example_store):
    empty = Ranking(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), 10)
    view = what_if(example_store, EXAMPLE, base="good", ranking=empty, words="Gone")
    assert all(row.after.value == 0 for row in view.measures)


def test_what_cannot_be_compared(example_store, imported_store):
    empty = Ranking(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), 10)
    with pytest.raises(InputError, match="unknown system 'x'"):
        what_if(example_store, EXAMPLE, base="x", ranking=empty, words="")
    name = imported_store.runs([1])[0].system
    with pytest.raises(InputError, match="a what-if needs rankings"):
        what_if(imported_store, Selection("imported"), base=name, ranking=empty, words="")
