"""The numbers behind the causes of failure: by system and language, each a mean or a ratio of sums with its interval.

The language ``None`` stands for all of them together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.geometry import hubness
from analysis.geometry.tokens import Ratio, ratios
from analysis.metrics import routes
from analysis.model import Interval, TokenCounts
from analysis.stats import bootstrap
from analysis.stats.bootstrap import Strata
from analysis.store.read import RunRow, SpaceColumns, TokenColumns, TranslationColumns
from analysis.views.evidence import LEVEL, Evidence, Floats, number, strata

Groups = Mapping[str | None, NDArray[np.bool_]]
"""Language, or None for all -> which queries or texts are in it."""

Numbers = dict[str | None, dict[str, Interval]]
"""Language, or None for all -> its numbers by name; what is undefined has no entry."""

CROSS = "recall_at_10_cross"
BIAS = "same_language_irrelevant_at_10"


@dataclass(frozen=True, eq=False)
class TopTen:
    """The first ten documents of every query of the slice, of one run.

    Attributes:
        query: ``(H,)``.
        document: ``(H,)``.
        n_documents: of the corpus.
    """

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    n_documents: int

    @classmethod
    def of(cls, evidence: Evidence, run: RunRow) -> TopTen:
        """Read them of a run that keeps its hits."""
        found = evidence.store.top_documents(run, top=hubness.DEPTH)
        inside = evidence.domain[found["query"]]
        return cls(found["query"][inside], found["document"][inside], evidence.task.n_documents)

    @cached_property
    def appearances(self) -> hubness.Appearances:
        """``(M,)`` in how many lists each document of the corpus stands."""
        return hubness.appearances(self.document, n_documents=self.n_documents)

    @property
    def n_distinct(self) -> int:
        """How many documents of the corpus stand in any list."""
        return int(np.count_nonzero(self.appearances))

    @cached_property
    def hubs(self) -> NDArray[np.intp]:
        """Positions of the hubs, the most frequent first."""
        return hubness.hubs(self.appearances)

    def most_frequent(self, asked: NDArray[np.bool_]) -> int | None:
        """The document that most lists of some queries ``(Q,)`` hold; None where they hold none of the corpus."""
        counts = hubness.appearances(self.document[asked[self.query]], n_documents=self.n_documents)
        return int(counts.argmax()) if counts.any() else None

    def share(self, documents: Sequence[int] | NDArray[Any], *, n_queries: int, any_of: bool) -> Floats:
        """``(Q,)`` whether a list holds any of some documents, or their share of it; NaN for an empty list."""
        held = np.bincount(self.query[np.isin(self.document, documents)], minlength=n_queries)
        sizes = np.bincount(self.query, minlength=n_queries)
        return bootstrap.ratio(np.minimum(held, 1) if any_of else held, np.minimum(sizes, 1) if any_of else sizes)


def of_queries(evidence: Evidence) -> Groups:
    """The queries of the slice by language, all of them first."""
    spoken = {
        tag: evidence.domain & (evidence.judged.query_language == code) for code, tag in enumerate(evidence.languages)
    }
    return {None: evidence.domain} | {tag: asked for tag, asked in spoken.items() if asked.any()}


def of_lists(evidence: Evidence, tops: Sequence[TopTen]) -> list[Numbers]:
    """What the lists of each system tell: how it fails across languages, language bias and hubs."""
    groups = of_queries(evidence)
    stored = {key: evidence.values(key) for key in (CROSS, BIAS)}
    named: list[tuple[int, str | None, str]] = []
    rows: list[Floats] = []
    for place, top in enumerate(tops):
        same = {key: values[place] for key, values in stored.items()}
        same["empty_list"] = (evidence.facts["depth"][place] == 0).astype(np.float64)
        same["hub_places"] = top.share(top.hubs, n_queries=len(evidence.mask), any_of=False)
        for tag, asked in groups.items():
            most = top.most_frequent(asked)
            held = top.share([] if most is None else [most], n_queries=len(evidence.mask), any_of=True)
            for key, values in {**same, "largest_document": held}.items():
                named.append((place, tag, key))
                rows.append(np.where(asked, values, np.nan))
    found = _gathered(named, evidence.pooled(np.stack(rows)) if rows else [], n_systems=len(tops))
    for place, interval in enumerate(evidence.intervals((CROSS,))[CROSS] if tops else []):
        _put(found[place][None], CROSS, interval)  # over all: every language weighs the same
    return found


def _gathered(
    named: Sequence[tuple[int, str | None, str]], intervals: Sequence[Interval], *, n_systems: int
) -> list[Numbers]:
    found: list[Numbers] = [{None: {}} for _ in range(n_systems)]
    for (place, tag, key), interval in zip(named, intervals, strict=True):
        _put(found[place].setdefault(tag, {}), key, interval)
    return found


def _put(numbers: dict[str, Interval], key: str, interval: Interval) -> None:
    if interval.value is not None:
        numbers[key] = interval


def of_words(evidence: Evidence, matches: Mapping[str, NDArray[Any]]) -> Numbers:
    """Of a run that compares words: queries without a known word, and without a word of an answer elsewhere.

    The latter is undefined where it rests on a judgement that does not count.
    """
    groups, unshared = of_queries(evidence), 1.0 - matches["is_shared"].astype(np.float64)
    columns = {
        "no_known_word": 1.0 - matches["is_known"].astype(np.float64),
        "no_shared_word": np.where(evidence.recounted, np.nan, unshared),
    }
    named = [(0, tag, key) for tag in groups for key in columns]
    rows = [np.where(groups[tag], columns[key], np.nan) for _, tag, key in named]
    return _gathered(named, evidence.pooled(np.stack(rows)), n_systems=1)[0]


@dataclass(frozen=True, eq=False)
class Texts:
    """The documents of a corpus, then the queries of a slice, and how they are drawn.

    Attributes:
        families: ``(T,)`` object.
        language: ``(T,)`` tags.
        counted: ``(T,)`` not left out as doubtful or outside the slice.
        n_documents: M; query ``q`` is text ``M + q``.
        parallel: the same families are in every language.
    """

    families: NDArray[np.object_]
    language: NDArray[np.object_]
    counted: NDArray[np.bool_]
    n_documents: int
    parallel: bool

    @classmethod
    def of(cls, evidence: Evidence, *, without_flagged: bool) -> Texts:
        """The texts of a task."""
        n = evidence.task.n_documents
        documents = evidence.store.documents(evidence.task.task_id)
        sound = np.ones(n, dtype=bool)
        if without_flagged:
            flagged = evidence.store.flagged(evidence.task.task_id).documents
            sound[flagged[flagged < n]] = False
        return cls(
            np.concatenate([documents.family[:n], evidence.queries.family]),
            np.concatenate([documents.language[:n], evidence.queries.language]),
            np.concatenate([sound, evidence.mask]),
            n,
            evidence.benchmark.parallel,
        )

    @cached_property
    def draws(self) -> Strata:
        """What is drawn: whole families, with all their texts."""
        codes = np.unique(self.language.astype(str), return_inverse=True)[1]
        return strata(self.families, codes, parallel=self.parallel)

    @property
    def method(self) -> str:
        """How the intervals are called."""
        return bootstrap.method_name("joint" if self.parallel else "stratified")

    @cached_property
    def groups(self) -> Groups:
        """Texts that count, by language, all of them first."""
        spoken = {tag: self.counted & (self.language == tag) for tag in dict.fromkeys(self.language)}
        return {None: self.counted} | {tag: mine for tag, mine in spoken.items() if mine.any()}

    def places(self, item: NDArray[np.object_], position: NDArray[np.int32]) -> NDArray[np.intp]:
        """Which texts these are."""
        return np.asarray(np.where(item == "query", self.n_documents, 0) + position, dtype=np.intp)

    def numbers(self, named: Mapping[str, Ratio]) -> Numbers:
        """A ratio of sums, or with a whole of 1 a mean, of each language; NaN parts are left out."""
        pairs = [(tag, key) for tag in self.groups for key in named]
        parts, wholes = (
            np.stack([np.where(self.groups[tag], named[key][side], np.nan) for tag, key in pairs]) for side in (0, 1)
        )
        wholes = np.where(np.isnan(parts), np.nan, wholes)
        intervals = ratio_intervals(parts, wholes, draws=self.draws, method=self.method)
        return _gathered([(0, tag, key) for tag, key in pairs], intervals, n_systems=1)[0]


def ratio_intervals(parts: Floats, wholes: Floats, *, draws: Strata, method: str) -> list[Interval]:
    """Ratio of the sums of ``parts`` and ``wholes`` ``(C, T)``, formed inside each draw; NaN outside the domain."""
    value = bootstrap.ratio(bootstrap.pooled_mean(parts).value, bootstrap.pooled_mean(wholes).value)
    drawn = bootstrap.ratio_draws(parts, wholes, family=draws.family, draws=draws.draws)
    low, high = bootstrap.interval_of_draws(drawn, level=LEVEL)
    n = np.count_nonzero(~np.isnan(wholes), axis=1)
    return [
        Interval(number(value[c]), "pooled", None, None, number(low[c]), number(high[c]), LEVEL, method, int(n[c]))
        for c in range(len(value))
    ]


def of_tokens(texts: Texts, columns: TokenColumns) -> Numbers:
    """What a tokeniser makes of the texts of each language."""
    known = not np.isnan(columns.unknown_tokens).any()
    counts = TokenCounts(
        columns.tokens.astype(np.int64),
        columns.unknown_tokens.astype(np.int64) if known else None,
        columns.characters.astype(np.int64),
        columns.unknown_characters.astype(np.int64) if known else None,
        columns.truncated,
        None,  # what it cuts is stored, text by text
    )
    return texts.numbers(ratios(counts))


def of_space(texts: Texts, columns: SpaceColumns) -> Numbers:
    """How separate the languages are: the silhouette, and how often the probe tells the language."""
    place = texts.places(columns.item, columns.position)
    silhouette, right = np.full((2, len(texts.language)), np.nan)
    silhouette[place] = columns.silhouette
    guessed = columns.guessed_language
    right[place] = np.where(guessed == None, np.nan, guessed == texts.language[place])  # noqa: E711 (an object array)
    one = np.ones(len(texts.language))
    return texts.numbers({"silhouette": Ratio(silhouette, one), "probe_accuracy": Ratio(right, one)})


@dataclass(frozen=True, eq=False)
class Alignments:
    """How near translations are in one space, family by family and language pair by language pair.

    Attributes:
        columns: G rows.
        counted: ``(G,)`` families without a doubtful text.
    """

    columns: TranslationColumns
    counted: NDArray[np.bool_]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Language pairs, in the store's order."""
        return list(dict.fromkeys(zip(self.columns.language, self.columns.other_language, strict=True)))

    @cached_property
    def _influence(self) -> Floats:
        """``(G,)`` values whose mean over a pair is its alignment, as :func:`analysis.geometry.alignment.influence`."""
        return np.asarray(self.columns.cosine - 2 * self.columns.random + self._mean_random, dtype=np.float64)

    @cached_property
    def _mean_random(self) -> Floats:
        """``(G,)`` the mean cosine of random pairs of each row's two languages."""
        found = np.full(len(self.columns.cosine), np.nan)
        for pair in self.pairs:
            mine = self._of(*pair)
            found[mine] = bootstrap.pooled_mean(self.columns.random[mine].astype(np.float64)).value
        return found

    def _of(self, language: str, other: str) -> NDArray[np.bool_]:
        return np.asarray((self.columns.language == language) & (self.columns.other_language == other))

    def _speaks(self, tag: str) -> NDArray[np.bool_]:
        return np.asarray((self.columns.language == tag) | (self.columns.other_language == tag))

    def numbers(self) -> tuple[Numbers, dict[tuple[str, str], Interval]]:
        """Alignment by language (the mean over its pairs) and over all, and by pair.

        ``alignment_share`` is the alignment divided by what it would be if translations had the same vector.
        """
        tags = list(dict.fromkeys(itertools.chain.from_iterable(self.pairs)))
        groups: dict[Any, NDArray[np.bool_]] = {None: self.counted}
        groups |= {tag: self.counted & self._speaks(tag) for tag in tags}
        groups |= {pair: self.counted & self._of(*pair) for pair in self.pairs}
        groups = {name: rows for name, rows in groups.items() if rows.any()}
        found = dict(zip(groups, self._intervals(list(groups.values())), strict=True))
        by_pair = {pair: found[pair][0] for pair in self.pairs if pair in found}
        numbers: Numbers = {None: {}}
        for tag in (None, *tags):
            for key, interval in zip(("alignment", "alignment_share"), found.get(tag, ()), strict=False):
                _put(numbers.setdefault(tag, {}), key, interval)
        return numbers, by_pair

    def _intervals(self, groups: Sequence[NDArray[np.bool_]]) -> Iterator[tuple[Interval, Interval]]:
        if not groups:
            return iter(())
        families = self.columns.family
        draws = strata(families, np.zeros(len(families), dtype=np.int64), parallel=True)
        influence = np.stack([np.where(rows, self._influence, np.nan) for rows in groups])
        room = np.where(np.isnan(influence), np.nan, 1.0 - self._mean_random)
        one = np.where(np.isnan(influence), np.nan, 1.0)
        method = bootstrap.method_name("joint")
        return zip(
            ratio_intervals(influence, one, draws=draws, method=method),
            ratio_intervals(influence, room, draws=draws, method=method),
            strict=True,
        )


def of_translations(texts: Texts, columns: TranslationColumns) -> Alignments:
    """The families of which every text counts; without doubtful items to leave out, all of them."""
    documents = slice(0, texts.n_documents)  # the slice of the queries does not move what their documents tell
    doubtful = set(texts.families[documents][~texts.counted[documents]])
    return Alignments(columns, np.array([family not in doubtful for family in columns.family], dtype=bool))


def preferences(evidence: Evidence) -> list[dict[str, tuple[str, float]]]:
    """For each system and query language: the language most above the answer against its share, and how many times."""
    shares = evidence.store.corpus_languages(evidence.task.task_id)
    tags = list(evidence.languages)
    code = {tag: place for place, tag in enumerate(tags)}
    counts = np.zeros((len(evidence.runs), len(tags), len(tags)))
    ids, queries = [run.run_id for run in evidence.runs], np.flatnonzero(evidence.domain).tolist()
    for place, asked, above, n in evidence.store.language_above(ids, queries=queries):
        counts[place, code[asked], code[above]] += n
    total = sum(shares.values())
    corpus = np.array([shares.get(tag, 0) / total if total else 0.0 for tag in tags])
    found = routes.preference(counts, corpus)
    return [
        {
            tag: (tags[int(np.nanargmax(row))], float(np.nanmax(row)))
            for tag, row in zip(tags, system, strict=True)
            if not np.isnan(row).all()
        }
        for system in found
    ]
