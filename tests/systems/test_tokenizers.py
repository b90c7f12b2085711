"""What tokenisers see: vocabularies made here, in which a reader can look every token up."""

import json
import subprocess
import sys

import pytest

from analysis.errors import JobCancelledError, SystemLoadError
from analysis.model import silent
from analysis.systems import tokenizers
from analysis.systems.catalogue import entry
from analysis.systems.weights import LoadOptions

LOCAL = {"backend": "sentence-transformers", "dimension": 32}
FRAMES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def pieces(folder, *words, limit=None):
    """A WordPiece vocabulary of these words, as BERT has one: Kana and most Han are not in it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {token: place for place, token in enumerate([*FRAMES, *words])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(4)  # what the file says of cutting and padding is not asked
    tokenizer.enable_padding(length=9)
    return saved(folder, tokenizer, limit=limit)


def saved(folder, tokenizer, *, limit=None):
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    if limit:
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": limit}))
    return folder


def counted(system, texts, *, role="document", **options):
    found = tokenizers.count(system, texts, role=role, options=LoadOptions(**options))
    return {
        "tokens": found.tokens.tolist(),
        "unknown": None if found.unknown_tokens is None else found.unknown_tokens.tolist(),
        "characters": found.characters.tolist(),
        "hidden": None if found.unknown_characters is None else found.unknown_characters.tolist(),
        "cut": found.truncated.tolist(),
        "limit": found.limit,
    }


def test_kana_becomes_one_unknown_token_a_word_that_covers_all_of_it(extend_catalogue, tmp_path):
    folder = pieces(tmp_path / "model", "knee", "pain", "##ful", "痛")
    system = extend_catalogue("tiny", **LOCAL, folder=folder)
    texts = ["knee painful", "いたみ", "knee いたみ ひざ", "痛み", "", "Knee  Pain"]
    assert counted(system, texts) == {
        "tokens": [3, 1, 3, 2, 0, 2],  # pain ##ful are two; Han characters stand alone, Kana make a word
        "unknown": [0, 1, 2, 1, 0, 0],
        "characters": [11, 3, 9, 2, 0, 8],
        "hidden": [0, 3, 5, 1, 0, 0],
        "cut": [False] * 6,
        "limit": None,
    }


def test_texts_over_the_limit_are_cut_frame_and_prompt_counted(extend_catalogue, tmp_path):
    folder = pieces(tmp_path / "model", "knee", "pain", "query", ":", limit=5)
    prompts = {"query": "query: ", "document": ""}
    system = extend_catalogue("tiny", **LOCAL, folder=folder, prompts=prompts)
    texts = ["knee pain knee", "knee pain knee pain"]  # with [CLS] and [SEP] 5 and 6 tokens
    assert counted(system, texts)["cut"] == [False, True]
    asked = counted(system, texts, role="query")
    assert asked["cut"] == [True, True]  # two more
    assert (asked["tokens"], asked["limit"]) == ([3, 4], 5)  # the prompt is no part of a text
    assert counted(system, texts, max_length=6)["cut"] == [False, False]


def test_the_catalogue_limits_before_the_folder_and_the_folder_before_the_model(extend_catalogue, tmp_path):
    folder = pieces(tmp_path / "model", "knee")
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 512}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 1e30}))
    assert counted(extend_catalogue("model-says", **LOCAL, folder=folder), ["knee"])["limit"] == 512
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 128}))
    assert counted(extend_catalogue("folder-says", **LOCAL, folder=folder), ["knee"])["limit"] == 128
    system = extend_catalogue("catalogue-says", **LOCAL, folder=folder, max_length=64)
    assert counted(system, ["knee"])["limit"] == 64


def test_the_models_own_prompt_counts_where_the_catalogue_has_none(extend_catalogue, tmp_path):
    folder = pieces(tmp_path / "model", "knee", "passage", ":", limit=4)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"passage": "passage : "}}))
    system = extend_catalogue("tiny", **LOCAL, folder=folder)
    assert counted(system, ["knee"], role="document")["cut"] == [True]
    assert counted(system, ["knee"], role="query")["cut"] == [False]


def test_a_tokeniser_may_lie_in_the_folder_of_the_first_module(extend_catalogue, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    pieces(folder / "0_Transformer", "knee", limit=7)
    (folder / "modules.json").write_text(json.dumps([{"path": "0_Transformer"}, {"path": "1_Pooling"}]))
    found = counted(extend_catalogue("tiny", **LOCAL, folder=folder), ["knee ひざ"])
    assert (found["unknown"], found["limit"]) == ([1], 7)


def test_nothing_is_unknown_to_bytes(extend_catalogue, tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    alphabet = {letter: place for place, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    system = extend_catalogue("bytes", **LOCAL, folder=saved(tmp_path / "model", tokenizer))
    found = counted(system, ["ab", "み"])
    assert (found["tokens"], found["unknown"], found["hidden"]) == ([2, 3], None, None)  # み has three bytes


def test_a_unigram_vocabulary_that_falls_back_on_bytes_knows_all_and_one_that_does_not_does_not(
    extend_catalogue, tmp_path
):
    from tokenizers import Tokenizer, models, pre_tokenizers

    for name, fallback in (("plain", False), ("bytes", True)):
        vocabulary = [("<unk>", 0.0), ("▁knee", -1.0), ("▁", -2.0), *((f"<0x{byte:02X}>", -9.0) for byte in range(256))]
        tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=fallback))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        system = extend_catalogue(name, **LOCAL, folder=saved(tmp_path / name, tokenizer))
        found = counted(system, ["knee ひざ"])
        assert found["characters"] == [6]
        assert found["hidden"] == (None if fallback else [2])


def test_a_folder_without_a_tokeniser_is_an_error_in_one_sentence(extend_catalogue, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    with pytest.raises(SystemLoadError, match=r"tiny: its tokeniser in .*model cannot be read"):
        counted(extend_catalogue("tiny", **LOCAL, folder=tmp_path / "model"), ["knee"])
    with pytest.raises(SystemLoadError, match=r"gone: the folder .* does not exist"):
        counted(extend_catalogue("gone", **LOCAL, folder=tmp_path / "nowhere"), ["knee"])


def test_an_old_vocabulary_file_is_read_too(extend_catalogue, tmp_path):
    """vocab.txt alone, as many BERT models have it."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join([*FRAMES, "knee", "pain", "##ful"]), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "max_position_embeddings": 48}))
    found = counted(extend_catalogue("tiny", **LOCAL, folder=folder), ["knee painful", "ひざ"])
    assert (found["tokens"], found["unknown"], found["limit"]) == ([3, 1], [0, 1], 48)


def test_use_says_what_it_does_not_know():
    found = counted(entry("use-multilingual-v3"), ["knee pain", "knee \ue000 pain", "", "  "])
    assert found["unknown"] == [0, 1, 0, 0]
    assert found["hidden"] == [0, 1, 0, 0]
    assert found["characters"] == [8, 9, 0, 0]
    assert found["tokens"][2:] == [0, 0]
    assert (found["cut"], found["limit"]) == ([False] * 4, None)  # it reads whole texts


def test_an_engine_that_tells_nothing_says_so():
    assert tokenizers.count(entry("multilingual-e5-small"), ["knee"], role="query") is None


def test_all_minilm_does_not_know_japanese():
    english, japanese = "The patient has a high fever.", "患者は高熱があります。"
    found = counted(entry("all-minilm-l6-v2"), [english, japanese])
    assert found["unknown"][0] == 0
    assert found["hidden"][1] / found["characters"][1] > 0.1
    assert found["limit"] == 256


def test_no_weights_and_no_torch_are_loaded():
    code = (
        "from analysis.systems import tokenizers; from analysis.systems.catalogue import entry; import sys\n"
        "for name in ('all-minilm-l6-v2', 'use-multilingual-v3'):\n"
        "    tokenizers.count(entry(name), ['knee'], role='query')\n"
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_can_be_cancelled_between_batches():
    def cancel(step, done, total):
        assert step == "tokens of all-MiniLM"
        if done:
            raise JobCancelledError("cancelled")

    with pytest.raises(JobCancelledError):
        tokenizers.count(entry("all-minilm-l6-v2"), ["knee"] * 2049, role="query", progress=cancel)
    assert len(tokenizers.count(entry("all-minilm-l6-v2"), [], role="query", progress=silent).tokens) == 0
