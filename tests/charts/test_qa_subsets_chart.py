import pytest

from analysis.charts import qa_subsets as charts
from analysis.paths import Cache
from analysis.views import significance
from analysis.views.selection import Selection
from tests.hand_translated import stored


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    store = stored(Cache(tmp_path_factory.mktemp("translated")))
    return significance.significance(store, Selection("translated")).tasks[0].qa_subsets


@pytest.mark.parametrize("dark", [False, True])
def test_a_mark_a_subset_and_system(found, dark):
    figure = charts.qa_subsets(found, dark=dark)
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == [
        "pass (3 queries)",
        "official (8 queries)",
        "all (11 queries)",
    ]
    drawn = [trace for trace in figure.data if trace.showlegend is False]
    assert [list(trace.x) for trace in drawn] == [
        [row.means[name].value for row in found.rows] for name in ("pass", "official", "all")
    ]
    assert figure.layout.xaxis.title.text == "nDCG@10"
    assert list(figure.layout.yaxis.ticktext) == ["even", "careless", "careful"]
