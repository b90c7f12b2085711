"""Tables, language badges and the page's own style; every text is escaped, none is cut."""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import streamlit as st

from analysis.charts import theme
from analysis.views.delimited import write_csv
from analysis.views.selection import Interval, SystemLabel


class Markup(str):
    """HTML that was escaped where it was made."""

    __slots__ = ()


Cell = str | Markup
Width = Literal["stretch", "content"]

DIRECTION = ' dir="auto"'
"""The text stands in the direction of its own script."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a formula of a spreadsheet begins with."""


def style(dark: bool) -> None:
    """Put on the page what its style sheet cannot know: the colours of the theme in force."""
    accent, light, black = (theme.paper(which).accent for which in (dark, False, True))
    st.html(
        f"<style>:root {{ --bs-accent: {accent}; }}"
        f" @supports (color: light-dark(red, red)) {{ :root {{ --bs-accent: light-dark({light}, {black}); }} }}</style>"
    )
    if dark:  # on white paper light text would be lost
        chart = '[data-testid="stPlotlyChart"] { filter: invert(1) hue-rotate(180deg); }'
        st.html(f"<style>@media print {{ {chart} }}</style>")


def show(markup: Markup, *, width: Width = "stretch") -> None:
    """Put markup on the page."""
    st.html(f'<div class="bs">{markup}</div>', width=width)


def escaped(text: str, *, language: str | None = None) -> Markup:
    """Corpus or user text in its own direction and script."""
    tag = f' lang="{html.escape(language)}"' if language else ""
    return Markup(f'<span dir="auto"{tag}>{html.escape(text)}</span>')


def literal(text: str) -> str:
    """A text for what reads Markdown, in which it stays a text: no link, picture, directive, formula or HTML."""
    return re.sub(r"([\\\[\]<`*$~]|:(?=\w)|(?<!\w)_|_(?!\w))", r"\\\1", text)


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
    name = f'<span title="{html.escape(label.title)}" dir="auto">{html.escape(label.short)}</span>'
    return Markup(f'<span class="chip" style="background:{colour}"></span>{name}')


def rank(place: int | None, *, beyond: int) -> Markup:
    """A rank; grey beyond the depth of the ranking."""
    if place is None:
        return Markup(f'<span class="grey">&gt; {beyond:,}</span>')
    return Markup(f"{place:,}")


def inked_rank(place: int, *, last: int, dark: bool) -> Markup:
    """A rank on ink, the deeper the nearer to the top on a log scale: none at the last place."""
    share = 1 - math.log10(place) / math.log10(max(last, 10))
    return _on_ink(f"{place:,}", share, dark=dark)


def inked_share(share: float, *, dark: bool, words: str = "") -> Markup:
    """A share on ink: the more, the deeper; the hover has the words, or four decimals."""
    hover = html.escape(words or f"{share:.4f}")
    return Markup(f'<span title="{hover}">{_on_ink(f"{share:z.2f}", share, dark=dark)}</span>')


def bar(share: float) -> Markup:
    """A bar from 0 to the share of its room, in grey where the share is below 0."""
    kind = "bar below" if share < 0 else "bar"
    return Markup(
        f'<span class="room"><span class="{kind}" style="width:{100 * min(abs(share), 1):.1f}%"></span></span>'
    )


def _on_ink(words: str, share: float, *, dark: bool) -> Markup:
    ink = theme.colour_at(theme.ink(dark), share)
    colours = f"background:{ink};color:{theme.text_on(ink)}"
    return Markup(f'<span class="rank" style="{colours}">{html.escape(words)}</span>')


def spread(found: Interval | None, label: str) -> Markup:
    """A value over its interval, blank where undefined; the hover has four decimals, the other mean, ceiling and n."""
    if found is None or found.value is None:
        return Markup("")
    between = ""
    if found.low is not None and found.high is not None:
        to = "–" if found.low >= 0 else " to "
        between = f'<br><span class="soft">{signed(found.low)}{to}{signed(found.high)}</span>'
    return Markup(f'<span title="{html.escape(_details(found, label))}">{signed(found.value)}{between}</span>')


def signed(value: float | None) -> str:
    """Two decimals with a real minus sign; what rounds to 0 has no sign; blank where there is none."""
    return "" if value is None else f"{value:z.2f}".replace("-", "−")


def p_value(p: float | None) -> str:
    """A p with three decimals; blank where there is none."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _details(found: Interval, label: str) -> str:
    parts = [f"{label} {found.value:.4f} ({found.aggregate} mean)"]
    if found.other_mean is not None:
        parts.append(f"{'balanced' if found.aggregate == 'pooled' else 'pooled'} mean {found.other_mean:.4f}")
    if found.ceiling is not None:
        parts.append(f"ceiling {found.ceiling:.4f}")
    if found.low is not None and found.high is not None:
        parts.append(f"{found.level:.0%} interval {found.low:.4f} to {found.high:.4f} ({found.method})")
    return "; ".join([*parts, f"n = {found.n:,}"])


def table(
    columns: Mapping[str, str] | Sequence[tuple[Cell, str]],
    rows: Iterable[Sequence[Cell] | str],
    *,
    groups: Sequence[tuple[Cell, int]] = (),
    caption: str = "",
    style: str = "",
) -> Markup:
    """An HTML table.

    Args:
        columns: heading -> "text", "passage" (a column that keeps room for sentences), "stamp" (a time, in one
            line) or "number" (aligned right); pairs where a heading occurs twice.
        rows: one cell a column, plain text is escaped; a bare string is the name of a group of the rows below it.
        groups: names of columns that belong together with their number, above the headings; empty for none.
        caption: for screen readers.
        style: a class of the style sheet.
    """
    pairs: Sequence[tuple[Cell, str]] = list(columns.items()) if isinstance(columns, Mapping) else columns
    kinds = [kind for _, kind in pairs]
    head = "".join(_heading(name, kind) for name, kind in pairs)
    above = "".join(_heading(name, "", span) for name, span in groups)
    over = f'<tr class="over">{above}</tr>' if groups else ""
    body = "".join(_row(row, kinds) for row in rows)
    label = f' aria-label="{html.escape(caption)}"' if caption else ""
    head = f"<thead>{over}<tr>{head}</tr></thead>"
    return Markup(f'<div class="scroll {style}"><table{label}>{head}<tbody>{body}</tbody></table></div>')


def by_language(
    heads: Sequence[str], rows: Iterable[Sequence[str | int]], *, caption: str, dark: bool, style: str = "narrow"
) -> Markup:
    """A table with a language in front of each row.

    Args:
        heads: what the columns behind the language are called.
        rows: the tag of a language, then numbers; a 0 is left blank, and words stay as they are.
        caption: for screen readers.
        dark: for the badges.
        style: a class of the style sheet.
    """
    cells: list[Sequence[Cell]] = [
        [badge(str(tag), dark=dark), *(_counted(number) for number in numbers)] for tag, *numbers in rows
    ]
    return table({"Language": "text"} | dict.fromkeys(heads, "number"), cells, caption=caption, style=style)


def _counted(number: str | int) -> str:
    if isinstance(number, str):
        return number
    return f"{number:,}" if number else ""


def _heading(name: Cell, kind: str, span: int = 0) -> str:
    """A column's heading, or that of a few; one without words is no heading to a screen reader."""
    over = f' colspan="{span}"' if span else ""
    if not name:
        return f'<td class="{kind}"{over}></td>'
    return f'<th scope="{"colgroup" if span else "col"}" class="{kind}"{over} dir="auto">{_inline(name)}</th>'


def _row(row: Sequence[Cell] | str, kinds: Sequence[str]) -> str:
    if isinstance(row, str):
        return f'<tr class="group"><th scope="rowgroup" colspan="{len(kinds)}" dir="auto">{html.escape(row)}</th></tr>'
    return "<tr>" + "".join(_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)) + "</tr>"


def _cell(cell: Cell, kind: str) -> str:
    if isinstance(cell, Markup):
        return f'<td class="{kind}">{cell}</td>'
    return f'<td class="{kind}"{"" if kind == "number" else DIRECTION}>{html.escape(cell)}</td>'


def _inline(cell: Cell) -> str:
    return cell if isinstance(cell, Markup) else html.escape(cell)


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Rows as CSV for spreadsheets: UTF-8 with a byte order mark, which they need for other scripts; None is empty.

    A text that a spreadsheet would take for a formula begins with an apostrophe; numbers stay as they are.
    """
    out = io.StringIO(newline="")
    write_csv(out, ([_inert(value) for value in row] for row in (header, *rows)))
    return out.getvalue().encode("utf-8-sig")


def _inert(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
