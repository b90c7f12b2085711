"""Commands that answer: list, scores, routes, per-query, compare, show, probe, check."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis import paths, probe
from analysis.cli import compare as compare_rows
from analysis.cli import papers as paper_rows
from analysis.cli import published as published_rows
from analysis.cli import recoverability as recoverability_rows
from analysis.cli import systems as system_rows
from analysis.cli.output import plain, write_json, write_rows
from analysis.errors import InputError, StoreError
from analysis.languages import canonical
from analysis.model import NEVER, Interval
from analysis.store.read import RunRow, Store, TaskRow
from analysis.systems import truncation
from analysis.views import audits as audits_view
from analysis.views import audits_export
from analysis.views import causes as causes_view
from analysis.views import data as data_view
from analysis.views import embedding_map as map_view
from analysis.views import fairness as fairness_view
from analysis.views import m3retrieve as m3retrieve_view
from analysis.views import method as method_view
from analysis.views import overview as overview_view
from analysis.views import published as published_view
from analysis.views import queries as queries_view
from analysis.views import recoverability as recoverability_view
from analysis.views import routes as routes_view
from analysis.views import significance as significance_view
from analysis.views import slices as slices_view
from analysis.views import story as story_view
from analysis.views import tiers as tiers_view
from analysis.views.evidence import Evidence, benchmark_label, chosen_tasks, number, task_label
from analysis.views.selection import Selection
from analysis.views.source import open_source

SCORE_MEASURES = (
    "ndcg_at_10",
    "recall_at_1",
    "recall_at_5",
    "recall_at_10",
    "recall_at_10_same",
    "recall_at_10_cross",
    "recall_at_25_same",
    "recall_at_25_cross",
    "recall_at_50_same",
    "recall_at_50_cross",
    "hit_at_1",
    "rr",
    "language_transfer",
    "jbc_at_100",
    "same_language_irrelevant_at_10",
)
PER_QUERY = (
    "ndcg_at_10",
    "recall_at_1",
    "recall_at_5",
    "recall_at_10",
    "recall_at_10_same",
    "recall_at_10_cross",
    "hit_at_1",
    "precision_at_10",
    "rr",
    "rr_at_10",
    "ap",
)


def opened(options: argparse.Namespace) -> Store:
    """The store a command reads.

    Raises:
        StoreError: nothing is stored yet.
    """
    store = open_source(options.cache)
    if store is None:
        folder = paths.cache(options.cache).root
        raise StoreError(f"{folder}: nothing is stored yet; build a benchmark first (python -m analysis build bedside)")
    return store


def selection(options: argparse.Namespace) -> Selection:
    """What the flags ask for.

    Raises:
        InputError: a ``--where`` without an equals sign.
    """
    pairs = []
    for text in options.where:
        attribute, separator, value = text.partition("=")
        if not separator:
            raise InputError(f"--where {text!r}: expected attribute=value, such as language=ja")
        pairs.append((attribute, value))
    tasks, systems = tuple(options.task), tuple(options.system)
    return Selection(options.benchmark, tasks, systems, tuple(pairs), options.without_flagged)


def slices(store: Store, options: argparse.Namespace) -> Iterator[tuple[Selection, dict[str, Any]]]:
    """The selection itself, or with ``--by`` one a value of that attribute, with what its rows carry."""
    asked = selection(options)
    if options.by is None:
        yield asked, {}
        return
    wanted = {value for attribute, value in asked.where if attribute == options.by}
    for value in slices_view.values(np.concatenate([*_columns(store, asked, options.by)])):
        if not wanted or value in wanted:
            yield (
                asked._replace(where=slices_view.narrowed(asked.where, options.by, value)),
                {"slice": {"attribute": options.by, "value": value}},
            )


def _columns(store: Store, asked: Selection, attribute: str) -> Iterator[slices_view.Column]:
    """What an attribute says of the queries of each chosen task."""
    for task in chosen_tasks(store, asked):
        queries = store.queries(task.task_id)
        known = slices_view.names(task, queries)
        if attribute not in known:
            raise InputError(f"--by {attribute!r}: expected a query attribute of {task.name}: {', '.join(known)}")
        yield slices_view.column(store, task, queries, attribute=attribute, without_flagged=asked.without_flagged)


def list_stored(options: argparse.Namespace) -> None:
    """What is there."""
    store = open_source(options.cache)
    rows: list[dict[str, Any]] = []
    if options.what == "systems":
        wanted = {"benchmark": options.benchmark or "B", "facts": options.format == "json"}
        rows = list(system_rows.rows(store, **wanted))
    elif options.what == "papers":
        rows = list(paper_rows.rows(options))
    elif store is not None:
        rows = list(_LISTS[options.what](store, options))
    write_rows(rows, options.format)


def _list_benchmarks(store: Store, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for row in store.benchmarks():
        yield {"benchmark": benchmark_label(row).address, **plain(row), "built_at": row.built_at.isoformat()}


def _stored_tasks(store: Store, options: argparse.Namespace) -> Iterator[tuple[str, TaskRow]]:
    benchmarks = [store.benchmark(options.benchmark)] if options.benchmark else store.benchmarks()
    for row in benchmarks:
        for task in store.tasks(row.benchmark_id):
            if not options.task or task.name in options.task:
                yield benchmark_label(row).address, task


def _list_tasks(store: Store, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for address, task in _stored_tasks(store, options):
        yield {
            "benchmark": address,
            "task": task.name,
            "title": task.title,
            "default": task.is_default,
            "n_documents": task.n_documents,
            "n_queries": task.n_queries,
            "n_flagged_queries": task.flagged.queries,
            "n_flagged_documents": task.flagged.documents,
            "flags": task.flagged.reasons,
            "n_published": task.n_published,
            "languages": store.corpus_languages(task.task_id),
            "question": task.question,
        }


def _list_runs(store: Store, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for address, task in _stored_tasks(store, options):
        for run in store.runs([task.task_id]):
            if not options.system or run.system in options.system:
                yield {"benchmark": address, "task": task.name, **_run(store, run)}
        for row in published_rows.runs(store, task, systems=options.system):
            yield {"benchmark": address, "task": task.name, **row}


def _run(store: Store, run: RunRow) -> dict[str, Any]:
    return {
        "system": run.system,
        "status": run.status,
        "reason": run.reason,
        "depth": run.depth if run.hits_file else None,
        "hits_kept": run.hits_kept if run.hits_file else None,
        "n_hits": run.n_hits if run.hits_file else None,
        "n_bytes": store.hits_bytes(run),
        "composed_of": list(run.parents),
        "created_at": run.created_at.isoformat(),
        "read": list(truncation.sentences(run.system, truncation.recorded(run.provenance))),
        "provenance": run.provenance,
    }


def _list_audits(store: Store, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Cells of one benchmark, or of all."""
    names = [options.benchmark] if options.benchmark else [row.name for row in store.benchmarks() if row.current]
    for name in names:
        for asked, extra in slices(store, argparse.Namespace(**{**vars(options), "benchmark": name})):
            for row in audits_export.cells(audits_view.audits(store, asked)):
                yield {"benchmark": name, **row, **_slice_value(extra)}


_LISTS: dict[str, Callable[[Store, argparse.Namespace], Iterator[dict[str, Any]]]] = {
    "benchmarks": _list_benchmarks,
    "tasks": _list_tasks,
    "runs": _list_runs,
    "audits": _list_audits,
}


def scores(options: argparse.Namespace) -> None:
    """Measures of each system with intervals."""
    store = opened(options)
    systems: list[dict[str, Any]] = []
    composed: list[dict[str, Any]] = []
    published = [] if options.by else list(published_rows.boards(store, selection(options)))
    papers = [] if options.by else paper_rows.scores(store, selection(options))
    for asked, extra in slices(store, options):
        view = overview_view.overview(store, asked, measures=SCORE_MEASURES)
        systems += [{**_score_row(row), **extra} for task in view.tasks for row in task.rows]
        composed += [{"system": row.system.name, "mmed_ir": plain(row.mmed_ir), **extra} for row in view.composites]
    if options.format == "json":
        answer = {"benchmark": options.benchmark, "systems": systems, "composites": composed}
        others = {"published": published, "papers": papers}
        write_json({**answer, **{name: rows for name, rows in others.items() if rows}})
    else:
        measured = (flat for row in systems for flat in _flat_scores(row))
        flat = (flat for row in published for flat in published_rows.flat_scores(row))
        write_rows([*measured, *flat, *map(paper_rows.flat_scores, papers)], options.format)


def _score_row(row: overview_view.OverviewRow) -> dict[str, Any]:
    measures = {key: plain(interval) for key, interval in row.measures.items()} | {"task_score": plain(row.task_score)}
    return {
        "task": row.task,
        "system": row.system.name,
        "paradigm": row.system.paradigm,
        "depth": row.depth,
        "n_queries": row.n_queries,
        "n_missing": row.n_missing,
        "n_unjudged": row.n_unjudged,
        "trec_eval_c": row.trec_eval_c,
        "n_tied_at_10": row.n_tied_at_10,
        "n_dangling": row.n_dangling,
        "tie_range_ndcg_at_10": list(row.tie_range_ndcg_at_10) if row.tie_range_ndcg_at_10 else None,
        "judged_at_10": row.judged_at_10,
        "distinct_documents_at_10": row.distinct_documents_at_10,
        "largest_document_share_at_10": row.largest_document_share_at_10,
        "degenerate": row.degenerate,
        "measures": measures,
    }


def _flat_scores(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = {"task": row["task"], "system": row["system"], **_slice_value(row)}
    for key, interval in row["measures"].items():
        if interval is not None:
            yield {**head, "measure": key, **{name: interval[name] for name in Interval._fields}}


def _slice_value(row: Mapping[str, Any]) -> dict[str, Any]:
    """The slice of a flat row by its value."""
    return {"slice": row["slice"]["value"]} if "slice" in row else {}


def tiers(options: argparse.Namespace) -> None:
    """What each system confuses."""
    _write_rows_of(options, "systems", tiers_view.tiers)


def fairness(options: argparse.Namespace) -> None:
    """The gap between query languages."""
    _write_rows_of(options, "systems", fairness_view.fairness)


def _write_rows_of(options: argparse.Namespace, name: str, view: Callable[[Store, Selection], Sequence[Any]]) -> None:
    """One object a row of a view; the system by its name."""
    store = opened(options)
    rows = [
        {**plain(row), "system": row.system.name, **extra}
        for asked, extra in slices(store, options)
        for row in view(store, asked)
    ]
    if options.format == "json":
        write_json({name: rows})
    else:
        write_rows([_values_only(row) for row in rows], options.format)


def _values_only(row: dict[str, Any]) -> dict[str, Any]:
    """Intervals as their values, for a table."""
    return {
        key: value["value"] if isinstance(value, dict) and set(value) == set(Interval._fields) else value
        for key, value in row.items()
    }


def routes(options: argparse.Namespace) -> None:
    """Route cells of every chosen task."""
    store = opened(options)
    cells: list[dict[str, Any]] = []
    for asked, extra in slices(store, options):
        for task in _measured(store, asked):
            view = routes_view.routes(store, asked._replace(tasks=(task,)), k=options.k)
            cells += [{**plain(cell), **extra} for cell in view.cells]
    published = [] if options.by else list(published_rows.cells(store, selection(options), k=options.k))
    published += [] if options.by else list(paper_rows.cells(store, selection(options)))
    if options.format == "json":
        write_json({"cells": [*cells, *published]})
    else:
        more = dict.fromkeys(name for cell in published[:1] for name in cell)
        write_rows([{**more, **cell} for cell in (*cells, *published)], options.format)


def _measured(store: Store, asked: Selection) -> list[str]:
    """The chosen tasks of which more is known than published figures."""
    return [task.name for task in chosen_tasks(store, asked) if not task_label(task).published_only]


def recoverability(options: argparse.Namespace) -> None:
    """How deep each system buries answers in other languages."""
    store = opened(options)
    found: list[tuple[recoverability_view.DepthRow, dict[str, Any]]] = []
    for asked, extra in slices(store, options):
        view = recoverability_view.recoverability(
            store, asked, k=options.k, by_route=options.by_route, pooled=options.pooled
        )
        refused = [task.reason for task in view.tasks if task.reason]
        if len(refused) == len(view.tasks):
            raise InputError(refused[0])
        rows = [row for task in view.tasks for row in (*task.rows, *task.routes)]
        found += [(row, extra) for row in (*rows, *view.pooled)]
    if options.format == "json":
        write_json({"systems": [{**recoverability_rows.whole(row), **extra} for row, extra in found]})
    else:
        flat = [{**recoverability_rows.flat(row), **_slice_value(extra)} for row, extra in found]
        write_rows(flat, options.format)


def compare(options: argparse.Namespace) -> None:
    """Tests of routes and systems, and whether the order of the systems holds elsewhere."""
    store = opened(options)
    views = [
        (
            significance_view.significance(store, asked, measure=options.measure, descriptive=options.descriptive),
            extra,
        )
        for asked, extra in slices(store, options)
    ]
    if options.format != "json":
        rows = [{**row, **_slice_value(extra)} for view, extra in views for row in compare_rows.flat(view)]
        write_rows(rows, options.format)
        return
    answer: dict[str, Any] = {}
    for view, extra in views:
        for test, found in compare_rows.whole(view).items():
            answer.setdefault(test, []).extend({**row, **extra} for row in found)
    if len(answer.get("friedman", ())) == 1:  # one object where the answer covers one task
        (answer["friedman"],) = answer["friedman"]
    write_json(answer)


def per_query(options: argparse.Namespace) -> None:
    """One row a system and query; undefined values and infinite ranks are empty."""
    write_rows(list(query_rows(opened(options), selection(options))), options.format)


def query_rows(store: Store, asked: Selection) -> Iterator[dict[str, Any]]:
    """What is known of each query of each chosen run: attributes, measures, first ranks.

    Raises:
        InputError: an unknown benchmark, task, system or query attribute.
    """
    labels = store.system_labels()
    for task in chosen_tasks(store, asked):
        yield from _query_rows(Evidence.load(store, task, selection=asked, labels=labels))


def _query_rows(evidence: Evidence) -> Iterator[dict[str, Any]]:
    values = {key: evidence.values(key) for key in evidence.imported or PER_QUERY}
    firsts = _first_ranks(evidence) if evidence.has_ranks else {}
    queries = evidence.queries
    for place, run in enumerate(evidence.runs):
        for query in np.flatnonzero(evidence.mask):
            yield {
                "task": evidence.task.name,
                "system": run.system,
                "query_id": queries.id[query],
                "query_language": queries.language[query],
                **{name: getattr(queries, name)[query] for name in slices_view.OWN if name != "language"},
                **{name: column[query] for name, column in queries.attributes.items()},
                **{key: number(column[place, query]) for key, column in values.items()},
                **{
                    key: None if ranks[place, query] == NEVER else int(ranks[place, query])
                    for key, ranks in firsts.items()
                },
            }


def _first_ranks(evidence: Evidence) -> dict[str, NDArray[np.int32]]:
    from analysis.metrics.routes import first_rank

    return {
        f"first_{which}_rank": first_rank(evidence.judged, evidence.ranks, which=which) for which in ("same", "cross")
    }


def _show_routes(store: Store, asked: Selection) -> object:
    measured = [routes_view.routes(store, asked._replace(tasks=(task,))) for task in _measured(store, asked)]
    return [*measured, *published_view.all_routes(store, asked)]


def _show_queries(store: Store, asked: Selection) -> object:
    """Every query of each chosen task, with what each system makes of it."""
    selections = [asked._replace(tasks=(task,)) for task in _measured(store, asked)]
    return [queries_view.queries(store, selection, n=sys.maxsize) for selection in selections]


VIEWS: dict[str, Callable[[Store, Selection], object]] = {
    "overview": overview_view.overview,
    "routes": _show_routes,
    "tiers": tiers_view.page,
    "fairness": fairness_view.page,
    "recoverability": recoverability_view.recoverability,
    "significance": significance_view.significance,
    "audits": audits_view.audits,
    "images": m3retrieve_view.page,
    "map": map_view.page,
    "causes": causes_view.page,
    "queries": _show_queries,
    "method": method_view.page,
    "data": data_view.page,
    "story": story_view.page,
}


def show(options: argparse.Namespace) -> None:
    """The frozen answer of a page's view."""
    store = opened(options)
    answers = [(extra, VIEWS[options.view](store, asked)) for asked, extra in slices(store, options)]
    write_json(answers[0][1] if options.by is None else [{**extra, "view": answer} for extra, answer in answers])


def probe_query(options: argparse.Namespace) -> None:
    """One live query to one system, or to several: then a list of answers, or a column more."""
    store = opened(options)
    where = {"benchmark": options.benchmark, "task": _one(options.task), "k": options.k}
    where |= {"language": canonical(options.language).tag if options.language else None}
    names = list(dict.fromkeys(options.encoder))
    answers = [probe.ask(store, options.text, system=name, **where) for name in names]
    for answer in answers:
        if answer.remark:
            print(f"{answer.system.short} {answer.remark}", file=sys.stderr)
    if options.format == "json":
        write_json(answers[0] if len(answers) == 1 else answers)
        return
    rows = [
        {**({"system": name} if len(names) > 1 else {}), **hit._asdict()}
        for name, answer in zip(names, answers, strict=True)
        for hit in answer.hits
    ]
    write_rows(rows, options.format)


def _one(names: Sequence[str]) -> str | None:
    if len(names) > 1:
        raise InputError(f"{len(names)} tasks: expected one")
    return names[0] if names else None


def check(options: argparse.Namespace) -> int:
    """Verify the store; 1 when something is missing, damaged or miscounted."""
    store = opened(options)
    faults = store.faults()
    for orphan in store.orphans():
        print(
            f"{orphan}: no run or task names it (left by a job that was ended; the next job removes it)",
            file=sys.stderr,
        )
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{store.path.name}: {len(faults)} faults")
    return 1 if faults else 0
