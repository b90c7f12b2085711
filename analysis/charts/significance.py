"""What crossing languages costs, which systems differ, and whether their order holds elsewhere."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import names_axis
from analysis.views.selection import Interval, SystemLabel
from analysis.views.significance import ALPHA, AgreementRow, FriedmanRow, PairRow, TaxRow

LINE = 36
"""Pixels a system or comparison."""

CELL = 46
"""Pixels a row of the matrix."""

STEP = 27
"""Pixels between two labels of the critical-difference diagram."""

WRAP = 12
"""Characters a line of a column's name."""


def tax(rows: Sequence[TaxRow], *, dark: bool = False) -> go.Figure:
    """What crossing languages costs: a dot with its interval a system, the largest cost on top.

    Args:
        rows: the systems of one task, in any order.
        dark: for the dark theme.
    """
    known = [(row.delta.value, row) for row in rows if row.delta.value is not None]
    shown = [row for _, row in sorted(known, key=lambda pair: -pair[0])]
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(shown) * LINE + 70)
    figure.add_scatter(
        x=[row.delta.value for row in shown],
        y=[-place for place in range(len(shown))],
        mode="markers",
        marker={
            "size": 12,
            "color": [theme.system_colour(row.system, dark=dark) for row in shown],
            "symbol": [theme.system_symbol(row.system) for row in shown],
        },
        error_x=theme.interval_bars([row.delta for row in shown], dark=dark),
        hovertext=[_tax_hover(row) for row in shown],
        hoverinfo="text",
    )
    figure.update_xaxes(title={"text": "R@10 same less R@10 cross", "font": {"size": 13}, "standoff": 6})
    _lines(figure, [theme.plain(row.system.short) for row in shown], dark=dark)
    ends = [0.0, *(end for row in shown for end in (row.delta.low, row.delta.high, row.delta.value) if end is not None)]
    reach = max(max(ends) - min(ends), 0.1)
    figure.update_xaxes(range=[min(ends) - 0.04 * reach, max(ends) + 0.06 * reach])
    return figure


def matrix(
    pairs: Sequence[PairRow], *, measure: str, chosen: tuple[str, str] | None = None, dark: bool = False
) -> go.Figure:
    """Every system less every other one, best first; hatched where the adjusted p is not below 0.05.

    Each cell carries the names of its row and its column, for clicks.

    Args:
        pairs: all pairs of a task.
        measure: what is compared, as it is called on screen.
        chosen: names of the systems whose cell is marked, row and column.
        dark: for the dark theme.
    """
    systems = in_order(pairs)
    cells = _cells(pairs, systems)
    largest = max((abs(cell.value) for cell in cells), default=0.0)
    reach = theme.difference_reach(largest)
    figure = go.Figure()
    figure.update_layout(coloraxis=_colour_axis(reach, measure=measure, dark=dark), barmode="overlay")
    theme.dress(figure, dark=dark, height=len(systems) * CELL + 110)
    for colour in (theme.BLACK, theme.WHITE):
        alike = [cell for cell in cells if text_colour(cell.value, reach=reach, dark=dark) == colour]
        figure.add_trace(_layer(alike, len(systems), colour))
    unclear = [cell for cell in cells if cell.row.p_bh is None or cell.row.p_bh >= ALPHA]
    figure.add_trace(_hatch(unclear, dark=dark))
    figure.add_trace(_targets(cells, systems, measure=measure))
    _frame(figure, systems, dark=dark)
    for cell in cells:
        if chosen == (systems[cell.line].name, systems[cell.column].name):
            figure.add_shape(**_outline(cell, dark=dark))
    figure.update_layout(
        clickmode="event+select", hovermode="closest", uirevision="pairs", margin={"l": 8, "r": 8, "t": 8, "b": 16}
    )
    return figure


def text_colour(value: float, *, reach: float, dark: bool) -> str:
    """Of the number in a cell of the matrix."""
    return theme.text_on(theme.colour_at(theme.difference_scale(dark), (value + reach) / (2 * reach)))


def in_order(pairs: Sequence[PairRow]) -> tuple[SystemLabel, ...]:
    """The systems of all pairs, best first."""
    return tuple(dict.fromkeys(label for row in pairs for label in (row.a, row.b)))


def critical_difference(row: FriedmanRow, labels: Mapping[str, SystemLabel], *, dark: bool = False) -> go.Figure:
    """Average ranks on a line, best on the left; a bar joins systems that are closer than the critical difference.

    The better half is named on the left and the others on the right, each on a line of its own.

    Args:
        row: a test with average ranks.
        labels: by name of the system.
        dark: for the dark theme.

    Source:
        Demšar (2006), JMLR 7, section 3.2.2 and figure 1.
    """
    page = theme.paper(dark)
    ranked = dict(row.average_ranks)
    names = list(ranked)
    half = (len(names) + 1) // 2
    bars = _bars([(ranked[group[0]] - 0.03, ranked[group[-1]] + 0.03) for group in row.joined])
    below = 0.3 - min([0.0, *(height for _, height in bars)])
    levels = {name: -below - 1 - place for place, name in enumerate(names[:half])}
    levels |= {name: -below - 1 - place for place, name in enumerate(reversed(names[half:]))}
    bottom = min(levels.values())
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=round((3.2 - bottom) * STEP + 20))
    edges = (1 - 0.03 * (len(names) - 1), len(names) + 0.03 * (len(names) - 1))
    for name, rank in ranked.items():
        edge, axis = (edges[0], "y") if name in names[:half] else (edges[1], "y2")
        leader = {"width": 1.2, "color": page.secondary}
        _stroke(figure, [rank, rank, edge], [0, levels[name], levels[name]], line=leader, axis=axis)
    _ruler(figure, len(names), dark=dark)
    for ends, height in bars:
        _stroke(figure, ends, [height] * 2, line={"width": 6, "color": page.text})
    _difference_bar(figure, row.critical_difference, dark=dark)
    _rank_marks(figure, [(labels[name], rank) for name, rank in ranked.items()], n=row.n, dark=dark)
    ticks = [(levels[name], f"{theme.plain(labels[name].short)} {ranked[name]:.2f}") for name in names]
    shared: dict[str, object] = {"range": [bottom - 0.7, 2.6], "tickfont": {"size": 14, "color": page.text}}
    figure.update_layout(
        xaxis={"range": list(edges), "visible": False},
        yaxis=shared | _ticks(ticks[:half]),
        yaxis2=shared | _ticks(ticks[half:]) | _RIGHT,
        hovermode="closest",
    )
    return figure


def order_agreement(rows: Sequence[AgreementRow], names: Sequence[str], *, dark: bool = False) -> go.Figure:
    """How far two places put systems in the same order: ρ and τ on a line a comparison, from -1 to 1.

    Args:
        rows: the comparisons, the first on top.
        names: of each, as it stands on screen.
        dark: for the dark theme.
    """
    page = theme.paper(dark)
    names = [theme.plain(name) for name in names]
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(rows) * LINE + 100)
    for words, symbol, values in (
        ("Spearman ρ", "circle", [row.spearman for row in rows]),
        ("Kendall τ", "diamond-open", [row.kendall for row in rows]),
    ):
        figure.add_scatter(
            x=values,
            y=[-place for place in range(len(rows))],
            mode="markers",
            name=words,
            marker={"size": 11, "symbol": symbol, "color": page.accent, "line": {"width": 2, "color": page.accent}},
            hovertext=[
                ""
                if value is None
                else f"<b>{name}</b><br>{words} {value:.4f}<br>{row.n} systems; "
                f"{row.n_queries[0]:,} and {row.n_queries[1]:,} queries"
                for name, row, value in zip(names, rows, values, strict=True)
            ],
            hoverinfo="text",
        )
    _lines(figure, names, dark=dark)
    figure.update_layout(
        xaxis={
            "range": [-1.04, 1.04],
            "tickvals": [-1, -0.5, 0, 0.5, 1],
            "ticktext": ["−1 reversed", "−0.5", "0 unrelated", "0.5", "1 the same order"],
        },
        showlegend=True,
        legend=theme.legend(dark=dark),
        margin={"l": 8, "r": 60, "t": 36, "b": 8},
    )
    return figure


# Lines of marks


def _lines(figure: go.Figure, names: Sequence[str], *, dark: bool) -> None:
    """One line a name, the first on top, and a zero that is seen."""
    page = theme.paper(dark)
    figure.update_layout(
        xaxis={
            "showgrid": True,
            "gridcolor": page.lines,
            "zeroline": True,
            "zerolinecolor": page.text,
            "zerolinewidth": 1.5,
        },
        yaxis=names_axis(names, dark=dark),
        margin={"l": 8, "r": 12, "t": 12, "b": 8},
        hovermode="closest",
    )


def _tax_hover(row: TaxRow) -> str:
    holm = "" if row.p_holm is None else f"<br>Holm p {row.p_holm:.4f}"
    note = f"<br>{row.note}" if row.note else ""
    count = f"n = {row.delta.n:,} queries of {row.n_families:,} families"
    return f"<b>{theme.plain(row.system.title)}</b><br>R@10 same − cross {_four(row.delta)}{holm}{note}<br>{count}"


def _four(found: Interval, *, sign: int = 1) -> str:
    """A difference with four decimals and its interval; the other way round with ``sign`` -1."""
    words = f"{sign * (found.value or 0.0):+.4f}"
    if found.low is None or found.high is None:
        return words
    low, high = sorted((sign * found.low, sign * found.high))
    return f"{words} ({low:.4f} to {high:.4f}, {found.method})"


# The matrix


class _Cell(NamedTuple):
    """One system less another."""

    line: int
    column: int
    value: float
    sign: int  # 1 where the line is the better system of the pair
    row: PairRow


def _cells(pairs: Sequence[PairRow], systems: Sequence[SystemLabel]) -> list[_Cell]:
    place = {label.name: index for index, label in enumerate(systems)}
    cells = []
    for row in pairs:
        if row.delta.value is not None:
            a, b = place[row.a.name], place[row.b.name]
            cells += [_Cell(a, b, row.delta.value, 1, row), _Cell(b, a, -row.delta.value, -1, row)]
    return cells


def _colour_axis(reach: float, *, measure: str, dark: bool) -> dict[str, object]:
    return {
        "colorscale": [list(stop) for stop in theme.difference_scale(dark)],
        "cmin": -reach,
        "cmax": reach,
        "colorbar": {
            "title": {"text": f"{measure}, row less column", "side": "right", "font": {"size": 13}},
            "tickvals": [-reach, 0, reach],
            "ticktext": [f"−{reach:.2f}", "0 no difference", f"+{reach:.2f}"],
            "thickness": 10,
            "outlinewidth": 0,
            "len": 1,
            "ticklabeloverflow": "allow",
            "xpad": 8,
            "ypad": 0,
        },
    }


def _layer(cells: Sequence[_Cell], size: int, colour: str) -> go.Heatmap:
    """Cells whose text has one colour: a heatmap has no more."""
    values: list[list[float | None]] = [[None] * size for _ in range(size)]
    texts = [[""] * size for _ in range(size)]
    for cell in cells:
        values[cell.line][cell.column] = cell.value
        texts[cell.line][cell.column] = theme.cell_text(cell.value)
    return theme.number_cells(values, texts, size=14 if size <= 10 else 11, colour=colour)


def _hatch(cells: Sequence[_Cell], *, dark: bool) -> go.Bar:
    return go.Bar(
        x=[cell.column for cell in cells],
        y=[1] * len(cells),
        base=[cell.line - 0.5 for cell in cells],
        width=0.97,
        marker=theme.hatch(dark),
        hoverinfo="skip",
        name=f"adjusted p not below {ALPHA}",
        unselected={"marker": {"opacity": 1}},
    )


def _targets(cells: Sequence[_Cell], systems: Sequence[SystemLabel], *, measure: str) -> go.Scatter:
    """Transparent squares over the cells: a heatmap reports no clicks, marks do."""
    return go.Scatter(
        x=[cell.column for cell in cells],
        y=[cell.line for cell in cells],
        mode="markers",
        marker={"symbol": "square", "size": 40 if len(systems) <= 10 else 24, "color": theme.CLEAR},
        customdata=[[systems[cell.line].name, systems[cell.column].name] for cell in cells],
        hovertext=[_pair_hover(cell, systems, measure=measure) for cell in cells],
        hoverinfo="text",
    )


def _pair_hover(cell: _Cell, systems: Sequence[SystemLabel], *, measure: str) -> str:
    row = cell.row
    lines = [
        f"<b>{theme.plain(systems[cell.line].short)} − {theme.plain(systems[cell.column].short)}</b>",
        f"{measure} {_four(row.delta, sign=cell.sign)}",
    ]
    if row.p is not None and row.p_bh is not None:
        lines.append(f"p {row.p:.4f}, adjusted {row.p_bh:.4f} (Benjamini–Hochberg)")
    if row.note:
        lines.append(row.note)
    lines.append(f"n = {row.delta.n:,} queries of {row.n_families:,} families")
    return "<br>".join(lines)


def _frame(figure: go.Figure, systems: Sequence[SystemLabel], *, dark: bool) -> None:
    edges = [-0.5, len(systems) - 0.5]
    axis = {"tickvals": list(range(len(systems))), "tickfont": {"size": 13, "color": theme.paper(dark).text}}
    figure.update_layout(
        xaxis=axis
        | {
            "range": edges,
            "side": "top",
            "ticktext": [
                "<br>".join(
                    map(theme.plain, textwrap.wrap(label.short, WRAP, break_long_words=False, break_on_hyphens=False))
                )
                for label in systems
            ],
            "autotickangles": [0, -35, -90],
        },
        yaxis=axis
        | {"range": edges[::-1], "ticktext": [theme.plain(label.short) for label in systems], "ticklabelstandoff": 6},
    )


def _outline(cell: _Cell, *, dark: bool) -> dict[str, object]:
    return {
        "type": "rect",
        "x0": cell.column - 0.47,
        "x1": cell.column + 0.47,
        "y0": cell.line - 0.46,
        "y1": cell.line + 0.46,
        "line": {"width": 3.5, "color": theme.paper(dark).text},
        "layer": "above",
    }


# The critical-difference diagram

_RIGHT: dict[str, object] = {"overlaying": "y", "side": "right", "fixedrange": True, "showgrid": False, "ticks": ""}


def _ticks(labels: Sequence[tuple[float, str]]) -> dict[str, object]:
    """Labels at their heights on an axis that makes room for them."""
    return {
        "tickvals": [level for level, _ in labels],
        "ticktext": [words for _, words in labels],
        "zeroline": False,
        "automargin": True,
        "ticklabelstandoff": 4,
    }


def _bars(ends: Sequence[tuple[float, float]]) -> list[tuple[tuple[float, float], float]]:
    """Each bar, from the left, with a height under the axis at which it meets no other one."""
    reached: list[float] = []  # the end of the last bar at each height
    placed = []
    for left, right in ends:
        free = next((level for level, end in enumerate(reached) if end < left), len(reached))
        reached[free : free + 1] = [right]
        placed.append(((left, right), -0.45 * (free + 1)))
    return placed


def _stroke(
    figure: go.Figure, x: Sequence[float], y: Sequence[float], *, line: Mapping[str, object], axis: str = "y"
) -> None:
    figure.add_scatter(x=list(x), y=list(y), yaxis=axis, mode="lines", line=dict(line), hoverinfo="skip")


def _ruler(figure: go.Figure, last: int, *, dark: bool) -> None:
    """The line of ranks with its numbers."""
    page = theme.paper(dark)
    _stroke(figure, [1, last], [0, 0], line={"width": 1.5, "color": page.text})
    ranks = list(range(1, last + 1))
    figure.add_scatter(
        x=ranks,
        y=[0.6] * last,
        mode="text",
        text=[str(rank) for rank in ranks],
        textfont={"size": 13, "color": page.secondary},
        hoverinfo="skip",
    )


def _difference_bar(figure: go.Figure, length: float | None, *, dark: bool) -> None:
    """The critical difference as a bar of its length, with its name."""
    if length is None:
        return
    page = theme.paper(dark)
    end = 1 + length
    shape = [1.5, 1.9, 1.7, 1.7, 1.5, 1.9]  # a line between two serifs
    _stroke(figure, [1, 1, 1, end, end, end], shape, line={"width": 2, "color": page.text})
    figure.add_annotation(
        x=end,
        y=1.7,
        text=f"critical difference {length:.2f}: systems closer than this cannot be told apart",
        xanchor="left",
        xshift=8,
        showarrow=False,
        font={"size": 13, "color": page.text},
    )


def _rank_marks(figure: go.Figure, ranked: Sequence[tuple[SystemLabel, float]], *, n: int, dark: bool) -> None:
    figure.add_scatter(
        x=[rank for _, rank in ranked],
        y=[0] * len(ranked),
        mode="markers",
        marker={
            "size": 11,
            "color": [theme.system_colour(label, dark=dark) for label, _ in ranked],
            "symbol": [theme.system_symbol(label) for label, _ in ranked],
        },
        hovertext=[
            f"<b>{theme.plain(label.title)}</b><br>average rank {rank:.4f}<br>n = {n:,} queries"
            for label, rank in ranked
        ],
        hoverinfo="text",
    )
