"""Tiny random models in the folder layouts of the hub, one token a character: no blank of a prompt is lost."""

from __future__ import annotations

import json
import string
from pathlib import Path

FRAMES = {"bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]"), "nomic": ("<pad>", "<unk>", "<s>", "</s>")}


def tokenizer(folder: Path, *, architecture: str) -> int:
    """Saves a tokeniser of characters; returns the size of its vocabulary."""
    import transformers
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

    pad, unknown, start, end = FRAMES.get(architecture, FRAMES["nomic"])
    characters = [*string.ascii_letters, *string.digits, *string.punctuation, " ", "\n"]
    vocabulary = {token: i for i, token in enumerate([start, pad, end, unknown, *characters])}  # XLM-R's order
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    made.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    last_only = architecture == "qwen3"
    made.post_processor = processors.TemplateProcessing(
        single=f"$A {end}" if last_only else f"{start} $A {end}",
        pair=f"{start} $A {end} {end} $B {end}",
        special_tokens=[(token, vocabulary[token]) for token in (start, end)],
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token=pad,
        unk_token=unknown,
        cls_token=start,
        sep_token=end,
        padding_side="left" if last_only else "right",
    ).save_pretrained(folder)
    return len(vocabulary)


_AS_IN_EMBEDDINGGEMMA = {
    "use_bidirectional_attention": True,
    "num_hidden_layers": 2,
    "layer_types": ["sliding_attention", "full_attention"],
    "sliding_window": 16,
}


def backbone(folder: Path, *, architecture: str, dimension: int, positions: int) -> None:
    """Saves one layer of random weights in single precision, with its tokeniser: a folder of transformers."""
    import torch
    import transformers as t

    size = tokenizer(folder, architecture=architecture)
    torch.manual_seed(7)
    small = {"hidden_size": dimension, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
    learned = {"vocab_size": size, "pad_token_id": 1, "max_position_embeddings": positions, **small}
    grouped = {"vocab_size": size, "pad_token_id": 1, "num_key_value_heads": 2, "head_dim": 16, **small}
    model = {
        "bert": lambda: t.BertModel(t.BertConfig(**learned)),
        "xlm-roberta": lambda: t.XLMRobertaModel(t.XLMRobertaConfig(**learned)),
        "mpnet": lambda: t.MPNetModel(t.MPNetConfig(**learned)),
        "distilbert": lambda: t.DistilBertModel(
            t.DistilBertConfig(
                vocab_size=size,
                pad_token_id=1,
                max_position_embeddings=positions,
                dim=dimension,
                hidden_dim=32,
                n_layers=1,
                n_heads=4,
            )
        ),
        "qwen3": lambda: t.Qwen3Model(t.Qwen3Config(**grouped)),
        "gemma3": lambda: t.Gemma3TextModel(t.Gemma3TextConfig(**grouped | _AS_IN_EMBEDDINGGEMMA)),
        "pairs": lambda: t.XLMRobertaForSequenceClassification(t.XLMRobertaConfig(num_labels=1, **learned)),
        "nomic": lambda: t.BertModel(t.BertConfig(**learned)),
    }[architecture]()
    if architecture == "pairs":
        model.classifier.out_proj.weight.data *= 300  # scores that differ, as those of a trained model do
    model.save_pretrained(folder)


def shipped(plain: Path, folder: Path, *, pooling: str, dimension: int, **more: object) -> None:
    """The same model as a folder of sentence-transformers, with what stands after its pooling.

    A projection has a bias where it has an activation: as LaBSE's with, as EmbeddingGemma's without.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    torch.manual_seed(8)
    widths, activation = more.get("projections", []), getattr(torch.nn, str(more.get("activation", "Identity")))
    projections = [
        Dense(wide, narrow, bias=activation is not torch.nn.Identity, activation_function=activation())
        for wide, narrow in zip([dimension, *widths], widths, strict=False)
    ]
    first = Transformer(str(plain), max_seq_length=more.get("limit"))
    model = SentenceTransformer(modules=[first, Pooling(dimension, pooling), *projections, Normalize()])
    model.prompts = more.get("prompts", {})
    model.save(str(folder), create_model_card=False)


SIDE = 32
"""Pixels of the square that the tiny CLIP sees."""


def clip(folder: Path, *, dimension: int, seed: int = 3) -> Path:
    """Saves a tiny CLIP as the hub has clip-ViT-B-32: one module in a folder of its own. Returns that."""
    import torch
    import transformers as t
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

    start, end = "<|startoftext|>", "<|endoftext|>"
    characters = [*string.ascii_letters, *string.digits, *string.punctuation, " ", "\n", start, end]
    vocabulary = {token: i for i, token in enumerate(characters)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=end))
    made.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    made.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", special_tokens=[(token, vocabulary[token]) for token in (start, end)]
    )
    tokens = t.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=end, unk_token=end, bos_token=start, eos_token=end
    )
    inner = folder / "0_CLIPModel"
    tokens.save_pretrained(inner)
    levels = {"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711]}
    steps = dict.fromkeys(["do_center_crop", "do_normalize", "do_resize"], True)
    seen = {"feature_extractor_type": "CLIPFeatureExtractor", "crop_size": SIDE, "size": SIDE, "resample": 3}
    (inner / "preprocessor_config.json").write_text(json.dumps(seen | levels | steps))  # as old as the hub's
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
    ids = {"bos_token_id": vocabulary[start], "eos_token_id": vocabulary[end], "pad_token_id": vocabulary[end]}
    text = {"vocab_size": len(vocabulary), "max_position_embeddings": 77, **ids, **small}
    torch.manual_seed(seed)
    config = t.CLIPConfig(
        text_config=text, vision_config={"image_size": SIDE, "patch_size": 8, **small}, projection_dim=dimension
    )
    t.CLIPModel(config).save_pretrained(inner)
    module = {"idx": 0, "name": "0", "path": inner.name, "type": "sentence_transformers.models.CLIPModel"}
    (folder / "modules.json").write_text(json.dumps([module]))
    return inner


CODE = """
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel


class NomicBertConfig(BertConfig):
    model_type = "nomic_bert"


class NomicBertModel(BertModel):
    config_class = NomicBertConfig

    @classmethod
    def from_pretrained(cls, folder, config=None, **rest):
        model = cls(config, add_pooling_layer=False)
        model.load_state_dict(load_file(f"{folder}/model.safetensors"), strict=False)
        return model
"""
"""Reads its weights itself and does not say which it lacked, as the code of Nomic's repository does."""


def with_code_of_its_own(folder: Path, hub: Path, *, repository: str, revision: str) -> None:
    """Turns a BERT folder into one whose class lies in a second repository of the hub's cache, as Nomic's does."""
    config = json.loads((folder / "config.json").read_text())
    names = {"AutoConfig": "NomicBertConfig", "AutoModel": "NomicBertModel"}
    config["auto_map"] = {auto: f"{repository}--modeling_hf_nomic_bert.{name}" for auto, name in names.items()}
    config |= {"model_type": "nomic_bert", "architectures": ["NomicBertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    home = hub / f"models--{repository.replace('/', '--')}"
    (home / "snapshots" / revision).mkdir(parents=True)
    (home / "refs").mkdir()
    (home / "snapshots" / revision / "modeling_hf_nomic_bert.py").write_text(CODE)


LANGUAGES = ("en_XX", "fr_XX", "de_DE", "zh_CN", "zh_TW")
METADATA = {
    **{"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 32, "doc_maxlen": 256},
    **{"attend_to_mask_tokens": True, "mask_punctuation": True, "dim": 128, "similarity": "cosine"},
}


def colbert(folder: Path, *, architecture: str = "xmod", **metadata: object) -> None:
    """Saves a random ColBERT model as its authors do: projection and encoder in one file, settings beside it.

    Without a mask and markers in the vocabulary, as X-MOD's has only the first of them; BERT's has all three.
    """
    import torch
    import transformers as t
    from safetensors.torch import save_file

    size = tokenizer(folder, architecture=architecture)
    made = t.AutoTokenizer.from_pretrained(folder)
    roman = architecture == "bert"
    size += made.add_special_tokens({"mask_token": "[MASK]" if roman else "<mask>"})
    size += made.add_tokens(["[unused0]", "[unused1]"]) if roman else 0
    made.save_pretrained(folder)
    torch.manual_seed(9)
    small = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    learned = {"vocab_size": size, "pad_token_id": 1, "max_position_embeddings": 514, **small}
    modular = {"adapter_reuse_layer_norm": True, "languages": LANGUAGES, "default_language": "en_XX"}
    model = t.BertModel(t.BertConfig(**learned)) if roman else t.XmodModel(t.XmodConfig(**learned, **modular))
    for name, weights in model.named_parameters():
        if "adapter_modules" in name:
            weights.data *= 20  # adapters that differ, as trained ones do
    folder.mkdir(exist_ok=True)
    prefix = "bert" if roman else "roberta"
    weights = {f"{prefix}.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
    weights["linear.weight"] = torch.randn(128, 64)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict() | {"architectures": ["HF_ColBERT"]}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "artifact.metadata").write_text(json.dumps({**METADATA, **metadata}))
