"""The picture of each step, as plain HTML in which every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from analysis.charts import theme
from analysis.views import story_words
from analysis.views.selection import Interval
from analysis.views.story import FIRST, Count, Found, Missed, StoryView, Version
from pages.shared import interface, tables
from pages.shared.interface import say, say_counted
from pages.shared.tables import Markup

MOST_MISSED = 4
MOST_LANGUAGES = 8
MOST_COMPARED = 6
COLUMNS = 50  # of dots, two in each
TEXT_SIZES = ((170, "large"), (420, "medium"), (900, "small"))
"""Up to how wide a text, in letters, it is set in which size; what is longer is set smallest."""


def pictures(told: StoryView, *, dark: bool) -> tuple[Callable[[], Markup], ...]:
    """What draws each step."""
    return (
        lambda: _side_by_side([_question(told.first, alone=True, dark=dark)]),
        lambda: _side_by_side([_question(version, alone=False, dark=dark) for version in (told.first, told.second)]),
        lambda: _both_lists(told, dark=dark),
        lambda: _missed(told.second, dark=dark),
        lambda: _how_often(told),
        lambda: _what_helps(told),
    )


def _side_by_side(columns: Sequence[str]) -> Markup:
    return Markup(f'<div class="columns">{"".join(columns)}</div>')


def _both_lists(told: StoryView, *, dark: bool) -> Markup:
    lists = _side_by_side([_results(version, dark=dark) for version in (told.first, told.second)])
    legend = say("The first {n} results: ✓ right, × not right", n=FIRST)
    return Markup(f'{lists}<p class="legend">{tables.escaped(legend)}</p>')


def _tongue(language: str, *, dark: bool) -> str:
    colour = theme.language_colour(language, dark=dark)
    name = tables.escaped(interface.own_name(language), language=language)
    return f'<div class="tongue" style="border-color:{colour}">{name}</div>'


def _size(text: str, *, alone: bool) -> str:
    width = sum(2 if ord(letter) > 0x2E7F else 1 for letter in text) * (1 if alone else 1.6)
    return next((size for most, size in TEXT_SIZES if width <= most), "smallest")


def _question(version: Version, *, alone: bool, dark: bool) -> str:
    words = tables.escaped(version.text, language=version.language)
    return (
        f'<div class="column">{_tongue(version.language, dark=dark)}'
        f'<p class="asked {_size(version.text, alone=alone)}">{words}</p></div>'
    )


def _results(version: Version, *, dark: bool) -> str:
    rows = "".join(_result(found, dark=dark) for found in version.first)
    nothing = tables.escaped(say("Nothing was found."))
    listed = f"<ol>{rows}</ol>" if rows else f'<p class="nothing">{nothing}</p>'
    return f'<div class="column">{_tongue(version.language, dark=dark)}{listed}</div>'


def _result(found: Found, *, dark: bool) -> str:
    kind, sign, words = ("right", "✓", say("right")) if found.right else ("wrong", "×", say("not right"))
    badge = tables.badge(found.language, dark=dark)
    return (
        f'<li class="{kind}"><span class="sign" title="{html.escape(words)}">{sign}</span>'
        f"{badge}{_short(found.text, language=found.language)}</li>"
    )


def _short(text: str, *, language: str) -> str:
    """Two lines of a text; the rest with the pointer or the tab key on it."""
    words = tables.escaped(text, language=language)
    return f'<span class="short" tabindex="0" title="{html.escape(text)}">{words}</span>'


def _missed(version: Version, *, dark: bool) -> Markup:
    rows = "".join(_miss(one, dark=dark) for one in version.missed[:MOST_MISSED])
    left = len(version.missed) - MOST_MISSED
    more = say_counted("and {n} more", "and {n} more", left) if left > 0 else ""
    return Markup(f'<div class="missed">{rows}<p class="more">{tables.escaped(more)}</p></div>')


def _miss(missed: Missed, *, dark: bool) -> str:
    badge = tables.badge(missed.language, dark=dark)
    return f'<div class="miss">{_pager(missed.rank)}{badge}{_short(missed.text, language=missed.language)}</div>'


def _pager(rank: int | None) -> str:
    """The foot of a search engine's page, with the page that the answer is on."""
    if rank is None:
        gone = tables.escaped(say("not listed"))
        return f'<div class="pager"><span class="gone">{gone}</span></div>'
    page = story_words.page_of(rank)
    before = range(1, page) if page <= 5 else range(1, 4)
    pages = "".join(f"<span>{one}</span>" for one in before) + ('<span class="gap">…</span>' if page > 5 else "")
    label = html.escape(say("page {page}", page=page))
    return f'<div class="pager" role="img" aria-label="{label}">{pages}<b>{interface.number(page)}</b></div>'


def _shown(told: StoryView, most: int) -> list[Count]:
    """The languages that are drawn: all, or the two of the story and those that do best and worst."""
    if len(told.counts) <= most:
        return list(told.counts)
    two = [count for count in told.counts if count.language in {told.first.language, told.second.language}]
    rest = sorted((count for count in told.counts if count not in two), key=lambda count: count.near.value or 0)
    some = (most - 2) // 2
    kept = [*two, *rest[:some], *rest[-some:]]
    return [count for count in told.counts if count in kept]


def _left_out(told: StoryView, shown: Sequence[Count]) -> str:
    if len(shown) == len(told.counts):
        return ""
    return say("{n} of {all} languages: these two, the best and the worst", n=len(shown), all=len(told.counts))


def _how_often(told: StoryView) -> Markup:
    shown = _shown(told, MOST_LANGUAGES)
    two = {told.first.language, told.second.language}
    rows = "".join(
        f'<div class="of-100 {"told" if count.language in two else ""}">{_name(count.language)}'
        f"{_dots(count.near)}{_figure(count.near)}</div>"
        for count in shown
    )
    legend = interface.sentences(
        say("One dot is one question of a hundred; the line is the 95 % interval."), _left_out(told, shown)
    )
    return Markup(f'<div class="rows">{rows}<p class="legend">{tables.escaped(legend)}</p></div>')


def _name(language: str) -> str:
    return f'<div class="name">{tables.escaped(interface.language(language))}</div>'


def _figure(share: Interval) -> str:
    low, high = (round(100 * (end or 0)) for end in (share.low, share.high))
    between = f'<span class="between">{low}–{high}</span>'
    return f'<div class="figure"><b>{story_words.of_100(share)}</b>{between}</div>'


def _dots(near: Interval, *, plain: bool = False) -> str:
    """A hundred dots in columns of two, inked as far as was found, with the interval as a line below."""
    filled = f'<span class="{"plain" if plain else "ink"}" style="clip-path:{_clip(near)}"></span>'
    low, high = 100 * (near.low or 0), 100 * (near.high or 0)
    line = f'<span class="interval" style="left:{low:.2f}%;width:{high - low:.2f}%"></span>'
    label = html.escape(say("{n} of 100", n=story_words.of_100(near)))
    return f'<div class="dots" role="img" aria-label="{label}"><span class="none"></span>{filled}{line}</div>'


def _clip(share: Interval) -> str:
    """The outline of so many dots of a hundred, column by column from the left."""
    columns, half = divmod(story_words.of_100(share), 2)
    edge, step = 100 * columns / COLUMNS, 100 / COLUMNS
    if not half:
        return f"inset(0 {100 - edge:g}% 0 0)"
    return f"polygon(0 0,{edge + step:g}% 0,{edge + step:g}% 50%,{edge:g}% 50%,{edge:g}% 100%,0 100%)"


def _what_helps(told: StoryView) -> Markup:
    shown = _shown(told, MOST_COMPARED)
    other = told.help.performer if told.help else None
    rows = []
    for count in shown:
        theirs = other.by_language[count.language] if other else None
        lines = _dots(count.near, plain=True) + _plain(count.near)
        if theirs:
            lines += f'{_dots(theirs)}<div class="figure"><b>{story_words.of_100(theirs)}</b></div>'
        rows.append(f'<div class="pair">{_name(count.language)}<div class="lines">{lines}</div></div>')
    legend = _key("plain", told.system.short) + (_key("ink", other.system.short) if other else "")
    second = tables.escaped(story_words.second_look(interface, told))
    left_out = tables.escaped(_left_out(told, shown))
    return Markup(
        f'<div class="rows compared"><p class="legend">{legend}{left_out}</p>{"".join(rows)}'
        f'<p class="second">{second}</p></div>'
    )


def _plain(share: Interval) -> str:
    return f'<div class="figure">{story_words.of_100(share)}</div>'


def _key(kind: str, words: str) -> str:
    return f'<span class="key"><span class="dot {kind}"></span>{tables.escaped(words)}</span>'
