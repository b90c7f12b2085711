"""Benchmarks in a folder: BEIR's corpus, queries and judgements, or TREC's topics and judgements beside a corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import InputError
from analysis.imports import qrels, records, topics
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.records import Records

PACKED = ("", ".gz", ".zst")
TREC_QRELS = (".trec", ".txt")


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a folder with a corpus, queries or topics, and judgements, each plain or packed.

    Args:
        path: ``corpus.jsonl``; ``queries.jsonl`` (BEIR) or ``topics*.tsv`` (TREC); ``qrels/<split>.tsv``, or TREC qrels
            in ``qrels/`` or beside the corpus.
        options: how it is read.
        faults: takes the faults of its rows.

    Raises:
        InputError: a file is missing, or there is more than one.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder, expected one with corpus.jsonl, queries and qrels")
    corpus, asked, judged = _corpus(path), _queries(path, options), _judgements(path, options)
    return Parts(
        files=(corpus, asked, judged),
        queries=_topics(asked, options, faults),
        documents=records.read(corpus, faults=faults, kind="document dropped"),
        judgements=lambda: qrels.read(judged, faults=faults, renamed=options.renamed),
    )


def _present(folder: Path, names: Sequence[str]) -> list[Path]:
    paths = (folder / f"{name}{ending}" for name in names for ending in PACKED)
    return [path for path in paths if path.is_file()]


def _one(folder: Path, candidates: Sequence[Path], expected: str) -> Path:
    if len(candidates) == 1:
        return candidates[0]
    names = sorted(str(path.relative_to(folder)) for path in candidates or folder.rglob("*") if path.is_file())
    shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    raise InputError(f"{folder}: found {shown or 'nothing'}, expected {expected}")


def _corpus(folder: Path) -> Path:
    return _one(folder, _present(folder, ["corpus.jsonl"]), "one corpus.jsonl (also .gz or .zst)")


def _queries(folder: Path, options: Options) -> Path:
    if options.format == "beir":
        return _one(folder, _present(folder, ["queries.jsonl"]), "one queries.jsonl (also .gz or .zst)")
    found = [
        path for path in folder.iterdir() if re.fullmatch(r"(topics|queries).*\.(tsv|txt)(\.gz|\.zst)?", path.name)
    ]
    return _one(folder, found, "one file of topics, such as topics.tsv (also .gz or .zst)")


def _judgements(folder: Path, options: Options) -> Path:
    """The judgements of the split; TREC qrels of any name where they are the only ones."""
    split = options.split
    endings = (".tsv", *TREC_QRELS)
    named = _present(folder / "qrels", [f"{split}{ending}" for ending in endings])
    beside = _present(folder, [f"{stem}{ending}" for stem in ("qrels", f"qrels.{split}") for ending in endings])
    inside = [path for path in (folder / "qrels").glob("*") if path.is_file()]
    loose = [path for path in inside if set(path.suffixes) & set(TREC_QRELS)]
    other = [path for path in folder.glob("*qrels*") if path.is_file() and set(path.suffixes) & set(endings)]
    single = loose if len(inside) == 1 else []
    for candidates in (named, beside, single, other):
        if candidates:
            return _one(folder, candidates, f"one file of judgements for --split {split}")
    names = ", ".join(sorted(str(path.relative_to(folder)) for path in inside)) or "no qrels"
    expected = f"qrels/{split}.tsv, or TREC qrels in qrels/{split}.trec, qrels/{split}.txt or qrels.txt"
    raise InputError(f"{folder}: found {names}, expected {expected} (--split chooses)")


def _topics(file: Path, options: Options, faults: Faults) -> Records:
    if options.format == "beir":
        return records.read(file, faults=faults, kind="query dropped")
    return topics.read(file, faults=faults)
