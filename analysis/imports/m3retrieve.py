"""M3Retrieve: questions with an image about medical texts, in folders by task and specialty.

Each folder with ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv`` (or ``.jsonl``, ``.parquet``) is a
subset: the folder given, ``Cardiology`` in it, or ``IT2I/Cardiology``. The text of a query stands in ``text``,
``caption`` or ``txt``; the path of its image becomes the attribute ``image``. Documents may have an image too. No image
is opened here: where each is, is kept for the systems that read them. The name of the folder becomes the attribute
``specialty``, that of the folder around it ``retrieval_task`` (``task`` means the store's). Field names are those of
the benchmark's own code (github.com/AkashGhosh/M3Retrieve).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import beir, subsets, tables
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import IMAGES, Record
from analysis.imports.subsets import Side, Subset

TEXT = ("text", "caption", "txt")
IMAGE = ("image_path", "img_path", "image", "img")
SPECIALTY = "specialty"
TASK = "retrieval_task"
TABLES = (".jsonl", ".parquet")
GRADED = "judgements of other grades than 0 and 1: M3Retrieve's are binary, so that nDCG@10 is not its nNDCG@10"


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of all folders.

    Args:
        path: a folder of one specialty, of specialties, or of tasks with specialties.
        options: how they are read.
        faults: takes the faults of their rows.

    Raises:
        InputError: no folder has a corpus and queries, or one lacks its judgements.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder, expected one of M3Retrieve")
    folders = [folder for folder in (path, *sorted(path.glob("*/")), *sorted(path.glob("*/*/"))) if _holds(folder)]
    if not folders:
        raise InputError(f"{path}: found no corpus.jsonl with queries.jsonl, expected them here or one or two below")
    found = {one.name: one for one in (_subset(path, folder, options) for folder in folders)}
    if "" in found and len(found) > 1:
        raise InputError(
            f"{path}: found a corpus here and in {folders[1].relative_to(path)}, expected one or the other"
        )
    if options.subset is not None and options.subset not in found:
        shown = ", ".join(filter(None, found)) or "no subsets"
        raise InputError(f"--subset {options.subset!r}: {path} has {shown}")
    chosen = list(found.values()) if options.subset is None else [found[options.subset]]
    documents = tables.documents(options.renamed, language_key=options.language_key)
    known = {**documents.known, "text": TEXT, IMAGES: IMAGE}
    needed = (("_id",), (*tables.TEXTS, IMAGES))  # an image may be all that a document has
    made = subsets.parts(
        chosen,
        options=options,
        faults=faults,
        documents=Side(replace(documents, known=known, needed=needed), _with_image, apart=IMAGES),
        queries=Side(tables.queries(options.renamed, text=TEXT), _with_image),
    )

    def judgements() -> Qrels:
        found = made.judgements()
        made.notices.update({GRADED: sum(row.grade not in (0, 1) for row in found.grades.values())})
        return found

    return replace(made, images=path, judgements=judgements)


def _table(folder: Path, stem: str, endings: tuple[str, ...] = TABLES) -> list[Path]:
    return beir.present(folder, [f"{stem}{ending}" for ending in endings])


def _holds(folder: Path) -> bool:
    return bool(_table(folder, "corpus")) and bool(_table(folder, "queries"))


def _subset(root: Path, folder: Path, options: Options) -> Subset:
    expected = f"one qrels/{options.split}.tsv (or .jsonl, .parquet; --split chooses)"
    judged = _table(folder / "qrels", options.split, (".tsv", *TABLES))
    inside = folder.relative_to(root).parts
    return Subset(
        name="/".join(inside),
        documents=(beir.only(folder, _table(folder, "corpus"), "one corpus"),),
        queries=(beir.only(folder, _table(folder, "queries"), "one file of queries"),),
        judgements=() if options.relevant_by else (beir.only(folder, judged, expected),),
        attributes=dict(zip((SPECIALTY, TASK), reversed(inside), strict=False)),
    )


def _with_image(record: Record) -> dict[str, Any]:
    """A query or document with the path of its image, which may be the only one of a list."""
    found = {name: value for name, value in record.items() if name not in IMAGE}
    image = next((record[name] for name in IMAGE if record.get(name) is not None), None)
    if isinstance(image, list) and len(image) == 1:
        image = image[0]
    return found | ({} if image is None else {IMAGES: image})
