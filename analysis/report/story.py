"""The demo told on paper: one question in two languages, what is found, what is missed, how often, and what helps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from analysis.report.blocks import Block, Grey, Number, Row, Section, Table
from analysis.report.scope import STORY, by_task, reason, refused
from analysis.store.read import Store
from analysis.views import story, story_words
from analysis.views.selection import Selection, Sentence, TaskLabel, capitalised
from analysis.views.story import FIRST, NEAR, Found, StoryView, Version

ENGLISH = story_words.English()
RIGHT = "✓ "
NONE = "nothing is listed"


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Clinician demo*, as it opens.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    return Section("story", "Clinician demo", "Why should I care?", by_task(store, selection, _task))


def _task(store: Store, selection: Selection, label: TaskLabel) -> Iterator[Block]:
    asked = selection._replace(tasks=(label.name,))
    words = refused(label, STORY) or story.untold(store, asked)
    if words:
        yield reason(words)
        return
    (told,) = story.page(store, asked)
    asks, again, finds, misses, how_often, helps = story_words.steps(ENGLISH, told)
    yield Sentence(asks, told.first.text)
    yield Sentence(again, told.second.text)
    yield Sentence(finds, misses)
    yield Grey(story_words.source(ENGLISH, told, live=False))
    yield results(told)
    yield Sentence(how_often, "")
    yield counts(told)
    yield Sentence(helps, story_words.second_look(ENGLISH, told))


def results(told: StoryView) -> Table:
    """The first results of both versions side by side; a tick is right."""
    columns = {"Result": "number"} | {_asked(version): "passage" for version in (told.first, told.second)}
    pairs = itertools.zip_longest(map(_told, told.first.first), map(_told, told.second.first))
    rows: tuple[Row, ...] = tuple(
        [Number(place, 0), *(found or (NONE if place == 1 else "") for found in pair)]
        for place, pair in enumerate(pairs, start=1)
    )
    return Table(f"The first {FIRST} results; {RIGHT.strip()} marks a right one", columns, rows)


def _asked(version: Version) -> str:
    return f"Asked {story_words.in_language(ENGLISH, version.language)}"


def _told(found: Found) -> str:
    return f"{RIGHT if found.right else ''}{found.text}"


def counts(told: StoryView) -> Table:
    """How often a question finds an answer, language by language."""
    deep = f"In the first {told.deep}"
    columns = {"Asked in": "text", f"Answer in the first {NEAR}": "number"}
    columns |= {deep: "number"} if told.deep > NEAR else {}
    rows: tuple[Row, ...] = tuple(
        [
            capitalised(ENGLISH.language(count.language)),
            count.near,
            *([count.deep] if told.deep > NEAR else []),
        ]
        for count in told.counts
    )
    return Table("Share of questions that find an answer", columns, rows)
