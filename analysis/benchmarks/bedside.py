"""Bedside: clinical questions in six languages, written for this project, as three retrieval tasks.

Machine-assisted; no clinician or native speaker has reviewed it. The data stands in ``bedside/`` as JSON Lines: what is
the same in every language, one file a language, and the English evidence.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from analysis.benchmarks.icd10 import chapter
from analysis.errors import InputError
from analysis.model import Benchmark, Document, Judgement, Query, Task

FOLDER = Path(__file__).parent / "bedside"
LANGUAGES = ("en", "es", "fr", "ja", "zh", "ru")
CONCEPTS = "concepts.jsonl"
EVIDENCE = "evidence.jsonl"
FEWEST_FORMS = 2  # besides the preferred term
FEWEST_SNIPPETS = 3
TEXTS = ("preferred", "patient_question", "exam_question", "definition")
CUI = re.compile(r"C\d{7}")
CODE = re.compile(r"[A-Z]\d\d(\.\d{1,2})?")
VERSION = "1"
NOTES = (
    "Written by the authors of this software, machine-assisted; no clinician or native speaker has reviewed it.",
    "Each concept has, in each language, a term with further surface forms, a question in a patient's words, one in "
    "exam style and a definition, written in that language rather than translated; evidence is in English.",
    "No question contains a surface form of its concept. The three tasks share concepts but no query.",
    "UMLS identifiers were given from general knowledge and not checked against UMLS.",
    "It compares retrieval systems; nothing in it is medical advice. Not for clinical decisions.",
)


class Wording(NamedTuple):
    """What one language says of a concept."""

    preferred: str
    forms: tuple[str, ...]  # further surface forms: lay words, abbreviations, spellings
    patient_question: str
    exam_question: str
    definition: str

    @property
    def surface_forms(self) -> tuple[str, ...]:
        """The preferred term and all others."""
        return (self.preferred, *self.forms)


class Snippet(NamedTuple):
    """One piece of English evidence."""

    id: str
    text: str
    loose: bool  # says it without naming the concept


@dataclass(frozen=True)
class Concept:
    """One disease in six languages."""

    name: str
    cui: str
    icd10: str  # with its dot
    specialty: str
    groups: tuple[str, ...]  # declared confusable groups
    wordings: Mapping[str, Wording]  # by language
    snippets: tuple[Snippet, ...]

    @property
    def prefix(self) -> str:
        """The three-character ICD-10 category."""
        return self.icd10[:3]


def folded(text: str) -> str:
    """What two spellings share when they differ in case or width only."""
    return unicodedata.normalize("NFKC", text).casefold()


def load(folder: Path = FOLDER) -> tuple[Concept, ...]:
    """Read and check the data.

    Raises:
        InputError: naming file, line, value and what was expected.
    """
    wordings = {tag: dict(_wordings(folder / f"{tag}.jsonl")) for tag in LANGUAGES}
    snippets: dict[str, list[Snippet]] = defaultdict(list)
    for path, line, row in _rows(folder / EVIDENCE, ("id", "concept", "text", "loose")):
        _check_text(path, line, row["text"])
        snippets[row["concept"]].append(Snippet(row["id"], row["text"], row["loose"]))
    concepts = []
    for path, line, row in _rows(folder / CONCEPTS, ("concept", "cui", "icd10", "specialty", "groups")):
        name = row["concept"]
        _expect(path, line, "cui", row["cui"], holds=bool(CUI.fullmatch(row["cui"])), expected="C and seven digits")
        _expect(path, line, "icd10", row["icd10"], holds=bool(CODE.fullmatch(row["icd10"])), expected="such as E11.9")
        lacking = [tag for tag in LANGUAGES if name not in wordings[tag]]
        _expect(path, line, "concept", name, holds=not lacking, expected=f"a line in {', '.join(lacking)}.jsonl")
        enough = len(snippets[name]) >= FEWEST_SNIPPETS
        _expect(path, line, "concept", name, holds=enough, expected=f"{FEWEST_SNIPPETS} snippets or more in {EVIDENCE}")
        by_language = {tag: wordings[tag][name] for tag in LANGUAGES}
        groups = tuple(row["groups"])
        concepts.append(
            Concept(name, row["cui"], row["icd10"], row["specialty"], groups, by_language, tuple(snippets[name]))
        )
    _check_names(folder, concepts, wordings, snippets)
    return tuple(concepts)


def _rows(path: Path, keys: tuple[str, ...]) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """Path, line number and object of each line, with exactly these keys."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    for line, text in enumerate(lines, start=1):
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {line}: {error.msg}, expected one JSON object a line") from error
        _expect(path, line, "keys", sorted(row), holds=set(row) == set(keys), expected=", ".join(keys))
        yield path, line, row


def _wordings(path: Path) -> Iterator[tuple[str, Wording]]:
    for _, line, row in _rows(path, ("concept", "preferred", "forms", *TEXTS[1:])):
        for key in TEXTS:
            _check_text(path, line, row[key])
        for form in row["forms"]:
            _check_text(path, line, form)
        wording = Wording(row["preferred"], tuple(row["forms"]), *(row[key] for key in TEXTS[1:]))
        distinct = {folded(form) for form in wording.surface_forms}
        _expect(path, line, "forms", row["forms"], holds=len(wording.forms) >= FEWEST_FORMS, expected="two or more")
        _expect(
            path,
            line,
            "forms",
            row["forms"],
            holds=len(distinct) == len(wording.surface_forms),
            expected="no repetition",
        )
        yield row["concept"], wording


def _check_text(path: Path, line: int, text: object) -> None:
    sound = isinstance(text, str) and bool(text) and text.strip() == text and unicodedata.is_normalized("NFC", text)
    _expect(path, line, "text", text, holds=sound, expected="a trimmed, non-empty text in NFC")


def _expect(path: Path, line: int, key: str, value: object, *, holds: bool, expected: str) -> None:
    if not holds:
        raise InputError(f"{path}, line {line}: {key} {value!r}, expected {expected}")


def _check_names(
    folder: Path,
    concepts: Iterable[Concept],
    wordings: Mapping[str, Mapping[str, Wording]],
    snippets: Mapping[str, object],
) -> None:
    """Every name stands once, and nothing belongs to a concept that does not exist."""
    names = Counter(concept.name for concept in concepts)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise InputError(f"{folder / CONCEPTS}: concept {twice[0]!r} stands twice")
    for file, known in [(f"{tag}.jsonl", wordings[tag]) for tag in wordings] + [(EVIDENCE, snippets)]:
        strangers = sorted(set(known) - set(names))
        if strangers:
            raise InputError(f"{folder / file}: concept {strangers[0]!r} is not in {CONCEPTS}")


def siblings(first: Concept, second: Concept) -> bool:
    """Whether two concepts share their ICD-10 category or a declared confusable group."""
    return first.prefix == second.prefix or bool(set(first.groups) & set(second.groups))


def sibling_groups(concepts: Iterable[Concept]) -> dict[str, str]:
    """One group a concept, so that two concepts are siblings exactly if they have the same.

    Raises:
        InputError: categories and declared groups do not divide the concepts: two of them share a sibling and are none.
    """
    every = list(concepts)
    group = {concept.name: concept.name for concept in every}
    for first, second in combinations(every, 2):
        if siblings(first, second):
            group = {name: group[first.name] if of == group[second.name] else of for name, of in group.items()}
    for first, second in combinations(every, 2):
        if (group[first.name] == group[second.name]) != siblings(first, second):
            raise InputError(f"{first.name} and {second.name} share siblings but are none: declare a group for both")
    return group


def build(folder: Path = FOLDER) -> Benchmark:
    """The benchmark from its data.

    Raises:
        InputError: the data is faulty.
    """
    builder = _Builder(load(folder))
    return Benchmark(
        name="bedside",
        version=VERSION,
        title="Bedside",
        parallel=True,
        licence="CC BY 4.0",
        source="written for this project",
        notes=NOTES,
        settings={"languages": list(LANGUAGES), "concepts": len(builder.concepts)},
        tasks=(builder.alignment(), builder.discrimination(), builder.evidence()),
    )


class _Builder:
    """The three tasks over one set of concepts."""

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self.concepts = concepts
        self._sibling = sibling_groups(concepts)

    def _ties(self, concept: Concept) -> dict[str, Any]:
        """What ties a document or query to others."""
        group = self._sibling[concept.name]
        return {"family": concept.name, "sibling_group": group, "related_group": chapter(concept.icd10)}

    def _documents(self, texts: Iterable[tuple[Concept, str, str, str]]) -> tuple[Document, ...]:
        """Documents from concept, id, language and text."""
        return tuple(Document(name, tag, text, **self._ties(concept)) for concept, name, tag, text in texts)

    def _queries(self, what: str, suffix: str) -> tuple[Query, ...]:
        """One query a concept and language."""
        return tuple(
            Query(f"{concept.name}-{tag}{suffix}", tag, getattr(concept.wordings[tag], what), **self._ties(concept),
                  source_query=concept.name)
            for concept in self.concepts
            for tag in LANGUAGES
        )  # fmt: skip

    def alignment(self) -> Task:
        """A patient's question asks for the definition of the concept, in every language."""
        documents = self._documents(
            (concept, f"{concept.name}-{tag}", tag, concept.wordings[tag].definition)
            for concept in self.concepts
            for tag in LANGUAGES
        )
        question = (
            "A question in a patient's words asks for the disease's definition, which stands once in every language."
        )
        queries = self._queries("patient_question", "-patient")
        return Task(
            "t1-alignment", "Alignment", question, documents, queries, _judged(queries, documents), default=True
        )

    def discrimination(self) -> Task:
        """A term asks for all other terms of the same concept; neighbours stand close by."""
        documents = self._documents(
            (concept, f"{concept.name}-{tag}-{place}", tag, form)
            for concept in self.concepts
            for tag in LANGUAGES
            for place, form in enumerate(concept.wordings[tag].surface_forms)
        )
        alike: dict[tuple[str, str], list[str]] = defaultdict(list)
        for document in documents:
            alike[document.language, folded(document.text)].append(document.id)
        queries = tuple(
            query._replace(excluded_documents=tuple(alike[query.language, folded(query.text)]))
            for query in self._queries("preferred", "-term")
        )
        question = "A term asks for all other terms of the same disease in every language; its own text is left out."
        return Task(
            "t2-discrimination",
            "Discrimination",
            question,
            documents,
            queries,
            _judged(queries, documents),
            exclude_self=True,
        )

    def evidence(self) -> Task:
        """A question in exam style asks for English evidence."""
        documents = self._documents(
            (concept, snippet.id, "en", snippet.text) for concept in self.concepts for snippet in concept.snippets
        )
        question = "A question in exam style, in any language, asks for the English evidence on the disease."
        queries = self._queries("exam_question", "-exam")
        return Task("t3-evidence", "Evidence", question, documents, queries, _judged(queries, documents))


def _judged(queries: Iterable[Query], documents: Iterable[Document]) -> tuple[Judgement, ...]:
    """Every document of a query's concept is relevant, except what the query leaves out."""
    of: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        of[document.family].append(document.id)
    return tuple(
        Judgement(query.id, name, 1.0)
        for query in queries
        for name in of[query.family]
        if name not in query.excluded_documents
    )
