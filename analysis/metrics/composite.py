"""Task scores and their composition (MMed-Bench-IR)."""

from __future__ import annotations

import numpy as np

from analysis.metrics.ranking import Floats


def alignment_score(ndcg_at_10: Floats, recall_at_1: Floats) -> Floats:
    """Task 1 score: the mean of nDCG@10 and R@1, from 0 to 1, higher is better.

    Args:
        ndcg_at_10: means, or means inside draws, of any shape.
        recall_at_1: the same shape, of the same queries and draws.

    Returns:
        The same shape; NaN where either is.

    Source:
        MMed-Bench-IR, Task 1.
    """
    return (ndcg_at_10 + recall_at_1) / 2


def mean_of(*scores: Floats) -> Floats:
    """The plain mean of scores of one shape: Task 2 over its tiers or relations, and MMed-IR over the three tasks.

    Returns:
        The same shape; NaN where any score is: a system that lacks a part has no composite.

    Source:
        MMed-Bench-IR, Task 2 and the overall score.
    """
    return np.asarray(np.mean(np.stack(scores), axis=0))
