"""MMed-Bench-IR, task 2, from a licence holder's files: a term asks for the others of its confusion set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.benchmarks import umls
from analysis.benchmarks.confusion_sets import BOUNDS, OUTCOMES, SYNONYM, TIERS, ConfusionSet, Verdict, as_csv, judged
from analysis.benchmarks.mmed_card import carded
from analysis.errors import InputError
from analysis.model import Benchmark, Document, Judgement, Progress, Query, Task, silent
from analysis.store import confusion
from analysis.store.confusion import Form
from analysis.store.terms import Terms
from analysis.text import counted

TASK = "t2-discrimination"
SETS, MOST_SETS = 1000, 20_000  # of each tier that are made, before validators look at them
SIZE, MOST_CONCEPTS = 3, 20  # concepts of a set of siblings or related ones
FORMS = 2  # spellings of a concept in one language
ASKED = ("en", "zh")
SET, CONCEPT = ANSWERS = ("set", "concept")
LICENCE = "UMLS Metathesaurus License: for those who have accepted it, not to be passed on"


class Validators(Protocol):
    """Three encoders that look at sets."""

    names: tuple[str, ...]

    def cosines(self, members: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Mean pairwise cosine of each set of texts by each encoder, ``(n, 3)``."""
        ...


@dataclass(frozen=True)
class Options:
    """What `build mmed-task2` may be told."""

    umls: Path
    sets: int = SETS
    size: int = SIZE
    seed: int = 1
    answers: str = SET  # the other members of the set, or the other spellings of the concept
    vocabularies: tuple[str, ...] = ()  # whose codes count; all where none is named


def build(options: Options, cache: Path, *, validators: Validators, progress: Progress = silent) -> Benchmark:
    """The benchmark with this task alone.

    Args:
        options: see there.
        cache: where the prepared files of UMLS are kept.
        validators: see there.
        progress: may raise JobCancelledError.

    Raises:
        InputError: a file is missing or faulty, an option is out of bounds, or no set is made or kept.
    """
    _check(options)
    terms = umls.prepare(options.umls, cache, progress=progress)
    return _Builder(options, terms, validators, progress).benchmark()


def _check(options: Options) -> None:
    bounds = (
        ("sets", options.sets, 1, MOST_SETS),
        ("size", options.size, 2, MOST_CONCEPTS),
        ("seed", options.seed, 0, 2**63 - 1),
    )
    for name, value, least, most in bounds:
        if not least <= value <= most:
            raise InputError(f"{name} {value}: expected {least} to {most:,}")
    if options.answers not in ANSWERS:
        raise InputError(f"answers {options.answers!r}: expected one of {', '.join(ANSWERS)}")


class _Builder:
    """One task over the sets of one UMLS."""

    def __init__(self, options: Options, terms: Terms, validators: Validators, progress: Progress) -> None:
        self._options = options
        self._terms = terms
        self._validators = validators
        self._progress = progress

    def benchmark(self) -> Benchmark:
        sets = self._sets()
        concepts = [cui for one in sets for cui in one.concepts]
        forms: dict[str, list[Form]] = defaultdict(list)
        for form in confusion.forms(self._terms, concepts, most=FORMS, progress=self._progress):
            forms[form.cui].append(form)
        verdicts = judged(sets, self._validators.cosines([_members(one, forms) for one in sets]))
        kept = [(one, verdict) for one, verdict in zip(sets, verdicts, strict=True) if verdict.tier]
        if not kept:
            raise InputError(
                f"no set of {len(sets):,} is one of which two of {', '.join(self._validators.names)} agree on a tier: "
                "other --validators may"
            )
        return self._carded(self._task(kept, forms), verdicts)

    def _sets(self) -> tuple[ConfusionSet, ...]:
        asked = self._options
        known = confusion.coded(self._terms) if asked.vocabularies else []
        for name in asked.vocabularies:
            if name not in known:
                raise InputError(f"vocabulary {name!r}: this UMLS has codes of {', '.join(known) or 'none'}")
        found = confusion.candidates(
            self._terms,
            seed=asked.seed,
            most=asked.sets,
            size=asked.size,
            vocabularies=asked.vocabularies,
            progress=self._progress,
        )
        if not found:
            raise InputError(f"{asked.umls}: no concept with a code has an English term, so there is no confusion set")
        numbers: Counter[str] = Counter()
        sets = []
        for row in found:
            made = TIERS[row.kind - 1]
            numbers[made] += 1
            name = f"{made}-{numbers[made]:05}"
            sets.append(ConfusionSet(name, made, row.vocabulary, row.concepts, row.groups))
        return tuple(sets)

    def _task(self, kept: Sequence[tuple[ConfusionSet, Verdict]], forms: Mapping[str, Sequence[Form]]) -> Task:
        places: dict[str, tuple[str, str]] = {}
        for one, _ in kept:
            places |= {cui: (group, one.vocabulary) for cui, group in zip(one.concepts, one.groups, strict=True)}
        pool = _Pool(places, forms)
        queries, judgements = [], []
        for one, verdict in kept:
            for query, answers in pool.asked(one, verdict, answers=self._options.answers):
                queries.append(query)
                judgements += [Judgement(query.id, name, 1.0) for name in answers]
        question = "A term asks for the other terms of its confusion set, in every language."
        if self._options.answers == CONCEPT:
            question = "A term asks for the other terms of its concept, in every language."
        return Task(
            TASK,
            "Discrimination",
            question,
            tuple(pool.documents),
            tuple(queries),
            tuple(judgements),
            exclude_self=True,
        )

    def _carded(self, task: Task, verdicts: Sequence[Verdict]) -> Benchmark:
        asked = self._options
        facts = {
            "validators": list(self._validators.names),
            "bounds": {tier: list(ends) for tier, ends in BOUNDS.items()},
            "sets_asked_for": asked.sets,
            "size": asked.size,
            "seed": asked.seed,
            "answers": asked.answers,
            "vocabularies": list(asked.vocabularies),
            "outcomes": {tier: _outcomes(verdicts, tier) for tier in TIERS},
            "sets": as_csv(verdicts, self._validators.names),
        }
        return carded(
            task,
            terms=self._terms,
            files={},
            licence=LICENCE,
            facts=facts,
            notes=tuple(_notes(verdicts, self._validators.names)),
        )


class _Pool:
    """The documents that all queries share: every spelling of every concept of a set that was kept."""

    def __init__(self, places: Mapping[str, tuple[str, str]], forms: Mapping[str, Sequence[Form]]) -> None:
        self._places = places
        self._forms = forms
        self.documents: list[Document] = []
        self._of: dict[str, list[str]] = {}
        self._spelt: dict[tuple[str, str], list[str]] = defaultdict(list)
        for cui in sorted(places):
            self._of[cui] = [f"{cui}-{form.language}-{form.place}" for form in forms[cui]]
            for name, form in zip(self._of[cui], forms[cui], strict=True):
                self.documents.append(Document(name, form.language, form.text, cui, *self._near(cui)))
                self._spelt[form.language, form.key].append(name)

    def _near(self, cui: str) -> tuple[str, str]:
        """What ties a concept to its siblings, and to those related to it."""
        group, vocabulary = self._places[cui]
        return f"{vocabulary} {group}", vocabulary

    def asked(self, one: ConfusionSet, verdict: Verdict, *, answers: str) -> Iterator[tuple[Query, list[str]]]:
        """One query for each concept of a set and each language asked in, with its answers."""
        for cui in one.concepts:
            own = answers == CONCEPT or one.made == SYNONYM
            sought = (
                self._of[cui] if own else [name for other in one.concepts if other != cui for name in self._of[other]]
            )
            for form in self._forms[cui]:
                if form.language not in ASKED or form.place > 1:
                    continue
                out = dict.fromkeys([*self._spelt[form.language, form.key], *([] if own else self._of[cui])])
                found = [name for name in sought if name not in out]
                if found:
                    yield self._query(one, verdict, form, tuple(out)), found

    def _query(self, one: ConfusionSet, verdict: Verdict, form: Form, excluded: tuple[str, ...]) -> Query:
        return Query(
            f"{one.name}-{form.cui}-{form.language}",
            form.language,
            form.text,
            form.cui,
            *self._near(form.cui),
            tier=verdict.tier,
            excluded_documents=excluded,
            attributes={
                "vocabulary": one.vocabulary,
                "set": one.name,
                "made": one.made,
                "validated": verdict.outcome,
            },
        )


def _members(one: ConfusionSet, forms: Mapping[str, Sequence[Form]]) -> list[str]:
    """What validators look at: every spelling of one concept, else the English term of each."""
    if one.made == SYNONYM:
        return [form.text for form in forms[one.concepts[0]]]
    return [next(form.text for form in forms[cui] if form.language == "en" and form.place == 1) for cui in one.concepts]


def _outcomes(verdicts: Iterable[Verdict], tier: str) -> dict[str, int]:
    found = Counter(row.outcome for row in verdicts if row.made == tier)
    return {name: found[name] for name in OUTCOMES}


def _notes(verdicts: Sequence[Verdict], validators: Sequence[str]) -> Iterator[str]:
    found = Counter(row.outcome for row in verdicts)
    yield (
        f"Discrimination: of {counted(len(verdicts), 'confusion set')} {found['accepted']:,} were accepted, "
        f"{found['re-tiered']:,} moved to another tier and {found['rejected']:,} rejected by "
        f"{', '.join(validators)}. No clinician has checked a set."
    )
