"""Benchmarks in a folder: BEIR's corpus, queries and judgements, or TREC's topics and judgements beside a corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import InputError
from analysis.imports import json_topics, judgements, markup_topics, records, topics, trec_documents
from analysis.imports.faults import Faults
from analysis.imports.lines import opened
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import Records

PACKED = ("", ".gz", ".zst")
TREC_QRELS = (".trec", ".txt")
MARKED = (".sgml", ".trec", ".txt", ".xml")
"""How TREC's documents in SGML may be called."""
TOPICS = re.compile(r"(.*topics.*\.(tsv|txt|xml|sgml|jsonl)|queries.*\.(tsv|txt|xml|sgml))(\.gz|\.zst)?")
"""How files of topics are called; what they hold is told by their first bytes, but for TSV."""


def parts(path: Path, options: Options, faults: Faults, *, corpus: Path | None = None) -> Parts:
    """The parts of a folder with a corpus, queries or topics, and judgements, each plain or packed.

    Args:
        path: ``corpus.jsonl``, or SGML (TREC); ``queries.jsonl`` (BEIR) or topics of any kind (TREC);
            ``qrels/<split>.tsv``, or TREC qrels, CSV, JSON or Parquet in ``qrels/`` or beside the corpus.
        options: how it is read.
        faults: takes the faults of its rows.
        corpus: where it stands elsewhere.

    Raises:
        InputError: a file is missing, or there is more than one.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder, expected one with corpus.jsonl, queries and qrels")
    corpus, asked = corpus or _corpus(path, options), _queries(path, options)
    judged = [] if options.relevant_by else [_judgements(path, options)]
    versions = json_topics.Versions()

    def judgements_of_versions() -> Qrels:
        found = judgements.read(judged[0], faults=faults, renamed=options.renamed)
        if not versions.of:
            return found
        every = Qrels(found.files)
        every.take(found, queries=lambda name: versions.of.get(name, (name,)), document=str, faults=faults)
        return every

    return Parts(
        files=(corpus, asked, *judged),
        queries=_topics(asked, options, faults, versions),
        documents=_documents(corpus, faults),
        judgements=judgements_of_versions,
        notices=versions.notices,
    )


def present(folder: Path, names: Sequence[str]) -> list[Path]:
    """The files of these names, plain or packed."""
    paths = (folder / f"{name}{ending}" for name in names for ending in PACKED)
    return [path for path in paths if path.is_file()]


def only(folder: Path, candidates: Sequence[Path], expected: str) -> Path:
    """The only candidate.

    Raises:
        InputError: there is none, or more than one.
    """
    if len(candidates) == 1:
        return candidates[0]
    names = sorted(str(path.relative_to(folder)) for path in candidates or folder.rglob("*") if path.is_file())
    shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    raise InputError(f"{folder}: found {shown or 'nothing'}, expected {expected}")


def queries(folder: Path, options: Options) -> list[Path]:
    """The files of a folder that may hold its queries or topics."""
    if options.format == "beir":
        return present(folder, ["queries.jsonl"])
    files = (path for path in folder.iterdir() if path.is_file() and "qrels" not in path.name)
    return sorted(path for path in files if TOPICS.fullmatch(path.name))


def corpora(folder: Path, options: Options) -> list[Path]:
    """The files of a folder that may hold its documents."""
    marked = [f"{stem}{ending}" for stem in ("corpus", "documents") for ending in MARKED]
    return present(folder, ["corpus.jsonl", *(marked if options.format == "trec" else ())])


def _corpus(folder: Path, options: Options) -> Path:
    expected = "one corpus.jsonl" if options.format == "beir" else "one corpus.jsonl or documents.sgml"
    return only(folder, corpora(folder, options), f"{expected} (also .gz or .zst)")


def _queries(folder: Path, options: Options) -> Path:
    expected = "one queries.jsonl" if options.format == "beir" else "one file of topics, such as topics.tsv"
    return only(folder, queries(folder, options), f"{expected} (also .gz or .zst)")


def _judgements(folder: Path, options: Options) -> Path:
    """The judgements of the split; TREC qrels of any name where they are the only ones."""
    split = options.split
    endings = judgements.ENDINGS
    named = present(folder / "qrels", [f"{split}{ending}" for ending in endings])
    beside = present(folder, [f"{stem}{ending}" for stem in ("qrels", f"qrels.{split}") for ending in endings])
    inside = [path for path in (folder / "qrels").glob("*") if path.is_file()]
    loose = [path for path in inside if set(path.suffixes) & set(TREC_QRELS)]
    other = [path for path in folder.glob("*qrels*") if path.is_file() and set(path.suffixes) & set(endings)]
    single = loose if len(inside) == 1 else []
    for candidates in (named, beside, single, other):
        if candidates:
            return only(folder, candidates, f"one file of judgements for --split {split}")
    names = ", ".join(sorted(str(path.relative_to(folder)) for path in inside)) or "no qrels"
    expected = f"qrels/{split}.tsv, or TREC qrels in qrels/{split}.trec, qrels/{split}.txt or qrels.txt"
    raise InputError(f"{folder}: found {names}, expected {expected} (--split chooses)")


def _documents(file: Path, faults: Faults) -> Records:
    if ".jsonl" in file.suffixes:
        return records.read(file, faults=faults, kind="document dropped")
    return trec_documents.read(file, faults=faults)


def _topics(file: Path, options: Options, faults: Faults, versions: json_topics.Versions) -> Records:
    if options.format == "beir":
        return records.read(file, faults=faults, kind="query dropped")
    with opened(file) as source:
        first = b"" if ".tsv" in file.suffixes else source.head().lstrip()[:1]
    field, renamed = options.topic_field, options.renamed
    if first == b"<":
        mapped = "text" in renamed.values()
        return markup_topics.read(file, field=field, mapped=mapped, notices=versions.notices, faults=faults)
    if first == b"{":
        return json_topics.read(file, text_field=field, renamed=renamed, faults=faults, versions=versions)
    words = topics.TEXT if field == "title" else markup_topics.FIELDS[field]
    return topics.read(file, faults=faults, text=words)
