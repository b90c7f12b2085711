from analysis.charts import fairness as charts
from analysis.charts import theme
from analysis.views import fairness
from analysis.views.selection import Selection


def test_a_dot_a_language_in_its_colour_with_its_name(example_store):
    task = fairness.page(example_store, Selection("example")).tasks[0]
    figure = charts.by_language(task)
    assert figure.layout.xaxis.title.text == "nDCG@10"
    dots = [trace for trace in figure.data if trace.mode == "markers+text"]
    good = dots[[row.system.name for row in task.rows].index("good")]
    assert list(good.text) == ["ja", "en"]  # by value
    assert [round(value, 4) for value in good.x] == [0.5307, 0.6714]
    assert list(good.marker.color) == [theme.language_colour("ja"), theme.language_colour("en")]
    assert list(figure.layout.yaxis.ticktext) == [row.system.short for row in task.rows]
