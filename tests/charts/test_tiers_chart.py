import pytest

from analysis.charts import tiers as charts
from analysis.views import tiers
from analysis.views.selection import Selection


@pytest.fixture(scope="module")
def rows(example_store):
    return tiers.tiers(example_store, Selection("example"))


def test_accuracies_are_marks_on_one_axis_from_zero(rows):
    figure = charts.discrimination(rows)
    assert figure.layout.xaxis.title.text == "share of queries whose answer stands above"
    assert figure.layout.xaxis.range[0] == 0
    assert [trace.name for trace in figure.data] == [
        "above every sibling",
        "above every related",
        "above every unrelated",
    ]
    unrelated = figure.data[2]
    # good puts its answer above every filler for q1 only; bad for none.
    assert sorted(unrelated.x) == [0, 0.5]


def test_bars_are_shares_that_sum_to_the_answered_queries(rows):
    figure = charts.outcomes({row.system.short: row.outcome_at_1 for row in rows})
    assert figure.layout.barmode == "stack"
    totals = [sum(trace.x[place] for trace in figure.data) for place in range(len(rows))]
    assert dict(zip([row.system.name for row in rows], totals, strict=True)) == {
        "good": 1,
        "bad": 0.5,
    }  # bad left one empty
    assert figure.data[0].customdata[0][1:] == ["same concept", "same"]
    hatched = {trace.name: trace.marker.pattern.shape for trace in figure.data}
    assert all((shape == "/") == name.endswith("another language") for name, shape in hatched.items())
