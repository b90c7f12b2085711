"""MMed-Bench-IR, task 3, from a licence holder's files: an expert's question, translated, asks for English evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from analysis.benchmarks import bioasq, fidelity, translation_rows, umls
from analysis.benchmarks.bioasq import Question
from analysis.benchmarks.cui_tagger import Limits
from analysis.benchmarks.fidelity import FAIL, FLAG, ORIGINAL, PASS, Kept, SourceTerm
from analysis.benchmarks.mmed_card import carded
from analysis.benchmarks.translation_counts import TranslationCounts
from analysis.benchmarks.translation_rows import SOURCE, Supplied, Translation, Translations, Translator
from analysis.errors import InputError
from analysis.languages import canonical, language_name
from analysis.model import Benchmark, Document, Judgement, Progress, Query, Task, silent
from analysis.store import equivalents
from analysis.store.equivalents import Looked
from analysis.store.terms import Terms
from analysis.text import counted

TASK = "t3-evidence"
TITLE = "Evidence"
LANGUAGES = ("es", "fr", "ja", "ru", "zh")
"""Into which questions are translated: those of the benchmark besides English."""

LICENCE = "The terms of BioASQ and of PubMed's abstracts: for those who have accepted them, not to be passed on"
LICENCE_UMLS = f"UMLS Metathesaurus License. {LICENCE}"


@dataclass(frozen=True)
class Options:
    """What `build mmed-task3` may be told."""

    bioasq: Path
    translations: Path | None = None  # None: somebody translates
    umls: Path | None = None  # None: terms are not looked for, abbreviations alone
    languages: tuple[str, ...] = LANGUAGES  # to translate into

    def __post_init__(self) -> None:
        tags = [canonical(tag).tag for tag in self.languages]
        if not tags or SOURCE in tags or len(set(tags)) < len(tags):
            raise InputError(f"languages {','.join(self.languages)!r}: expected languages besides English, each once")
        object.__setattr__(self, "languages", tuple(tags))


class _Sources(NamedTuple):
    """What a task is made of."""

    found: bioasq.Questions
    asked: Sequence[Question]  # those with a snippet
    translations: Translations
    by: str  # who translated
    terms: Terms | None


class _Judged(NamedTuple):
    """A translation, and whether it may be trusted."""

    question: Question
    language: str
    translation: Translation
    kept: Kept
    f1: float | None
    status: str


def build(
    options: Options, cache: Path, *, translator: Translator | None = None, progress: Progress = silent
) -> Benchmark:
    """The benchmark with this task alone.

    Args:
        options: see there.
        cache: where the prepared files of UMLS are kept.
        translator: translates where the options name no file of translations.
        progress: may raise JobCancelledError.

    Raises:
        InputError: a file is missing or faulty, no question has a snippet, or none a translation.
    """
    progress("read the questions", 0, 1)
    found = bioasq.read(options.bioasq)
    asked = [question for question in found.questions if question.snippets]
    if not asked:
        raise InputError(f"{options.bioasq}: no question has a snippet, expected files of the phase with answers")
    progress("read the questions", 1, 1)
    source = _source(options, found, translator)
    terms = umls.prepare(options.umls, cache, progress=progress) if options.umls else None
    translations, by = _translations(options, asked, source)
    return _Builder(options, _Sources(found, asked, translations, by, terms), progress).benchmark()


def _source(options: Options, found: bioasq.Questions, translator: Translator | None) -> Supplied | Translator:
    """The file of translations as it was read, or who translates and knows the languages: both better known early."""
    if options.translations:
        return translation_rows.read(options.translations, known={row.id for row in found.questions})
    if translator is None:
        raise InputError("no translations: expected a file of them, or a translator")
    translation_rows.check(translator, options.languages)
    return translator


def _translations(
    options: Options, asked: Sequence[Question], source: Supplied | Translator
) -> tuple[Translations, str]:
    """Translations, and who made them."""
    if isinstance(source, Supplied):
        rows, by = source.rows, f"a supplied file ({source.checksum[:12]})"
    else:
        rows = translation_rows.made(source, [(row.id, row.text) for row in asked], options.languages)
        by = source.name
    if not any((row.id, language) in rows for row in asked for language in options.languages):
        wanted = ", ".join(options.languages)
        raise InputError(f"{options.translations or by}: no question has a translation into one of {wanted}")
    return rows, by


class _Builder:
    """One task over one set of questions."""

    def __init__(self, options: Options, sources: _Sources, progress: Progress) -> None:
        self._options = options
        self._found = sources.found
        self._asked = sources.asked
        self._translations = sources.translations
        self._by = sources.by
        self._terms = sources.terms
        self._progress = progress

    def benchmark(self) -> Benchmark:
        documents, ids = _documents(self._asked)
        wanted = self._source_terms()
        judged = [row for language in self._options.languages for row in self._judged(language, wanted)]
        queries = (*map(_original, self._asked), *map(_query, judged))
        answers = {row.id: dict.fromkeys(ids[snippet.text] for snippet in row.snippets) for row in self._asked}
        task = Task(
            TASK,
            TITLE,
            "An expert’s question, in English or translated, asks for the passages of abstracts that answer it.",
            documents,
            queries,
            tuple(Judgement(query.id, name, 1.0) for query in queries for name in answers[query.family]),
        )
        counts = [self._counts(language, judged) for language in self._options.languages]
        return carded(
            task,
            terms=self._terms,
            files={"BioASQ": self._found.checksum},
            licence=LICENCE_UMLS if self._terms else LICENCE,
            facts=self._facts(task, counts, wanted),
            notes=self._notes(counts),
            invented=self._found.invented,
        )

    def _source_terms(self) -> list[tuple[SourceTerm, ...]]:
        """What a translation of each question must keep."""
        texts = [question.text for question in self._asked]
        found: Sequence[Sequence[tuple[str, str]]] = [()] * len(texts)
        if self._terms:
            found = equivalents.all_terms(
                self._terms, texts, language=SOURCE, confidence=Limits().term, progress=self._progress
            )
        return [fidelity.source_terms(text, terms) for text, terms in zip(texts, found, strict=True)]

    def _judged(self, language: str, wanted: Sequence[tuple[SourceTerm, ...]]) -> Iterator[_Judged]:
        """The translations into one language."""
        here = [
            (question, terms, self._translations[question.id, language])
            for question, terms in zip(self._asked, wanted, strict=True)
            if (question.id, language) in self._translations
        ]
        concepts = [[term.cui for term in terms if term.cui] for _, terms, _ in here]
        looked = [Looked(frozenset(), frozenset())] * len(here)
        if self._terms:
            texts = [row.text for _, _, row in here]
            looked = equivalents.looked_for(
                self._terms, texts, language=language, concepts=concepts, progress=self._progress
            )
        for (question, terms, row), seen in zip(here, looked, strict=True):
            kept = fidelity.kept(terms, row.text, spoken=seen.spoken, there=seen.there)
            f1 = None if row.back is None else fidelity.token_f1(question.text, row.back)
            yield _Judged(question, language, row, kept, f1, fidelity.status(kept.preservation, f1))

    def _counts(self, language: str, judged: Sequence[_Judged]) -> TranslationCounts:
        rows = [row for row in judged if row.language == language]
        statuses = Counter(row.status for row in rows)
        shares = [row.kept.preservation for row in rows if row.kept.preservation is not None]
        overlaps = [row.f1 for row in rows if row.f1 is not None]
        return TranslationCounts(
            language=language,
            questions=len(self._asked),
            missing=len(self._asked) - len(rows),
            passed=statuses[PASS],
            flagged=statuses[FLAG],
            failed=statuses[FAIL],
            terms=sum(row.kept.checked for row in rows),
            terms_kept=sum(row.kept.kept for row in rows),
            unknown=sum(row.kept.unknown for row in rows),
            abbreviations=sum(row.kept.abbreviations for row in rows),
            abbreviations_kept=sum(row.kept.abbreviations_kept for row in rows),
            without_term=len(rows) - len(shares),
            without_back=len(rows) - len(overlaps),
            preservation=fmean(shares) if shares else None,
            f1=fmean(overlaps) if overlaps else None,
        )

    def _facts(
        self, task: Task, counts: Sequence[TranslationCounts], wanted: Sequence[Sequence[SourceTerm]]
    ) -> dict[str, object]:
        snippets = [snippet.text for question in self._asked for snippet in question.snippets]
        pairs = {(question.id, snippet.text) for question in self._asked for snippet in question.snippets}
        return {
            "translations": [asdict(row) for row in counts],
            "translated_by": self._by,
            "lexicon": "UMLS" if self._terms else None,
            "limits": dict(fidelity.limits()),
            "questions": len(self._found.questions),
            "questions_without_snippet": len(self._found.questions) - len(self._asked),
            "questions_without_term": sum(not terms for terms in wanted),
            "snippets": len(snippets),
            "snippets_repeated": len(snippets) - len(task.documents),
            "snippets_of_several_questions": sum(n > 1 for n in Counter(text for _, text in pairs).values()),
            "abbreviations": list(fidelity.abbreviations()),
            "bioasq": self._found.checksum,
        }

    def _notes(self, counts: Sequence[TranslationCounts]) -> tuple[str, ...]:
        passed, flagged, failed = (
            sum(getattr(row, name) for row in counts) for name in ("passed", "flagged", "failed")
        )
        checked = "terms of UMLS and abbreviations" if self._terms else "abbreviations alone, as no UMLS was given"
        left_out = len(self._found.questions) - len(self._asked)
        notes = [
            f"{TITLE}: questions translated by {self._by}; checked by a program, on {checked}: {passed:,} pass, "
            f"{flagged:,} flagged, {failed:,} fail. No speaker of the languages has read them.",
        ]
        if left_out:
            notes.append(f"{TITLE}: {counted(left_out, 'question')} without a snippet left out.")
        missing = [f"{language_name(row.language)} ({row.missing:,})" for row in counts if row.missing]
        if missing:
            notes.append(f"{TITLE}: questions without a translation: {', '.join(missing)}.")
        return tuple(notes)


def _documents(asked: Sequence[Question]) -> tuple[tuple[Document, ...], dict[str, str]]:
    """Each text once, called after the first article that it is of; and the id of each text."""
    rows: list[Document] = []
    ids: dict[str, str] = {}
    n: Counter[str] = Counter()
    for question in asked:
        for snippet in question.snippets:
            if snippet.text not in ids:
                n[snippet.document] += 1
                ids[snippet.text] = f"{snippet.document}-{n[snippet.document]}"
                rows.append(Document(ids[snippet.text], SOURCE, snippet.text, family=snippet.document))
    return tuple(rows), ids


def _original(question: Question) -> Query:
    return Query(
        f"{question.id}-{SOURCE}",
        SOURCE,
        question.text,
        family=question.id,
        audit_status=ORIGINAL,
        source_query=f"{question.id}-{SOURCE}",
        attributes={"question_type": question.kind},
    )


def _query(row: _Judged) -> Query:
    """A translation: with what was found of it, to two decimals."""
    shares = {"preservation": row.kept.preservation, "back_translation_f1": row.f1}
    told = {name: f"{share:.2f}" for name, share in shares.items() if share is not None}
    return Query(
        f"{row.question.id}-{row.language}",
        row.language,
        row.translation.text,
        family=row.question.id,
        audit_status=row.status,
        source_query=f"{row.question.id}-{SOURCE}",
        attributes={"question_type": row.question.kind, **told},
    )
