"""Tables that a model computes for itself and does not store, such as its angles of position: whether they are there.

transformers builds a model without memory and fills in what its files hold. What the code of a model computes while it
is built, and no file holds, is then whatever lay in memory, unless that code computes it anew. Vectors look like any
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from analysis.errors import SystemLoadError
from analysis.systems.entry import Entry


@contextmanager
def unset_shown() -> Iterator[None]:
    """Memory that nobody sets holds NaN, or the largest whole number, instead of what lay there."""
    import torch

    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warned)


def check_buffers(system: Entry, model: Any) -> None:
    """Raise where a table that the model computes for itself was left unset.

    Args:
        system: what messages name.
        model: loaded under :func:`unset_shown`.

    Raises:
        SystemLoadError: it was.
    """
    for name, buffer in model.named_buffers():
        if buffer.numel() and _is_unset(buffer):
            raise SystemLoadError(
                f"{system.name}: its code computes {name}, which the installed transformers leaves unset, so its "
                "vectors would be noise; run it where its card's version of transformers is, as an endpoint"
            )


def _is_unset(buffer: Any) -> bool:
    import torch

    if buffer.is_meta:
        return True
    if buffer.is_floating_point():
        return bool(torch.isnan(buffer).all())
    return buffer.dtype is not torch.bool and bool((buffer == torch.iinfo(buffer.dtype).max).all())
