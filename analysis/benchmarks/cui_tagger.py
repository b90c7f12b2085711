"""Which concept a question is about: a term that is all of it, one inside it, the nearest by an encoder, or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.benchmarks.mmedbench import Stem
from analysis.model import Progress, silent
from analysis.store.terms import Terms, Text

WHOLE, INSIDE, NEAREST, UNTAGGED = STAGES = ("exact", "substring", "nearest", "untagged")

DIGITS = 4
"""To which cosines are rounded: no decision hangs on the order in which a machine added numbers."""


CONTENDERS = 5
"""Candidates looked at for the nearest one: rounded, several may be equally near."""


class Candidate(NamedTuple):
    """One of many texts, as near as it is to another."""

    row: int
    cosine: float  # rounded


class Linker(Protocol):
    """An encoder that finds what is nearest."""

    name: str

    def nearest(
        self, texts: Sequence[str], candidates: Sequence[str], *, k: int, what: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each text the positions of its ``k`` nearest candidates and their cosines, ``(n, k)``, nearest first.

        Args:
            texts: asked as queries.
            candidates: at least ``k``; of equally near ones the first comes first.
            k: how many.
            what: what the candidates are, for progress.
        """
        ...


@dataclass(frozen=True)
class Limits:
    """From which confidence a tag counts."""

    term: float = 0.9  # share of a string's atoms, in the question's language, that are of the concept
    nearest: float = 0.7  # cosine


class Tag(NamedTuple):
    """What was found of one question."""

    stage: str  # one of STAGES
    cui: str | None  # None: untagged
    confidence: float  # 0 where untagged
    ambiguous: bool = False  # what was found is of several concepts


def tag(
    stems: Sequence[Stem],
    terms: Terms,
    *,
    defined: Collection[str],
    linker: Linker | None,
    limits: Limits,
    progress: Progress = silent,
) -> list[Tag]:
    """The tag of each question.

    Args:
        stems: the questions.
        terms: where their words are looked up, in the language of each.
        defined: concepts with a definition; the linker looks among them only, as no other can be asked of.
        linker: None leaves out the last stage.
        limits: see there.
        progress: may raise JobCancelledError.
    """
    texts = [Text(stem.language, stem.text) for stem in stems]
    found, doubtful = terms.matches(texts, confidence=limits.term, progress=progress)
    tags = [
        Tag(WHOLE if match.whole else INSIDE, match.cui, match.confidence)
        if (match := found.get(place))
        else Tag(UNTAGGED, None, 0.0, ambiguous=place in doubtful)
        for place in range(len(stems))
    ]
    if linker is not None:
        for place, near in _linked(stems, tags, terms, defined=defined, linker=linker).items():
            if near.confidence >= limits.nearest:
                tags[place] = near if near.cui else tags[place]._replace(ambiguous=True)
    return tags


def _linked(
    stems: Sequence[Stem], tags: Sequence[Tag], terms: Terms, *, defined: Collection[str], linker: Linker
) -> Mapping[int, Tag]:
    """For each question that no term tags the concept whose preferred term is nearest, in its language or English.

    No concept where terms of several are equally near, as to an encoder that does not know their words.
    """
    found: dict[int, Tag] = {}
    open_ = [place for place, known in enumerate(tags) if known.cui is None]
    for language in dict.fromkeys(stems[place].language for place in open_):
        spoken = dict.fromkeys((language, "en"))
        candidates = [row for tongue in spoken for row in terms.preferred_terms(tongue, defined)]
        places = [place for place in open_ if stems[place].language == language]
        if not candidates:
            continue
        texts = [stems[place].text for place in places]
        near = ordered(linker, texts, [text for _, text in candidates], k=CONTENDERS, what=f"{language} terms")
        for place, contenders in zip(places, near, strict=True):
            best = contenders[0].cosine
            concepts = {candidates[one.row][0] for one in contenders if one.cosine == best}
            found[place] = Tag(NEAREST, concepts.pop() if len(concepts) == 1 else None, best)
    return found


def ordered(
    linker: Linker, texts: Sequence[str], candidates: Sequence[str], *, k: int, what: str
) -> list[list[Candidate]]:
    """For each text what is nearest, by rounded cosines; of equal ones the first comes first."""
    rows, cosines = linker.nearest(texts, candidates, k=min(k, len(candidates)), what=what)
    return [
        [Candidate(row, -far) for far, row in sorted(zip((-np.round(near, DIGITS)).tolist(), found, strict=True))]
        for found, near in zip(rows.tolist(), cosines, strict=True)
    ]
