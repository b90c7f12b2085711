"""Tiny random seq2seq models in the layouts of Marian, NLLB, T5 and MADLAD, one token a character."""

from __future__ import annotations

import json
import string

CHARACTERS = [*string.ascii_letters, *string.digits, "?", ".", "-"]
SMALL = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 40,
    "init_std": 1.0,  # translations that differ, as those of a trained model do
}


def _plain(folder, tokens=(), **told):
    """A tokeniser of one token a character, and of the tokens named; returns the size of its vocabulary."""
    import transformers
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

    vocabulary = {token: n for n, token in enumerate(["<pad>", "</s>", "<unk>", *CHARACTERS, " ", *tokens])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", **told
    )
    tokenizer.add_special_tokens({"additional_special_tokens": list(tokens)})
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def marian(folder, *, tokens=(), **told):
    """A model of one pair, or with a tag for each target."""
    import torch
    import transformers

    torch.manual_seed(3)
    ends = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "forced_eos_token_id": 1}
    config = transformers.MarianConfig(vocab_size=_plain(folder, tokens, **told), **SMALL, **ends)
    transformers.MarianMTModel(config).save_pretrained(folder)
    return folder


def nllb(folder):
    """A model of four languages, each way."""
    import torch
    import transformers

    torch.manual_seed(6)
    vocabulary = {token: n for n, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *CHARACTERS, "▁"])}
    codes = ["eng_Latn", "jpn_Jpan", "spa_Latn", "zho_Hans"]
    tokenizer = transformers.NllbTokenizer(vocab=vocabulary, merges=[], additional_special_tokens=codes)
    tokenizer.save_pretrained(folder)
    ends = {"pad_token_id": 1, "eos_token_id": 2, "bos_token_id": 0, "decoder_start_token_id": 2}
    config = transformers.M2M100Config(vocab_size=len(tokenizer), **SMALL, **ends)
    transformers.M2M100ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def t5(folder, *, tokens=(), tasks=None):
    """A model that is told its task before the text: by a prefix of its configuration, or by a tag of the target."""
    import torch
    import transformers

    torch.manual_seed(5)
    small = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "initializer_factor": 3.0}
    ends = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config = transformers.T5Config(vocab_size=_plain(folder, tokens), **small, **ends)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | ({"task_specific_params": tasks} if tasks else {})))
    return folder
