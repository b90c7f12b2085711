"""The nearest of many texts by an encoder, block by block: memory stays bounded, and vectors are kept as they come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems import catalogue
from analysis.systems.entry import Entry
from analysis.systems.readiness import readiness
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench

BLOCK = 8192  # candidates whose vectors are held at once


def dense(system: str, load: LoadOptions) -> Entry:
    """A dense system of the catalogue that can run here.

    Raises:
        InputError: there is no such system, it has no vectors, or something of it lacks.
    """
    entry = catalogue.entry(system)
    if entry.kind != "dense":
        raise InputError(f"system {system!r}: expected a dense one, which has one vector a text")
    needed = readiness(entry)
    if not needed.by_run or (load.offline and not catalogue.available(entry)):
        raise InputError(f"system {system!r}: {needed.missing}")
    return entry


class Nearest:
    """A dense system of the catalogue as :class:`analysis.benchmarks.cui_tagger.Linker`.

    Args:
        cache: where vectors are kept.
        system: its name.
        load: how it is loaded.
        progress: may raise JobCancelledError; what was encoded until then is kept.

    Raises:
        InputError: there is no such system, it has no vectors, or something of it lacks.
        SystemLoadError: it does not load or fails its check: better known before hours of other work.
    """

    def __init__(self, cache: Cache, system: str, *, load: LoadOptions, progress: Progress) -> None:
        self._entry: Entry = dense(system, load)
        self.name = system
        self._workbench = Workbench(cache, options=load, progress=progress)
        self._workbench.encoder(self._entry)

    def nearest(
        self, texts: Sequence[str], candidates: Sequence[str], *, k: int, what: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each text its ``k`` nearest candidates and their cosines; see the protocol.

        Raises:
            JobCancelledError: raised by progress.
        """
        queries = self._workbench.vectors(self._entry, texts, role="query")
        places, cosines = np.zeros((len(texts), 0), np.int64), np.zeros((len(texts), 0))
        for start in range(0, len(candidates), BLOCK):
            self._workbench.progress(f"nearest {what}", start, len(candidates))
            block = candidates[start : start + BLOCK]
            scores = (queries @ self._workbench.vectors(self._entry, block, role="document").T).astype(np.float64)
            ours = np.broadcast_to(np.arange(start, start + len(block)), scores.shape)
            places, cosines = _best(np.hstack([places, ours]), np.hstack([cosines, scores]), k=k)
        self._workbench.progress(f"nearest {what}", len(candidates), len(candidates))
        return places, cosines


def _best(
    places: NDArray[np.int64], cosines: NDArray[np.float64], *, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ``k`` largest of each row, largest first; of equal ones the first."""
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(cosines, order, axis=1)
