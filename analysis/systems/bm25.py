"""BM25: Okapi scores over whitespace tokens, or with character bigrams for scripts written without spaces.

``bm25s`` with ``method="robertson"`` scores a document as the sum over the query's tokens of

    idf · tf / (tf + k1 · (1 − b + b · length / mean length)),   idf = ln max(1, (N − df + 0.5) / (df + 0.5))

(Robertson & Zaragoza 2009, equation 3.15). It differs from ``rank_bm25`` in two ways. The numerator lacks the factor
``k1 + 1``, which scales all scores alike. And where a token stands in more than half of the documents, so that its idf
would be negative, idf is 0 here and a quarter of the mean idf there: such tokens do not retrieve anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.model import Corpus, Progress, Questions, Ranking, silent
from analysis.systems.entry import Entry
from analysis.systems.index import Excluded, top
from analysis.systems.lists import joined
from analysis.systems.workbench import Need, Workbench

BATCH = 256
"""Queries scored between two progress reports."""

_CJK = re.compile(
    "["
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han, with 々 and 〇
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana, half-width Katakana
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "]+"
)


_WORD = re.compile(r"\s*\S+\s*|\s+")


class BM25:
    """Okapi BM25 over one of two tokenisations; no model, nothing to encode."""

    def __init__(self, system: Entry) -> None:
        self.entry = system

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """Nothing."""
        return []

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The ``depth`` best documents of positive score; see :class:`~analysis.systems.workbench.System`."""
        index = Lexical(corpus.texts, system=self.entry, tie_order=corpus.tie_order)
        step = f"search {self.entry.short_title}"
        return index.search(
            questions.texts, depth=depth, excluded=questions.excluded, progress=workbench.progress, step=step
        )


class Lexical:
    """The BM25 index of a corpus.

    Args:
        texts: ``(M,)`` documents.
        system: its tokenisation, k1 and b.
        tie_order: ``(M,)`` int32; of equal scores the smaller comes first.

    Raises:
        SystemLoadError: the package bm25s is missing.
    """

    def __init__(self, texts: Sequence[str], *, system: Entry, tie_order: NDArray[np.int32]) -> None:
        self.tie_order = tie_order
        self._tokens = tokeniser(system)
        self._vocabulary: dict[str, int] = {}
        documents = [
            [self._vocabulary.setdefault(token, len(self._vocabulary)) for token in self._tokens(text)]
            for text in texts
        ]
        self._engine = _engine(documents, self._vocabulary, system=system) if self._vocabulary else None

    def search(
        self,
        queries: Sequence[str],
        *,
        depth: int,
        excluded: Excluded | None = None,
        progress: Progress = silent,
        step: str = "search",
    ) -> Ranking:
        """The ``depth`` best documents of each query text, those of score 0 left out."""
        without = excluded or {}
        made: list[Ranking] = []
        for position, query in enumerate(queries):
            if position % BATCH == 0:
                progress(step, position, len(queries))
            best, scores = self.one(query, depth=depth, excluded=without.get(position))
            made.append(Ranking(np.full(len(best), position, dtype=np.int32), best, scores, depth))
        progress(step, len(queries), len(queries))
        return joined(made, depth=depth)

    @property
    def nbytes(self) -> int:
        """Memory that the scores of its words take."""
        if self._engine is None:
            return 0
        return sum(int(self._engine.scores[part].nbytes) for part in ("data", "indices", "indptr"))

    def shares(self, query: str, document: int) -> list[tuple[str, float]]:
        """What each token of a query adds to the score of a document: they sum to it; tokens it lacks are left out."""
        found: dict[str, float] = {}
        for token in self._tokens(query):
            if self._engine is not None and token in self._vocabulary:
                value = float(self._engine.get_scores_from_ids([self._vocabulary[token]])[document])
                if value > 0:
                    found[token] = found.get(token, 0.0) + value
        return list(found.items())

    def one(
        self, query: str, *, depth: int, excluded: NDArray[np.int32] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The ``depth`` best documents of one query text: positions and scores, best first."""
        known = [self._vocabulary[token] for token in self._tokens(query) if token in self._vocabulary]
        if self._engine is None or not known:
            return np.zeros(0, np.int32), np.zeros(0)
        scores: NDArray[np.float64] = self._engine.get_scores_from_ids(known)
        best = top(scores, depth=depth, tie_order=self.tie_order, excluded=excluded, floor=0.0)
        return best, scores[best]


def pieces(text: str) -> list[str]:
    """Parts that can be left out of a text, which they are when joined: words with the blanks around them.

    Han, Kana and Hangul, which have no blanks, fall into single letters.
    """
    found: list[str] = []
    for word in _WORD.findall(text):
        end = 0
        for run in _CJK.finditer(word):
            found += [word[end : run.start()], *run.group()]
            end = run.end()
        found.append(word[end:])
    return [part for part in found if part]


def tokeniser(system: Entry) -> Callable[[str], list[str]]:
    """How a BM25 of the catalogue cuts texts."""
    return bigrams if system.tokens == "cjk-bigrams" else whitespace


def whitespace(text: str) -> list[str]:
    """Lower-cased tokens between white space: ``"Acute Pain"`` → ``acute, pain``."""
    return text.lower().split()


def bigrams(text: str) -> list[str]:
    """The same, with every run of Han, Kana or Hangul replaced by its character bigrams.

    ``"2型糖尿病"`` → ``2, 型糖, 糖尿, 尿病``; a run of one character stays as it is.
    """
    return [piece for token in whitespace(text) for piece in _pieces(token)]


def _pieces(token: str) -> list[str]:
    pieces: list[str] = []
    end = 0
    for run in _CJK.finditer(token):
        pieces.append(token[end : run.start()])
        characters = run.group()
        pieces += [characters[i : i + 2] for i in range(max(1, len(characters) - 1))]
        end = run.end()
    return [piece for piece in [*pieces, token[end:]] if piece]


def _engine(documents: list[list[int]], vocabulary: dict[str, int], *, system: Entry) -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise SystemLoadError(f"{system.name}: the package bm25s is not installed") from error
    engine = bm25s.BM25(k1=system.k1, b=system.b, method="robertson", dtype="float64", backend="numpy")
    engine.index((documents, vocabulary), create_empty_token=False, show_progress=False)
    return engine
