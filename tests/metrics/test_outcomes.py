"""Facts that need every hit: literal lists, and brute force where an order has to be found."""

from itertools import groupby, permutations, product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import outcomes, ranking
from analysis.metrics.outcomes import Codes, HitTable
from analysis.metrics.ranking import Judged
from analysis.model import NEVER

EN, FR, JA = 0, 1, 2
_ = np.nan


def table(*lists, query_language, n_documents=10):
    """A run from one list of (document, score, grade, language) a query; grade None is unjudged."""
    rows = [
        (query, rank, document, score, _ if grade is None else grade, language)
        for query, hits in enumerate(lists)
        for rank, (document, score, grade, language) in enumerate(hits, start=1)
    ]
    columns = list(zip(*rows, strict=True)) or [()] * 6
    types = (np.int32, np.int32, np.int32, np.float64, np.float64, np.int16)
    return HitTable(
        *(np.array(column, dtype=kind) for column, kind in zip(columns, types, strict=True)),
        n_queries=len(lists),
        query_language=np.array(query_language, dtype=np.int16),
        n_languages=3,
        n_documents=n_documents,
    )


def judged(*grades):
    """The judgements of one list of grades a query."""
    rows = [(query, grade) for query, listed in enumerate(grades) for grade in listed]
    return Judged(
        query=np.array([query for query, _ in rows], dtype=np.int32),
        grade=np.array([grade for _, grade in rows], dtype=np.float64),
        language=np.zeros(len(rows), dtype=np.int16),
        query_language=np.zeros(len(grades), dtype=np.int16),
        languages=("en", "fr", "ja"),
    )


# q0 (en): relevant third | q1 (fr): all relevant | q2 (ja): nothing relevant, one unknown document | q3 (en): missing
RUN = table(
    [(0, 9.0, None, EN), (1, 8.0, 0, FR), (2, 7.0, 2, FR), (3, 7.0, -1, EN)],
    [(2, 5.0, 1, FR), (1, 5.0, 1, FR)],
    [(0, 3.0, None, EN), (4, 2.0, None, JA), (-1, 1.0, None, -1), (3, 1.0, 0, EN)],
    [],
    query_language=[EN, FR, JA, EN],
    n_documents=6,
)
NOTHING = table([], [], query_language=[EN, FR])


def test_query_depth():
    assert outcomes.query_depth(RUN).tolist() == [4, 2, 4, 0]


def test_judged_is_divided_by_what_was_retrieved():
    np.testing.assert_array_equal(outcomes.judged_at(RUN, 2), [1 / 2, 1, 0, _])
    np.testing.assert_array_equal(outcomes.judged_at(RUN, 5), [3 / 4, 1, 1 / 4, _])  # a negative grade is judged too


def test_language_shares():
    np.testing.assert_array_equal(outcomes.same_language_share(RUN, 4), [2 / 4, 1, 1 / 4, _])
    np.testing.assert_array_equal(outcomes.same_language_share(RUN, 1), [1, 1, 0, _])
    np.testing.assert_array_equal(outcomes.same_language_irrelevant_share(RUN, 4), [2 / 3, 0, 1 / 4, _])


def test_hubs():
    assert outcomes.distinct_documents(RUN, 1) == 2
    assert outcomes.distinct_documents(RUN, 4) == 5  # 0 1 2 3 4; the document outside the corpus is not one of it
    assert outcomes.largest_document_share(RUN, 1) == 2 / 3  # document 0, in two of three lists
    assert outcomes.largest_document_share(RUN.rows(RUN.query == 1), 2) == 1


def test_tied_at_looks_at_both_sides_of_the_cut():
    assert outcomes.tied_at(RUN, 1).tolist() == [False, True, False, False]
    assert outcomes.tied_at(RUN, 3).tolist() == [True, False, True, False]
    assert outcomes.tied_at(RUN, 4).tolist() == [False] * 4
    # The last hit of one query and the first of the next have equal scores: no tie.
    neighbours = table([(0, 1.0, None, EN)], [(0, 1.0, None, EN)], query_language=[EN, EN])
    assert outcomes.tied_at(neighbours, 1).tolist() == [False, False]


def test_tie_range_of_a_block_across_the_cut():
    run = table(
        [(0, 5.0, 0, EN), (4, 1.0, None, EN), (3, 1.0, 1, EN), (2, 1.0, None, EN), (1, 1.0, None, EN)],
        query_language=[EN],
    )
    low, high = outcomes.tie_range_ndcg(run, judged([1, 0]), k=2)
    assert low.tolist() == [0]
    assert high == pytest.approx([1 / log2(3)])


def test_tie_range_domain():
    task = judged([0, 2, -1], [1, 1], [0], [1])
    low, high = outcomes.tie_range_ndcg(RUN, task, k=10)
    np.testing.assert_allclose(low, [1 / log2(5), 1, _, 0])
    np.testing.assert_allclose(high, [1 / log2(4), 1, _, 0])


block_lists = st.lists(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([None, -1, 0, 0.5, 1, 2])).map(lambda hit: (*hit, EN)), max_size=6
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60)
@given(
    lists=block_lists, missed=st.integers(0, 2), k=st.integers(1, 5), gain=st.sampled_from(["linear", "exponential"])
)
def test_tie_range_equals_the_extremes_of_all_orders(lists, missed, k, gain):
    lists = [sorted(hits, key=lambda hit: -hit[0]) for hits in lists]
    run = table(
        *[[(document, *hit) for document, hit in enumerate(hits)] for hits in lists], query_language=[EN] * len(lists)
    )
    grades = [[grade for _, grade, _ in hits if grade is not None] for hits in lists]
    task = judged(*[[*known, *[1] * missed] for known in grades])
    low, high = outcomes.tie_range_ndcg(run, task, k=k, gain=gain)
    for query, hits in enumerate(lists):
        blocks = [list(block) for _, block in groupby(hits, key=lambda hit: hit[0])]
        orders = product(*(set(permutations(grade or 0 for _, grade, _ in block)) for block in blocks))
        lone = judged([*grades[query], *[1] * missed])
        ideal = ranking.ideal_dcg(lone, k=k, gain=gain)[0] if lone.n_relevant[0] else _
        values = [
            sum(
                ranking.gains(np.array(float(grade)), gain=gain) / log2(rank + 1)
                for rank, grade in enumerate((grade for block in order for grade in block), start=1)
                if rank <= k
            )
            / ideal
            for order in orders
        ]
        assert low[query] == pytest.approx(min(values), nan_ok=True)
        assert high[query] == pytest.approx(max(values), nan_ok=True)


def test_tie_range_is_ndcg_where_scores_differ():
    run = table([(0, 3.0, 1, EN), (1, 2.0, None, EN), (2, 1.0, 2, EN)], query_language=[EN])
    task = judged([1, 2, 1])
    value = ranking.ndcg(task, np.array([[1, 3, NEVER]], dtype=np.int32), k=3)[0]
    low, high = outcomes.tie_range_ndcg(run, task, k=3)
    assert low == pytest.approx(value)
    assert high == pytest.approx(value)


def test_language_above_the_first_relevant_document():
    assert outcomes.language_above(RUN).tolist() == [[1, 1, 0], [0, 0, 0], [2, 0, 1], [0, 0, 0]]


def test_language_above_looks_at_ten_documents():
    fillers = [(document, 20.0 - document, 0, FR) for document in range(12)]
    found_late = [*fillers, (12, 1.0, 1, EN)]
    found_at_11 = [*fillers[:10], (12, 1.0, 1, EN)]
    run = table(found_late, fillers, found_at_11, fillers[:3], query_language=[EN] * 4, n_documents=13)
    assert outcomes.language_above(run)[:, FR].tolist() == [10, 10, 10, 3]


# Queries q0 (family 0, sibling group 5, related group 7) and q1 (family 1, no groups).
OF_QUERY = Codes(*(np.array(codes, dtype=np.int32) for codes in ([0, 1], [5, -1], [7, -1])))
# Documents: 0 same family, 1 sibling, 2 related, 3 unrelated, 4 nothing known, 5 of family 1.
OF_DOCUMENT = Codes(
    *(np.array(codes, dtype=np.int32) for codes in ([0, 2, 3, 4, -1, 1], [5, 5, 6, 8, -1, -1], [7, 7, 7, 9, -1, -1]))
)


def related_run():
    return table(
        [(3, 9.0, None, FR), (2, 8.0, None, EN), (1, 7.0, 0, JA), (2, 6.0, None, JA), (0, 5.0, None, FR)],
        [(4, 3.0, None, FR), (0, 2.0, 1, EN), (-1, 1.0, None, -1), (5, 0.5, 0, FR)],
        [],
        query_language=[EN, FR, EN],
        n_documents=6,
    )


def test_relation_codes():
    of_query = Codes(*(np.append(codes, -1).astype(np.int32) for codes in OF_QUERY))
    codes = outcomes.relation_codes(related_run(), queries=of_query, documents=OF_DOCUMENT)
    # q1: missing groups match nothing; the relevant document is the same concept whatever its family.
    assert codes.tolist() == [3, 2, 1, 2, 0, 3, 0, 3, 0]
    assert codes.dtype == np.int8


def test_relations():
    run = related_run()
    of_query = Codes(*(np.append(codes, -1).astype(np.int32) for codes in OF_QUERY))
    found = outcomes.relations(run, outcomes.relation_codes(run, queries=of_query, documents=OF_DOCUMENT))
    assert found.first_rank.tolist() == [[5, 3, 2, 1], [2, NEVER, NEVER, 1], [NEVER] * 4]
    assert found.first_language.tolist() == [[FR, JA, EN, FR], [EN, -1, -1, FR], [-1] * 4]
    assert found.outcome_at_1.tolist() == [3, 3, -1]
    assert found.outcome_same_language.tolist() == [False, True, False]
    types = (found.first_rank, found.first_language, found.outcome_at_1, found.outcome_same_language)
    assert [array.dtype for array in types] == [np.int32, np.int16, np.int8, bool]


def test_discriminated():
    relevant = np.array([1, 3, NEVER, NEVER, 2, NEVER], dtype=np.int32)
    sibling = np.array([2, 1, 4, NEVER, NEVER, 1], dtype=np.int32)
    has_relevant = np.array([True, True, True, True, True, False])
    values = outcomes.discriminated(relevant, sibling, has_relevant=has_relevant)
    np.testing.assert_array_equal(values, [1, 0, 0, 0, 1, _])
    both = outcomes.discriminated(np.stack([relevant, relevant]), sibling, has_relevant=has_relevant)
    np.testing.assert_array_equal(both, [values, values])


def test_empty_run():
    assert outcomes.query_depth(NOTHING).tolist() == [0, 0]
    for share in (outcomes.judged_at, outcomes.same_language_share, outcomes.same_language_irrelevant_share):
        assert np.isnan(share(NOTHING, 10)).all()
    assert outcomes.distinct_documents(NOTHING, 10) == 0
    assert np.isnan(outcomes.largest_document_share(NOTHING, 10))
    assert not outcomes.tied_at(NOTHING, 10).any()
    low, high = outcomes.tie_range_ndcg(NOTHING, judged([1], [0]), k=10)
    np.testing.assert_array_equal(low, [0, _])
    np.testing.assert_array_equal(high, [0, _])
    assert not outcomes.language_above(NOTHING).any()
    codes = outcomes.relation_codes(NOTHING, queries=OF_QUERY, documents=OF_DOCUMENT)
    assert codes.tolist() == []
    assert (outcomes.relations(NOTHING, codes).first_rank == NEVER).all()


hits = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([None, 0, 1]), st.integers(-1, 2)), max_size=14)


@settings(max_examples=60)
@given(lists=st.lists(hits, min_size=3, max_size=3), k=st.integers(1, 12))
def test_counts_equal_those_of_a_loop(lists, k):
    language = [EN, FR, JA]
    run = table(
        *[[(d, -rank, grade, tongue) for rank, (d, grade, tongue) in enumerate(found)] for found in lists],
        query_language=language,
    )
    tops = [found[:k] for found in lists]
    shares = outcomes.same_language_irrelevant_share(run, k)
    above = outcomes.language_above(run)
    for query, (top, found) in enumerate(zip(tops, lists, strict=True)):
        misses = [tongue for _, grade, tongue in top if grade != 1]
        expected = sum(tongue == language[query] for tongue in misses) / len(misses) if misses else 0
        assert shares[query] == (pytest.approx(expected) if top else pytest.approx(_, nan_ok=True))
        first = next((rank for rank, hit in enumerate(found) if hit[1] == 1), len(found))
        passed = [tongue for _, _, tongue in found[: min(first, 10)]]
        assert above[query].tolist() == [passed.count(tongue) for tongue in (EN, FR, JA)]
    assert outcomes.distinct_documents(run, k) == len({hit[0] for top in tops for hit in top})


@settings(max_examples=60)
@given(lists=st.lists(st.lists(st.integers(0, 3), max_size=8), min_size=3, max_size=3))
def test_first_rank_by_relation_equals_that_of_a_search(lists):
    run = table(
        *[[(0, -rank, None, rank % 3) for rank in range(len(found))] for found in lists], query_language=[0] * 3
    )
    found = outcomes.relations(run, np.array([code for codes in lists for code in codes], dtype=np.int8))
    for query, codes in enumerate(lists):
        for code in range(4):
            place = codes.index(code) if code in codes else None
            assert found.first_rank[query, code] == (NEVER if place is None else place + 1)
            assert found.first_language[query, code] == (-1 if place is None else place % 3)
        assert found.outcome_at_1[query] == (codes[0] if codes else -1)
        assert found.outcome_same_language[query] == bool(codes)
