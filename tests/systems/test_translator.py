"""Translation models through the real loading path: what each is told, what it makes, and what is kept of it."""

import json
import shutil
from types import SimpleNamespace

import pytest
from tiny_translators import marian, nllb, t5

from analysis.errors import InputError, JobCancelledError, SystemLoadError
from analysis.model import silent
from analysis.systems import translator
from analysis.systems.language_codes import Way, languages_of
from analysis.systems.translator import Settings, Translators
from analysis.systems.weights import LoadOptions

TEXTS = ["what is it?", "a", "why are there so many of them", "a", "Who keeps HIV-1 and HbA1c", ""]
LONGEST = 6


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("translators")
    for name in ("pair", "tagged", "many", "tasks", "madlad", "silent"):
        (root / name).mkdir()
    marian(root / "pair", source_lang="en", target_lang="es")
    marian(root / "tagged", tokens=(">>spa<<", ">>fra<<"), source_lang="eng", target_lang="roa")
    nllb(root / "many")
    t5(root / "tasks", tasks={"translation_en_to_de": {"prefix": "translate English to German: "}, "summarization": {}})
    t5(root / "madlad", tokens=("<2es>", "<2en>", "<2zh>"))
    marian(root / "silent")
    return root


def made(root, *names, beams=2, longest=LONGEST, room=3072, progress=silent, kept=None):
    settings, load = Settings(beams, longest, room), LoadOptions(offline=True, threads=1)
    folders = [str(root / name) for name in names]
    return Translators(
        folders,
        kept or root / "kept",
        settings=settings,
        load=load or LoadOptions(offline=True, threads=1),
        progress=progress,
    )


def by_hand(folder, texts, *, beams, source=None, first=None, prefix=""):
    """Texts by transformers alone, one after the other."""
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    if source:
        tokenizer.src_lang = source
    told = {"num_beams": beams, "do_sample": False, "max_new_tokens": LONGEST, "max_length": None}
    told |= {"forced_bos_token_id": tokenizer.convert_tokens_to_ids(first)} if first else {}
    for text in texts:
        given = tokenizer(prefix + text, return_tensors="pt")
        found = model.generate(**{name: given[name] for name in ("input_ids", "attention_mask")}, **told)
        yield " ".join(tokenizer.decode(found[0], skip_special_tokens=True).split())


@pytest.mark.parametrize(
    ("name", "beams", "pair", "told"),
    [
        ("pair", 3, ("en", "es"), {}),
        ("tagged", 1, ("en", "fr"), {"prefix": ">>fra<< "}),
        ("many", 1, ("zh", "ja"), {"source": "zho_Hans", "first": "jpn_Jpan"}),
        ("many", 2, ("en", "es"), {"source": "eng_Latn", "first": "spa_Latn"}),
        ("tasks", 1, ("en", "de"), {"prefix": "translate English to German: "}),
        ("madlad", 2, ("ja", "zh"), {"prefix": "<2zh> "}),
    ],
)
def test_translations_are_those_of_the_library(models, tmp_path, name, beams, pair, told):
    found = made(models, name, beams=beams, kept=tmp_path).translate(TEXTS[:3], source=pair[0], target=pair[1])
    assert found == list(by_hand(models / name, TEXTS[:3], beams=beams, **told))
    assert len(set(found)) > 1


def test_the_order_and_the_number_of_texts_change_nothing(models, tmp_path):
    several = made(models, "many", kept=tmp_path / "a").translate(TEXTS, source="en", target="es")
    assert several[1] == several[3]
    alone = made(models, "many", room=1, kept=tmp_path / "b")
    assert [alone.translate([text], source="en", target="es")[0] for text in reversed(TEXTS)] == several[::-1]


def test_what_was_translated_is_not_translated_again(models, tmp_path, monkeypatch):
    first = made(models, "pair", kept=tmp_path).translate(TEXTS, source="en", target="es")
    copied = shutil.copytree(models / "pair", tmp_path / "renamed")
    monkeypatch.setattr("analysis.systems.translator.load_report", lambda: pytest.fail("the model was loaded"))
    assert made(copied.parent, "renamed", kept=tmp_path).translate(TEXTS, source="en", target="es") == first
    (space,) = [path for path in tmp_path.iterdir() if (path / "space.json").is_file()]
    assert json.loads((space / "space.json").read_text())["beams"] == 2
    (rows,) = space.glob("*.jsonl")
    rows.write_bytes(rows.read_bytes().replace(b"[", b"[ ", 1))  # damaged: translated again
    with pytest.raises(pytest.fail.Exception, match="was loaded"):
        made(copied.parent, "renamed", kept=tmp_path).translate(TEXTS, source="en", target="es")


def test_a_cancelled_translation_goes_on_where_it_stopped(models, tmp_path, monkeypatch):
    monkeypatch.setattr(translator, "CHUNK", 2)

    def cancel(step, done, total):
        if done >= 2:
            raise JobCancelledError("cancelled")

    with pytest.raises(JobCancelledError):
        made(models, "many", kept=tmp_path / "a", progress=cancel).translate(TEXTS, source="en", target="es")
    heard, batches = [], []
    going_on = made(models, "many", kept=tmp_path / "a", progress=lambda *told: heard.append(told))
    model = going_on._models[0]
    compute = model._made
    monkeypatch.setattr(model, "_made", lambda texts, *rest: batches.append(texts) or compute(texts, *rest))
    found = going_on.translate(TEXTS, source="en", target="es")
    assert found == made(models, "many", kept=tmp_path / "b").translate(TEXTS, source="en", target="es")
    assert sorted(map(len, batches)) == [1, 2]  # of five texts two were kept
    assert heard[0] == ("translate en into es", 0, 5)
    assert heard[-1] == ("translate en into es", 5, 5)


def test_a_batch_that_does_not_fit_is_halved(models, tmp_path):
    whole = made(models, "pair", kept=tmp_path / "a").translate(TEXTS, source="en", target="es")
    short = made(models, "pair", kept=tmp_path / "b")
    model = short._models[0]._model
    generate, sizes = model.generate, []

    def narrow(**given):
        sizes.append(len(given["input_ids"]))
        if sizes[-1] > most:
            raise RuntimeError("CUDA out of memory: told by the test")
        return generate(**given)

    model.generate, most = narrow, 2
    assert short.translate(TEXTS, source="en", target="es") == whole
    assert sizes[0] == 5
    assert max(sizes[2:]) <= 3
    most = 0
    with pytest.raises(SystemLoadError, match="pair: the memory does not hold one text"):
        short.translate(["another text"], source="en", target="es")


def test_what_is_cut_and_what_does_not_end_is_counted(models, tmp_path):
    found = made(models, "pair", kept=tmp_path, longest=2)
    found.translate(["a" * 39, "a" * 40, "b"], source="en", target="es")  # 40 tokens fit, with the one at the end
    assert found.cut == 1
    assert found.unfinished == 3


def test_several_models_are_one_translator(models, tmp_path):
    both = made(models, "pair", "many", kept=tmp_path)
    assert both.name == "pair and many"
    both.check(source="en", target="es")
    alone = made(models, "pair", kept=tmp_path).translate(TEXTS[:2], source="en", target="es")
    assert both.translate(TEXTS[:2], source="en", target="es") == alone  # the first that knows the pair
    there = made(models, "many", kept=tmp_path).translate(TEXTS[:2], source="es", target="en")
    assert both.translate(TEXTS[:2], source="es", target="en") == there


@pytest.mark.parametrize(
    ("name", "pair", "says"),
    [
        ("pair", ("es", "en"), "does not translate Spanish (es) into English (en); it translates en into es"),
        ("tagged", ("en", "ja"), "into Japanese (ja); it translates from en into es, fr"),
        ("many", ("en", "ru"), "into Russian (ru); it translates between en, es, ja, zh"),
        ("tasks", ("de", "en"), "it translates en into de"),
        ("madlad", ("en", "ru"), "it translates into en, es, zh"),
    ],
)
def test_a_language_that_a_model_lacks_is_refused(models, name, pair, says):
    with pytest.raises(InputError) as refusal:
        made(models, name).check(source=pair[0], target=pair[1])
    assert says in str(refusal.value)


def test_a_model_that_names_no_language_or_has_a_name_of_a_pair(models, tmp_path):
    with pytest.raises(InputError, match="translator silent: neither its vocabulary nor its configuration names"):
        made(models, "silent")
    shutil.copytree(models / "silent", tmp_path / "opus-mt-fr-en")
    made(tmp_path, "opus-mt-fr-en").check(source="fr", target="en")


def test_codes_of_m2m_100_and_mbart():
    """As their tokenisers name them; those themselves need a package that is not installed."""
    kept_apart = SimpleNamespace(
        get_vocab=lambda: {"a": 0, "__b__c": 1},
        lang_token_to_id={"__en__": 2, "__ja__": 3, "__ns__": 4, "__zh__": 5},
        src_lang="en",
    )
    many = languages_of("m2m", kept_apart, {})
    assert many.way("en", "ja") == Way("", "en", "__ja__")
    assert many.way("en", "ko") is None
    tagged = SimpleNamespace(get_vocab=lambda: {"en_XX": 0, "pt_XX": 1, "zh_CN": 2, "_XX": 3}, src_lang="en_XX")
    assert languages_of("mbart", tagged, {}).way("pt", "zh") == Way("", "pt_XX", "zh_CN")


def test_what_does_not_load_is_said(models, tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        made(models, "nowhere")
    with pytest.raises(SystemLoadError, match=r"--offline asks no hub; .*hf download no/where .*\*\.spm"):
        Translators(["no/where"], tmp_path, settings=Settings(1), load=LoadOptions(offline=True))
    with pytest.raises(InputError, match="beams 0: expected 1 or more"):
        Settings(0)
    pickled = shutil.copytree(models / "pair", tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(SystemLoadError, match="is a pickle; only safetensors are loaded"):
        made(tmp_path, "pickled")
    lacking = shutil.copytree(models / "pair", tmp_path / "lacking")
    from safetensors.torch import load_file, save_file

    weights = load_file(lacking / "model.safetensors")
    name = next(name for name in weights if name.endswith("fc1.weight"))
    save_file({key: value for key, value in weights.items() if key != name}, lacking / "model.safetensors")
    with pytest.raises(SystemLoadError, match="the files lack 1 of the model's weights"):
        made(tmp_path, "lacking", kept=tmp_path / "kept").translate(["a"], source="en", target="es")
