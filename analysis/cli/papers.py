"""What papers print, in the answers of `list papers`, `scores` and `routes`, always marked as published."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from analysis.cli.output import plain
from analysis.cli.published import PUBLISHED
from analysis.model import Interval
from analysis.store.read import Store
from analysis.views import papers as view
from analysis.views.papers import PaperFigure
from analysis.views.published import is_chosen
from analysis.views.routes import RouteCell
from analysis.views.selection import Selection

ROUTES = "routes"


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every printed figure of the benchmarks, tasks and systems asked for, whatever is stored."""
    for figure in view.everything():
        asked = options.benchmark in (None, figure.benchmark) and (not options.task or figure.task in options.task)
        if asked and is_chosen(figure.system.name, options.system):
            yield _row(figure)


def scores(store: Store, asked: Selection) -> list[dict[str, Any]]:
    """The figures of a benchmark's paper that are of no route, with what was measured beside them."""
    return [_row(figure) for figure in view.figures(store, asked) if figure.page != ROUTES]


def flat_scores(row: dict[str, Any]) -> dict[str, Any]:
    """The same as a row of the table of scores, without an interval; what is no number stands in the method."""
    blank = dict.fromkeys(Interval._fields)
    number = _number(row["printed"])
    how = f"printed in {row['paper']}" + ("" if number is not None else f": {row['printed']}")
    measure = " ".join(filter(None, [row["measure"], row["query_language"], row["tier"]]))
    about = {"task": row["task"], "system": row["system"], "measure": measure}
    return {**about, **blank, "value": number, "aggregate": PUBLISHED, "method": how}


def cells(store: Store, asked: Selection) -> Iterator[dict[str, Any]]:
    """Printed route cells in the shape of measured ones."""
    blank = dict.fromkeys(RouteCell.__dataclass_fields__)
    for figure in view.figures(store, asked, page=ROUTES):
        row = _row(figure)
        about = {name: row[name] for name in blank if name in row}
        yield {
            **blank,
            **about,
            "value": _number(figure.printed),
            "method": f"printed in {figure.paper}",
            PUBLISHED: True,
        }


def _row(figure: PaperFigure) -> dict[str, Any]:
    dropped = {"task_title", "label", "measured_words", "page"}
    found = {name: plain(value) for name, value in figure._asdict().items() if name not in dropped}
    return found | {"system": figure.system.name, "paradigm": figure.system.paradigm}


def _number(printed: str) -> float | None:
    """None of what the paper prints as beyond its depth, such as "> 1000"."""
    return None if printed.startswith(">") else float(printed)
