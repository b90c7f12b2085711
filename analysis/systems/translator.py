"""Translation models of transformers: any seq2seq folder with safetensors, its work kept on the disk as it comes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, SystemLoadError
from analysis.model import Progress, silent
from analysis.store.translation_files import Made, TranslationFiles
from analysis.systems.batching import Positions, Room, batches, halved
from analysis.systems.buffers import check_buffers, unset_shown
from analysis.systems.catalogue import SCORED_BY
from analysis.systems.devices import chosen
from analysis.systems.entry import Entry
from analysis.systems.language_codes import Languages, Way, languages_of, refused
from analysis.systems.weights import (
    LOADING,
    LoadOptions,
    check_whole,
    digest,
    first_line,
    folder_to_load,
    lacking,
    load_report,
    translated,
)

CHUNK = 64
"""Texts after which translations are stored; always the same ones go together, so a build taken up again ends alike."""

BATCH_TOKENS = 3072  # of a padded batch, all beams together
MOST_TEXTS = 32  # in one batch
LONGEST = 256  # tokens of a translation
SENTENCEPIECE = "its tokeniser needs the package sentencepiece: pip install sentencepiece"
DECIDING = {*SCORED_BY, ".spm", ".bpe"}
HUB = re.compile(r"[\w-][\w.-]*/[\w.-]+")


@dataclass(frozen=True)
class Settings:
    """How a model translates."""

    beams: int
    longest: int = LONGEST  # tokens of a translation
    room: int = BATCH_TOKENS

    def __post_init__(self) -> None:
        for name in ("beams", "longest", "room"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: expected 1 or more")


class Translators:
    """Several models as one translator: each pair of languages is for the first that knows it.

    Args:
        names: folders, or models of the hub.
        kept: the folder of what was translated before.
        settings: see there.
        load: how models are loaded.
        progress: may raise JobCancelledError; what was translated until then is kept.

    Raises:
        InputError: a model does not say which languages it knows, or there is no such folder.
        SystemLoadError: its files cannot be had, or are no safetensors.
    """

    def __init__(
        self,
        names: Sequence[str],
        kept: Path,
        *,
        settings: Settings,
        load: LoadOptions,
        progress: Progress = silent,
    ) -> None:
        self._models = [Model(name, kept, settings=settings, load=load, progress=progress) for name in names]
        self.name = " and ".join(model.name for model in self._models)

    def check(self, *, source: str, target: str) -> None:
        """Raise InputError where no model translates one language into the other."""
        self._model(source, target)

    def translate(self, texts: Sequence[str], *, source: str, target: str) -> list[str]:
        """Each text in the other language.

        Raises:
            InputError: no model translates one into the other.
            SystemLoadError: a model does not load, or one text alone does not fit the memory.
        """
        return self._model(source, target).translate(texts, source=source, target=target)

    @property
    def cut(self) -> int:
        """Texts that a model did not read to their ends."""
        return sum(model.cut for model in self._models)

    @property
    def unfinished(self) -> int:
        """Translations that were stopped before they came to an end."""
        return sum(model.unfinished for model in self._models)

    def _model(self, source: str, target: str) -> Model:
        for model in self._models:
            if model.languages.way(source, target):
                return model
        raise refused(self.name, [model.languages for model in self._models], source=source, target=target)


class Model:
    """One seq2seq model of transformers; arguments as those of :class:`Translators`."""

    def __init__(self, name: str, kept: Path, *, settings: Settings, load: LoadOptions, progress: Progress) -> None:
        self._entry = _entry(name)
        self.name = self._entry.name
        self._kept = kept
        self._settings = settings
        self._load = load
        self._progress = progress
        self._room = Room(max(1, settings.room // settings.beams))
        self._folder = folder_to_load(self._entry, load)
        self._config: dict[str, Any] = _json(self._folder / "config.json")
        self.languages: Languages = languages_of(self.name, self._tokenizer, self._config)
        self.cut = 0
        self.unfinished = 0

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        try:
            with translated(self._entry):
                return AutoTokenizer.from_pretrained(str(self._folder), local_files_only=True, trust_remote_code=False)
        except SystemLoadError as error:
            if "sentencepiece" in f"{error} {error.__cause__}".lower():
                raise SystemLoadError(f"{self.name}: {SENTENCEPIECE}") from error
            raise

    @cached_property
    def _model(self) -> Any:
        """The model itself, loaded when something is to be translated that was not before."""
        import torch
        from transformers import AutoModelForSeq2SeqLM

        dtype = getattr(torch, self._load.dtype or self._entry.dtype)
        with LOADING, load_report() as fresh, translated(self._entry), unset_shown():
            model = AutoModelForSeq2SeqLM.from_pretrained(
                str(self._folder), use_safetensors=True, local_files_only=True, trust_remote_code=False, dtype=dtype
            )
        check_whole(self._entry, lacking(fresh))
        check_buffers(self._entry, model)
        return model.eval().to(chosen(self._load.device)[0])

    @cached_property
    def _digest(self) -> str:
        """Of every file that decides a translation."""
        whole = hashlib.sha256()
        for path in sorted(path for path in self._folder.rglob("*") if path.suffix in DECIDING):
            whole.update(f"{path.relative_to(self._folder)} {digest(path)}\n".encode())
        return whole.hexdigest()

    @property
    def _limit(self) -> int | None:
        """Tokens that it reads of a text; None where it reads all."""
        told = (self._tokenizer.model_max_length, self._config.get("max_position_embeddings"))
        limits = [int(limit) for limit in told if limit and limit < 1_000_000]  # transformers writes "none" as 10^30
        return min(limits) if limits else None

    @property
    def _longest(self) -> int:
        positions = self._config.get("max_position_embeddings")
        return min(self._settings.longest, positions - 1) if positions else self._settings.longest

    def translate(self, texts: Sequence[str], *, source: str, target: str) -> list[str]:
        """Each text in another language; see :class:`Translators`."""
        way = self.languages.way(source, target)
        if way is None:
            raise refused(self.name, [self.languages], source=source, target=target)
        space = {
            "model": self._digest,
            "source": source,
            "target": target,
            "beams": self._settings.beams,
            "longest": self._longest,
            "dtype": self._load.dtype or self._entry.dtype,
        }
        kept = TranslationFiles(self._kept, space)
        self._fill(kept, list(dict.fromkeys(texts)), way, step=f"translate {source} into {target}")
        found = [kept.get(text) for text in texts]
        made = [row for row in found if row is not None]
        self.cut += sum(row.cut for row in made)
        self.unfinished += sum(row.unfinished for row in made)
        return [row.text for row in made]

    def _fill(self, kept: TranslationFiles, texts: list[str], way: Way, *, step: str) -> None:
        """Translate what was not, chunk by chunk of similar length."""
        if way.source_code:
            self._tokenizer.src_lang = way.source_code
        lengths = self._lengths([f"{way.prefix}{text}" for text in texts])
        order = sorted(range(len(texts)), key=lambda place: (-int(lengths[place]), texts[place]))
        for start in range(0, len(order), CHUNK):
            self._progress(step, start, len(texts))
            todo = [place for place in order[start : start + CHUNK] if kept.get(texts[place]) is None]
            if todo:
                some = [texts[place] for place in todo]
                kept.add(dict(zip(some, self._sound(some, lengths[todo], way), strict=True)))
        self._progress(step, len(texts), len(texts))

    def _lengths(self, texts: Sequence[str]) -> NDArray[np.int64]:
        rows = self._tokenizer(list(texts), verbose=False)["input_ids"] if texts else []
        return np.fromiter(map(len, rows), np.int64, count=len(texts))

    def _sound(self, texts: Sequence[str], lengths: NDArray[np.int64], way: Way) -> list[Made]:
        """What the model makes of texts; an error of the library, as over a tokeniser that does not fit, in words."""
        try:
            return self._made(texts, lengths, way)
        except (IndexError, ValueError, RuntimeError) as error:
            raise SystemLoadError(f"{self.name}: loads, and cannot translate: {first_line(error)}") from error

    def _made(self, texts: Sequence[str], lengths: NDArray[np.int64], way: Way) -> list[Made]:
        found: dict[int, Made] = {}
        compute, limit = self._batch(texts, way), self._limit
        for batch in batches(lengths, room=self._room, most=MOST_TEXTS):
            for part, rows in halved(compute, batch, room=self._room, refuse=self._too_long):
                for place, (text, unfinished) in zip(part.tolist(), rows, strict=True):
                    found[place] = Made(text, limit is not None and int(lengths[place]) > limit, unfinished)
        return [found[place] for place in range(len(texts))]

    def _batch(self, texts: Sequence[str], way: Way) -> Callable[[Positions], list[tuple[str, bool]]]:
        def compute(part: Positions) -> list[tuple[str, bool]]:
            import torch

            model, tokenizer = self._model, self._tokenizer
            given = tokenizer(
                [f"{way.prefix}{texts[place]}" for place in part.tolist()],
                padding=True,
                truncation=self._limit is not None,
                max_length=self._limit,
                return_tensors="pt",
            ).to(model.device)
            first = {"forced_bos_token_id": tokenizer.convert_tokens_to_ids(way.first_token)} if way.first_token else {}
            with torch.inference_mode():
                made = model.generate(
                    input_ids=given["input_ids"],
                    attention_mask=given["attention_mask"],
                    num_beams=self._settings.beams,
                    do_sample=False,
                    max_length=None,
                    max_new_tokens=self._longest,
                    **first,
                )
            # What the decoder began with is no part of the translation; M2M-100 does not call its tags special.
            words = tokenizer.batch_decode(made[:, 2 if way.first_token else 1 :], skip_special_tokens=True)
            return list(zip(map(_line, words), self._stopped(made[:, 1:]), strict=True))

        return compute

    def _stopped(self, made: Any) -> list[bool]:
        """Which translations used every token they might without an end before the last."""
        ends = self._model.generation_config.eos_token_id
        known = set(ends if isinstance(ends, list) else [ends])
        return [len(row) >= self._longest and known.isdisjoint(row[:-1]) for row in made.tolist()]

    def _too_long(self, place: int) -> Exception:
        return SystemLoadError(f"{self.name}: the memory does not hold one text; what was translated is kept")


def _entry(name: str) -> Entry:
    """The model as the functions that load models know one."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        title = folder.resolve().name
        return Entry(title, title, title, "translation", "translator", folder=str(folder))
    if HUB.fullmatch(name):
        return Entry(name, name, name, "translation", "translator", model=name)
    raise InputError(f"translator {name!r}: no such folder, expected one of transformers or a model of the hub")


def _json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SystemLoadError(f"{path}: {first_line(error)}, expected the configuration of a model") from error
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
