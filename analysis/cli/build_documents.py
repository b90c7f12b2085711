"""`build parallel-documents`: publications in several languages, and queries from a table or from models."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis import benchmarks
from analysis.benchmarks.document_queries import MODES, STRATEGIES, Wanted, mode_of, strategy_of
from analysis.benchmarks.parallel_documents import NAME, Options, task_name
from analysis.cli import output
from analysis.cli.building import Make, flag, need, tell, typed
from analysis.errors import InputError
from analysis.imports import patents, query_table
from analysis.jobs import build_documents, transcript
from analysis.jobs.build_documents import Request
from analysis.jobs.generate_queries import Generation
from analysis.languages import canonical
from analysis.model import Progress
from analysis.paths import Cache
from analysis.store.versions import CLASS, Rules, key_of
from analysis.systems import remote
from analysis.systems.weights import LoadOptions

OF_MODELS = (
    "endpoint", "model", "verifier", "key_variable", "price_in", "price_out", "most_calls", "at_once", "dry_run",
    "transcript",
)  # fmt: skip
FLAGS = (
    "corpus", "query_table", "benchmark", "map", "claims", "classes", "targets", "least_words", "least_languages",
    "mode", "strategy", "per_language", "seed", *OF_MODELS,
)  # fmt: skip
FIELDS = tuple(dict.fromkeys((*patents.COLUMNS, *query_table.COLUMNS)))


def arguments(group: argparse._ArgumentGroup) -> None:
    """Flags of its own."""
    group.add_argument("--corpus", action="append", metavar="[TASK=]FILE", help="publications; else by office")
    group.add_argument("--query-table", action="append", default=[], metavar="[TASK=]FILE", help="a table of queries")
    group.add_argument("--benchmark", metavar="B", help=f"what the benchmark is called (default {NAME})")
    group.add_argument("--map", action="append", default=[], metavar="COLUMN=FIELD", help="what tables call otherwise")
    group.add_argument("--claims", action="store_true", help="documents have the first claim too")
    group.add_argument(
        "--classes", metavar="C,A61K,…|all|FILE", help="how IPC or CPC begin (default C,A61K,A61P); FILE: one a line"
    )
    group.add_argument("--targets", metavar="en,de,…", help="languages that count (default: all)")
    group.add_argument("--least-words", type=int, metavar="N", help="of an abstract (default 50)")
    group.add_argument("--least-languages", type=int, metavar="N", help="of a publication (default 2)")
    group.add_argument("--mode", metavar="a,b", help=f"of queries (default {','.join(MODES)})")
    group.add_argument("--strategy", metavar="a,b", help=f"of queries, among {', '.join(STRATEGIES)} (default: all)")
    group.add_argument("--per-language", type=int, metavar="N", help="queries of each language, mode and strategy")
    group.add_argument("--endpoint", metavar="URL", help="a chat endpoint as OpenAI has it, to write queries")
    group.add_argument("--model", metavar="NAME", help="that writes queries")
    group.add_argument("--verifier", metavar="NAME", help="the model that judges them")
    group.add_argument("--key-variable", metavar="NAME", help="the environment variable that holds the endpoint's key")
    group.add_argument("--price-in", type=float, metavar="X", help="of a million tokens of prompts")
    group.add_argument("--price-out", type=float, metavar="X", help="of a million tokens of answers")
    group.add_argument("--most-calls", type=int, metavar="N", help="then the build ends, and goes on when called again")
    group.add_argument("--at-once", type=int, metavar="N", help="queries asked for at the same time (default 1)")
    group.add_argument("--transcript", type=Path, metavar="FILE", help="recorded answers instead of an endpoint")
    group.add_argument("--dry-run", action="store_true", help="say what would be asked, and ask nothing")


def ready(options: argparse.Namespace) -> Make:
    """What the flags ask for.

    Raises:
        InputError: no table is named, a value is wrong, or flags do not go together.
    """
    need(options, "corpus")
    request = Request(
        corpora=_files(options.corpus, "--corpus"),
        tables=_files(options.query_table, "--query-table", several=True),
        renamed=_renamed(options.map),
        options=Options(_name(options.benchmark), _rules(options), _wanted(options)),
        generation=_generation(options),
    )

    def make(cache: Cache, load: LoadOptions, progress: Progress) -> str | None:
        if options.dry_run:
            output.write_json(build_documents.planned(cache, request, progress=progress))
            return None
        address, benchmark = build_documents.build(cache, request, progress=progress, say=_say)
        tell(benchmark)
        return address

    return make


def _say(words: str) -> None:
    print(words, file=sys.stderr)


def _files(texts: Sequence[str], flag: str, *, several: bool = False) -> tuple[tuple[str, Path], ...]:
    found = []
    for text in texts:
        task, separator, file = text.partition("=")
        named = separator and re.fullmatch(r"[a-z0-9][a-z0-9-]*", task_name(task))
        found.append((task_name(task), Path(file)) if named else ("", Path(text)))
    tasks = [task for task, _ in found]
    twice = next((task for task in tasks if tasks.count(task) > 1), None)
    if twice is not None and not several:
        raise InputError(f"{flag}: two files of {twice or 'no task'}, expected one a task, as TASK=FILE")
    return tuple(found)


def _renamed(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        column, separator, field = text.rpartition("=")
        if not separator or field not in FIELDS:
            raise InputError(f"--map {text!r}: expected COLUMN=FIELD with a field among {', '.join(FIELDS)}")
        found[column] = field
    return found


def _name(name: str | None) -> str | None:
    if name is not None and not name.replace("-", "").replace("_", "").isalnum():
        raise InputError(f"--benchmark {name!r}: expected letters, digits and hyphens")
    if name in benchmarks.NAMES:
        raise InputError(f"--benchmark {name!r}: the name is taken; expected a free one")
    return name


def _rules(options: argparse.Namespace) -> Rules:
    usual = Rules()
    prefixes, publications = _classes(options.classes, usual)
    words = usual.least_words if options.least_words is None else options.least_words
    languages = usual.least_languages if options.least_languages is None else options.least_languages
    if words < 1 or languages < 1:
        raise InputError(f"least words {words}, least languages {languages}: expected 1 or more")
    return Rules(words, languages, _languages(options.targets), prefixes, publications, options.claims)


def _classes(text: str | None, usual: Rules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Prefixes of classes, and publications that are listed one by one."""
    if text is None:
        return usual.prefixes, ()
    if text.strip().lower() == "all":
        return (), ()
    path = Path(text)
    words = text.split(",")
    if path.is_file():
        words = path.read_text(encoding="utf-8").splitlines()
    plain = ["".join(word.split()).upper() for word in words if word.strip()]
    prefixes = tuple(word for word in plain if CLASS.fullmatch(word))
    others = tuple(word for word in plain if not CLASS.fullmatch(word))
    if not plain or (others and not path.is_file()):
        raise InputError(f"--classes {text!r}: expected classes such as C,A61K, or all, or a file with one a line")
    return prefixes, tuple(key_of(word) for word in others)


def _languages(text: str | None) -> tuple[str, ...]:
    tags = [canonical(word.strip()).tag for word in (text or "").split(",") if word.strip()]
    if text is not None and not tags:
        raise InputError(f"--targets {text!r}: expected languages separated by commas")
    return tuple(dict.fromkeys(tags))


def _wanted(options: argparse.Namespace) -> Wanted:
    most = options.per_language
    if most is not None and most < 1:
        raise InputError(f"--per-language {most}: expected 1 or more")
    return Wanted(
        modes=tuple(dict.fromkeys(map(mode_of, options.mode.split(",")))) if options.mode else MODES,
        strategies=tuple(map(strategy_of, options.strategy.split(","))) if options.strategy else STRATEGIES,
        languages=_languages(options.targets),
        most=most,
        seed=1 if options.seed is None else options.seed,
    )


def _generation(options: argparse.Namespace) -> Generation | None:
    """Who writes queries; None where a table has them.

    Raises:
        InputError: flags do not go together.
    """
    of_models = typed(options, OF_MODELS)
    if options.query_table and of_models:
        raise InputError(f"{of_models[0]} is for queries that models write, --query-table has them")
    if options.query_table:
        return None
    if not of_models:
        raise InputError("queries are missing: expected --query-table FILE, or --endpoint, --model and --verifier")
    if options.transcript and options.endpoint:
        raise InputError("--transcript and --endpoint: expected one of them, a transcript asks nobody")
    known = transcript.models(options.transcript) if options.transcript else {}
    model, verifier = options.model or known.get("candidate"), options.verifier or known.get("verifier")
    if not (options.transcript or options.endpoint or options.dry_run) or not (model and verifier):
        raise InputError("to write queries, expected --endpoint URL (or --transcript FILE), --model and --verifier")
    for name, fault in remote.faults(options.endpoint or "http://none", options.key_variable).items():
        raise InputError(f"{flag('endpoint' if name == 'url' else name)}: {fault}")
    _check_numbers(options)
    return Generation(
        model,
        verifier,
        options.endpoint,
        options.key_variable,
        options.transcript,
        options.most_calls,
        options.at_once or 1,
        options.price_in,
        options.price_out,
    )


def _check_numbers(options: argparse.Namespace) -> None:
    for name, least in (("price_in", 0), ("price_out", 0), ("most_calls", 1), ("at_once", 1)):
        value = getattr(options, name)
        if value is not None and not value >= least:
            raise InputError(f"{flag(name)} {value:g}: expected {least} or more")
