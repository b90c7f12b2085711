"""Figures that mteb published: result files of models on tasks, of every generation, without per-query values.

From mteb's ``results/task_result.py``: since 1.11 a file has ``task_name`` and ``scores``, a list of subsets a split;
before, ``mteb_dataset_name`` and the splits beside it, each with the figures themselves or an object a subset.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from analysis.errors import InputError
from analysis.imports.lines import opened
from analysis.imports.records import UNDETERMINED, once
from analysis.languages import canonical
from analysis.model import Figure, Progress, PublishedResult
from analysis.text import counted

MAIN = "main_score"
RANKED = re.compile(r"(?!nauc_)[a-z][a-z0-9_]*_at_[1-9][0-9]*")
"""A measure of a ranking; ``nauc_…`` says how well a system knows when it fails, and is left out."""

OURS = {"mrr": "rr", "hit_rate": "hit"}
"""What mteb calls a measure that we have by another name."""

OLD_NAME = "mteb_dataset_name"
"""Where a file from before mteb 1.11 has the task."""

WHOLE = "default"
"""What mteb calls the only subset of a task."""

PROGRAMMING = "-Code"
"""How the tag of a programming language ends in mteb."""

BESIDE = {"model_meta.json", "run_settings.json"}


@dataclass(frozen=True)
class Results:
    """The figures of a folder.

    Attributes:
        found: one a system and task, in the order of systems and tasks.
        notices: what was left out or is doubtful, a sentence each.
    """

    found: tuple[PublishedResult, ...]
    notices: tuple[str, ...]


class _File(NamedTuple):
    """A result file and what its folders say."""

    path: Path
    name: str  # below the folder that was given
    system: str
    revision: str | None


class _Subset(NamedTuple):
    """The figures of one subset of one split as the file has them."""

    split: str
    name: str
    languages: Sequence[Any]
    scores: Mapping[str, Any]

    def __str__(self) -> str:
        return f"split {self.split!r}, subset {self.name!r}"


def read(path: Path, *, system: str | None = None, tasks: Sequence[str] = (), progress: Progress) -> Results:
    """Read mteb's result files.

    Of two revisions of a model on one task the newest evaluation counts (by its date, else by its version of mteb).

    Args:
        path: ``results``, its parent, the folder of one model or of one revision, or a single file.
        system: what the system is called whose files do not lie in ``<org>__<model>/<revision>/``; without it such
            files are left out.
        tasks: only these, by the names of the files; all of them when empty.
        progress: told after each file.

    Raises:
        InputError: no result file is there; or the first fault of one, with what was expected.
    """
    files, notices = _files(path, system, tasks)
    kept: dict[tuple[str, str], PublishedResult] = {}
    other: list[str] = []
    unknown: Counter[str] = Counter()
    for place, file in enumerate(files):
        progress("read the results", place, len(files))
        found = _result(file, unknown)
        if not found.figures:
            other.append(file.name)
            continue
        key = (found.system, found.task)
        if key in kept:
            found, older = _newest(kept[key], found)
            notices.append(f"{older.file}: left out, {found.file} is the newer evaluation")
        kept[key] = found
    progress("read the results", len(files), len(files))
    if not kept:
        raise InputError(f"{path}: no figure of a ranking in {_counted(files)}, expected such as ndcg_at_10")
    notices += [f"{_counted(other)} without a figure of a ranking left out: {_some(other)}"] if other else []
    notices += [f"{name}: {n:,} subsets do not tell their two languages, stored as und" for name, n in unknown.items()]
    return Results(tuple(kept[key] for key in sorted(kept)), tuple(notices))


def _counted(files: Sequence[object]) -> str:
    return counted(len(files), "file")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


# Which files


def _files(path: Path, system: str | None, tasks: Sequence[str]) -> tuple[list[_File], list[str]]:
    """The result files below a path with what their folders say, and what was left out."""
    if not path.exists():
        raise InputError(f"{path}: not there, expected a folder of mteb results")
    listed = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    asked = [file for file in listed if file.name not in BESIDE and (not tasks or file.stem in tasks)]
    found = [_placed(path, file, system) for file in asked]
    files = [file for file in found if file]
    if not files:
        which = f" of {', '.join(tasks)}" if tasks else ""
        raise InputError(
            f"{path}: no result file{which}, expected <org>__<model>/<revision>/<Task>.json, or --system for files "
            "that lie elsewhere"
        )
    lost = [str(file.relative_to(path)) for file, placed in zip(asked, found, strict=True) if placed is None]
    elsewhere = f"{_counted(lost)} outside <org>__<model>/<revision>/ left out: {_some(lost)}"
    return files, [elsewhere] if lost else []


def _placed(path: Path, file: Path, system: str | None) -> _File | None:
    """What the folders of a file say; None where they are not mteb's and nobody says whose it is."""
    name = str(file.relative_to(path)) if path.is_dir() else file.name
    *_, model, revision, _ = ("", "", *file.resolve().parts)
    owner, separator, rest = model.partition("__")
    if owner and separator and rest:
        return _File(file, name, f"{owner}/{rest}", revision)
    return _File(file, name, system, None) if system else None


def _newest(first: PublishedResult, second: PublishedResult) -> tuple[PublishedResult, PublishedResult]:
    """The newer and the older of two evaluations.

    Raises:
        InputError: nothing says which is newer, and they differ.
    """
    if _age(first) == _age(second) and first.figures != second.figures:
        raise InputError(
            f"{second.file}: {second.system} on {second.task} again with other figures than in {first.file}; "
            "expected dates or versions that say which is newer, or one of the two folders"
        )
    return (second, first) if _age(second) > _age(first) else (first, second)


def _age(result: PublishedResult) -> tuple[datetime.datetime, tuple[int, ...]]:
    version = re.findall(r"\d+", (result.program or "").rpartition("-")[2])  # a range of versions: its last
    return result.evaluated_at or datetime.datetime.min, tuple(map(int, version))


# One file


def _result(file: _File, unknown: Counter[str]) -> PublishedResult:
    """A checked file, without figures where it is not about rankings; ``unknown`` counts subsets without languages."""
    content, checksum = _content(file.path)
    try:
        task = _text(content, OLD_NAME if _is_old(content) else "task_name")
        figures = [figure for subset in _subsets(content) if _is_ranked(subset) for figure in _figures(subset)]
        version = _optional(content, "mteb_version")
        dataset, date = _optional(content, "dataset_revision"), _date(content.get("date"))
        figures = _once_each(figures)
    except InputError as error:
        raise InputError(f"{file.path}: {error}") from error
    untold = {
        (figure.split, figure.subset)
        for figure in figures
        if UNDETERMINED in (figure.query_language, figure.document_language)
    }
    unknown.update({file.name: len(untold)} if untold else {})
    return PublishedResult(
        task=task,
        system=file.system,
        file=file.name,
        checksum=checksum,
        program=f"mteb {version}" if version else "mteb",
        model_revision=file.revision,
        dataset_revision=dataset,
        evaluated_at=date,
        figures=tuple(figures),
    )


def _content(path: Path) -> tuple[dict[str, Any], str]:
    """The object in a file and the checksum of its text; bare NaN and Infinity are missing values."""
    with opened(path) as source:
        text, checksum = source.text(), source.checksum
    try:
        found = json.loads(text, parse_constant=lambda _: None, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {error.lineno}: {error.msg} at column {error.colno}, expected a JSON object"
        ) from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deep, expected a result of mteb") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: {_shown(found)}, expected a JSON object in braces")
    return found, checksum


def _is_old(content: Mapping[str, Any]) -> bool:
    """Whether a file is from before mteb 1.11."""
    return OLD_NAME in content and "task_name" not in content


def _subsets(content: Mapping[str, Any]) -> Iterator[_Subset]:
    """Every subset of every split, however old the file is."""
    if _is_old(content):
        splits = {name: value for name, value in content.items() if isinstance(value, dict)}
        for split, found in splits.items():
            inner = {name: scores for name, scores in found.items() if isinstance(scores, dict)}
            for name, scores in (inner or {WHOLE: found}).items():
                yield _Subset(split, _sound(name, "subset"), (), scores)
        return
    for split, listed in _object(content, "scores").items():
        if not isinstance(listed, list):
            raise InputError(f"scores of split {split!r}: {_shown(listed)}, expected a list of subsets")
        for scores in listed:
            if not isinstance(scores, dict):
                raise InputError(f"scores of split {split!r}: {_shown(scores)}, expected an object a subset")
            languages = scores.get("languages") or ()
            if not isinstance(languages, list | tuple):
                raise InputError(f'languages {_shown(languages)}, expected a list such as ["spa-Latn", "eng-Latn"]')
            yield _Subset(_sound(split, "split"), _text(scores, "hf_subset"), languages, scores)


def _is_ranked(subset: _Subset) -> bool:
    return any(RANKED.fullmatch(name) for name in subset.scores)


def _figures(subset: _Subset) -> Iterator[Figure]:
    asked, answered = _languages(subset)
    for name, value in subset.scores.items():
        if (name == MAIN or RANKED.fullmatch(name)) and value is not None:
            yield Figure(subset.split, subset.name, asked, answered, _key(name), _share(subset, name, value))


def _key(name: str) -> str:
    stem, at, k = name.rpartition("_at_")
    return f"{OURS.get(stem, stem)}{at}{k}"


def _languages(subset: _Subset) -> tuple[str, str]:
    """Of the queries and of the documents: mteb lists them in this order; one language is that of both.

    More than two are not told apart, and a programming language is none: ``und``.
    """
    try:
        tags = [_tag(raw) for raw in subset.languages]
    except InputError as error:
        raise InputError(f"{subset}: {error}") from error
    if len(tags) == 1:
        return tags[0], tags[0]
    return (tags[0], tags[1]) if len(tags) == 2 else (UNDETERMINED, UNDETERMINED)


def _tag(raw: object) -> str:
    if not isinstance(raw, str):
        raise InputError(f"language {_shown(raw)}, expected a tag such as spa-Latn")
    return UNDETERMINED if raw.endswith(PROGRAMMING) else canonical(raw).tag


def _share(subset: _Subset, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{subset}: {name} {_shown(value)}, expected a number or NaN")
    if not 0 <= value <= 1:
        raise InputError(f"{subset}: {name} {value}, expected a number from 0 to 1")
    return float(value)


def _once_each(figures: Sequence[Figure]) -> list[Figure]:
    """Each figure once; a repeat must say the same."""
    found: dict[tuple[str, str, str], Figure] = {}
    for figure in figures:
        known = found.setdefault((figure.split, figure.subset, figure.measure), figure)
        if known != figure:
            raise InputError(
                f"split {figure.split!r}, subset {figure.subset!r} again, with {figure.measure} {figure.value} "
                f"({figure.query_language} → {figure.document_language}) after {known.value} "
                f"({known.query_language} → {known.document_language}), expected each subset once"
            )
    return list(found.values())


# Values of a file


def _object(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = content.get(name)
    if not isinstance(found, dict):
        raise InputError(f"{name} {_shown(found)}, expected an object with a list of subsets a split")
    return found


def _text(content: Mapping[str, Any], name: str) -> str:
    if name not in content:
        raise InputError(f"no {name}, expected a result of mteb")
    return _sound(content[name], name)


def _sound(found: object, name: str) -> str:
    """A name that can be stored and written."""
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"{name} {_shown(found)}, expected a name")
    try:
        found.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{name} {_shown(found)}: half a surrogate pair, expected whole characters") from error
    return found


def _optional(content: Mapping[str, Any], name: str) -> str | None:
    found = content.get(name)
    return None if found is None or found == "" else _sound(found, name)


def _date(found: object) -> datetime.datetime | None:
    """Seconds since 1970, or an ISO time, in UTC; None where there is none."""
    if found is None:
        return None
    try:
        if isinstance(found, str):
            when = datetime.datetime.fromisoformat(found)
        elif isinstance(found, int | float) and not isinstance(found, bool):
            when = datetime.datetime.fromtimestamp(found, tz=datetime.UTC)
        else:
            raise ValueError
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"date {_shown(found)}, expected seconds since 1970") from error
    return (when.astimezone(datetime.UTC) if when.tzinfo else when).replace(tzinfo=None)


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
