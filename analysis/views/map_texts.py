"""Which texts a map has: their languages, their concepts, and means over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.geometry import hubness
from analysis.geometry.tokens import Ratio
from analysis.model import Interval
from analysis.stats import bootstrap
from analysis.views.cause_numbers import Texts
from analysis.views.evidence import LEVEL, number


@dataclass(frozen=True, eq=False)
class MapTexts:
    """The texts of a map, documents first, ``(P,)`` each.

    Attributes:
        texts: all texts of the task.
        place: which of them the map has.
        languages: tags, as they first come.
        language: codes into them.
        family: what a text shares with its translations.
    """

    texts: Texts
    place: NDArray[np.intp]
    languages: tuple[str, ...]
    language: NDArray[np.int32]
    family: NDArray[np.object_]

    @classmethod
    def of(cls, texts: Texts, place: NDArray[np.intp]) -> MapTexts:
        """Some texts of a task."""
        languages, language = codes(texts.language[place])
        return cls(texts, place, languages, language, texts.families[place])

    def numbers(self, named: Mapping[str, NDArray[Any]]) -> dict[str, Interval]:
        """Means over the map's texts, NaN left out, whole families drawn."""
        one = np.ones(len(self.texts.language))
        found = {key: Ratio(self.everywhere(np.asarray(values)), one) for key, values in named.items()}
        return dict(self.texts.numbers(found)[None])

    def everywhere(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values of the map's texts ``(..., P)`` among all texts of the task ``(..., T)``, NaN elsewhere."""
        whole = np.full((*values.shape[:-1], len(self.texts.language)), np.nan)
        whole[..., self.place] = values
        return whole

    def has_translation(self) -> NDArray[np.bool_]:
        """Whether another text of the map says the same in another language."""
        _, concept = np.unique(self.family.astype(str), return_inverse=True)
        pairs = np.unique(np.stack([concept, self.language], axis=1), axis=0)
        return np.asarray(np.bincount(pairs[:, 0])[concept] > 1)

    def chance(self) -> float:
        """Share of neighbours in one's own language if they were drawn blindly; 0 of no text."""
        if not len(self.language):
            return 0.0
        share = np.bincount(self.language) / len(self.language)
        return float((share**2).sum())


def codes(values: NDArray[np.object_]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Different values in the order in which they first come, and the code of each."""
    known = {value: code for code, value in enumerate(dict.fromkeys(values.tolist()))}
    return tuple(str(value) for value in known), np.array([known[value] for value in values.tolist()], dtype=np.int32)


def near_means(near: NDArray[np.int32], texts: MapTexts) -> dict[str, Interval]:
    """What the neighbours ``(P, k)`` in the space say: their languages, and whether a translation is among them."""
    if not near.size:
        return {}
    there = near >= 0
    same = texts.language[near] == texts.language[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        own = (same & there).sum(axis=1) / there.sum(axis=1)
    alike = texts.family[near] == texts.family[:, np.newaxis]
    translated = (alike & ~same & there).any(axis=1)
    return texts.numbers({
        "same_language": own,
        "translation_near": np.where(texts.has_translation(), translated, np.nan),
    })  # fmt: skip


def hubness_of(near: NDArray[np.int32], texts: MapTexts) -> Interval | None:
    """Skewness of how often each text is among the nearest ``(P, k)`` of others; None where it is undefined.

    The interval draws texts, whole families at once, each with its count in the whole map.
    """
    counts = np.bincount(near[near >= 0], minlength=len(texts.place))
    value = number(hubness.skewness(counts)) if near.size else None
    if value is None:
        return None
    powers = texts.everywhere(np.stack([counts.astype(np.float64) ** power for power in (1, 2, 3)]))
    drawn = texts.texts.draws
    means = bootstrap.ratio_draws(
        powers, np.where(np.isnan(powers), np.nan, 1.0), family=drawn.family, draws=drawn.draws
    )
    low, high = bootstrap.interval_of_draws(hubness.skewness_of_moments(*means.T)[:, np.newaxis], level=LEVEL)
    ends = number(low[0]), number(high[0])
    return Interval(value, "pooled", None, None, *ends, LEVEL, texts.texts.method, len(counts))
