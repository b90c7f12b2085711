"""The command `import-results`, and what the reading commands say of published figures."""

import csv
import io
import json
from dataclasses import replace

import pytest

from analysis.cli import main
from analysis.paths import Cache
from analysis.report import overview
from analysis.report.blocks import Heading, Table
from analysis.store.read import open_store
from analysis.views.selection import Selection
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


# What papers print


def test_printed_figures_are_listed_whatever_is_stored(command, tmp_path):
    found = answer(command("list", "papers", "--format", "json", cache=tmp_path / "nothing"))
    assert len(found) == 159
    assert all(row["published"] and row["measured"] is None for row in found)
    asked = ("list", "papers", "--benchmark", "chemclir-bench", "--task", "epo", "--system", "BAAI/bge-m3")
    some = answer(command(*asked, "--format", "json"))
    assert [(row["system"], row["measure"], row["printed"]) for row in some][:2] == [
        ("bge-m3", "recall_at_10_same", "0.71"),
        ("bge-m3", "recall_at_10_cross", "0.47"),
    ]
    code, out, _ = command("list", "papers", "--format", "csv")
    assert code == 0
    assert len(list(csv.DictReader(io.StringIO(out)))) == 159


@pytest.fixture(scope="module")
def chemistry(tmp_path_factory):
    """The worked example as a task of a paper's benchmark."""
    made, cache = worked_example(), Cache(tmp_path_factory.mktemp("paper"))
    made = replace(made, name="chemclir-bench", tasks=(replace(made.tasks[0], name="google-patents"),))
    ranking = ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)
    put(cache, made, {("google/embeddinggemma-300m", "multilingual dense"): ranking})
    return cache.root


def test_printed_figures_stand_beside_scores_and_routes_marked(command, chemistry):
    asked = ("--benchmark", "chemclir-bench", "--format")
    found = answer(command("scores", *asked, "json", cache=chemistry))
    assert len(found["papers"]) == 138 - 6
    same = next(row for row in found["papers"] if row["system"] == "google/embeddinggemma-300m")
    assert (same["measure"], same["printed"], same["measured"], same["published"]) == (
        "recall_at_10_same", "0.74", 1.0, True,
    )  # fmt: skip
    code, out, _ = command("scores", *asked, "csv", cache=chemistry)
    assert code == 0
    table = [row for row in csv.DictReader(io.StringIO(out)) if row["aggregate"] == "published"]
    assert len(table) == 132
    assert {row["low"] for row in table} == {""}
    beyond = [row for row in table if not row["value"]]
    assert {row["method"] for row in beyond} == {"printed in ChemCLIR-Bench: > 1000"}
    cells = answer(command("routes", *asked, "json", cache=chemistry))["cells"]
    printed = [cell for cell in cells if cell.get("published")]
    assert [(cell["query_language"], cell["document_language"], cell["value"]) for cell in printed][:2] == [
        ("en", "en", 0.69),
        ("en", "de", 0.18),
    ]
    assert {(cell["method"], cell["low"], cell["n"]) for cell in printed} == {("printed in ChemCLIR-Bench", None, None)}


def test_printed_figures_in_report_and_latex(command, chemistry):
    asked = ("--benchmark", "chemclir-bench")
    code, out, _ = command("export", *asked, "--format", "latex", "--table", "papers", cache=chemistry)
    assert code == 0
    assert r"0.74 (1.00) & 0.54 (0.00)" in out
    assert r"\textgreater{} 1000" in out
    assert r"$\chi$" in out
    section = overview.section(open_store(Cache(chemistry)), Selection("chemclir-bench"))
    assert Heading("Figures of the paper", 3) in section.blocks
    titles = [block.title for block in section.blocks if isinstance(block, Table)]
    assert titles[-1] == "Printed in ChemCLIR-Bench, in brackets measured here: tests"
    code, _, err = command("export", "--benchmark", "clinic", "--format", "latex", "--table", "papers")
    assert code == 1
    assert err.splitlines()[-1] == "babelscope: --table papers: clinic has nothing to show in it"


def test_a_system_of_which_only_figures_are_published_has_not_run(command):
    rows = answer(command("list", "systems", "--format", "json"))
    assert {row["system"]: row["has_run"] for row in rows}[LARGE] is False
