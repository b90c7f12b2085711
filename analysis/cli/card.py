"""The commands `card` and `separation`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis import paths
from analysis.cli.output import plain, write_json, write_rows
from analysis.cli.read import opened
from analysis.cli.work import job_name
from analysis.errors import InputError
from analysis.jobs.progress import JobProgress, JobResult
from analysis.jobs.training import TrainingRequest, forget, look_through
from analysis.store.read import Store
from analysis.views import benchmark_card, data, training
from analysis.views.separation import Separation
from analysis.views.training import Training


def card_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `card`."""
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--format", choices=["md", "json"], default="md", help="default %(default)s")


def card(options: argparse.Namespace) -> None:
    """The whole card of a benchmark."""
    found = data.card(opened(options), options.benchmark)
    if options.format == "json":
        write_json(found)
    else:
        sys.stdout.write(benchmark_card.markdown(found))


def separation_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `separation`."""
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument(
        "--against", type=Path, metavar="FILE", help="look for it in a file that something was trained on"
    )
    command.add_argument("--columns", metavar="a,b", help="of the file: which hold texts (default: by usual names)")
    command.add_argument(
        "--concept", metavar="COLUMN", help="of the file: names concepts (default: cui, family or concept)"
    )
    command.add_argument("--lines", action="store_true", help="every line is a text, whatever the file looks like")
    command.add_argument("--file", metavar="F", help="what was found in this file before, by name or SHA-256")
    command.add_argument("--forget", metavar="F", help="what was found in this file, by name or SHA-256")
    command.add_argument("--ids", action="store_true", help="with a file: each text and concept that occurs in it")
    command.add_argument("--format", choices=["json", "csv", "table"], default="table")


def separation(options: argparse.Namespace) -> None:
    """What tasks share; or what of them occurs in a file, which is looked through first where it is named."""
    given = [name for name in ("against", "file", "forget") if getattr(options, name)]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]}: expected one of them")
    if not options.against:
        _refuse(options, ("columns", "concept", "lines"), beside="--against")
    if not options.against and not options.file:
        _refuse(options, ("ids",), beside="--against or --file")
    if options.forget:
        _forget(options)
        return
    file = _look_through(options) if options.against else options.file
    store = opened(options)
    if file is None:
        _pairs(store, options)
        return
    found = training.found_in(store, options.benchmark, file)
    rows = list(_matches(store, found) if options.ids else _counts(found))
    write_rows(rows, options.format)
    print(f"{found.takeaway.bold} {found.takeaway.rest}".rstrip(), file=sys.stderr)


def _look_through(options: argparse.Namespace) -> str:
    columns = tuple(name for name in (options.columns or "").split(",") if name)
    request = TrainingRequest(options.benchmark, options.against, columns, options.concept, options.lines)
    cache = paths.cache(options.cache)
    with JobProgress(cache, job_name("separation")) as progress:
        look_through(cache, request=request, progress=progress)
        store = opened(options)
        found = training.found_in(store, options.benchmark, options.against.name)
        progress.result(JobResult(f"{found.takeaway.bold} {found.takeaway.rest}", options.benchmark, None, (), {}))
    return found.checksum


def _forget(options: argparse.Namespace) -> None:
    found = training.found_in(opened(options), options.benchmark, options.forget)
    cache = paths.cache(options.cache)
    with JobProgress(cache, job_name("separation")) as progress:
        forget(cache, options.benchmark, found.number, progress=progress)
    print(f"forgotten: what of {options.benchmark} occurs in {found.file}", file=sys.stderr)


def _refuse(options: argparse.Namespace, names: tuple[str, ...], *, beside: str) -> None:
    given = [name for name in names if getattr(options, name)]
    if given:
        raise InputError(f"--{given[0]} goes with {beside}")


def _pairs(store: Store, options: argparse.Namespace) -> None:
    found = data.card(store, options.benchmark).separation
    if found is None:
        raise InputError(f"{options.benchmark} has published figures only: there is nothing to compare")
    if options.format == "json":
        write_json(found)
    else:
        write_rows(list(_pair_rows(found)), options.format)
    for words in (f"{found.takeaway.bold} {found.takeaway.rest}".rstrip(), found.note):
        if words:
            print(words, file=sys.stderr)


def _pair_rows(found: Separation) -> Iterator[dict[str, Any]]:
    for pair in found.pairs:
        for shared in pair.shared:
            yield {"a": pair.a, "b": pair.b, "what": shared.kind, "language": None, **_shared(shared)}
        if near := pair.near:
            yield {"a": pair.a, "b": pair.b, "what": "near_queries_of_a", "language": None} | {
                "shared": near.of_a,
                "of_a": near.n_a,
                "of_b": None,
                "jaccard": None,
            }
            yield {"a": pair.a, "b": pair.b, "what": "near_queries_of_b", "language": None} | {
                "shared": near.of_b,
                "of_a": None,
                "of_b": near.n_b,
                "jaccard": None,
            }
    for row in found.words:
        what = f"words of {row.a_item} and {row.b_item}"
        counts = {"shared": row.shared, "of_a": row.of_a, "of_b": row.of_b, "jaccard": row.jaccard}
        yield {"a": row.a, "b": row.b, "what": what, "language": row.language, **counts}


def _shared(found: Any) -> dict[str, Any]:
    either = found.of_a + found.of_b - found.shared
    return {"shared": found.shared, "of_a": found.of_a, "of_b": found.of_b, "jaccard": found.shared / either}


def _counts(found: Training) -> Iterator[dict[str, Any]]:
    file = {"file": found.file, "sha256": found.checksum, "made_at": found.made_at}
    empty = dict.fromkeys(("short", *training.KINDS))
    for row in found.texts:
        yield {**file, **plain(row), "found": row.found}
    for concepts in found.concepts:
        counts = {"n": concepts.n, **empty, "found": concepts.found}
        yield {**file, "task": concepts.task, "item": "concept", "language": None, **counts}


def _matches(store: Store, found: Training) -> Iterator[dict[str, Any]]:
    for row in training.matches(store, found):
        yield {"file": found.file, **plain(row)}
