"""Benchmarks in tables: documents, queries and judgements, each Parquet, CSV, TSV or lines of JSON."""

from __future__ import annotations

from pathlib import Path

from analysis.errors import InputError
from analysis.imports import beir, judgements, tables
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts

ENDINGS = (".parquet", ".csv", ".tsv", ".jsonl")


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a folder of tables, each plain or packed.

    Args:
        path: ``documents.*`` or ``corpus.*``, ``queries.*``, and ``judgements.*`` or ``qrels.*`` or one file for the
            split in ``judgements`` or ``qrels``.
        options: how it is read.
        faults: takes the faults of its rows.

    Raises:
        InputError: a file is missing, or there is more than one.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder, expected one with documents, queries and qrels")
    corpus, asked = _table(path, "documents", "corpus"), _table(path, "queries")
    judged: tuple[Path, ...] = () if options.relevant_by else (_judgements(path, options.split),)
    of_documents = tables.documents(options.renamed, language_key=options.language_key)
    of_queries = tables.queries(options.renamed)
    return Parts(
        files=(corpus, asked, *judged),
        queries=tables.read(asked, of_queries, faults=faults, kind="query dropped"),
        documents=tables.read(corpus, of_documents, faults=faults, kind="document dropped"),
        judgements=lambda: judgements.read(judged[0], faults=faults, renamed=options.renamed),
    )


def _table(folder: Path, *stems: str) -> Path:
    found = beir.present(folder, [f"{stem}{ending}" for stem in stems for ending in ENDINGS])
    words = " or ".join(f"{stem}.*" for stem in stems)
    return beir.only(folder, found, f"one {words} that is {', '.join(ENDINGS)} (also .gz or .zst)")


def _judgements(folder: Path, split: str) -> Path:
    """The judgements of the split, or those beside the documents."""
    stems = ("qrels", "judgements")
    inside = [f"{stem}/{split}{ending}" for stem in stems for ending in judgements.ENDINGS]
    beside = [f"{stem}{ending}" for stem in stems for ending in judgements.ENDINGS]
    found = beir.present(folder, inside) or beir.present(folder, beside)
    return beir.only(folder, found, f"one file of judgements, such as qrels.csv or qrels/{split}.parquet")
