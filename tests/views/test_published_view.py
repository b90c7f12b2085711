"""Leaderboards and route cells of published figures."""

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.jobs.import_results import ResultsRequest, read_results, report
from analysis.model import silent
from analysis.paths import Cache
from analysis.store.read import open_store
from analysis.systems.names import pinned
from analysis.views import overview, published
from analysis.views.evidence import Evidence, chosen_tasks
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of, worked_example
from tests.published_files import LARGE, SMALL, WORDS, pairs, put_file, put_published, put_results, result

CLINIC = Selection("clinic", ("Clinic",))
MANY = Selection("clinic", ("Many",))
BOTH = (LARGE, SMALL)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("published")
    return put_published(Cache(root / "cache"), put_results(root / "results"))


def board(store, selection=CLINIC, **more):
    (found,) = published.boards(store, selection, **more)
    return found


def test_the_mean_is_mtebs_over_the_subsets_of_a_split(store):
    found = board(store, CLINIC._replace(systems=BOTH))
    means = {row.system.name: row.measures["main_score"] for row in found.rows}
    assert list(means) == [LARGE, SMALL]  # the best first
    assert means[LARGE] == pytest.approx((np.mean([0.6, 0.5, 0.4]), np.mean([0.6, 0.5, 0.4]), 3))
    assert means[SMALL].value == pytest.approx(np.mean([0.5, 0.3, 0.1]))
    assert (found.split, found.splits, found.n_shared, found.coverage_note) == ("all", ("all", "heart"), 3, None)
    assert found.takeaway.bold == "large has the highest published main score, 0.50, 0.20 above small."
    assert "no intervals" in found.caption
    assert found.caption.startswith("Published figures, not measured here · plain mean over 3 subsets of split all")
    assert [label.label for label in found.measures] == ["main score", "nDCG@10", "RR@10"]


def test_systems_of_different_coverage_are_ranked_on_what_they_share_and_it_is_said(store):
    """On all it has, ``words`` would be second with 0.425 and miss the language it fails on."""
    found = board(store)
    assert {row.system.name: row.measures["main_score"] for row in found.rows} == {
        LARGE: pytest.approx((0.55, 0.5, 3)),
        WORDS: pytest.approx((0.425, 0.425, 2)),
        SMALL: pytest.approx((0.4, 0.3, 3)),
    }
    assert [row.system.short for row in found.rows] == ["large", "words", "small"]
    assert found.n_shared == 2
    assert found.coverage_note == (
        "Not every system was evaluated on the same language pairs (large 3, words 2, small 3). "
        "They are ranked on the 2 subsets that all of them have."
    )


def test_another_split_and_another_measure(store):
    found = board(store, CLINIC._replace(systems=BOTH), split="heart", measure="rr_at_10")
    assert (found.split, found.lead.key, found.measures[0].label) == ("heart", "rr_at_10", "RR@10")
    assert [row.measures["rr_at_10"].value for row in found.rows] == pytest.approx([0.3, 0.1])
    fallen_back = board(store, split="nowhere", measure="map_at_7")
    assert (fallen_back.split, fallen_back.lead.key) == ("all", "main_score")


def test_a_system_without_a_figure_in_the_split_is_named_and_not_ranked(store):
    found = board(store, split="heart")
    assert [row.system.short for row in found.rows] == ["large", "small"]
    assert (found.n_shared, found.coverage_note) == (3, "There is no main score of words in split heart.")
    view = published.routes(store, CLINIC, split="heart")
    assert [label.short for label in view.systems] == ["large", "small"]
    assert view.caption.endswith("no main score of words in split heart")


def test_systems_that_share_nothing_are_not_ranked(tmp_path):
    put_file(tmp_path, SMALL, "Clinic", result("Clinic", {"all": pairs(0.9, 0.5, 0.4)[:1]}))
    put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4)[1:]}))
    found = board(put_published(Cache(tmp_path / "cache"), tmp_path))
    assert [(row.system.short, row.measures["main_score"].value) for row in found.rows] == [
        ("large", None),
        ("small", None),
    ]
    assert found.rows[0].measures["main_score"].own == pytest.approx(0.45)
    assert found.takeaway.bold == "The systems share no language pair, so they cannot be ranked."
    assert found.coverage_note.endswith("(large 2, small 1). They share none.")


def test_cells_keep_the_direction(store):
    found = published.routes(store, CLINIC)
    cells = {(cell.system, cell.query_language, cell.document_language): cell.value for cell in found.cells}
    assert cells[LARGE, "es", "en"] == 0.5
    assert (LARGE, "en", "es") not in cells
    assert len(cells) == 8
    assert found.languages == ("en", "es", "fr")
    assert found.scripts == ()
    assert all(cell.published and cell.n_subsets == 1 for cell in found.cells)
    assert found.takeaway.bold == (
        "words reaches main score 0.80 on English documents when asked in English, and 0.05 when asked in Spanish."
    )
    assert found.takeaway.rest == "large reaches 0.50 on the same route."
    assert "from 3 files of mteb" in found.caption


def test_several_subsets_between_two_languages_are_one_cell(tmp_path):
    parts = [part | {"hf_subset": name, "languages": ["eng-Latn"]}
             for name, part in zip(("a", "b", "c"), pairs(0.6, 0.5, 0.1), strict=True)]  # fmt: skip
    put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": parts}))
    found = published.routes(put_published(Cache(tmp_path / "cache"), tmp_path), CLINIC)
    assert [(cell.value, cell.n_subsets) for cell in found.cells] == [(pytest.approx(0.4), 3)]
    assert found.takeaway.bold == "No two languages shown were asked of the same documents."


def test_two_scripts_of_a_language_are_told_apart_whatever_is_chosen(store):
    found = published.routes(store, MANY, languages=("en", "zh-Hans", "zh-Hant", "ja"))
    assert found.languages == ("en", "zh-Hans", "zh-Hant", "ja")
    assert {(cell.query_language, cell.document_language) for cell in found.cells} == {
        ("en", "en"), ("zh-Hans", "en"), ("zh-Hant", "en"), ("ja", "en"),
        ("zh-Hans", "zh-Hans"), ("zh-Hant", "zh-Hant"), ("ja", "ja"),
    }  # fmt: skip
    assert found.caption.endswith("4 of 14 languages shown")


def test_many_languages_stand_by_script(store):
    found = published.routes(store, MANY)
    assert len(found.languages) == len(found.scripts) == 14
    assert found.languages[:4] == ("en", "es", "sw", "fr")
    assert found.scripts[:6] == ("Latin", "Latin", "Latin", "Latin", "Cyrillic", "Cyrillic")
    assert "languages shown" not in found.caption


def test_all_splits_and_measures_for_the_command_line(store):
    found = list(published.cells(store, CLINIC, measures=("main_score", "rr_at_10", "recall_at_10")))
    assert len(found) == 2 * (8 + 6)
    assert {cell.split for cell in found} == {"all", "heart"}
    assert list(published.cells(store, CLINIC._replace(where=(("language", "en"),)), measures=("main_score",))) == []


def test_published_figures_cannot_be_sliced(store):
    assert published.boards(store, CLINIC._replace(where=(("language", "en"),))) == ()


def test_the_overview_has_them_beside_what_was_measured(store):
    view = overview.overview(store, Selection("clinic"))
    assert view.tasks == ()
    assert [found.task.name for found in view.published] == ["Clinic", "Many"]
    held = overview.contents(store)
    assert {label.name for label in held.systems} == set(held.unmeasured) == {LARGE, SMALL, WORDS}


def test_what_needs_queries_refuses(store):
    (task, *_) = chosen_tasks(store, CLINIC)
    with pytest.raises(InputError, match="this benchmark has published figures only: expected a task with the ranks"):
        Evidence.load(store, task, selection=CLINIC, labels=store.system_labels())


def test_a_task_without_published_figures_says_so(example_store):
    with pytest.raises(InputError, match="task 'main' has no published figures of the chosen systems"):
        published.routes(example_store, Selection("example"))
    assert published.boards(example_store, Selection("example")) == ()


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("ndcg_at_10", "nDCG@10"),
        ("map_at_100", "MAP@100"),
        ("main_score", "main score"),
        ("accuracy_at_5", "accuracy@5"),
        ("cv_recall_at_3", "cv_recall_at_3"),
    ],
)
def test_what_measures_are_called(key, label):
    found = published.published_label(key)
    assert (found.label, found.aggregate) == (label, "published")
    assert found.definition


MODEL = "BAAI/bge-m3"


def test_results_of_a_known_model_have_the_catalogues_name_and_say_another_revision(tmp_path):
    put_file(tmp_path / "r", MODEL, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}), revision="f" * 40)
    put_file(tmp_path / "r", LARGE, "Clinic", result("Clinic", {"all": pairs(0.5, 0.5, 0.4)}))
    store = put_published(Cache(tmp_path / "cache"), tmp_path / "r")
    found = {row.system.name: row for row in board(store).rows}
    assert {name: (row.model_revision, row.other_revision) for name, row in found.items()} == {
        "bge-m3": ("f" * 40, pinned(MODEL)),
        LARGE: ("abc123", None),
    }
    assert (found["bge-m3"].system.short, found["bge-m3"].program) == ("BGE-M3", "mteb 1.36.32")
    assert found["bge-m3"].file == f"BAAI__bge-m3/{'f' * 40}/Clinic.json"
    for name in (MODEL, "bge-m3", "BGE-M3"):  # chosen by any of its names
        assert [row.system.name for row in board(store, CLINIC._replace(systems=(name,))).rows] == ["bge-m3"]
    notices = report(read_results(ResultsRequest(tmp_path / "r", "x"), progress=silent)).notices
    assert notices == (
        f"BAAI/bge-m3: bge-m3 of the catalogue; revision ffffffffffff was evaluated, pinned is {pinned(MODEL)[:12]}",
    )


def test_beside_a_run_they_have_its_name_and_never_its_rank(tmp_path):
    made = worked_example()
    lists = [["c-en", "c-fr"], ["c-ja", "c-en"]]
    cache = Cache(tmp_path / "cache")
    put(cache, made, {(MODEL, "multilingual dense"): ranking_of(made.tasks[0], lists, depth=10)})
    before = overview.overview(open_store(cache), Selection("example")).tasks
    put_file(tmp_path / "r", MODEL, "main", result("main", {"test": pairs(0.6, 0.5, 0.4)}))
    put_file(tmp_path / "r", LARGE, "main", result("main", {"test": pairs(0.9, 0.9, 0.9)}))
    store = put_published(cache, tmp_path / "r", name="example")
    view = overview.overview(store, Selection("example"))
    assert view.tasks[0].rows == before[0].rows
    assert [row.system.name for row in view.published[0].rows] == [LARGE, MODEL]
    assert "on mteb’s own data: nobody checked that these are the 2 queries stored here" in view.published[0].caption
    assert overview.contents(store, "example").unmeasured == (LARGE,)
