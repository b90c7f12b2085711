"""How many texts a model did not read to their ends: counted when a run is made, and said in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.languages import language_name
from analysis.model import Corpus, Questions, Ranking
from analysis.systems import catalogue
from analysis.systems.encoders import Role
from analysis.systems.entry import Entry
from analysis.systems.workbench import Cut, Workbench

KEY = "truncated"
"""In what is kept of a run."""

NAMED = 3  # languages that a sentence names; of more the lowest and the highest share
_TEXTS = {"document": "documents", "query": "queries", "pair": "documents"}
_LONGER = {
    "document": "are longer than {:,} tokens",
    "query": "are longer than {:,} tokens",
    "pair": "are, together with the query they were read with, longer than {:,} tokens",
}


@dataclass(frozen=True)
class Truncation:
    """The texts of one role that one model of a run read."""

    model: str  # name of the encoder or cross-encoder
    role: str  # document | query | pair: of a query and a document, by the language of the document
    limit: int  # tokens that it reads of one
    languages: Mapping[str, tuple[int, int]]  # texts longer than that, and all

    @property
    def words(self) -> str:
        """One sentence; empty where every text was read to its end."""
        shares = {tag: cut / n for tag, (cut, n) in self.languages.items() if cut}
        if not shares:
            return ""
        texts, longer = _TEXTS[self.role], _LONGER[self.role].format(self.limit)
        ordered = sorted(shares, key=lambda tag: -shares[tag])
        n_cut, n = (sum(row[place] for row in self.languages.values()) for place in (0, 1))
        every = "all" if n_cut == n else f"{_percent(n_cut / n)} of the"
        if n_cut == n or len(self.languages) == 1:
            said = f"{every} {texts} {longer}"
        elif len(ordered) <= NAMED:
            parts = [f"{_percent(shares[tag])} of the {language_name(tag)}" for tag in ordered]
            said = f"{_listed(parts)} {texts} {longer}"
        else:
            least = next((tag for tag in self.languages if tag not in shares), ordered[-1])
            low, high = (f"{_percent(shares.get(tag, 0))} of the {language_name(tag)}" for tag in (least, ordered[0]))
            said = f"{every} {texts} {longer}, from {low} to {high}"
        return f"{said}; the rest of each was not read."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([part for part in (", ".join(parts[:-1]), parts[-1]) if part])


def _percent(share: float) -> str:
    if share < 0.005:
        return "under 1 %" if share else "none"
    return f"{100 * share:.0f} %" if share < 0.995 or share == 1 else "over 99 %"


def counted(bench: Workbench, entry: Entry, corpus: Corpus, questions: Questions, ranking: Ranking) -> list[Truncation]:
    """How many texts each model of a system cut, without those that have no limit or do not tell."""
    found: list[Truncation] = []
    for model in catalogue.searched(entry):
        if model.kind != "cross-encoder":
            for role, texts, languages in _sides(model, corpus, questions):
                cut = bench.cut(catalogue.towers(model)[0], texts, role=role, languages=languages)
                found += _of(model, role, cut, languages)
        elif model.name in entry.parts:
            rows = np.flatnonzero(ranking.rank() <= (entry.pool or 0))
            query, document = ranking.query[rows].tolist(), ranking.document[rows].tolist()
            pairs = [(questions.texts[q], corpus.texts[d]) for q, d in zip(query, document, strict=True)]
            found += _of(model, "pair", bench.cut_pairs(model, pairs), [corpus.languages[d] for d in document])
    return found


def _sides(model: Entry, corpus: Corpus, questions: Questions) -> Iterator[tuple[Role, Sequence[str], Sequence[str]]]:
    """Role, texts and languages of what a model reads as text; what says nothing may be read by its image."""
    sides: dict[Role, tuple[Sequence[str], Sequence[str]]] = {
        "document": (corpus.texts, corpus.languages),
        "query": (questions.texts, questions.languages),
    }
    for role, (texts, languages) in sides.items():
        if not model.reads:
            yield role, texts, languages
        elif role == "document" or model.reads != "image":
            said = [at for at, text in enumerate(texts) if text.strip()]
            yield role, [texts[at] for at in said], [languages[at] for at in said]


def _of(model: Entry, role: str, cut: Cut | None, languages: Sequence[str]) -> Iterator[Truncation]:
    if cut is None or not len(languages):
        return
    every = Counter(languages)
    short = Counter(tag for tag, is_cut in zip(languages, cut.cut.tolist(), strict=True) if is_cut)
    yield Truncation(model.name, role, cut.limit, {tag: (short[tag], n) for tag, n in sorted(every.items())})


def record(found: Sequence[Truncation]) -> dict[str, Any]:
    """As it is kept with a run; empty where nothing is known."""
    kept: dict[str, dict[str, Any]] = {}
    for each in found:
        languages = {tag: {"cut": cut, "texts": n} for tag, (cut, n) in each.languages.items()}
        kept.setdefault(each.model, {})[each.role] = {"limit": each.limit, "languages": languages}
    return {KEY: kept} if kept else {}


def recorded(provenance: Mapping[str, Any]) -> list[Truncation]:
    """What was kept with a run; empty where nothing was known, or where it was stored before this was counted."""
    return [
        Truncation(
            model, role, side["limit"], {tag: (row["cut"], row["texts"]) for tag, row in side["languages"].items()}
        )
        for model, sides in provenance.get(KEY, {}).items()
        for role, side in sides.items()
    ]


def sentences(system: str, found: Sequence[Truncation]) -> tuple[str, ...]:
    """What is to be said of a run: what was cut, else that nothing was; nothing where nothing is known."""
    if not found:
        return ()
    said = [_named(system, each) for each in found if each.words]
    if said:
        return tuple(said)
    limits = " and ".join(f"{limit:,}" for limit in sorted({each.limit for each in found}))
    return (f"Every text was read to its end: none is longer than {limits} tokens.",)


def _named(system: str, found: Truncation) -> str:
    """The sentence, with the model where that is a part of the system."""
    known = catalogue.catalogue()
    title = known[found.model].short_title if found.model in known else found.model
    words = found.words if found.model != system else f"{found.words[0].upper()}{found.words[1:]}"
    return words if found.model == system else f"{title}: {words}"
