"""Invented languages in four scripts, with sentences that mean the same."""

import numpy as np

LETTERS = {
    "en": "aeioubdfglmnprst",
    "fr": "aeiouéèçvjqxlmst",
    "ru": "аеиоубвгдзклмнпр",
    "zh": "心肺肝肾脑血骨皮热痛咳药医毒菌眼耳鼻舌手足",
}
ABBREVIATIONS = ("HIV", "RNA", "COVID-19", "MRI", "ICU", "ACE2", "PCR", "DNA")


def vocabulary(tag, n, rng):
    """``n`` different words; Chinese ones have two characters, or three where two are not enough."""
    found = {}
    while len(found) < n:
        size = (2 if n < 300 else 3) if tag == "zh" else int(rng.integers(4, 9))
        found["".join(rng.choice(list(LETTERS[tag]), size))] = None
    return list(found)


def sentences(n, *, tags=("en", "fr", "ru", "zh"), seed=0, words=200):
    """``n`` sentences in each language: the same ideas in another order, the same numbers and abbreviations."""
    rng = np.random.default_rng(seed)
    vocabularies = {tag: vocabulary(tag, words, rng) for tag in tags}
    chances = 1 / np.arange(1, words + 1)
    chances /= chances.sum()
    found = {tag: [] for tag in tags}
    for _ in range(n):
        ideas = rng.choice(words, size=int(rng.integers(5, 16)), p=chances)
        kept = [str(rng.integers(2, 3000))] if rng.random() < 0.3 else []
        kept += [str(rng.choice(ABBREVIATIONS))] if rng.random() < 0.3 else []
        for tag in tags:
            said = [vocabularies[tag][idea] for idea in rng.permutation(ideas)]
            found[tag].append(("" if tag == "zh" else " ").join([*said, *(f" {word} " for word in kept)]).strip())
    return found


def shifted(texts, first, last, by):
    """The texts of rows ``first`` to ``last``, not included, each ``by`` rows too late, in a ring."""
    part = texts[first:last]
    return [*texts[:first], *part[-by:], *part[:-by], *texts[last:]]
