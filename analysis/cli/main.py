"""Commands and their flags."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis import __version__, paths
from analysis.benchmarks import icd10
from analysis.cli import audits, card, import_vectors, licensed, manage, notes, own_systems, query, read, systems, work
from analysis.cli.import_results import import_results
from analysis.cli.import_run import import_run
from analysis.cli.what_if import what_if
from analysis.errors import BabelscopeError, JobCancelledError
from analysis.geometry.projection import MIN_DISTANCE, NEIGHBOURS
from analysis.imports import folder, markup_topics, run_rows
from analysis.jobs.draw_map import MOST, SEED
from analysis.jobs.what_if import KINDS
from analysis.systems.devices import AUTO
from analysis.systems.entry import COMPUTED

CANCELLED = 130  # what shells use for a program that was interrupted


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        with paths.in_force(options.cache):
            return int(options.act(options) or 0)
    except JobCancelledError as error:
        print(f"babelscope: {error}", file=sys.stderr)
        return CANCELLED
    except BabelscopeError as error:
        print(f"babelscope: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left: `… | head`
        return 0


def parser() -> argparse.ArgumentParser:
    """All commands."""
    top = argparse.ArgumentParser(
        prog="python -m analysis",
        description="Where multilingual retrieval breaks, how badly, why, and what would fix it.",
    )
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_work(commands)
    _add_import_run(commands)
    text = "rank by vectors of your own of a task's documents and queries, and store the run"
    import_vectors.arguments(_command(commands, "import-vectors", import_vectors.import_vectors, text))
    _add_import_results(commands)
    _add_what_if(commands)
    own_systems.arguments(_command(commands, "add-system", own_systems.add_system, "add a system of your own"))
    forgotten = _command(commands, "remove-system", own_systems.remove_system, "forget a system of your own")
    forgotten.add_argument("name", metavar="NAME", help="as it was added")
    _add_manage(commands)
    _add_reading(commands)
    text = "all that is known of a benchmark, for an appendix"
    card.card_arguments(_command(commands, "card", card.card, text))
    text = "what the tasks of a benchmark share, or what of them occurs in a file that something was trained on"
    card.separation_arguments(_command(commands, "separation", card.separation, text))
    _add_notes(commands)
    text = "write a blind sheet: pairs of queries and documents to be judged by people who cannot tell which is which"
    audits.export_arguments(_command(commands, "export-audit", audits.export_audit, text))
    text = "bring in judgements of people or models: a blind sheet that was filled in, or a table"
    audits.import_arguments(_command(commands, "import-audit", audits.import_audit_file, text))
    return top


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, act: object, text: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.add_argument(
        "--cache", type=Path, metavar="DIR", help="the store's folder (default: BABELSCOPE_CACHE, else cache/)"
    )
    command.set_defaults(act=act)
    return command


def _add_work(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    build = _command(commands, "build", work.build, "build a benchmark into the store")
    build.add_argument("name", choices=["bedside", "icd10", *licensed.BUILDS])
    build.add_argument(
        "--concepts", type=int, metavar="N", help="a small corpus: whole categories until at least N codes"
    )
    build.add_argument(
        "--queries",
        type=int,
        metavar="N",
        help=f"ask at least N codes in every language (default {icd10.DEFAULT_QUERIES})",
    )
    build.add_argument("--all", action="store_true", help="ask every title")
    build.add_argument("--languages", metavar="en,es,…", help=f"default {','.join(icd10.LANGUAGES)}")
    build.add_argument(
        "--add-language",
        metavar="TAG=FILE.csv",
        action="append",
        default=[],
        help="one more language from a CSV with columns code,title",
    )
    build.add_argument(
        "--run",
        metavar="a,b|all",
        action="append",
        default=[],
        help="then run these systems on it; given twice, the first ones are stored before the others begin",
    )
    _add_computing(build)
    licensed.build_arguments(build)
    text = "write invented sources (UMLS, MMedBench, BioASQ, patents, M3Retrieve), to try a build without a licence"
    licensed.generate_arguments(_command(commands, "generate-sources", licensed.generate, text))
    _add_import_scores(commands)
    _add_import_benchmark(commands)
    run = _command(commands, "run", work.run, "encode, search and store runs; goes on where it stopped")
    run.add_argument("--benchmark", required=True, metavar="B")
    run.add_argument("--task", action="append", default=[], metavar="T")
    run.add_argument("--systems", required=True, metavar="a,b|all")
    run.add_argument(
        "--depth", type=int, default=1000, metavar="N", help="documents searched for each query (default %(default)s)"
    )
    run.add_argument(
        "--keep-hits", type=int, default=100, metavar="N", help="hits kept of each query (default %(default)s)"
    )
    run.add_argument("--offline", action="store_true", help="never ask a model hub")
    run.add_argument("--trust-remote-code", action="store_true", help="let a model's own code run")
    run.add_argument("--allow-code", action="store_true", help="let Python functions of your own run (add-system)")
    run.add_argument("--max-length", type=int, metavar="N", help="cut texts at N tokens")
    run.add_argument("--dtype", choices=COMPUTED, help="what models compute in (default: as the catalogue says)")
    _add_computing(run)
    run.add_argument("--force", action="store_true", help="run again what is stored, and lift size limits")
    convert = _command(commands, "convert-weights", systems.convert_weights, "safetensors beside a model's pickles")
    convert.add_argument("folder", type=Path, metavar="FOLDER", help="of the model; no code in its pickles is run")
    _add_diagnose(commands)
    _add_map(commands)


def _add_map(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "draw where the texts of a task lie in the space of an encoder, for the page Embedding map"
    command = _command(commands, "map", work.draw_map, text)
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", metavar="T", help="may be left out where there is one")
    command.add_argument("--system", action="append", default=[], metavar="S", help="repeat for several; omitted: all")
    command.add_argument("--dimensions", type=int, default=2, metavar="N", help="2 or 3 (default %(default)s)")
    command.add_argument(
        "--neighbours", type=int, default=NEIGHBOURS, metavar="N", help="of each text (default %(default)s)"
    )
    command.add_argument(
        "--min-distance", type=float, default=MIN_DISTANCE, metavar="X", help="between points (default %(default)s)"
    )
    command.add_argument("--seed", type=int, default=SEED, metavar="N", help="of the layout (default %(default)s)")
    command.add_argument("--most", type=int, default=MOST, metavar="N", help="points; of more a sample (%(default)s)")
    command.add_argument("--offline", action="store_true", help="never ask a model hub")
    command.add_argument("--trust-remote-code", action="store_true", help="let a model's own code run")
    command.add_argument("--force", action="store_true", help="draw again what is there")
    _add_computing(command)
    for name, text in {
        "vectors": "your own vectors of documents (.npy), under the name of --system",
        "ids": "ids of their rows, one a line",
        "query-vectors": "your own vectors of queries (.npy)",
        "query-ids": "ids of their rows, one a line",
        "coordinates": "your own picture: a table with id, x, y, and if you like z and item (document or query)",
    }.items():
        command.add_argument(f"--{name}", type=Path, metavar="FILE", help=text)


def _add_diagnose(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "look at the tokens, vectors and words behind stored runs, for the page Why it fails"
    command = _command(commands, "diagnose", work.diagnose, text)
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", action="append", default=[], metavar="T", help="repeat for several; omitted: all")
    command.add_argument("--system", action="append", default=[], metavar="S", help="repeat for several; omitted: all")
    command.add_argument("--offline", action="store_true", help="never ask a model hub")
    command.add_argument("--trust-remote-code", action="store_true", help="let a model's own code run")
    command.add_argument("--force", action="store_true", help="look again at what was looked at")
    _add_computing(command)


def _add_computing(command: argparse.ArgumentParser) -> None:
    """On what encoders compute."""
    command.add_argument(
        "--device",
        default=AUTO,
        metavar="D",
        help="auto (default: a CUDA card, else MPS, else the processor) | cpu | cuda | cuda:1 | mps, or several: "
        "cuda:0,cuda:1",
    )
    command.add_argument(
        "--threads", type=int, metavar="N", help="of the processor (default: OMP_NUM_THREADS, else every core)"
    )


def _add_import_scores(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    scores = _command(commands, "import-scores", work.import_scores, "store per-query scores computed elsewhere")
    scores.add_argument("file", type=Path, metavar="FILE.csv", help="columns model, query_id, query_language, measures")
    scores.add_argument("--query-language", metavar="TAG", help="of every query where no column says it")
    scores.add_argument("--language-pattern", metavar="REGEX", help="where query ids name it; the first group counts")
    scores.add_argument("--benchmark", required=True, metavar="B", help="a new name")
    scores.add_argument("--task", default="main", metavar="T", help="its one task (default %(default)s)")
    scores.add_argument(
        "--family-from-id", action="store_true", help="queries of one family share their id up to the first _"
    )
    scores.add_argument("--dry-run", action="store_true", help="say what is in the file and store nothing")


def _add_import_benchmark(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands, "import-benchmark", work.import_benchmark, "store a folder of documents, queries and judgements"
    )
    command.add_argument("path", type=Path, metavar="PATH", help="the folder or file; for ir_datasets the id")
    command.add_argument(
        "--benchmark", "--name", required=True, metavar="B", help="a new name, or with a new task one imported before"
    )
    command.add_argument("--task", default="main", metavar="T", help="what its task is called (default %(default)s)")
    command.add_argument("--format", required=True, choices=folder.FORMATS)
    command.add_argument("--split", default="test", metavar="S", help="which judgements (default %(default)s)")
    command.add_argument(
        "--map", action="append", default=[], metavar="COLUMN=FIELD", help="what the files call a field, lang=language"
    )
    command.add_argument("--document-language", metavar="TAG", help="of every document that names none")
    command.add_argument("--query-language", metavar="TAG", help="of every query that names none")
    command.add_argument("--language-key", metavar="KEY", help="where records name it, such as metadata.lang")
    command.add_argument("--language-pattern", metavar="REGEX", help="where ids name it; the first group counts")
    command.add_argument(
        "--topic-field", choices=markup_topics.FIELDS, default="title", help="trec: the text of a topic (%(default)s)"
    )
    command.add_argument(
        "--parallel-ids", action="store_true", help="one id in several languages' folders or subsets is one question"
    )
    command.add_argument(
        "--family-by-judgements", action="store_true", help="queries with the same relevant documents are one question"
    )
    command.add_argument(
        "--exclude-self", action="store_true", help="a document with a query's id and text leaves its ranking"
    )
    _add_subsets(command)
    _add_parallel(command)
    command.add_argument("--lenient", action="store_true", help="keep what is sound, and list what is not")
    command.add_argument("--dry-run", action="store_true", help="report and store nothing")


def _add_subsets(command: argparse.ArgumentParser) -> None:
    """What benchmarks in subsets, and those without judgements, may be told."""
    command.add_argument("--subset", metavar="S", help="mteb, datasets, m3retrieve: the only one read (default: all)")
    command.add_argument(
        "--subset-languages",
        action="append",
        default=[],
        metavar="S=QUERY:DOCUMENT",
        help="languages of a subset, as eng-fra=en:fr; or the shape of all their names, as query-document",
    )
    command.add_argument(
        "--relevant-by", choices=folder.RELEVANT_BY, help="relevant is every document of a query's family; no qrels"
    )


def _add_parallel(command: argparse.ArgumentParser) -> None:
    """What parallel texts may be told."""
    command.add_argument("--languages", metavar="en,fr", help="parallel, tmx: columns of texts, the surest one first")
    command.add_argument("--family", metavar="COLUMN", help="parallel, tmx: names the document that a row is of")
    command.add_argument("--queries", type=int, metavar="N", help="parallel, tmx: rows asked, of whole documents (all)")


def _add_import_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "import-run", import_run, "store a run of another tool on a stored benchmark")
    command.add_argument("file", type=Path, metavar="FILE", help="plain, gzip, Zstandard or LZ4; see docs/formats.md")
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", metavar="T", help="may be left out where there is one")
    command.add_argument("--system", required=True, metavar="S", help="what the run is called")
    command.add_argument(
        "--format", choices=run_rows.FORMATS, help="default: told by the first bytes, msmarco never (else trec)"
    )
    command.add_argument("--subset", metavar="S", help="of an mteb file, where it has several")
    command.add_argument("--split", metavar="S", help="of an mteb file, where it has several")
    command.add_argument(
        "--map", action="append", default=[], metavar="COLUMN=FIELD", help="what a table calls a field, key=query_id"
    )
    command.add_argument("--lenient", action="store_true", help="import what is sound and list the rest")
    command.add_argument(
        "--allow-unknown-documents", action="store_true", help="keep documents outside the corpus as non-relevant"
    )
    command.add_argument("--dry-run", action="store_true", help="say what is in the file and store nothing")


def _add_import_results(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands, "import-results", import_results, "store figures that others published, of mteb's result files"
    )
    command.add_argument("path", type=Path, metavar="DIR", help="results, one model's folder, or one file")
    command.add_argument(
        "--benchmark", required=True, metavar="B", help="a new name, or one whose tasks have the names of the files"
    )
    command.add_argument("--task", action="append", default=[], metavar="T", help="only these; repeat for several")
    command.add_argument(
        "--system", metavar="S", help="of files outside <org>__<model>/<revision>/, which are left out otherwise"
    )
    command.add_argument("--dry-run", action="store_true", help="report and store nothing")


def _add_what_if(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(commands, "what-if", what_if, "rank anew with one thing changed, beside the run as it is")
    command.add_argument(
        "kind", choices=list(KINDS), help="; ".join(f"{name}: {words}" for name, words in KINDS.items())
    )
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", metavar="T", help="may be left out where there is one")
    command.add_argument(
        "--system", action="append", required=True, metavar="S", help="what is changed; two or three that are fused"
    )
    command.add_argument("--k", type=int, default=60, metavar="K", help="of RRF (default %(default)s)")
    command.add_argument("--pool", type=int, default=100, metavar="N", help="documents re-ranked (default %(default)s)")
    command.add_argument("--keep", metavar="NAME", help="store the ranking as a run of this name, with its parents")
    _add_computing(command)


def _add_manage(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for act, text in ((manage.rename, "call it something else"), (manage.delete, "take it out of the store")):
        kinds = commands.add_parser(act.__name__, help=text, description=text).add_subparsers(
            dest="what",
            required=True,
            metavar="benchmark|run|results|audits" if act is manage.delete else "benchmark|run",
        )
        benchmark = _command(kinds, "benchmark", act, "a benchmark with all its runs")
        benchmark.add_argument("benchmark", metavar="B", help="name, for all its versions; or name@version to delete")
        texts = {"run": "the run of a system", "results": "what was published of a system"}
        if act is manage.rename:
            texts = {"run": "the system of runs and published results"}
        of_systems = [_command(kinds, what, act, words) for what, words in texts.items()]
        for kind in of_systems:
            kind.add_argument("--system", required=True, metavar="S", help="the system")
            if act is manage.delete:
                kind.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
                kind.add_argument("--task", metavar="T", help="may be left out where there is one")
        if act is manage.delete:
            said = _command(kinds, "audits", audits.delete_audits, "the judgements of one annotator")
            audits.delete_arguments(said)
        for kind in (benchmark, *of_systems):
            if act is manage.delete:
                kind.add_argument("--yes", action="store_true", help="do it; without, say what would go")
            else:
                kind.add_argument("--to", required=True, metavar="NAME", help="the new name")


def _add_reading(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    listing = _command(commands, "list", read.list_stored, "what is stored")
    listing.add_argument("what", choices=["benchmarks", "tasks", "systems", "runs", "papers", "audits"])
    _add_selection(listing, benchmark_required=False, flagged=False)
    for name, act, text in (
        ("scores", read.scores, "measures of each system with intervals"),
        ("routes", read.routes, "query language × document language cells"),
        ("tiers", read.tiers, "what each system confuses: siblings, related, unrelated"),
        ("fairness", read.fairness, "nDCG@10 by query language, and the gap between best and worst"),
        ("per-query", read.per_query, "one row a system and query"),
    ):
        command = _command(commands, name, act, text)
        _add_selection(command)
        if name == "routes":
            command.add_argument("--k", type=int, default=10, metavar="K", help="recall at K (default %(default)s)")
    _add_recoverability(commands)
    _add_compare(commands)
    show = _command(commands, "show", read.show, "the frozen answer of a page as JSON")
    show.add_argument("view", choices=sorted(read.VIEWS))
    _add_selection(show)
    opened = _command(commands, "query", query.query, "one query opened, as JSON")
    opened.add_argument("query", metavar="ID", help="its id")
    opened.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    opened.add_argument("--task", metavar="T", help="may be left out where there is one")
    opened.add_argument("--system", action="append", default=[], metavar="S", help="its list; repeat for up to four")
    opened.add_argument("--k", type=int, default=10, metavar="K", help="how deep the lists are (default %(default)s)")
    probe = _command(commands, "probe", read.probe_query, "put one live query to an encoder")
    probe.add_argument("text")
    probe.add_argument(
        "--encoder", required=True, action="append", metavar="E", help="whom to ask; repeat for several side by side"
    )
    probe.add_argument("--language", metavar="TAG", help="of the text; a model with an adapter for each needs it")
    probe.add_argument("--k", type=int, default=10, metavar="K")
    _add_selection(probe, flagged=False)
    _add_out(commands)
    _command(commands, "check", read.check, "verify the store: checksums, orphan files, counts")


def _add_notes(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    listing = _command(commands, "notes", notes.notes, "tags and notes on queries")
    listing.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    for name, what in (("task", "T"), ("tag", "TAG"), ("author", "A"), ("system", "S")):
        text = "repeat for several; omitted: all"
        listing.add_argument(f"--{name}", action="append", default=[], metavar=what, help=text)
    instead = listing.add_mutually_exclusive_group()
    instead.add_argument("--counts", action="store_true", help="how often each tag was given, by system and route")
    instead.add_argument("--agreement", metavar="A,B", help="how far these two authors agree")
    listing.add_argument("--format", choices=notes.FORMATS, default="table")
    back = _command(commands, "import-notes", notes.import_notes, "bring in what notes --format csv wrote")
    back.add_argument("file", type=Path, metavar="FILE.csv", help="all of it is stored, or nothing")
    back.add_argument("--benchmark", required=True, metavar="B", help="that every row names")
    back.add_argument("--dry-run", action="store_true", help="say what would be added, and store nothing")


def _add_out(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    export = _command(
        commands, "export", work.export, "write a run, judgements, texts, per-query values or tables in a common format"
    )
    export.add_argument("--run", metavar="S", help="the system whose run, or with --per-query whose values are written")
    export.add_argument(
        "--per-query", action="store_true", help="with csv or parquet: one row a query and system, as per-query prints"
    )
    export.add_argument(
        "--table", choices=work.TABLES, default="overview", help="with latex: which table (default %(default)s)"
    )
    export.add_argument("--fragment", action="store_true", help="with latex: the tables alone, for \\input")
    export.add_argument(
        "-o", "--output", type=Path, metavar="PATH", help="a file, or for beir a new folder (default: stdout)"
    )
    _add_choice(export)
    export.add_argument("--format", choices=list(work.EXPORTS), required=True)
    report = _command(commands, "report", work.report, "write every page into one HTML file that needs no network")
    report.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html", help="appears once it is whole (default: stdout)"
    )
    _add_choice(report)


def _add_recoverability(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = _command(
        commands,
        "recoverability",
        read.recoverability,
        "how deep answers in other languages stand, and what a re-ranker could fix",
    )
    _add_selection(command)
    command.add_argument(
        "--k", type=int, default=100, metavar="K", help="candidates that a re-ranker sees (default %(default)s)"
    )
    command.add_argument("--by-route", action="store_true", help="also by query and document language")
    command.add_argument("--pooled", action="store_true", help="also k80 over all chosen tasks (rows without a task)")


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "tests of routes and systems, and whether the order of the systems holds elsewhere"
    command = _command(commands, "compare", read.compare, text)
    _add_selection(command)
    command.add_argument("--measure", metavar="KEY", help="what systems are compared by (default recall_at_10)")
    command.add_argument(
        "--descriptive", action="store_true", help="print p also where there is too little to test, with the warning"
    )


def _add_selection(
    command: argparse.ArgumentParser,
    *,
    benchmark_required: bool = True,
    flagged: bool = True,
) -> None:
    _add_choice(command, benchmark_required=benchmark_required, flagged=flagged)
    command.add_argument("--by", metavar="ATTRIBUTE", help="one set of rows for each value")
    command.add_argument("--format", choices=["json", "csv", "table"], default="table")


def _add_choice(command: argparse.ArgumentParser, *, benchmark_required: bool = True, flagged: bool = True) -> None:
    """What of a store a command is about."""
    command.add_argument("--benchmark", required=benchmark_required, metavar="B", help="name, or name@version")
    command.add_argument("--task", action="append", default=[], metavar="T", help="repeat for several; omitted: all")
    command.add_argument("--system", action="append", default=[], metavar="S", help="repeat for several; omitted: all")
    command.add_argument(
        "--where", action="append", default=[], metavar="ATTRIBUTE=VALUE", help="only queries with this value"
    )
    command.set_defaults(without_flagged=False)
    if flagged:
        command.add_argument(
            "--without-flagged",
            action="store_true",
            help="leave out flagged queries, and do not count judgements of flagged documents",
        )
