"""Where files live: one folder holds everything the product stores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
ENVIRONMENT_VARIABLE = "BABELSCOPE_CACHE"
MODELS = "BABELSCOPE_MODELS"


@dataclass(frozen=True)
class Cache:
    """The cache folder and the names inside it."""

    root: Path

    @property
    def current(self) -> Path:
        """The small text file that names the store generation in force."""
        return self.root / "CURRENT"

    @property
    def lock(self) -> Path:
        """Held by the one job that writes."""
        return self.root / "store.lock"

    @property
    def hits(self) -> Path:
        """Full rankings, one Parquet file a run."""
        return self.root / "hits"

    @property
    def documents(self) -> Path:
        """Document texts, one Parquet file a task."""
        return self.root / "documents"

    @property
    def maps(self) -> Path:
        """Where texts lie in a space of vectors, one Parquet file a picture."""
        return self.root / "maps"

    @property
    def embeddings(self) -> Path:
        """Vectors in chunks, one folder an encoder and prompt."""
        return self.root / "embeddings"

    @property
    def jobs(self) -> Path:
        """Progress and log files of jobs."""
        return self.root / "jobs"

    @property
    def notes(self) -> Path:
        """Tags and notes that people write while they read, apart from the store's generations."""
        return self.root / "notes.sqlite"

    @property
    def own_systems(self) -> Path:
        """Systems that the reader added to the catalogue."""
        return self.root / "systems.toml"

    @property
    def uploads(self) -> Path:
        """Files that came through a browser, one folder an upload; a job that has stored them removes them."""
        return self.root / "uploads"

    @property
    def what_if(self) -> Path:
        """Rankings of what-ifs, one Parquet file each; they can be made anew."""
        return self.root / "what-if"

    @property
    def sources(self) -> Path:
        """Downloaded sources, checked by hash."""
        return self.root / "sources"

    @property
    def terms(self) -> Path:
        """Prepared files of a terminology that the reader has a licence for; they can be made anew."""
        return self.root / "terms"

    @property
    def training(self) -> Path:
        """What was found so far in files that are being looked through; a job that ends well removes its own."""
        return self.root / "training"

    @property
    def translations(self) -> Path:
        """What translation models made of texts, one folder a model and pair of languages; it can be made anew."""
        return self.root / "translations"

    @property
    def transcripts(self) -> Path:
        """What models answered that wrote queries, one file a benchmark: removed, they have to be asked again."""
        return self.root / "transcripts"


def cache(folder: str | Path | None = None) -> Cache:
    """The cache in force: the argument, else ``BABELSCOPE_CACHE``, else ``cache/`` beside the app."""
    return Cache(Path(folder or os.environ.get(ENVIRONMENT_VARIABLE) or PROJECT / "cache").resolve())


def models() -> Path:
    """The reader's own models, each in a folder named as its system: ``BABELSCOPE_MODELS``, else ``models/`` there."""
    return Path(os.environ.get(MODELS) or PROJECT / "models").expanduser().resolve()


@contextmanager
def in_force(folder: str | Path | None) -> Iterator[None]:
    """Make a folder the cache of this process, and of those it starts, for a while; None changes nothing."""
    before = os.environ.get(ENVIRONMENT_VARIABLE)
    if folder:
        os.environ[ENVIRONMENT_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if folder and before is None:
            del os.environ[ENVIRONMENT_VARIABLE]
        elif folder and before is not None:
            os.environ[ENVIRONMENT_VARIABLE] = before
