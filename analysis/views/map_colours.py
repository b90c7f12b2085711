"""What the colours of a map stand for: languages, concepts, tiers, and how a system ranks each text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.model import SystemLabel
from analysis.views.evidence import LEAD, Evidence, Floats
from analysis.views.map_texts import MapTexts, codes
from analysis.views.selection import Sentence, counted

LANGUAGE, CONCEPT, OUTCOME, ERROR, DIFFERENCE, TIER = "language", "concept", "outcome", "error", "difference", "tier"
COLOURS = {
    LANGUAGE: "language",
    CONCEPT: "concept",
    OUTCOME: "what becomes of it",
    ERROR: "how badly it is missed",
    DIFFERENCE: "difference of two",
    TIER: "difficulty tier",
}
FOUND, LATER, MISSED, UNKNOWN = "found", "later", "missed", "unknown"
OUTCOMES = {
    FOUND: "found in the first ten",
    LATER: "found by some, or later",
    MISSED: "not found in the first hundred",
    UNKNOWN: "not judged",
}
"""A query by its first right answer; a document by the queries it answers."""
NO_TIER = "no tier"
OTHERS = ""
"""The group of concepts without a colour of their own."""
TOP = 10
CONCEPTS = 8
"""Concepts that can be told apart by colour."""
NEAREST = 5
"""Concepts that come with a chosen one."""


class Group(NamedTuple):
    """Points of one colour."""

    key: str  # a language's tag, a concept, an outcome, a tier
    title: str
    n: int


class Grouped(NamedTuple):
    """Points by group."""

    code: NDArray[np.int32]  # (P,) into the groups
    groups: tuple[Group, ...]


@dataclass(frozen=True, eq=False)
class Shade:
    """A number of each text, for a colour on a scale.

    Attributes:
        kind: ``error``, 0 to 1, or ``difference``, the first system's error taken from the second's.
        values: one a picture, ``(P,)``, NaN for what is not judged or not ranked; the same one where it is of both.
    """

    kind: str
    values: tuple[Floats, ...]


def grouped(evidence: Evidence, colour: str, texts: MapTexts, *, place: int | None) -> Grouped:
    """The texts by language, by outcome in one of the runs, or by tier.

    Args:
        evidence: the runs.
        colour: one of the three.
        texts: of the map.
        place: of the run that decides outcomes; None where there is none.
    """
    if colour == OUTCOME:
        code = outcomes(evidence, texts.texts.n_documents, place=place)[texts.place]
        return _counted(code, tuple(OUTCOMES), OUTCOMES)
    if colour == TIER:
        tiers = np.concatenate([np.full(texts.texts.n_documents, None, dtype=object), evidence.queries.tier])
        named, code = codes(np.array([tier or NO_TIER for tier in tiers[texts.place].tolist()], dtype=object))
        return _counted(code, named, {})
    return _counted(texts.language, texts.languages, {})


def _counted(code: NDArray[np.int32], keys: Sequence[str], titles: Mapping[str, str]) -> Grouped:
    counts = np.bincount(code, minlength=len(keys))
    return Grouped(code, tuple(Group(key, titles.get(key, key), int(n)) for key, n in zip(keys, counts, strict=True)))


def outcomes(evidence: Evidence, n_documents: int, *, place: int | None) -> NDArray[np.int32]:
    """What becomes of each document, then each query, in a run: codes into ``OUTCOMES``.

    A query is found by its first right answer in the first ten, later in the first hundred. A document is found where
    every query that it answers has it in the first ten, and missed where none has it in the first hundred.
    """
    n_queries = len(evidence.queries.id)
    code = np.full(n_documents + n_queries, list(OUTCOMES).index(UNKNOWN), dtype=np.int32)
    if place is None:
        return code
    ranks, query, document = evidence.ranks[place], evidence.judged.query, evidence.document
    inside = (document < n_documents) & evidence.mask[query]
    best = np.full(n_queries, np.iinfo(np.int32).max)
    np.minimum.at(best, query, ranks)
    asked = np.bincount(query, minlength=n_queries) > 0
    code[n_documents:][asked] = _by_rank(best[asked], best[asked])
    best_of, worst_of = np.full(n_documents, np.iinfo(np.int32).max), np.zeros(n_documents, dtype=np.int64)
    np.minimum.at(best_of, document[inside], ranks[inside])
    np.maximum.at(worst_of, document[inside], ranks[inside])
    judged = worst_of > 0
    code[:n_documents][judged] = _by_rank(best_of[judged], worst_of[judged])
    return code


def _by_rank(best: NDArray[Any], worst: NDArray[Any]) -> NDArray[np.int32]:
    """By the best and the worst rank; both are the first answer's for a query."""
    keys = list(OUTCOMES)
    found, later, missed = keys.index(FOUND), keys.index(LATER), keys.index(MISSED)
    return np.where(worst <= TOP, found, np.where(best <= 100, later, missed)).astype(np.int32)


# How badly


def errors(evidence: Evidence, n_documents: int, *, place: int | None) -> Floats:
    """How badly a run misses each document, then each query: 0 to 1, NaN for what is not judged or not ranked.

    A query by 1 − nDCG@10; a document by the share of the queries it answers that lack it among their first ten.
    """
    if place is None:
        return np.full(n_documents + len(evidence.queries.id), np.nan)
    inside = (evidence.document < n_documents) & evidence.mask[evidence.judged.query]
    document = evidence.document[inside]
    asked = np.bincount(document, minlength=n_documents)
    lacking = np.bincount(document, weights=evidence.ranks[place, inside] > TOP, minlength=n_documents)
    with np.errstate(invalid="ignore"):
        of_documents = lacking / asked
    return np.concatenate([of_documents, 1 - evidence.values(LEAD)[place]])


def shaded(evidence: Evidence, colour: str, texts: MapTexts, *, places: Sequence[int | None]) -> Shade | None:
    """The errors of each picture's system, or how they differ; None for another colour.

    Args:
        evidence: the runs.
        colour: of the map.
        texts: of the map.
        places: of the run behind each picture; None where there is none.
    """
    if colour not in {ERROR, DIFFERENCE}:
        return None
    found = tuple(errors(evidence, texts.texts.n_documents, place=place)[texts.place] for place in places)
    if colour == DIFFERENCE:
        found = (found[1] - found[0],) * 2
    return Shade(colour, found)


def told_of_errors(label: SystemLabel, error: Floats, near: NDArray[np.int32], texts: MapTexts) -> Sentence:
    """Whether failures gather: how often what lies near a text that is missed altogether is so too."""
    known = ~np.isnan(error)
    if not known.any():
        return Sentence(f"No ranking of {label.short} is stored here, so how badly it misses cannot be told.", "")
    missed = np.where(known, error == 1, np.nan)
    every = f"{label.short} misses {_of_100(missed[known].mean())} texts altogether"
    around = (near >= 0) & known[near]
    with np.errstate(invalid="ignore"):
        share = ((missed[near] == 1) & around).sum(axis=1) / around.sum(axis=1)
    found = texts.numbers({"near": np.where(missed == 1, share, np.nan)}).get("near") if near.size else None
    if found is None or found.value is None or found.low is None or found.high is None:
        return Sentence(f"{every}.", "")
    between = f"95 % interval {100 * found.low:.0f} to {100 * found.high:.0f}"
    return Sentence(
        f"Of the texts nearest to one that {label.short} misses altogether, {_of_100(found.value)} are missed "
        f"altogether too ({between});",
        f"of all texts {_of_100(missed[known].mean())} are.",
    )


def told_of_difference(labels: Sequence[SystemLabel], difference: Floats) -> Sentence:
    """How many texts each of two systems misses less."""
    known = difference[~np.isnan(difference)]
    first, second = labels
    if not len(known):
        return Sentence(f"{first.short} and {second.short} have no ranking of the same texts here.", "")
    ahead, behind = int((known > 0).sum()), int((known < 0).sum())
    names = [first.short, second.short]
    more, less = max(ahead, behind), min(ahead, behind)
    if behind > ahead:
        names.reverse()
    return Sentence(
        f"{names[0]} misses {more:,} of {len(known):,} texts less than {names[1]} does;",
        f"{names[1]} misses {less:,} less, and at {len(known) - more - less:,} they are level.",
    )


def _of_100(share: float) -> str:
    return f"{100 * share:.0f} of 100"


# Concepts


def by_concept(family: NDArray[np.object_], near: NDArray[np.int32], chosen: Sequence[str]) -> Grouped:
    """The texts by concept: those chosen, one colour each, and the others in grey.

    Where one is chosen those nearest to it have a colour too; where none is, the one whose texts have the fewest of
    each other among their nearest is taken for it.

    Args:
        family: ``(P,)``.
        near: ``(P, k)`` rows that are nearest in the space; k 0 where only the picture is known.
        chosen: concepts of the map.
    """
    wanted = list(chosen)[:CONCEPTS] or _most_torn(family, near)
    if len(wanted) == 1:
        wanted += nearest_concepts(family, near, wanted[0])
    keys = [*wanted, OTHERS]
    place = {name: code for code, name in enumerate(wanted)}
    code = np.array([place.get(name, len(wanted)) for name in family.tolist()], dtype=np.int32)
    return _counted(code, keys, {OTHERS: "other concepts"})


def nearest_concepts(family: NDArray[np.object_], near: NDArray[np.int32], concept: str) -> list[str]:
    """The other concepts that stand most often among the nearest texts of a concept's own, the most frequent first."""
    rows = near[family == concept]
    met = family[rows[rows >= 0]].tolist()
    counts: dict[str, int] = {}
    for name in met:
        if name != concept:
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:NEAREST]


def _most_torn(family: NDArray[np.object_], near: NDArray[np.int32]) -> list[str]:
    """The concept whose texts have the fewest of each other among their nearest; the first by name of several."""
    names, concept, n = np.unique(family.astype(str), return_inverse=True, return_counts=True)
    several = n > 1
    if not several.any():
        return [str(name) for name in names[:1]]
    own = ((concept[near] == concept[:, np.newaxis]) & (near >= 0)).sum(axis=1) if near.size else np.zeros(len(family))
    reachable = np.clip(n - 1, 1, near.shape[1] or 1)
    share = np.where(several, np.bincount(concept, weights=own) / (n * reachable), np.inf)
    return [str(names[int(share.argmin())])]


def told_of_concepts(
    spaces: Sequence[tuple[SystemLabel, NDArray[np.int32]]],
    coloured: Grouped,
    family: NDArray[np.object_],
    *,
    picked: int,
) -> Sentence:
    """Whether the texts of the chosen concepts lie together, and what lies between them.

    Args:
        spaces: whose they are, and the nearest rows ``(P, k)`` in each; one or two.
        coloured: by concept, the chosen ones first.
        family: ``(P,)``.
        picked: how many were chosen; 0 where the map took one.
    """
    own = [group.key for group in coloured.groups[: max(picked, 1)]]
    rows = np.flatnonzero(coloured.code < len(own))
    texts = counted(len(rows), "text")
    (label, near), *others = spaces
    if not near.size:
        return Sentence(f"{texts} of {_listed(own)}; only coordinates are known of them.", "")
    bold = (
        f"In {label.short}, {_together(family, near, rows)} of {texts} of {_listed(own)} have another of the same "
        f"concept among their {near.shape[1]} nearest."
    )
    rest = [f"In {other.short}, {_together(family, far, rows)} have." for other, far in others if far.size]
    rest += [] if picked else ["No concept keeps its texts less together."]
    found = nearest_concepts(family, near, own[0]) if len(own) == 1 else []
    rest += [f"Nearest to it: {_listed(found)}."] if found else []
    return Sentence(bold, " ".join(rest))


def _together(family: NDArray[np.object_], near: NDArray[np.int32], rows: NDArray[np.intp]) -> int:
    """How many of some texts have one of their own concept among their nearest."""
    alike = (family[near[rows]] == family[rows][:, np.newaxis]) & (near[rows] >= 0)
    return int(alike.any(axis=1).sum())


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
