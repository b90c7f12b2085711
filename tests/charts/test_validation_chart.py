import numpy as np
import pytest

from analysis.benchmarks.confusion_sets import ConfusionSet, as_csv, judged
from analysis.charts import validation as charts
from analysis.model import Interval, SystemLabel
from analysis.views.tiers import TierRow
from analysis.views.validation import validation


def measured(value, ceiling=None):
    return Interval(value, "pooled", None, ceiling, value - 0.1, value + 0.1, 0.95, "by hand", 40)


def rows(ceiling):
    labels = [SystemLabel(name, name.upper(), name, "lexical", 0) for name in ("a", "b")]
    return [
        TierRow("t2", label, tier, measured(recall, ceiling), measured(0.5), measured(hit), {}, {})
        for label in labels
        for tier, recall, hit in ((None, 0.1, 0.5), ("synonym", 0.2, 0.9), ("related", 0.05, 0.4))
    ]


@pytest.mark.parametrize(("ceiling", "found", "says"), [(None, 0.2, "R@1"), (0.2, 0.9, "Hit@1")])
def test_each_tier_is_a_mark_on_each_system(ceiling, found, says):
    figure = charts.by_tier(rows(ceiling))
    assert [trace.name for trace in figure.data] == ["synonym", "related"]
    assert list(figure.data[0].x) == [found, found]
    assert list(figure.data[0].y) == [0, -1]
    assert figure.layout.xaxis.title.text.endswith(says)
    assert len({trace.marker.symbol for trace in figure.data}) == 2


def test_cosines_stand_under_what_a_tier_allows():
    sets = [ConfusionSet(f"s{n}", tier, "V", ("C1",), ("A01",)) for n, tier in enumerate(("synonym", "sibling"))]
    text = as_csv(judged(sets, np.array([[0.9, 0.8, 0.7], [0.5, 0.6, -0.2]])), ("a", "b", "c"))
    found = validation({"built": {"t2": {"validators": ["a", "b", "c"], "answers": "set", "sets": text}}}, "t2")
    figure = charts.cosines(found)
    allowed = {tuple(trace.x) for trace in figure.data if trace.mode == "lines"}
    assert allowed == {(0.70, 1.0), (0.40, 0.75), (0.15, 0.45)}
    marks = {trace.name: list(trace.x) for trace in figure.data if trace.mode == "markers"}
    assert marks["synonym, as made"] == pytest.approx([0.9, 0.8, 0.7, 0.8])
    assert marks["sibling, as kept"] == pytest.approx([0.5, 0.6, -0.2, 0.3])
    assert marks["related, as made"] == []
    assert figure.layout.xaxis.range[0] < -0.2
    assert list(figure.layout.yaxis.ticktext) == ["a tier allows", "a", "b", "c", "mean of the three"]
