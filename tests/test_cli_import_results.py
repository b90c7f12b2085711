"""The command `import-results`, and what the reading commands say of published figures."""

import csv
import io
import json

import pytest

from analysis.cli import main
from analysis.paths import Cache
from tests.hand_made import put, ranking_of, state, worked_example
from tests.published_files import LARGE, pairs, put_file, put_published, put_results, result


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli")
    put_published(Cache(root / "cache"), put_results(root / "results"))
    return root


@pytest.fixture
def command(capsys, published):
    def call(*arguments, cache=published / "cache"):
        code = main([*map(str, arguments), "--cache", str(cache)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def answer(found):
    assert found[0] == 0, found[2]
    return json.loads(found[1])


def test_it_says_what_it_found_and_stores_it_once(command, published, tmp_path):
    asked = ("import-results", published / "results", "--benchmark", "mine")
    code, out, err = command(*asked, cache=tmp_path)
    assert (code, out) == (0, "")
    assert "Clinic, systems: 3 (lab/large, lab/small, other/words)" in err
    assert "Many, languages: 14 (en, es, ru, zh, zh-Hant …)" in err
    assert err.splitlines()[-1] == "stored the figures of 5 files: mine@1"
    again = command(*asked, cache=tmp_path)
    assert again[2].splitlines()[-1] == "kept (the same files were stored before): mine@1"


def test_a_dry_run_stores_nothing_and_prints_the_report(command, published, tmp_path):
    found = answer(command("import-results", published / "results", "--benchmark", "x", "--dry-run", cache=tmp_path))
    assert [(task["task"], len(task["systems"])) for task in found["tasks"]] == [("Clinic", 3), ("Many", 2)]
    assert state(tmp_path) == {}


def test_a_fault_is_one_last_line(command, tmp_path):
    path = put_file(tmp_path / "r", LARGE, "Clinic", result("Clinic", {"all": pairs(2, 0.5, 0.4)}))
    code, _, err = command("import-results", tmp_path / "r", "--benchmark", "x", cache=tmp_path / "cache")
    assert code == 1
    assert err.splitlines()[-1] == (
        f"babelscope: {path}: split 'all', subset 'en': ndcg_at_10 2, expected a number from 0 to 1"
    )


def test_files_of_ones_own(command, tmp_path):
    (tmp_path / "Clinic.json").write_text(json.dumps(result("Clinic", {"all": pairs(0.6, 0.5, 0.4)})))
    asked = ("import-results", tmp_path / "Clinic.json", "--benchmark", "x", "--system", "mine", "--task", "Clinic")
    assert command(*asked, cache=tmp_path / "cache")[0] == 0
    (run,) = answer(command("list", "runs", "--format", "json", cache=tmp_path / "cache"))
    assert (run["system"], run["status"], run["depth"]) == ("mine", "published", None)
    assert run["provenance"]["program"] == "mteb 1.36.32"


def test_lists_show_them(command):
    (benchmark,) = answer(command("list", "benchmarks", "--format", "json"))
    assert benchmark["benchmark"] == "clinic"
    tasks = answer(command("list", "tasks", "--format", "json"))
    assert [(task["task"], task["n_published"]) for task in tasks] == [("Clinic", 3), ("Many", 2)]
    runs = answer(command("list", "runs", "--format", "json", "--task", "Clinic", "--system", LARGE))
    assert [(run["system"], run["provenance"]["file"]) for run in runs] == [(LARGE, "lab__large/abc123/Clinic.json")]


def test_scores_carry_them_marked(command):
    found = answer(command("scores", "--benchmark", "clinic", "--task", "Clinic", "--format", "json"))
    assert found["systems"] == []
    rows = {(row["split"], row["system"]): row for row in found["published"]}
    assert len(rows) == 5
    assert rows["all", LARGE]["measures"]["main_score"] == {"value": 0.55, "own": pytest.approx(0.5), "n": 3}
    assert (rows["all", LARGE]["published"], rows["all", LARGE]["n_shared"]) == (True, 2)
    code, out, _ = command("scores", "--benchmark", "clinic", "--task", "Clinic", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert {row["method"] for row in table} == {"published for split all", "published for split heart"}
    assert {row["low"] for row in table} == {""}


def test_routes_carry_them_marked(command):
    found = answer(
        command("routes", "--benchmark", "clinic", "--task", "Clinic", "--system", LARGE, "--format", "json")
    )
    cells = {(cell["split"], cell["query_language"], cell["measure"]): cell for cell in found["cells"]}
    assert len(cells) == 2 * 3 * 2
    cell = cells["all", "es", "main_score"]
    assert (cell["value"], cell["document_language"], cell["published"]) == (0.5, "en", True)
    assert (cell["low"], cell["n"], cell["retention"], cell["method"]) == (None, None, None, "published")
    code, out, _ = command("routes", "--benchmark", "clinic", "--task", "Many", "--format", "csv")
    assert code == 0
    assert len(list(csv.DictReader(io.StringIO(out)))) == 2 * 2 * (14 + 12)


def test_show_gives_the_pages_answers(command):
    boards = answer(command("show", "overview", "--benchmark", "clinic"))["published"]
    assert [board["rows"][0]["published"] for board in boards] == [True, True]
    views = answer(command("show", "routes", "--benchmark", "clinic"))
    assert [(view["task"]["name"], view["published"]) for view in views] == [("Clinic", True), ("Many", True)]


@pytest.mark.parametrize("name", ["tiers", "fairness", "compare", "recoverability", "per-query"])
def test_what_needs_queries_says_so_in_one_sentence(command, name):
    code, out, err = command(name, "--benchmark", "clinic")
    assert (code, out) == (1, "")
    assert err.startswith("babelscope: this benchmark has published figures only: ")
    assert len(err.splitlines()) == 1


def test_beside_measured_figures(command, tmp_path):
    made = worked_example()
    ranking = ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)
    put(Cache(tmp_path / "cache"), made, {("good", "lexical"): ranking})
    put_file(tmp_path / "r", LARGE, "main", result("main", {"test": pairs(0.6, 0.5, 0.4)}))
    before = answer(command("routes", "--benchmark", "example", "--format", "json", cache=tmp_path / "cache"))
    asked = ("import-results", tmp_path / "r", "--benchmark", "example")
    assert command(*asked, cache=tmp_path / "cache")[0] == 0
    found = answer(command("routes", "--benchmark", "example", "--format", "json", cache=tmp_path / "cache"))
    assert found["cells"][: len(before["cells"])] == before["cells"]
    assert all(cell["published"] for cell in found["cells"][len(before["cells"]) :])
    scores = answer(command("scores", "--benchmark", "example", "--format", "json", cache=tmp_path / "cache"))
    assert [row["system"] for row in scores["systems"]] == ["good"]
    assert [row["system"] for row in scores["published"]] == [LARGE]
    sliced = answer(
        command("scores", "--benchmark", "example", "--by", "language", "--format", "json", cache=tmp_path / "cache")
    )
    assert "published" not in sliced
    flat = command("routes", "--benchmark", "example", "--format", "csv", cache=tmp_path / "cache")[1]
    rows = list(csv.DictReader(io.StringIO(flat)))
    assert {row["published"] for row in rows} == {"", "True"}
    assert command("check", cache=tmp_path / "cache")[0] == 0
