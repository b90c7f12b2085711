"""Where the pages get their store from."""

from __future__ import annotations

from pathlib import Path

from analysis import paths
from analysis.store import read
from analysis.store.read import Store


def open_source(folder: str | Path | None = None) -> Store | None:
    """The store in force in a cache folder (default: the one of the environment); None when nothing is stored yet.

    Raises:
        analysis.errors.StoreError: it is damaged, or a newer program wrote it.
    """
    return read.open_store(paths.cache(folder))


def generation(folder: str | Path | None = None) -> str | None:
    """What changes whenever the store does: the path of the generation in force, as a key for caches."""
    store = open_source(folder)
    return str(store.path) if store else None
