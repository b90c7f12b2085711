"""Which languages a page shows: all of a task, or those that the reader picks where they are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from analysis.errors import InputError
from analysis.languages import language_name, script_name, together
from analysis.store.read import Store
from analysis.views.evidence import chosen_tasks, languages_in_order
from analysis.views.selection import Selection

MOST = 12
"""More languages than these do not fit a page: the reader picks, and colours tell scripts instead of languages."""


class LanguageLabel(NamedTuple):
    """How a language is called, and how much of it there is."""

    tag: str
    name: str
    script: str | None  # English name, such as Cyrillic; None where the languages are few
    covered: tuple[int, int, int]  # queries, documents, published subsets in it


def offered(store: Store, selection: Selection) -> tuple[LanguageLabel, ...]:
    """The languages of the chosen tasks in the benchmark's order.

    Raises:
        InputError: an unknown benchmark or task.
    """
    queries: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    published: Counter[str] = Counter()
    order: dict[str, None] = {}
    for task in chosen_tasks(store, selection):
        asked = store.queries(task.task_id)
        queries.update(asked.language.tolist())
        documents.update(store.corpus_languages(task.task_id))
        published.update(published_languages(store, task.task_id))
        order |= dict.fromkeys([*languages_in_order(store, task, asked), *published])
    many = len(order) > MOST
    return tuple(
        LanguageLabel(
            tag,
            language_name(tag),
            script_name(tag) if many else None,
            (queries[tag], documents[tag], published[tag]),
        )
        for tag in order
    )


def published_languages(store: Store, task_id: int) -> dict[str, int]:
    """How many published subsets of a task, splits and systems counted apart, have each language, as it is written."""
    found = store.published_pairs(task_id)
    written = _written(found)
    counts: Counter[str] = Counter()
    for asked, answered, n in found:
        for tag in dict.fromkeys((asked, answered)):
            counts[written[tag]] += n
    return dict(counts)


def as_written(store: Store, task_id: int) -> dict[str, str]:
    """How each stored tag of a task's published figures is written: with its script where two of a language meet."""
    return _written(store.published_pairs(task_id))


def _written(pairs: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    return together({tag for asked, answered, _ in pairs for tag in (asked, answered)})


def most_covered(labels: Sequence[LanguageLabel]) -> tuple[str, ...]:
    """The tags a page opens with: all where they fit, else those of most queries, in the benchmark's order."""
    first = sorted(labels, key=lambda label: label.covered, reverse=True)[:MOST]
    return tuple(label.tag for label in labels if label in first)


def shown(known: Sequence[str], asked: Collection[str]) -> tuple[str, ...]:
    """The languages to show in the benchmark's order, or by script where they are many.

    Args:
        known: tags of a task in its order.
        asked: tags to show, also of other tasks; empty for all.

    Raises:
        InputError: none of those asked for is known.
    """
    some = tuple(tag for tag in known if not asked or tag in asked)
    if known and not some:
        raise InputError(f"languages {', '.join(asked)}: expected some of {', '.join(known)}")
    if len(some) <= MOST:
        return some
    groups: dict[str, list[str]] = {}
    for tag in some:
        groups.setdefault(script_name(tag), []).append(tag)
    return tuple(tag for members in groups.values() for tag in members)


def scripts(tags: Sequence[str]) -> tuple[str, ...]:
    """The script of each language where they are many, so that colours tell it; empty where they are few."""
    return tuple(script_name(tag) for tag in tags) if len(tags) > MOST else ()


def of_all(shown_tags: Sequence[str], known: Sequence[str]) -> str:
    """What a caption says where not all languages are shown; empty where they are."""
    return f"{len(shown_tags)} of {len(known)} languages shown" if len(shown_tags) < len(known) else ""
