"""Texts and images in one space: dense retrieval where a query is a text, an image, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from analysis.errors import SystemRefusedError
from analysis.model import Corpus, Image, Questions, Ranking
from analysis.store.vector_file import Rows, room
from analysis.systems import images
from analysis.systems.catalogue import needs_images, towers
from analysis.systems.dense import Dense
from analysis.systems.encoders import Role, Vectors
from analysis.systems.entry import Entry
from analysis.systems.lists import joined
from analysis.systems.workbench import Need, Workbench

BLOCK = 65_536
"""Documents whose vectors are put together at a time."""


@dataclass(frozen=True)
class _Sides:
    """What is read of some documents or queries, by position: a text, an image, or both."""

    texts: Mapping[int, str]
    files: Mapping[int, Path]

    def needs(self, towers: tuple[Entry, Entry], role: Role) -> Iterator[Need]:
        if self.texts:
            yield Need(towers[0], role, list(self.texts.values()))
        if self.files:
            yield Need(towers[1], role, (), files=list(self.files.values()))


class Multimodal(Dense):
    """Cosine search over vectors of texts and images.

    Of a query is read what the catalogue says. A document is read whole: its text, its image, or both. The vector of
    both is the mean of the two unit vectors, made a unit vector again; as the vector of a query it orders documents as
    the sum of their two cosines does. What lacks one of the two is read by the other.
    """

    def __init__(self, system: Entry) -> None:
        super().__init__(system)
        self._towers = towers(system)
        self._files: dict[Image, Path] = {}

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """Vectors of all documents and questions.

        Raises:
            SystemRefusedError: it reads the images of queries, and none has one.
            InputError: an image is not where it should be.
        """
        if needs_images(self.entry) and not questions.images:
            raise SystemRefusedError(
                f"{self.entry.name}: it reads the image of a query, and no query of this task has one; expected a "
                "benchmark with images, such as M3Retrieve's"
            )
        documents, queries = self._whole(corpus.texts, corpus.images), self._asked(questions)
        return [*documents.needs(self._towers, "document"), *queries.needs(self._towers, "query")]

    def documents(self, corpus: Corpus, *, workbench: Workbench) -> Rows:
        """Unit vectors of the documents, ``(M, d)`` float32, in memory where they are few."""
        found: Rows = np.zeros((0, 0), dtype=np.float32)
        for start in range(0, len(corpus), BLOCK):
            places = range(start, min(len(corpus), start + BLOCK))
            named = {place - start: corpus.images[place] for place in places if place in corpus.images}
            sides = self._whole(corpus.texts[start : places.stop], named)
            vectors = self._vectors(sides, len(places), role="document", workbench=workbench)
            found = found if start else room(workbench.folder, (len(corpus), vectors.shape[1]))
            found[start : places.stop] = vectors
        return found

    def queries(self, questions: Questions, *, workbench: Workbench) -> Vectors:
        """Unit vectors of the questions, ``(Q, d)`` float32; zero where there is nothing to read."""
        return self._vectors(self._asked(questions), len(questions), role="query", workbench=workbench)

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """As of any dense system; a query of which there is nothing to read finds nothing."""
        asked = np.array(sorted(questions.images), dtype=np.int32)
        if self.entry.reads != "image" or len(asked) == len(questions):
            return super().rank(corpus, questions, depth=depth, workbench=workbench)
        if not len(asked):
            return joined([], depth=depth)
        some = questions.take(asked)
        found = super().rank(corpus, some, depth=depth, workbench=workbench)
        for measured in workbench.recall([self.entry], corpus, some).values():
            workbench.measured(self.entry, corpus, questions, measured)
        return replace(found, query=asked[found.query])

    def _asked(self, questions: Questions) -> _Sides:
        if self.entry.reads == "text":
            return _Sides(dict(enumerate(questions.texts)), {})
        if self.entry.reads == "image":
            return _Sides({}, self._located(questions.images))
        return self._whole(questions.texts, questions.images)

    def _whole(self, texts: Sequence[str], named: Mapping[int, Image]) -> _Sides:
        """Every text that says something, and every image; an empty text where there is no image either."""
        said = {place: text for place, text in enumerate(texts) if text.strip() or place not in named}
        return _Sides(said, self._located(named))

    def _located(self, named: Mapping[int, Image]) -> dict[int, Path]:
        new = {place: image for place, image in named.items() if image not in self._files}
        self._files |= {new[place]: file for place, file in images.located(new).items()}
        return {place: self._files[image] for place, image in named.items()}

    def _vectors(self, sides: _Sides, n: int, *, role: Role, workbench: Workbench) -> Vectors:
        text, image = self._towers
        parts = []
        if sides.texts:
            parts.append((list(sides.texts), workbench.vectors(text, list(sides.texts.values()), role=role)))
        if sides.files:
            parts.append((list(sides.files), workbench.image_vectors(image, list(sides.files.values()))))
        found = np.zeros((n, parts[0][1].shape[1] if parts else 0), dtype=np.float32)
        for places, vectors in parts:
            found[places] += vectors
        both = sorted(sides.texts.keys() & sides.files.keys())
        lengths = np.linalg.norm(found[both], axis=1, keepdims=True)
        found[both] /= np.where(lengths > 0, lengths, 1)
        return found
