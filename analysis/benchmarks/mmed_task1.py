"""MMed-Bench-IR, task 1, from a licence holder's files: an exam question asks for the definition of its concept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from analysis.benchmarks import cui_tagger, mmedbench, umls
from analysis.benchmarks.coverage import Coverage
from analysis.benchmarks.cui_tagger import INSIDE, NEAREST, UNTAGGED, WHOLE, Limits, Linker, Tag
from analysis.benchmarks.mmed_card import carded
from analysis.benchmarks.mmedbench import Stem, Stems
from analysis.errors import InputError
from analysis.languages import language_name
from analysis.model import Benchmark, Document, Judgement, Progress, Query, Task, silent
from analysis.store.terms import Definition, Near, Terms
from analysis.text import counted

TASK = "t1-alignment"
PUBLISHED_NEGATIVES = 1262  # concepts, in the paper
NEIGHBOURS = 50  # of a concept that are looked at for hard negatives
LICENCE = "UMLS Metathesaurus License and the terms of MMedBench: for those who have accepted them, not to be passed on"


@dataclass(frozen=True)
class Options:
    """What `build mmed-task1` may be told."""

    umls: Path
    mmedbench: Path
    least: int = 50  # questions that a language must have to be asked
    negatives: int = PUBLISHED_NEGATIVES  # concepts that answer nothing
    limits: Limits = field(default_factory=Limits)


def build(options: Options, cache: Path, *, linker: Linker | None = None, progress: Progress = silent) -> Benchmark:
    """The benchmark with this task alone.

    Args:
        options: see there.
        cache: where the prepared files of UMLS are kept.
        linker: for the last stage of the tagger and for hard negatives; without one, untagged questions stay so, and
            hard negatives are the concepts that most relations of UMLS join to those asked of.
        progress: may raise JobCancelledError.

    Raises:
        InputError: a file is missing or faulty, or no language has questions enough.
    """
    if options.least < 1 or options.negatives < 0:
        raise InputError(f"least {options.least}, negatives {options.negatives}: expected 1 or more, 0 or more")
    progress("read the questions", 0, 1)
    stems = mmedbench.read(options.mmedbench)
    progress("read the questions", 1, 1)
    terms = umls.prepare(options.umls, cache, progress=progress)
    return _Builder(options, stems, terms, linker, progress).benchmark()


class _Builder:
    """One task over one set of questions."""

    def __init__(self, options: Options, stems: Stems, terms: Terms, linker: Linker | None, progress: Progress) -> None:
        self._options = options
        self._stems = stems
        self._terms = terms
        self._linker = linker
        self._progress = progress
        self._defined = set(terms.defined())

    def benchmark(self) -> Benchmark:
        tags = cui_tagger.tag(
            self._stems.stems,
            self._terms,
            defined=self._defined,
            linker=self._linker,
            limits=self._options.limits,
            progress=self._progress,
        )
        asked = self._asked(tags)
        answers = dict.fromkeys(sorted({found.cui for _, found in asked if found.cui}))
        negatives = self._negatives(answers, {found.cui for found in tags if found.cui})
        documents = tuple(_documents(self._terms.meanings({*answers, *negatives})))
        queries = tuple(_query(stem, found) for stem, found in asked)
        task = Task(
            TASK,
            "Alignment",
            "An exam question asks for the definitions of its concept, in every language.",
            documents,
            queries,
            tuple(_judged(queries, documents)),
            default=True,
        )
        return self._carded(task, self._coverage(tags, asked, documents), len(negatives))

    def _asked(self, tags: Sequence[Tag]) -> list[tuple[Stem, Tag]]:
        """Questions whose concept has a definition, of languages that have enough of them."""
        able = [pair for pair in zip(self._stems.stems, tags, strict=True) if pair[1].cui in self._defined]
        n = Counter(stem.language for stem, _ in able)
        kept = [pair for pair in able if n[pair[0].language] >= self._options.least]
        if not kept:
            most = max(n.values(), default=0)
            raise InputError(
                f"{self._options.mmedbench}: no language has {self._options.least} questions whose concept is found "
                f"and has a definition (the most is {most}); --least N takes fewer, --tagger SYSTEM finds more"
            )
        return kept

    def _negatives(self, answers: Iterable[str], tagged: set[str]) -> list[str]:
        """Concepts near those asked of that no question is about: first the nearest of each, then the second."""
        free = [cui for cui in sorted(self._defined) if cui not in tagged]
        near = self._near(list(answers), free) if free and self._options.negatives else []
        return list(dict.fromkeys(row.other for row in near))[: self._options.negatives]

    def _near(self, answers: Sequence[str], free: Sequence[str]) -> list[Near]:
        if self._linker is None:
            return self._terms.near(answers, among=free, most=NEIGHBOURS)
        gists = self._terms.gists({*answers, *free})
        texts, candidates = ([gists[cui] for cui in concepts] for concepts in (answers, free))
        near = cui_tagger.ordered(self._linker, texts, candidates, k=NEIGHBOURS, what="definitions")
        rows = [
            (place, -other.cosine, cui, free[other.row])
            for cui, found in zip(answers, near, strict=True)
            for place, other in enumerate(found, start=1)
        ]
        return [Near(cui, other, place) for place, _, cui, other in sorted(rows)]

    def _coverage(
        self, tags: Sequence[Tag], asked: Sequence[tuple[Stem, Tag]], documents: Sequence[Document]
    ) -> tuple[Coverage, ...]:
        by_language: dict[str, list[Tag]] = defaultdict(list)
        for stem, found in zip(self._stems.stems, tags, strict=True):
            by_language[stem.language].append(found)
        n_asked = Counter(stem.language for stem, _ in asked)
        written = Counter(document.language for document in documents)
        return tuple(
            self._covered(language, by_language[language], n_asked[language], written[language])
            for language in sorted(self._stems.lines, key=lambda tag: (-n_asked[tag], tag))
        )

    def _covered(self, language: str, tags: Sequence[Tag], asked: int, definitions: int) -> Coverage:
        stages = Counter(found.stage for found in tags)
        lines = self._stems.lines[language]
        undefined = sum(found.cui is not None and found.cui not in self._defined for found in tags)
        return Coverage(
            language,
            lines,
            lines - len(tags),
            stages[WHOLE],
            stages[INSIDE],
            stages[NEAREST],
            stages[UNTAGGED],
            sum(found.ambiguous and found.stage == UNTAGGED for found in tags),
            undefined,
            len(tags) - stages[UNTAGGED] - undefined,
            asked,
            definitions,
        )

    def _carded(self, task: Task, coverage: Sequence[Coverage], negatives: int) -> Benchmark:
        facts = {
            "coverage": [asdict(row) for row in coverage],
            "linker": self._linker.name if self._linker else None,
            "least": self._options.least,
            "limits": asdict(self._options.limits),
            "hard_negatives": negatives,
            "hard_negatives_asked_for": self._options.negatives,
            "atoms": umls.atom_counts(self._terms),
            "definitions": self._terms.definition_counts(),
            "mmedbench": self._stems.checksum,
        }
        return carded(
            task,
            terms=self._terms,
            files={"MMedBench": self._stems.checksum},
            licence=LICENCE,
            facts=facts,
            notes=self._notes(coverage, negatives),
        )

    def _notes(self, coverage: Sequence[Coverage], negatives: int) -> tuple[str, ...]:
        tagged = sum(row.exact + row.substring + row.nearest for row in coverage)
        total = sum(row.lines - row.repeated for row in coverage)
        left = [f"{language_name(row.language)} ({row.answerable:,})" for row in coverage if not row.asked]
        linker = f"the linker is {self._linker.name}" if self._linker else "no linker was used"
        notes = [
            f"Alignment: a program found the concept of {tagged:,} of {counted(total, 'question')}; {linker}. "
            "No clinician has checked the tags.",
            f"Alignment: {counted(negatives, 'concept')} of the corpus answer no question.",
        ]
        if left:
            notes.append(f"Alignment: left out with fewer than {self._options.least} questions: {', '.join(left)}.")
        return tuple(notes)


def _documents(rows: Iterable[Definition]) -> Iterable[Document]:
    return (Document(f"{row.cui}-{row.language}-{row.atui}", row.language, row.text, family=row.cui) for row in rows)


def _query(stem: Stem, found: Tag) -> Query:
    attributes = {"tagged_by": found.stage, "tag_confidence": f"{found.confidence:.2f}"}
    return Query(stem.id, stem.language, stem.text, family=str(found.cui), attributes=attributes)


def _judged(queries: Iterable[Query], documents: Iterable[Document]) -> Iterable[Judgement]:
    of: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        of[document.family].append(document.id)
    return (Judgement(query.id, name, 1.0) for query in queries for name in of[query.family])
