"""Cross-encoders: a query and a document read together, one score a pair, and the check each model must pass."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.systems import own_code
from analysis.systems.buffers import check_buffers, unset_shown
from analysis.systems.catalogue import limited
from analysis.systems.devices import Crew, chosen
from analysis.systems.encoders import PROOF, guessed_lengths
from analysis.systems.entry import HALVES, Entry
from analysis.systems.weights import (
    LOADING,
    LoadOptions,
    check_positions,
    check_whole,
    folder_to_load,
    lacking,
    load_report,
    loading_arguments,
    translated,
    verify_weights,
    versions,
)

Pair = tuple[str, str]
Scores = NDArray[np.float64]

MOST_PAIRS = 32
"""Pairs in one forward pass."""

SAME = 1e-4
"""Two scores of one pair differ by less."""

SAME_ROUNDED = 5e-2
"""The same where numbers have eight or eleven bits: sums come out differently in batches of another size."""


class Scorer(Protocol):
    """A loaded cross-encoder. One thread scores at a time; others wait."""

    entry: Entry
    device: str
    fresh: tuple[str, ...]  # names of weights that the files lacked, initialised at random
    libraries: Mapping[str, str]  # name -> version
    limit: int | None  # tokens that it reads of a pair; None where it reads all

    def score(self, pairs: Sequence[Pair]) -> Scores:
        """What the model says of each (query, document), after its own activation, ``(n,)`` float64.

        Raises:
            SystemLoadError: a score is not finite.
        """
        ...

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int64]:
        """Tokens of each pair, ``(n,)``, those beyond the limit too."""
        ...


def load(system: Entry, options: LoadOptions) -> Scorer:
    """Load a cross-encoder and put it through the load check.

    Raises:
        SystemLoadError: it cannot be loaded, or it fails the check.
    """
    effective = limited(system, options.max_length, options.dtype)
    with LOADING:
        verify_weights(effective)
        scorer = _construct(effective, options)
        prove(scorer, lambda: _construct(effective, options))
    return scorer


def _construct(system: Entry, options: LoadOptions) -> Scorer:
    if system.function:
        return _PairFunction(system, options)
    folder = folder_to_load(system, options)
    from sentence_transformers import CrossEncoder

    with load_report() as fresh, translated(system), unset_shown():
        model = CrossEncoder(str(folder), **loading_arguments(system, options))
    check_buffers(system, model)
    if model.num_labels != 1:
        raise SystemLoadError(f"{system.name}: {model.num_labels} scores a pair, expected one")
    if system.max_length is not None:
        check_positions(system, model)
        model.max_seq_length = system.max_length
    crew = Crew(system.name, model, chosen(options.device), threads=options.cores)
    return _CrossEncoder(system, model, fresh=lacking(fresh), crew=crew)


class _CrossEncoder:
    """Any model that sentence-transformers loads as a cross-encoder."""

    def __init__(self, system: Entry, model: Any, *, fresh: tuple[str, ...], crew: Crew) -> None:
        self.entry = system
        self.fresh = fresh
        self.device = ",".join(crew.devices)
        self.limit: int | None = model.max_seq_length
        self.libraries: Mapping[str, str] = versions("sentence-transformers", "transformers", "tokenizers", "torch")
        self._model = model
        self._crew = crew
        self._lock = threading.Lock()

    @property
    def passes(self) -> int:
        return self._crew.passes

    def at_work(self) -> AbstractContextManager[None]:
        return self._crew.at_work()

    def score(self, pairs: Sequence[Pair]) -> Scores:
        import torch

        arguments = {"batch_size": MOST_PAIRS, "activation_fn": torch.nn.Identity(), "show_progress_bar": False}
        with self._lock, self._crew.lent():
            logits = self._model.predict(list(pairs), **arguments, **self._crew.arguments(len(pairs)))
            # In double precision, or a sigmoid gives its best answers all the same score.
            scores = self._model.activation_fn(torch.from_numpy(logits).double()).numpy()
        return _finite(self.entry, pairs, scores)

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int64]:
        queries, documents = zip(*pairs, strict=True)
        with self._lock:
            tokenized = self._model.tokenizer(list(queries), list(documents), verbose=False)["input_ids"]
        return np.fromiter(map(len, tokenized), dtype=np.int64, count=len(pairs))


class _PairFunction:
    """A function of the reader's own."""

    fresh: tuple[str, ...] = ()
    limit: int | None = None
    device = "own code"

    def __init__(self, system: Entry, options: LoadOptions) -> None:
        self.entry = system
        self.libraries: Mapping[str, str] = versions("numpy")
        function = str(system.function)
        self._function = own_code.imported(system.name, function, system.folder, allowed=options.allow_code)
        self._lock = threading.Lock()

    def score(self, pairs: Sequence[Pair]) -> Scores:
        queries, documents = zip(*pairs, strict=True)
        with self._lock:
            scores = own_code.scores(self.entry.name, self._function, queries, documents)
        return _finite(self.entry, pairs, scores)

    def lengths(self, pairs: Sequence[Pair]) -> NDArray[np.int64]:
        return guessed_lengths([f"{query} {document}" for query, document in pairs])


def _finite(system: Entry, pairs: Sequence[Pair], scores: NDArray[np.floating]) -> Scores:
    broken = np.flatnonzero(~np.isfinite(scores))
    if len(broken):
        raise SystemLoadError(f"{system.name}: the score of {pairs[broken[0]][0][:60]!r} is not finite")
    return np.asarray(scores, dtype=np.float64)


# --- the load check ---------------------------------------------------------------------------------------------------

_ASKED = {  # what the first sentence of each pair of PROOF answers
    "en": "Does the patient have a fever?",
    "fr": "Le patient a-t-il de la fièvre ?",
    "de": "Hat der Patient Fieber?",
    "es": "¿Tiene fiebre el paciente?",
    "ja": "患者に熱はありますか。",
    "zh": "病人发烧吗？",
    "ru": "У пациента есть температура?",
}


def prove(scorer: Scorer, reload: Callable[[], Scorer]) -> None:
    """Raise unless the loaded model behaves like a re-ranker.

    Args:
        scorer: the model just loaded.
        reload: loads it a second time; the scores must be the same.

    Raises:
        SystemLoadError: one sentence naming the system and what failed.
    """
    name = scorer.entry.name
    check_whole(scorer.entry, scorer.fresh)
    pairs = [(_ASKED[language], text) for language, texts in PROOF.items() for text in texts]
    scores = scorer.score([*pairs, pairs[0]])
    if np.ptp(scores) < 1e-9:
        raise SystemLoadError(f"{name}: every pair gets the same score")
    same = SAME_ROUNDED if scorer.entry.dtype in HALVES else SAME
    if abs(scores[-1] - scores[0]) > same:
        raise SystemLoadError(f"{name}: the same pair got two different scores")
    for language, (right, unrelated) in zip(PROOF, scores[:-1].reshape(-1, 2), strict=True):
        if language in scorer.entry.languages and right <= unrelated:
            answer, other = PROOF[language]
            raise SystemLoadError(
                f"{name}: in {language}, which it claims to know, {answer!r} scores no higher than {other!r} "
                f"as an answer to {_ASKED[language]!r}"
            )
    if np.abs(reload().score(pairs) - scores[:-1]).max() > same:
        raise SystemLoadError(f"{name}: a second load of the same files gave other scores")
