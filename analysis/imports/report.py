"""What an import found, told before anything is stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis.imports import flags
from analysis.imports.alignment import LanguageCheck
from analysis.imports.faults import Mended
from analysis.imports.folder import Folder
from analysis.model import Document, FlagCounts, Query, asked_in, parallel
from analysis.text import id_key, same_text_key

EXAMPLES = 3


@dataclass(frozen=True)
class Listed:
    """How many, and the first few."""

    n: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class LanguageCount:
    """One language of a benchmark."""

    language: str
    n_queries: int
    n_documents: int
    queries: tuple[str, ...]  # three texts
    documents: tuple[str, ...]


@dataclass(frozen=True)
class Doubts:
    """What in a folder deserves a look; none of it ends an import.

    Attributes:
        queries_without_judgements: asked, not judged.
        queries_without_relevant: judged, none of their documents relevant: excluded from every mean.
        judgements_without_query: judged, not asked: stored with an empty text.
        dangling_documents: judged, not in the corpus.
        empty_documents: without a text; a title may stand in for it.
        empty_queries: asked with a blank text.
        letterless_queries: asked with a text without a letter.
        duplicate_documents: share language and text with another.
        duplicate_queries: share language and text with another.
        near_duplicate_document_ids: groups of ids that differ in leading zeros, Unicode form, outer space or case only.
        near_duplicate_query_ids: the same of queries.
        suspicious_documents: a text in a script that its language does not use.
        suspicious_queries: the same of queries.
        self_retrieval: queries that are documents themselves, by id and text.
        same_id_other_text: queries whose id a document with another text has; nothing is excluded for that.
        excluded_unknown: documents that a query excludes and the corpus lacks.
    """

    queries_without_judgements: Listed
    queries_without_relevant: Listed
    judgements_without_query: Listed
    dangling_documents: Listed
    empty_documents: Listed
    empty_queries: Listed
    letterless_queries: Listed
    duplicate_documents: Listed
    duplicate_queries: Listed
    near_duplicate_document_ids: Listed
    near_duplicate_query_ids: Listed
    suspicious_documents: Listed
    suspicious_queries: Listed
    self_retrieval: Listed
    same_id_other_text: Listed
    excluded_unknown: Listed


@dataclass(frozen=True)
class BenchmarkReport:
    """What a folder holds, and what in it deserves a look.

    Attributes:
        files: corpus, queries and judgements.
        n_documents: in the corpus.
        n_queries: asked or judged.
        n_judgements: graded pairs.
        n_relevant: of these with a grade of at least 1.
        n_families: families of queries.
        grades: how often each grade occurs, from the lowest.
        n_fractional_grades: between 0 and 1: they give gain, but are not relevant.
        n_negative_grades: they give no gain.
        languages: the languages in the order of the queries, then of the documents.
        parallel: whether every family is asked in every query language: the bootstrap then draws them jointly.
        parallel_because: why, in a sentence.
        doubts: what deserves a look.
        alignment: whether the rows of parallel texts belong together, by language; empty for other formats.
        n_flagged: queries and documents that a reader may leave out of every page.
        n_repeats: rows that repeat another exactly.
        n_number_ids: ids that are numbers in the file.
        ignored_fields: fields of documents that are not kept, with the number of documents.
        notices: what was repaired or doubted in language codes, with the number of rows.
        mended: what a lenient import dropped or mended.
    """

    files: tuple[str, ...]
    n_documents: int
    n_queries: int
    n_judgements: int
    n_relevant: int
    n_families: int
    grades: Mapping[str, int]
    n_fractional_grades: int
    n_negative_grades: int
    languages: tuple[LanguageCount, ...]
    parallel: bool
    parallel_because: str
    doubts: Doubts
    alignment: tuple[LanguageCheck, ...]
    n_flagged: FlagCounts
    n_repeats: int
    n_number_ids: int
    ignored_fields: Mapping[str, int]
    notices: Mapping[str, int]
    mended: tuple[Mended, ...]


def report(folder: Folder) -> BenchmarkReport:
    """Count what a folder holds."""
    grades = Counter(row.grade for row in folder.judgements)
    without_text = set(folder.without_text)
    asked = [row for row in folder.queries if row.id not in without_text]
    drawn_jointly, because = _parallel(folder.queries)
    return BenchmarkReport(
        files=tuple(path.name for path in folder.files),
        n_documents=len(folder.documents),
        n_queries=len(folder.queries),
        n_judgements=len(folder.judgements),
        n_relevant=sum(n for grade, n in grades.items() if grade >= 1),
        n_families=len({row.family for row in folder.queries}),
        grades={f"{grade:g}": grades[grade] for grade in sorted(grades)},
        n_fractional_grades=sum(n for grade, n in grades.items() if 0 < grade < 1),
        n_negative_grades=sum(n for grade, n in grades.items() if grade < 0),
        languages=_languages(asked, folder.documents),
        parallel=drawn_jointly,
        parallel_because=because,
        doubts=_doubts(folder, asked),
        alignment=folder.alignment.languages if folder.alignment else (),
        n_flagged=flags.counts(folder.flags),
        n_repeats=folder.n_repeats,
        n_number_ids=folder.n_number_ids,
        ignored_fields=folder.ignored,
        notices=folder.notices,
        mended=folder.faults.mended(),
    )


def _doubts(folder: Folder, asked: Sequence[Query]) -> Doubts:
    """``asked`` are the queries that have a row of their own."""
    corpus = {row.id for row in folder.documents}
    judged = folder.judged
    answered = {row.query_id for row in folder.judgements if row.grade >= 1}
    named = dict.fromkeys(row.document_id for row in folder.judgements)
    excluded = dict.fromkeys(name for row in folder.queries for name in row.excluded_documents)
    return Doubts(
        queries_without_judgements=_listed(row.id for row in folder.queries if row.id not in judged),
        queries_without_relevant=_listed(row.id for row in folder.queries if row.id in judged - answered),
        judgements_without_query=_listed(folder.without_text),
        dangling_documents=_listed(name for name in named if name not in corpus),
        empty_documents=_listed(folder.empty),
        empty_queries=_listed(row.id for row in asked if not row.text.strip()),
        letterless_queries=_listed(flags.flagged(folder.flags, "query", flags.NO_LETTERS)),
        duplicate_documents=_duplicates(folder.documents),
        duplicate_queries=_duplicates(folder.queries),
        near_duplicate_document_ids=_near(dict.fromkeys((*(row.id for row in folder.documents), *named))),
        near_duplicate_query_ids=_near(row.id for row in folder.queries),
        suspicious_documents=_suspicious(folder, "document", folder.documents),
        suspicious_queries=_suspicious(folder, "query", folder.queries),
        self_retrieval=_listed(folder.self_texts),
        same_id_other_text=_listed(folder.self_ids),
        excluded_unknown=_listed(name for name in excluded if name not in corpus),
    )


def _listed(found: Iterable[str]) -> Listed:
    names = list(found)
    return Listed(len(names), tuple(names[:EXAMPLES]))


def _languages(queries: Sequence[Query], documents: Sequence[Document]) -> tuple[LanguageCount, ...]:
    texts: dict[str, tuple[list[str], list[str]]] = {}
    for query in queries:
        texts.setdefault(query.language, ([], []))[0].append(query.text)
    for document in documents:
        texts.setdefault(document.language, ([], []))[1].append(document.text)
    return tuple(
        LanguageCount(tag, len(asked), len(answers), tuple(asked[:EXAMPLES]), tuple(answers[:EXAMPLES]))
        for tag, (asked, answers) in texts.items()
    )


def _parallel(queries: Sequence[Query]) -> tuple[bool, str]:
    asked = asked_in(queries)
    languages = {row.language for row in queries}
    if parallel(queries):
        return True, f"each of {len(asked):,} families is asked in all {len(languages)} query languages"
    if len(languages) == 1:
        return False, "there is one query language"
    partial = [family for family, found in asked.items() if found != languages]
    lacking = ", ".join(sorted(languages - asked[partial[0]]))
    return False, f"{len(partial):,} of {len(asked):,} families lack a query language: {partial[0]!r} lacks {lacking}"


def _groups(rows: Iterable[str], key: Callable[[str], str]) -> Iterator[list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return (group for group in found.values() if len(group) > 1)


def _duplicates(rows: Sequence[Document] | Sequence[Query]) -> Listed:
    texts = {row.id: f"{row.language}\n{same_text_key(row.text)}" for row in rows if row.text.strip()}
    return _listed(name for group in _groups(texts, texts.__getitem__) for name in group)


def _near(names: Iterable[str]) -> Listed:
    return _listed(" ~ ".join(repr(name) for name in group) for group in _groups(names, id_key))


def _suspicious(folder: Folder, item: str, rows: Sequence[Document] | Sequence[Query]) -> Listed:
    known = set(flags.flagged(folder.flags, item, flags.OTHER_SCRIPT, flags.SHORT))
    return _listed(f"{row.id}: {flags.foreign(row.text, row.language)}" for row in rows if row.id in known)


_LINES = {
    "queries_without_judgements": "queries without judgements",
    "queries_without_relevant": "judged queries without a relevant document: left out of every mean",
    "judgements_without_query": "judged queries without a text: stored with an empty one",
    "dangling_documents": "judged documents that are not in the corpus: no system can find them",
    "empty_documents": "documents with an empty text",
    "empty_queries": "queries with an empty text",
    "letterless_queries": "queries without a letter",
    "duplicate_documents": "documents with the text of another",
    "duplicate_queries": "queries with the text of another",
    "near_duplicate_document_ids": "groups of document ids that differ little: not merged",
    "near_duplicate_query_ids": "groups of query ids that differ little: not merged",
    "suspicious_documents": "documents in a script that their language does not use",
    "suspicious_queries": "queries in a script that their language does not use",
    "self_retrieval": "queries that are documents themselves (--exclude-self takes these out)",
    "same_id_other_text": "queries with the id of a document with another text: nothing excluded",
    "excluded_unknown": "excluded documents that are not in the corpus",
}


def warnings(found: BenchmarkReport) -> Iterator[tuple[str, Listed]]:
    """What deserves a look, in words, with how often and the first few; nothing that does not occur."""
    for name, words in _LINES.items():
        listed: Listed = getattr(found.doubts, name)
        if listed.n:
            yield words, listed
    for words, n in (
        ("grades between 0 and 1: gain, but not relevant", found.n_fractional_grades),
        ("negative grades: no gain", found.n_negative_grades),
        ("rows that repeat another exactly", found.n_repeats),
        ("ids that are numbers in the file: kept as written", found.n_number_ids),
    ):
        if n:
            yield words, Listed(n, ())
    for name, n in found.ignored_fields.items():
        yield f"documents whose field {name!r} is not kept", Listed(n, ())
    for notice, n in found.notices.items():
        yield notice, Listed(n, ())
    for mended in found.mended:
        yield mended.kind, Listed(mended.n, mended.places[:EXAMPLES])


def table(found: BenchmarkReport) -> list[tuple[str, str, str]]:
    """The report as rows for people: what, how many, and the first few with all that is unprintable escaped."""
    rows = [
        ("documents", f"{found.n_documents:,}", ""),
        ("queries", f"{found.n_queries:,}", f"{found.n_families:,} families"),
        ("judgements", f"{found.n_judgements:,}", f"{found.n_relevant:,} relevant"),
    ]
    for row in found.languages:
        shown = "; ".join(_clipped(text) for text in (*row.queries, *row.documents)[: 2 * EXAMPLES])
        rows.append((f"language {row.language}", f"{row.n_queries:,} queries, {row.n_documents:,} documents", shown))
    rows += [
        (f"alignment {row.language}", f"{row.n_misaligned:,} of {row.n_rows:,} rows misaligned", row.sentence)
        for row in found.alignment
    ]
    if found.n_flagged.reasons:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in found.n_flagged.reasons.items())
        number = f"{found.n_flagged.queries:,} queries, {found.n_flagged.documents:,} documents"
        rows.append(("flagged", number, f"{reasons}; --without-flagged leaves them out"))
    rows.append(("parallel", "yes" if found.parallel else "no", found.parallel_because))
    rows += [(words, f"{listed.n:,}", "; ".join(map(_clipped, listed.examples))) for words, listed in warnings(found)]
    return rows


def _clipped(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
