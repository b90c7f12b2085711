"""How much of the chosen tasks is doubtful, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.model import FlagCounts
from analysis.views.selection import TaskLabel


def total(tasks: Sequence[TaskLabel]) -> FlagCounts:
    """What is flagged of all these tasks together."""
    reasons: Counter[str] = Counter()
    for task in tasks:
        reasons.update(task.n_flagged.reasons)
    queries, documents = (sum(getattr(task.n_flagged, item) for task in tasks) for item in ("queries", "documents"))
    return FlagCounts(queries, documents, dict(reasons.most_common()))


def sentence(tasks: Sequence[TaskLabel], *, left_out: bool) -> str:
    """How many queries and documents of these tasks are flagged, whether they count, and why they are flagged.

    Args:
        tasks: of which something is flagged.
        left_out: flagged ones do not count.
    """
    found = total(tasks)
    of = {"queries": sum(task.n_queries for task in tasks), "documents": sum(task.n_documents for task in tasks)}
    parts = [f"{n:,} of {of[name]:,} {name}" for name in of if (n := getattr(found, name))]
    who, verb = ("it", "is") if found.queries + found.documents == 1 else ("they", "are")
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in found.reasons.items())
    does = "left out" if left_out else "counted"
    return f"{' and '.join(parts)} {verb} flagged ({reasons}); {who} {verb} {does}."
