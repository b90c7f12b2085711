"""Benchmarks of parallel documents, laid out as ChemCLIR-Bench is: publications in several languages, and queries."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from analysis.benchmarks.document_queries import Asked, Homes, Wanted
from analysis.errors import InputError
from analysis.languages import canonical
from analysis.model import Benchmark, Document, Judgement, Query, Task, parallel
from analysis.store.versions import Dropped, Kept, Rules
from analysis.text import counted

NAME = "chemclir-bench"
TITLES = {"google-patents": "Google Patents", "epo": "EPO"}
CALLED = {"google": "google-patents", "ep": "epo", "european-patent-office": "epo"}
"""Other words for a task."""

INVENTED_OFFICE = "ZZ"
"""What invented publication numbers begin with: an office that WIPO will not give out."""
INVENTED = "Made of invented rows for trying the commands: it measures nothing."
LICENCE = "the terms of those who gave out the tables (patent offices, Google Patents): not checked here"
QUESTION = "A query about a publication asks for it in every language in which it is kept."


@dataclass(frozen=True)
class Source:
    """A table that was read."""

    task: str  # empty: by office
    file: str
    checksum: str  # SHA-256


@dataclass(frozen=True)
class Corpus:
    """What is kept of the tables."""

    sources: tuple[Source, ...]
    rules: Rules
    rows: Mapping[str, int]  # read, by task
    dropped: tuple[Dropped, ...]
    without: Mapping[str, tuple[int, int]]  # task -> versions kept that have no title, and no claim
    kept: Mapping[str, tuple[Kept, ...]]  # by task

    def homes(self, task: str) -> Homes:
        """The languages each publication of a task is kept in."""
        found: dict[str, set[str]] = defaultdict(set)
        for version in self.kept[task]:
            found[version.key].add(version.language)
        return {key: frozenset(tags) for key, tags in found.items()}

    @cached_property
    def written(self) -> dict[str, str]:
        """How languages are written here, by their shortest tags: ``zh-Hans`` where there is ``zh-Hant`` too."""
        tags = {version.language for kept in self.kept.values() for version in kept}
        return {canonical(tag).tag: tag for tag in sorted(tags)}


@dataclass(frozen=True)
class Queries:
    """The queries of a task, and what became of the others."""

    asked: tuple[Asked, ...]
    left: Mapping[tuple[str, str], int]  # (language, reason) -> how many
    facts: Mapping[str, Any] = field(default_factory=dict)  # where they are from


@dataclass(frozen=True)
class Options:
    """What `build parallel-documents` may be told, besides its files."""

    name: str | None = None
    rules: Rules = field(default_factory=Rules)
    wanted: Wanted = field(default_factory=Wanted)


def task_name(word: str) -> str:
    """The name of a task by any of its words."""
    plain = word.strip().lower().replace(" ", "-").replace("_", "-")
    return CALLED.get(plain, plain)


def evidence_words(*, claims: bool) -> str:
    """What the text of a document is made of, in words."""
    return "title, abstract and first claim" if claims else "title and abstract"


def check(corpus: Corpus) -> None:
    """Refuse tables of which nothing is left.

    Raises:
        InputError: no version of a task is kept.
    """
    for task, n in corpus.rows.items():
        if not corpus.kept.get(task):
            told = _most_first((row.reason, row.n) for row in corpus.dropped if row.task == task)
            raise InputError(f"task {task!r}: none of {counted(n, 'row')} is kept ({told})")


def _most_first(reasons: Iterable[tuple[str, int]]) -> str:
    """Reasons with how often they held, in words."""
    found: Counter[str] = Counter()
    for reason, n in reasons:
        found[reason] += n
    return ", ".join(f"{reason} {n:,}" for reason, n in found.most_common())


def benchmark(options: Options, corpus: Corpus, queries: Mapping[str, Queries]) -> Benchmark:
    """The benchmark, a task for each corpus.

    Raises:
        InputError: nothing is kept of a corpus, an id stands twice, or nothing is asked.
    """
    check(corpus)
    tasks = tuple(
        _task(task, corpus.kept[task], queries[task], default=not place) for place, task in enumerate(corpus.rows)
    )
    invented = all(version.key.startswith(INVENTED_OFFICE) for kept in corpus.kept.values() for version in kept)
    name = options.name or NAME
    title = "ChemCLIR-Bench" if name == NAME else name
    if invented:
        name, title = f"{name}-invented", f"{title}, invented rows"
    built = {task: {"documents": _facts(task, options, corpus, queries[task])} for task in corpus.rows}
    return Benchmark(
        name=name,
        version=f"documents-{_digest(corpus, queries)}",
        title=title,
        parallel=all(parallel(task.queries) for task in tasks),
        licence="CC0 1.0" if invented else LICENCE,
        source=", ".join(f"{source.file} ({source.checksum[:12]})" for source in corpus.sources),
        notes=tuple([INVENTED] * invented) + tuple(_notes(corpus, queries)),
        settings={"built": built},
        tasks=tasks,
    )


def _task(name: str, kept: Sequence[Kept], queries: Queries, *, default: bool) -> Task:
    title = TITLES.get(name, name.replace("-", " ").capitalize())
    if not queries.asked:
        told = _most_first((reason, n) for (_, reason), n in queries.left.items())
        raise InputError(f"task {name!r}: no query is left ({told or 'none was given'})")
    documents = _documents(kept)
    of: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        of[document.family].append(document.id)
    offices = {version.key: version.office for version in kept if version.office}
    asked = _queries(queries.asked, offices)
    judged = tuple(Judgement(query.id, found, 1.0) for query in asked for found in of[query.family])
    return Task(name, title, QUESTION, documents, asked, judged, default=default)


def _documents(kept: Sequence[Kept]) -> tuple[Document, ...]:
    ids = Counter(version.id for version in kept)
    twice = next((name for name, n in ids.items() if name and n > 1), None)
    if twice:
        raise InputError(f"row id {twice!r} stands on {ids[twice]} versions that are kept, expected it once")
    own = "" not in ids
    return tuple(
        Document(
            version.id if own else f"{version.key}-{version.language}",
            version.language,
            version.text,
            family=version.key,
        )
        for version in kept
    )


def _queries(asked: Iterable[Asked], offices: Mapping[str, str]) -> tuple[Query, ...]:
    found: dict[str, Query] = {}
    numbers: Counter[tuple[str, str, str]] = Counter()
    for row in asked:
        numbers[row.key, row.language, row.mode] += 1
        name = row.id or f"{row.key}-{row.language}-{row.mode}-{numbers[row.key, row.language, row.mode]}"
        if name in found:
            raise InputError(f"{row.place}: query id {name!r} stands twice, expected it once")
        attributes = {"office": offices.get(row.key, ""), "verifier_score": row.score}
        found[name] = Query(
            name,
            row.language,
            row.text,
            family=row.key,
            mode=row.mode,
            strategy=row.strategy,
            attributes={word: value for word, value in attributes.items() if value},
        )
    return tuple(found.values())


def _facts(task: str, options: Options, corpus: Corpus, queries: Queries) -> dict[str, Any]:
    kept = Counter(version.language for version in corpus.kept[task])
    dropped: dict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, str] = {}
    for row in corpus.dropped:
        if row.task == task:
            dropped[row.language][row.reason] += row.n
            first.setdefault(row.reason, row.first)
    tags = sorted({*kept, *dropped}, key=lambda tag: (-kept[tag], tag))
    untitled, unclaimed = corpus.without.get(task, (0, 0))
    cells = Counter((row.language, row.mode, row.strategy) for row in queries.asked)
    return {
        "sources": [asdict(source) for source in corpus.sources if source.task in ("", task)],
        "rules": asdict(corpus.rules),
        "rows": corpus.rows[task],
        "publications": len({version.key for version in corpus.kept[task]}),
        "untitled": untitled,
        "unclaimed": unclaimed,
        "languages": [
            {
                "language": tag,
                "rows": kept[tag] + dropped[tag].total(),
                "dropped": dict(sorted(dropped[tag].items())),
                "kept": kept[tag],
            }
            for tag in tags
        ],
        "first": first,
        "queries": {
            **queries.facts,
            "wanted": asdict(options.wanted),
            "asked": [
                {"language": tag, "mode": mode, "strategy": strategy, "queries": n}
                for (tag, mode, strategy), n in sorted(cells.items())
            ],
            "left": [
                {"language": tag, "reason": reason, "queries": n} for (tag, reason), n in sorted(queries.left.items())
            ],
        },
    }


def _notes(corpus: Corpus, queries: Mapping[str, Queries]) -> Iterable[str]:
    parts = evidence_words(claims=corpus.rules.claims)
    yield (
        f"A document is the {parts} of a publication in one language; relevant to a query is every language version of "
        "the publication it was written for. Whether another publication would answer it too, nobody judged."
    )
    yield (
        f"Abstracts have at least {counted(corpus.rules.least_words, 'word')}: runs of letters and digits; in Chinese, "
        "Japanese and other scripts without spaces, two letters count as one word."
    )
    models = dict.fromkeys(str(found.facts["model"]) for found in queries.values() if found.facts.get("model"))
    if models:
        yield f"Queries were written by {', '.join(models)} and chosen by a verifier; nobody has read them all."


def _digest(corpus: Corpus, queries: Mapping[str, Queries]) -> str:
    """What content has that was made of the same bytes by the same rules, whatever files are called and calls cost."""
    tables = [[source.task, source.checksum] for source in corpus.sources]
    asked = {task: [row._replace(place="") for row in found.asked] for task, found in queries.items()}
    said = json.dumps([tables, asdict(corpus.rules), asked], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:6]
