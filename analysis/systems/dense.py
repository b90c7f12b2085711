"""Dense retrieval: one vector a text, nearest by inner product of unit vectors."""

from __future__ import annotations

from analysis.model import Corpus, Questions, Ranking
from analysis.store.vector_file import Rows
from analysis.systems import approximate
from analysis.systems.encoders import Vectors
from analysis.systems.entry import Entry
from analysis.systems.index import Index
from analysis.systems.workbench import Need, Workbench


class Dense:
    """Cosine search over the vectors of one encoder: exact, up to a number of documents."""

    def __init__(self, system: Entry) -> None:
        self.entry = system

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """Vectors of all documents and questions."""
        return [Need(self.entry, "document", corpus.texts), Need(self.entry, "query", questions.texts)]

    def documents(self, corpus: Corpus, *, workbench: Workbench) -> Rows:
        """Unit vectors of the documents, ``(M, d)`` float32, in memory where they are few."""
        return workbench.rows(self.entry, corpus.texts, role="document")

    def queries(self, questions: Questions, *, workbench: Workbench) -> Vectors:
        """Unit vectors of the questions, ``(Q, d)`` float32."""
        return workbench.vectors(self.entry, questions.texts, role="query")

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The ``depth`` documents of highest cosine; see :class:`~analysis.systems.workbench.System`."""
        workbench.prepare(self.needs(corpus, questions))
        documents, queries = self.documents(corpus, workbench=workbench), self.queries(questions, workbench=workbench)
        if not workbench.exact and approximate.worthwhile(len(corpus), len(questions)):
            return self._approximately(corpus, questions, documents, queries, depth=depth, workbench=workbench)
        exact = Index(documents, tie_order=corpus.tie_order, threads=workbench.options.cores)
        return exact.search(
            queries,
            depth=depth,
            excluded=questions.excluded,
            progress=workbench.progress,
            step=f"search {self.entry.short_title}",
        )

    def _approximately(
        self,
        corpus: Corpus,
        questions: Questions,
        documents: Rows,
        queries: Vectors,
        *,
        depth: int,
        workbench: Workbench,
    ) -> Ranking:
        """The same from the lists nearest to each question; the workbench keeps how much of it is found."""
        lists = approximate.Lists(
            documents,
            tie_order=corpus.tie_order,
            folder=workbench.folder,
            threads=workbench.options.cores,
            progress=workbench.progress,
            step=f"index {self.entry.short_title}",
        )
        found, measured = approximate.search(
            lists,
            queries,
            depth=depth,
            excluded=questions.excluded,
            progress=workbench.progress,
            step=f"search {self.entry.short_title}",
        )
        if measured:
            workbench.measured(self.entry, corpus, questions, measured)
        return found
