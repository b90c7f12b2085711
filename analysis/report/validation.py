"""Where tiers come from confusion sets: what became of them, one validator left out, systems without a vote."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.charts import validation as charts
from analysis.report.blocks import Block, Chart, Grey, Heading, Number, Row, Table, spoken
from analysis.views.validation import MADE, TIERS, Validation


def blocks(found: Validation, *, title: str) -> Iterator[Block]:
    """What the page shows of a task's confusion sets."""
    yield Heading("Are the tiers what they say?", 4)
    yield found.sentence
    yield Grey(f"Votes of {', '.join(found.validators)}: a set needs two of three.")
    yield Chart.drawn(lambda dark: charts.cosines(found, dark=dark), alt=f"Mean cosine. {spoken(found.sentence)}")
    yield _outcomes(found, title)
    yield _cosines(found, title)
    yield _left_out(found, title)
    yield found.confirmed


def _outcomes(found: Validation, title: str) -> Table:
    columns = {"Vocabulary": "text", "Made for": "text"}
    columns |= dict.fromkeys(("Sets", "Accepted", *(f"Now {tier}" for tier in TIERS), "Rejected"), "number")
    rows: tuple[Row, ...] = tuple(
        [
            row.vocabulary or "all",
            row.made,
            Number(row.sets, 0),
            Number(row.accepted, 0),
            *(Number(row.moved.get(tier), 0) for tier in TIERS),
            Number(row.rejected, 0),
        ]
        for row in found.counts
    )
    return Table(f"Confusion sets by outcome: {title}", columns, rows, folded=len(rows) > len(TIERS))


def _cosines(found: Validation, title: str) -> Table:
    means = {(row.validator, row.which, row.tier): row.mean for row in found.cosines}
    columns = {"Validator": "text"} | dict.fromkeys(TIERS, "number")
    rows: tuple[Row, ...] = tuple([name, *(means[name, MADE, tier] for tier in TIERS)] for name in found.names)
    return Table(f"Mean cosine of the sets, as made: {title}", columns, rows)


def _left_out(found: Validation, title: str) -> Table:
    columns = {"Left out": "text"} | dict.fromkeys(
        ("Accepted", "To an adjacent tier", "To a non-adjacent tier", "Rejected", "Same as with all"), "number"
    )
    rows: tuple[Row, ...] = tuple(
        [
            row.validator or "nobody: two of three",
            *(Number(share, 3) for share in (row.accepted, row.adjacent, row.far, row.rejected, row.same)),
        ]
        for row in found.left_out
    )
    return Table(f"Shares of sets with one validator left out: {title}", columns, rows)
