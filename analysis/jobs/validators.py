"""Encoders that say how alike the members of confusion sets are; vectors are kept as they come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.benchmarks.confusion_sets import mean_pairwise_cosines
from analysis.errors import InputError
from analysis.jobs.nearest import dense
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench

N = 3
BLOCK = 2000  # sets whose vectors are held at once


class Validators:
    """Three dense systems of the catalogue as :class:`analysis.benchmarks.mmed_task2.Validators`.

    Args:
        cache: where vectors are kept.
        names: of the systems.
        load: how they are loaded.
        progress: may raise JobCancelledError; what was encoded until then is kept.

    Raises:
        InputError: they are not three different ones, one is not known, has no vectors, or something of it lacks.
    """

    def __init__(self, cache: Cache, names: Sequence[str], *, load: LoadOptions, progress: Progress) -> None:
        if len(names) != N or len(set(names)) != N:
            raise InputError(f"validators {','.join(names)!r}: expected three different dense systems, a,b,c")
        self.names = tuple(names)
        self._entries = [dense(name, load) for name in names]
        self._cache, self._load, self._progress = cache, load, progress

    def cosines(self, members: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Mean pairwise cosine of each set of texts by each encoder, ``(n, 3)``.

        Raises:
            SystemLoadError: one does not load or fails its check.
            JobCancelledError: raised by progress.
        """
        found = np.empty((len(members), N))
        for column, entry in enumerate(self._entries):  # one after the other: three models need not fit at once
            bench = Workbench(self._cache, options=self._load, progress=self._progress)
            bench.encoder(entry)
            for start in range(0, len(members), BLOCK):
                part = members[start : start + BLOCK]
                vectors = bench.vectors(entry, [text for texts in part for text in texts], role="document")
                found[start : start + BLOCK, column] = mean_pairwise_cosines(vectors, [len(texts) for texts in part])
        return found
