"""Blocks as HTML; every text is escaped where it becomes markup."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from analysis.charts import theme
from analysis.report.blocks import (
    Block,
    Cell,
    Chart,
    Counts,
    Grey,
    Hash,
    Heading,
    Number,
    P,
    Row,
    Section,
    Table,
    basis,
    counts,
    p_words,
)
from analysis.views.selection import Interval, Sentence, SystemLabel

MINUS = "−"


def escaped(text: str) -> str:
    """A text in its own direction."""
    return f'<span dir="auto">{html.escape(text)}</span>'


def embedded(value: object) -> str:
    """JSON that no text inside can end: for a script element of a type that browsers do not run."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def section(found: Section, *, first: int) -> str:
    """A section with its question as the heading.

    Args:
        found: the section.
        first: the number of its first chart.
    """
    parts, number, above = [], first, ""
    for block in found.blocks:
        parts.append(_block(block, number, above=above))
        number += isinstance(block, Chart)
        above = block.words if isinstance(block, Heading) else above
    body = "\n".join(parts)
    return (
        f'<section id="{html.escape(found.name)}" aria-label="{html.escape(found.title)}">\n'
        f'<p class="page">{html.escape(found.title)}</p>\n<h2>{html.escape(found.question)}</h2>\n{body}\n</section>'
    )


def _block(block: Block, number: int, *, above: str) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escaped(block.words)}</h{block.level}>"
    if isinstance(block, Grey):
        return f'<p class="grey">{escaped(block.words)}</p>'
    if isinstance(block, Sentence):
        return f'<p class="takeaway"><strong>{escaped(block.bold)}</strong> {escaped(block.rest)}</p>'
    if isinstance(block, Chart):
        return _chart(block, number)
    return table(block.without_empty(), above=above)


def _chart(block: Chart, number: int) -> str:
    """Room for a figure, which a script draws."""
    alt = html.escape(block.alt)
    return (
        f'<figure aria-label="{alt}"><div class="chart" id="chart-{number}" role="img" aria-label="{alt}" '
        f'style="height:{int(block.light.layout.height)}px"></div></figure>'
    )


def table(found: Table, *, above: str = "") -> str:
    """A table with what its intervals rest on below; folded where it is long.

    Args:
        found: the table.
        above: the heading that it stands under: a title of the same words is not said twice.
    """
    known = counts(found)
    head = "".join(_heading(name, kind, known) for name, kind in found.columns.items())
    body = "\n".join(_row(row, found, known) for row in found.rows)
    rest = basis(found)
    title = "" if found.folded or found.title == above else f"<caption>{escaped(found.title)}</caption>"
    foot = f'<p class="grey">{html.escape(rest)}</p>' if rest else ""
    made = (
        f'<div class="scroll"><table aria-label="{html.escape(found.title)}">{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>{foot}"
    )
    if found.folded:
        return f"<details><summary>{escaped(found.title)}</summary>{made}</details>"
    return made


def _heading(name: str, kind: str, known: Counts) -> str:
    n = known.columns.get(name)
    below = "" if n is None else f'<br><span class="soft">n = {n:,}</span>'
    return f'<th scope="col" class="{kind}" dir="auto">{html.escape(name)}{below}</th>'


def _row(row: Row, found: Table, known: Counts) -> str:
    if isinstance(row, str):
        return f'<tr class="group"><th scope="rowgroup" colspan="{len(found.columns)}">{escaped(row)}</th></tr>'
    return f"<tr>{''.join(_cells(row, found, known))}</tr>"


def _cells(row: Sequence[Cell], found: Table, known: Counts) -> list[str]:
    said = known.whole is not None
    return [
        f'<td class="{kind}">{_cell(cell, name, n_is_said=said or name in known.columns)}</td>'
        for cell, (name, kind) in zip(row, found.columns.items(), strict=True)
    ]


def _cell(cell: Cell, heading: str, *, n_is_said: bool) -> str:
    if isinstance(cell, SystemLabel):
        return _chip(cell)
    if isinstance(cell, Interval):
        return _interval(cell, heading, n_is_said=n_is_said)
    if isinstance(cell, Number):
        return _number(cell)
    if isinstance(cell, P):
        return html.escape(p_words(cell))
    if isinstance(cell, Hash):
        return f'<code dir="auto">{html.escape(cell)}</code>'
    return escaped(cell) if cell else ""


def _chip(label: SystemLabel) -> str:
    light, dark = (theme.system_colour(label, dark=dark) for dark in (False, True))
    name = f'<span title="{html.escape(label.title)}" dir="auto">{html.escape(label.short)}</span>'
    return f'<span class="chip" style="--light:{light};--dark:{dark}"></span>{name}'


def _interval(found: Interval, heading: str, *, n_is_said: bool) -> str:
    """A value over its interval, blank where undefined; the hover has four decimals, the method and n."""
    if found.value is None:
        return ""
    soft, title = [], [f"{heading} {found.value:.4f} ({found.aggregate} mean)"]
    if found.low is not None and found.high is not None:
        between = "–" if found.low >= 0 else " to "
        soft.append(f"{signed(found.low)}{between}{signed(found.high)}")
        title.append(f"{found.level:.0%} interval {found.low:.4f} to {found.high:.4f} ({found.method})")
    if found.ceiling is not None:
        title.append(f"ceiling {found.ceiling:.4f}")
    title.append(f"n = {found.n:,}")
    if not n_is_said:
        soft.append(f"n = {found.n:,}")
    below = f'<br><span class="soft">{"<br>".join(soft)}</span>' if soft else ""
    return f'<span title="{html.escape("; ".join(title))}">{signed(found.value)}{below}</span>'


def _number(found: Number) -> str:
    if found.value is None:
        return ""
    shown = signed(found.value, digits=found.digits)
    return f'<span title="{found.value:,.4f}">{shown}</span>' if found.digits else shown


def signed(value: float, *, digits: int = 2) -> str:
    """A number with a minus sign that is as wide as a plus, and no negative zero."""
    return f"{value:z,.{digits}f}".replace("-", MINUS)
