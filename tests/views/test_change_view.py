"""Better or worse, on lists that a reader can check."""

import json

import pytest

from analysis.errors import InputError
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views.change import Setting, change
from analysis.views.routes import route_difference
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example

EXAMPLE = Selection("example")


def test_by_hand(example_store):
    """nDCG@10 of q1: good .6714, bad 1/log2 3 ÷ 2.1309 = .2961; of q2: .5307 and 0."""
    view = change(example_store, EXAMPLE, before="good", after="bad")
    assert tuple(view.counts) == (0, 0, 2)
    assert view.delta.value == pytest.approx(((0.2961 - 0.6714) + (0 - 0.5307)) / 2, abs=1e-4)
    assert [(row.query_id, round(row.before, 4), round(row.after, 4)) for row in view.queries] == [
        ("q2", 0.5307, 0.0),
        ("q1", 0.6714, 0.2961),
    ]
    assert view.takeaway.bold == "0 of 2 queries got better with bad, 2 got worse."
    routes = {(row.query_language, row.document_language): row for row in view.routes}
    assert set(routes) == {(spoken, written) for spoken in ("en", "ja") for written in ("en", "fr", "ja")}
    assert (routes["en", "en"].delta.value, tuple(routes["en", "en"].counts)) == (0.0, (0, 1, 0))
    assert (routes["en", "fr"].delta.value, tuple(routes["en", "fr"].counts)) == (-1.0, (0, 0, 1))
    assert tuple(routes["ja", "fr"].counts) == (0, 1, 0)  # neither has it


def test_routes_agree_with_the_heatmap_of_the_difference(example_store):
    view = change(example_store, EXAMPLE, before="good", after="bad")
    cells = {
        (cell.query_language, cell.document_language): (cell.value, cell.low, cell.high, cell.n)
        for cell in route_difference(example_store, EXAMPLE, a="bad", b="good").cells
        if cell.n
    }
    assert cells == {
        (row.query_language, row.document_language): (row.delta.value, row.delta.low, row.delta.high, row.delta.n)
        for row in view.routes
    }


def test_turned_round(example_store):
    there = change(example_store, EXAMPLE, before="good", after="bad")
    back = change(example_store, EXAMPLE, before="bad", after="good")
    assert back.delta.value == pytest.approx(-there.delta.value)
    assert (back.counts.win, back.counts.loss) == (there.counts.loss, there.counts.win)
    assert back.takeaway.bold.startswith("2 of 2 queries got better with good, 0 got worse.")


def test_what_the_runs_record_differently(tmp_path):
    made = worked_example()
    ranking = ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)
    cache = Cache(tmp_path)
    put(cache, made, {("one", "lexical"): ranking, ("two", "lexical"): ranking})
    records = {"one": {"seconds": 1, "settings": {"k1": 1.5, "b": 0.75}}, "two": {"settings": {"k1": 0.9, "b": 0.75}}}
    with write.writer(cache) as writer:
        for name, record in records.items():
            writer._run("UPDATE run SET provenance = ? WHERE system = ?", [json.dumps(record), name])
    view = change(read.open_store(cache), EXAMPLE, before="one", after="two")
    assert view.settings == (Setting("settings k1", "1.5", "0.9"),)
    assert tuple(view.counts) == (0, 2, 0)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [("good", "good", "system 'good' twice"), ("good", "x", "unknown system 'x'")],
)
def test_what_cannot_be_compared(example_store, before, after, message):
    with pytest.raises(InputError, match=message):
        change(example_store, EXAMPLE, before=before, after=after)


def test_imported_scores_have_no_ranks(imported_store):
    names = [run.system for run in imported_store.runs([1])][:2]
    with pytest.raises(InputError, match="better or worse needs rankings"):
        change(imported_store, Selection("imported"), before=names[0], after=names[1])
