"""Commands and tables with which tests build parallel documents."""

import json

from analysis.benchmarks.invented import PLANTED
from analysis.benchmarks.parallel_documents import Options
from analysis.jobs.build_documents import Request

NAME = "chemclir-bench-invented"


def build(sources, *more):
    files = ("--corpus", f"google={sources / 'google.jsonl'}", "--corpus", f"epo={sources / 'epo.csv'}")
    return ("build", "parallel-documents", *files, *more)


def tabled(sources, *more):
    tables = (f"google={sources / 'google-patents-queries.csv'}", f"epo={sources / 'epo-queries.csv'}")
    return build(sources, "--query-table", tables[0], "--query-table", tables[1], *more)


def planted(sources):
    return json.loads((sources / PLANTED).read_text("utf-8"))["planted"]


def exported(command, cache, folder, task, name=NAME):
    asked = ("export", "--benchmark", name, "--task", task, "--format", "beir", "-o", folder)
    assert command(*asked, cache=cache)[0] == 0
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def request_of(sources, *, generation=None, **options):
    files = (("google-patents", sources / "google.jsonl"), ("epo", sources / "epo.csv"))
    tables = (("google-patents", sources / "google-patents-queries.csv"), ("epo", sources / "epo-queries.csv"))
    options = Options(**options)
    return Request(files, () if generation else tables, options=options, generation=generation)


def tables_of(folder):
    """Two publications, one of them without German: three languages with a home and one without, in two modes."""
    words = " ".join(["alpha beta gamma delta epsilon"] * 10)
    rows = [(1, "en"), (1, "de"), (2, "en"), (2, "fr"), (1, "fr")]
    path = folder / "small.csv"
    lines = [f"EP{n},{tag},Title {n} {tag},{n} {tag} {words},C01B" for n, tag in rows]
    path.write_text("\n".join(["publication_number,language,title,abstract,ipc", *lines]) + "\n", encoding="utf-8")
    return ("build", "parallel-documents", "--corpus", f"epo={path}", "--benchmark", "small")
