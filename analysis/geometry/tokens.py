"""What a tokeniser makes of texts: how much of them it knows, how finely it cuts them, and where it stops reading.

All are ratios of sums over texts, so that a long text weighs more than a short one. Texts are grouped by language.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.model import TokenCounts

Floats = NDArray[np.float64]


class Ratio(NamedTuple):
    """A ratio of sums over texts: what of each text counts, and out of what."""

    part: Floats  # (n,)
    whole: Floats  # (n,)

    def over(self, chosen: NDArray[Any]) -> float:
        """The ratio over some texts, by mask or position; NaN where there is nothing to have a share of."""
        return float(share(self.part[chosen].sum(), self.whole[chosen].sum()))


def ratios(counts: TokenCounts) -> dict[str, Ratio]:
    """What is told of texts by their tokens, by name; without the unknown shares for a byte-level vocabulary.

    ``unknown_tokens``: unknown tokens ÷ tokens, from 0 to 1. ``unknown_characters``: characters that unknown tokens
    cover ÷ characters, from 0 to 1. ``tokens_per_character`` (fertility): tokens ÷ characters, above 0; its inverse
    ``characters_per_token``. ``truncated``: texts over the model's limit ÷ texts, from 0 to 1.

    Source:
        Rust et al. (2021), ACL, "How good is your tokenizer?"; here per character, as words are not separated in every
        script.
    """
    found = {
        "tokens_per_character": (counts.tokens, counts.characters),
        "characters_per_token": (counts.characters, counts.tokens),
        "truncated": (counts.truncated, np.ones(len(counts.tokens))),
    }
    if counts.unknown_tokens is not None and counts.unknown_characters is not None:
        found["unknown_tokens"] = (counts.unknown_tokens, counts.tokens)
        found["unknown_characters"] = (counts.unknown_characters, counts.characters)
    return {name: Ratio(*(np.asarray(side, dtype=np.float64) for side in sides)) for name, sides in found.items()}


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """``part / whole``, NaN where the whole is 0: nothing is no share of nothing."""
    out = np.full(np.shape(part), np.nan)
    np.divide(part, whole, out=out, where=np.asarray(whole) != 0)
    return out
