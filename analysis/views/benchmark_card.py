"""The whole card of a benchmark in Markdown, for an appendix or a hub."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from analysis.text import capitalised, counted
from analysis.views import parallel_documents, tagging, training, translation_quality
from analysis.views import separation as apart
from analysis.views.data import COUNTED_AS, Card, TaskCard
from analysis.views.heterogeneity import Balance, LanguageTexts, TaskTexts
from analysis.views.markdown_table import table
from analysis.views.selection import language_name
from analysis.views.separation import Pair, Separation, Side
from analysis.views.training import Training, TrainingTexts

USE = "For research on retrieval. Not for clinical decisions."


def markdown(card: Card) -> str:
    """All that the card says."""
    return "\n".join(_lines(card)).rstrip() + "\n"


def _lines(card: Card) -> Iterator[str]:
    label = card.benchmark
    yield f"# {_plain(label.title)} ({_plain(label.version)})\n"
    yield f"**{_plain(card.takeaway.bold)}** {_plain(card.takeaway.rest)}\n"
    if card.tasks:
        yield "## Size\n"
        yield from _sizes(card.tasks)
        for texts in card.texts:
            yield from _texts(texts)
        yield f"{COUNTED_AS}\n"
    if card.separation:
        yield "## Separation\n"
        yield from _separation(card.separation)
    yield "## Against training files\n"
    yield from _trainings(card.trainings)
    for task in card.tasks:
        yield from _reports(task)
    yield "## Source, licence and limits\n"
    yield f"- Source: {_plain(label.source)}\n- Licence: {_plain(label.licence)}"
    yield from (f"- {_plain(note)}" for note in label.notes)
    yield f"- {USE}"


def _reports(task: TaskCard) -> Iterator[str]:
    """What the programs that built a task have to report."""
    title = _plain(task.task.title)
    if task.tagging:
        yield tagging.markdown(task.tagging, title=f"{title}: {tagging.TITLE}")
    if task.translations:
        yield translation_quality.markdown(task.translations, title=f"{title}: {translation_quality.TITLE}")
    if task.documents:
        yield parallel_documents.markdown(task.documents, title=f"{title}: {parallel_documents.TITLE}")


def _sizes(tasks: Sequence[TaskCard]) -> Iterator[str]:
    header = ("Task", "Documents", "Queries", "Query families", "Judgements", "Relevant", "Cross-language")
    rows = []
    for task in tasks:
        numbers = (task.task.n_documents, task.task.n_queries, task.n_families, task.n_judgements, task.n_relevant)
        rows.append([_plain(task.task.title), *(f"{n:,}" for n in (*numbers, task.n_cross_language))])
    yield from table(header, rows)
    yield ""


def _texts(task: TaskTexts) -> Iterator[str]:
    if not task.rows:
        return
    yield f"### {_plain(task.task.title)}: texts by language\n"
    header = ("Texts", "Language", "n", "Share", "Words ± sd", "Median", "Vocabulary", "Type/token", ACROSS, "Scripts")
    yield from table(header, map(text_cells, task.rows), words=(0, 1, 9))
    yield ""
    for balance in task.balances:
        yield f"- {balanced(balance)}"
    yield ""


def balanced(found: Balance) -> str:
    """How evenly texts are spread over languages, in a sentence."""
    spoken = f"{ITEMS[found.item]} are in {counted(found.n_languages, 'language')}"
    if found.n_languages == 1:
        return f"{spoken}, {language_name(found.largest)}."
    even = f"entropy {found.entropy:.2f} of {math.log2(found.n_languages):.2f} bits"
    if found.largest_share == found.smallest_share:
        return f"{spoken}, as many in each ({even})."
    largest = f"most in {language_name(found.largest)} ({found.largest_share:.2f})"
    return f"{spoken}, {largest}, fewest in {language_name(found.smallest)} ({found.smallest_share:.2f}; {even})."


ACROSS = "Answers in another language"
"""Of the relevant pairs of queries."""

ITEMS = {"query": "Queries", "document": "Documents"}


def text_cells(found: LanguageTexts) -> list[str]:
    """One row of the table of texts."""
    spread = "" if found.words.deviation is None else f" ± {found.words.deviation:.1f}"
    return [
        ITEMS[found.item],
        "all" if found.language is None else found.language,
        f"{found.words.n:,}",
        f"{found.share:.2f}",
        f"{found.words.mean:.1f}{spread}",
        f"{found.words.median:g}",
        f"{found.vocabulary:,}",
        "" if found.type_token is None else f"{found.type_token:.2f}",
        f"{found.answers.cross_language:,} of {found.answers.relevant:,}" if found.answers else "",
        scripts(found),
    ]


def scripts(found: LanguageTexts) -> str:
    """Scripts with a hundredth of the letters or more."""
    return ", ".join(f"{name} {share:.2f}" for name, share in found.scripts if share >= 0.005)


def _separation(found: Separation) -> Iterator[str]:
    yield f"**{_plain(found.takeaway.bold)}** {_plain(found.takeaway.rest)}\n"
    if found.note and found.note != found.takeaway.bold:
        yield f"{found.note}\n"
    if not found.pairs:
        return
    names = [apart.KINDS[kind] for kind in found.kinds]
    header = [capitalised(found.between), *names, "Near-duplicate queries"]
    yield from table(header, (pair_cells(pair, found) for pair in found.foremost))
    yield f"\n{apart.legend(found)}\n"
    if left := left_out(found):
        yield f"{left}\n"
    yield "Jaccard of the vocabularies:\n"
    sides = [_plain(apart.side_name(side)) for side in found.drawn]
    yield from table(["", *sides], (_jaccards(found, side) for side in found.drawn))
    yield ""


def _jaccards(found: Separation, side: Side) -> list[str]:
    values = (found.jaccard(side, other) for other in found.drawn)
    return [_plain(apart.side_name(side)), *("" if value is None else f"{value:.2f}" for value in values)]


def left_out(found: Separation) -> str:
    """What of many parts is not shown, in a sentence; empty where all is."""
    parts = []
    if len(found.foremost) < len(found.pairs):
        parts.append(f"the {len(found.foremost):,} of {len(found.pairs):,} pairs that share most")
    if len(found.drawn) < len(found.sides):
        parts.append(f"{len(found.drawn):,} of {len(found.sides):,} vocabularies")
    return f"Shown are {' and '.join(parts)}; the JSON has all." if parts else ""


def pair_cells(pair: Pair, found: Separation) -> list[str]:
    """One row of the table of pairs; a blank where one of the two has nothing of the kind."""
    cells = [f"{_plain(pair.a)} and {_plain(pair.b)}"]
    for kind in found.kinds:
        shared = pair.of(kind)
        cells.append("" if shared is None else f"{shared.shared:,} of {shared.of_a:,} and {shared.of_b:,}")
    near = pair.near
    cells.append("" if near is None else f"{near.of_a:,} of {near.n_a:,} and {near.of_b:,} of {near.n_b:,}")
    return cells


def _trainings(found: Sequence[Training]) -> Iterator[str]:
    if not found:
        yield "It was looked for in no file.\n"
    for file in found:
        yield f"### {_plain(file.file)}\n\n**{_plain(file.takeaway.bold)}** {_plain(file.takeaway.rest)}\n"
        yield f"{file.caption}\n\nSHA-256: `{file.checksum}`\n"
        header = ("Task", "Texts", "Language", "n", *training.KINDS.values(), "Too short to be found inside")
        yield from table(header, map(_matches, file.texts), words=(0, 1, 2))
        yield ""
        for concepts in file.concepts:
            yield f"{_plain(concepts.task)}: {concepts.found:,} of {concepts.n:,} concepts occur."
        yield f"\n{training.HOW}\n"


def _matches(texts: TrainingTexts) -> list[str]:
    return [_plain(texts.task), ITEMS[texts.item], texts.language, *(f"{n:,}" for n in texts.counts)]


def _plain(text: str) -> str:
    """A text as Markdown shows it letter by letter."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in text)
    return " ".join(escaped.split())
