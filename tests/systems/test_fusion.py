import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.model import Ranking
from analysis.systems import lists
from analysis.systems.fusion import combine, fuse


def run(*lists, depth=10):
    query = [q for q, documents in enumerate(lists) for _ in documents]
    document = [d for documents in lists for d in documents]
    score = [-float(i) for documents in lists for i in range(len(documents))]
    return Ranking(np.array(query, np.int32), np.array(document, np.int32), np.array(score), depth)


ORDER = np.arange(6, dtype=np.int32)


def test_scores_by_hand():
    fused = fuse([run([0, 1, 2]), run([2, 0])], k=60, depth=10, tie_order=ORDER)
    assert fused.document.tolist() == [0, 2, 1]
    assert fused.score == pytest.approx([1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62], abs=1e-15)


def test_equal_sums_tie_exactly_over_three_parts():
    """Ranks 1, 2, 3 in any order of the parts; added by part, the last bits would differ."""
    parts = [run([0, 1, 2]), run([1, 2, 0]), run([2, 0, 1])]
    fused = fuse(parts, k=2, depth=10, tie_order=np.array([2, 1, 0], np.int32))
    assert fused.document.tolist() == [2, 1, 0]
    assert len(set(fused.score)) == 1


def test_the_cut_comes_after_the_fusion():
    fused = fuse([run([0, 1], [3]), run([4, 5], [])], k=60, depth=2, tie_order=ORDER)
    assert fused.query.tolist() == [0, 0, 1]
    assert fused.document.tolist() == [0, 4, 3]
    assert fused.depth == 2


def test_parts_that_found_nothing():
    assert len(fuse([run([]), run([])], k=60, depth=5, tie_order=ORDER).query) == 0


LISTS = st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), min_size=4, max_size=4)


@given(parts=st.lists(LISTS, min_size=1, max_size=3), rows=st.integers(1, 30), depth=st.integers(1, 6))
def test_some_queries_at_a_time_give_what_all_at_once_give(parts, rows, depth):
    rankings = [run(*lists) for lists in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "ROWS", rows)
        blocks = [fuse(rankings, k=60, depth=depth, tie_order=ORDER), combine(rankings, depth=depth, tie_order=ORDER)]
    whole = [fuse(rankings, k=60, depth=depth, tie_order=ORDER), combine(rankings, depth=depth, tie_order=ORDER)]
    for some, every in zip(blocks, whole, strict=True):
        assert some.query.tolist() == every.query.tolist()
        assert some.document.tolist() == every.document.tolist()
        assert some.score.tolist() == every.score.tolist()
