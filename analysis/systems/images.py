"""Images of queries and documents: where their files are, and how they are opened for an encoder.

Pillow has its one home here. Nothing of a file is kept but the vector of what it shows, by the hash of its bytes.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, SystemLoadError
from analysis.model import Image

if TYPE_CHECKING:
    import PIL.Image

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
"""What is opened; Pillow reads more, some of it by starting other programs."""

CLIPPED = ("I", "F")
"""Modes of more than 8 bits a pixel (and ``I;16`` and its like): made RGB, their values would be cut at 255."""

MOST = 32
"""Images in one forward pass."""

BATCH_PIXELS = 2**24
"""Pixels of images that are open at once, where there are several: about 50 MB. One alone has Pillow's own limit."""

PREVIEW = 640
"""Pixels of the longer side of what a page shows."""

SAME = 1e-4
"""Two vectors of one image differ by less in every number."""


class Sighted(Protocol):
    """An encoder that sees images."""

    def encode_images(self, images: Sequence[PIL.Image.Image]) -> NDArray[np.float32]:
        """Unit vectors of images, ``(n, d)`` float32."""
        ...


# --- files ------------------------------------------------------------------------------------------------------------


def missing(images: Iterable[Image]) -> list[Image]:
    """The images whose files are not there, or lie outside the folder that was imported."""
    return [image for image in images if _file(image) is None]


def located(images: Mapping[int, Image]) -> dict[int, Path]:
    """The file of each image, by position.

    Raises:
        InputError: one is not there, or lies outside the folder that was imported.
    """
    files = {position: _file(image) for position, image in images.items()}
    absent = [images[position] for position, file in files.items() if file is None]
    if absent:
        first, more = absent[0], f" ({len(absent) - 1:,} more are missing)" if len(absent) > 1 else ""
        raise InputError(
            f"image {first.path!r} of {first.item} {first.id!r}: expected the file in "
            f"{Path(first.folder, first.place)}, inside the folder that was imported{more}; import the benchmark "
            "again from where its images are"
        )
    return {position: file for position, file in files.items() if file is not None}


def _file(image: Image) -> Path | None:
    """The file beside what names it, else the one in the imported folder; no path leads out of that."""
    root = Path(image.folder)
    for start in dict.fromkeys((root / image.place, root)):
        try:
            file = (start / image.path).resolve()
            if file.is_relative_to(root) and file.is_file():
                return file
        except (OSError, ValueError):  # a name that no file can have
            continue
    return None


def state(images: Iterable[Image]) -> str:
    """A hash of where images are, how long and how old their files: other files make another run.

    Raises:
        InputError: as :func:`located`.
    """
    told = list(images)
    digest = hashlib.sha256()
    for position, file in located(dict(enumerate(told))).items():
        now = file.stat()
        digest.update(repr((told[position].item, told[position].id, now.st_size, now.st_mtime_ns)).encode())
    return digest.hexdigest()


def hashed(file: Path) -> str:
    """The SHA-256 of a file's bytes: what an image is known by, wherever it lies."""
    now = file.stat()
    return _hashed(file, now.st_size, now.st_mtime_ns)


@lru_cache(maxsize=1 << 18)
def _hashed(file: Path, size: int, changed: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# --- pictures ---------------------------------------------------------------------------------------------------------


def pixels(files: Sequence[Path]) -> NDArray[np.int64]:
    """How many pixels each image has, ``(n,)``, by its header.

    Raises:
        InputError: one is no image, or has more pixels than is safe.
    """
    found = np.empty(len(files), dtype=np.int64)
    for place, file in enumerate(files):
        with _reading(file) as image:
            found[place] = image.width * image.height
    return found


def opened(file: Path) -> PIL.Image.Image:
    """An image, whole and upright; of several frames the first. Its mode and size are the model's to change.

    Raises:
        InputError: it is damaged, has more pixels than is safe, or would lose its values.
    """
    from PIL import ImageOps

    with _reading(file) as image:
        if image.mode in CLIPPED or image.mode.startswith("I;"):
            raise InputError(
                f"{file}: image of mode {image.mode}, more than 8 bits a pixel, of which a model would see the lowest "
                "values alone; expected 8 bits a channel"
            )
        image.load()
        return ImageOps.exif_transpose(image)


def preview(file: Path) -> bytes:
    """An image made small enough for a page, as a PNG.

    Raises:
        InputError: as :func:`opened`.
    """
    found = opened(file).convert("RGB")
    found.thumbnail((PREVIEW, PREVIEW))
    out = io.BytesIO()
    found.save(out, format="PNG")
    return out.getvalue()


@contextmanager
def _reading(file: Path) -> Iterator[PIL.Image.Image]:
    """An image of which the header is read; what Pillow raises about it becomes one sentence."""
    import PIL.Image

    bombs = (PIL.Image.DecompressionBombError, PIL.Image.DecompressionBombWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(file, formats=FORMATS) as image:
                yield image
    except bombs as error:
        limit = f"{PIL.Image.MAX_IMAGE_PIXELS or 0:,}"
        raise InputError(f"{file}: expected an image of at most {limit} pixels; more may fill the memory") from error
    except PIL.UnidentifiedImageError as error:
        raise InputError(f"{file}: expected an image in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}") from error
    except (OSError, SyntaxError, ValueError, EOFError, ArithmeticError) as error:
        raise InputError(f"{file}: a damaged image: {error}") from error


def encode(system: str, encoder: object, files: Sequence[Path]) -> NDArray[np.float32]:
    """Unit vectors of the images in files, ``(n, d)`` float32.

    Raises:
        InputError: an image is damaged, or too large.
        SystemLoadError: the encoder sees no images.
    """
    return sighted(system, encoder).encode_images([opened(file) for file in files])


def sighted(system: str, encoder: Any) -> Sighted:
    """The same encoder, where it sees images.

    Raises:
        SystemLoadError: it does not.
    """
    if not getattr(encoder, "sees", False):
        raise SystemLoadError(f"{system}: it is to read images, and its model encodes texts alone")
    found: Sighted = encoder
    return found


def prove(system: str, encoder: Any, again: Any, *, dimension: int) -> None:
    """Raise unless a model that sees images tells two apart, always alike, in the space of its texts.

    Args:
        system: its name.
        encoder: the model just loaded.
        again: the same, loaded a second time.
        dimension: of the vectors of its texts.

    Raises:
        SystemLoadError: one sentence naming the system and what failed.
    """
    if not getattr(encoder, "sees", False):
        return
    first, other = _proof()
    vectors = encoder.encode_images([first, other, first])
    if vectors.shape[1] != dimension:
        raise SystemLoadError(f"{system}: images get {vectors.shape[1]} dimensions, texts {dimension}")
    if np.abs(vectors[0] - vectors[1]).max() < SAME:
        raise SystemLoadError(f"{system}: every image gets the same vector")
    if np.abs(vectors[2] - vectors[0]).max() > SAME:
        raise SystemLoadError(f"{system}: the same image got two different vectors")
    if np.abs(again.encode_images([first])[0] - vectors[0]).max() > SAME:
        raise SystemLoadError(f"{system}: a second load of the same files gave other vectors of images")


def _proof() -> tuple[PIL.Image.Image, PIL.Image.Image]:
    """A white disc on black, and stripes of red and blue."""
    import PIL.Image

    down, across = np.mgrid[:256, :256]
    disc = np.repeat((((down - 128) ** 2 + (across - 128) ** 2 < 80**2) * 255)[..., None], 3, axis=2)
    stripes = np.zeros((256, 256, 3), dtype=np.int64)
    stripes[..., 0], stripes[..., 2] = (across // 32 % 2) * 255, (across // 32 % 2 == 0) * 255
    return PIL.Image.fromarray(disc.astype(np.uint8)), PIL.Image.fromarray(stripes.astype(np.uint8))
