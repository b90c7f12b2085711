"""Doubtful items on the command line: counted by `list tasks`, left out on request, exported all the same."""

import json
from dataclasses import replace

import pytest

from analysis.cli import main
from analysis.model import Flag
from analysis.paths import Cache
from tests.hand_made import put, ranking_of, worked_example

FLAGS = (
    Flag("query", "q2", "other script"),
    Flag("document", "c-fr", "other script"),
    Flag("document", "f0-en", "no text"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = worked_example()
    task = replace(made.tasks[0], flags=FLAGS)
    good = [["c-en", "f0-en", "f1-en", "c-fr"], ["f0-fr", "c-ja", "c-en"]]
    bad = [["f0-en", "c-en"], ["c-en"]]
    runs = {(name, "lexical"): ranking_of(task, lists, depth=10) for name, lists in (("good", good), ("bad", bad))}
    cache = Cache(tmp_path_factory.mktemp("flagged"))
    put(cache, replace(made, tasks=(task,)), runs)
    return cache.root


@pytest.fixture
def command(capsys, folder):
    def call(*arguments):
        code = main([*arguments, "--cache", str(folder)])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return call


def test_list_tasks_counts_flags_by_reason(command):
    (task,) = json.loads(command("list", "tasks", "--format", "json"))
    assert (task["n_flagged_queries"], task["n_flagged_documents"]) == (1, 2)
    assert task["flags"] == {"other script": 2, "no text": 1}
    assert '{"other script": 2, "no text": 1}' in command("list", "tasks")


READING = (
    ("scores",),
    ("routes",),
    ("recoverability",),
    ("tiers",),
    ("fairness",),
    ("compare",),
    ("per-query",),
    *(
        ("show", view)
        for view in ("overview", "routes", "tiers", "fairness", "recoverability", "significance", "causes")
    ),
)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_every_reading_command_leaves_them_out_on_request(command, words):
    asked = (*words, "--benchmark", "example", "--format", "json")
    counted, left = (json.loads(command(*asked, *more)) for more in ((), ("--without-flagged",)))
    assert left != counted


def test_scores_and_rows_are_of_what_is_left(command):
    asked = ("--benchmark", "example", "--format", "json", "--without-flagged", "--system", "good")
    (row,) = json.loads(command("scores", *asked))["systems"]
    assert (row["n_queries"], row["measures"]["recall_at_10"]["value"]) == (1, 0.5)  # of c-en and c-ja, without c-fr
    (row,) = json.loads(command("per-query", *asked))
    assert (row["query_id"], row["recall_at_10"], row["first_cross_rank"]) == ("q1", 0.5, None)
    (none,) = json.loads(command("scores", *asked, "--where", "language=ja"))["systems"]
    assert (none["n_queries"], none["measures"]["recall_at_10"]["value"]) == (0, None)


def test_parts_by_home_are_those_of_what_is_left(command):
    asked = ("scores", "--benchmark", "example", "--format", "json", "--system", "good", "--by", "no_home")
    homes = [row["slice"]["value"] for row in json.loads(command(*asked))["systems"]]
    assert homes == ["no"]


@pytest.mark.parametrize("view", ["overview", "tiers", "fairness", "recoverability", "significance", "method"])
def test_show_says_how_many_are_flagged(command, view):
    (task,) = json.loads(command("show", view, "--benchmark", "example", "--without-flagged"))["tasks"]
    found = task.get("task", task)["n_flagged"]
    assert (found["queries"], found["documents"]) == (1, 2)


def test_show_routes_says_it_too(command):
    (view,) = json.loads(command("show", "routes", "--benchmark", "example"))
    assert view["task"]["n_flagged"]["reasons"] == {"other script": 2, "no text": 1}


@pytest.mark.parametrize(
    "arguments", [("list", "tasks"), ("probe", "x", "--encoder", "e", "--benchmark", "example")], ids=["list", "probe"]
)
def test_commands_that_could_not_heed_it_do_not_take_it(folder, capsys, arguments):
    with pytest.raises(SystemExit) as error:
        main([*arguments, "--without-flagged", "--cache", str(folder)])
    assert error.value.code == 2
    assert "--without-flagged" in capsys.readouterr().err


def test_exports_hold_everything(command):
    assert command("export", "--benchmark", "example", "--format", "qrels").count("\n") == 6
