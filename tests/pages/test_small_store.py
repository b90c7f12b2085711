"""A store of two queries and two systems: everything is small, missing or hatched, and nothing breaks."""

import json

from visits import words


def test_the_overview_counts_what_is_missing(example):
    page = example.page("overview")
    assert not page.exception
    assert len(page.warning) == 1
    assert "unanswered queries count 0 (1 in all)" in words(page)


def test_every_route_of_one_query_is_hatched(example):
    page = example.page("routes")
    assert not page.exception
    drawn = json.loads(page.get("plotly_chart")[0].proto.spec)["data"]
    assert sum(trace["type"] == "bar" for trace in drawn) == 2
    assert "Too few queries" in words(page)


def test_a_rank_that_is_nowhere_reads_beyond_the_depth_of_the_run(example):
    said = words(example.page("routes", route="en,ja", system="good"))
    assert '<span class="grey">&gt; 10</span>' in said


def test_systems_that_do_not_work_here_cannot_be_asked_live(example):
    page = example.page("probe")
    assert not page.exception
    assert "--systems all" in words(page)
