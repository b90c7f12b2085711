"""The map as a frozen answer: points, colours, texts and outlines on the worked example."""

import math
import shutil

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.jobs.draw_map import MapRequest
from analysis.jobs.give_map import Given, give_map
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems.made_by import OTHER_TOOL
from analysis.views import embedding_map as views
from analysis.views import map_lists
from analysis.views.selection import Selection

ASKED = Selection("example")
IDS = ["c-en", "c-fr", "c-ja", "f0-en", "f0-fr", "f1-en", "q1", "q2"]


def put(cache, name, points, ids=IDS):
    path = cache.root / "points.csv"
    header = "id,x,y,z"[: 2 + 2 * len(points[0])]
    path.write_text(header + "\n" + "".join(f"{i},{','.join(map(str, p))}\n" for i, p in zip(ids, points, strict=True)))
    request = MapRequest("example", systems=(name,))
    give_map(cache, given=Given(coordinates=path), request=request, progress=silent)


@pytest.fixture
def cache(example_store, tmp_path):
    """Maps of the runs' systems: of ``good`` eight texts in a row, of ``bad`` seven in a column."""
    made = Cache(shutil.copytree(example_store.cache.root, tmp_path / "store"))
    put(made, "good", [(n, 0) for n in range(8)])
    put(made, "bad", [(5, 2 * n) for n in range(7)], IDS[:7])
    return made


def test_points_texts_and_colours_by_hand(cache):
    store = read.open_store(cache)
    view = views.embedding_map(store, ASKED, systems=("good",))
    assert view.n == 8
    assert view.pictures[0].points.tolist() == [[n, 0] for n in range(8)]
    assert view.is_query.tolist() == [False] * 6 + [True] * 2
    assert view.languages == ("en", "fr", "ja")
    assert [(group.key, group.n) for group in view.groups] == [("en", 4), ("fr", 2), ("ja", 2)]
    assert view.chance == pytest.approx((4 / 8) ** 2 + (2 / 8) ** 2 * 2)
    assert "only coordinates are known" in view.takeaway.bold
    assert view.family_rows("c").tolist() == [0, 1, 2, 6, 7]
    texts = map_lists.listed(store, ASKED, view, [1, 6])
    assert [(text.id, text.text, text.language, text.is_query) for text in texts] == [
        ("c-fr", "answer fr", "fr", False),
        ("q1", "question one", "en", True),
    ]
    assert map_lists.nearest(store, ASKED, view, picture=0, row=0) == ()


def test_outcomes_by_hand(cache):
    """good: q1 has c-en at 1 and c-fr at 4, not c-ja; q2 has c-ja at 2 and c-en at 3, not c-fr."""
    view = views.embedding_map(read.open_store(cache), ASKED, systems=("good",), colour="outcome")
    keys = [view.groups[code].key for code in view.group]
    assert keys == ["found", "later", "later", "unknown", "unknown", "unknown", "found", "found"]
    bad = views.embedding_map(read.open_store(cache), ASKED, systems=("bad",), colour="outcome")
    assert [bad.groups[code].key for code in bad.group] == ["later", "missed", "missed", *["unknown"] * 3, "found"]


GAINS = [1 / math.log2(rank + 1) for rank in range(1, 6)]
IDEAL = sum(GAINS[:3])


def test_errors_by_hand(cache):
    """c-fr and c-ja are each missed by one of the two queries; fillers answer none."""
    view = views.embedding_map(read.open_store(cache), ASKED, systems=("good",), colour="error")
    of_queries = [1 - (GAINS[0] + GAINS[3]) / IDEAL, 1 - (GAINS[1] + GAINS[2]) / IDEAL]
    np.testing.assert_allclose(view.shade.values[0], [0, 0.5, 0.5, *[np.nan] * 3, *of_queries])
    assert view.takeaway.bold == "good misses 0 of 100 texts altogether."
    header, rows = map_lists.table(read.open_store(cache), ASKED, view)
    assert header == ["item", "id", "language", "family", "error good", "x good", "y good"]
    assert rows[1] == ["document", "c-fr", "fr", "c", 0.5, 1.0, 0.0]
    assert rows[3] == ["document", "f0-en", "en", "f0", None, 3.0, 0.0]
    assert rows[7][:2] == ["query", "q2"]


def test_two_maps_have_the_errors_of_their_own_systems_or_one_difference(cache):
    """bad has only c-en, at rank 2 of q1."""
    store = read.open_store(cache)
    view = views.embedding_map(store, ASKED, systems=("good", "bad"), colour="error")
    bad = np.array([0.5, 1, 1, *[np.nan] * 3, 1 - GAINS[1] / IDEAL])
    np.testing.assert_allclose(view.shade.values[1], bad)
    apart = views.embedding_map(store, ASKED, systems=("good", "bad"), colour="difference")
    for values in apart.shade.values:
        np.testing.assert_allclose(values, bad - view.shade.values[0])
    assert apart.takeaway.bold == "good misses 4 of 4 texts less than bad does;"
    assert map_lists.table(store, ASKED, apart)[0][4:] == ["difference", "x good", "y good", "x bad", "y bad"]


def test_a_system_without_a_run_has_no_errors(cache):
    put(cache, "drawn only", [(n, 0) for n in range(8)])
    view = views.embedding_map(read.open_store(cache), ASKED, systems=("drawn only",), colour="error")
    assert np.isnan(view.shade.values[0]).all()
    assert view.takeaway.bold.startswith("No ranking of drawn only is stored here")


def test_chosen_concepts_have_colours_and_the_others_are_one_group(cache):
    store = read.open_store(cache)
    view = views.embedding_map(store, ASKED, systems=("good",), colour="concept", concepts=("f0", "c"))
    assert [(group.key, group.n) for group in view.groups] == [("f0", 2), ("c", 5), ("", 1)]
    assert view.groups[2].title == "other concepts"
    assert view.group.tolist() == [1, 1, 1, 0, 0, 2, 1, 1]
    assert [row[4] for row in map_lists.table(store, ASKED, view)[1][4:6]] == ["f0", "other concepts"]


def test_two_maps_share_their_texts_and_lie_over_each_other(cache):
    view = views.embedding_map(read.open_store(cache), ASKED, systems=("good", "bad"))
    assert view.n == 7  # bad has no q2
    first, second = view.pictures
    np.testing.assert_allclose(second.points, first.points, atol=1e-9)  # a row and a column are the same, turned
    assert [each.distance for each in view.displaced] == pytest.approx([0] * 7, abs=1e-9)


def test_the_text_that_moved_is_the_most_displaced(cache):
    put(cache, "bad", [(n if n != 3 else 30, 0) for n in range(8)])
    view = views.embedding_map(read.open_store(cache), ASKED, systems=("good", "bad"))
    assert view.displaced[0].row == 3


def test_three_dimensions_are_turned(cache):
    put(cache, "good", [(n, 0, -n) for n in range(8)])
    store = read.open_store(cache)
    assert views.drawable(store, ASKED)[1].dimensions == (2, 3)
    front = views.embedding_map(store, ASKED, systems=("good",), dimensions=3).pictures[0]
    side = views.embedding_map(store, ASKED, systems=("good",), dimensions=3, turn=180).pictures[0]
    np.testing.assert_allclose(side.points[:, 0], front.points[::-1, 0], atol=1e-9)


def test_what_lies_inside_an_outline(cache):
    view = views.embedding_map(read.open_store(cache), ASKED, systems=("good",))
    assert map_lists.selected(view, picture=0, corners=[(1.5, -1), (4.5, -1), (4.5, 1), (1.5, 1)]) == (2, 3, 4)


def test_a_new_text_stands_amid_its_nearest_documents(cache):
    """c-en stands at 0, f0-fr at 4: with weights 3 to 1 at 1; documents that are not in the picture do not count."""
    store = read.open_store(cache)
    view = views.embedding_map(store, ASKED, systems=("good",))
    near = {"c-en": 0.9, "f0-fr": 0.3, "f3-fr": 0.8, "f1-en": -0.2}
    assert map_lists.placed(store, ASKED, view, picture=0, near=near) == pytest.approx((1.0, 0.0))
    assert map_lists.placed(store, ASKED, view, picture=0, near={"f3-fr": 0.8}) is None
    assert map_lists.placed(store, ASKED, view, picture=0, near={"c-en": -0.1}) is None


def test_a_slice_leaves_queries_out_and_documents_in(cache):
    view = views.embedding_map(read.open_store(cache), ASKED._replace(where=(("language", "ja"),)), systems=("good",))
    assert (view.n, view.is_query.sum()) == (7, 1)


def test_who_can_be_drawn(cache, example_store):
    assert [(each.dimensions, each.reason) for each in views.drawable(example_store, ASKED)] == [((), OTHER_TOOL)] * 2
    found = views.drawable(read.open_store(cache), ASKED)
    assert [(each.system.name, each.dimensions, each.reason, each.by_job) for each in found] == [
        ("bad", (2,), None, False),
        ("good", (2,), None, False),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": ()}, "0 systems"),
        ({"systems": ("good", "bad", "x")}, "3 systems"),
        ({"systems": ("x",)}, "system 'x' in 2 dimensions: main has maps of bad in 2, good in 2"),
        ({"systems": ("good",), "dimensions": 3}, "'good' in 3 dimensions"),
        (
            {"systems": ("good",), "colour": "size"},
            "colour 'size': expected one of language, concept, outcome, error",
        ),
    ],
)
def test_what_cannot_be_asked(cache, options, message):
    with pytest.raises(InputError, match=message):
        views.embedding_map(read.open_store(cache), ASKED, **options)


def test_the_page_shows_what_is_drawn(cache, example_store):
    assert [each.system.name for each in views.page(read.open_store(cache), ASKED).pictures] == ["bad", "good"]
    with pytest.raises(InputError, match="drawn are no system"):
        views.page(example_store, ASKED)
