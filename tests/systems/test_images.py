"""Models that see images: a tiny random CLIP driven through the catalogue's tables, against a calculation by hand."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image as Pillow
from PIL import ImageDraw

from analysis.errors import InputError, SystemLoadError, SystemRefusedError
from analysis.model import Corpus, Image, Questions
from analysis.paths import Cache
from analysis.systems import catalogue, encoders, images
from analysis.systems.assemble import build
from analysis.systems.entry import Prompts
from analysis.systems.live import open_live
from analysis.systems.multimodal import Multimodal
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from tests.systems import tiny_models
from tests.systems.test_catalogue_proof import SEEING

SMALL = 64
TEXTS = ["a swollen knee", "knee", "x-ray of the wrist, " * 9, "", "photo.png"]
MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)  # OpenAI's


def drawn(seed, size=(50, 40)):
    """A picture of its own for each seed."""
    rng = np.random.default_rng(seed)
    picture = Pillow.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).resize(size, Pillow.Resampling.BICUBIC)
    ImageDraw.Draw(picture).ellipse((5, 5, 20 + seed, 30), fill=(seed * 40 % 256, 10, 200))
    return picture


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The reader's own models: CLIP, and a text model in its space."""
    home = tmp_path_factory.mktemp("models")
    tiny_models.clip(home / "clip-vit-b-32", dimension=SMALL)
    plain = tmp_path_factory.mktemp("plain")
    tiny_models.backbone(plain, architecture="distilbert", dimension=SMALL, positions=130)
    many = home / "clip-vit-b-32-multilingual"
    tiny_models.shipped(plain, many, pooling="mean", dimension=SMALL, projections=[SMALL], limit=128)
    return home


@pytest.fixture
def row(home, monkeypatch):
    """A table as it is, but small; random weights know no language."""
    monkeypatch.setenv("BABELSCOPE_MODELS", str(home))
    own = catalogue.catalogue

    def small(path=None):
        return {
            name: dataclasses.replace(entry, languages=(), dimension=SMALL, projections=entry.projections and (SMALL,))
            if entry.reads
            else entry
            for name, entry in own(path).items()
        }

    monkeypatch.setattr(catalogue, "catalogue", small)
    return catalogue.entry


@pytest.fixture(scope="module")
def model(home):
    from transformers import CLIPModel

    return CLIPModel.from_pretrained(home / "clip-vit-b-32" / "0_CLIPModel").eval()


@pytest.fixture(scope="module")
def loaded():
    """Models, each loaded and proven once."""
    return {}


@pytest.fixture
def bench(tmp_path, loaded):
    """A bench over a cache folder of the test's own."""

    def opened():
        made = Workbench(Cache(tmp_path / "cache"), options=LoadOptions(offline=True))
        made._encoders = loaded
        return made

    return opened


def unit(vector):
    return (vector / vector.norm()).detach().numpy()


def text_by_hand(model, text):
    """The end token's state, projected, of length 1: by itself, so without padding; 77 tokens with both frames."""
    import torch

    last = model.config.text_config.vocab_size - 1
    characters = [*tiny_models.string.ascii_letters, *tiny_models.string.digits, *tiny_models.string.punctuation]
    place = {character: i for i, character in enumerate([*characters, " ", "\n"])}
    ids = [last - 1, *[place[character] for character in text][:75], last]
    states = model.text_model(torch.tensor([ids])).last_hidden_state[0]
    return unit(model.text_projection.weight @ states[-1])


def image_by_hand(model, picture):
    """On white, the shorter side made 32 by bicubic interpolation, the middle cut out, levels as CLIP's, projected."""
    import torch

    side, whole = tiny_models.SIDE, picture.convert("RGBA")
    plain = Pillow.alpha_composite(Pillow.new("RGBA", whole.size, "white"), whole).convert("RGB")
    scale = side / min(plain.size)
    wide, high = (int(length * scale) for length in plain.size)
    small = plain.resize((wide, high), Pillow.Resampling.BICUBIC)
    left, top = (wide - side) // 2, (high - side) // 2
    levels = np.asarray(small.crop((left, top, left + side, top + side)), dtype=np.float32) / 255
    pixels = torch.tensor(((levels - MEAN) / DEVIATION).transpose(2, 0, 1)[None], dtype=torch.float32)
    return unit(model.visual_projection.weight @ model.vision_model(pixels).pooler_output[0])


def written(folder, name, picture, **options):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, **options)
    return path


def test_tables_of_one_model_differ_in_what_is_read_alone(row):
    """So the vectors of one are those of all: CLIP's by hand below, the multilingual text model's beside the others."""
    for name, reads in SEEING.items():
        first = "clip-vit-b-32-multilingual" if "multilingual" in name else "clip-vit-b-32"
        towers = [[catalogue.fingerprint(tower) for tower in catalogue.towers(row(one))] for one in (name, first)]
        assert towers[0] == towers[1]
        assert (row(name).reads, row(name).images) == (reads, "clip-vit-b-32" if "multilingual" in name else None)


def test_a_table_gives_the_vectors_of_a_calculation_by_hand(row, model, tmp_path, monkeypatch):
    own = catalogue.entry("clip-vit-b-32")
    assert (own.max_length, own.prompts, own.dtype) == (77, Prompts("", ""), "float32")
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "photo.png", drawn(1))  # a text that reads as its path is a text all the same
    encoder = encoders.load(row("clip-vit-b-32"), LoadOptions(offline=True))
    for role in ("query", "document"):
        expected = np.array([text_by_hand(model, text) for text in TEXTS])
        assert encoder.encode(TEXTS, role=role) == pytest.approx(expected, abs=2e-5)
    assert encoder.tokens("photo.png", role="query") == list("photo.png")
    assert len(encoder.tokens("x" * 200, role="query")) == 75
    assert encoder.lengths(["x" * 200, "pain"], role="query").tolist() == [202, 6]
    assert encoder.limit == 77
    pictures = [drawn(1), drawn(2, (40, 90)), drawn(3, (200, 33))]
    expected = np.array([image_by_hand(model, picture) for picture in pictures])
    assert encoder.encode_images(pictures) == pytest.approx(expected, abs=2e-5)


def test_images_of_every_mode_and_upright(row, model, tmp_path, bench):
    base = drawn(4)
    clear = base.convert("RGBA")
    clear.putalpha(Pillow.linear_gradient("L").resize(base.size))
    kinds = {
        "rgb.png": base,
        "rgba.png": clear,
        "grey.png": base.convert("L"),
        "grey alpha.png": clear.convert("LA"),
        "palette.png": base.quantize(16),
        "black white.png": base.convert("1"),
        "cmyk.tiff": base.convert("CMYK"),
        "animated.gif": base.quantize(16),
    }
    files = [written(tmp_path, name, picture) for name, picture in kinds.items()]
    bench = bench()
    tower = catalogue.towers(row("clip-vit-b-32"))[1]
    expected = np.array([image_by_hand(model, picture) for picture in kinds.values()])
    assert bench.image_vectors(tower, files) == pytest.approx(expected, abs=2e-5)
    turned = base.rotate(90, expand=True)
    exif = Pillow.Exif()
    exif[0x0112] = 6  # the camera lay on its side: to be turned by 90 degrees clockwise
    file = written(tmp_path, "turned.png", turned, exif=exif)
    assert bench.image_vectors(tower, [file])[0] == pytest.approx(image_by_hand(model, base), abs=2e-5)


def test_what_is_no_image_ends_in_one_sentence(tmp_path, monkeypatch):
    whole = written(tmp_path, "whole.png", drawn(1, (300, 300)))
    cut = written(tmp_path, "cut.png", drawn(1, (200, 200)))
    cut.write_bytes(cut.read_bytes()[:3000])
    words = tmp_path / "words.png"
    words.write_text("not an image")
    deep = tmp_path / "deep.png"
    Pillow.fromarray((np.arange(4096) * 16).astype(np.uint16).reshape(64, 64)).save(deep)
    monkeypatch.setattr(Pillow, "MAX_IMAGE_PIXELS", 50_000)
    faults = {
        cut: "a damaged image: ",
        words: "expected an image in PNG, JPEG, GIF, BMP, TIFF or WEBP",
        deep: "image of mode I;16, more than 8 bits a pixel",
        whole: "expected an image of at most 50,000 pixels; more may fill the memory",
        written(tmp_path, "huge.png", drawn(1, (400, 400))): "expected an image of at most 50,000 pixels",
    }
    for file, fault in faults.items():
        with pytest.raises(InputError, match=re.escape(f"{file}: {fault}")):
            images.opened(file)
    with pytest.raises(InputError, match="at most 50,000 pixels"):
        images.pixels([whole])  # known by its header, before anything of it is in memory


def test_an_image_is_looked_for_inside_the_imported_folder_alone(tmp_path):
    root = tmp_path / "m3"
    beside = written(root, "heart/images/a.png", drawn(1))
    above = written(root, "b.png", drawn(2))
    secret = written(tmp_path, "secret.png", drawn(3))
    (root / "link.png").symlink_to(secret)
    named = [
        Image("query", str(place), path, str(root), "heart")
        for place, path in enumerate(["images/a.png", "b.png", "../b.png", "../../secret.png", str(secret), "link.png"])
    ]
    assert images.located(dict(enumerate(named[:3]))) == {0: beside, 1: above, 2: above}
    assert images.missing([*named, Image("query", "q", "\0", str(root))]) == [*named[3:], named[3]._replace(
        id="q", path="\0", place="")]  # fmt: skip
    with pytest.raises(InputError) as error:
        images.located(dict(enumerate(named)))
    assert str(error.value) == (
        f"image '../../secret.png' of query '3': expected the file in {root}/heart, inside the folder that was "
        "imported (2 more are missing); import the benchmark again from where its images are"
    )


@pytest.fixture
def task(tmp_path):
    """Four documents (text, text and image, image, empty) and four queries (both, both, text, blank text and image)."""
    root = tmp_path / "m3"
    for number in range(1, 6):
        written(root, f"{number}.png", drawn(number))
    written(root, "copy/1.png", drawn(1))

    def image(item, name, path):
        return Image(item, name, path, str(root))

    ids, texts = ("d1", "d2", "d3", "d4"), ("a knee", "a wrist", "", "")
    held = {1: image("document", "d2", "1.png"), 2: image("document", "d3", "2.png")}
    corpus = Corpus.of(ids, languages=("en",) * 4, texts=texts, images=held)
    asked = {0: image("query", "q1", "3.png"), 1: image("query", "q2", "copy/1.png"), 3: image("query", "q4", "4.png")}
    questions = Questions(
        ("q1", "q2", "q3", "q4"), ("en",) * 4, ("a broken wrist", "a knee", "a hip", " "),
        {1: np.array([0], dtype=np.int32)}, asked,
    )  # fmt: skip
    return SimpleNamespace(root=root, corpus=corpus, questions=questions)


def scores(ranking, n):
    """Score of each document by query; NaN where it is not in the list."""
    found = np.full((n, 4), np.nan)
    found[ranking.query, ranking.document] = ranking.score
    return found


def test_what_of_a_query_is_read_and_documents_whole(row, model, task, tmp_path, bench):
    def both(text, number):
        sides = [text_by_hand(model, text)] if text else []
        sides += [image_by_hand(model, drawn(number))] if number else []
        mean = np.mean(sides, axis=0)
        return mean / np.linalg.norm(mean)

    documents = np.array([both("a knee", 0), both("a wrist", 1), both("", 2), text_by_hand(model, "")])
    asked = {
        "text": [text_by_hand(model, text) for text in task.questions.texts],
        "image": [both("", 3), both("", 1), np.full(SMALL, np.nan), both("", 4)],
        "text-image-mean": [both("a broken wrist", 3), both("a knee", 1), both("a hip", 0), both("", 4)],
    }
    new, bench = bench, bench()
    for name in ("clip-vit-b-32", "clip-vit-b-32-image", "clip-vit-b-32-text-image"):
        expected = np.array(asked[SEEING[name]]) @ documents.T
        expected[1, 0] = np.nan  # this document leaves the ranking of q2
        found = bench.rank(build(name), task.corpus, task.questions, depth=4)
        assert scores(found, 4) == pytest.approx(expected, abs=2e-5, nan_ok=True)
    facts = bench.encoded(catalogue.towers(row("clip-vit-b-32"))[0])
    assert facts.images == 4  # of six that are named: one is there twice, and no system encodes one again
    assert facts.texts == 6  # of those of documents and queries, "a knee" is both
    again = new()
    again.rank(build("clip-vit-b-32-text-image"), task.corpus, task.questions, depth=4)
    assert again.encoded(catalogue.towers(row("clip-vit-b-32"))[0]).images == 0


def test_two_models_in_one_space(row, model, home, task, tmp_path, bench):
    name = "clip-vit-b-32-multilingual-text-image"
    assert (row(name).folder, row(name).images) == (str(home / "clip-vit-b-32-multilingual"), "clip-vit-b-32")
    bench = bench()
    system = build(name)
    bench.rank(system, task.corpus, task.questions, depth=4)
    text, image = catalogue.towers(row(name))
    assert (bench.encoded(text).images, bench.encoded(image).texts) == (0, 0)
    (first,) = bench.vectors(text, ["a broken wrist"], role="query")
    mean = first + image_by_hand(model, drawn(3))
    assert system.queries(task.questions, workbench=bench)[0] == pytest.approx(mean / np.linalg.norm(mean), abs=2e-5)
    known = bench.encoded(image).images
    bench.rank(build("clip-vit-b-32-image"), task.corpus, task.questions, depth=4)
    assert bench.encoded(image).images == known  # the same images of the same model


def test_a_benchmark_without_images_is_refused(row, task, tmp_path):
    blind = Questions(task.questions.ids, task.questions.languages, task.questions.texts)
    for name in ("clip-vit-b-32-image", "clip-vit-b-32-text-image", "clip-vit-b-32-multilingual-text-image"):
        with pytest.raises(SystemRefusedError, match=f"{name}: it reads the image of a query, and no query "):
            build(name).needs(task.corpus, blind)
    needs = build("clip-vit-b-32").needs(task.corpus, blind)
    assert [need.role for need in needs] == ["document", "document", "query"]
    assert isinstance(build("all-minilm-l6-v2"), Multimodal) is False


def test_a_missing_image_is_named_before_anything_is_encoded(row, task, tmp_path, bench):
    (task.root / "4.png").unlink()
    bench = bench()
    with pytest.raises(InputError, match=f"image '4.png' of query 'q4': expected the file in {task.root}"):
        bench.rank(build("clip-vit-b-32-image"), task.corpus, task.questions, depth=4)
    assert not (tmp_path / "cache").exists()


def test_a_live_query_is_text(row, model, task, tmp_path, bench):
    bench = bench()
    live = open_live(build("clip-vit-b-32-text-image"), task.corpus, workbench=bench)
    answer = live.ask("a knee")
    assert answer.scores[answer.documents.tolist().index(0)] == pytest.approx(1, abs=1e-5)
    assert live.tokens("a knee") == list("a knee")


def test_images_are_opened_a_few_at_a_time(row, tmp_path, monkeypatch, bench):
    files = [written(tmp_path, f"{number}.png", drawn(number, (100, 100))) for number in range(1, 6)]
    monkeypatch.setattr(images, "BATCH_PIXELS", 25_000)
    seen = []
    monkeypatch.setattr(images, "opened", lambda file, whole=images.opened: seen.append(file) or whole(file))
    sizes = []
    encode = images.encode
    monkeypatch.setattr(images, "encode", lambda *call: sizes.append(len(call[2])) or encode(*call))
    bench = bench()
    bench.image_vectors(catalogue.towers(row("clip-vit-b-32"))[1], files)
    assert (sizes, len(seen)) == ([2, 2, 1], 5)


def test_a_model_without_eyes_says_so(row, home, monkeypatch, tmp_path, bench):
    alone = dataclasses.replace(row("clip-vit-b-32-multilingual"), images=None)
    bench = bench()
    file = written(tmp_path, "a.png", drawn(1))
    with pytest.raises(SystemLoadError, match="it is to read images, and its model encodes texts alone"):
        bench.image_vectors(catalogue.towers(alone)[1], [file])


@pytest.mark.parametrize(
    ("vectors", "fault"),
    [
        (np.ones((3, 4)), "every image gets the same vector"),
        (np.eye(3, 4), "the same image got two different vectors"),
        (np.eye(4)[[0, 1, 0]][:, :3], "images get 3 dimensions, texts 4"),
    ],
)
def test_a_model_that_sees_proves_it(vectors, fault):
    encoder = SimpleNamespace(sees=True, encode_images=lambda pictures: vectors[: len(pictures)])
    with pytest.raises(SystemLoadError, match=f"tiny: {fault}"):
        images.prove("tiny", encoder, encoder, dimension=4)
    again = SimpleNamespace(sees=True, encode_images=lambda pictures: np.eye(4)[[2]])
    sound = SimpleNamespace(sees=True, encode_images=lambda pictures: np.eye(4)[[0, 1, 0]])
    with pytest.raises(SystemLoadError, match="a second load of the same files gave other vectors of images"):
        images.prove("tiny", sound, again, dimension=4)
