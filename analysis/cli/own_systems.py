"""The commands `add-system` and `remove-system`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from analysis.errors import InputError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import DTYPES, POOLINGS, READS, TOKENS, NewSystem
from analysis.model import PARADIGMS
from analysis.systems.endpoint import BATCH
from analysis.systems.remote import TIMEOUT


def add_system(options: argparse.Namespace) -> None:
    """Keep one more system beside those of the catalogue."""
    said = {field.name: getattr(options, field.name) for field in fields(NewSystem)}
    if options.fuse is not None:
        said["fuse"] = tuple(name.strip() for name in options.fuse.split(",") if name.strip())
    if options.cross_encoder and options.model:
        raise InputError("--cross-encoder and --model name a model each: expected one")
    said["cross_encoder"] = True if options.cross_encoder is not None else None
    said["model"] = options.cross_encoder or options.model
    asked = NewSystem(**said)
    entry = (own_systems.checked if options.dry_run else own_systems.add)(asked, options.cache)
    verb = "checked, nothing kept:" if options.dry_run else "added"
    print(f"{verb} {entry.name}: {own_systems.described(entry)}", file=sys.stderr)
    if told := own_systems.warning(asked, entry):
        print(f"warning: {told}", file=sys.stderr)
    if entry.kind == "cross-encoder":
        then = f"It ranks nothing by itself; next: add-system NAME --first A --second {entry.name}"
        print(f"{entry.note} {then}".strip(), file=sys.stderr)


def remove_system(options: argparse.Namespace) -> None:
    """Forget a system that was added."""
    own_systems.remove(options.name, options.cache)
    print(f"removed {options.name}; its stored runs stay", file=sys.stderr)


def arguments(command: argparse.ArgumentParser) -> None:
    """What `add-system` may be told."""
    command.add_argument("name", metavar="NAME", help="lower-case letters, digits, '-', '.', '+' and '_'")
    command.add_argument("--title", metavar="TEXT", help="for people (default: the name)")
    command.add_argument("--paradigm", choices=PARADIGMS, help="the group and colour it has on pages")
    files = command.add_argument_group("a model of sentence-transformers or transformers")
    files.add_argument("--model", metavar="ID", help="of the model hub")
    files.add_argument("--folder", type=Path, metavar="DIR", help="with the model's files")
    files.add_argument("--revision", metavar="R", help="hub commit or tag")
    files.add_argument("--dimension", type=int, metavar="N", help="of its vectors (default: as its files say)")
    files.add_argument("--max-length", type=int, metavar="N", help="tokens a text is cut at (default: its own)")
    files.add_argument("--pooling", choices=POOLINGS, help="how token vectors become one (default: as its files say)")
    files.add_argument("--query-prompt", metavar="TEXT", help="put before every query (default: as its files say)")
    files.add_argument("--document-prompt", metavar="TEXT", help="put before every document (default: the same)")
    files.add_argument("--dtype", choices=[name for name in DTYPES if name != "int4"], help="default float32")
    files.add_argument(
        "--reads", choices=READS, help=f"what of a query a model that sees images reads (default {READS[0]})"
    )
    files.add_argument("--images", metavar="SYSTEM", help="whose model encodes images into the space of these texts")
    files.add_argument(
        "--trust-remote-code",
        action="store_const",
        const=True,
        help="the model brings its own code; run also asks for this flag",
    )
    remote = command.add_argument_group("an embedding endpoint as OpenAI has it, with --model and --dimension")
    remote.add_argument("--url", metavar="URL", help="its base, such as https://host/v1; run sends it every text")
    remote.add_argument("--key-variable", metavar="NAME", help="the environment variable that holds the key")
    remote.add_argument("--batch", type=int, metavar="N", help=f"texts of one request (default {BATCH})")
    remote.add_argument("--timeout", type=int, metavar="S", help=f"seconds of one request (default {TIMEOUT:g})")
    code = command.add_argument_group("a Python function (texts, role) → array (n, d), with --dimension")
    code.add_argument(
        "--function", metavar="MODULE:NAME", help="in --folder, or where Python finds it; run asks for --allow-code"
    )
    words = command.add_argument_group("BM25")
    words.add_argument("--tokens", choices=TOKENS, help=f"how texts are cut (default {TOKENS[0]})")
    words.add_argument("--k1", type=float, metavar="X", help=f"default {own_systems.K1}")
    words.add_argument("--b", type=float, metavar="X", help=f"0 to 1, default {own_systems.B}")
    fused = command.add_argument_group("reciprocal rank fusion")
    fused.add_argument("--fuse", metavar="A,B", help="systems")
    fused.add_argument("--k", type=int, metavar="K", help=f"default {own_systems.K}")
    staged = command.add_argument_group("two stages")
    staged.add_argument("--first", metavar="A", help="the system that retrieves")
    staged.add_argument("--second", metavar="B", help="what rescores: a cross-encoder, a function of pairs, MaxSim")
    staged.add_argument("--pool", type=int, metavar="N", help=f"documents rescored, default {own_systems.POOL}")
    second = command.add_argument_group("a second stage of your own")
    second.add_argument(
        "--cross-encoder",
        nargs="?",
        const="",
        metavar="ID",
        help="a model that reads a query and a document together; alone, it is the one of --folder",
    )
    second.add_argument(
        "--pair-function", metavar="M:F", help="(queries, documents) to one score a pair; run asks for --allow-code"
    )
    second.add_argument("--maxsim", metavar="ENCODER", help="late interaction over a dense system's token vectors")
    command.add_argument("--dry-run", action="store_true", help="say what would be in force and keep nothing")
