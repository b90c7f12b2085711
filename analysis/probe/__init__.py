"""One live query: encode, search, where the known answers sit, and which known concept is nearest."""

from analysis.languages import language_name
from analysis.probe.asking import (
    HEART_ATTACK,
    OVERLAP_DEPTH,
    Concept,
    ConceptProbe,
    Explanation,
    KnownAnswer,
    ProbeAnswer,
    ProbeHit,
    ask,
    ask_in_all_languages,
    concepts,
    encoders,
    why,
)
from analysis.probe.near import Nearest, nearest

__all__ = [
    "HEART_ATTACK",
    "OVERLAP_DEPTH",
    "Concept",
    "ConceptProbe",
    "Explanation",
    "KnownAnswer",
    "Nearest",
    "ProbeAnswer",
    "ProbeHit",
    "ask",
    "ask_in_all_languages",
    "concepts",
    "encoders",
    "language_name",  # for pages, which see no module below this one
    "nearest",
    "why",
]
