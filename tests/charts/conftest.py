"""Frozen answers made by hand, as the views would give them."""

import pytest
from chart_answers import (
    BENCHMARK,
    BM25,
    E5,
    LANGUAGES,
    MINILM,
    NDCG,
    RECALL,
    SAID,
    SYSTEMS,
    TASK,
    USE,
    cell,
    overview_row,
)

from analysis.views.overview import TaskOverview
from analysis.views.routes import RouteDifference, RoutesView


@pytest.fixture
def routes_view():
    """Four systems: .42 on the first route, nothing on the second, 29 queries on the third, a blank fourth cell."""
    cells = []
    for label in SYSTEMS:
        cells += [
            cell(label.name, ("en", "en"), 0.42, retention=1.0, preference=1.0),
            cell(label.name, ("en", "ja"), 0.0, retention=0.0, preference=0.25),
            cell(label.name, ("ja", "en"), 1.0, n=29, preference=4.0),
            cell(label.name, ("ja", "ja"), None, n=0, preference=2.0),
        ]
    return RoutesView(
        BENCHMARK,
        TASK,
        RECALL,
        10,
        LANGUAGES,
        ("English", "Japanese"),
        SYSTEMS,
        tuple(cells),
        SAID,
        "caption",
        None,
        (),
    )


@pytest.fixture
def route_difference():
    """all-MiniLM minus USE: ahead by .30, behind by .62, level, unknown."""
    values = {("en", "en"): 0.30, ("en", "ja"): -0.62, ("ja", "en"): 0.0, ("ja", "ja"): None}
    cells = tuple(cell("a − b", route, value) for route, value in values.items())
    return RouteDifference(MINILM, USE, RECALL, LANGUAGES, cells, SAID)


@pytest.fixture
def task_overview():
    """Best first: USE, e5-small, all-MiniLM and the degenerate BM25."""
    rows = (
        overview_row(USE, ndcg=0.62, same=0.77, cross=0.57),
        overview_row(E5, ndcg=0.52, same=0.86, cross=0.39),
        overview_row(MINILM, ndcg=0.33, same=0.77, cross=0.16),
        overview_row(BM25, ndcg=0.17, same=0.52, cross=0.03, degenerate=True),
    )
    return TaskOverview(TASK, SAID, "60 queries", rows, (), NDCG, None)
