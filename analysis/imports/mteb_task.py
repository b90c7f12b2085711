"""Retrieval tasks of mteb on disk: a clone or snapshot of their dataset repository, with all of its subsets.

The README's header says which files make which configuration and split (``configs``, ``data_files``). Without one,
folders and files say it by their names: ``en-corpus/test-00000-of-00001.parquet``, ``corpus.jsonl``,
``qrels/test.tsv``. Which configurations make which subset is told in ``analysis.imports.configs``.

Ids are written as they are where one subset alone has them (for documents: or all that have one mean the same by it),
else ``subset:id``; queries and documents separately. Predictions of mteb name both without the subset: whoever reads
those looks up the id of a query, and that of a document, as it is, then as ``subset:id``. Every query has the attribute
``subset`` where subsets have names.

The language of a subset is never read from its name unless the user says so: ``--subset-languages eng-fra=eng:fra`` for
one, ``--subset-languages query-document`` where all names are built so, ``--language-key subset`` where each is the
language of queries and documents.
"""

from __future__ import annotations

import glob
import re
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import configs, subsets, tables
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.subsets import Side

ENDINGS = (".parquet", ".arrow", ".jsonl", ".json", ".tsv", ".csv")
NO_SPLIT = ""
HEADER = 1 << 22  # bytes of a README that are looked at: 4 MB


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a task's dataset repository.

    Args:
        path: its folder.
        options: how it is read; ``split`` is mteb's evaluation split.
        faults: takes the faults of its rows.

    Raises:
        InputError: the folder has no such parts, its README's header cannot be read, or a file is damaged.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder, expected the dataset repository of an mteb task")
    declared = _declared(path) or _named(path)
    found = configs.subsets(path, declared, options=options)
    documents = Side(tables.documents(options.renamed, language_key=options.language_key))
    return subsets.parts(
        found, options=options, faults=faults, documents=documents, queries=Side(tables.queries(options.renamed))
    )


def _declared(root: Path) -> dict[str, configs.Splits]:
    """Configurations as the README's header says them; empty where it says none."""
    header = _header(root / "README.md")
    listed = header.get("configs")
    if listed is None:
        return {}
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise InputError(
            f"{root / 'README.md'}: configs {reprlib.repr(listed)[:80]}, expected a list of configurations"
        )
    found: dict[str, configs.Splits] = {}
    for item in listed:
        name, files = item.get("config_name", configs.DEFAULT), item.get("data_files")
        if not isinstance(name, str) or name in found:
            shown = f"config_name {reprlib.repr(name)[:80]}"
            raise InputError(f"{root / 'README.md'}: {shown}, expected another name for each configuration")
        found[name] = {split: _matching(root, patterns) for split, patterns in _splits(root, name, files)}
    return found


def _header(readme: Path) -> dict[str, Any]:
    """The YAML between the first two lines of dashes, as plain values."""
    import yaml

    if not readme.is_file():
        return {}
    with readme.open("rb") as file:
        text = file.read(HEADER).decode("utf-8", "replace").removeprefix("\ufeff")
    match = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(\r?\n|$)", text, re.DOTALL)
    if match is None:
        return {}
    try:
        loader = yaml.SafeLoader(match[1])
        loader.flatten_mapping = lambda node: None  # merge keys can make a huge mapping of a few lines: none is taken
        found = loader.get_single_data()
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 2}" if mark else ""  # below the first line of dashes
        said = getattr(error, "problem", None) or type(error).__name__
        raise InputError(f"{readme}{where}: {said}; expected a header in YAML between two lines of ---") from error
    return found if isinstance(found, dict) else {}


def _splits(root: Path, config: str, files: Any) -> Iterator[tuple[str, list[str]]]:
    """Patterns of each split, in any of the forms that hubs take."""
    entries: list[tuple[Any, Any]]
    if isinstance(files, dict):
        entries = list(files.items())
    elif isinstance(files, list) and files and all(isinstance(item, dict) for item in files):
        entries = [(item.get("split"), item.get("path")) for item in files]
    else:
        entries = [(NO_SPLIT, files)]
    for split, patterns in entries:
        listed = patterns if isinstance(patterns, list) else [patterns]
        if not isinstance(split, str) or not listed or not all(isinstance(item, str) for item in listed):
            shown = f"data_files {reprlib.repr(files)[:80]} of configuration {config}"
            raise InputError(f"{root / 'README.md'}: {shown}, expected files for each split")
        yield split, listed


def _matching(root: Path, patterns: list[str]) -> tuple[Path, ...]:
    """Files that patterns name; none outside the folder is looked at."""
    found: list[Path] = []
    for pattern in patterns:
        if "://" in pattern or Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise InputError(f"{root / 'README.md'}: data_files {pattern!r}, expected files inside the folder")
        matched = sorted(glob.glob(pattern, root_dir=root, recursive=True))  # noqa: PTH207 (as hubs match)
        found += [root / name for name in matched if (root / name).is_file() and _is_table(root / name)]
    return tuple(dict.fromkeys(found))


def _is_table(path: Path) -> bool:
    endings = [ending for ending in path.suffixes if ending not in (".gz", ".zst")]
    return bool(endings) and endings[-1] in ENDINGS


def _named(root: Path) -> dict[str, configs.Splits]:
    """Configurations by the names of folders, and of files beside them."""
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted([*root.glob("*"), *root.glob("*/*")]):
        inside = path.relative_to(root).parts
        if any(part.startswith(".") for part in inside) or not path.is_file() or not _is_table(path):
            continue
        stem = path.name.partition(".")[0]
        shard = configs.SHARD.fullmatch(path.name)
        stem = shard["stem"] if shard else stem
        if len(inside) == 1:
            found.setdefault(stem, {}).setdefault(NO_SPLIT, []).append(path)
        else:
            config = configs.DEFAULT if inside[0] == "data" else inside[0]
            found.setdefault(config, {}).setdefault(stem, []).append(path)
    return {config: {split: tuple(files) for split, files in splits.items()} for config, splits in found.items()}
