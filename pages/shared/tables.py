"""Tables, language badges and the page's own style; every text is escaped, none is cut."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from analysis.charts import theme
from analysis.views.selection import Interval, SystemLabel


class Markup(str):
    """HTML that was escaped where it was made."""

    __slots__ = ()


Cell = str | Markup

STYLE = """<style>
.bs {{ --text: {text}; --grey: {secondary}; --line: {lines}; --panel: {panel}; --accent: {accent}; color: {text}; }}
.bs p {{ margin: 0; }}
.bs-takeaway {{ font-size: 1.12rem; line-height: 1.5; max-width: 68rem; }}
.bs-grey {{ color: {secondary}; font-size: .92rem; line-height: 1.5; max-width: 76rem; }}
.bs-scroll {{ overflow-x: auto; }}
.bs table {{ border-collapse: collapse; width: 100%; font-size: .95rem; line-height: 1.4; margin: 0; }}
.bs th, .bs td {{ text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0; border: 0; border-bottom: 1px solid var(--line); }}
.bs th {{ font-weight: 400; color: var(--grey); font-size: .88rem; vertical-align: bottom; border-bottom: 1.5px solid var(--grey); }}
.bs .n {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-left: .7rem; padding-right: .2rem; }}
.bs tr.group th {{ color: var(--grey); font-size: .88rem; padding-top: .9rem; border-bottom: 1px solid var(--line); }}
.bs .soft {{ color: var(--grey); font-size: .84rem; }}
.bs .grey {{ color: var(--grey); }}
.bs .flag {{ color: var(--grey); font-size: .84rem; border: 1px solid var(--line); border-radius: .3rem; padding: 0 .35rem; white-space: nowrap; }}
.bs .chip {{ display: inline-block; width: .62rem; height: .62rem; margin-right: .45rem; border-radius: .1rem; }}
.bs .badge {{ font-size: .78rem; letter-spacing: .04em; border-left: .22rem solid; padding-left: .32rem; margin-right: .5rem; color: var(--grey); white-space: nowrap; }}
.bs .token {{ display: inline-block; border: 1px solid var(--line); border-radius: .3rem; padding: 0 .35rem; margin: 0 .25rem .25rem 0; font-size: .9rem; }}
.bs .found {{ font-weight: 600; }}
.bs .rank {{ display: inline-block; min-width: 3.1rem; text-align: right; padding: .05rem .4rem; border-radius: .25rem; }}
.bs a {{ color: var(--accent); white-space: nowrap; }}
[data-testid="stSidebar"] .bs h1 {{ font-size: 1.25rem; font-weight: 600; margin: 0; padding: 0; }}
[data-testid="stMainBlockContainer"] {{ padding-left: 3.2rem; padding-right: 3.2rem; max-width: 88rem; }}
[data-testid="stMain"] h1 {{ padding-bottom: 0; }}
</style>"""


def style(dark: bool) -> None:
    """Put the style of takeaways, captions, tables and badges on the page."""
    page = theme.paper(dark)
    st.html(STYLE.format(**vars(page)))


def show(markup: Markup, *, width: str | int = "stretch") -> None:
    """Put markup on the page."""
    st.html(f'<div class="bs">{markup}</div>', width=width)  # type: ignore[arg-type]


def escaped(text: str, *, language: str | None = None) -> Markup:
    """Corpus or user text in its own direction and script."""
    tag = f' lang="{html.escape(language)}"' if language else ""
    return Markup(f'<span dir="auto"{tag}>{html.escape(text)}</span>')


def badge(language: str, *, dark: bool) -> Markup:
    """A language as a small tag with its fixed colour on the left."""
    colour = theme.language_colour(language, dark=dark)
    return Markup(f'<span class="badge" style="border-color:{colour}">{html.escape(language)}</span>')


def passage(text: str, *, language: str, dark: bool) -> Markup:
    """A text with the badge of its language before it."""
    return Markup(badge(language, dark=dark) + escaped(text, language=language))


def chip(label: SystemLabel, *, dark: bool) -> Markup:
    """A system's short name with its fixed colour before it."""
    colour = theme.system_colour(label, dark=dark)
    return Markup(
        f'<span class="chip" style="background:{colour}"></span><span title="{html.escape(label.title)}">{html.escape(label.short)}</span>'
    )


def rank(place: int | None, *, beyond: int, dark: bool, shaded: bool = False) -> Markup:
    """A rank; grey beyond the depth of the ranking; on ink where asked, the deeper the nearer to the top."""
    if place is None:
        return Markup(f'<span class="grey">&gt; {beyond:,}</span>')
    if not shaded:
        return Markup(f"{place:,}")
    share = nearness(place)
    page = theme.paper(dark)
    text = page.on_ink if share > 0.55 else page.text
    return Markup(
        f'<span class="rank" style="background:{theme.colour_at(theme.ink(dark), share)};color:{text}">{place:,}</span>'
    )


def nearness(place: int) -> float:
    """How deep the ink of a rank is: 1 at rank 1, falling by a quarter with every factor of ten."""
    factor = len(str(place)) - 1 + (place / 10 ** (len(str(place)) - 1) - 1) / 9
    return max(0.0, 1 - factor / 4)


def spread(interval: Interval | None, *, percent: bool = False) -> Markup:
    """A value over its interval; the hover has four decimals, the other mean, the ceiling and n. Blank where undefined."""
    if interval is None or interval.value is None:
        return Markup("")
    digits = "{:.2f}"
    below = ""
    if interval.low is not None and interval.high is not None:
        below = f'<br><span class="soft">{digits.format(interval.low)}–{digits.format(interval.high)}</span>'
    return Markup(
        f'<span title="{html.escape(_details(interval, percent=percent))}">{digits.format(interval.value)}{below}</span>'
    )


def _details(interval: Interval, *, percent: bool) -> str:
    parts = [f"{interval.value:.4f}{' %' if percent else ''} ({interval.aggregate} mean)"]
    if interval.other_mean is not None:
        other = "balanced" if interval.aggregate == "pooled" else "pooled"
        parts.append(f"{other} mean {interval.other_mean:.4f}")
    if interval.ceiling is not None:
        parts.append(f"ceiling {interval.ceiling:.4f}")
    if interval.low is not None and interval.high is not None:
        parts.append(f"{interval.level:.0%} interval {interval.low:.4f} to {interval.high:.4f} ({interval.method})")
    return "; ".join([*parts, f"n = {interval.n:,}"])


def table(columns: Mapping[str, str], rows: Iterable[Sequence[Cell] | str], *, caption: str = "") -> Markup:
    """An HTML table.

    Args:
        columns: heading -> "text" or "number"; a number column is aligned right.
        rows: one cell a column, plain text is escaped; a bare string is the name of a group of the rows below it.
        caption: for screen readers.
    """
    kinds = ["n" if kind == "number" else "" for kind in columns.values()]
    head = "".join(
        f'<th scope="col" class="{kind}">{html.escape(name)}</th>' for name, kind in zip(columns, kinds, strict=True)
    )
    body = "".join(_row(row, kinds) for row in rows)
    label = f' aria-label="{html.escape(caption)}"' if caption else ""
    return Markup(
        f'<div class="bs-scroll"><table{label}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _row(row: Sequence[Cell] | str, kinds: Sequence[str]) -> str:
    if isinstance(row, str):
        return f'<tr class="group"><th scope="rowgroup" colspan="{len(kinds)}">{html.escape(row)}</th></tr>'
    cells = (cell if isinstance(cell, Markup) else html.escape(cell) for cell in row)
    return (
        "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for cell, kind in zip(cells, kinds, strict=True)) + "</tr>"
    )


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Rows as CSV in UTF-8 with a byte order mark, which spreadsheets need for other scripts; None is empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return out.getvalue().encode("utf-8-sig")
