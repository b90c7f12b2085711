"""Models trained for late interaction, as ColBERT has them: one projected vector a token, and the check each must pass.

A query reads: first token, marker, words, last token, then mask tokens up to a fixed length, all of which are compared.
A document reads: first token, marker, words, last token; its punctuation is compared with nothing. Where a model has an
adapter for each language (X-MOD), a text is read by that of its own language.
"""

from __future__ import annotations

import copy
import string
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError, SystemRefusedError
from analysis.systems.catalogue import limited
from analysis.systems.encoders import MOST_TEXTS, PROOF, Encoder, Role, TokenMatrix, Vectors
from analysis.systems.entry import Entry
from analysis.systems.reading import Reading, adapter_of, adapters, reading, unread_words
from analysis.systems.weights import (
    LOADING,
    LoadOptions,
    check_dimension,
    check_positions,
    check_whole,
    folder_to_load,
    lacking,
    load_report,
    loading_arguments,
    translated,
    verify_weights,
    versions,
)

PROJECTION = "linear.weight"
"""The name of the projection in every layout: beside the encoder's weights (ColBERT), or in a folder of its own."""

SAME_HALF = 2e-3
"""Two vectors of one text, in half precision, differ by less in every number."""


class MultiVector:
    """A loaded model. One thread encodes at a time; others wait."""

    def __init__(self, system: Entry, model: Any, how: Reading, *, folder: Path, fresh: tuple[str, ...]) -> None:
        self.entry = system
        self.fresh = fresh
        self.dimension = int(model.get_embedding_dimension() or 0)
        self.device = str(model.device)
        self.libraries: Mapping[str, str] = versions("sentence-transformers", "transformers", "tokenizers", "torch")
        self.reading = how
        self.adapters = adapters(system, folder) if system.adapters else {}
        self._model = model
        self._tokenizer = model.tokenizer
        self._skipped = _punctuation(model.tokenizer) if self.reading.skip_punctuation else np.zeros(0, np.int64)
        self._lock = threading.Lock()
        self.limit: int | None = self.reading.document_length
        self._adapter: str | None = None

    def speaking(self, language: str) -> MultiVector:
        """The same model, reading with the adapter of a language.

        Raises:
            SystemRefusedError: it has none for it, or the language is not said.
        """
        if not language:
            raise SystemRefusedError(
                f"{self.entry.name} has an adapter for each language: say which the text is in (--language)"
            )
        adapter = adapter_of(language, self.adapters)
        if adapter is None:
            raise SystemRefusedError(unread_words(self.entry, [language]))
        found = copy.copy(self)  # weights and lock are shared
        found._adapter = adapter
        return found

    def reading_as(self, role: Role) -> MultiVector:
        """The same model with the limit of a role."""
        found = copy.copy(self)
        found.limit = self.reading.query_length if role == "query" else self.reading.document_length
        return found

    def encode(self, texts: Sequence[str], *, role: Role) -> Vectors:
        """Raises SystemLoadError: a text has no vector of its own."""
        raise SystemLoadError(f"{self.entry.name}: the model has vectors of tokens only")

    def encode_tokens(self, texts: Sequence[str], *, role: Role) -> tuple[Vectors, list[TokenMatrix]]:
        """No vectors of the texts, ``(n, 0)``, and unit vectors of what is compared of them, each ``(tokens, d)``.

        Raises:
            SystemLoadError: a vector is not finite, or no language was set where each has its adapter.
        """
        if self.adapters and self._adapter is None:
            raise SystemLoadError(f"{self.entry.name}: the language of a text decides its adapter, and was not said")
        matrices: list[TokenMatrix] = []
        for start in range(0, len(texts), MOST_TEXTS):
            part = texts[start : start + MOST_TEXTS]
            ids, seen = self._padded(part, role)
            vectors = self._forward(ids, seen, role)
            for row, text in enumerate(part):
                kept = vectors[row][self._compared(ids[row], seen[row], role)]
                if not np.isfinite(kept).all():
                    raise SystemLoadError(f"{self.entry.name}: a token's vector of {text[:60]!r} is not finite")
                matrices.append((kept / np.linalg.norm(kept, axis=1, keepdims=True)).astype(np.float16))
        return np.zeros((len(texts), 0), dtype=np.float32), matrices

    def lengths(self, texts: Sequence[str], *, role: Role) -> NDArray[np.int64]:
        """Tokens of each text with its frame and marker, ``(n,)``, those beyond the limit too."""
        with self._lock:
            rows = self._tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]
        return np.fromiter((len(row) + 1 for row in rows), dtype=np.int64, count=len(texts))

    def tokens(self, text: str, *, role: Role) -> list[str]:
        """What is compared of a text, one token a vector; the marker by its name, known to the tokeniser or not."""
        ids, seen = self._padded([text], role)
        names = self._tokenizer.convert_ids_to_tokens(ids[0].tolist())
        names[1] = self._marker(role)
        return [name for name, kept in zip(names, self._compared(ids[0], seen[0], role), strict=True) if kept]

    def _marker(self, role: Role) -> str:
        return self.reading.query_marker if role == "query" else self.reading.document_marker

    def _ids(self, texts: Sequence[str], role: Role) -> list[list[int]]:
        """Each text's tokens with the marker behind the first, cut at the limit of its role.

        A marker outside the vocabulary is the unknown token, as it was when the model was trained.
        """
        how = self.reading
        length = how.query_length if role == "query" else how.document_length
        with self._lock:
            code = int(self._tokenizer.convert_tokens_to_ids(self._marker(role)))
            rows = self._tokenizer(list(texts), truncation=True, max_length=length - 1)["input_ids"]
        return [[row[0], code, *row[1:]] for row in rows]

    def _padded(self, texts: Sequence[str], role: Role) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tokens ``(n, length)`` and which of them the others see: queries filled with masks, documents padded."""
        rows, query = self._ids(texts, role), role == "query"
        length = self.reading.query_length if query else max(map(len, rows))
        filling = self._tokenizer.mask_token_id if query else self._tokenizer.pad_token_id
        ids = np.full((len(rows), length), filling, dtype=np.int64)
        seen = np.full((len(rows), length), int(query and self.reading.attend_to_masks), dtype=np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)], seen[place, : len(row)] = row, 1
        return ids, seen

    def _compared(self, ids: NDArray[np.int64], seen: NDArray[np.int64], role: Role) -> NDArray[np.bool_]:
        """Which tokens of a text are compared: all of a query; of a document neither padding nor punctuation."""
        if role == "query":
            return np.ones(len(ids), dtype=bool)
        kept: NDArray[np.bool_] = (seen > 0) & ~np.isin(ids, self._skipped)
        return kept

    def _forward(self, ids: NDArray[np.int64], seen: NDArray[np.int64], role: Role) -> NDArray[np.float32]:
        """Projected vectors of all tokens, ``(n, length, d)``."""
        import torch

        features = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(seen)}
        if self._adapter is not None:
            numbered = [str(name) for name in self._model[0].auto_model.config.languages]
            features["lang_ids"] = torch.full((len(ids),), numbered.index(self._adapter))
        with self._lock, torch.inference_mode():
            on_device = {name: tensor.to(self._model.device) for name, tensor in features.items()}
            found: NDArray[np.float32] = self._model(on_device, task=role)["token_embeddings"].float().cpu().numpy()
        return found


def in_language(encoder: Encoder, language: str) -> Encoder:
    """The encoder as it reads texts of a language: another one only where it has an adapter for each.

    Raises:
        SystemRefusedError: it has none for this one.
    """
    return encoder.speaking(language) if isinstance(encoder, MultiVector) and encoder.adapters else encoder


def for_texts(encoder: Encoder, *, role: Role, language: str) -> Encoder:
    """The encoder as it reads texts of a role and language; another one only where that makes a difference.

    Raises:
        SystemRefusedError: it has an adapter for each language, and none for this one.
    """
    encoder = in_language(encoder, language)
    return encoder.reading_as(role) if isinstance(encoder, MultiVector) else encoder


def _punctuation(tokenizer: Any) -> NDArray[np.int64]:
    """Ids that documents are compared without: of each ASCII punctuation mark the first that it is cut into.

    Never the unknown token, or every unknown word would leave with a mark that is not in the vocabulary.
    """
    cut = (tokenizer(mark, add_special_tokens=False)["input_ids"] for mark in string.punctuation)
    return np.unique(np.array([ids[0] for ids in cut if ids and ids[0] != tokenizer.unk_token_id], dtype=np.int64))


# --- loading ----------------------------------------------------------------------------------------------------------


def load(system: Entry, options: LoadOptions) -> MultiVector:
    """Load a model trained for late interaction and put it through the load check.

    Raises:
        SystemLoadError: it cannot be loaded, has no projection of its own, or fails the check.
    """
    effective = limited(system, options.max_length, options.dtype)
    with LOADING:
        verify_weights(effective)
        model = _construct(effective, options)
        prove(model, lambda: _construct(effective, options))
    return model


def _construct(system: Entry, options: LoadOptions) -> MultiVector:
    folder = folder_to_load(system, options)
    how = reading(system, folder)
    stored = _projections(system, folder)
    if not stored:  # sentence-transformers would add one at random
        raise SystemLoadError(
            f"{system.name}: {folder} has no projection of token vectors ({PROJECTION}): it was not trained for late "
            "interaction"
        )
    from sentence_transformers import MultiVectorEncoder

    arguments = loading_arguments(system, options)
    with load_report() as fresh, translated(system):
        model = MultiVectorEncoder(str(folder), **arguments)
        unknown = _unknown_projections(model, stored)
        model.to(arguments["model_kwargs"]["dtype"])
    _check_scheme(system, model)
    return MultiVector(system, model, how, folder=folder, fresh=(*lacking(fresh), *unknown))


def _projections(system: Entry, folder: Path) -> list[Any]:
    """Every projection that the files of a folder hold."""
    from safetensors import safe_open

    found = []
    with translated(system):
        for file in sorted(folder.rglob("*.safetensors")):
            with safe_open(file, framework="pt") as tensors:
                found += [tensors.get_tensor(name) for name in tensors.keys() if name == PROJECTION]  # noqa: SIM118
    return found


def _unknown_projections(model: Any, stored: Sequence[Any]) -> list[str]:
    """Names of projections whose weights are in no file."""
    import torch
    from sentence_transformers.base.modules import Dense

    return [
        f"{name}.{PROJECTION}"
        for name, module in model.named_children()
        if isinstance(module, Dense)
        and not any(
            weights.shape == module.linear.weight.shape
            and torch.equal(weights.to(module.linear.weight), module.linear.weight)
            for weights in stored
        )
    ]


def _check_scheme(system: Entry, model: Any) -> None:
    """Raise where the model cannot be read as ColBERT reads."""
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    for module in model:
        if not isinstance(module, Transformer | Dense | Normalize | MultiVectorMask):
            raise SystemLoadError(f"{system.name}: {type(module).__name__} is no part of a ColBERT model")
    if model.tokenizer.mask_token_id is None:
        raise SystemLoadError(f"{system.name}: its tokeniser has no mask token to fill queries with")
    check_positions(system, model)
    modular = model[0].auto_model.config.model_type == "xmod"
    if modular != system.adapters:
        said, has = str(system.adapters).lower(), "has" if modular else "has not"
        raise SystemLoadError(f"{system.name}: adapters = {said}, but the model {has} an adapter for each language")


# --- the load check ---------------------------------------------------------------------------------------------------


def prove(model: MultiVector, reload: Callable[[], MultiVector]) -> None:
    """Raise unless the loaded model behaves like one: a broken load gives plausible, wrong numbers.

    Args:
        model: just loaded.
        reload: loads it a second time; the vectors must be the same.

    Raises:
        SystemLoadError: one sentence naming the system and what failed.
    """
    name = model.entry.name
    check_whole(model.entry, model.fresh)
    tags = [tag for tag in PROOF if not model.adapters or adapter_of(tag, model.adapters)]
    if not tags:
        raise SystemLoadError(f"{name}: it has no adapter for any of {', '.join(PROOF)}, so it cannot be checked")
    found = {tag: _proof(model, tag) for tag in tags}
    one = found[tags[0]]
    check_dimension(model.entry, model.dimension)
    if all(_alike(matrix, np.broadcast_to(one[0][0], matrix.shape)) for matrix in one):
        raise SystemLoadError(f"{name}: every token gets the same vector")
    if not all(map(_alike, one, _proof(model, tags[0]))):
        raise SystemLoadError(f"{name}: the same text got different vectors")
    _check_meaning(model.entry, found)
    again = reload()
    if not all(_alike(*pair) for tag in tags for pair in zip(found[tag], _proof(again, tag), strict=True)):
        raise SystemLoadError(f"{name}: a second load of the same files gave other vectors")


def _proof(model: MultiVector, language: str) -> list[TokenMatrix]:
    """The first sentence of a language as a query, then both as documents."""
    reader = in_language(model, language)
    asked, answers = PROOF[language][:1], PROOF[language]
    return [*reader.encode_tokens(asked, role="query")[1], *reader.encode_tokens(answers, role="document")[1]]


def _alike(one: NDArray[np.float16], other: NDArray[np.float16]) -> bool:
    return one.shape == other.shape and bool(np.abs(one.astype(np.float32) - other).max(initial=0.0) < SAME_HALF)


def _check_meaning(system: Entry, found: Mapping[str, Sequence[TokenMatrix]]) -> None:
    """Asked in the first language claimed, the same sentence must score above another one in each."""
    claimed = [tag for tag in found if tag in system.languages]
    for tag in claimed:
        query = found[claimed[0]][0].astype(np.float32)
        same, unrelated = ((query @ matrix.T.astype(np.float32)).max(axis=1).sum() for matrix in found[tag][1:])
        if same <= unrelated:
            right, other = PROOF[tag]
            raise SystemLoadError(
                f"{system.name}: in {tag}, which it claims to know, {right!r} scores no higher than {other!r} "
                f"for {PROOF[claimed[0]][0]!r}"
            )
