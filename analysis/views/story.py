"""Why should I care? One question in two languages: what is found, what is missed, how often, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.metrics import depth
from analysis.model import NEVER, Interval, SystemLabel
from analysis.stats import bootstrap
from analysis.stats.effects import too_few
from analysis.stats.multiplicity import holm
from analysis.stats.permutation import sign_flip_ps
from analysis.stats.proportion import wilson
from analysis.store import one_query
from analysis.store.read import Store
from analysis.views.evidence import (
    LEVEL,
    SEED,
    Evidence,
    Floats,
    benchmark_label,
    chosen_tasks,
    number,
    one_task,
    task_label,
)
from analysis.views.selection import BenchmarkLabel, Selection, TaskLabel

NEAR = 10  # results that people look at
FIRST = 5  # results that are shown
DEEP = 100  # results that a second look reads
BEYOND_CHANCE = 0.05
NEEDS = "the story needs rankings"
PARALLEL = "expected queries in several languages that share a family"


class Concept(NamedTuple):
    """One question that is asked in several languages."""

    family: str  # its key in an address: what its language versions share
    label: str  # in English where there is an English version
    languages: tuple[str, ...]  # in the order of the benchmark
    texts: tuple[str, ...]  # one a language


class Found(NamedTuple):
    """One of the first results."""

    rank: int
    language: str  # "und" where it is not in the corpus
    text: str
    right: bool


class Missed(NamedTuple):
    """A right answer that is not among the first ten."""

    language: str
    text: str
    rank: int | None  # None: nowhere in the run


class Version(NamedTuple):
    """The question in one language and what became of it."""

    language: str
    text: str
    first: tuple[Found, ...]
    missed: tuple[Missed, ...]  # the nearest first
    n_right: int  # right answers in the corpus
    best_rank: int | None  # of the first right answer; None: nowhere in the run
    depth: int  # how many results the search was followed


class Count(NamedTuple):
    """How often the questions of one language end well."""

    language: str
    near: Interval  # share with a right answer among the first ten
    deep: Interval  # share with one among the first ``Story.deep``


class Performer(NamedTuple):
    """One system on all questions that are asked in several languages."""

    system: SystemLabel
    by_language: Mapping[str, Interval]  # share with a right answer among the first ten
    everywhere: Interval  # the same over all languages together


class Help(NamedTuple):
    """The best of the other systems, where it is better beyond chance."""

    performer: Performer
    difference: Interval  # share of the questions, other less shown, over all languages
    p: float  # by sign flips of whole families, Holm over the systems that were compared


class Outcome(NamedTuple):
    """How usual it is what became of the question: found or not in one language, found or not in the other."""

    alike: int  # questions that end the same way in these two languages
    n: int  # questions that are asked in both


@dataclass(frozen=True)
class StoryView:
    """The six steps.

    Attributes:
        benchmark: where the questions are.
        task: the one task.
        system: which searches.
        concepts: what can be asked.
        languages: of the questions.
        concept: what is asked.
        first: the question in the first language.
        second: in the second.
        same_answers: whether both versions have the same right answers.
        outcome: how usual that is.
        counts: how often it happens, by language.
        performers: every system, for those who choose another one.
        deep: how many results a second look reads.
        everywhere_deep: share of all questions with a right answer among these: what a second look reaches at most.
        chance: the same for results in random order.
        compared: other systems that were compared.
        untold: why none of them can be told from chance; None where one can.
        help: what helps; None where nothing does beyond chance.
    """

    benchmark: BenchmarkLabel
    task: TaskLabel
    system: SystemLabel
    concepts: tuple[Concept, ...]
    languages: tuple[str, ...]
    concept: Concept
    first: Version
    second: Version
    same_answers: bool
    outcome: Outcome
    counts: tuple[Count, ...]
    performers: tuple[Performer, ...]
    deep: int
    everywhere_deep: Interval
    chance: float
    compared: int
    untold: str | None
    help: Help | None


def page(store: Store, selection: Selection) -> tuple[StoryView, ...]:
    """The story of each chosen task that has rankings, as the page opens on it; of the one system if one is named.

    Raises:
        InputError: no chosen task has rankings, or one has no question in several languages, or no run.
    """
    names = [task.name for task in chosen_tasks(store, selection) if task.n_documents]
    if not names:
        raise InputError(NEEDS)
    system = selection.systems[0] if len(selection.systems) == 1 else None
    whole = selection._replace(systems=()) if system else selection
    return tuple(story(store, whole._replace(tasks=(name,)), system=system) for name in names)


def can_tell(store: Store, selection: Selection) -> bool:
    """Whether the one task has rankings and a question that is asked in several languages.

    Raises:
        InputError: an unknown benchmark, or not exactly one task.
    """
    task = one_task(store, selection)
    if not task.n_documents:
        return False
    return bool(_Stage(Evidence.load(store, task, selection=selection, labels=store.system_labels()), {}).versions)


def untold(store: Store, selection: Selection) -> str | None:
    """Why the one task tells no story, in words; None where it does.

    Raises:
        InputError: an unknown benchmark or system, or not exactly one task.
    """
    task, labels = one_task(store, selection), store.system_labels()
    if not task.n_documents:
        return NEEDS
    return _Stage(Evidence.load(store, task, selection=selection, labels=labels), labels).untold


def story(
    store: Store,
    selection: Selection,
    *,
    system: str | None = None,
    family: str | None = None,
    languages: tuple[str | None, str | None] = (None, None),
) -> StoryView:
    """Tell one question in two languages.

    Args:
        store: where the runs are.
        selection: one task; the systems that may be compared.
        system: which searches; the one whose languages are farthest apart where none is named or it has no run.
        family: what is asked; where none is named or it is not asked, one that ends as most do, with short texts.
        languages: the two; best and worst of the system where none is named or the concept is not asked in it.

    Raises:
        InputError: not exactly one task, one without rankings, no question in several languages, or no run.
    """
    labels = store.system_labels()
    evidence = Evidence.load(store, one_task(store, selection), selection=selection, labels=labels)
    evidence.need_ranks(NEEDS)
    stage = _Stage(evidence, labels)
    if stage.untold:
        raise InputError(stage.untold)
    return stage.story(system, family, languages)


@dataclass(frozen=True, eq=False)
class _Stage:
    """What every step takes from the evidence."""

    evidence: Evidence
    labels: Mapping[str, SystemLabel]

    def story(self, system: str | None, family: str | None, languages: tuple[str | None, str | None]) -> StoryView:
        place = self.place(system)
        first, second = self.two_languages(place, family, languages)
        both = self.asked_in(first, second)
        key = family or self.typical(place, self.two_languages(place, None, (None, None)))
        key = key if key in both else self.typical(place, (first, second))
        run, ends = self.evidence.runs[place], [self.ends(place, asked, (first, second)) for asked in both.values()]
        outcome = self.ends(place, both[key], (first, second))
        deep = min(DEEP, run.depth)
        reached = np.where(self.parallel, self.evidence.values(f"hit_at_{deep}")[place], np.nan)
        helped, compared, untold = self.helped(place)
        return StoryView(
            benchmark=benchmark_label(self.evidence.benchmark),
            task=task_label(self.evidence.task),
            system=self.labels[run.system],
            concepts=self.concepts,
            languages=self.languages,
            concept=next(concept for concept in self.concepts if concept.family == key),
            first=self.version(place, both[key][first]),
            second=self.version(place, both[key][second]),
            same_answers=self.answers(both[key][first]) == self.answers(both[key][second]),
            outcome=Outcome(ends.count(outcome), len(ends)),
            counts=tuple(self.counts(place, reached)),
            performers=self.performers,
            deep=deep,
            everywhere_deep=self.shares(reached[np.newaxis])[0],
            chance=self.chance(deep),
            compared=compared,
            untold=untold,
            help=helped,
        )

    @property
    def untold(self) -> str | None:
        """Why there is nothing to tell."""
        if not self.evidence.runs:
            return f"no system has run on {self.evidence.task.name}"
        if not self.versions:
            return f"no question of {self.evidence.task.name} is asked in several languages: {PARALLEL}"
        return None

    @cached_property
    def versions(self) -> dict[str, dict[str, int]]:
        """Questions that are asked in several languages and have an answer: key to language to the query's position."""
        queries, found = self.evidence.queries, dict[str, dict[str, int]]()
        question = queries.question
        for at in np.flatnonzero(self.evidence.domain).tolist():
            found.setdefault(str(question[at]), {}).setdefault(str(queries.language[at]), at)
        return {key: asked for key, asked in found.items() if len(asked) > 1}

    def asked_in(self, first: str, second: str) -> dict[str, dict[str, int]]:
        """The questions that are asked in both of two languages."""
        return {key: asked for key, asked in self.versions.items() if first in asked and second in asked}

    @cached_property
    def parallel(self) -> NDArray[np.bool_]:
        """``(Q,)`` queries of such questions."""
        queries, domain = self.evidence.queries, self.evidence.domain
        return np.array([key in self.versions for key in queries.question], dtype=bool) & domain

    @cached_property
    def languages(self) -> tuple[str, ...]:
        asked = {language for versions in self.versions.values() for language in versions}
        return tuple(tag for tag in self.evidence.languages if tag in asked)

    @cached_property
    def concepts(self) -> tuple[Concept, ...]:
        text = self.evidence.queries.text
        found = []
        for key, asked in self.versions.items():
            texts = {tag: str(text[asked[tag]]) for tag in self.languages if tag in asked}
            label = texts.get("en", next(iter(texts.values())))
            found.append(Concept(key, label, tuple(texts), tuple(texts.values())))
        return tuple(sorted(found, key=lambda concept: (concept.label.casefold(), concept.family)))

    @cached_property
    def near(self) -> Floats:
        """``(S, Q)`` 1 where a right answer is among the first ten; NaN outside the questions told of."""
        return np.where(self.parallel, self.evidence.values(f"hit_at_{NEAR}"), np.nan)

    @cached_property
    def performers(self) -> tuple[Performer, ...]:
        spoken = [self.evidence.queries.language == tag for tag in self.languages]
        columns = np.concatenate([self.near, *(np.where(mine, self.near, np.nan) for mine in spoken)])
        found, step = self.shares(columns), len(self.evidence.runs)
        return tuple(
            Performer(
                self.labels[run.system],
                dict(zip(self.languages, found[place + step :: step], strict=True)),
                found[place],
            )
            for place, run in enumerate(self.evidence.runs)
        )

    def shares(self, columns: Floats) -> list[Interval]:
        """Share of 1 in each row of ``columns`` ``(C, Q)``; Wilson's interval where no family has two, else drawn."""
        mean = bootstrap.pooled_mean(columns)
        families = [len(np.unique(self.evidence.family[known])) for known in ~np.isnan(columns)]
        drawn = [at for at, n in enumerate(mean.n.tolist()) if families[at] < n]
        low, high = wilson(np.nansum(columns, axis=1), mean.n, level=LEVEL)
        found = [
            Interval(number(value), "pooled", None, None, number(low[at]), number(high[at]), LEVEL, "wilson", int(n))
            for at, (value, n) in enumerate(zip(mean.value, mean.n, strict=True))
        ]
        for at, interval in zip(drawn, self.evidence.pooled(columns[drawn]) if drawn else [], strict=True):
            found[at] = interval
        return found

    def place(self, system: str | None) -> int:
        """Which run is shown."""
        names = [run.system for run in self.evidence.runs]
        if system in names:
            return names.index(system)
        gaps = [max(values) - min(values) for values in map(_values, self.performers)]
        return gaps.index(max(gaps))

    def two_languages(self, place: int, family: str | None, asked: tuple[str | None, str | None]) -> tuple[str, str]:
        """Those asked for as far as a question is asked in both, else the best and the worst of those left."""
        offered = self.versions.get(family or "", dict.fromkeys(self.languages, 0))
        share = {tag: found.value or 0.0 for tag, found in self.performers[place].by_language.items() if tag in offered}
        first, second = asked
        if first not in share:
            first = max((tag for tag in share if tag != second), key=share.__getitem__)
        others = [tag for tag in share if tag != first and self.asked_in(first, tag)]
        return first, second if second in others else min(others, key=share.__getitem__)

    def ends(self, place: int, asked: Mapping[str, int], two: tuple[str, str]) -> tuple[bool, ...]:
        """Whether each of the two versions has a right answer among the first ten."""
        return tuple(bool(self.near[place, asked[tag]]) for tag in two)

    def typical(self, place: int, two: tuple[str, str]) -> str:
        """A question that ends as most do: with answers in the results shown if one has, and of these the shortest."""
        both = self.asked_in(*two)
        ends = {key: self.ends(place, asked, two) for key, asked in both.items()}
        listed = list(ends.values())
        usual = max(dict.fromkeys(listed), key=listed.count)
        text, seen = self.evidence.queries.text, self.evidence.values(f"hit_at_{FIRST}")[place]
        return min(
            (key for key, end in ends.items() if end == usual),
            key=lambda key: (
                -sum(seen[both[key][tag]] for tag in two),
                sum(len(text[both[key][tag]]) for tag in two),
                key,
            ),
        )

    def answers(self, query: int) -> set[int]:
        """The positions of the right answers to a query that are in the corpus."""
        judged = self.evidence.judged
        mine = (judged.query == query) & (judged.grade >= 1) & (judged.language >= 0)
        return set(self.evidence.document[mine].tolist())

    def version(self, place: int, query: int) -> Version:
        """What the shown system makes of one query."""
        evidence, run = self.evidence, self.evidence.runs[place]
        store, task_id = evidence.store, evidence.task.task_id
        mine, answers = evidence.judged.query == query, self.answers(query)
        placed = zip(evidence.document[mine].tolist(), evidence.ranks[place, mine].tolist(), strict=True)
        ranks = {document: rank for document, rank in placed if document in answers}
        hits = store.hits(run, [query], top=FIRST)
        listed = [*ranks, *(hit.document for hit in hits)]
        texts = store.texts(task_id, listed)
        known = {row.document: row for row in one_query.answers(store, task_id, query, also=listed)}

        def told(document: int) -> tuple[str, str]:
            row = known[document]
            return row.language or "und", texts.get(document) or row.id

        order = sorted(ranks, key=lambda document: (ranks[document], document))
        best = ranks[order[0]] if order else int(NEVER)
        return Version(
            language=str(evidence.queries.language[query]),
            text=str(evidence.queries.text[query]),
            first=tuple(Found(hit.rank, *told(hit.document), hit.document in ranks) for hit in hits),
            missed=tuple(Missed(*told(one), _rank(ranks[one])) for one in order if ranks[one] > NEAR),
            n_right=len(ranks),
            best_rank=_rank(best),
            depth=run.depth,
        )

    def counts(self, place: int, reached: Floats) -> Iterator[Count]:
        language = self.evidence.queries.language
        columns = np.stack([np.where(language == tag, reached, np.nan) for tag in self.languages])
        near = self.performers[place].by_language
        for tag, deep in zip(self.languages, self.shares(columns), strict=True):
            yield Count(tag, near[tag], deep)

    def chance(self, k: int) -> float:
        """The share of the questions that k results in random order would hold an answer to."""
        answers, queries = self.evidence.judged.n_relevant, np.flatnonzero(self.parallel)
        left_out = self.evidence.store.excluded(self.evidence.task.task_id)
        pool = np.array([self.evidence.task.n_documents - len(left_out.get(query, ())) for query in queries.tolist()])
        return float(depth.chance(answers[queries], pool, ks=np.array([k]))[0])

    def helped(self, place: int) -> tuple[Help | None, int, str | None]:
        """The best of the others if it is better beyond chance, how many were compared, and why nothing can be told."""
        others = [at for at in range(len(self.evidence.runs)) if at != place]
        if not others:
            return None, 0, None
        apart = self.near[others] - self.near[place]
        sums = np.stack([self.evidence.family_sums(row) for row in apart], axis=1)  # (F, O)
        p, reasons = np.full(len(others), np.nan), []
        for column in range(len(others)):
            known = sums[~np.isnan(sums[:, column]), column]
            pairs = int(np.count_nonzero(~np.isnan(apart[column])))
            few = too_few(pairs=pairs, families=len(known), unequal=int(np.count_nonzero(known)))
            if few is None:
                p[column] = sign_flip_ps(known[:, np.newaxis], seed=SEED)[0]
            else:
                reasons.append(few)
        untold = reasons[0] if len(reasons) == len(others) else None
        adjusted, differences = holm(p), self.evidence.pooled(apart)
        better = [at for at in range(len(others)) if adjusted[at] < BEYOND_CHANCE and (differences[at].value or 0) > 0]
        if not better:
            return None, len(others), untold
        best = max(better, key=lambda at: differences[at].value or 0)
        return Help(self.performers[others[best]], differences[best], float(adjusted[best])), len(others), untold


def _values(performer: Performer) -> list[float]:
    return [found.value or 0.0 for found in performer.by_language.values()]


def _rank(rank: int) -> int | None:
    return None if rank == NEVER else rank
