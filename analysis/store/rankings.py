"""Whole rankings as arrays: those that runs keep, and those of what-ifs in files of their own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from analysis.errors import StoreError
from analysis.model import Ranking
from analysis.store import connection as generations
from analysis.store.read import PARQUET, RunRow, Store

DEPTH = b"babelscope_depth"


def of_run(store: Store, run: RunRow) -> Ranking:
    """The hits that a run keeps, as deep as it keeps them.

    Raises:
        StoreError: it keeps none, or the file is missing or damaged.
    """
    file = store._hits_file(run)
    columns = store._columns(
        f"SELECT query, document, score FROM {PARQUET} ORDER BY query, rank",  # noqa: S608 (a constant of ours)
        [str(file)],
        bulk=file,
    )
    return Ranking(
        columns["query"].astype(np.int32), columns["document"].astype(np.int32), columns["score"], run.hits_kept
    )


def keep(ranking: Ranking, file: Path) -> None:
    """Write a ranking aside and give the file its name; there is never half a file.

    Raises:
        StoreError: the folder cannot be written.
    """
    import pyarrow.parquet as pq

    table = pa.table({"query": ranking.query, "document": ranking.document, "score": ranking.score})
    table = table.replace_schema_metadata({DEPTH: str(ranking.depth).encode()})
    temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    with generations.on_disk(file.parent):
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, temporary, compression="zstd")
        generations.publish(temporary, file)


def stored(file: Path) -> Ranking | None:
    """A ranking that was kept; None where there is no such file.

    Raises:
        StoreError: it is damaged.
    """
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
    except FileNotFoundError:
        return None
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{file}: {str(error).splitlines()[0]}; remove the file, and it is made anew") from error
    depth = int((table.schema.metadata or {})[DEPTH])
    query, document, score = (table[name].to_numpy() for name in ("query", "document", "score"))
    return Ranking(query, document, score, depth)
