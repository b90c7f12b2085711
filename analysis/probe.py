"""What happens to one live query: encode, search, and where the known answers sit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from analysis.model import SystemLabel


class ProbeHit(NamedTuple):
    """One document of a live ranking."""

    rank: int
    document_id: str
    language: str
    text: str
    score: float
    relevant: bool | None  # None where no known answer was chosen


class KnownAnswer(NamedTuple):
    """A document known to answer, and where it sits."""

    document_id: str
    language: str
    text: str
    rank: int | None  # None: not in the ranking at all (a lexical system that shares no word with it)


@dataclass(frozen=True)
class ProbeAnswer:
    """One query put to one system."""

    system: SystemLabel
    query_text: str
    query_language: str | None
    hits: tuple[ProbeHit, ...]  # the top k
    answers: tuple[KnownAnswer, ...]  # empty where no concept was chosen
    encode_ms: float
    search_ms: float
    n_documents: int
    tokens: tuple[str, ...]  # what the encoder saw


@dataclass(frozen=True)
class ConceptProbe:
    """One concept asked in every language: one answer a language, with how much each list agrees with the first's."""

    system: SystemLabel
    languages: tuple[str, ...]
    answers: tuple[ProbeAnswer, ...]  # one a language
    overlap: tuple[float | None, ...]  # rank-biased overlap with the first language's list; the first is 1
