"""What the benchmark is made of: sizes, languages, what its tasks share, what of it occurs in training files."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.charts import separation as charts
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, Number, Row, Section, Table, spoken
from analysis.store.read import Store
from analysis.views import benchmark_card as words
from analysis.views import data, separation, training
from analysis.views.data import Card
from analysis.views.selection import Selection
from analysis.views.separation import Separation
from analysis.views.training import Training


def section(store: Store, selection: Selection) -> Section:
    """The card of the page *Data and runs*, of all tasks.

    Raises:
        InputError: an unknown benchmark.
    """
    card = data.card(store, selection.benchmark)
    blocks: list[Block] = [card.takeaway]
    if card.tasks:
        blocks += [_sizes(card), *_texts(card)]
    if card.separation:
        blocks += [Heading("Separation", 3), *_separation(card.separation)]
    blocks += [Heading("Against training files", 3), *_trainings(card)]
    return Section("data", "Data and runs", "What is here, and how do I bring my own?", tuple(blocks))


def _sizes(card: Card) -> Table:
    names = ("Documents", "Queries", "Query families", "Judgements", "Relevant", "Cross-language", "Vocabulary")
    rows: list[Row] = []
    for task in card.tasks:
        numbers = [task.task.n_documents, task.task.n_queries, task.n_families, task.n_judgements, task.n_relevant]
        numbers += [task.n_cross_language, task.vocabulary]
        rows.append([task.task.title, *(Number(n, 0) for n in numbers)])
    return Table("What each task holds", {"Task": "text"} | dict.fromkeys(names, "number"), tuple(rows))


def _texts(card: Card) -> Iterator[Block]:
    columns = {"Texts": "text", "Language": "text"}
    columns |= dict.fromkeys(("n", "Share", "Words ± sd", "Median", "Vocabulary", "Type/token", words.ACROSS), "number")
    columns |= {"Scripts": "text"}
    for task in card.texts:
        if task.rows:
            rows = tuple(words.text_cells(row) for row in task.rows)
            yield Table(f"Texts by language: {task.task.title}", columns, rows, folded=True)
            yield Grey(" ".join(map(words.balanced, task.balances)))
    yield Grey(data.COUNTED_AS)


def _separation(found: Separation) -> Iterator[Block]:
    yield found.takeaway
    if not found.pairs:
        return
    if found.note:
        yield Grey(found.note)
    kinds = [separation.KINDS[kind] for kind in found.kinds]
    columns = {found.between.capitalize(): "text"} | dict.fromkeys((*kinds, "Near-duplicate queries"), "number")
    rows = tuple([f"{pair.a} and {pair.b}", *words.pair_cells(pair, found)[1:]] for pair in found.foremost)
    yield Table("What every two share", columns, rows, folded=len(rows) > 6)
    yield Grey(separation.legend(found))
    if left := words.left_out(found):
        yield Grey(left)
    sides = found.drawn
    yield Chart.drawn(
        lambda dark: charts.vocabularies(found, sides, dark=dark),
        alt=f"Jaccard of the words of every two. {spoken(found.takeaway)}",
    )
    names = [separation.side_name(side) for side in sides]
    cells: tuple[list[Cell], ...] = tuple(
        [name, *(Number(found.jaccard(side, other)) for other in sides)]
        for name, side in zip(names, sides, strict=True)
    )
    yield Table(
        "Jaccard of the vocabularies", {"Words of": "text"} | dict.fromkeys(names, "number"), cells, folded=True
    )


def _trainings(card: Card) -> Iterator[Block]:
    if not card.trainings:
        yield Grey("It was looked for in no file.")
    titles = {task.task.name: task.task.title for task in card.tasks}
    for found in card.trainings:
        yield found.takeaway
        yield Grey(f"{found.file} · {found.caption}")
        yield _occurring(found, titles)
    if card.trainings:
        yield Grey(training.HOW)


def _occurring(found: Training, titles: dict[str, str]) -> Table:
    names = ("n", *training.KINDS.values(), "Too short")
    columns = {"Task": "text", "Texts": "text", "Language": "text"} | dict.fromkeys(names, "number")
    rows: list[Row] = []
    for row in found.texts:
        name = titles.get(row.task, row.task)
        rows.append([name, words.ITEMS[row.item], row.language, *(Number(n, 0) for n in row.counts)])
    return Table(f"What of it occurs in {found.file}", columns, tuple(rows), folded=True)
