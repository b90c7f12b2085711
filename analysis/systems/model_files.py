"""What the files of a model say of it: dimension, pooling, prompts; of a cross-encoder what becomes of its scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.systems.catalogue import hub_folder
from analysis.systems.entry import POOLINGS, READS

_MODES = {"mean": "mean", "cls": "cls", "lasttoken": "last", "max": "max"}
_DOCUMENT = ("document", "passage", "corpus")
SHIPPED = "config_sentence_transformers.json"


def read_folder(folder: Path) -> dict[str, object]:
    """Settings that a model folder of sentence-transformers or transformers carries: only those it says.

    Raises:
        InputError: the folder does not exist, holds no safetensors or a cross-encoder, or a file of it is not JSON.
    """
    found: dict[str, object] = {}
    own = _config(folder)
    if _reads_pairs(folder, own):
        what = "reads a query and a document together: it is a cross-encoder (--cross-encoder)"
        raise InputError(f"folder {folder}: its model {what}")
    hidden = own.get("hidden_size") or _part(own, "text_config").get("hidden_size")
    if hidden:
        found["dimension"] = hidden
    if sees(folder):
        found |= _of_two_towers(own)
    for module in _modules(folder):
        found |= _of_module(folder, module)
    prompts = _prompts(_part(_json(folder / SHIPPED), "prompts"))
    return found | ({"prompts": prompts} if prompts else {})


def score_activation(folder: Path) -> str:
    """What a cross-encoder puts its scores through, as its folder says: ``sigmoid``, ``identity`` or another's name.

    Raises:
        InputError: the folder does not exist, holds no safetensors or another sort of model, gives several scores a
            pair, or a file of it is not JSON.
    """
    own, shipped = _config(folder), _json(folder / SHIPPED)
    if not _reads_pairs(folder, own):
        raise InputError(f"folder {folder}: its model gives no score to a pair: it is no cross-encoder")
    labels = own.get("num_labels") or len(_part(own, "id2label")) or 2  # the default is not written
    if _scores_classes(own) and labels != 1:
        raise InputError(f"folder {folder}: its model gives {labels} scores a pair, expected one")
    told = (
        shipped.get("activation_fn"),
        _part(own, "sentence_transformers").get("activation_fn"),
        own.get("sbert_ce_default_activation_function"),
    )
    trusted = [str(name) for name in told if str(name).startswith("torch.")]  # the library takes no other unasked
    return trusted[0].rsplit(".", maxsplit=1)[-1].lower() if trusted else "sigmoid"


def names(folder: Path) -> tuple[str, ...]:
    """What a model folder may be told by: its own name, and the model's that it was made of where it says so."""
    told = _json(folder / "config.json").get("_name_or_path")
    return (folder.name, *([told] if isinstance(told, str) else []))


def _config(folder: Path) -> Mapping[str, Any]:
    if not folder.is_dir():
        raise InputError(f"folder {folder}: does not exist")
    if not any(folder.rglob("*.safetensors")):
        raise InputError(f"folder {folder}: expected weights in .safetensors; no other weights are loaded")
    return _configuration(folder)


def _reads_pairs(folder: Path, own: Mapping[str, Any]) -> bool:
    """Whether a folder holds a cross-encoder: it says so, or has a head for scores and nothing that pools."""
    told = _json(folder / SHIPPED).get("model_type")
    pooled = any(_sort(module) == "Pooling" for module in _modules(folder))
    return told == "CrossEncoder" or (_scores_classes(own) and not pooled)


def _scores_classes(own: Mapping[str, Any]) -> bool:
    told = own.get("architectures")
    return isinstance(told, list) and any(str(name).endswith("ForSequenceClassification") for name in told)


def pools(folder: Path) -> bool:
    """Whether a model folder says how token vectors become one: sentence-transformers would take their mean unasked."""
    return bool(_modules(folder)) or (sees(folder) and "projection_dim" in _configuration(folder))


def sees(folder: Path) -> bool:
    """Whether the model of a folder encodes images, as CLIP does."""
    own = _configuration(folder)
    return "vision_config" in own and "text_config" in own


def _configuration(folder: Path) -> Mapping[str, Any]:
    """The configuration of a model, in the folder or in that of its first module."""
    first = next((str(module.get("path", "")) for module in _modules(folder)), "")
    found: Mapping[str, Any] = _json(folder / "config.json") or _json(folder / first / "config.json")
    return found


def _of_two_towers(own: Mapping[str, Any]) -> dict[str, object]:
    """What a model that sees images says: where both towers project to, and how many tokens the text's one reads."""
    found: dict[str, object] = {"reads": READS[0]}
    if "projection_dim" in own:
        found["dimension"] = own["projection_dim"]
        longest = _part(own, "text_config").get("max_position_embeddings", 77 if own.get("model_type") == "clip" else 0)
        found |= {"max_length": longest} if longest else {}
    return found


def hub_copy(model: str, revision: str | None) -> Path | None:
    """The folder of a hub model where this machine has it, without asking the hub."""
    home = hub_folder(model)
    named = home / "refs" / (revision or "main")
    commit = named.read_text(encoding="utf-8").strip() if named.is_file() else revision or ""
    folder = home / "snapshots" / commit
    return folder if commit and folder.is_dir() else None


def _modules(folder: Path) -> list[Mapping[str, Any]]:
    found = _json(folder / "modules.json", kind=list)
    return [module for module in found if isinstance(module, dict)]


def _of_module(folder: Path, module: Mapping[str, Any]) -> dict[str, object]:
    sort = _sort(module)
    config = _json(folder / str(module.get("path", "")) / "config.json")
    if sort == "Dense" and config.get("out_features"):
        return {"dimension": config["out_features"]}
    if sort != "Pooling":
        return {}
    width = config.get("embedding_dimension") or config.get("word_embedding_dimension")
    modes = _pooling_modes(config)
    found: dict[str, object] = {"dimension": width * len(modes)} if isinstance(width, int) and modes else {}
    if len(modes) == 1 and modes[0] in POOLINGS:
        found["pooling"] = modes[0]
    return found


def _sort(module: Mapping[str, Any]) -> str:
    return str(module.get("type", "")).rsplit(".", maxsplit=1)[-1]


def _pooling_modes(config: Mapping[str, Any]) -> list[str]:
    """The modes in the newer form (``pooling_mode``) or the older one, a switch each."""
    told = config.get("pooling_mode")
    if told:
        modes = [told] if isinstance(told, str) else list(told)
    else:
        start = "pooling_mode_"
        modes = [key.removeprefix(start) for key, value in config.items() if key.startswith(start) and value is True]
    return [_MODES.get(mode.removesuffix("_token").removesuffix("_tokens"), mode) for mode in modes]


def _prompts(own: Mapping[str, Any]) -> dict[str, str]:
    document = next((str(own[name]) for name in _DOCUMENT if own.get(name)), None)
    found = {"query": own.get("query"), "document": document}
    return {role: str(prompt) for role, prompt in found.items() if prompt}


def _part(own: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = own.get(key)
    return part if isinstance(part, dict) else {}


def _json(file: Path, *, kind: type = dict) -> Any:
    """What a file says, or nothing where it is not there."""
    if not file.is_file():
        return kind()
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not JSON: {error}") from error
    if not isinstance(found, kind):
        raise InputError(f"{file}: expected {'an object' if kind is dict else 'a list'}")
    return found
