"""A folder for each language, as multi-language BEIR sets have them: an id counts within its folder only."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import beir, records
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import Record, Records
from analysis.languages import canonical


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a folder, or of its folders where each is a language with queries and judgements of its own.

    Ids then become ``FOLDER:id``, those of documents only where each folder has a corpus. A record that says no
    language has its folder's. Queries with one id are versions of one question only with ``parallel_ids``.

    Args:
        path: as :func:`beir.parts` expects it; or folders like that, whose corpus may stand above them instead.
        options: how it is read.
        faults: takes the faults of its rows.

    Raises:
        InputError: a file is missing, there is more than one, or a folder is no language.
    """
    folders = _folders(path, options)
    if not folders:
        if options.parallel_ids:
            raise InputError(f"--parallel-ids: {path} has no folder for each language, expected such as en and ja")
        return beir.parts(path, options, faults)
    _check_ids(options)
    shared = next(iter(beir.corpora(path, options)), None)
    found = [beir.parts(folder, options, faults, corpus=shared) for folder in folders]
    notices: Counter[str] = Counter()
    words = f"ids written after their folder, such as {folders[0].name}:1"
    under = [_Under(folder.name, options, shared is not None, notices, words) for folder in folders]
    every = list(zip(under, found, strict=True))

    def judgements() -> Qrels:
        judged = [part.judgements() for part in found]
        merged = Qrels(tuple(file for one in judged for file in one.files))
        for place, one in zip(under, judged, strict=True):
            place.judge(merged, one, faults)
        for part in found:
            notices.update(part.notices)
        return merged

    chain = itertools.chain.from_iterable
    documents = found[0].documents if shared else chain(place.documents(part.documents) for place, part in every)
    return Parts(
        files=tuple(dict.fromkeys(file for part in found for file in part.files)),
        queries=chain(place.queries(part.queries) for place, part in every),
        documents=documents,
        judgements=judgements,
        notices=notices,
    )


def _check_ids(options: Options) -> None:
    for column, name in options.renamed.items():
        if name == "_id" and "." in column:
            raise InputError(f"--map {column}=_id: expected a column without a dot where each language has a folder")


def _folders(path: Path, options: Options) -> list[Path]:
    """The folders of a folder without queries of its own; none where none of them has queries."""
    if not path.is_dir() or beir.queries(path, options):
        return []
    folders = sorted(folder for folder in path.iterdir() if folder.is_dir() and not folder.name.startswith("."))
    if not any(beir.queries(folder, options) for folder in folders):
        return []
    for folder in folders:
        try:
            canonical(folder.name)
        except InputError as error:
            raise InputError(f"{folder}: {error}; a folder for each language has no other folders") from error
    return folders


class _Under:
    """Puts the folder of a language before ids."""

    def __init__(self, folder: str, options: Options, shared: bool, notices: Counter[str], words: str) -> None:
        self.folder = folder
        self._options = options
        self._shared = shared  # the corpus: its ids stay
        self._notices = notices
        self._words = words
        self._keys = (*(column for column, name in options.renamed.items() if name == "_id"), *records.IDS)

    def queries(self, found: Records) -> Records:
        """Queries under their new ids."""
        for where, record in found:
            made, name = self._named(record)
            excluded = made.get("excluded_documents")
            if isinstance(excluded, list) and not self._shared:
                made["excluded_documents"] = [f"{self.folder}:{other}" for other in excluded]
            if self._options.parallel_ids and name and not self._says(record, "family"):
                made["family"] = f"question {name}"
            yield where, made

    def documents(self, found: Records) -> Records:
        """Documents under their new ids."""
        for where, record in found:
            yield where, self._named(record)[0]

    def judge(self, merged: Qrels, found: Qrels, faults: Faults) -> None:
        """Add the judgements of the folder to those of all."""
        merged.take(
            found,
            queries=lambda name: (self._under(name),),
            document=str if self._shared else self._under,
            faults=faults,
        )
        merged.languages |= {self._under(name): self.folder for name in found.first}

    def _under(self, name: str) -> str:
        return f"{self.folder}:{name}"

    def _named(self, record: Record) -> tuple[dict[str, Any], str | None]:
        """A record under its new id, with its language, and its id in the file."""
        made = dict(record)
        key = next((key for key in self._keys if record.get(key) is not None), None)
        name = record[key] if key else None
        if not isinstance(name, str) or not name.strip():
            return made, None
        made[str(key)] = self._under(name)
        self._notices[self._words] += 1
        if not self._says(record, "language"):
            made["language"] = self.folder
        return made, name

    def _says(self, record: Record, field: str) -> bool:
        columns = [column for column, name in self._options.renamed.items() if name == field]
        if field == "language" and self._options.language_key:
            columns.append(self._options.language_key)
        return any(records.at(record, column) for column in (field, *columns))
