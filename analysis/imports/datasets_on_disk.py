"""Hugging Face ``datasets`` as ``save_to_disk`` writes them, read with pyarrow alone.

A saved ``Dataset`` is a folder with ``state.json`` and its Arrow files; a ``DatasetDict`` is one with
``dataset_dict.json`` and a folder for each split. The folder given is a ``DatasetDict`` with the splits ``corpus``,
``queries`` and ``qrels``, or holds a ``Dataset`` or ``DatasetDict`` for each of these, with subsets as
``analysis.imports.configs`` tells. A benchmark of parallel documents needs no ``qrels``: with ``--relevant-by family``
every language version of a query's source is relevant.

Patents have columns of their own, taken where the usual ones are missing: of documents ``publication_number`` (the
family), ``abstract`` and ``first_claim`` (the text); of queries ``source_publication`` (the family).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import configs, subsets, tables
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.records import Record, once, text
from analysis.imports.subsets import Side

STATE = "state.json"
DICT = "dataset_dict.json"
PUBLICATION = ("publication_number", "abstract", "first_claim")
SOURCE = "source_publication"


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of saved datasets.

    Args:
        path: their folder.
        options: how they are read.
        faults: takes the faults of their rows.

    Raises:
        InputError: the folder holds no saved dataset, one of its files is missing or damaged, or a part is missing.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder, expected datasets as save_to_disk writes them")
    if (path / DICT).is_file():
        saved = {configs.DEFAULT: _splits(path)}
    else:
        folders = [folder for folder in sorted(path.iterdir()) if folder.is_dir()]
        saved = {folder.name: _splits(folder) for folder in folders if _saved(folder)}
    if not saved:
        raise InputError(f"{path}: found no {DICT} and no folder with {STATE}, expected what save_to_disk writes")
    found = configs.subsets(path, saved, options=options)
    documents = tables.documents(options.renamed, language_key=options.language_key)
    known = {**documents.known, **{name: (name,) for name in PUBLICATION}}
    needed = (("_id",), (*tables.TEXTS, "abstract"))
    return subsets.parts(
        found,
        options=options,
        faults=faults,
        documents=Side(replace(documents, known=known, needed=needed), _document),
        queries=Side(tables.queries(options.renamed), _query),
    )


def _saved(folder: Path) -> bool:
    return (folder / DICT).is_file() or (folder / STATE).is_file()


def _splits(folder: Path) -> configs.Splits:
    if not (folder / DICT).is_file():
        return {"": _arrow(folder)}
    names = _read(folder / DICT).get("splits")
    if not isinstance(names, list) or not all(_plain(name) for name in names):
        raise InputError(f"{folder / DICT}: splits {json.dumps(names)[:80]}, expected a list of folders")
    return {name: _arrow(folder / name) for name in names}


def _arrow(folder: Path) -> tuple[Path, ...]:
    """The files of one saved dataset."""
    state = _read(folder / STATE)
    listed = state.get("_data_files")
    names = [item.get("filename") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not names or not all(_plain(name) for name in names):
        raise InputError(f"{folder / STATE}: _data_files {json.dumps(listed)[:80]}, expected a list of file names")
    if state.get("_indices_data_files"):
        raise InputError(f"{folder / STATE}: rows are chosen in another file, expected flatten_indices() before saving")
    files = tuple(folder / str(name) for name in names)
    configs.check_shards(files)
    return files


def _plain(name: object) -> bool:
    """Whether it is a name inside a folder, and not a path out of it."""
    return isinstance(name, str) and name not in ("", ".", "..") and not set(name) & {"/", "\\", "\0"}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)
    except (OSError, ValueError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: {said}; expected what save_to_disk writes") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: {json.dumps(found)[:80]}, expected a JSON object as save_to_disk writes")
    return found


def _document(record: Record) -> dict[str, Any]:
    """A patent's columns as the usual ones, where those are missing."""
    found = {name: value for name, value in record.items() if name not in PUBLICATION}
    publication = record.get(PUBLICATION[0])
    if publication is not None and found.get("family") is None:
        found["family"] = publication
    if found.get("text") is None:
        bodies = [body for body in (text(record, name) for name in PUBLICATION[1:]) if body and body.strip()]
        found |= {"text": " ".join(bodies)} if bodies else {}
    return found


def _query(record: Record) -> dict[str, Any]:
    found = dict(record)
    if found.get("family") is None and found.get(SOURCE) is not None:
        found["family"] = found.pop(SOURCE)
    return found
