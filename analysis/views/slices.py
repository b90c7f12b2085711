"""Parts of a task's queries: what each query attribute says, and which queries have which values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.store.read import QueryColumns, Store, TaskRow

OWN = ("language", "tier", "mode", "strategy", "audit_status", "family", "source_query")
"""Attributes that every benchmark may have; free ones come beside them by their own names."""

NO_HOME = "no_home"
"""Derived: "yes" where no relevant document is in the query's own language, "no" where one is."""

Pairs = Sequence[tuple[str, str]]
Column = NDArray[np.object_]


def names(task: TaskRow, queries: QueryColumns) -> tuple[str, ...]:
    """Every attribute by which the queries of a task can be told apart."""
    return (*OWN, *queries.attributes, *((NO_HOME,) if task.n_documents else ()))


def column(
    store: Store, task: TaskRow, queries: QueryColumns, *, attribute: str, without_flagged: bool = False
) -> Column:
    """The value of an attribute for each query, ``(Q,)``; None where a query has none.

    Args:
        store: where the task is.
        task: the stored task.
        queries: all of its queries.
        attribute: one of :func:`names`.
        without_flagged: judgements of flagged documents do not count: a query may have its home with them alone.

    Raises:
        InputError: the benchmark's queries have no such attribute.
    """
    if attribute not in names(task, queries):
        expected = ", ".join(names(task, queries))
        raise InputError(f"unknown query attribute {attribute!r}: {task.name} has {expected}")
    if attribute == NO_HOME:
        return store.no_home(task.task_id, without_flagged=without_flagged)
    found: Column = getattr(queries, attribute) if attribute in OWN else queries.attributes[attribute]
    return found


def values(found: Column) -> tuple[str, ...]:
    """The values that occur in a column, numbers by their size and before words."""
    return tuple(sorted({str(value) for value in found if value is not None}, key=_order))


def _order(value: str) -> tuple[float, str]:
    return (float(value) if value.isdecimal() else np.inf, value)


def mask(
    store: Store, task: TaskRow, queries: QueryColumns, *, where: Pairs, without_flagged: bool = False
) -> NDArray[np.bool_]:
    """The queries that a selection is about, ``(Q,)``: one of the values asked for, of each attribute asked for.

    Args:
        store: where the task is.
        task: the stored task.
        queries: all of its queries.
        where: attributes with the values asked for.
        without_flagged: flagged queries are left out.

    Raises:
        InputError: an unknown attribute.
    """
    keep = ~store.flagged(task.task_id).queries if without_flagged else np.ones(len(queries.id), dtype=bool)
    for attribute in dict.fromkeys(name for name, _ in where):
        found = column(store, task, queries, attribute=attribute, without_flagged=without_flagged)
        wanted = [value for name, value in where if name == attribute]
        keep &= np.any([found == value for value in wanted], axis=0)
    return keep


def narrowed(where: Pairs, attribute: str, value: str) -> tuple[tuple[str, str], ...]:
    """What is asked for, and of this attribute this value alone."""
    return (*(pair for pair in where if pair[0] != attribute), (attribute, value))
