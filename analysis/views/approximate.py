"""Which chosen runs were not searched exactly, and how much of the exact answer they find, in words."""

from __future__ import annotations

from analysis.store.read import Store
from analysis.systems.approximate import Measured
from analysis.views.evidence import chosen_tasks
from analysis.views.selection import Selection


def sentence(store: Store, selection: Selection) -> str:
    """One line about the runs of a selection; empty where all were searched exactly.

    Raises:
        InputError: there is no such benchmark or task.
    """
    labels = store.system_labels()
    parts = []
    for task in chosen_tasks(store, selection):
        for run in store.runs([task.task_id]):
            found = run.provenance.get("approximate") or {}
            if found and (not selection.systems or run.system in selection.systems):
                least = min(found.values(), key=lambda measured: float(measured["recall_at_10"]))
                parts.append(f"{labels[run.system].short} on {task.title} ({Measured(**least).words})")
    if not parts:
        return ""
    return f"Searched approximately, as there are very many documents: {'; '.join(parts)}."
