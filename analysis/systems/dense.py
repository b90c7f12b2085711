"""Dense retrieval: one vector a text, nearest by inner product of unit vectors."""

from __future__ import annotations

from analysis.model import Corpus, Questions, Ranking
from analysis.systems.catalogue import Entry
from analysis.systems.index import Index
from analysis.systems.workbench import Need, Workbench


class Dense:
    """Exact cosine search over the vectors of one encoder."""

    def __init__(self, system: Entry) -> None:
        self.entry = system

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """Vectors of all documents and questions."""
        return [Need(self.entry, "document", corpus.texts), Need(self.entry, "query", questions.texts)]

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The ``depth`` documents of highest cosine; see :class:`~analysis.systems.workbench.System`."""
        workbench.prepare(self.needs(corpus, questions))
        documents = workbench.vectors(self.entry, corpus.texts, role="document")
        queries = workbench.vectors(self.entry, questions.texts, role="query")
        index = Index(documents, tie_order=corpus.tie_order, threads=workbench.options.cores)
        return index.search(
            queries,
            depth=depth,
            excluded=questions.excluded,
            progress=workbench.progress,
            step=f"search {self.entry.short_title}",
        )
