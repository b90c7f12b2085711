"""Whether a space puts translations together or languages apart.

Vectors are unit rows ``(n, d)``, ``language`` is ``(n,)`` codes 0 ... L - 1, ``family`` is ``(n,)`` codes 0 ... F - 1:
texts of one family in two languages are translations of each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.geometry.tokens import share

Floats = NDArray[np.float64]
Vectors = NDArray[Any]
Codes = NDArray[Any]

LARGEST_SAMPLE = 5000
"""Texts that silhouette and probe are taken over, drawn stratified by language where there are more."""

BLOCK = 2**15
"""Vectors looked at at a time."""

FOLDS = 5
"""Of the probe: each is guessed by a classifier that has seen none of its families."""

ITERATIONS = 300
"""Steps that a classifier may take; unit vectors need far fewer."""


class Sliced(Protocol):
    """Vectors in a mapped file."""

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, d)``."""
        ...

    def __getitem__(self, rows: slice, /) -> Vectors:
        """The rows of a range."""
        ...


class Translations(NamedTuple):
    """How near the texts of each family are in two languages, one entry a family that has both."""

    family: NDArray[np.intp]  # (G,) codes, ascending
    cosine: Floats  # (G,) mean cosine of its texts in one language with those in the other
    random: Floats  # (G,) mean cosine of its texts with the other families' in the other language, both ways


def translations(vectors: Vectors, *, language: Codes, family: Codes, pair: tuple[int, int]) -> Translations:
    """Cosines of translations and of every pair of texts that are none, in the same two languages.

    No pair is drawn: the mean cosine with all texts of a language is the cosine with their sum.

    Args:
        vectors: ``(n, d)``.
        language: ``(n,)``.
        family: ``(n,)``.
        pair: codes of two languages.
    """
    sides = [_family_means(vectors[language == code], family[language == code]) for code in pair]
    (families, first), (others, second) = sides
    shared = np.intersect1d(families, others)
    one, two = first[np.searchsorted(families, shared)], second[np.searchsorted(others, shared)]
    cosine = np.einsum("gd,gd->g", one, two)
    to_all = (one @ two.sum(axis=0) + two @ one.sum(axis=0)) / 2
    random = share(to_all - cosine, np.full(len(shared), max(len(shared) - 1, 0)))
    return Translations(shared, cosine, random)


def _family_means(vectors: Vectors, family: Codes) -> tuple[NDArray[np.intp], Floats]:
    """The families that occur and the mean of each one's vectors, whose products are means of cosines."""
    families, place = np.unique(family, return_inverse=True)
    sums = np.zeros((len(families), vectors.shape[1]))
    np.add.at(sums, place, vectors)
    return families.astype(np.intp), sums / np.bincount(place, minlength=len(families))[:, np.newaxis]


def alignment(found: Translations) -> float:
    """How much nearer a text is to its translation than to another text in that language, on average.

    ``mean cos(translations) - mean cos(random pairs of the same two languages)``. From -2 to 2, higher is better; 0
    where a translation is no nearer than any other text. NaN with fewer than two families.

    Source:
        this project, after the alignment of positive pairs of Wang & Isola (2020), ICML.
    """
    return float((found.cosine - found.random).mean()) if len(found.family) > 1 else float("nan")


def influence(found: Translations) -> Floats:
    """One value a family whose mean is the alignment, and whose spread is how a resample of families moves it.

    ``cos - 2 random + mean random``: each family takes part in random pairs on both sides, so that leaving it out moves
    their mean twice as far as its own value says. Drawing families of these values is drawing families of the
    statistic, to first order.

    Returns:
        ``(G,)``.

    Source:
        Hoeffding (1948), Annals of Mathematical Statistics 19(3): the projection of a U-statistic of degree two.
    """
    if not len(found.family):
        return np.zeros(0)
    return np.asarray(found.cosine - 2 * found.random + found.random.mean())


def language_means(vectors: Vectors | Sliced, *, language: Codes, n_languages: int) -> Floats:
    """The mean vector of each language, ``(L, d)``; NaN for a language without texts.

    A block of vectors is looked at at a time, so that they may lie in a mapped file.
    """
    sums = np.zeros((n_languages, vectors.shape[1]))
    for start in range(0, vectors.shape[0], BLOCK):
        some, spoken = vectors[start : start + BLOCK], language[start : start + BLOCK]
        for code in np.unique(spoken):
            sums[code] += some[spoken == code].sum(axis=0, dtype=np.float64)
    counts = np.bincount(language, minlength=n_languages)[:, np.newaxis]
    return share(sums, np.broadcast_to(counts, sums.shape))


def centroid_distances(means: Floats) -> Floats:
    """Euclidean distance of every two languages' mean vectors, ``(L, L)``.

    From 0, where no language has a direction of its own, to 2; symmetric, NaN for a language without texts.
    """
    return np.asarray(np.linalg.norm(means[:, np.newaxis] - means[np.newaxis], axis=-1))


def without_means(vectors: Vectors, *, language: Codes, means: Floats) -> Floats:
    """Vectors less the mean of their language, ``(n, d)``: what a language adds to all its texts is gone.

    Not scaled back to length 1: whoever compares by cosine does that.

    Args:
        vectors: ``(n, d)``.
        language: ``(n,)``.
        means: ``(L, d)`` of :func:`language_means`, of these or of other texts.
    """
    return np.asarray(vectors - means[language], dtype=np.float64)


def silhouettes(vectors: Vectors, *, language: Codes) -> Floats:
    """How much nearer each text is to the texts of its own language than to those of the nearest other one.

    ``(b - a) / max(a, b)`` with a the mean cosine distance to its own language without itself, b the smallest mean
    distance to another. From -1 to 1: near 1 the languages are clouds apart, near 0 they are one cloud. 0 for the only
    text of a language; NaN for all with fewer than two languages.

    Args:
        vectors: ``(n, d)`` unit rows; a zero row is at distance 1 from everything.
        language: ``(n,)``.

    Returns:
        ``(n,)``.

    Source:
        Rousseeuw (1987), Journal of Computational and Applied Mathematics 20. Mean distances come from the sum of each
        language's vectors, so that time grows with n and not with its square.
    """
    codes, own = np.unique(language, return_inverse=True)
    if len(codes) < 2:
        return np.full(len(vectors), np.nan)
    sizes = np.bincount(own)
    rows = np.arange(len(vectors))
    near = vectors.astype(np.float64)
    sums = np.stack([near[own == place].sum(axis=0) for place in range(len(codes))])
    cosines = near @ sums.T  # (n, L) summed over each language
    alone = np.einsum("nd,nd->n", near, near)
    inside = 1 - share(cosines[rows, own] - alone, sizes[own] - 1)
    outside = 1 - cosines / sizes
    outside[rows, own] = np.inf
    nearest = outside.min(axis=1)
    found = share(nearest - inside, np.maximum(inside, nearest))
    return np.where(sizes[own] > 1, np.nan_to_num(found), 0.0)


def guessed_languages(vectors: Vectors, *, language: Codes, family: Codes, seed: int) -> NDArray[np.int64]:
    """The language that a linear probe takes each text for, from its vector alone.

    A logistic regression (L2, C = 1) is fitted on four fifths of the families and guesses the fifth: translations never
    stand on both sides. The share of right guesses is the probe's accuracy; chance gives the largest language's share.

    Args:
        vectors: ``(n, d)``.
        language: ``(n,)``.
        family: ``(n,)``.
        seed: of the folds.

    Returns:
        ``(n,)`` codes; -1 where the other folds hold fewer than two languages.

    Source:
        Alain & Bengio (2017), ICLR workshop, linear classifier probes.
    """
    from sklearn.linear_model import LogisticRegression

    fold = folds(family, seed=seed)
    guessed = np.full(len(vectors), -1, dtype=np.int64)
    for number in range(FOLDS):
        asked, seen = fold == number, fold != number
        if asked.any() and len(np.unique(language[seen])) > 1:
            probe = LogisticRegression(max_iter=ITERATIONS).fit(vectors[seen], language[seen])
            guessed[asked] = probe.predict(vectors[asked])
    return guessed


def folds(family: Codes, *, seed: int) -> NDArray[np.int64]:
    """A fold for each text, ``(n,)`` from 0 to 4: the same for all of a family, of families as even as can be."""
    families, place = np.unique(family, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(families))
    return np.asarray(order[place] % FOLDS, dtype=np.int64)


def sample(language: Codes, *, most: int = LARGEST_SAMPLE, seed: int) -> NDArray[np.intp]:
    """Positions of at most ``most`` texts, ascending; where there are more, languages keep their shares.

    Args:
        language: ``(n,)``.
        most: of all languages together, at least one of each.
        seed: of the draw.
    """
    if len(language) <= most:
        return np.arange(len(language), dtype=np.intp)
    rng = np.random.default_rng(seed)
    chosen = []
    for code in np.unique(language):
        mine = np.flatnonzero(language == code)
        chosen.append(rng.choice(mine, size=max(1, len(mine) * most // len(language)), replace=False))
    return np.asarray(np.sort(np.concatenate(chosen)), dtype=np.intp)
