import csv
import io
import json

import pytest
from visits import parameters, words


def test_the_overview_answers_with_a_sentence_a_chart_a_table_and_the_health_of_the_data(full):
    page = full.page("overview")
    said = words(page)
    assert len(page.get("plotly_chart")) == 1
    for column in ("nDCG@10", "R@10 same", "R@10 cross", "LT%", "Hit@1", "RR"):
        assert f">{column}</th>" in said
    for column in ("Missing queries", "Tied at rank 10", "nDCG@10 ties allow", "Judged in top 10"):
        assert f">{column}</th>" in said
    assert "Not for clinical decisions" in said
    assert "Licence" in said


def test_systems_stand_under_their_paradigm(full):
    said = words(full.page("overview"))
    assert '<tr class="group"><th scope="rowgroup" colspan="8" dir="auto">lexical</th></tr>' in said


def test_the_chart_carries_its_words_for_those_who_cannot_see_it(full):
    chart = full.page("overview").get("plotly_chart")[0].proto
    assert "nDCG@10" in chart.spec
    assert chart.alt.strip()


@pytest.mark.parametrize(("measure", "label"), [("hit_at_1", "Hit@1"), ("language_transfer", "LT%")])
def test_the_measure_changes_the_chart_and_the_address(full, measure, label):
    page = full.page("overview")
    page.selectbox(key="overview-measure").select(measure).run()
    assert parameters(page) == {"measure": measure}
    assert json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["title"]["text"] == label


def test_all_tasks_at_once(full):
    page = full.page("overview", task="all")
    assert not page.exception
    assert len(page.get("plotly_chart")) == len(page.selectbox(key="overview-task").options) - 1 > 1


def test_numbers_have_two_decimals_and_their_interval_below(full):
    import re

    said = words(full.page("overview", systems="all-minilm-l6-v2"))
    assert re.search(r">\d\.\d\d<br><span class=\"soft\">\d\.\d\d–\d\.\d\d</span>", said)


def test_the_csv_holds_the_plotted_numbers_unrounded(full):
    from analysis.views import overview, source
    from analysis.views.selection import Selection
    from pages.shared import leaderboard
    from pages.shared.tables import as_csv

    store = source.open_source()
    view = overview.overview(store, Selection("icd10", tasks=("category",)))
    header, rows = leaderboard.numbers(view.tasks[0], view.measures)
    read = list(csv.DictReader(io.StringIO(as_csv(header, rows).decode("utf-8-sig"))))
    first = view.tasks[0].rows[0].measures["ndcg_at_10"]
    assert float(read[0]["value"]) == first.value
    assert float(read[0]["low"]) == first.low
    assert read[0]["n"] == str(first.n)
