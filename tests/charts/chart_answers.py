"""Nouns and pieces of frozen answers for the tests of charts."""

from analysis.model import Interval
from analysis.views.overview import OverviewRow
from analysis.views.routes import RouteCell
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Sentence, SystemLabel, TaskLabel

LANGUAGES = ("en", "ja")
MINILM = SystemLabel("all-minilm-l6-v2", "all-MiniLM-L6-v2", "all-MiniLM", "English-centric dense", 0)
E5 = SystemLabel("multilingual-e5-small", "multilingual-e5-small", "e5-small", "multilingual dense", 0)
USE = SystemLabel("use-multilingual-v3", "USE multilingual v3", "USE", "multilingual dense", 1)
BM25 = SystemLabel("bm25", "BM25", "BM25", "lexical", 0)
SYSTEMS = (MINILM, E5, USE, BM25)
BENCHMARK = BenchmarkLabel("icd10", "1", "icd10", "ICD-10", "licence", "source", (), True)
TASK = TaskLabel("category", "Find the category", "Which category?", True, 60, 120)
RECALL = MeasureLabel("recall_at_10", "R@10", "Share found.", "found ÷ all", "a book", "balanced", "share")
NDCG = MeasureLabel("ndcg_at_10", "nDCG@10", "How close.", "DCG ÷ ideal", "a paper", "pooled", "share")
TRANSFER = MeasureLabel(
    "language_transfer", "LT%", "What is left.", "100 × cross ÷ same", "a paper", "balanced", "percent"
)
SAID = Sentence("all-MiniLM finds 42 of 100.", "USE finds 55.")


def cell(system, route, value, *, n=200, retention=None, preference=None):
    """One route cell; ``route`` is two tags."""
    low, high = (None, None) if value is None else (max(value - 0.05, 0), min(value + 0.05, 1))
    return RouteCell("category", system, *route, "recall_at_10", value, retention, preference, low, high, "wilson", n)


def interval(value, n=60):
    """An interval of ± 0.02 (± 2 in per cent)."""
    if value is None:
        return Interval(None, "pooled", None, None, None, None, 0.95, "percentile-joint, B = 2000", 0)
    half = 2 if value > 1 else 0.02
    return Interval(value, "pooled", value, None, value - half, value + half, 0.95, "percentile-joint, B = 2000", n)


def overview_row(label, *, ndcg, same, cross, degenerate=False):
    """One system of the leaderboard."""
    measures = {
        "ndcg_at_10": interval(ndcg),
        "recall_at_10_same": interval(same),
        "recall_at_10_cross": interval(cross),
        "language_transfer": interval(100 * cross / same if same and cross is not None else None),
    }
    return OverviewRow(
        "category",
        label,
        measures,
        None,
        100,
        60,
        0,
        0,
        None,
        3,
        (ndcg - 0.01, ndcg + 0.01),
        0.4,
        0,
        90,
        0.2,
        degenerate,
        100,
        6000,
        "2026-01-01T00:00:00",
        100.0,
        (),
    )
