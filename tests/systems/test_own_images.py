"""Systems that see images: what a table may say of them, and those that a reader adds."""

import json
import shutil

import pytest

from analysis.errors import InputError, SystemLoadError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.systems import catalogue, encoders, model_files, own
from analysis.systems.assemble import build
from analysis.systems.readiness import readiness
from analysis.systems.weights import LoadOptions
from tests.systems import tiny_models

TABLE = """
[{name}]
title = "X"
short_title = "X"
paradigm = "multimodal dense"
kind = "dense"
backend = "sentence-transformers"
model = "org/{name}"
dimension = 8
{more}
"""
SEEING = TABLE.format(name="seen", more='reads = "text"')


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    tiny_models.clip(folder, dimension=24)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A cache folder, and no models of the reader's own."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path / "models"))
    return tmp_path


FAULTS = [
    ('reads = "pictures"', "reads = 'pictures': expected one of text, image, text-image-mean"),
    ('images = "seen"', "reads is missing"),
    ('reads = "text"\nimages = "nothing"', "images = 'nothing': expected the name of a table that sees images"),
    ('reads = "text"\nimages = "x"', "images = 'x': expected the name of a table that sees images"),
    ('reads = "text"\nimages = "wide"', "images = 'wide': expected the name of a table that sees images, in the same"),
]


@pytest.mark.parametrize(("more", "fault"), FAULTS)
def test_what_a_table_may_not_say(tmp_path, more, fault):
    path = tmp_path / "c.toml"
    wide = TABLE.format(name="wide", more='reads = "text"').replace("dimension = 8", "dimension = 9")
    blind = TABLE.format(name="x", more="")
    path.write_text(SEEING + wide + (blind if "'x'" in fault else "") + TABLE.format(name="two", more=more))
    with pytest.raises(InputError) as error:
        catalogue.catalogue(path)
    assert str(error.value).startswith(f"{path}: [two] {fault}")


def test_token_vectors_are_not_taken_of_what_sees(tmp_path):
    path = tmp_path / "c.toml"
    late = SEEING.replace("[seen]", "[late]").replace('kind = "dense"', 'kind = "late-interaction"\nparts = ["seen"]')
    kept = [line for line in late.splitlines() if not line.startswith(("backend", "model", "dimension", "reads"))]
    path.write_text(SEEING + "\n".join(kept))
    with pytest.raises(InputError, match="one dense system of the backend sentence-transformers, for texts alone"):
        catalogue.catalogue(path)


def test_a_clip_folder_says_what_it_is(clip):
    assert model_files.read_folder(clip) == {"dimension": 24, "max_length": 77, "reads": "text"}
    bare = clip / "0_CLIPModel"  # as transformers saves it: the library finds both towers by itself
    assert model_files.read_folder(bare) == {"dimension": 24, "max_length": 77, "reads": "text"}
    assert model_files.pools(bare)


@pytest.mark.parametrize("inner", ["", "0_CLIPModel"])
def test_a_clip_model_is_added_and_loads(clip, inner):
    entry = own_systems.add(NewSystem("mine", folder=clip / inner, reads="text-image-mean"))
    assert own.described(entry) == (
        "multimodal dense, 24 dimensions, pooling as its files say, no query prompt, no document prompt, 77 tokens, "
        "reads a query's text and image, their mean"
    )
    encoder = encoders.load(entry, LoadOptions(offline=True))
    assert (encoder.dimension, encoder.sees) == (24, True)
    assert catalogue.needs_images(build("mine").entry)
    with pytest.raises(SystemLoadError, match="max_length = 99: the model reads 77 tokens"):
        encoders.load(entry, LoadOptions(offline=True, max_length=99))


def test_without_a_word_the_text_of_a_query_is_read(clip):
    assert own_systems.add(NewSystem("mine", folder=clip)).reads == "text"
    assert (
        own_systems.add(NewSystem("hub", model="org/clip", dimension=24, reads="image")).paradigm == "multimodal dense"
    )
    named = own_systems.add(NewSystem("named", folder=clip, paradigm="multilingual dense"))
    assert named.paradigm == "multilingual dense"


def test_a_text_model_needs_another_for_images(clip, tiny_model):
    texts = tiny_model("bert")
    with pytest.raises(InputError, match=r"--reads image: .* encodes texts alone; expected --images SYSTEM"):
        own_systems.add(NewSystem("texts", folder=texts, pooling="mean", reads="image"))
    with pytest.raises(InputError, match=r"images = 'clip': expected the name of a table that sees images, in "):
        own_systems.add(NewSystem("texts", folder=texts, pooling="mean", images="clip"))
    seeing = clip.parent / "wide"
    tiny_models.clip(seeing, dimension=32)
    own_systems.add(NewSystem("clip", folder=seeing))
    both = own_systems.add(NewSystem("texts", folder=texts, pooling="mean", images="clip", reads="image"))
    assert [tower.folder for tower in catalogue.towers(both)] == [str(texts), str(seeing)]
    assert catalogue.settings(both)["parts"]["clip"]["dimension"] == 32
    with pytest.raises(InputError, match="system 'clip': texts is composed of it; remove that first"):
        own_systems.remove("clip")
    assert readiness(both).runs
    shutil.rmtree(seeing)
    assert readiness(both).missing == f"the folder {seeing} is not there"


def test_one_folder_at_home_serves_every_table_of_its_model(clip, home):
    shutil.copytree(clip, home / "models" / "clip-vit-b-32")
    folder = str(home / "models" / "clip-vit-b-32")
    for name in ("clip-vit-b-32", "clip-vit-b-32-image", "clip-vit-b-32-text-image"):
        entry = catalogue.entry(name)
        assert (entry.folder, entry.revision, entry.sha256) == (folder, None, None)
    two = catalogue.entry("clip-vit-b-32-multilingual")
    assert two.folder is None
    assert readiness(two).missing == "CLIP multilingual text (0.5 GB) is to be downloaded"
    before = catalogue.fingerprint(catalogue.entry("clip-vit-b-32-image"))
    file = home / "models" / "clip-vit-b-32" / "0_CLIPModel" / "preprocessor_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"do_center_crop": False}))  # sees more of an image
    assert catalogue.fingerprint(catalogue.entry("clip-vit-b-32-image")) != before
