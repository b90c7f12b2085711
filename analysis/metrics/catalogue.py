"""The measures by name: what each is called, means, comes from and how it is averaged, and the function behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from analysis.errors import InputError
from analysis.metrics import ranking, routes
from analysis.metrics.ranking import Floats, Judged, Ranks

Aggregate = Literal["pooled", "balanced"]
Unit = Literal["share", "percent"]

POOLED_RECALL = (1, 5)
"""R@1 and R@5 are pooled over queries; R@k at any other k is balanced over query languages."""


@dataclass(frozen=True)
class Measure:
    """One measure as people meet it."""

    key: str  # in files, addresses and code: "ndcg_at_10"
    label: str  # on screen: "nDCG@10"
    definition: str  # one to three plain sentences
    formula: str  # plain Unicode; r is a rank, g a grade, 0 where nothing is retrieved
    source: str  # where it is defined
    aggregate: Aggregate  # the mean that leads: over all queries, or over the query languages' means
    higher_is_better: bool
    unit: Unit  # a share from 0 to 1, or per cent


@dataclass(frozen=True)
class _Kind:
    """A measure before its k is known; ``{k}`` in the texts stands for it."""

    label: str
    definition: str
    formula: str
    source: str
    score: Callable[[Judged, Ranks, int], Floats] | None  # None: not had from judged ranks, see value()
    ceiling: Callable[[Judged, int], Floats] | None = None  # None: the measure can reach 1
    balanced: bool = False
    unit: Unit = "share"


_MANNING = "Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval"
_CHEMCLIR = "ChemCLIR-Bench"
_WITHIN_LANGUAGES = "Averaged within each query language first, then over the languages."

_KINDS = {
    "ndcg_at_K": _Kind(
        "nDCG@{k}",
        "How close the top {k} comes to the best possible order of the judged documents. Higher grades count more, "
        "lower places count less. 1 is perfect, 0 means nothing useful was found.",
        "DCG ÷ ideal DCG, DCG = Σ g ÷ log₂(r + 1) over ranks r ≤ {k}; ideal: all judged grades in descending order",
        "Järvelin & Kekäläinen (2002), ACM TOIS 20(4), with the gain and discount of trec_eval",
        lambda judged, ranks, k: ranking.ndcg(judged, ranks, k=k),
    ),
    "ndcg_exponential_at_K": _Kind(
        "nDCG(dcg='exp-log2')@{k}",
        "nDCG@{k} in which a grade g is worth 2^g − 1 instead of g, so that the highest grades weigh far more. "
        "Not comparable with plain nDCG where grades go beyond 1.",
        "nDCG@{k} with 2^g − 1 in the place of g",
        "Burges et al. (2005), ICML",
        lambda judged, ranks, k: ranking.ndcg(judged, ranks, k=k, gain="exponential"),
    ),
    "recall_at_K": _Kind(
        "R@{k}",
        "The share of all relevant documents that stand in the top {k}. With more than {k} relevant documents "
        "it cannot reach 1; the ceiling says how far it can go.",
        "relevant with r ≤ {k} ÷ all relevant; ceiling min({k}, n) ÷ n",
        f"{_MANNING}, eq. 8.2",
        lambda judged, ranks, k: ranking.recall(judged, ranks, k=k),
        lambda judged, k: ranking.recall_ceiling(judged, k=k),
    ),
    "recall_at_K_same": _Kind(
        "R@{k} same",
        "The share of the relevant documents in the query's own language that stand in the top {k}. Queries without "
        f"such a document are left out. {_WITHIN_LANGUAGES}",
        "relevant in the query's language with r ≤ {k} ÷ all such",
        _CHEMCLIR,
        lambda judged, ranks, k: routes.recall_same(judged, ranks, k=k),
        lambda judged, k: ranking.recall_ceiling(judged, k=k, among=judged.same),
        balanced=True,
    ),
    "recall_at_K_cross": _Kind(
        "R@{k} cross",
        "The share of the relevant documents in other languages than the query's that stand in the top {k}. Queries "
        f"without such a document are left out. {_WITHIN_LANGUAGES}",
        "relevant in other languages with r ≤ {k} ÷ all such",
        _CHEMCLIR,
        lambda judged, ranks, k: routes.recall_cross(judged, ranks, k=k),
        lambda judged, k: ranking.recall_ceiling(judged, k=k, among=judged.cross),
        balanced=True,
    ),
    "hit_at_K": _Kind(
        "Hit@{k}",
        "The share of queries with at least one relevant document in the top {k}. Some tools call this Recall@{k}.",
        "1 if the first relevant r ≤ {k}, else 0",
        "success of trec_eval",
        lambda judged, ranks, k: ranking.hit(judged, ranks, k=k),
    ),
    "precision_at_K": _Kind(
        "P@{k}",
        "The share of the top {k} that is relevant. Divided by {k} even when fewer documents were retrieved.",
        "relevant with r ≤ {k} ÷ {k}",
        f"{_MANNING}, eq. 8.1",
        lambda judged, ranks, k: ranking.precision(judged, ranks, k=k),
    ),
    "rr": _Kind(
        "RR",
        "One divided by the rank of the first relevant document: 1 at rank 1, 0.5 at rank 2, 0 when none is found.",
        "1 ÷ first relevant r",
        "Voorhees (1999), The TREC-8 question answering track report",
        lambda judged, ranks, _: ranking.reciprocal_rank(judged, ranks),
    ),
    "rr_at_K": _Kind(
        "RR@{k}",
        "One divided by the rank of the first relevant document, 0 when none stands in the top {k}.",
        "1 ÷ first relevant r if that is ≤ {k}, else 0",
        "Voorhees (1999), The TREC-8 question answering track report",
        lambda judged, ranks, k: ranking.reciprocal_rank(judged, ranks, k=k),
    ),
    "ap": _Kind(
        "AP",
        "Precision at the rank of each relevant document, averaged over all relevant documents; those never found "
        "count 0. It rewards finding everything, early.",
        "Σ over relevant retrieved of (relevant at or above r ÷ r) ÷ all relevant",
        f"{_MANNING}, eq. 8.8",
        lambda judged, ranks, _: ranking.average_precision(judged, ranks),
    ),
    "jbc_at_K": _Kind(
        "JBC@{k}",
        "The share of queries whose top {k} holds a relevant document in the query's language and one in another. "
        "Only queries that have both are counted.",
        "1 if first same r ≤ {k} and first cross r ≤ {k}, else 0",
        _CHEMCLIR,
        lambda judged, ranks, k: routes.jbc(judged, ranks, k=k),
    ),
    "judged_at_K": _Kind(
        "Judged@{k}",
        "The share of the top {k} that anybody judged. Unjudged documents count as not relevant, so where it is low "
        "the other measures are too pessimistic.",
        "judged with r ≤ {k} ÷ documents with r ≤ {k}",
        "Sakai (2007), SIGIR",
        None,
    ),
    "same_language_at_K": _Kind(
        "same language @{k}",
        "The share of the top {k} that is in the query's language.",
        "documents in the query's language with r ≤ {k} ÷ documents with r ≤ {k}",
        _CHEMCLIR,
        None,
    ),
    "same_language_irrelevant_at_K": _Kind(
        "same-language irrelevant @{k}",
        "The share of the query's language among the documents of the top {k} that are not relevant; 0 where all are "
        "relevant. Near 1 the system prefers the query's language to the answer.",
        "not relevant, in the query's language, r ≤ {k} ÷ not relevant, r ≤ {k}",
        _CHEMCLIR,
        None,
    ),
    "language_transfer": _Kind(
        "LT%",
        "How much of R@10 is left when the answer is in another language than the query: 100 × R@10 cross ÷ R@10 same. "
        "Only queries with relevant documents in both are counted. 100 means nothing is lost.",
        "100 × mean R@10 cross ÷ mean R@10 same",
        _CHEMCLIR,
        None,
        balanced=True,
        unit="percent",
    ),
}

_KEY = re.compile(r"(?P<stem>[a-z_]+?)(?:_at_(?P<k>[1-9][0-9]{0,5}))?(?P<route>_same|_cross)?")


def measure(key: str) -> Measure:
    """The measure that a key names, at any k from 1 to 999,999.

    Args:
        key: such as "ndcg_at_10", "recall_at_25_cross" or "rr".

    Raises:
        InputError: no measure has this key.
    """
    kind, k = _parse(key)
    balanced = kind.balanced or (kind is _KINDS["recall_at_K"] and k not in POOLED_RECALL)
    return Measure(
        key=key,
        label=kind.label.format(k=k),
        definition=kind.definition.format(k=k),
        formula=kind.formula.format(k=k),
        source=kind.source,
        aggregate="balanced" if balanced else "pooled",
        higher_is_better=True,
        unit=kind.unit,
    )


def value(key: str, judged: Judged, *, ranks: Ranks) -> Floats:
    """One value a query of the measure that a key names.

    Args:
        key: as for :func:`measure`.
        judged: the task's judgements.
        ranks: ``(S, J)``.

    Returns:
        ``(S, Q)``; NaN outside the measure's domain, see the measure's own function.

    Raises:
        InputError: no measure has this key; or it is LT%, a ratio of two means; or it needs the documents that nobody
            judged too and is counted when a run is stored (:mod:`analysis.metrics.outcomes`).
    """
    kind, k = _parse(key)
    if kind.score is None:
        raise InputError(
            f"measure {key!r} cannot be had from judged ranks; expected one of {_expected(per_query=True)}"
        )
    return kind.score(judged, ranks, k)


def ceiling(key: str, judged: Judged) -> Floats | None:
    """The largest value that the measure can reach on each query.

    Args:
        key: as for :func:`measure`.
        judged: the task's judgements.

    Returns:
        ``(Q,)`` for recall, same and cross included, NaN outside their domain; None for every other measure.

    Raises:
        InputError: no measure has this key.
    """
    kind, k = _parse(key)
    return None if kind.ceiling is None else kind.ceiling(judged, k)


def _parse(key: str) -> tuple[_Kind, int]:
    """The kind and the k that a key names; k is 0 where the kind has none."""
    match = _KEY.fullmatch(key)
    if match:
        stem, k, route = match["stem"], match["k"], match["route"] or ""
        kind = _KINDS.get(f"{stem}_at_K{route}" if k else f"{stem}{route}")
        if kind:
            return kind, int(k or 0)
    raise InputError(f"unknown measure {key!r}; expected one of {_expected()}, with a number from 1 for K")


def _expected(*, per_query: bool = False) -> str:
    return ", ".join(key for key, kind in _KINDS.items() if kind.score or not per_query)
