"""The command `query`: one query opened."""

from __future__ import annotations

import argparse

from analysis.cli.output import write_json
from analysis.cli.read import opened
from analysis.views import one_query
from analysis.views.selection import Selection


def query(options: argparse.Namespace) -> None:
    """One query with its answers in each system's list, the lists of up to four systems, and its other versions."""
    asked = Selection(options.benchmark, (options.task,) if options.task else ())
    found = one_query.opened(opened(options), asked, query_id=options.query, shown=options.system, k=options.k)
    write_json(found)
