"""How much speaks for two texts being translations of each other, learned from the file itself, without a dictionary.

Words that stand in the same rows again and again translate each other; numbers and abbreviations of Latin letters
mostly stay as they are; the lengths of two languages keep a ratio. Each is weighed by how much more often it is seen in
rows that belong together than in others, and the weights add up to the logarithm of the odds (naive Bayes). What is
learned for a row is learned from other rows, so that no text speaks for itself. Scripts without spaces are compared by
pairs of characters. After Gale & Church (1993, "A program for aligning sentences in bilingual corpora") for lengths and
Melamed (2000, "Models of translational equivalence among words") for words, simplified; the numbers are our choice.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEIGHBOURS = 10
"""How many rows before and after a row are compared with it."""
BLOCK = 60
"""Rows whose offset is settled together, and that learn nothing from each other."""
FOLDS = 4
WORDS = 100
"""Of a long text the first words are compared."""
PAIRS = 20_000_000
"""Pairs of words that a lexicon is learned from: a larger file gives a random part of its rows (seeded)."""
SEED = 19
WORD, NUMBER, ABBREVIATION = range(3)
"""Kinds of tokens."""

_SEEN = 2  # rows in which two words stand together before they may translate each other
_DICE = 0.1  # below this association two words have nothing to do with each other
_KEPT = 0.9  # how surely a token that both languages write alike is the same
_RARE = 5  # tokens of so few rows tell together what to expect of one
_WEIGHT = 4.0  # how many rows that expectation counts as
_ASSUMED = 0.6  # how often a number or an abbreviation is taken to be kept before anything is known
_WIDTH = 0.25  # the spread of the logarithm of length ratios that is assumed then
_LENGTH_LIMIT = 5.0  # a length alone speaks no louder than this, as the logarithm of odds
_CLEAR = 12.0  # by so much a block of rows must fit another offset better before that is believed

_CONTINUOUS = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # Han, kana
)
_THOUSANDS = re.compile(r"(?<=\d)[.,'’\s](?=\d{3}(?!\d))")
_CAPITAL = re.compile("[A-Z]")


class _Letters(dict[int, str]):
    """What is left of each character: letters, marks and digits, the latter as ASCII; all else parts words."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        category = unicodedata.category(letter)
        kept = str(unicodedata.decimal(letter)) if category == "Nd" else letter
        self[code] = kept if category[0] in "LMN" else "" if category == "Cf" else " "
        return self[code]


_LETTERS = _Letters()


def tokens(text: str) -> list[str]:
    """The words of a text, each once, at most ``WORDS``; abbreviations of Latin letters keep their capitals."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text))
    shouted = plain.isupper() and len(plain.split()) > 2 and all(map(str.isupper, filter(str.isalpha, plain)))
    found: dict[str, None] = {}
    for word in plain.translate(_LETTERS).split():
        kept = word if _abbreviated(word) and not shouted else word.casefold()
        if kept.isascii():
            found[kept] = None
        else:
            for run in _CONTINUOUS.findall(kept):
                found.update(dict.fromkeys(run[at : at + 2] for at in range(max(1, len(run) - 1))))
            found.update(dict.fromkeys(_CONTINUOUS.sub(" ", kept).split()))
        if len(found) >= WORDS:
            break
    return list(found)[:WORDS]


def _abbreviated(word: str) -> bool:
    return not word.islower() and len(_CAPITAL.findall(word)) > 1


def _kind(token: str) -> int:
    if any(letter.isdigit() for letter in token):
        return NUMBER
    return ABBREVIATION if _abbreviated(token) else WORD


@dataclass(frozen=True)
class Signature:
    """What the texts of one language hold.

    Attributes:
        words: ``(n, V)`` ``scipy.sparse.csr_array`` of float32, 1 where a text holds a token.
        places: token -> its column.
        kinds: ``(V,)`` int8: ``WORD``, ``NUMBER`` or ``ABBREVIATION``.
        lengths: ``(n,)`` logarithms of the numbers of characters without white space; NaN for an empty text.
    """

    words: Any
    places: dict[str, int]
    kinds: NDArray[np.int8]
    lengths: NDArray[np.float64]


def signature(texts: Sequence[str]) -> Signature:
    """Take texts apart; a blank one is none."""
    from scipy import sparse

    places: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for text in texts:
        columns += [places.setdefault(token, len(places)) for token in tokens(text)]
        ends.append(len(columns))
    words = sparse.csr_array(
        (np.ones(len(columns), dtype=np.float32), np.array(columns, dtype=np.int32), np.array(ends)),
        shape=(len(texts), len(places)),
    )
    sizes = np.array([sum(map(len, text.split())) for text in texts], dtype=np.float64)
    lengths = np.log(sizes, out=np.full(len(texts), np.nan), where=sizes > 0)
    return Signature(words, places, np.array([_kind(token) for token in places], dtype=np.int8), lengths)


@dataclass(frozen=True)
class Evidence:
    """How well each row of two languages fits, and how well it fits its neighbours.

    Attributes:
        odds: ``(n, 2 * NEIGHBOURS + 1)`` logarithms of the odds that the source of row i and the target of row
            i + o - NEIGHBOURS belong together rather than not, before any expectation; NaN where a text is missing.
        partner: ``(n,)`` the row whose target is taken to belong to each source while learning; -1 outside the file.
        ratio: median of the target's length over the source's.
        spread: robust standard deviation of its logarithm.
        fits: weighs any other pair of rows.
    """

    odds: NDArray[np.float64]
    partner: NDArray[np.int64]
    ratio: float
    spread: float
    fits: Fit

    @property
    def own(self) -> NDArray[np.float64]:
        """``(n,)`` the odds of each row as it stands in the file."""
        return self.odds[:, NEIGHBOURS]

    @property
    def others(self) -> NDArray[np.float64]:
        """``(n, 2 * NEIGHBOURS)`` those of rows that do not belong together, as far as is known."""
        offset = np.arange(self.odds.shape[1]) - NEIGHBOURS
        together = self.partner[:, None] - np.arange(len(self.odds))[:, None] == offset
        return np.where(together, np.nan, self.odds)


@dataclass(frozen=True)
class Fit:
    """Everything that was learned of two languages, ready to weigh any pair of their rows."""

    forward: _Half
    backward: _Half
    source: Signature
    target: Signature
    length: _Length

    def at(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(m,)`` logarithms of odds for the sources of ``rows`` with the targets of ``others``, pair by pair."""
        words = self.forward.at(rows, others) + self.backward.at(others, rows)
        lengths = self.target.lengths[others] - self.source.lengths[rows]
        return words / 2 + self.length.odds(lengths)

    def between(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(m, k)`` logarithms of odds for every source of ``rows`` with every target of ``others``."""
        words = self.forward.between(rows, others) + self.backward.between(others, rows).T
        lengths = self.target.lengths[others][None, :] - self.source.lengths[rows][:, None]
        return words / 2 + self.length.odds(lengths)


@dataclass(frozen=True)
class _Half:
    """One direction: what the words of a source say about the words of a target."""

    gains: Any  # (n, V) sparse: what each token of the target gains when it stands there
    words: Any  # (n, V) sparse: the tokens of the target
    losses: NDArray[np.float64]  # (FOLDS, n) what the tokens of each target lose when nothing explains them
    fold: NDArray[np.int64]  # (n,) of each source: whose losses count

    def at(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        explained = self.gains[rows].multiply(self.words[others]).sum(axis=1)
        return np.asarray(explained).ravel() + self.losses[self.fold[rows], others]

    def between(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        explained = (self.gains[rows] @ self.words[others].T).toarray()
        return np.asarray(explained + self.losses[self.fold[rows]][:, others], dtype=np.float64)


@dataclass(frozen=True)
class _Length:
    """Student's t with four degrees of freedom around two medians, bounded."""

    median: float
    spread: float
    other_median: float
    other_spread: float

    def odds(self, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        """The logarithm of the odds of logarithms of length ratios; NaN stays."""
        together = _log_t(ratios, self.median, self.spread)
        return np.clip(together - _log_t(ratios, self.other_median, self.other_spread), -_LENGTH_LIMIT, _LENGTH_LIMIT)


def _log_t(values: NDArray[np.float64], median: float, spread: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = -2.5 * np.log1p(((values - median) / spread) ** 2 / 4) - math.log(spread)
    return found


def evidence(source: Signature, target: Signature) -> Evidence:
    """Weigh every row of two languages, and every pair of neighbouring rows.

    First numbers, abbreviations and lengths alone say whether whole blocks of rows are shifted; then a lexicon is
    learned from the rows as they then belong together.

    Args:
        source: ``n`` texts.
        target: their translations, row by row.
    """
    n = len(source.lengths)
    partner = _partners(_band(_fit(source, target, np.arange(n), blind=True), n))
    fits = _fit(source, target, partner, blind=False)
    return Evidence(_band(fits, n), partner, float(np.exp(fits.length.median)), fits.length.spread, fits)


def _band(fits: Fit, n: int) -> NDArray[np.float64]:
    odds = np.full((n, 2 * NEIGHBOURS + 1), np.nan)
    for offset in range(-NEIGHBOURS, NEIGHBOURS + 1):
        rows = np.arange(max(0, -offset), min(n, n - offset))
        if len(rows):
            odds[rows, offset + NEIGHBOURS] = fits.at(rows, rows + offset)
    return odds


def _partners(odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """``(n,)`` the row whose target belongs to each source when whole blocks are shifted; -1 outside the file."""
    n = len(odds)
    partner = np.arange(n)
    for first in range(0, n, BLOCK):
        rows = slice(first, min(first + BLOCK, n))
        sums = np.nansum(np.clip(odds[rows], -3, 3), axis=0)
        best = int(sums.argmax())
        if sums[best] > max(sums[NEIGHBOURS], 0.0) + _CLEAR:
            partner[rows] += best - NEIGHBOURS
    return np.where((partner >= 0) & (partner < n), partner, -1)


def _fit(source: Signature, target: Signature, partner: NDArray[np.int64], *, blind: bool) -> Fit:
    """Learn from rows that belong together; ``blind`` to all but numbers, abbreviations and lengths."""
    rows = np.flatnonzero(partner >= 0)
    back = np.full(len(partner), -1)
    back[partner[rows]] = rows
    alike = _alike(source, target)
    lexicons = [alike] * FOLDS if blind else _lexicons(source, target, partner, alike)
    return Fit(
        _half(source, target, partner, lexicons, blind=blind),
        _half(target, source, back, [lexicon.T.tocsr() for lexicon in lexicons], blind=blind),
        source,
        target,
        _length(source, target, partner, blind=blind),
    )


def _fold(n: int) -> NDArray[np.int64]:
    return np.arange(n) // BLOCK % FOLDS


def _alike(source: Signature, target: Signature) -> Any:
    """``(V, W)`` sparse: ``_KEPT`` where both languages write a number, an abbreviation or a long word the same."""
    from scipy import sparse

    kept = [
        (place, target.places[token])
        for token, place in source.places.items()
        if (source.kinds[place] != WORD or len(token) > 2) and token in target.places
    ]
    rows, columns = np.array(kept, dtype=np.int64).reshape(-1, 2).T
    shape = len(source.places), len(target.places)
    return sparse.csr_array((np.full(len(kept), _KEPT, dtype=np.float32), (rows, columns)), shape=shape)


def _lexicons(source: Signature, target: Signature, partner: NDArray[np.int64], alike: Any) -> list[Any]:
    """For each fold the association of words, learned from the other folds: Dice's coefficient over rows."""
    rows = _sampled(source, target, partner)
    fold = _fold(len(partner))[rows]
    found = []
    for number in range(FOLDS):
        learned = rows[fold != number]
        ours, theirs = source.words[learned], target.words[partner[learned]]
        together = (ours.T @ theirs).tocoo()
        seen = together.data >= _SEEN
        row, column, count = together.coords[0][seen], together.coords[1][seen], together.data[seen]
        dice = 2 * count / (ours.sum(axis=0)[row] + theirs.sum(axis=0)[column])
        strong = dice >= _DICE
        values = np.minimum(dice[strong], 0.98).astype(np.float32), (row[strong], column[strong])
        found.append(type(alike)(values, shape=alike.shape).maximum(alike))
    return found


def _sampled(source: Signature, target: Signature, partner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows that belong together, so many of them that the words pair up no more than ``PAIRS`` times."""
    rows = np.random.default_rng(SEED).permutation(np.flatnonzero(partner >= 0))
    sizes = np.diff(source.words.indptr)[rows].astype(np.int64) * np.diff(target.words.indptr)[partner[rows]]
    return np.sort(rows[np.cumsum(sizes) <= PAIRS])


def _half(
    source: Signature, target: Signature, partner: NDArray[np.int64], lexicons: list[Any], *, blind: bool
) -> _Half:
    """Weigh each token of the target by how often it is explained in rows that belong together, and in any row."""
    from scipy import sparse

    explained = _explained(source, lexicons)
    together, apart = _chances(explained, target, partner)
    if blind:
        together = np.where(target.kinds == WORD, apart, _ASSUMED)
    together = np.clip(together, 0.01, 0.97)
    apart = np.minimum(np.clip(apart, 0.002, 0.97), together)
    if blind:
        apart = np.where(target.kinds == WORD, together, apart)
    gain, loss = np.log(together / apart), np.log((1 - together) / (1 - apart))
    fold = _fold(len(partner))
    order = np.argsort(fold, kind="stable")
    parts = [explained[fold == number].multiply((gain - loss)[number]) for number in range(FOLDS)]
    gains = sparse.vstack(parts, format="csr")[np.argsort(order)]
    gains.eliminate_zeros()
    return _Half(gains, target.words, np.asarray(loss @ target.words.T), fold)


def _chances(
    explained: Any, target: Signature, partner: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How surely a token is explained where it stands, and in any row, learned for each fold from the others.

    Returns:
        ``(FOLDS, W)`` each; tokens of few rows are smoothed by all such tokens of their kind.
    """
    fold = _fold(len(partner))
    here = [np.flatnonzero((fold == number) & (partner >= 0)) for number in range(FOLDS)]
    beside = [target.words[partner[rows]] for rows in here]
    frequency = _in_others(beside)
    hits = _in_others([explained[rows].multiply(words) for rows, words in zip(here, beside, strict=True)])
    everywhere = _in_others([explained[fold == number] for number in range(FOLDS)])
    n = (len(partner) - np.bincount(fold, minlength=FOLDS))[:, None]
    together, apart = np.empty(hits.shape), np.empty(hits.shape)
    for kind in (WORD, NUMBER, ABBREVIATION):
        of = target.kinds == kind
        rare = of & (frequency <= _RARE)
        expected = (hits * rare).sum(axis=1) / np.maximum((frequency * rare).sum(axis=1), 1)
        chance = (everywhere * rare).sum(axis=1) / np.maximum(rare.sum(axis=1) * n[:, 0], 1)
        together[:, of] = ((hits + _WEIGHT * expected[:, None]) / (frequency + _WEIGHT))[:, of]
        apart[:, of] = ((everywhere + _WEIGHT * chance[:, None]) / (n + _WEIGHT))[:, of]
    return together, apart


def _in_others(parts: list[Any]) -> NDArray[np.float64]:
    """``(FOLDS, W)`` sums of columns over all parts but one; ``parts``: a sparse matrix for each fold."""
    sums: NDArray[np.float64] = np.array([np.asarray(part.sum(axis=0), dtype=np.float64).ravel() for part in parts])
    return np.asarray(sums.sum(axis=0) - sums)


def _explained(source: Signature, lexicons: list[Any]) -> Any:
    """``(n, W)`` sparse: how surely the words of each source say that a token stands in its target (noisy or)."""
    from scipy import sparse

    n = source.words.shape[0]
    fold = _fold(n)
    parts, order = [], []
    for number, lexicon in enumerate(lexicons):
        rows = np.flatnonzero(fold == number)
        doubts = lexicon.copy()
        doubts.data = np.log1p(-doubts.data)
        found = (source.words[rows] @ doubts).tocsr()
        found.data = -np.expm1(found.data)
        parts.append(found)
        order.append(rows)
    return sparse.vstack(parts, format="csr")[np.argsort(np.concatenate(order))]


def _length(source: Signature, target: Signature, partner: NDArray[np.int64], *, blind: bool) -> _Length:
    """Lengths of rows that belong together against those of rows ``NEIGHBOURS`` apart or less."""
    rows = np.flatnonzero(partner >= 0)
    ours = target.lengths[partner[rows]] - source.lengths[rows]
    theirs = np.concatenate(
        [target.lengths[partner[rows][offset:]] - source.lengths[rows][:-offset] for offset in range(1, NEIGHBOURS + 1)]
    )
    median, spread = robust(ours)
    other_median, other_spread = robust(theirs)
    return _Length(median, _WIDTH if blind else spread, other_median, max(other_spread, spread))


def robust(values: NDArray[np.float64]) -> tuple[float, float]:
    """Median, and the median distance from it scaled to a normal's standard deviation, at least 0.05; NaN left out."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    median = float(np.median(known))
    return median, max(1.4826 * float(np.median(np.abs(known - median))), 0.05)
