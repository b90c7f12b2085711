"""Pages on a benchmark of parallel documents: its card, its routes, queries without a home, and modes as slices."""

import json

import pytest
from visits import Visit, words

from analysis.cli import main

NAME = "chemclir-bench-invented"


@pytest.fixture(scope="session")
def documents_store(once, invented_patents):
    def build(folder):
        flags = []
        for task, name in (("google", "google.jsonl"), ("epo", "epo.csv")):
            flags += ["--corpus", f"{task}={invented_patents / name}"]
        for task in ("google-patents", "epo"):
            flags += ["--query-table", f"{task}={invented_patents / f'{task}-queries.csv'}"]
        assert main(["build", "parallel-documents", *flags, "--run", "bm25,bm25-cjk", "--cache", str(folder)]) == 0

    return once("documents", build)


@pytest.fixture
def documents(documents_store, first_start, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(documents_store))
    return Visit()


def test_the_card_says_what_became_of_tables_and_queries(documents):
    page = documents.page("data", benchmark=NAME)
    assert not page.exception
    said = words(page)
    titles = [expander.label for expander in page.expander]
    for title in ("Google Patents", "EPO"):
        assert f"{title}: what became of the tables and the queries" in titles
    assert "language versions kept, of 42 publications" in said
    assert "First dropped: no publication number, line " in said
    for heading in ("Text in another script", "Second version of its language", "General, random-missing"):
        assert heading in said
    assert "The corpus says another strategy" in said
    assert f"versions-{NAME}-epo.csv" in str([button.proto for button in page.get("download_button")])


@pytest.mark.parametrize("name", ["routes", "recoverability"])
@pytest.mark.parametrize("where", ["no_home=yes", "mode=general,strategy=random-existing"])
def test_parts_of_it_open(documents, name, where):
    page = documents.page(name, benchmark=NAME, task="google-patents", where=where)
    assert not page.exception
    assert not page.error
    assert page.get("plotly_chart")


def test_queries_without_a_home_have_no_diagonal(documents_store, capsys):
    asked = ("routes", "--benchmark", NAME, "--task", "epo", "--system", "bm25", "--format", "json")
    cells = {}
    for home in ("yes", "no"):
        assert main([*asked, "--where", f"no_home={home}", "--cache", str(documents_store)]) == 0
        found = json.loads(capsys.readouterr().out)["cells"]
        cells[home] = {(row["query_language"], row["document_language"]) for row in found if row["n"]}
    assert cells["yes"]
    assert not any(query == document for query, document in cells["yes"])
    assert {(tag, tag) for tag in ("de", "en", "fr")} <= cells["no"]


def test_both_tasks_are_pooled(documents_store, capsys):
    asked = ("recoverability", "--benchmark", NAME, "--system", "bm25", "--pooled", "--format", "json")
    assert main([*asked, "--cache", str(documents_store)]) == 0
    rows = {row["task"]: row["k80_both"]["n"] for row in json.loads(capsys.readouterr().out)["systems"]}
    assert rows[None] == rows["google-patents"] + rows["epo"] > 0
