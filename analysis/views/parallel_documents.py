"""What became of the tables that a benchmark of parallel documents was made of, and of its queries; in Markdown too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.benchmarks.parallel_documents import evidence_words
from analysis.languages import language_name
from analysis.store.versions import REASONS
from analysis.text import capitalised, counted
from analysis.views.markdown_table import table

TITLE = "what became of the tables and the queries"


@dataclass(frozen=True)
class VersionRow:
    """The versions of one language."""

    language: str  # "und": none, or none that is known
    rows: int  # read
    dropped: Mapping[str, int]  # by reason
    kept: int


@dataclass(frozen=True)
class QueryRow:
    """The queries of one language."""

    language: str
    asked: Mapping[tuple[str, str], int]  # by mode and strategy
    left: Mapping[str, int]  # by the reason why they are left out


@dataclass(frozen=True)
class ParallelDocuments:
    """What became of tables and queries."""

    sentence: str
    query_sentence: str
    versions: tuple[VersionRow, ...]  # the languages with the most versions kept first
    queries: tuple[QueryRow, ...]
    first: Mapping[str, str]  # reason -> where the first row was that it dropped

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why versions were dropped, in the order in which that is looked at."""
        found = {reason for row in self.versions for reason in row.dropped}
        return tuple(reason for reason in REASONS if reason in found)

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """Modes and strategies that are asked."""
        return tuple(sorted({kind for row in self.queries for kind in row.asked}))

    @property
    def left(self) -> tuple[str, ...]:
        """Why queries are left out."""
        return tuple(sorted({reason for row in self.queries for reason in row.left}))

    @property
    def version_table(self) -> tuple[list[str], list[list[str | int]]]:
        """Header and rows of the versions; the first cell is a language tag."""
        header = ["language", "read", *self.reasons, "kept"]
        return header, [
            [row.language, row.rows, *(row.dropped.get(reason, 0) for reason in self.reasons), row.kept]
            for row in self.versions
        ]

    @property
    def query_table(self) -> tuple[list[str], list[list[str | int]]]:
        """Header and rows of the queries; the first cell is a language tag."""
        header = ["language", *(f"{mode}, {strategy}" for mode, strategy in self.kinds), *self.left]
        return header, [
            [
                row.language,
                *(row.asked.get(kind, 0) for kind in self.kinds),
                *(row.left.get(reason, 0) for reason in self.left),
            ]
            for row in self.queries
        ]


def parallel_documents(settings: Mapping[str, Any], task: str) -> ParallelDocuments | None:
    """What the settings of a benchmark say of a task; None where it was made of something else."""
    made = settings.get("built", {}).get(task, {}).get("documents")
    if made is None:
        return None
    return ParallelDocuments(
        _sentence(made),
        _query_sentence(made["queries"]),
        tuple(VersionRow(row["language"], row["rows"], row["dropped"], row["kept"]) for row in made["languages"]),
        _query_rows(made["queries"], [row["language"] for row in made["languages"]]),
        made["first"],
    )


def _sentence(made: Mapping[str, Any]) -> str:
    rules, kept = made["rules"], sum(row["kept"] for row in made["languages"])
    words, languages = counted(rules["least_words"], "word"), counted(rules["least_languages"], "language")
    rows, publications = counted(made["rows"], "language version"), counted(made["publications"], "publication")
    chemistry = ", ".join(rules["prefixes"]) or ("" if rules["publications"] else "every class")
    listed = counted(len(rules["publications"]), "listed publication") if rules["publications"] else ""
    told = [
        f"{kept:,} of {rows} kept, of {publications}",
        f"text: {evidence_words(claims=rules['claims'])}",
        f"abstracts of at least {words}, publications in at least {languages}",
        f"classes: {' and '.join(part for part in (chemistry, listed) if part)}",
    ]
    if rules["claims"] and made["unclaimed"]:
        told.append(f"{made['unclaimed']:,} without a claim")
    return " · ".join(told)


def _query_sentence(queries: Mapping[str, Any]) -> str:
    n = sum(row["queries"] for row in queries["asked"])
    if queries["from"] == "table":
        return f"{n:,} of the table's {queries['rows']:,} queries are asked"
    cost = "" if queries["cost"] is None else f", cost {queries['cost']:.2f}"
    return (
        f"{n:,} of {queries['planned']:,} planned queries written by {queries['model']}, the best of "
        f"{queries['candidates']} by {queries['verifier']} · {counted(queries['calls'], 'call')}, "
        f"{queries['tokens_in']:,} tokens in, {queries['tokens_out']:,} out{cost}"
    )


def _query_rows(queries: Mapping[str, Any], order: Sequence[str]) -> tuple[QueryRow, ...]:
    found = {row["language"] for part in ("asked", "left") for row in queries[part]}
    tags = [*(tag for tag in order if tag in found), *sorted(found.difference(order))]
    return tuple(
        QueryRow(
            tag,
            {(row["mode"], row["strategy"]): row["queries"] for row in queries["asked"] if row["language"] == tag},
            {row["reason"]: row["queries"] for row in queries["left"] if row["language"] == tag},
        )
        for tag in tags
    )


def markdown(found: ParallelDocuments, *, title: str) -> str:
    """The whole report, for a paper's appendix."""
    return "\n".join(_lines(found, title))


def _lines(found: ParallelDocuments, title: str) -> Iterator[str]:
    yield f"## {title}\n\n{found.sentence}.\n"
    yield from _table(*found.version_table)
    yield f"\n{found.query_sentence}.\n"
    yield from _table(*found.query_table)
    yield ""


def _table(header: Sequence[str], rows: Sequence[Sequence[str | int]]) -> Iterator[str]:
    cells = ([language_name(str(tag)), *(f"{number:,}" for number in numbers)] for tag, *numbers in rows)
    yield from table(list(map(capitalised, header)), cells)
