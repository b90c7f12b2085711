"""The nearest others of every row, against all products sorted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.systems import neighbours as module
from analysis.systems.neighbours import neighbours


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_neighbours_are_the_nearest_others_and_equal_texts_find_each_other():
    rows = unit(np.array([(1, 0), (1, 0), (1, 0), (0, 1), (1, 1)], dtype=float))
    near, product = neighbours(rows, k=2)
    assert [set(near[place]) for place in range(3)] == [{1, 2}, {0, 2}, {0, 1}]
    assert near[3].tolist()[0] == 4
    assert product[3] == pytest.approx([np.sqrt(0.5), 0], abs=1e-6)
    assert neighbours(rows, k=9)[0].shape == (5, 4)
    assert neighbours(rows[:1], k=3)[0].shape == (1, 0)


@given(st.integers(2, 90), st.integers(1, 6), st.integers(0, 1000), st.booleans())
def test_block_by_block_it_finds_what_sorting_everything_finds(n, k, seed, repeated):
    rng = np.random.default_rng(seed)
    rows = unit(rng.standard_normal((n, 3)))
    if repeated:
        rows = rows[rng.integers(0, n, n)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "BLOCK", 8)
        patched.setattr(module, "SHARE", 3)
        near, product = neighbours(rows, k=k)
    every = rows.astype(np.float64) @ rows.T
    np.testing.assert_allclose(np.take_along_axis(every, near, axis=1), product, atol=1e-6)
    np.fill_diagonal(every, -np.inf)
    np.testing.assert_allclose(product, -np.sort(-every, axis=1)[:, : near.shape[1]], atol=1e-6)
    assert all(len(set(row)) == len(row) and place not in row for place, row in enumerate(near.tolist()))
