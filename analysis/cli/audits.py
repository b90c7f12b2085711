"""The commands `export-audit` and `import-audit`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.cli.work import CHECKED, USAGE
from analysis.errors import InputError
from analysis.jobs import audit_sheet, import_audit
from analysis.jobs.audit_sheet import SheetRequest
from analysis.jobs.import_audit import AuditRequest
from analysis.report.files import whole_file
from analysis.store.audits import HUMAN, KINDS, QUESTIONS, RELEVANCE
from analysis.text import counted


def export_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `export-audit`."""
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", metavar="T", help="may be left out where there is one")
    command.add_argument(
        "--question",
        choices=QUESTIONS,
        default=RELEVANCE,
        help="is the document an answer | does a version of a query say what its source says | of which tier is a "
        "query (default %(default)s)",
    )
    command.add_argument(
        "--per-language",
        type=int,
        metavar="N",
        help="rows of each query language (default: 30, or as many as every language has)",
    )
    command.add_argument("--seed", type=int, default=1, metavar="N", help="of the sample (default %(default)s)")
    command.add_argument(
        "-o", "--output", type=Path, required=True, metavar="SHEET.csv", help="new; the instructions come beside it"
    )
    command.add_argument("--key", type=Path, metavar="KEY.csv", help="also write what each row is; the store keeps it")


def export_audit(options: argparse.Namespace) -> None:
    """Write a blind sheet with its instructions; the key stays in the store."""
    readme = options.output.with_name(f"{options.output.stem}.README.txt")
    for path in filter(None, (options.output, readme, options.key)):
        if path.exists():
            raise InputError(f"{path}: there already, expected a new name: it may hold somebody's judgements")
    request = SheetRequest(options.benchmark, options.task, options.question, options.per_language, options.seed)
    made = audit_sheet.make(request, options.cache)
    _write(options.output, made.text)
    _write(readme, made.instructions)
    if options.key:
        _write(options.key, made.key)
    kept = "its key is kept in the store" if made.is_new else "the same sheet as before, its key is in the store"
    rows = f"{counted(made.n_rows, 'row')}, {made.per_language:,} in each query language"
    print(f"sheet {made.sheet}: {rows}; {kept}; instructions in {readme}", file=sys.stderr)


def _write(path: Path, text: str) -> None:
    with whole_file(path) as handle:
        handle.write(text)


def delete_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `delete audits`."""
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--annotator", required=True, metavar="NAME", help="whose judgements go")
    command.add_argument("--yes", action="store_true", help="do it; without, say what would go")


def delete_audits(options: argparse.Namespace) -> int:
    """Delete all that one annotator said of a benchmark; without ``--yes`` only say how much that is."""
    n = import_audit.forget(options.benchmark, options.annotator, dry_run=not options.yes, folder=options.cache)
    words = f"{counted(n, 'judgement')} of {options.annotator} on {options.benchmark}"
    if not options.yes:
        print(f"this would delete {words}", file=sys.stderr)
        print("babelscope: nothing was deleted; --yes does it", file=sys.stderr)
        return USAGE
    print(f"deleted {words}", file=sys.stderr)
    return 0


def import_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `import-audit`."""
    command.add_argument("file", type=Path, metavar="FILE", help="a sheet that was filled in, or a table of judgements")
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", metavar="T", help="of a table; may be left out where there is one")
    command.add_argument(
        "--question", choices=QUESTIONS, help=f"of a table (default {RELEVANCE}); a sheet says it itself"
    )
    who = command.add_mutually_exclusive_group()
    who.add_argument("--annotator", metavar="NAME", help="who judged all rows, where no column says it")
    who.add_argument("--annotator-column", metavar="COL", help="which column says it (default annotator)")
    command.add_argument("--kind", choices=KINDS, default=HUMAN, help="who they are (default %(default)s)")
    command.add_argument(
        "--replace", action="store_true", help="let other judgements of the same annotators take the place of theirs"
    )
    command.add_argument("--dry-run", action="store_true", help="say what would be added, and store nothing")


def import_audit_file(options: argparse.Namespace) -> None:
    """Bring in judgements, all or none."""
    done = import_audit.import_audit(
        AuditRequest(
            options.file,
            options.benchmark,
            options.task,
            options.question,
            options.kind,
            options.annotator,
            options.annotator_column,
            options.replace,
            options.dry_run,
        ),
        options.cache,
    )
    print(f"{CHECKED if options.dry_run else 'stored'}: {done.words}", file=sys.stderr)
