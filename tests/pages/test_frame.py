import subprocess
import sys

import pytest
from visits import ROOT, parameters, words

PAGES = ("overview", "routes", "tiers", "recoverability", "fairness", "causes", "probe", "story")


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_alone_and_asks_its_question(full, name):
    page = full.page(name)
    assert not page.exception
    assert not page.error
    assert page.title[0].value.endswith("?")


def test_the_app_opens_on_the_overview(full):
    app = full.app()
    assert not app.exception
    assert "Which system" in app.title[0].value


def test_the_router_reaches_every_page(full):
    app = full.app()
    for name in PAGES:
        app.switch_page(f"pages/{name}.py").run()
        assert not app.exception


def test_the_sidebar_offers_benchmark_task_systems_and_measure(full):
    page = full.page("routes")
    labels = {
        box.label for box in (*page.sidebar.selectbox, *page.sidebar.multiselect, *page.sidebar.segmented_control)
    }
    assert labels == {"Interface language", "Benchmark", "Task", "Systems", "Queries", "Measure"}


@pytest.mark.parametrize("name", ["overview", "routes"])
def test_a_page_can_be_about_a_part_of_the_queries(full, name):
    whole, part = words(full.page(name)), full.page(name, where="language=ja")
    assert part.multiselect(key=f"{name}-where").value == ["language=ja"]
    assert not part.exception
    assert words(part) != whole
    part.multiselect(key=f"{name}-where").set_value([]).run()
    assert parameters(part) == {}


def test_a_part_that_does_not_exist_is_said_in_one_sentence(full):
    assert "language=xx" in full.page("routes", where="language=xx").error[0].value


def test_a_choice_goes_into_the_address(full):
    page = full.page("routes")
    page.multiselect(key="routes-systems").set_value(["bm25", "all-minilm-l6-v2"]).run()
    assert parameters(page) == {"systems": "bm25,all-minilm-l6-v2"}
    page.multiselect(key="routes-systems").set_value([]).run()
    assert parameters(page) == {"systems": ""}
    assert "No system is chosen" in words(page)


def test_what_is_the_default_stays_out_of_the_address(full):
    page = full.page("routes")
    page.selectbox(key="routes-task").select("parallel-titles").run()
    assert parameters(page) == {"task": "parallel-titles"}
    page.selectbox(key="routes-task").select("category").run()
    assert parameters(page) == {}


def test_an_address_restores_the_choices(full):
    page = full.page("routes", task="parallel-titles", systems="bm25,all-minilm-l6-v2", measure="recall_at_25")
    assert page.selectbox(key="routes-task").value == "parallel-titles"
    assert page.multiselect(key="routes-systems").value == ["bm25", "all-minilm-l6-v2"]
    assert page.segmented_control(key="routes-measure").value == "recall_at_25"
    assert "R@25" in words(page)


def test_a_choice_survives_a_change_of_page(full):
    app = full.app(task="parallel-titles")
    assert app.selectbox(key="overview-task").value == "parallel-titles"
    app.switch_page("pages/routes.py")
    app.query_params["task"] = "parallel-titles"
    app.run()
    assert app.selectbox(key="routes-task").value == "parallel-titles"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("parameter", "said"), [("benchmark", "nowhere"), ("task", "nothing")])
def test_an_unknown_name_in_the_address_is_one_clear_message(full, name, parameter, said):
    page = full.page(name, **{parameter: said})
    assert not page.exception
    assert len(page.error) == 1
    assert page.error[0].value.startswith(f"Unknown {parameter} '{said}'")


def test_a_system_that_did_not_run_is_named(full):
    page = full.page("routes", systems="bm25,labse")
    assert [line.value for line in page.sidebar.caption] == ["Not run on this task: labse"]
    assert page.multiselect(key="routes-systems").value == ["bm25"]


def test_a_damaged_store_is_one_clear_message(empty, tmp_path):
    (tmp_path / "CURRENT").write_text("store-7.duckdb")
    page = empty.page("overview")
    assert not page.exception
    assert "store-7.duckdb" in page.error[0].value


@pytest.mark.parametrize("name", ["overview", "routes"])
def test_pages_about_stored_numbers_load_no_model_library(full, real_store, name):
    code = (
        "import sys; from streamlit.testing.v1 import AppTest\n"
        f"page = AppTest.from_file({str(ROOT / 'pages' / f'{name}.py')!r}, default_timeout=120).run()\n"
        "assert not page.exception\n"
        "print(sorted({'torch', 'faiss', 'umap', 'sentence_transformers', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_address_may_have_parameters_of_any_name(example):
    for name in ("words", "link", "which"):
        page = example.page("overview", **{name: "x"})
        assert not page.exception
